"""What is wrong with a request is a 4xx that names the field, and says nothing of the machine."""

from __future__ import annotations

import asyncio
import json
import time
import tracemalloc

import numpy as np
import pytest

from serve.models import CSV, Client, client_of, csv_of, model_of, records_of, rows_of


@pytest.fixture(scope="module")
def client():
    return client_of("review", max_rows=50, max_bytes=20_000)


def record(**changes):
    found = records_of(rows_of(model_of("review"), 1))[0]
    return {**found, **changes}


def without(name):
    return {key: value for key, value in record().items() if key != name}


def parts(**more):
    return {"records": [record()], **more}


# Name: body, field, and words of the message.
BAD = {
    "no object": ([1], None, "Known keys are"),
    "no rows": ({}, "records", "required"),
    "empty rows": ({"records": []}, "records", "at least 1"),
    "unknown key": (parts(threshold=1), "threshold", "Known keys are"),
    "misspelt column": ({"records": [record(), {**without("amount"), "amuont": 1}]},
                        "records[1].amount", "Is it 'amuont'?"),
    "no cost": ({"records": [record(), record(amount=None)]}, "records[1].amount",
                "'amount', which is missing on 1 row of the request, first on row 1"),
    "missing column": ({"records": [without("hour")]}, "records[0].hour", "Use null"),
    "text for a number": ({"records": [record(), record(hour="noon")]}, "records[1].hour",
                          "'hour' must hold numbers"),
    "list for a number": ({"records": [record(amount=[12])]}, "records[0].amount", "a number"),
    "object for a text": ({"records": [record(merchant={})]}, "records[0].merchant", "a text"),
    "too large a number": ({"records": [record(amount=10**400)]}, "records[0].amount", ""),
    "record no object": ({"records": [record(), 3]}, "records[1]", "must be an object"),
    "too many rows": ({"records": [{}] * 51}, "records", "at most 50 rows. Send several requests."),
    "explain no flag": (parts(explain=1), "explain", "valid boolean"),
    "capacity no object": (parts(capacity=3), "capacity", "valid dictionary"),
    "no decision": (parts(capacity={"call": 3}), "capacity", "call"),
    "negative limit": (parts(capacity={"review": -1}), "capacity.review", "a number, a share"),
    "odd limit": (parts(capacity={"review": 1.5}), "capacity.review", "a number, a share"),
    "infeasible": (parts(capacity={"review": 0, "accept": 0, "block": 0}), "capacity", ""),
    "costs too many": (parts(costs=[{}, {}]), "costs", "one per row; got 2"),
    "costs of other keys": ({"records": [record()] * 2, "costs": [
        {"ok": {"accept": 0}}, {"ok": {"review": 0}}]}, "costs", "the same keys"),
    "costs of a wrong shape": (parts(costs=[[0, 1], [1, 0]]), "costs", "shape"),
    "short form of three": (parts(costs={"fn": 1, "fp": 2}), "costs", "fn"),
    "cost no number": (parts(costs=[[0, 1, 2], [1, "a", 0]]), "costs[1][1]", "valid number"),
    "cost infinite": (parts(costs=[[[0, 1, 2], [1, 10**400, 0]]]), "costs[0][1][1]", ""),
    "cost too large": (parts(costs=[[0, 1, 2], [1, 1e200, 0]]), "costs[1][1]", "less than"),
    "amount too large": ({"records": [record(amount=1e300)]}, "costs", "at most 1e+100"),
    "cost missing": (parts(costs=[{"ok": {"accept": 0, "review": 1, "block": 1},
                                   "fraud": {"accept": 0}}]), "costs", "fraud"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_errors_name_the_field_and_say_what_to_do(name, client):
    body, field, words = BAD[name]
    answer = client.decide(json.dumps(body).encode())
    assert answer.status_code == (413 if name == "too many rows" else 422), answer.text
    assert answer.json()["error"]["field"] == field, answer.text
    assert words in answer.json()["error"]["message"]


@pytest.mark.parametrize(
    "content",
    [b"", b"{", b"\xff", b'{"records": [NaN]}', b"[" * 5000, b'{"a":' * 3000, b"null", b"\x00",
     b'{"records": [], "records": [{}]}', b'{"records": [{"amount": 1, "amount": 2}]}'],
)  # fmt: skip
def test_no_json(content, client):
    answer = client.decide(content)
    assert answer.status_code in (400, 422)
    assert ("twice" in answer.text) == (content.count(b'"records"') > 1 or b"2}" in content)


def test_types_of_bodies(client):
    for kind in ("text/plain", "", "application/octet-stream", "application/x-python-pickle"):
        answer = client.decide(b"{}", kind)
        assert answer.status_code == 415
        assert answer.json()["error"]["field"] == "Content-Type"
    assert client.decide(b"{}", headers={"content-encoding": "gzip"}).status_code == 415


def test_large_bodies_are_not_read(client):
    """Announced or not, no more than the limit is read."""
    taken = 0

    async def chunks():
        nonlocal taken
        for _ in range(1000):
            taken += 1
            yield b" " * 1000

    assert client.decide(b" " * 20_001).status_code == 413
    assert client.decide(chunks()).status_code == 413
    assert taken < 30


def test_time_limits():
    client = client_of("review", seconds=0.2)
    service = client.app.service
    quick = service.answer
    service.answer = lambda *asked: time.sleep(0.5) or quick(*asked)
    answer = client.decide({"records": [record()] * 30})
    assert answer.status_code == 503
    assert "0.2 s" in answer.json()["error"]["message"]

    async def trickle():
        yield b"{"
        await asyncio.sleep(0.4)
        yield b"}"

    assert client.decide(trickle()).status_code == 408


def test_failures_leak_nothing(caplog):
    client = client_of("review")

    def broken(*_):
        raise RuntimeError("secret in /etc/place")

    client.app.service.answer = broken
    answer = client.decide({"records": [record()]})
    assert answer.status_code == 500
    error = {"field": None, "message": "The service failed; its log says why."}
    assert answer.json() == {"error": error}
    assert "secret in /etc/place" in caplog.text


def test_positive_is_not_guessed():
    """Costs by rows in fit: nothing says which of two texts is positive."""
    records = records_of(rows_of(model_of("learned"), 1))
    client = client_of("learned")
    answer = client.decide({"records": records, "costs": {"fn": 1, "fp": 2}})
    assert answer.status_code == 422
    assert "positive" in answer.json()["error"]["message"]
    named = {"fn": 1, "fp": 2, "positive": "fraud"}
    assert client.decide({"records": records, "costs": named}).status_code == 200


# -- CSV -----------------------------------------------------------------------------------------


def good(n=2):
    return {name: [value] * n for name, value in record(distance_km=1.0).items()}


def test_csv_names_the_field(client):
    cases = [
        ({k: v for k, v in good().items() if k != "hour"}, 422, "columns.hour"),
        (good() | {"amount": ["1", "b"]}, 422, "records[1].amount"),
        (good() | {"amount": [1.0, np.inf]}, 422, "records[1].amount"),
        (good() | {"costs.ok.accept": [1.0, 2.0]}, 422, "costs"),
        (good() | {"costs.ok.accept": ["1", "b"]}, 422, "records[1].costs.ok.accept"),
        (good(51), 413, "records"),
        (good(0), 422, "records"),
    ]
    for columns, status, field in cases:
        answer = client.decide(csv_of(columns), CSV)
        assert (answer.status_code, answer.json()["error"]["field"]) == (status, field)
    for options, field in (
        ({"explain": "maybe"}, "explain"),
        ({"capacity": "{"}, "capacity"),
        ({"capacity": '{"call": 1}'}, "capacity"),
        ({"capacity": '{"review": true}'}, "capacity.review"),
        ({"cutoff": "1"}, "cutoff"),
    ):
        answer = client.decide(csv_of(good()), CSV, params=options)
        assert (answer.status_code, answer.json()["error"]["field"]) == (422, field)


def test_files_that_are_no_csv(client):
    whole = csv_of(good())
    for body, status, field in (
        (b"", 422, "records"),
        (b"\xff\xfe\x00", 400, None),
        (whole + b'"never closed', 400, None),
        (whole + b"1,2\n", 422, "records[2]"),
        (whole.replace(b"hour", b"amount"), 422, "columns"),
    ):
        answer = client.decide(body, CSV)
        assert (answer.status_code, answer.json()["error"]["field"]) == (status, field), body[:50]
    # With a mark of its encoding, other line ends and empty lines.
    odd = b"\xef\xbb\xbf" + whole.replace(b"\n", b"\r\n\r\n")
    assert client.decide(odd, CSV).json() == client.decide(whole, CSV).json()


# -- bounds --------------------------------------------------------------------------------------


# Small bodies that could take gigabytes: name to content type, body, query and status.
SMALL_BODIES = {
    "many rows": lambda: (CSV, b"a,b\n" + b"1,\n" * 300_000, {}, 413),
    "a long cell": lambda: (CSV, csv_of(good()) + b"x" * 200_000, {}, 400),
    "many columns": lambda: (CSV, b"," * 900_000 + b"\n1", {}, 422),
    "a column per record": lambda: (
        "application/json",
        json.dumps({"records": [record(**{f"c{i}": 1}) for i in range(4_600)]}).encode(), {}, 413,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SMALL_BODIES)
def test_small_bodies_take_little_memory(name):
    kind, body, options, status = SMALL_BODIES[name]()
    assert len(body) < 1_000_000
    client = client_of("review", max_bytes=1_000_000)
    tracemalloc.start()
    try:
        answer = client.decide(body, kind, params=options)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert answer.status_code == status, answer.text[:500]
    assert peak < 80 * 2**20


def test_a_request_that_is_over_is_over():
    """Work on a batch ends soon after the client was told that it took too long."""
    client = client_of("review", seconds=0.8)
    service = client.app.service
    calls, quick = [], service._read

    def slow(rows, start):
        calls.append(len(rows["amount"]))
        time.sleep(0.3)
        return quick(rows, start)

    service._read = slow
    assert client.decide({"records": [record()] * 20_000}).status_code == 503
    time.sleep(0.4)
    done = len(calls)
    time.sleep(0.4)
    assert len(calls) == done
    assert sum(calls) < 20_000


def test_long_explanations_are_refused(client, monkeypatch):
    monkeypatch.setattr("costboost.serve.scoring._PARTS", 50)
    body = {"records": [record()] * 20, "explain": True}
    answer = client.decide(body)
    assert (answer.status_code, answer.json()["error"]["field"]) == (413, "explain")
    assert client.decide({"records": [record()], "explain": True}).status_code == 200


def test_two_lengths_of_a_body(client):
    answer = client.decide(b"{}", headers={"content-length": "2", "transfer-encoding": "chunked"})
    assert (answer.status_code, answer.headers["connection"]) == (400, "close")


def test_bodies_in_flight_are_bounded():
    """Many large bodies at the same time are refused; small ones are answered."""
    app = client_of("review", max_bytes=200_000).app

    async def slow():
        for _ in range(19):
            yield b" " * 10_000
        await asyncio.sleep(0.5)
        yield b"{}"

    async def ask():
        headers = {"content-type": "application/json"}
        async with Client(app).session() as client:
            large = [client.post("/decide", content=slow(), headers=headers) for _ in range(12)]
            tasks = [asyncio.create_task(one) for one in large]
            await asyncio.sleep(0.2)
            small = await client.post("/decide", json={"records": [record()]})
            return small.status_code, [one.status_code for one in await asyncio.gather(*tasks)]

    small, large = asyncio.run(ask())
    assert small == 200
    assert large.count(503) >= 6
    assert app._held == 0

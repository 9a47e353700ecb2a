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
    return {**records_of(rows_of(model_of("review"), 1))[0], **changes}


def without(name):
    return {key: value for key, value in record().items() if key != name}


def parts(**more):
    return {"records": [record()], **more}


def good(n=2, **more):
    return {name: [value] * n for name, value in record(distance_km=1.0).items()} | more


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
    "odd limit": (parts(capacity={"review": 1.5}), "capacity.review", "a number, a share"),
    "infeasible": (parts(capacity={"review": 0, "accept": 0, "block": 0}), "capacity", ""),
    "costs too many": (parts(costs=[{}, {}]), "costs", "one per row; got 2"),
    "costs of other keys": ({"records": [record()] * 2, "costs": [
        {"ok": {"accept": 0}}, {"ok": {"review": 0}}]}, "costs", "the same keys"),
    "costs of a wrong shape": (parts(costs=[[0, 1], [1, 0]]), "costs", "shape"),
    "short form of three": (parts(costs={"fn": 1, "fp": 2}), "costs", "fn"),
    "cost no number": (parts(costs=[[0, 1, 2], [1, "a", 0]]), "costs[1][1]", "valid number"),
    "cost infinite": (parts(costs=[[[0, 1, 2], [1, 10**400, 0]]]), "costs[0][1][1]", ""),
    "amount too large": ({"records": [record(amount=1e300)]}, None, "at most 1e+12"),
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
    [b"", b"{", b"\xff", b'{"records": [NaN]}', b"[" * 5000, b"null", b"\x00",
     b'{"records": [], "records": [{}]}', b'{"records": [{"amount": 1, "amount": 2}]}'],
)  # fmt: skip
def test_no_json(content, client):
    answer = client.decide(content)
    assert answer.status_code in (400, 422)
    assert ("twice" in answer.text) == (content.count(b'"records"') > 1 or b"2}" in content)


def test_types_of_bodies(client):
    for kind in ("text/plain", "", "application/x-python-pickle"):
        answer = client.decide(b"{}", kind)
        assert (answer.status_code, answer.json()["error"]["field"]) == (415, "Content-Type")
    assert client.decide(b"{}", headers={"content-encoding": "gzip"}).status_code == 415


def test_positive_is_not_guessed():
    """Costs by rows in fit: nothing says which of two texts is positive."""
    body, client = {"records": records_of(rows_of(model_of("learned"), 1))}, client_of("learned")
    answer = client.decide({**body, "costs": {"fn": 1, "fp": 2}})
    assert (answer.status_code, "positive" in answer.text) == (422, True)
    named = {"fn": 1, "fp": 2, "positive": "fraud"}
    assert client.decide({**body, "costs": named}).status_code == 200


# Columns of a file, or a file; options; status and field.
FILES = {
    "a column is missing": lambda: ({k: v for k, v in good().items() if k != "hour"}, {}, 422,
                                    "columns.hour"),
    "no number": lambda: (good(amount=["1", "b"]), {}, 422, "records[1].amount"),
    "infinite": lambda: (good(amount=[1.0, np.inf]), {}, 422, "records[1].amount"),
    "one of six costs": lambda: (good(**{"costs.ok.accept": [1.0, 2.0]}), {}, 422, "costs"),
    "no cost": lambda: (good(**{"costs.ok.accept": ["1", "b"]}), {}, 422,
                        "records[1].costs.ok.accept"),
    "too many rows": lambda: (good(51), {}, 413, "records"),
    "no rows": lambda: (good(0), {}, 422, "records"),
    "explain": lambda: (good(), {"explain": "maybe"}, 422, "explain"),
    "capacity": lambda: (good(), {"capacity": "{"}, 422, "capacity"),
    "no decision": lambda: (good(), {"capacity": '{"call": 1}'}, 422, "capacity"),
    "no limit": lambda: (good(), {"capacity": '{"review": true}'}, 422, "capacity.review"),
    "unknown": lambda: (good(), {"cutoff": "1"}, 422, "cutoff"),
    "nothing": lambda: (b"", {}, 422, "records"),
    "no text": lambda: (b"\xff\xfe\x00", {}, 400, None),
    "never closed": lambda: (csv_of(good()) + b'"never closed', {}, 400, None),
    "a short row": lambda: (csv_of(good()) + b"1,2\n", {}, 422, "records[2]"),
    "a name twice": lambda: (csv_of(good()).replace(b"hour", b"amount"), {}, 422, "columns"),
}  # fmt: skip


@pytest.mark.parametrize("case", FILES)
def test_csv_names_the_field(case, client):
    given, options, status, field = FILES[case]()
    body = given if isinstance(given, bytes) else csv_of(given)
    answer = client.decide(body, CSV, params=options)
    assert (answer.status_code, answer.json()["error"]["field"]) == (status, field)


# -- bounds --------------------------------------------------------------------------------------


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


# Small bodies that could take gigabytes: name to content type, body and status.
SMALL_BODIES = {
    "many rows": lambda: (CSV, b"a,b\n" + b"1,\n" * 300_000, 413),
    "a long cell": lambda: (CSV, csv_of(good()) + b"x" * 200_000, 400),
    "many columns": lambda: (CSV, b"," * 900_000 + b"\n1", 422),
    "a column per record": lambda: (
        "application/json",
        json.dumps({"records": [record(**{f"c{i}": 1}) for i in range(4_600)]}).encode(), 413,
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", SMALL_BODIES)
def test_small_bodies_take_little_memory(name):
    kind, body, status = SMALL_BODIES[name]()
    assert len(body) < 1_000_000
    client = client_of("review", max_bytes=1_000_000)
    tracemalloc.start()
    try:
        answer = client.decide(body, kind)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert answer.status_code == status, answer.text[:500]
    assert peak < 80 * 2**20


def test_a_request_that_is_over_is_over():
    """Work on a batch ends soon after the client was told that it took too long."""
    client = client_of("review", seconds=0.8)
    service, calls = client.app.service, []
    quick = service._read

    def slow(rows, start):
        calls.append(len(rows["amount"]))
        time.sleep(0.3)
        return quick(rows, start)

    service._read = slow
    answer = client.decide({"records": [record()] * 20_000})
    assert (answer.status_code, "0.8 s" in answer.text) == (503, True)
    time.sleep(0.4)
    done = len(calls)
    time.sleep(0.4)
    assert len(calls) == done
    assert sum(calls) < 20_000

    async def trickle():
        yield b"{"
        await asyncio.sleep(1.0)
        yield b"}"

    assert client.decide(trickle()).status_code == 408


def test_long_explanations_are_refused(client, monkeypatch):
    monkeypatch.setattr("costboost.serve.scoring._PARTS", 50)
    answer = client.decide({"records": [record()] * 20, "explain": True})
    assert (answer.status_code, answer.json()["error"]["field"]) == (413, "explain")
    assert client.decide(parts(explain=True)).status_code == 200


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
            small = await client.post("/decide", json=parts())
            answers = [one.status_code for one in await asyncio.gather(*tasks)]
            later = await client.post("/decide", content=slow(), headers=headers)
            return small.status_code, answers, later.status_code

    small, large, later = asyncio.run(ask())
    assert small == 200
    assert large.count(503) >= 6
    assert later != 503

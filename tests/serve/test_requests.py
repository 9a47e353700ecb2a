"""What is wrong with a request is a 4xx that says where, and nothing of the machine."""

from __future__ import annotations

import json

import pytest

from serve.models import client_of, decide, model_of, records_of, rows_of

JSON = {"content-type": "application/json"}


@pytest.fixture(scope="module")
def client():
    return client_of("review", max_rows=50, max_bytes=20_000)


def record(**changes):
    return {**records_of(rows_of(model_of("review"), 1))[0], **changes}


def without(name):
    return {key: value for key, value in record().items() if key != name}


def parts(**more):
    return {"records": [record()], **more}


PRICES = {"ok": {"accept": 0, "review": 1, "block": 1}, "fraud": {"accept": 9, "review": 1}}

# Name: body, place in it (None: the library has checked it), and words of the message.
BAD = {
    "no object": ([1], [], "dictionary"),
    "no rows": ({}, ["records"], "required"),
    "empty rows": ({"records": []}, ["records"], "at least 1"),
    "unknown key": (parts(threshold=1), ["threshold"], "not permitted"),
    "misspelt column": ({"records": [record(), {**without("amount"), "amuont": 1}]},
                        ["records", 1, "amount"], "Is it 'amuont'?"),
    "no cost": ({"records": [record(), record(amount=None)]}, None,
                "'amount', which is missing on 1 row"),
    "missing column": ({"records": [without("hour")]}, ["records", 0, "hour"], "lacks the column"),
    "text for a number": ({"records": [record(), record(hour="noon")]}, None,
                          "'hour' must hold numbers, got 'noon' (row 1)"),
    "infinite": ({"records": [record(amount="inf")]}, None, "infinity"),
    "not a number": ({"records": [record(amount=float("nan"))]}, ["records", 0, "amount"],
                     "finite"),
    "list for a number": ({"records": [record(amount=[12])]}, ["records", 0, "amount"], "number"),
    "object for a text": ({"records": [record(merchant={})]}, ["records", 0, "merchant"], "string"),
    "too large a number": ({"records": [record(amount=10**400)]}, ["records", 0, "amount"],
                           "valid number"),
    "half a character": ({"records": [record(merchant="\ud800")]}, ["records", 0, "merchant"],
                         "unicode"),
    "half a character in a name": ({"records": [{**without("hour"), "\ud800": 1}]},
                                   ["records", 0, "hour"], "lacks the column"),
    "record no object": ({"records": [record(), 3]}, ["records", 1], "object"),
    "too many rows": ({"records": [record()] * 51}, ["records"], "at most 50"),
    "explain no flag": (parts(explain="maybe"), ["explain"], "valid boolean"),
    "capacity no object": (parts(capacity=3), ["capacity"], "valid dictionary"),
    "no decision": (parts(capacity={"call": 3}), None, "only the decisions"),
    "odd limit": (parts(capacity={"review": 1.5}), None, "1.5"),
    "limit no number": (parts(capacity={"review": "2"}), ["capacity", "review"], "integer"),
    "infeasible": (parts(capacity={"review": 0, "accept": 0, "block": 0}), None, "capacity"),
    "costs too many": (parts(costs=[{**PRICES, "fraud": PRICES["ok"]}] * 2), None,
                       "each of the 1 records, got 2"),
    "cost missing": (parts(costs=[PRICES]), ["costs", 0, "fraud", "block"], "required"),
    "cost no number": (parts(costs=[{**PRICES, "fraud": {**PRICES["ok"], "block": "a"}}]),
                       ["costs", 0, "fraud", "block"], "valid number"),
    "short form of three": (parts(costs=[{"fn": 1, "fp": 2}]), ["costs", 0, "fraud"], "required"),
    "amount too large": ({"records": [record(amount=1e300)]}, None, "at most 1e+12"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_errors_say_where_and_what(name, client):
    body, place, words = BAD[name]
    answer = client.post("/decide", content=json.dumps(body), headers=JSON)
    assert answer.status_code == 422, answer.text
    detail = answer.json()["detail"]
    if place is None:
        assert words in detail
    else:
        assert any(error["loc"][1:][: len(place)] == place for error in detail), detail
        assert any(words in error["msg"] for error in detail), detail
        assert not any("input" in error for error in detail), "bodies are not repeated"


@pytest.mark.parametrize(
    "content", [b"", b"{", b"\xff", b'{"records": [1e', b"[" * 5000, b"null", b"\x00", b"9" * 5000]
)
def test_no_json(content, client):
    assert client.post("/decide", content=content, headers=JSON).status_code in (400, 422)


@pytest.mark.parametrize("kind", ["text/plain", "text/csv", "application/x-python-pickle"])
def test_types_of_bodies(kind, client):
    body = json.dumps(parts())
    answer = client.post("/decide", content=body, headers={"content-type": kind})
    assert answer.status_code == 422


def test_one_error_is_enough(client):
    answer = decide(client, {"records": [{}] * 50})
    assert {error["loc"][2] for error in answer.json()["detail"]} == {0}


def test_positive_is_not_guessed():
    """Costs by rows in fit: nothing says which of two texts is positive."""
    records = records_of(rows_of(model_of("learned"), 1))
    client = client_of("learned")
    answer = decide(client, {"records": records, "costs": [{"fn": 1, "fp": 2}]})
    assert answer.status_code == 422
    named = {"fraud": {"fraud": 0, "ok": 1}, "ok": {"fraud": 2, "ok": 0}}
    assert decide(client, {"records": records, "costs": [named]}).status_code == 200


def test_large_bodies_are_not_read(client):
    """Announced or not, no more than the limit is read."""
    read = 0

    def chunks():
        nonlocal read
        for _ in range(1000):
            read += 1
            yield b" " * 1000

    assert client.post("/decide", content=b" " * 20_001, headers=JSON).status_code == 413
    answer = client.post("/decide", content=chunks(), headers=JSON)
    assert answer.status_code == 413
    assert "at most 20000 bytes" in answer.json()["detail"]


def test_explanations_are_for_fewer_rows(client, monkeypatch):
    monkeypatch.setattr("costboost.serve.app.MAX_EXPLAINED_ROWS", 10)
    answer = decide(client, {"records": [record()] * 20, "explain": True})
    assert answer.status_code == 422
    assert "At most 10 records can be explained at once, got 20." in answer.json()["detail"]
    assert decide(client, parts(explain=True)).status_code == 200


def test_models_that_cannot_explain_say_so():
    records = records_of(rows_of(model_of("votes"), 1))
    answer = decide(client_of("votes"), {"records": records, "explain": True})
    assert (answer.status_code, "cannot explain" in answer.text) == (422, True)


def test_failures_tell_nothing_of_the_machine(monkeypatch):
    def broken(*_):
        raise RuntimeError("secret in /etc/place")

    monkeypatch.setattr("costboost.serve.app.read_rows", broken)
    client = client_of("review")
    client.raise_server_exceptions = False
    client._transport.raise_server_exceptions = False
    answer = decide(client, parts())
    assert (answer.status_code, answer.text) == (500, "Internal Server Error")

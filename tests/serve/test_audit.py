"""Every decision has its line in the audit log."""

from __future__ import annotations

import json
import logging

import pytest

from serve.models import client_of, decide, model_of, records_of, rows_of


@pytest.fixture(autouse=True)
def close():
    yield
    for handler in logging.getLogger("costboost.audit").handlers:
        handler.close()
    logging.getLogger("costboost.audit").handlers = []


def body(n=1, **more):
    return {"records": records_of(rows_of(model_of("review"), n)), **more}


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


@pytest.mark.parametrize("with_rows", [False, True])
def test_every_decision_has_its_line(tmp_path, with_rows):
    path = tmp_path / "audit.jsonl"
    client = client_of("review", audit_log=path, audit_rows=with_rows)
    asked = body(30, capacity={"review": 2})
    answer = decide(client, asked, headers={"x-request-id": "one"}).json()
    second = decide(client, body()).json()
    decide(client, {"records": [{}]})
    lines = lines_of(path)
    assert answer["request"] == "one"
    assert [line["request"] for line in lines] == ["one"] * 30 + [second["request"]]
    assert [line["row"] for line in lines] == [*range(30), 0]
    for line, row, record in zip(lines, answer["rows"], asked["records"], strict=False):
        assert line["model"] == "test" and line["time"].endswith("+00:00")
        assert {key: line[key] for key in row} == row
        assert line.get("record") == (record if with_rows else None)
    assert path.stat().st_mode & 0o077 == 0


def test_logrotate_may_move_the_file(tmp_path):
    path = tmp_path / "audit.jsonl"
    client = client_of("review", audit_log=path)
    decide(client, body())
    path.rename(tmp_path / "audit.jsonl.1")
    decide(client, body(2))
    assert len(lines_of(tmp_path / "audit.jsonl.1")) == 1
    assert len(lines_of(path)) == 2


def test_no_decision_without_its_line(tmp_path, monkeypatch):
    client = client_of("review", audit_log=tmp_path / "audit.jsonl")

    def full(*_):
        raise OSError("no space left")

    monkeypatch.setattr(logging.getLogger("costboost.audit").handlers[0], "flush", full)
    answer = decide(client, body())
    assert (answer.status_code, "audit log" in answer.text) == (503, True)


def test_names_of_requests():
    client = client_of("review")
    assert decide(client, body(), headers={"x-request-id": "mine-1"}).json()["request"] == "mine-1"
    names = {decide(client, body()).json()["request"] for _ in range(3)}
    assert len(names) == 3
    assert decide(client, body(), headers={"x-request-id": "no good"}).status_code == 422

"""What the service writes down: requests with their ids, and every decision."""

from __future__ import annotations

import json
import logging
import multiprocessing
import os

import numpy as np
import pandas as pd
import pytest

from cli.conftest import run
from costboost import CostBoostClassifier
from costboost.serve import Settings
from costboost.serve.app import Application
from costboost.serve.logs import AuditLog, JsonFormatter, Sparse
from costboost.serve.scoring import Service
from serve.models import FRAUD, SMALL, client_of, csv_of, fraud_frame, model_of, records_of, rows_of


def body(n=1, **more):
    return {"records": records_of(rows_of(model_of("review"), n)), **more}


def lines_of(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


def test_access_log(capsys):
    client_of("review").decide(body())
    assert capsys.readouterr().out == ""
    client = client_of("review", access_log=True)
    mine = client.decide(body(), headers={"x-request-id": "mine-1"})
    other = client.get("/private/path", headers={"x-request-id": "no good"})
    assert mine.headers["x-request-id"] == "mine-1"
    first, second = map(json.loads, capsys.readouterr().out.splitlines())
    assert first.pop("seconds") > 0 and first.pop("time").endswith("+00:00")
    assert first == {"request": "mine-1", "method": "POST", "path": "/decide", "status": 200}
    assert (second["path"], second["status"]) == ("other", 404)
    assert second["request"] == other.headers["x-request-id"] and len(second["request"]) == 16


def test_log_lines_in_json_name_the_request_and_answers_say_nothing():
    client, found = client_of("review"), []

    def broken(*_):
        raise RuntimeError("secret in /etc/place")

    client.app.service.answer = broken
    handler = logging.Handler()
    handler.emit = lambda record: found.append(JsonFormatter().format(record))
    handler.addFilter(Sparse())
    logger = logging.getLogger("costboost.serve")
    logger.addHandler(handler)
    try:
        answers = [client.decide(body(), headers={"x-request-id": "r7"}) for _ in range(30)]
    finally:
        logger.removeHandler(handler)
    error = {"field": None, "message": "The service failed; its log says why."}
    assert all((one.status_code, one.json()) == (500, {"error": error}) for one in answers)
    assert len(found) == 10  # a minute
    line = json.loads(found[0])
    assert (line["level"], line["request"]) == ("ERROR", "r7")
    assert "secret in /etc/place" in line["traceback"]


@pytest.mark.parametrize("with_rows", [False, True])
def test_every_decision_has_its_line(tmp_path, with_rows):
    path, model = tmp_path / "audit.jsonl", model_of("review")
    client = client_of("review", audit=path, audit_rows=with_rows)
    X = rows_of(model, 30)
    client.decide(body(30, capacity={"review": 2}), headers={"x-request-id": "one"})
    client.decide(csv_of(X), "text/csv", headers={"x-request-id": "two"})
    client.decide({"records": [{}]})
    limited = model.decide(X, capacity={"review": 2})
    found = pd.DataFrame(lines_of(path))
    assert found["request"].tolist() == ["one"] * 30 + ["two"] * 30
    assert found["decision"].tolist() == [*limited.labels, *model.predict(X)]
    assert set(found["model"]) == {"test"}
    np.testing.assert_allclose(found[["probability_fraud", "probability_ok"]][:30],
                               model.predict_proba(X))  # fmt: skip
    costs = [f"expected_cost_{label}" for label in model.decisions_]
    np.testing.assert_allclose(found[costs][30:], model.predict_cost(X))
    assert ("amount" in found) == ("merchant" in found) == with_rows
    assert path.stat().st_mode & 0o077 == 0


@pytest.mark.filterwarnings("ignore::costboost.errors.ColumnWarning")
def test_the_monitor_reads_the_lines(tmp_path):
    model = model_of("review")
    path, log, old = tmp_path / "m.costboost", tmp_path / "audit.jsonl", tmp_path / "old.csv"
    model.save(path)
    fraud_frame(300, 3)[0].to_csv(old, index=False)
    client = client_of("review", audit=log, audit_rows=True, audit_bytes=60_000)
    client.decide(body(150))
    client.decide(body(150))
    assert sorted(one.name for one in tmp_path.glob("audit*")) == ["audit.1.jsonl", "audit.jsonl"]
    arguments = ("monitor", path, str(tmp_path / "audit*.jsonl"), "--reference", old, "--json")
    found = json.loads(run(*arguments).stdout)
    assert found["n"] == 300
    assert found["expected_cost"] == pytest.approx(
        np.tile(model.predict_cost(rows_of(model, 150)).min(axis=1), 2).mean()
    )


def test_no_decision_without_its_line(tmp_path, monkeypatch):
    client = client_of("review", audit=tmp_path / "audit.jsonl")
    monkeypatch.setattr(os, "write", lambda *_: 0)
    answer = client.decide(body())
    assert (answer.status_code, "audit log" in answer.text) == (503, True)


def test_given_columns_take_no_place_of_an_audit_log(tmp_path):
    row = {**body()["records"][0], "decision": "mine", "probability_ok": 7, "note": "mine"}
    client_of("review", audit=tmp_path / "log", audit_rows=True).decide({"records": [row]})
    [line] = lines_of(tmp_path / "log")
    assert line["decision"] != "mine" and line["probability_ok"] <= 1 and line["note"] == "mine"


def test_columns_that_an_audit_log_would_hide(tmp_path):
    X, y = fraud_frame(200)
    model = CostBoostClassifier({"fn": 9, **FRAUD}, **SMALL)
    service = Service(model.fit(X.rename(columns={"hour": "time"}), y), "test")
    settings = Settings(tmp_path, audit=tmp_path / "audit.jsonl", audit_rows=True)
    with pytest.raises(ValueError, match=r"fields of the audit log: time\. Leave --audit-rows out"):
        Application(settings, lambda: service)


def _append(path, name):
    log = AuditLog(path, 20_000)
    for k in range(400):
        log.write(json.dumps({"name": name, "k": k}).encode() + b"\n")


def test_processes_share_a_bounded_log(tmp_path):
    path = tmp_path / "audit.jsonl"
    context = multiprocessing.get_context("spawn")
    writers = [context.Process(target=_append, args=(path, name)) for name in "ab"]
    for one in writers:
        one.start()
    for one in writers:
        one.join(60)
        assert one.exitcode == 0
    files = sorted(tmp_path.glob("audit*.jsonl"))
    found = [line for file in files for line in lines_of(file)]  # every line is whole
    assert {(one["name"], one["k"]) for one in found} == {(x, k) for x in "ab" for k in range(400)}
    assert all(file.stat().st_size < 20_100 for file in files)
    for _ in range(12):
        _append(path, "c")
    assert len(list(tmp_path.glob("audit*.jsonl"))) == 5

"""Host, token, headers, metrics, reload, schema and the OpenAPI document."""

from __future__ import annotations

import re
from pathlib import Path

import jsonschema_rs
import numpy as np
import pytest

from costboost.serve import Settings, is_loopback
from costboost.serve.page import POLICY
from serve.models import MODELS, Client, client_of, model_of, records_of, rows_of

TOKEN = "s3cret"


# -- the gate --------------------------------------------------------------------------------------


def test_token():
    client, body = client_of("review", token=TOKEN), {"records": [{}]}
    wrong = ({}, {"authorization": "Bearer s3cre"}, {"authorization": f"Basic {TOKEN}"})
    right = {"authorization": f"bearer {TOKEN}"}
    for path, status in (
        ("/schema", 200), ("/metrics", 200), ("/openapi.json", 200), ("/no", 404),
    ):  # fmt: skip
        for headers in wrong:
            answer = client.get(path, headers=headers)
            assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
            assert TOKEN not in answer.text
        assert client.get(path, headers=right).status_code == status
    assert client.decide(body).status_code == 401
    assert client.decide(body, headers=right).status_code == 422
    for path in ("/", "/health", "/ready"):
        assert client.get(path).status_code == 200
    assert TOKEN not in repr(Settings(Path("x"), token=TOKEN))


def test_foreign_host_names():
    """A page of a foreign site cannot reach the service under its own name."""
    app = client_of("review").app
    for base, status in (
        ("http://localhost:8000", 200), ("http://127.0.0.1", 200), ("http://[::1]:9", 200),
        ("http://evil.example", 421), ("http://localhost.evil.example", 421),
    ):  # fmt: skip
        assert Client(app, base).get("/health").status_code == status, base
    anyone = client_of("review", hosts=()).app
    assert Client(anyone, "http://costs.example").get("/health").status_code == 200


def test_loopback():
    assert all(map(is_loopback, ("127.0.0.1", "::1", "[::1]", "localhost", "127.9.9.9")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "10.0.0.1", "example.org", "")))


def test_draining():
    client = client_of("review")
    assert client.get("/ready").json() == {"status": "ready", "model": "test"}
    assert "connection" not in client.get("/health").headers
    client.app.is_draining = True
    answer = client.get("/ready")
    assert (answer.status_code, answer.json()) == (503, {"status": "draining"})
    body = {"records": records_of(rows_of(model_of("review"), 1))}
    decided = client.decide(body)
    assert (decided.status_code, decided.headers["connection"]) == (200, "close")


# -- metrics ---------------------------------------------------------------------------------------


def values(text):
    return {
        line.rpartition(" ")[0]: float(line.rpartition(" ")[2])
        for line in text.splitlines()
        if line and not line.startswith("#")
    }


def test_metrics_count_what_was_answered():
    model, client = model_of("review"), client_of("review")
    X = rows_of(model, 30)
    for records in (records_of(X), records_of(X[:1]), [{}]):
        client.decide({"records": records})
    client.get("/made/up/path")
    found = values(client.get("/metrics").text)
    costs = model.predict_cost(X)[[*range(30), 0]]
    decided, paid = model.predict(X)[[*range(30), 0]], costs.min(axis=1)
    for label in model.decisions_:
        count = found.get(f'costboost_decisions_total{{decision="{label}"}}', 0.0)
        total = found.get(f'costboost_expected_cost_sum{{decision="{label}"}}', 0.0)
        right = (decided == label).sum(), paid[decided == label].sum()
        assert (count, total) == pytest.approx(right)
    assert found["costboost_saving_sum"] == pytest.approx(np.diff(np.sort(costs)[:, :2]).sum())
    for name, right in {
        "rows_total": 31,
        'requests_total{path="/decide",status="200"}': 2,
        'requests_total{path="/decide",status="422"}': 1,
        'requests_total{path="other",status="404"}': 1,
        'request_seconds_count{path="/decide"}': 3,
    }.items():
        assert found[f"costboost_{name}"] == right
    # Absurd costs do not spoil the sums.
    absurd = (1e11 * np.arange(6.0).reshape(2, 3)).tolist()
    assert client.decide({"records": records_of(X), "costs": absurd}).status_code == 200
    after = values(client.get("/metrics").text)
    assert (after["costboost_rows_total"], after["costboost_unusual_rows_total"]) == (61, 30)
    sums = [name for name in found if "_sum" in name and "seconds" not in name]
    assert [after[name] for name in sums] == [found[name] for name in sums]


# -- schemas ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_schema_accepts_what_the_service_accepts(name):
    client = client_of(name)
    answer = client.get("/schema")
    if name == "excluded":  # a column that only the costs need
        assert not model_of(name).columns_["amount"].is_used
        assert "amount" in answer.json()["required"]
    assert answer.headers["content-type"] == "application/schema+json"
    row = jsonschema_rs.validator_for(answer.json())
    records = records_of(rows_of(model_of(name), 3))
    for record in records:
        assert row.is_valid(record)
        assert row.is_valid({**record, "unknown": 1})
        name_of_one = next(iter(record))
        assert not row.is_valid({k: v for k, v in record.items() if k != name_of_one})
        assert not row.is_valid({**record, name_of_one: [1]})
    document = client.get("/openapi.json").json()
    found = document["paths"]["/decide"]["post"]["responses"]["200"]["content"]["application/json"]
    components = {"components": document["components"]}
    answers = jsonschema_rs.validator_for({**found["schema"], **components})
    assert answers.is_valid(client.decide({"records": records}).json())
    assert not answers.is_valid({"rows": [{}]})


# -- pages -----------------------------------------------------------------------------------------


def test_the_page_needs_nothing_else():
    answer = client_of("review").get("/")
    assert answer.headers["content-security-policy"] == POLICY
    assert not re.search(r"(src|href)=[\"']?(https?:)?//", answer.text)
    assert not re.search(r"@import|url\(|style=\"| on[a-z]+=\"", answer.text)
    assert '<html lang="en">' in answer.text

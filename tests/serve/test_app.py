"""Token, host names, metrics, schema and the page of the documentation."""

from __future__ import annotations

import re

import numpy as np
import pytest
from starlette.testclient import TestClient

from costboost.cli.serve import host_names, is_loopback
from costboost.serve import Settings
from serve.models import MODELS, client_of, decide, model_of, records_of, rows_of

TOKEN = "s3cret"


def test_token():
    client = client_of("review", token=TOKEN)
    right = {"authorization": f"bearer {TOKEN}"}
    wrong = [
        {},
        {"authorization": "Bearer s3cre"},
        {"authorization": f"Basic {TOKEN}"},
        # One of them would be right, and a proxy may have checked the other.
        [("authorization", f"Bearer {TOKEN}"), ("authorization", "Bearer other")],
    ]
    paths = {"/schema": 200, "/metrics": 200, "/openapi.json": 200, "/docs": 200, "/no": 404}
    for path, status in paths.items():
        for headers in wrong:
            answer = client.get(path, headers=headers)
            assert (answer.status_code, answer.headers["www-authenticate"]) == (401, "Bearer")
            assert TOKEN not in answer.text
        assert client.get(path, headers=right).status_code == status
    assert decide(client, {"records": [{}]}).status_code == 401
    assert decide(client, {"records": [{}]}, headers=right).status_code == 422
    for path in ("/health", "/ready"):
        assert client.get(path).status_code == 200
    assert TOKEN not in repr(Settings(token=TOKEN))


def test_foreign_host_names():
    """A page of a foreign site cannot reach the service under its own name."""
    app = client_of("review", hosts=host_names("127.0.0.1", None)).app
    for base, status in (
        ("http://localhost:8000", 200), ("http://127.0.0.1", 200), ("http://[::1]:9", 200),
        ("http://evil.example", 400), ("http://localhost.evil.example", 400),
    ):  # fmt: skip
        assert TestClient(app, base).get("/health").status_code == status, base
    anyone = client_of("review", hosts=host_names("0.0.0.0", None)).app
    assert TestClient(anyone, "http://costs.example").get("/health").status_code == 200
    assert host_names("0.0.0.0", ["costs.example"]) == ("costs.example",)


def test_loopback():
    assert all(map(is_loopback, ("127.0.0.1", "::1", "[::1]", "localhost", "127.9.9.9")))
    assert not any(map(is_loopback, ("0.0.0.0", "::", "10.0.0.1", "example.org", "")))


def test_probes():
    client = client_of("review")
    assert client.get("/health").json() == {"status": "ok"}
    assert client.get("/ready").json() == {"status": "ready", "model": "test"}


# -- metrics ---------------------------------------------------------------------------------------


def values(client):
    lines = client.get("/metrics").text.splitlines()
    pairs = [line.rpartition(" ") for line in lines if line.startswith("costboost_")]
    return {name: float(value) for name, _, value in pairs}


def test_metrics_count_what_was_answered():
    model, client = model_of("review"), client_of("review")
    X = rows_of(model, 30)
    before = values(client)
    for records in (records_of(X), records_of(X[:1]), [{}]):
        decide(client, {"records": records})
    client.get("/made/up/path")
    after = values(client)

    def rise(name):
        return after.get(f"costboost_{name}", 0.0) - before.get(f"costboost_{name}", 0.0)

    costs = model.predict_cost(X)[[*range(30), 0]]
    chosen = model.predict(X)[[*range(30), 0]]
    smallest, second = np.sort(costs)[:, :2].T
    for label in model.decisions_:
        rows = chosen == label
        assert rise(f'decisions_total{{decision="{label}"}}') == rows.sum()
        paid = rise(f'expected_cost_sum{{decision="{label}"}}')
        assert paid == pytest.approx(smallest[rows].sum())
        saved = rise(f'saving_sum{{decision="{label}"}}')
        assert saved == pytest.approx((second - smallest)[rows].sum())
    for name, count in {
        'requests_total{path="/decide",status="200"}': 2,
        'requests_total{path="/decide",status="422"}': 1,
        'requests_total{path="other",status="404"}': 1,
        'request_seconds_count{path="/decide"}': 3,
    }.items():
        assert rise(name) == count


# -- schemas ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MODELS)
def test_schema_names_what_a_row_needs(name):
    client = client_of(name)
    schema = client.get("/schema").json()
    if name == "excluded":  # a column that only the costs need
        assert not model_of(name).columns_["amount"].is_used
        assert "amount" in schema["required"]
    assert schema["x-costboost"]["classes"] == model_of(name).classes_.tolist()
    records = records_of(rows_of(model_of(name), 3))
    assert schema["required"] == [name for name in schema["properties"] if name in records[0]]
    # The example of the documentation can be tried as it is.
    operation = client.get("/openapi.json").json()["paths"]["/decide"]["post"]
    body = operation["requestBody"]["content"]["application/json"]["schema"]
    (example,) = body["examples"]
    assert decide(client, example).status_code == 200
    for cell in schema["required"]:
        short = {key: value for key, value in records[0].items() if key != cell}
        assert decide(client, {"records": [short]}).status_code == 422
        assert decide(client, {"records": [{**records[0], cell: [1]}]}).status_code == 422


def test_categories_and_missing_values_are_documented():
    merchant = client_of("review").get("/schema").json()["properties"]["merchant"]
    assert merchant["description"].startswith("One of 3 categories: shop, travel, web.")
    assert {"type": "null"} in merchant["anyOf"]


def test_the_page_loads_nothing_from_elsewhere():
    client = client_of("review")
    page = client.get("/docs").text
    assert not re.search(r"(src|href)=[\"']?(https?:)?//", page)
    for path in re.findall(r"(?:src|href)=\"(/[^\"]+)\"", page):
        assert client.get(path).status_code == 200

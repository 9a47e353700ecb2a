"""The service answers what the model itself answers, for every kind of model."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from serve.models import MODELS, client_of, decide, model_of, records_of, rows_of


def column(rows, key, labels):
    return np.array([[row[key][str(label)] for label in labels] for row in rows])


def drawn_costs(model, n, seed=3):
    shape = n, len(model.classes_), len(model.decisions_)
    return np.random.default_rng(seed).uniform(0, 20, shape)


def entries_of(model, costs):
    """The costs of rows as a request has them."""
    if model.decisions_.tolist() == model.classes_.tolist() == [0, 1]:
        names = [("tn", 0, 0), ("fp", 0, 1), ("fn", 1, 0), ("tp", 1, 1)]
    elif getattr(model.cost_matrix, "get", lambda _: None)("positive") == "fraud":
        names = [("tp", 0, 0), ("fn", 0, 1), ("fp", 1, 0), ("tn", 1, 1)]
    else:
        by_decision = [
            dict(zip(map(str, model.decisions_), prices, strict=True))
            for prices in costs.reshape(-1, costs.shape[2]).tolist()
        ]
        k = costs.shape[1]
        return [
            dict(zip(map(str, model.classes_), by_decision[i : i + k], strict=True))
            for i in range(0, len(by_decision), k)
        ]
    return [{name: matrix[i, j] for name, i, j in names} for matrix in costs]


@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("name", [name for name in MODELS if name != "decided"])
def test_answers_are_those_of_the_model(name, given):
    model = model_of(name)
    X = rows_of(model)
    body = {"records": records_of(X)}
    costs = None
    if given:
        costs = drawn_costs(model, len(X))
        body["costs"] = entries_of(model, costs)
    answer = decide(client_of(name), body)
    assert answer.status_code == 200, answer.text
    rows = answer.json()["rows"]
    assert [row["decision"] for row in rows] == model.predict(X, costs=costs).tolist()
    proba = column(rows, "probabilities", model.classes_)
    np.testing.assert_array_equal(proba, model.predict_proba(X))
    expected = column(rows, "expected_costs", model.decisions_)
    np.testing.assert_allclose(expected, model.predict_cost(X, costs=costs), rtol=1e-12)
    for row, prices in zip(rows, expected.tolist(), strict=True):  # the saving, by plain code
        by_label = dict(zip(model.decisions_.tolist(), prices, strict=True))
        price = by_label.pop(row["decision"])
        assert row["saving"] == pytest.approx(min(by_label.values()) - price, abs=1e-12)
        assert by_label[row["runner_up"]] == min(by_label.values())


def test_models_without_probabilities_only_decide():
    model = model_of("decided")
    X = rows_of(model, 5)
    client = client_of("decided")
    answer = decide(client, {"records": records_of(X)}).json()
    assert answer["rows"] == [{"decision": label} for label in model.predict(X)]
    assert answer["expected_cost"] is None
    costs = [{"fn": 1, "fp": 1}] * 5
    for more in ({"explain": True}, {"costs": costs}, {"capacity": {"ok": 1}}):
        answer = decide(client, {"records": records_of(X), **more})
        assert answer.status_code == 422
        assert "no probabilities" in answer.json()["detail"]


@pytest.mark.parametrize("capacity", [None, {"review": 3}])
def test_limits_hold_and_explanations_add_up(capacity):
    model = model_of("review")
    X = rows_of(model, 60)
    assert (model.predict(X) == "review").sum() > 4
    body = {"records": records_of(X), "capacity": capacity, "explain": True}
    answer = decide(client_of("review"), body).json()
    limited = model.decide(X, capacity=capacity)
    assert [row["decision"] for row in answer["rows"]] == limited.labels.tolist()
    assert answer["expected_cost"] == pytest.approx(limited.cost.sum())
    if capacity:
        assert answer["limit_prices"] == {"review": limited.limit_prices["review"]}
        assert any(row["saving"] < 0 for row in answer["rows"]), "limits force costly decisions"
    savings = model.explain(X, decisions=limited).saving
    for row, saving in zip(answer["rows"], savings, strict=True):
        reasons = row["explanation"]
        assert list(reasons["parts"]) == list(model.feature_names_in_)
        total = reasons["base"] + sum(reasons["parts"].values())
        assert row["saving"] == pytest.approx(saving, abs=1e-9) == pytest.approx(total, abs=1e-9)


def test_rows_are_raw_rows():
    """Texts that write numbers, missing values and new categories are read as in training."""
    client = client_of("review")
    record = records_of(rows_of(model_of("review"), 1))[0]
    known = decide(client, {"records": [{**record, "distance_km": None, "merchant": None}]})
    raw = {**record, "amount": str(record["amount"]), "distance_km": "NA", "merchant": "moon"}
    raw["payment_id"] = 17  # a column that the model does not use
    assert decide(client, {"records": [raw]}).json()["rows"] == known.json()["rows"]


def test_requests_do_not_disturb_each_other():
    """Different requests at the same time, against the same ones one after another."""
    client = client_of("review")
    rows = [records_of(rows_of(model_of("review"), 20, seed)) for seed in range(8)]

    def ask(records):
        return decide(client, {"records": records, "explain": True}).json()["rows"]

    alone = [ask(records) for records in rows]
    with ThreadPoolExecutor(4) as pool:
        for place, answer in enumerate(pool.map(ask, rows * 5)):
            assert answer == alone[place % len(rows)]

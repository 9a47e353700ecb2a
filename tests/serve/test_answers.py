"""The service answers what the model itself answers, for every kind of model and every format."""

from __future__ import annotations

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from costboost.serve.scoring import Service
from serve.models import CSV, MODELS, client_of, csv_of, model_of, records_of, rows_of

LIMITS = {"review": 3, "block": [0, 0.5]}


def column(rows, key, labels):
    return np.array([[row[key][str(label)] for label in labels] for row in rows])


def own_costs(model, n, seed=3):
    shape = n, len(model.classes_), len(model.decisions_)
    return np.random.default_rng(seed).uniform(0, 20, shape)


@pytest.mark.parametrize("given", [False, True])
@pytest.mark.parametrize("name", [name for name in MODELS if name != "decided"])
def test_json_answers_are_those_of_the_model(name, given):
    model = model_of(name)
    X = rows_of(model)
    costs = own_costs(model, len(X)) if given else None
    body = {"records": records_of(X), "costs": costs.tolist() if given else None}
    answer = client_of(name).decide(body)
    assert answer.status_code == 200, answer.text
    rows = answer.json()["rows"]
    assert [row["decision"] for row in rows] == model.predict(X, costs=costs).tolist()
    proba = column(rows, "probabilities", model.classes_)
    np.testing.assert_array_equal(proba, model.predict_proba(X))
    found = column(rows, "expected_costs", model.decisions_)
    np.testing.assert_allclose(found, model.predict_cost(X, costs=costs), rtol=1e-12)
    for row, prices in zip(rows, found.tolist(), strict=True):  # the saving, by plain code
        named = dict(zip(model.decisions_.tolist(), prices, strict=True))
        taken = named.pop(row["decision"])
        assert row["saving"] == pytest.approx(min(named.values()) - taken, abs=1e-12)
        assert named[row["runner_up"]] == min(named.values())


def test_models_without_probabilities_only_decide():
    model = model_of("decided")
    X = rows_of(model, 5)
    client = client_of("decided")
    answer = client.decide({"records": records_of(X)}).json()
    assert answer["rows"] == [{"decision": label} for label in model.predict(X)]
    assert answer["expected_cost"] is None
    for more in ({"explain": True}, {"costs": {"fn": 1, "fp": 1}}, {"capacity": {"ok": 1}}):
        answer = client.decide({"records": records_of(X), **more})
        assert (answer.status_code, answer.json()["error"]["field"]) == (422, *more)


@pytest.mark.parametrize("capacity", [None, {"review": 3}])
def test_limits_hold_and_explanations_add_up(capacity):
    model = model_of("review")
    X = rows_of(model, 60)
    assert (model.predict(X) == "review").sum() > 4
    body = {"records": records_of(X), "capacity": capacity, "explain": True}
    answer = client_of("review").decide(body).json()
    found = model.decide(X, capacity=capacity)
    assert [row["decision"] for row in answer["rows"]] == found.labels.tolist()
    assert answer["expected_cost"] == pytest.approx(found.expected_cost)
    if capacity:
        priced = {"decision": "review", "rows": 3, "price": found.price["review"]}
        assert answer["limits"] == [priced]
        assert any(row["saving"] < 0 for row in answer["rows"]), "limits force costly decisions"
    parts = model.explain(X, codes=found.codes)
    for row, saving in zip(answer["rows"], parts.saving, strict=True):
        reasons = row["explanation"]
        assert list(reasons["parts"]) == list(model.feature_names_in_)
        total = reasons["base"] + sum(reasons["parts"].values())
        assert row["saving"] == pytest.approx(saving, abs=1e-9) == pytest.approx(total, abs=1e-9)


def test_blocks_of_rows_are_those_of_one(monkeypatch):
    model, client = model_of("review"), client_of("review")
    records = records_of(rows_of(model, 20))
    body = {"records": records, "costs": own_costs(model, 20).tolist(), "explain": True}
    body["capacity"] = {"review": 2}
    whole = client.decide(body).json()["rows"]
    monkeypatch.setattr("costboost.serve.scoring._ROWS", 3)
    assert len({row["decision"] for row in whole}) > 1
    for one, two in zip(whole, client.decide(body).json()["rows"], strict=True):
        assert one["decision"] == two["decision"]
        assert one["expected_costs"] == pytest.approx(two["expected_costs"], rel=1e-12)
        assert one["explanation"]["parts"] == pytest.approx(two["explanation"]["parts"], abs=1e-9)
    records[13]["hour"] = "noon"
    assert client.decide(body).json()["error"]["field"] == "records[13].hour"


def test_forms_of_costs_agree():
    model, client = model_of("expression"), client_of("expression")  # classes: fraud, ok
    X = rows_of(model, 3)
    forms = [
        [[0, 40], [3, 1]],
        {"fn": 40, "fp": 3, "tp": 0, "tn": 1},
        {"fn": 3, "fp": 40, "tp": 1, "positive": "ok"},
        {"ok": {"fraud": 3, "ok": 1}, "fraud": {"ok": 40, "fraud": 0}},
    ]
    answers = [
        client.decide({"records": records_of(X), "costs": costs}).json()
        for costs in [*forms, *([form] * 3 for form in forms)]
    ]
    for names in ({"fn": 40, "fp": 3, "tn": 1}, {"fraud.ok": 40, "ok.fraud": 3, "ok.ok": 1}):
        columns = {f"costs.{name}": price for name, price in names.items()}
        answers.append(client.decide(csv_of(X.assign(**columns)), CSV).json())
    assert "rows" in answers[0]
    assert all(answer == answers[0] for answer in answers)


def test_csv_is_answered_as_json():
    X, client = rows_of(model_of("review")), client_of("review")
    body = {"records": records_of(X), "explain": True, "capacity": LIMITS}
    options = {"explain": "true", "capacity": json.dumps(LIMITS)}
    right = client.decide(body).json()
    found = model_of("review").decide(X, capacity=LIMITS)
    assert [row["decision"] for row in right["rows"]] == found.labels.tolist()
    # With a mark of its encoding, other line ends and empty lines.
    odd = b"\xef\xbb\xbf" + csv_of(X).replace(b"\n", b"\r\n\r\n")
    for file in (csv_of(X), csv_of(X).replace(b",", b";"), odd):
        assert client.decide(file, CSV, params=options).json() == right


def test_costs_as_columns_are_those_of_their_rows():
    X, client = rows_of(model_of("expression"), 6), client_of("expression")
    fn = np.array([1.0, 2, 30, 400, 5, 60])
    answer = client.decide(csv_of(X.assign(**{"costs.fn": fn, "costs.fp": 7.0})), CSV)
    costs = [{"fn": one, "fp": 7} for one in fn]
    assert answer.json() == client.decide({"records": records_of(X), "costs": costs}).json()
    for more, words in (
        ({"costs.fn": 1.0, "costs.fp": 2.0, "costs.fraud.ok": 3.0}, "keys 'fn', 'fp'"),
        ({"costs.fn": np.where(fn > 100, np.nan, fn), "costs.fp": 7.0}, "finite"),
    ):
        answer = client.decide(csv_of(X.assign(**more)), CSV)
        assert (answer.status_code, words in answer.json()["error"]["message"]) == (422, True)


def test_unseen_categories_are_named_and_count_as_missing():
    records, client = records_of(rows_of(model_of("review"), 2)), client_of("review")
    records[1]["merchant"] = "moon"
    answer = client.decide({"records": records}).json()
    assert answer.pop("unseen_categories") == {"merchant": ["moon"]}
    records[1]["merchant"] = None
    assert client.decide({"records": records}).json() == answer


def test_threads_do_not_disturb_each_other():
    """Different requests at the same time, against the same ones one after another."""
    service = Service(model_of("review"), "test")
    rows = [records_of(rows_of(service.model, 20, seed)) for seed in range(8)]
    bodies = [json.dumps({"records": one, "explain": True}).encode() for one in rows]
    asked = [service.requests.from_json(body, 1000) for body in bodies]
    alone = [service.answer(one) for one in asked]
    with ThreadPoolExecutor(4) as pool:
        for place, one in enumerate(pool.map(service.answer, asked * 5)):
            for name in ("expected", "codes", "parts"):
                right = getattr(alone[place % len(asked)], name)
                np.testing.assert_array_equal(getattr(one, name), right)

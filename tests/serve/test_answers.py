"""The service answers what the model itself answers, for every kind of model and every format."""

from __future__ import annotations

import io
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from costboost.serve.requests import Query
from costboost.serve.scoring import Service
from serve.models import MODELS, client_of, model_of, records_of, rows_of

ARROW = "application/vnd.apache.arrow.stream"
ARROW_FILE = "application/vnd.apache.arrow.file"
PARQUET = "application/vnd.apache.parquet"


def column(rows: list[dict[str, Any]], key: str, labels: list[Any]) -> np.ndarray:
    return np.array([[row[key][str(label)] for label in labels] for row in rows])


def own_costs(model: Any, n: int, seed: int = 3) -> np.ndarray:
    shape = n, len(model.classes_), len(model.decisions_)
    return np.random.default_rng(seed).uniform(0, 20, shape)


@pytest.mark.parametrize("told", [False, True])
@pytest.mark.parametrize("name", MODELS)
def test_json_answers_are_those_of_the_model(name: str, told: bool) -> None:
    model = model_of(name)
    X = rows_of(model)
    body: dict[str, Any] = {"records": records_of(X)}
    costs = own_costs(model, len(X)) if told else None
    if costs is not None:
        body["costs"] = costs.tolist()
    answer = client_of(model).decide(body)
    assert answer.status_code == 200, answer.text
    rows = answer.json()["rows"]
    decided = model.predict(X, costs=costs)
    assert [row["decision"] for row in rows] == decided.tolist()
    np.testing.assert_array_equal(
        column(rows, "probabilities", model.classes_.tolist()), model.predict_proba(X)
    )
    expected = model.predict_cost(X, costs)
    found = column(rows, "expected_costs", model.decisions_.tolist())
    np.testing.assert_allclose(found, expected, rtol=1e-12)
    # The saving, by plain code.
    for row, prices in zip(rows, found.tolist(), strict=True):
        named = dict(zip(model.decisions_.tolist(), prices, strict=True))
        taken = named.pop(row["decision"])
        assert row["saving"] == pytest.approx(min(named.values()) - taken, abs=1e-12)
        assert named[row["runner_up"]] == min(named.values())


def query(service: Service, X: Any, explain: bool) -> Query:
    return Query(service.columns.from_records(records_of(X)), None, None, explain)


@pytest.mark.parametrize("name", ["expression", "review", "excluded", "learned", "array", "three"])
def test_boosters_asked_directly_answer_as_their_public_methods(name: str) -> None:
    model = model_of(name)
    quick, plain = Service(model, "test"), Service(model, "test")
    assert quick.is_direct
    plain.is_direct = False
    asked = query(quick, rows_of(model), explain=name != "learned")
    one, two = quick.answer(asked), plain.answer(asked)
    for field in ("codes", "proba", "expected", "runner_up", "saving"):
        np.testing.assert_array_equal(getattr(one, field), getattr(two, field), field)
    if one.explanation is not None and two.explanation is not None:
        np.testing.assert_array_equal(one.explanation.parts, two.explanation.parts)
        assert one.explanation.feature_names == two.explanation.feature_names


def test_explanations_add_up() -> None:
    model = model_of("review")
    X = rows_of(model)
    body = {"records": records_of(X), "explain": True}
    rows = client_of(model).decide(body).json()["rows"]
    found = model.explain(X)
    for row, saving in zip(rows, found.saving, strict=True):
        parts = row["explanation"]["parts"]
        assert list(parts) == list(model.feature_names_in_)
        assert row["explanation"]["base"] + sum(parts.values()) == pytest.approx(saving, abs=1e-9)
        assert row["saving"] == pytest.approx(saving, abs=1e-12)


def test_limits_hold_and_have_prices() -> None:
    model = model_of("review")
    X = rows_of(model, 60)
    free = (model.predict(X) == "review").sum()
    assert free > 4
    body = {"records": records_of(X), "capacity": {"review": 3}, "explain": True}
    answer = client_of(model).decide(body).json()
    found = model.decide(X, capacity={"review": 3})
    assert [row["decision"] for row in answer["rows"]] == found.labels.tolist()
    assert answer["limits"] == [{"decision": "review", "rows": 3, "price": found.price["review"]}]
    assert answer["expected_cost"] == pytest.approx(found.expected_cost)
    forced = [row for row in answer["rows"] if row["saving"] < 0]
    assert forced, "limits force decisions that are not the cheapest"
    for row in answer["rows"]:
        parts = row["explanation"]
        total = parts["base"] + sum(parts["parts"].values())
        assert total == pytest.approx(row["saving"], abs=1e-9)


def test_limits_per_group() -> None:
    model = model_of("review")
    X = rows_of(model, 60)
    days = ["mon", "tue"] * 30
    limit = {"mon": 1, "tue": 2}
    body = {"records": records_of(X), "per": days, "capacity": {"review": limit}}
    answer = client_of(model).decide(body).json()
    found = model.decide(X, capacity={"review": limit}, per=np.array(days))
    assert [row["decision"] for row in answer["rows"]] == found.labels.tolist()
    assert {one["group"]: one["rows"] for one in answer["limits"]} == limit


def test_rows_without_costs_use_those_of_the_model() -> None:
    model = model_of("review")
    X = rows_of(model, 4)
    own = own_costs(model, 4)
    given = [own[0].tolist(), None, own[2].tolist(), None]
    rows = client_of(model).decide({"records": records_of(X), "costs": given}).json()["rows"]
    told, untold = model.predict_cost(X, own), model.predict_cost(X)
    found = column(rows, "expected_costs", model.decisions_.tolist())
    np.testing.assert_allclose(found, np.where([[1], [0], [1], [0]], told, untold), rtol=1e-12)


def test_forms_of_costs_agree() -> None:
    model = model_of("expression")  # classes: fraud, ok
    records = records_of(rows_of(model, 3))
    client = client_of(model)
    forms = [
        [[0, 40], [3, 1]],
        {"fn": 40, "fp": 3, "tp": 0, "tn": 1},
        {"fn": 3, "fp": 40, "tp": 1, "positive": "ok"},
        {"ok": {"fraud": 3, "ok": 1}, "fraud": {"ok": 40, "fraud": 0}},
    ]
    answers = [
        client.decide({"records": records, "costs": costs}).json()
        for form in forms
        for costs in (form, [form] * 3)
    ]
    assert all(answer == answers[0] for answer in answers)


def test_rows_in_any_order_of_columns() -> None:
    model = model_of("review")
    X = rows_of(model, 5)
    client = client_of(model)
    plain = client.decide({"records": records_of(X)}).json()
    values = X.astype(object).where(X.notna(), None)
    assert client.decide({"rows": values.to_numpy().tolist()}).json() == plain
    turned = values[values.columns[::-1]]
    body = {"rows": turned.to_numpy().tolist(), "columns": list(turned.columns)}
    assert client.decide(body).json() == plain


def packed(X: pd.DataFrame, kind: str) -> bytes:
    table = pa.Table.from_pandas(X, preserve_index=False)
    if kind == PARQUET:
        sink = io.BytesIO()
        pq.write_table(table, sink)
        return sink.getvalue()
    out = pa.BufferOutputStream()
    new = pa.ipc.new_file if kind == ARROW_FILE else pa.ipc.new_stream
    with new(out, table.schema) as writer:
        writer.write_table(table, max_chunksize=7)
    return out.getvalue().to_pybytes()


@pytest.mark.parametrize("category", [False, True])
@pytest.mark.parametrize("kind", [ARROW, ARROW_FILE, PARQUET])
def test_tables_are_answered_as_json(kind: str, category: bool) -> None:
    model = model_of("review")
    X = rows_of(model)
    if category:
        X = X.astype({"merchant": "category"})
    client = client_of(model)
    headers = {"content-type": kind}
    answer = client.decide(content=packed(X, kind), headers=headers, params={"explain": "true"})
    assert answer.status_code == 200, answer.text
    assert answer.json() == client.decide({"records": records_of(X), "explain": True}).json()


def test_arrow_answers() -> None:
    model = model_of("review")
    X = rows_of(model)
    headers = {"content-type": ARROW, "accept": ARROW}
    options = {"explain": "1", "capacity": '{"review": 2}'}
    answer = client_of(model).decide(content=packed(X, ARROW), headers=headers, params=options)
    assert answer.headers["content-type"] == ARROW
    found = pa.ipc.open_stream(answer.content).read_all().to_pandas()
    limited = model.decide(X, capacity={"review": 2})
    assert found["decision"].tolist() == limited.labels.tolist()
    expected = found[[f"expected_cost.{label}" for label in model.decisions_]].to_numpy()
    np.testing.assert_allclose(expected, model.predict_cost(X), rtol=1e-12)
    parts = found[[f"part.{name}" for name in model.feature_names_in_]].sum(axis=1)
    np.testing.assert_allclose(found["base"] + parts, found["saving"], atol=1e-9)


@pytest.mark.parametrize("kind", [ARROW, PARQUET])
def test_costs_as_columns(kind: str) -> None:
    model = model_of("expression")
    X = rows_of(model, 6)
    fn = np.array([1.0, 2, np.nan, 400, 5, np.nan])
    table = X.assign(**{"costs.fn": fn, "costs.fp": np.where(np.isnan(fn), np.nan, 7.0)})
    costs = [None if np.isnan(one) else {"fn": one, "fp": 7} for one in fn]
    client = client_of(model)
    answer = client.decide(content=packed(table, kind), headers={"content-type": kind})
    assert answer.json() == client.decide({"records": records_of(X), "costs": costs}).json()


def test_columns_of_costs_in_two_forms_are_refused() -> None:
    model = model_of("expression")
    X = rows_of(model, 2)
    truth, decision = model.classes_[0], model.decisions_[1]
    table = X.assign(**{"costs.fn": 1.0, "costs.fp": 2.0, f"costs.{truth}.{decision}": 3.0})
    answer = client_of(model).decide(content=packed(table, ARROW), headers={"content-type": ARROW})
    assert answer.status_code == 422
    assert "of one form; both forms are there" in answer.json()["error"]["message"]


def test_unseen_categories_are_named() -> None:
    model = model_of("review")
    records = records_of(rows_of(model, 2))
    records[1]["merchant"] = "moon"
    answer = client_of(model).decide({"records": records}).json()
    assert answer["unseen_categories"] == {"merchant": ["moon"]}
    records[1]["merchant"] = None
    again = client_of(model).decide({"records": records}).json()
    assert again["rows"] == answer["rows"]
    assert "unseen_categories" not in again


def test_threads_do_not_disturb_each_other() -> None:
    """Different requests at the same time, against the same ones one after another."""
    model = model_of("review")
    service = Service(model, "test")
    asked = [query(service, rows_of(model, 20, seed), explain=True) for seed in range(8)]
    alone = [service.answer(one) for one in asked]
    with ThreadPoolExecutor(4) as pool:
        jobs = [pool.submit(service.answer, one) for one in asked * 5]
        for place, job in enumerate(jobs):
            one, two = job.result(), alone[place % len(asked)]
            np.testing.assert_array_equal(one.expected, two.expected)
            np.testing.assert_array_equal(one.codes, two.codes)
            assert one.explanation is not None and two.explanation is not None
            np.testing.assert_array_equal(one.explanation.parts, two.explanation.parts)

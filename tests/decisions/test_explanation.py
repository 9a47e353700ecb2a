"""Parts in money add up, follow the path integral, and match the classifier's decisions."""

from __future__ import annotations

import sys
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import simpson
from scipy.special import softmax

from costboost import CostBoostClassifier
from costboost.costs import Costs
from costboost.datasets import make_fraud
from costboost.decisions import Decisions, expected_cost, explain
from costboost.metrics.money_interval import Interval

ACTIONS = ["accept", "review", "block"]


def proba_of(scores):
    if scores.ndim == 1:
        scores = np.stack([np.zeros_like(scores), scores], axis=1)
    return softmax(scores, axis=1)


def decided(p, matrix, chosen=None):
    costs = Costs(matrix, np.arange(p.shape[1]), ACTIONS)
    cheapest = Decisions.from_proba(p, costs)
    return cheapest if chosen is None else replace(cheapest, chosen=chosen)


@pytest.mark.parametrize("k", [2, 5])
@pytest.mark.parametrize("scale", [1e-9, 1.0, 30.0])
@pytest.mark.parametrize("taken", ["cheapest", "others"])
def test_parts_sum_to_the_saving_against_the_base_rate(k, scale, taken):
    rng, rows = np.random.default_rng(k), np.arange(200)
    phi = rng.normal(0, scale, (200, 7) if k == 2 else (200, k, 7))
    matrix = rng.uniform(0, 100, (200, k, 3))
    expected = np.einsum("nj,njd->nd", proba_of(phi.sum(axis=-1)), matrix)
    codes = expected.argmin(axis=1) if taken == "cheapest" else rng.integers(0, 3, 200)
    others = np.where(np.arange(3) == codes[:, None], np.inf, expected)
    p = proba_of(phi.sum(axis=-1))
    found = explain(decided(p, matrix, None if taken == "cheapest" else codes), phi)
    runner_up = found.decisions.runner_up_chosen
    assert found.labels.tolist() == [ACTIONS[code] for code in codes]
    assert (runner_up == others.argmin(axis=1)).all()
    saving = others.min(axis=1) - expected[rows, codes]
    np.testing.assert_allclose(found.saving, saving, atol=1e-9)
    gain = matrix[rows, :, runner_up] - matrix[rows, :, codes]
    np.testing.assert_allclose(found.base, (proba_of(phi[..., -1]) * gain).sum(axis=1), atol=1e-9)
    np.testing.assert_allclose(found.base + found.parts.sum(axis=1), saving, atol=1e-9)


@pytest.mark.parametrize("k", [2, 3])
def test_parts_are_the_path_integral(k):
    rng = np.random.default_rng(k)
    phi, matrix = rng.normal(0, 1.5, (5, 5) if k == 2 else (5, k, 5)), rng.uniform(0, 10, (k, 3))
    found = explain(decided(proba_of(phi.sum(axis=-1)), matrix), phi)
    t = np.linspace(0, 1, 501)
    for i, f in np.ndindex(5, 4):
        gain = matrix[:, found.decisions.runner_up_chosen[i]] - matrix[:, found.decisions.chosen[i]]
        one, step = phi[i], 1e-5 * phi[i][..., f]
        at = one[..., -1] + np.multiply.outer(t, one[..., :-1].sum(axis=-1))
        slope = (proba_of(at + step) - proba_of(at - step)) @ gain / 2e-5
        assert found.parts[i, f] == pytest.approx(simpson(slope, x=t), abs=1e-7)


@pytest.mark.parametrize("classes", [2, 3])
def test_the_classifier_end_to_end(classes):
    data = make_fraud(600, random_state=0)
    y = data.y if classes == 2 else data.y + (data.amount > 60) * (1 - data.y) * 2
    matrix = np.array([[0, 4, 15], [60, 5, 0], [9, 2, 0]], dtype=float)[:classes]
    square = (matrix[:, :classes] + 1) * (1 - np.eye(classes))
    model = CostBoostClassifier(square, cv=2, n_estimators=10, random_state=0)
    model.fit(data.X, y)
    X = data.X[:100]
    phi, p = model.model_.contributions(X), model.predict_proba(X)
    found = explain(decided(p, matrix), phi, names=data.feature_names, values=X)
    saving = np.diff(np.sort(expected_cost(p, matrix), axis=1)[:, :2], axis=1)[:, 0]
    np.testing.assert_allclose(found.saving, saving, atol=1e-12)
    # The contributions' own parts need no repair: rounding aside they give the same.
    own = explain(decided(proba_of(phi.sum(axis=-1)), matrix), phi)
    np.testing.assert_allclose(found.parts, own.parts, atol=1e-6)
    assert found.feature_names[0] == "amount"


@pytest.fixture(scope="module")
def fitted():
    data = make_fraud(600, random_state=0)
    X = pd.DataFrame(data.X, columns=list(data.feature_names))
    y = np.where(data.y == 1, "<fraud>", "ok")
    prices = {"fn": "amount", "fp": 5, "positive": "<fraud>"}
    return (
        CostBoostClassifier(prices, n_estimators=15, effort="fast", random_state=0).fit(X, y),
        X,
        y,
    )


def test_notebooks_show_everything(fitted, monkeypatch):
    model, X, y = fitted
    for shown, words in (
        (model.members_, "weight"),
        (model.explain(X), "runner_up"),
        (model.decide(X, capacity={"<fraud>": 9}), "<td>9</td>"),
        (model.sensitivity(X, y), "regret"),
        (Interval(0.5, 0.25, 0.75), "0.250 to 0.750"),
        (model.costs_, "decide ok"),
    ):
        html = shown._repr_html_()
        assert words in html and "<fraud>" not in html
    html = model._repr_mimebundle_()["text/html"]
    assert "<div" in html and "when the truth is &#x27;ok" in html and "<fraud>" not in html
    assert "when the truth is" not in CostBoostClassifier()._repr_mimebundle_()["text/html"]
    shown = model.members_, model.costs_, model.explain(X)
    monkeypatch.setitem(sys.modules, "pandas", None)  # then their text
    assert [one._repr_html_() for one in shown] == [None] * 3


def test_wrong_costs_of_a_classifier(fitted):
    """The short name means the class that the costs call positive."""
    model, X, y = fitted
    found = model.sensitivity(X, y, entries=["fn"], factors=[1.0, 3.0])
    named = model.sensitivity(X, y, entries=[("<fraud>", "ok")], factors=[1.0, 3.0])
    assert [row["regret"] for row in found.rows] == [row["regret"] for row in named.rows]
    missed = X["amount"][(model.predict(X) == "ok") & (y == "<fraud>")].sum()
    assert found.rows[1]["cost"] - found.rows[0]["cost"] == pytest.approx(2 * missed)
    assert found.rows[0]["regret"] == 0.0

"""Parts in money add up, follow the path integral, and match the classifier's decisions."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest
from scipy.integrate import quad
from scipy.special import softmax

from costboost import CostBoostClassifier
from costboost.datasets import make_fraud
from costboost.decisions import allocate, expected_cost, explain
from costboost.gbm.train import Estimate

ACTIONS = ["accept", "review", "block"]


def contributions(rng, n, k, f, scale=1.0):
    return rng.normal(0, scale, (n, f + 1) if k == 2 else (n, k, f + 1))


def proba_of(scores):
    if scores.ndim == 1:
        scores = np.stack([np.zeros_like(scores), scores], axis=1)
    return softmax(scores, axis=1)


@pytest.mark.parametrize("k", [2, 3, 5])
@pytest.mark.parametrize("scale", [1e-9, 1.0, 30.0])
def test_parts_sum_to_the_saving_against_the_base_rate(k, scale):
    rng = np.random.default_rng(k)
    phi, matrix = contributions(rng, 200, k, 6, scale), rng.uniform(0, 100, (200, k, 3))
    found = explain(phi, matrix, decisions=ACTIONS)
    expected = np.sort(np.einsum("nj,njd->nd", proba_of(phi.sum(axis=-1)), matrix), axis=1)
    np.testing.assert_allclose(found.saving, expected[:, 1] - expected[:, 0], atol=1e-9)
    rows = np.arange(200)
    gain = matrix[rows, :, found.runner_up_codes] - matrix[rows, :, found.codes]
    np.testing.assert_allclose(found.base, (proba_of(phi[..., -1]) * gain).sum(axis=1), atol=1e-9)
    np.testing.assert_allclose(found.base + found.parts.sum(axis=1), found.saving, atol=1e-9)


@pytest.mark.parametrize("k", [2, 3])
def test_parts_are_the_path_integral(k):
    rng = np.random.default_rng(k)
    phi, matrix = contributions(rng, 5, k, 4, 1.5), rng.uniform(0, 10, (k, 3))
    found = explain(phi, matrix)
    for i, f in np.ndindex(5, 4):
        gain = matrix[:, found.runner_up_codes[i]] - matrix[:, found.codes[i]]

        def saving(scores, gain=gain):
            return float(proba_of(scores[None])[0] @ gain)

        def slope(t, one=phi[i], f=f, saving=saving):
            at, step = one[..., -1] + t * one[..., :-1].sum(axis=-1), 1e-5 * one[..., f]
            return (saving(at + step) - saving(at - step)) / 2e-5

        assert found.parts[i, f] == pytest.approx(quad(slope, 0, 1)[0], abs=1e-7)


def test_decisions_of_an_allocation():
    phi = contributions(np.random.default_rng(0), 100, 2, 3)
    matrix = [[0.0, 3.0, 8.0], [40.0, 5.0, 1.0]]
    expected = expected_cost(proba_of(phi.sum(axis=-1)), matrix)
    limited = allocate(expected, ACTIONS, capacity={"review": 3})
    found = explain(phi, matrix, decisions=ACTIONS, codes=limited.codes)
    assert (found.labels == limited.labels).all()
    assert (found.saving < 0).any()
    np.testing.assert_allclose(found.base + found.parts.sum(axis=1), found.saving, atol=1e-9)


@pytest.mark.parametrize("classes", [2, 3])
def test_the_classifier_end_to_end(classes):
    data = make_fraud(600, random_state=0)
    y = data.y if classes == 2 else data.y + (data.amount > 60) * (1 - data.y) * 2
    matrix = np.array([[0, 4, 15], [60, 5, 0], [9, 2, 0]], dtype=float)[:classes]
    square = matrix[:, :classes] * (1 - np.eye(classes)) + 1 - np.eye(classes)
    model = CostBoostClassifier(square, ensemble=2, n_estimators=10, random_state=0)
    model.fit(data.X, y)
    X = data.X[:100]
    phi, p = model.heads_["probability"].contributions(X), model.predict_proba(X)
    found = explain(phi, matrix, proba=p, decisions=ACTIONS, feature_names=data.feature_names, X=X)
    saving = np.diff(np.sort(expected_cost(p, matrix), axis=1)[:, :2], axis=1)[:, 0]
    np.testing.assert_allclose(found.saving, saving, atol=1e-12)
    np.testing.assert_allclose(found.base + found.parts.sum(axis=1), found.saving, atol=1e-9)
    # The contributions' own parts need no repair: rounding aside they give the same.
    raw = explain(phi, matrix, decisions=ACTIONS)
    np.testing.assert_allclose(found.parts, raw.parts, atol=1e-6)
    assert found.feature_names[0] == "amount"


@pytest.mark.parametrize(
    ("contributions", "arguments", "message"),
    [
        ([1.0, 2.0], {}, "must have shape"),
        ([[1.0, 2.0, 3.0]], {"feature_names": ["a"]}, "must hold 2 names"),
        ([[1.0, 2.0, 3.0]], {"X": [[1.0]]}, r"'X' parameter of explain must have shape \(1, 2\)"),
        ([[1.0, 2.0, 3.0]], {"proba": [[0.2, 0.3, 0.5]]}, "must have shape"),
        ([[1.0, 2.0, 3.0]], {"codes": [0, 1]}, "one element per row"),
    ],
)
def test_bad_input(contributions, arguments, message):
    with pytest.raises(ValueError, match=message):
        explain(contributions, [[0, 1], [4, 0]], **arguments)


@pytest.fixture(scope="module")
def fitted():
    data = make_fraud(600, random_state=0)
    X = pd.DataFrame(data.X, columns=list(data.feature_names))
    y = np.where(data.y == 1, "<fraud>", "ok")
    prices = {"fn": "amount", "fp": 5, "positive": "<fraud>"}
    model = CostBoostClassifier(prices, n_estimators=15, ensemble=1, random_state=0).fit(X, y)
    return model, X, y


def test_notebooks_show_everything(fitted, monkeypatch):
    model, X, y = fitted
    for shown, words in (
        (model.members_, "weight"),
        (model.explain(X), "runner_up"),
        (model.decide(X, capacity={"<fraud>": 9}), "<td>9</td>"),
        (model.sensitivity(X, y), "regret"),
        (Estimate(0.5, 0.25, 0.75), "0.250 to 0.750"),
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

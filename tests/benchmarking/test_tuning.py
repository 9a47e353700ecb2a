"""The search of the benchmarks treats all alike, inside the training rows."""

import numpy as np
import pytest
from benchmarks.tuning import ROUNDS, TunedClassifier
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

import costboost as cb
from costboost.metrics import total_cost
from data import row_costs, rows

pytest.importorskip("optuna")
pytestmark = pytest.mark.filterwarnings("ignore::costboost.errors.CollapseWarning")
COSTS = {"fn": 5, "fp": 1}
TWO = ["AdaC2", "CSAdaBoost", "AdaMEC"]


@pytest.mark.parametrize("name", [*TWO, "MCBoost", "Costing"])
def test_every_kind_of_algorithm_is_searched(name):
    X, y = rows(2 if name in TWO else 3, n=120)
    start = getattr(cb, f"{name}Classifier")(n_estimators=10)
    matrix = COSTS if name in TWO else 1 - np.eye(3)
    model = TunedClassifier(start, n_trials=4, cv=2, random_state=0)
    found = model.set_params(cost_matrix=matrix).fit(X, y)
    assert found.n_trials_ == 4
    assert start.get_params() == getattr(cb, f"{name}Classifier")(n_estimators=10).get_params()
    best = found.best_estimator_
    inner = best.estimator if "calibration" in found.best_params_ and name != "AdaMEC" else best
    for parameter, value in found.best_params_.items():
        if parameter != "calibration":
            assert getattr(inner, parameter) == value
    assert 0 <= found.score(X, y) <= 1
    assert set(found.predict(X)) <= set(y)


def test_the_first_trial_is_the_estimator_as_it_is():
    X, y = rows(n=150)
    w, start = np.linspace(0.5, 2.5, 150), cb.AdaC2Classifier(COSTS, n_estimators=7)
    model = TunedClassifier(start, n_trials=1, cv=2).fit(X, y, w)
    assert model.best_params_ == {"max_leaves": 8}
    total = 0.0
    for train, test in StratifiedKFold(2).split(X, y):
        plain = clone(start).set_params(random_state=0).fit(X[train], y[train], w[train])
        weights = {"cost_matrix": COSTS, "sample_weight": w[test]}
        total += total_cost(y[test], plain.predict(X[test]), **weights)
    assert model.best_cost_ == pytest.approx(total / w.sum())


def test_more_trials_never_cost_more():
    X, y = rows(n=150)
    start = cb.AsyBLClassifier(COSTS, n_estimators=20)
    one, many = (TunedClassifier(start, n_trials=n, cv=2).fit(X, y) for n in (1, 8))
    assert many.best_cost_ <= one.best_cost_
    stopped = [t for t in (many.best_params_, ROUNDS) if "early_stopping" in t]
    assert all(one["n_estimators"] == 500 for one in stopped)


def test_costs_of_rows_and_weights_reach_the_search():
    X, y = rows(n=150)
    costs = np.asarray(row_costs(150))
    model = TunedClassifier(
        cb.CostBoostClassifier(effort="fast", n_estimators=10), n_trials=2, cv=2
    )
    model.fit(X, y, np.linspace(0.5, 1.5, 150), costs=costs)
    told = model.predict(X, costs=costs)
    np.testing.assert_array_equal(told, model.best_estimator_.predict(X, costs=costs))
    assert "calibration" not in model.best_params_
    assert clone(model).get_params()["n_trials"] == 2


def test_a_search_stands_in_a_comparison():
    start = cb.AdaC2Classifier(COSTS, n_estimators=5)
    methods = {"as printed": start, "tuned": TunedClassifier(start, n_trials=2, cv=2)}
    found = cb.compare(methods, rows(n=120), splits=2, progress=False)
    assert found.methods == ["as printed", "tuned"]

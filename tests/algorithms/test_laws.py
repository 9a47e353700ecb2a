"""What holds for every algorithm: parents, weights, symmetries, decisions, Gaussians."""

from __future__ import annotations

import numpy as np
import pytest
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

from costboost.costs import Costs
from data import weighted_rows as rows
from helpers.algorithms import BINARY as ALGORITHMS
from helpers.algorithms import PAIRS
from helpers.algorithms import TWO as BOOSTERS
from reference import share

COSTLY = {"fn": 2.7, "fp": 1}  # whole numbers would make ties

# A law holds for models that decide one way for all rows, too.
pytestmark = pytest.mark.filterwarnings("ignore::costboost.CollapseWarning")


def stump():
    return DecisionTreeClassifier(max_depth=1)


def make(name, cost_matrix=COSTLY, learner=None, **options):
    options = {"n_estimators": 8, "random_state": 0} | options
    if learner is not None:
        options["estimator"] = learner
    return ALGORITHMS[name](cost_matrix, **options)


# --- equal costs: the cost-blind parent -----------------------------------------------------


def sklearn_adaboost(X, y, s, rounds):
    model = AdaBoostClassifier(stump(), n_estimators=rounds, random_state=0)
    model.fit(X, y, sample_weight=s)
    # SAMME's vote is ln((1 - eps)/eps), twice the alpha of the equations.
    votes = model.estimator_weights_ / 2.0
    F = sum(
        a * np.where(rule.predict(X) == 1, 1.0, -1.0)
        for a, rule in zip(votes, model.estimators_, strict=True)
    )
    return votes, F


def children(parent):
    """The classes that say they are ``parent`` when every mistake costs 1."""
    return [name for name in BOOSTERS if BOOSTERS[name]._recipe.parent == parent]


# Each has AdaBoost's scores at C1 = C2 = 1 (times the factor).
ADABOOST = {name: ({}, 1.0) for name in children("AdaBoost")} | {
    "GradientCSBClassifier-adaboost": ({"objective": "adaboost"}, 1.0),
    "GradientCSBClassifier-adac1": ({"objective": "adac1"}, 1.0),
    # a = y/2: half the margin, twice the step.
    "GradientCSBClassifier-adacost": ({"objective": "adacost"}, 2.0),
}


@pytest.mark.parametrize("case", ADABOOST)
def test_unit_costs_give_adaboost(case):
    X, y, s, _ = rows(1)
    options, factor = ADABOOST[case]
    clf = make(case.split("-")[0], None, stump(), n_estimators=15, **options)
    clf.fit(X, y, sample_weight=s)
    votes, F = sklearn_adaboost(X, y, s, 15)
    assert clf.n_iter_ == len(votes) == 15
    np.testing.assert_allclose(clf.estimator_weights_, factor * votes, rtol=1e-9)
    np.testing.assert_allclose(clf.decision_function(X), factor * F, atol=1e-9)


# --- weights, stages, symmetries ------------------------------------------------------------


@pytest.mark.parametrize(("name", "learner"), PAIRS)
def test_integer_weights_are_copies(name, learner):
    if learner == "perceptron":
        pytest.skip("stochastic descent visits copies one by one, a weighted row at once")
    X, y, _, rng = rows(3, n=100)
    counts = rng.integers(0, 4, len(y))
    # LightGBM guards leaves by the number of rows that it guesses from their weights, so larger
    # trees may differ in their smallest leaves.
    options = {"learner": learner, "max_leaves": 2}
    weighted = make(name, **options).fit(X, y, sample_weight=counts)
    copied = make(name, **options).fit(np.repeat(X, counts, 0), np.repeat(y, counts))
    np.testing.assert_allclose(
        weighted.decision_function(X), copied.decision_function(X), rtol=1e-6, atol=1e-6
    )


@pytest.mark.parametrize(("name", "learner"), PAIRS)
def test_the_last_stage_is_the_model(name, learner):
    X, y, s, rng = rows(5)
    clf = make(name, learner=learner).fit(X, y, sample_weight=s)
    new = rng.normal(size=(60, 4))
    stages = list(clf.staged_decision_function(new))
    assert len(stages) == clf.n_iter_ == len(clf.estimators_) == len(clf.estimator_weights_)
    np.testing.assert_allclose(stages[-1], clf.decision_function(new), atol=1e-9)
    by_hand = sum(
        share(tuple(a) if np.ndim(a) else a, rule.predict(new))
        for a, rule in zip(clf.estimator_weights_, clf.estimators_, strict=True)
    )
    np.testing.assert_allclose(by_hand, clf.decision_function(new), atol=1e-9)
    for F, decisions in zip(stages, clf.staged_predict(new), strict=True):
        np.testing.assert_array_equal(decisions, (F >= 0).astype(int))
    np.testing.assert_array_equal(decisions, clf.predict(new))


# --- decisions agree ------------------------------------------------------------------------


MATRICES = {
    "plain": [[0, 1], [3, 0]],
    "dear alarm": [[0, 3], [1, 0]],
    "diagonal": [[1, 3], [7, 2]],
    "profits": [[-2, 0], [1, -5]],
}


@pytest.mark.parametrize("kind", MATRICES)
@pytest.mark.parametrize("name", ALGORITHMS)
def test_predict_is_the_bayes_rule_on_predict_proba(name, kind):
    X, y, s, rng = rows(10)
    clf = make(name, MATRICES[kind]).fit(X, y, sample_weight=s)
    new = rng.normal(size=(100, 4))
    proba, decisions = clf.predict_proba(new), clf.predict(new)
    np.testing.assert_allclose(proba.sum(axis=1), 1.0)
    np.testing.assert_array_equal(clf.cost_matrix_, MATRICES[kind])
    price = Costs.resolve(clf.cost_matrix_, classes=clf.classes_).expected(proba)
    clear = np.abs(price[:, 0] - price[:, 1]) > 1e-9
    assert clear.any()
    np.testing.assert_array_equal(decisions[clear], price.argmin(axis=1)[clear])
    if name in BOOSTERS:
        np.testing.assert_array_equal(decisions, (clf.decision_function(new) >= 0).astype(int))

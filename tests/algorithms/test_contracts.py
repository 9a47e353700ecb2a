"""What every algorithm promises beyond scikit-learn: threads, atomic fits, ties, warnings."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import costboost
from costboost import _threads
from costboost.errors import CollapseWarning
from helpers.algorithms import (
    ALGORITHMS,
    BINARY,
    BOOSTERS,
    CASES,
    PAIRS,
    make,
    matrix_of,
    rows,
)

pytestmark = pytest.mark.filterwarnings("ignore::costboost.CollapseWarning")


class Counted:
    """A weak learner that keeps how many rows it was asked to predict, call by call."""

    passes: list[int] = []  # noqa: RUF012 (of all copies)

    def predict(self, X):
        self.passes.append(len(X))
        return super().predict(X)


class CountedClassifier(Counted, DecisionTreeClassifier):
    pass


class CountedRegressor(Counted, DecisionTreeRegressor):
    pass


COUNTED = {
    "AdaC2Classifier": CountedClassifier(max_depth=1),
    "CSLogitBoostClassifier": CountedRegressor(max_depth=1),
}


@pytest.mark.parametrize("name", COUNTED)
def test_one_pass_over_the_rules_for_every_answer(name):
    X, y, _ = rows(2)
    clf = make(name, matrix_of(2), estimator=COUNTED[name], n_estimators=3).fit(X, y)
    passes = Counted.passes
    costs = np.array([[0.0, 1.0], [4.0, 0.0]])
    for ask in (
        lambda: clf.predict(X),
        lambda: clf.predict(X, costs=costs),
        lambda: clf.predict_cost(X, costs=costs),
        lambda: clf.decide(X, capacity={1: 20}),
        lambda: clf.break_even(X, (1, 0)),
        lambda: clf.score(X, y),
        lambda: clf.judged(X, y, costs=costs),
    ):
        passes.clear()
        ask()
        assert passes == [len(X)] * clf.n_iter_


# --- a fit happens or does not --------------------------------------------------------------


class Interrupted(DecisionTreeClassifier):
    """A weak learner whose third rule is never finished."""

    n_fits = 0

    def fit(self, X, y, sample_weight=None):
        type(self).n_fits += 1
        if type(self).n_fits == 3:
            raise KeyboardInterrupt
        return super().fit(X, y, sample_weight)


@pytest.mark.parametrize("name", ["AdaC2Classifier", "SAMMEC2Classifier", "DSEClassifier"])
def test_an_interrupted_refit_changes_nothing(name):
    X, y, _ = rows(2, seed=1)
    clf = make(name).fit(X, y)
    clf.set_params(estimator=Interrupted(max_depth=1))
    before = vars(clf).copy()
    Interrupted.n_fits = 0
    with pytest.raises(KeyboardInterrupt):
        clf.fit(X[:, :2], np.where(y == 1, "b", "a"))
    assert vars(clf).keys() == before.keys()
    assert all(vars(clf)[key] is value for key, value in before.items())
    fresh = make(name, estimator=Interrupted(max_depth=1))
    Interrupted.n_fits = 0
    with pytest.raises(KeyboardInterrupt):
        fresh.fit(X, y)
    with pytest.raises(NotFittedError):
        fresh.predict(X)


# --- decisions that are not the classes -----------------------------------------------------


PRICES = {"accept": [0.0, 20.0], "review": [3.5, 11.0], "block": [8.0, 0.0]}
REVIEW_COSTS = pd.DataFrame(PRICES, index=[0, 1])
OTHER_DECISIONS = {
    *("AverageCostClassifier", "CostingClassifier", "DSEClassifier", "GBSEClassifier"),
    "LpCSBClassifier",
}


@pytest.mark.parametrize("name", BOOSTERS)
def test_more_decisions_than_classes(name):
    X, y, _ = rows(2, n=300)
    X[:, 0] += y
    clf = BOOSTERS[name](REVIEW_COSTS, n_estimators=8, random_state=0)
    if name not in OTHER_DECISIONS:
        with pytest.raises(ValueError, match=r"review.*decides only for the classes"):
            clf.fit(X, y)
        return
    clf.fit(X, y)
    assert clf.decisions_.tolist() == ["accept", "review", "block"]
    assert clf.decision_function(X).shape == (300, 3)
    paid = [REVIEW_COSTS.at[row] for row in zip(y, clf.predict(X), strict=True)]
    assert np.mean(paid) < REVIEW_COSTS.loc[y].mean().min()
    with pytest.raises(ValueError, match="has no class probabilities"):
        clf.predict_proba(X)


# --- weights, and decisions by probabilities ------------------------------------------------

COSTLY = {"fn": 2.7, "fp": 1}  # whole numbers would make ties


@pytest.mark.parametrize(("name", "learner"), [pair for pair in PAIRS if pair[1] != "perceptron"])
def test_integer_weights_are_copies(name, learner):
    X, y, rng = rows(2)
    counts = rng.integers(0, 4, len(y))
    # LightGBM guards leaves by the number of rows that it guesses from their weights, so larger
    # trees may differ in their smallest leaves.
    weighted, copied = (make(name, COSTLY, estimator=learner, max_leaves=2) for _ in range(2))
    weighted.fit(X, y, sample_weight=counts)
    copied.fit(np.repeat(X, counts, 0), np.repeat(y, counts))
    np.testing.assert_allclose(
        weighted.decision_function(X), copied.decision_function(X), rtol=1e-6, atol=1e-6
    )


@pytest.mark.parametrize("matrix", [[[0, 1], [3, 0]], [[1, 3], [7, 2]], [[-2, 0], [1, -5]]])
@pytest.mark.parametrize("name", BINARY)
def test_predict_is_the_bayes_rule_on_predict_proba(name, matrix):
    X, y, rng = rows(2)
    clf = make(name, matrix).fit(X, y, sample_weight=rng.uniform(0.5, 1.5, len(y)))
    new = rng.normal(size=(100, 3))
    np.testing.assert_array_equal(clf.cost_matrix_, matrix)
    price = clf.predict_proba(new) @ matrix
    clear = np.abs(price[:, 0] - price[:, 1]) > 1e-9
    assert clear.any()
    np.testing.assert_array_equal(clf.predict(new)[clear], price.argmin(axis=1)[clear])
    if name in BOOSTERS:
        np.testing.assert_array_equal(clf.predict(new), clf.decision_function(new) >= 0)


# --- importances, probabilities -------------------------------------------------------------


@pytest.mark.parametrize("case", CASES)
def test_feature_importances(case):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = (X[:, 2] + 0.3 * rng.normal(size=200) > 0).astype(int)
    clf = make(case)
    assert not hasattr(clf, "feature_importances_")
    found = clf.fit(X, y).feature_importances_
    assert found.sum() == pytest.approx(1.0)
    assert found.min() >= 0 and found.argmax() == 2


def test_importances_are_gains_weighted_by_votes():
    X, y, _ = rows(2)
    clf = costboost.AdaBoostCClassifier(n_estimators=4, max_leaves=3).fit(X, y)
    total = np.zeros(3)
    for t, vote in enumerate(clf.estimator_weights_):
        table = clf.booster_.trees_to_dataframe()
        splits = table[(table.tree_index == t) & table.split_gain.notna()]
        for feature, gain in zip(splits.split_feature, splits.split_gain, strict=True):
            total[int(feature.removeprefix("Column_"))] += vote * gain / splits.split_gain.sum()
    np.testing.assert_allclose(clf.feature_importances_, total / total.sum(), rtol=1e-4)
    clf = costboost.AdaC2Classifier(estimator="perceptron", n_estimators=2).fit(X, y)
    with pytest.raises(AttributeError, match="weak rules of AdaC2Classifier"):
        _ = clf.feature_importances_


# --- warnings -------------------------------------------------------------------------------


def collapses(clf, X, y):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        clf.fit(X, y)
    return [str(w.message) for w in caught if w.category is CollapseWarning]


@pytest.mark.parametrize("name", ALGORITHMS)
def test_collapse_is_said_once_and_without_ratios_where_none_were_given(name):
    y = np.repeat([0, 1], [190, 10])
    said = collapses(ALGORITHMS[name](n_estimators=5), np.zeros((200, 2)), y)
    assert len(said) == 1, said
    assert name in said[0]
    if name in BOOSTERS:
        assert "ratio" not in said[0]


def test_collapse_speaks_of_ratios_and_of_rules():
    X, y, _ = rows(2)
    [said] = collapses(costboost.AdaBoostCClassifier({"fn": 1e9, "fp": 1}, max_leaves=2), X, y)
    assert "cost ratio" in said
    # Close to equal costs its equations ask for too much; at equality the limit is taken.
    [said] = collapses(costboost.AdaCostClassifier({"fn": 1, "fp": 1.01}), X, y)
    assert re.search("no better than chance.*max_leaves", said)


# --- progress and threads -------------------------------------------------------------------


def test_progress(capsys):
    """About ten lines, or one for every round."""
    X, y, _ = rows(2)
    for verbose, rounds in ((1, range(2, 21, 2)), (2, range(1, 21))):
        costboost.AdaBoostCClassifier(n_estimators=20, verbose=verbose).fit(X, y)
        lines = [line for line in capsys.readouterr().out.splitlines() if " round " in line]
        words = [f"AdaBoostCClassifier round {t}/20: vote " for t in rounds]
        assert all(line.startswith(w) for line, w in zip(lines, words, strict=True))


def test_threads_follow_the_limits(monkeypatch):
    monkeypatch.setattr(_threads, "cpu_count", lambda: 6)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    assert _threads.n_threads(None, 100) == 1
    assert _threads.n_threads(None, 10**6) == 6
    for value, threads in {"2": 2, "64": 6, "3,2": 3, "": 6, "many": 6}.items():
        monkeypatch.setenv("OMP_NUM_THREADS", value)
        assert _threads.n_threads(None, 10**6) == threads
    assert _threads.n_threads(-1, 100) == 6
    assert _threads.n_threads(4, 100) == 4

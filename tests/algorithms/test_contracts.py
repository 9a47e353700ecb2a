"""What every algorithm promises beyond scikit-learn: threads, atomic fits, ties, warnings."""

from __future__ import annotations

import pickle
import re
import warnings
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
from sklearn.datasets import load_breast_cancer
from sklearn.exceptions import NotFittedError

import costboost
from costboost import _threads
from costboost.boosting.classifiers import BoostingClassifier
from costboost.errors import CollapseWarning
from helpers.algorithms import (
    ALGORITHMS,
    BOOSTERS,
    CASES,
    MANY,
    fitted,
    make,
    matrix_of,
    rows,
)

pytestmark = pytest.mark.filterwarnings("ignore::costboost.CollapseWarning")


# --- threads --------------------------------------------------------------------------------


def answers(clf, X):
    """Everything a fitted classifier says about rows."""
    said = [clf.predict_proba(X), clf.predict(X)]
    if hasattr(clf, "decision_function"):
        said.append(clf.decision_function(X))
    if hasattr(clf, "staged_decision_function"):
        said += list(clf.staged_decision_function(X))
    if hasattr(clf, "estimators_"):
        said += [rule.predict(X) for rule in clf.estimators_[:2]]
    return said


@pytest.mark.parametrize("case", CASES)
def test_eight_threads_are_serial(case):
    clf, *_ = fitted(case)
    blocks = np.array_split(np.random.default_rng(1).normal(size=(480, 3)), 16)
    serial = [answers(clf, block) for block in blocks]
    with ThreadPoolExecutor(8) as pool:
        threaded = list(pool.map(lambda block: answers(clf, block), blocks))
    for one, other in zip(serial, threaded, strict=True):
        for mine, theirs in zip(one, other, strict=True):
            np.testing.assert_array_equal(mine, theirs)


@pytest.mark.parametrize("name", ["AdaC2Classifier", "LpCSBClassifier", "CSLogitBoostClassifier"])
def test_one_pass_over_the_rules_for_every_answer(name, monkeypatch):
    X, y, _ = rows(2)
    clf = make(name, matrix_of(2)).fit(X, y)
    passes = []
    score = type(clf._ensemble).decision_function
    monkeypatch.setattr(
        type(clf._ensemble),
        "decision_function",
        lambda self, X: passes.append(len(X)) or score(self, X),
    )
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
        assert passes == [len(X)]


# --- a fit happens or does not --------------------------------------------------------------


class StopError(Exception):
    pass


@pytest.mark.parametrize("error", [StopError, KeyboardInterrupt])
@pytest.mark.parametrize("name", ["AdaC2Classifier", "MCBoostClassifier", "DSEClassifier"])
def test_an_interrupted_refit_changes_nothing(name, error, monkeypatch):
    X, y, _ = rows(2, seed=1)
    clf = make(name).fit(X, y)
    before, keys = pickle.dumps(clf.predict_proba(X)), set(vars(clf))
    said = clf.decision_function(X)

    def broken(self, *args, **options):
        raise error

    monkeypatch.setattr(BoostingClassifier, "_keep", broken)
    with pytest.raises(error):
        clf.fit(X[:, :2], np.where(y == 1, "b", "a"))
    assert set(vars(clf)) == keys
    np.testing.assert_array_equal(clf.classes_, [0, 1])
    assert pickle.dumps(clf.predict_proba(X)) == before
    np.testing.assert_array_equal(clf.decision_function(X), said)
    fresh = BOOSTERS[name]()
    with pytest.raises(error):
        fresh.fit(X, y)
    with pytest.raises(NotFittedError):
        fresh.predict(X)


# --- ties -----------------------------------------------------------------------------------


@pytest.mark.parametrize("name", MANY)
def test_ties_go_to_the_cheapest_decision(name):
    X, y, _ = rows(4)
    clf = make(name, matrix_of(4)).fit(X, y)
    cheapest = int(np.argmin(np.bincount(y) @ clf.cost_matrix_))
    other = (cheapest + 1) % 4
    scores = np.zeros((4, 4))
    scores[1] = 2.0
    scores[2, [cheapest, other]] = 0.3, 0.1 + 0.2  # equal up to rounding
    scores[3, other] = 1e-6
    settled = clf._settled(scores)
    assert clf._decide(settled).tolist() == [cheapest, cheapest, cheapest, other]
    np.testing.assert_allclose(settled, scores, rtol=1e-12, atol=1e-300)


# --- decisions that are not the classes -----------------------------------------------------


REVIEW = [[0.0, 3.5, 8.0], [20.0, 11.0, 0.0]]
REVIEW_COSTS = pd.DataFrame(REVIEW, index=[0, 1], columns=["accept", "review", "block"])


@pytest.mark.parametrize("name", BOOSTERS)
def test_more_decisions_than_classes(name):
    X, y, _ = rows(2, n=300)
    X[:, 0] += y
    clf = BOOSTERS[name](REVIEW_COSTS, n_estimators=8, random_state=0)
    if clf._needs_classes_as_decisions:
        with pytest.raises(ValueError, match=r"review.*decides only for the classes"):
            clf.fit(X, y)
        return
    clf.fit(X, y)
    assert clf.decisions_.tolist() == ["accept", "review", "block"]
    assert clf.decision_function(X).shape == (300, 3)
    decided = clf.predict(X)
    assert set(decided) <= set(clf.decisions_)
    codes = {"accept": 0, "review": 1, "block": 2}
    paid = np.array(REVIEW)[y, [codes[d] for d in decided]].mean()
    assert paid < np.array(REVIEW)[y].mean(axis=0).min()
    with pytest.raises(ValueError, match="has no class probabilities"):
        clf.predict_proba(X)


# --- importances, probabilities -------------------------------------------------------------


@pytest.mark.parametrize("case", CASES)
def test_feature_importances(case):
    rng = np.random.default_rng(0)
    X = rng.normal(size=(200, 4))
    y = (X[:, 2] + 0.3 * rng.normal(size=200) > 0).astype(int)
    clf = make(case)
    assert not hasattr(clf, "feature_importances_")
    clf.fit(X, y)
    found = clf.feature_importances_
    assert found.shape == (4,)
    assert found.sum() == pytest.approx(1.0)
    assert (found >= 0).all()
    assert found.argmax() == 2


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


def test_importances_need_rules_that_know_them():
    X, y, _ = rows(2)
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


def test_collapse_speaks_of_ratios_where_some_were_given():
    X, y, _ = rows(2)
    [said] = collapses(costboost.AdaBoostCClassifier({"fn": 1e9, "fp": 1}, max_leaves=2), X, y)
    assert "cost ratio" in said


@pytest.mark.parametrize("ratio", [1.0, 1.01, 0.99])
def test_adacost_near_equal_costs(ratio):
    """At equality the limit is taken; close to it the equations ask for too much, and say so."""
    X, y = load_breast_cancer(return_X_y=True)
    clf = costboost.AdaCostClassifier({"fn": 1, "fp": ratio}, n_estimators=30)
    said = collapses(clf, X[::2], y[::2])
    if ratio == 1.0:
        assert not said and clf.score(X[1::2], y[1::2]) > 0.8
    else:
        assert re.search("no better than chance.*max_leaves", said[0])


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

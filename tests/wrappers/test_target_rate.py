"""TargetRateClassifier: the search of the ratio, and the threshold with a guarantee."""

from __future__ import annotations

from math import comb

import numpy as np
import pandas as pd
import polars as pl
import pytest
import sklearn
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.dummy import DummyClassifier
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.naive_bayes import GaussianNB
from sklearn.neighbors import KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.utils.estimator_checks import parametrize_with_checks

from costboost import (
    AdaBoostCClassifier,
    CollapseWarning,
    MinCostClassifier,
    TargetRateClassifier,
)
from costboost.datasets import log_odds, make_gaussians_2d
from costboost.decisions.order_statistics import order_rank, order_threshold, rows_needed

QUICK = AdaBoostCClassifier(n_estimators=10, estimator="stump", random_state=0)


class Counted(AdaBoostCClassifier):
    """It counts the fits of all its copies."""

    n_fits = 0

    def fit(self, X, y, sample_weight=None, **options):
        Counted.n_fits += 1
        return super().fit(X, y, sample_weight, **options)


TEXT_LABELS = {
    "check_classifiers_classes": "which of two texts is positive is not guessed: positive= says it",
}
EXPECTED_FAILURES = TEXT_LABELS | dict.fromkeys(
    [f"check_sample_weight_equivalence_on_{kind}_data" for kind in ("dense", "sparse")],
    "rows are drawn for the held-out part, so a weight is not a repeated row",
)


@pytest.mark.filterwarnings("ignore::costboost.errors.CollapseWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.SkipTestWarning")
@parametrize_with_checks(
    [
        TargetRateClassifier(clone(QUICK), detection_rate=0.8, n_trials=2),
        TargetRateClassifier(LogisticRegression(), false_alarm_rate=0.4, delta=0.5, held_out=0.5),
    ],
    expected_failed_checks=lambda clf: EXPECTED_FAILURES if clf.delta else TEXT_LABELS,
)
def test_scikit_learn_conventions(estimator, check):
    check(estimator)


# -- the order statistic ------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 59, 200])
@pytest.mark.parametrize(("limit", "delta"), [(0.01, 0.5), (0.05, 0.05), (0.3, 0.01)])
def test_rank_is_the_smallest_that_keeps_the_promise(n, limit, delta):
    def tail(k):  # P(Bin(n, 1 - limit) >= k), term by term
        return sum(comb(n, j) * (1 - limit) ** j * limit ** (n - j) for j in range(k, n + 1))

    k = order_rank(n, limit, delta)
    assert k == next((k for k in range(1, n + 1) if tail(k) <= delta), n + 1)
    assert (k <= n) == (n >= rows_needed(limit, delta))
    if k <= n:
        assert order_threshold(range(1, n + 1), limit, delta) == k


@pytest.mark.slow
@pytest.mark.parametrize("rate", ["detection_rate", "false_alarm_rate"])
def test_classifier_keeps_its_promise_over_many_draws(rate):
    about, limit = (1, 0.2) if rate == "detection_rate" else (-1, 0.2)
    named = 1 - limit if about > 0 else limit
    delta, draws = 0.2, 100
    X_new, y_new = make_gaussians_2d(5_000, random_state=10_000)
    clf = TargetRateClassifier(GaussianNB(), delta=delta, held_out=0.5, **{rate: named})
    failures = 0
    for seed in range(draws):
        X, y = make_gaussians_2d(60, random_state=seed)
        decided = clf.set_params(random_state=seed).fit(X, y).predict(X_new)
        failures += (decided != y_new)[y_new == about].mean() > limit
    assert failures / draws <= delta + 2 * np.sqrt(delta * (1 - delta) / draws)


# -- the search ---------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def gaussians():
    return make_gaussians_2d(600, random_state=0)


@pytest.mark.parametrize("rate", ["detection_rate", "false_alarm_rate"])
def test_search_reaches_the_rate(gaussians, rate):
    X, y = gaussians
    X_new, y_new = make_gaussians_2d(5000, random_state=1)
    ratios, odds = [], log_odds(X_new)
    for wanted in {"detection_rate": (0.7, 0.95), "false_alarm_rate": (0.05, 0.2)}[rate]:
        clf = TargetRateClassifier(QUICK, **{rate: wanted}, random_state=0).fit(X, y)
        ratios.append(clf.cost_ratio_)
        flagged = clf.predict(X_new) > 0
        detected, alarmed = flagged[y_new > 0].mean(), flagged[y_new < 0].mean()
        if rate == "detection_rate":
            assert wanted <= clf.detection_rate_ < wanted + 0.03
            assert abs(detected - wanted) < 0.05
        else:
            assert wanted - 0.04 < clf.false_alarm_rate_ <= wanted
            assert alarmed < wanted + 0.05
        # Not far from the best rule of that detection rate.
        best = np.quantile(odds[y_new > 0], 1 - detected)
        assert alarmed < (odds[y_new < 0] >= best).mean() + 0.1
        np.testing.assert_array_equal(clf.decision_function(X_new) >= 0, flagged)
        assert clf.score(X_new, y_new) == pytest.approx(detected - alarmed)
    assert ratios == sorted(ratios)


def test_search_is_bounded_and_reproducible(gaussians):
    X, y = gaussians
    inner = Counted(n_estimators=3, estimator="stump", random_state=0)
    clf = TargetRateClassifier(inner, 0.9, n_trials=4, tol=0.0, cv=3, random_state=0)
    Counted.n_fits = 0
    first = clf.fit(X, y).cost_ratio_
    assert Counted.n_fits == 4 * 3 + 1
    assert clone(clf).fit(X, y).cost_ratio_ == first
    assert inner.cost_matrix is None
    assert clf.estimator_.cost_matrix.tolist() == [[0, 1], [first, 0]]


def test_positive_class_by_name(gaussians):
    X, y = gaussians
    labels = np.where(y > 0, "fraud", "ok")  # the positive class sorts first
    frame = pd.DataFrame(X, columns=["a", "b"])
    for more in ({}, {"delta": 0.1}):
        clf = TargetRateClassifier(
            QUICK, 0.9, positive="fraud", n_trials=6, random_state=0, **more
        ).fit(frame, pd.Series(labels))
        flagged = clf.predict(frame) == "fraud"
        assert flagged[y > 0].mean() > 0.87
        assert flagged[y < 0].mean() < 0.6
        towards = clf.classes_[(clf.decision_function(frame) >= 0).astype(int)]
        np.testing.assert_array_equal(towards, clf.predict(frame))
        assert clf.estimator_.cost_matrix[0, 1] == clf.cost_ratio_
    with pytest.raises(ValueError, match=r"'positive' parameter .* \['fraud', 'ok'\]"):
        TargetRateClassifier(detection_rate=0.9, positive="theft").fit(frame, labels)


def test_costs_inside_a_pipeline_and_by_probability(gaussians):
    X, y = gaussians
    pipe = make_pipeline(StandardScaler(), MinCostClassifier(GaussianNB()))
    clf = TargetRateClassifier(pipe, false_alarm_rate=0.1, random_state=0)
    clf.fit(pl.DataFrame(X, schema=["a", "b"]), y)
    assert 0.05 < clf.false_alarm_rate_ <= 0.1
    assert not hasattr(clf, "decision_function")
    assert clf.estimator_[-1].cost_matrix_[1, 0] == clf.cost_ratio_
    clf = TargetRateClassifier(GaussianNB(), 0.9, delta=0.1, random_state=0).fit(X, y)
    assert clf.cost_ratio_ is None
    p = clf.estimator_.predict_proba(X)[:, 1]
    np.testing.assert_array_equal(clf.predict(X) > 0, p > clf.threshold_)
    np.testing.assert_array_equal(clf.decision_function(X), p - clf.threshold_)
    assert clf.detection_rate_ >= 0.9


class FirstColumn(ClassifierMixin, BaseEstimator):
    """Scores that are known beforehand."""

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def decision_function(self, X):
        return np.asarray(X)[:, 0]

    def predict(self, X):
        return self.classes_[(self.decision_function(X) > 0).astype(int)]


def test_the_threshold_is_the_order_statistic(gaussians):
    """A positive at the statistic is detected; a negative at it is not flagged."""
    X, y = gaussians
    for rate, sign in (("detection_rate", 1), ("false_alarm_rate", -1)):
        value = 0.8 if rate == "detection_rate" else 0.2
        clf = TargetRateClassifier(FirstColumn(), **{rate: value}, delta=0.1, random_state=0)
        clf.fit(X, y)
        scores = X[y == y.max() if sign == 1 else y == y.min(), 0]
        statistic = scores[np.abs(scores - clf.threshold_).argmin()]
        assert abs(statistic - clf.threshold_) < 1e-12
        assert (clf.predict([[statistic, 0.0]]) == y.max()) == (sign == 1)


def test_weights_and_routing(gaussians):
    X, y = gaussians
    weights = np.where(X[:, 0] > 0, 1.0, 0.0)
    clf = TargetRateClassifier(QUICK, 0.9, n_trials=5, cv=3, random_state=0)
    clf.fit(X, y, sample_weight=weights)
    flagged = clf.predict(X) > 0
    assert flagged[(y > 0) & (weights > 0)].mean() == pytest.approx(0.9, abs=0.06)
    neighbours = TargetRateClassifier(KNeighborsClassifier(), 0.9, delta=0.1)
    with pytest.raises(ValueError, match="takes no sample_weight"):
        neighbours.fit(X, y, sample_weight=weights)
    with pytest.raises(ValueError, match="only one class with weights above 0"):
        clf.fit(X, y, sample_weight=(y > 0).astype(float))
    with sklearn.config_context(enable_metadata_routing=True):
        clf.set_params(n_trials=2).set_fit_request(sample_weight=True)
        clf.set_score_request(sample_weight=True)
        search = GridSearchCV(clf, {"estimator__n_estimators": [2, 5]}, cv=2)
        assert search.fit(X, y, sample_weight=weights).best_score_ > 0


def test_errors(gaussians):
    X, y = gaussians
    with pytest.raises(ValueError, match="takes one named rate"):
        TargetRateClassifier(detection_rate=0.9, false_alarm_rate=0.1).fit(X, y)
    with pytest.raises(ValueError, match=r"'detection_rate' .* in \(0, 1\)"):
        TargetRateClassifier(detection_rate=90).fit(X, y)
    with pytest.raises(ValueError, match=r"LogisticRegression does not[.] Set delta"):
        TargetRateClassifier(LogisticRegression(), 0.9).fit(X, y)
    with pytest.raises(ValueError, match="takes them in"):
        TargetRateClassifier(make_pipeline(MinCostClassifier(QUICK)), 0.9).fit(X, y)
    with pytest.raises(ValueError, match=r"holds out 180 rows of class -1.*at least 2995"):
        TargetRateClassifier(false_alarm_rate=0.001, delta=0.05).fit(X, y)
    with pytest.raises(ValueError, match=r"holds out 3 rows of class True.*needs at least 22"):
        TargetRateClassifier(detection_rate=0.9, delta=0.1).fit(X, np.arange(len(y)) < 10)
    with pytest.raises(ValueError, match="scores without NaN"):
        order_threshold([np.nan] * 99, 0.1, 0.1)
    blind = AdaBoostCClassifier(n_estimators=5, init="uniform", random_state=0)
    with pytest.warns(ConvergenceWarning, match="met the named rate at none of 3 cost ratios"):
        TargetRateClassifier(blind, 0.999, n_trials=3, random_state=0).fit(*gaussians)
    with pytest.warns(CollapseWarning, match="predicts class -1 for every training row"):
        TargetRateClassifier(DummyClassifier(), false_alarm_rate=0.1, delta=0.1).fit(X, y)
    with pytest.warns(CollapseWarning, match="TargetRateClassifier predicts class"):
        TargetRateClassifier(QUICK, 0.9, n_trials=3).fit(np.zeros_like(X), y)

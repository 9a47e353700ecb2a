"""One tree over pairs of rows and classes: against a plain reference, and at its edges."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import costboost
from costboost import (
    AdaC2Classifier,
    LpCSBClassifier,
    MCBoostClassifier,
    SAMMEC2Classifier,
)
from costboost.learners import JointTree, Rows
from costboost.learners.base import Aim, Votes
from reference import pnorm
from reference.joint import PlainJointTree

pytestmark = pytest.mark.filterwarnings("ignore::costboost.CollapseWarning")

RELATIONAL = [
    "LpCSBClassifier",
    "AverageCostClassifier",
    "GBSEClassifier",
    "AdaBoostM2Classifier",
    "AdaCostM2Classifier",
    "CSB2M2Classifier",
]


def make_rows(k, n=24, seed=0):
    """Rows of few values, cost rows with a 0 each, sample weights."""
    rng = np.random.default_rng(10 * k + seed)
    codes = rng.permutation(np.arange(n) % k)
    X = np.round(rng.normal(size=(n, 2)) + codes[:, None] * [0.7, 0.2], 1)
    C = rng.uniform(0.5, 6.0, size=(n, k))
    C[np.arange(n), codes] = 0.0
    return X, codes, C, rng.uniform(0.5, 1.5, n)


def bound(X, k, **options):
    return JointTree(**options).bind(Rows(X, np.ones(len(X)), [], 1, 0, k=k))


# --- against the reference ------------------------------------------------------------------


@pytest.mark.parametrize("min_pairs", [1, 3])
@pytest.mark.parametrize("max_leaves", [2, 5, 12])
@pytest.mark.parametrize("k", [2, 3, 4])
def test_one_tree(k, max_leaves, min_pairs):
    X, *_ = make_rows(k)
    rng = np.random.default_rng(k)
    weights = rng.uniform(size=(len(X), k)) * (rng.random((len(X), k)) < 0.8)
    weights /= weights.sum()
    labels = (rng.random(weights.shape) < 0.4).astype(int)
    learner = bound(X, k, max_leaves=max_leaves, min_pairs=min_pairs)
    rule, outputs, _ = learner.fit(Aim(2.0 * labels - 1.0, weights, Votes()), 0)
    plain = PlainJointTree(2, max_leaves, min_pairs)
    plain.fit(pnorm.expanded(X, k), labels.ravel(), weights.ravel())
    np.testing.assert_array_equal(outputs, plain.predict(pnorm.expanded(X, k)).reshape(-1, k))
    np.testing.assert_array_equal(rule.predict(X), outputs)
    new = np.random.default_rng(1).normal(size=(40, 2))
    expected = plain.predict(pnorm.expanded(new, k)).reshape(-1, k)
    np.testing.assert_array_equal(rule.predict(new), expected)
    assert (rule.feature < 0).sum() <= max_leaves


@pytest.mark.parametrize("variant", ["relational", "adjusted"])
@pytest.mark.parametrize("p", [1, 2, 3])
@pytest.mark.parametrize("k", [2, 3])
def test_lp_csb_as_printed(k, p, variant):
    """Figure 1 with its one learner of the expanded set."""
    X, codes, C, s = make_rows(k)
    leaves = 60 if k == 2 else 5  # pairs of two classes are mirrored: only whole trees are unique
    clf = LpCSBClassifier(
        p=p, variant=variant, resample=False, n_estimators=3, estimator=JointTree(leaves)
    ).fit(X, codes, costs=C, sample_weight=s)
    trace = pnorm.run_lp_csb(
        C,
        X,
        p=p,
        rounds=3,
        variant=variant,
        make_learner=lambda: PlainJointTree(2, leaves),
        sample_weight=s,
    )
    assert clf.n_iter_ == len(trace.alphas)
    for rule, h in zip(clf.estimators_, trace.h, strict=True):
        np.testing.assert_array_equal(rule.predict(X), h)
    for F, H in zip(clf.staged_decision_function(X), trace.H, strict=True):
        expected = H[:, 1] - H[:, 0] if k == 2 else H
        np.testing.assert_allclose(F, expected, atol=1e-12)
    new = np.random.default_rng(2).normal(size=(20, 2))
    H = pnorm.score(trace, new)
    expected = H[:, 1] - H[:, 0] if k == 2 else H
    np.testing.assert_allclose(clf.decision_function(new), expected, atol=1e-12)


def test_lp_csb_sampled():
    """The sample enters as weights; the reference replays what was drawn."""
    k = 3
    X, codes, C, s = make_rows(k)
    drawn = []

    class Recorder(np.random.RandomState):
        def multinomial(self, n, pvals, size=None):
            counts = super().multinomial(n, pvals, size)
            drawn.append(counts / n)
            return counts

    clf = LpCSBClassifier(
        p=2,
        resample=True,
        n_estimators=3,
        estimator=JointTree(max_leaves=5),
        random_state=Recorder(0),
    ).fit(X, codes, costs=C, sample_weight=s)
    pairs = pnorm.expanded(X, k)
    for rule, weights in zip(clf.estimators_, drawn, strict=True):
        labels = pnorm.one_hot(codes, k).ravel().astype(int)
        plain = PlainJointTree(2, 5).fit(pairs, labels, weights)
        np.testing.assert_array_equal(rule.predict(X), plain.predict(pairs).reshape(-1, k))


@pytest.mark.parametrize("name", pnorm.VOTES)
def test_votes_of_pairs(name):
    k = 3
    X, codes, C, s = make_rows(k)
    clf = getattr(costboost, f"{name}Classifier")(n_estimators=3, estimator=JointTree(max_leaves=4))
    clf.fit(X, codes, costs=C, sample_weight=s)
    trace = pnorm.run_votes(
        name, C, X, rounds=3, make_learner=lambda: PlainJointTree(2, 4), sample_weight=s
    )
    np.testing.assert_allclose(clf.estimator_weights_, trace.alphas, rtol=1e-9)
    np.testing.assert_allclose(clf.decision_function(X), trace.H[-1], atol=1e-9)


# --- categories, missing values, edges ------------------------------------------------------


def test_categories_are_split_by_subsets():
    rng = np.random.default_rng(3)
    colour = rng.integers(0, 6, size=200)
    y = np.isin(colour, [0, 3, 5]).astype(int)  # no order of the codes tells
    X = pd.DataFrame({"colour": pd.Categorical(np.array(list("abcdef"))[colour])})
    clf = LpCSBClassifier({"fn": 2, "fp": 1}, n_estimators=1, estimator=JointTree(max_leaves=4))
    clf.fit(X, y)
    np.testing.assert_array_equal(clf.predict(X), y)
    unseen = pd.DataFrame({"colour": pd.Categorical(["z", None, "a"])})
    assert clf.predict(unseen).shape == (3,)
    numbers = clf.fit(colour[:, None].astype(float), y)
    assert (numbers.predict(colour[:, None].astype(float)) != y).any()  # three cuts at most


@pytest.mark.parametrize("side", [0, 1])
def test_missing_values_go_where_they_gain_more(side):
    rng = np.random.default_rng(4)
    x = rng.normal(size=(200, 1))
    y = (x[:, 0] > 0).astype(int)
    clf = LpCSBClassifier({"fn": 2, "fp": 1}, n_estimators=1, estimator=JointTree(max_leaves=4))
    assert clf.fit(x, y).predict([[np.nan]]).shape == (1,)  # none was known
    x[::5], y[::5] = np.nan, side
    np.testing.assert_array_equal(clf.fit(x, y).predict(x), y)


@pytest.mark.parametrize("k", [2, 3, 5, 8])
def test_balanced_classes_with_equal_costs_start(k):
    """No split gains anything: the class of most weight is split off."""
    rng = np.random.default_rng(k)
    y = np.arange(60) % k
    X = y[:, None] + 0.1 * rng.normal(size=(60, 1))
    clf = LpCSBClassifier(n_estimators=5, estimator=JointTree(max_leaves=4 * k)).fit(X, y)
    assert clf.estimators_[0].feature[0] == 1  # the class: there is one feature
    np.testing.assert_array_equal(clf.predict(X), y)


@pytest.mark.parametrize("name", RELATIONAL)
def test_every_relational_algorithm_takes_it(name):
    X, codes, C, s = make_rows(4, n=120)
    clf = getattr(costboost, name)(
        n_estimators=10, estimator=JointTree(max_leaves=24), random_state=0
    ).fit(X, codes, costs=C, sample_weight=s)
    spent = C[np.arange(len(C)), clf.predict(X)]
    assert s @ spent < 0.95 * min(s @ C[:, y] for y in range(4))
    assert clf.feature_importances_.sum() == pytest.approx(1.0)


@pytest.mark.parametrize(
    ("clf", "k", "words"),
    [
        (AdaC2Classifier(), 2, "JointTree learns relations between rows and classes"),
        (MCBoostClassifier(), 2, "JointTree learns relations between rows and classes"),
        (SAMMEC2Classifier(), 3, "estimator of SAMMEC2Classifier"),
        (LpCSBClassifier(variant="direct"), 3, "estimator of LpCSBClassifier"),
    ],
)
def test_others_refuse_it(clf, k, words):
    X, codes, *_ = make_rows(k)
    with pytest.raises(ValueError, match=words):
        clf.set_params(estimator=JointTree()).fit(X, codes)


def test_files_keep_it(tmp_path):
    X, codes, C, _ = make_rows(3)
    clf = LpCSBClassifier(n_estimators=4, estimator=JointTree(max_leaves=6), p=3)
    clf.fit(X, codes, costs=C)
    clf.save(tmp_path / "model.costboost")
    again = costboost.load(tmp_path / "model.costboost")
    np.testing.assert_array_equal(again.decision_function(X), clf.decision_function(X))
    assert again.estimator == clf.estimator

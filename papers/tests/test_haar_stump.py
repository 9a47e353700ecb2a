"""Stumps on Haar features: the search equals brute force, alone and together with others."""

from __future__ import annotations

import numpy as np
import pytest

from costboost import AdaC2Classifier, CSAdaBoostClassifier, CSLogitBoostClassifier
from costboost.boosting.loop import boost
from costboost.boosting.votes import BinaryProblem
from costboost.learners import Stump
from costboost.learners.base import Aim, JointVotes, Rows, Votes
from costboost.losses.base import cost_pair
from costboost_papers.vision import HaarFeatures, HaarStump
from costboost_papers.vision.haar_stump import boost_together

COSTS = ((1.0, 1.0), (1.2, 1.0), (20.0, 1.0), (1000.0, 1.0), (1.0, 7.0))
CRITERIA = [Votes(), *(JointVotes(*pair) for pair in COSTS)]


@pytest.fixture(scope="module")
def windows():
    rng = np.random.default_rng(0)
    X = rng.random((120, 64))
    y = np.where(rng.random(120) < 0.4, 1.0, -1.0)
    X[y > 0, :20] += 0.15
    return X, y


def bound(X):
    return HaarStump((8, 8), 300, 16).bind(Rows(X, np.ones(len(X)), [], 1, 0))


def brute_force(learner, features, aim):
    """Every threshold of every feature, from the features themselves."""
    first, second = aim.criterion.channels(aim.targets, aim.weights)
    best = (np.inf, -1, 0.0, 0.0)
    for j, edges in enumerate(learner.edges):
        for edge in edges[np.isfinite(edges)]:
            left = features[:, j] <= edge
            sides = [
                (np.array([first[s].sum()]), np.array([second[s].sum()])) for s in (left, ~left)
            ]
            loss, _, high = (float(part[0]) for part in aim.criterion.stump(*sides))
            if loss < best[0] - 1e-12 * best[0] or best[1] < 0:
                best = (loss, j, float(edge), high)
    return best


def test_the_search_equals_brute_force_alone_and_together(windows):
    X, y = windows
    learner = bound(X)
    features = learner.features.transform(X.reshape(-1, 8, 8))
    for j in range(0, 300, 17):
        expected = (features[:, j : j + 1] > learner.edges[j]).sum(axis=1)
        np.testing.assert_array_equal(learner.bins[j], expected)
    assert learner.bins.dtype == np.uint8 and learner.n_edges.max() == 15
    weights = np.random.default_rng(0).random((12, 120)) ** 3
    aims = [Aim(y, w / w.sum(), CRITERIA[k % 6]) for k, w in enumerate(weights)]
    for together, aim in zip(learner.fit_many(aims), aims, strict=True):
        rule, outputs = learner.fit(aim, 0)
        assert together.rule == rule
        assert (rule.feature, rule.edge, rule.high) == brute_force(learner, features, aim)[1:]
        np.testing.assert_array_equal(together.outputs, outputs)
        np.testing.assert_array_equal(rule.predict(X), outputs)


def test_boosting_together_is_boosting_alone(windows):
    X, y = windows

    def schemes():
        for C1, kind in ((3.0, CSAdaBoostClassifier), (3.0, AdaC2Classifier)):
            c = np.where(y > 0, C1, 1.0)
            problem = BinaryProblem(y, c, np.ones(120), (C1, 1.0), cost_pair((C1, 1.0)))
            yield kind({"fn": C1, "fp": 1.0}, n_estimators=6, init="balanced")._scheme(problem)

    learner = bound(X)
    found = boost_together(list(schemes()), learner, 6)
    for history, scheme in zip(found, schemes(), strict=True):
        alone = boost(scheme, learner, n_rounds=6, rng=np.random.RandomState(0))
        assert history.rules == alone.rules and history.stop == alone.stop
        np.testing.assert_allclose(history.votes, alone.votes)


def test_classifier_on_flat_windows_equals_one_on_the_feature_matrix(windows):
    """Stumps with few rows and many bins see every threshold, whichever way they come."""
    X, y = (part[:60] for part in windows)
    table = HaarFeatures(max_features=None).fit_transform(X.reshape(-1, 8, 8))
    flat, other = (
        CSAdaBoostClassifier(
            {"fn": 4.0, "fp": 1.0}, n_estimators=5, estimator=stump, random_state=0
        ).fit(rows, y)
        for stump, rows in ((HaarStump((8, 8), max_bins=60), X), (Stump(), table))
    )
    np.testing.assert_allclose(flat.train_loss_, other.train_loss_, rtol=1e-9)
    np.testing.assert_allclose(flat.estimator_weights_, other.estimator_weights_, rtol=1e-6)
    np.testing.assert_allclose([*flat.staged_decision_function(X)][-1], flat.decision_function(X))
    assert flat.feature_importances_.shape == (64,)
    assert flat.feature_importances_.sum() == pytest.approx(1.0)


def test_windows_without_contrast_give_a_constant_rule():
    y = np.repeat([1.0, -1.0], 10)
    fitted = bound(np.ones((20, 64))).fit(Aim(y, np.ones(20), Votes()), 0)
    assert len(set(fitted.outputs)) == 1


@pytest.mark.parametrize(
    ("kind", "stump", "columns", "message"),
    [
        (CSAdaBoostClassifier, HaarStump((8, 8)), 50, "64 columns"),
        (CSAdaBoostClassifier, HaarStump((8, 8), max_bins=300), 64, "max_bins"),
        (CSLogitBoostClassifier, HaarStump((8, 8), 50), 64, "vote -1 or"),
    ],
)
def test_bad_use(windows, kind, stump, columns, message):
    X, y = windows
    with pytest.raises(ValueError, match=message):
        kind(None, n_estimators=3, estimator=stump).fit(X[:, :columns], y)

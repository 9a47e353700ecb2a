"""Stumps on Haar features: the search equals brute force, alone and together with others."""

from __future__ import annotations

import numpy as np
import pytest

from costboost import AdaC2Classifier, CSAdaBoostClassifier, CSLogitBoostClassifier
from costboost.boosting.loop import boost
from costboost.learners import Stump
from costboost.learners.base import Aim, JointVotes, Rows, Votes
from costboost_papers.vision import HaarFeatures, HaarStump
from costboost_papers.vision.features import corner_points
from costboost_papers.vision.haar_stump import boost_together

pytest.importorskip("skimage", reason='needs scikit-image: pip install "costboost[experiments]"')

CRITERIA = [
    Votes(),
    JointVotes(1.0, 1.0),
    JointVotes(1.2, 1.0),
    JointVotes(20.0, 1.0),
    JointVotes(1000.0, 1.0),
    JointVotes(1.0, 7.0),
]


@pytest.fixture(scope="module")
def windows():
    rng = np.random.default_rng(0)
    X = rng.random((120, 64))
    y = np.where(rng.random(120) < 0.4, 1.0, -1.0)
    X[y > 0, :20] += 0.15
    return X, y


def bound(X, n_threads=1, max_features=300):
    rows = Rows(X, np.ones(len(X)), [], n_threads, 0)
    return HaarStump((8, 8), max_features, 16).bind(rows)


def brute_force(learner, X, aim):
    """Every threshold of every feature, from the features themselves."""
    features = learner.features.transform(X.reshape(-1, 8, 8))
    first, second = aim.criterion.channels(aim.targets, aim.weights)
    best = (np.inf, -1, 0.0, 0.0)
    for j, edges in enumerate(learner._edges):
        for edge in edges[np.isfinite(edges)]:
            left = features[:, j] <= edge
            sides = [
                (np.array([first[s].sum()]), np.array([second[s].sum()])) for s in (left, ~left)
            ]
            loss, _, high = (float(part[0]) for part in aim.criterion.stump(*sides))
            if loss < best[0] - 1e-12 * best[0] or best[1] < 0:
                best = (loss, j, float(edge), high)
    return best


def weights(seed):
    w = np.random.default_rng(seed).random(120) ** 3
    return w / w.sum()


@pytest.mark.parametrize("criterion", CRITERIA, ids=lambda c: type(c).__name__)
def test_search_equals_brute_force(windows, criterion):
    X, y = windows
    learner = bound(X)
    for seed in range(2):
        aim = Aim(y, weights(seed), criterion)
        rule, outputs, _ = learner.fit(aim, 0)
        _, feature, edge, high = brute_force(learner, X, aim)
        assert (rule.feature, rule.edge, rule.high) == (feature, edge, high)
        np.testing.assert_array_equal(rule.predict(X), outputs)


def test_aims_searched_together_find_what_each_finds_alone(windows):
    X, y = windows
    learner = bound(X)
    aims = [Aim(y, weights(seed), CRITERIA[seed % 6]) for seed in range(18)]
    for together, aim in zip(learner.fit_many(aims), aims, strict=True):
        alone = learner.fit(aim, 0)
        assert together.rule == alone.rule
        np.testing.assert_array_equal(together.outputs, alone.outputs)


def test_threads_change_nothing(windows):
    X, y = windows
    aim = Aim(y, weights(0), JointVotes(5.0, 1.0))
    one, two = (bound(X, threads, None).fit(aim, 0).rule for threads in (1, 2))
    assert (one.feature, one.edge, one.high) == (two.feature, two.edge, two.high)


def test_bins_count_the_edges_below(windows):
    X, _ = windows
    learner = bound(X)
    features = learner.features.transform(X.reshape(-1, 8, 8))
    for j in range(0, 300, 17):
        expected = (features[:, j : j + 1] > learner._edges[j]).sum(axis=1)
        np.testing.assert_array_equal(learner.bins[j], expected)
    assert learner.bins.dtype == np.uint8
    assert learner._n_edges.max() == 15


def test_boosting_together_is_boosting_alone(windows):
    X, y = windows
    from costboost.boosting.votes import BinaryProblem
    from costboost.losses.base import cost_pair

    def schemes():
        for C1, kind in ((3.0, CSAdaBoostClassifier), (3.0, AdaC2Classifier)):
            c = np.where(y > 0, C1, 1.0)
            problem = BinaryProblem(y, c, np.ones(120), (C1, 1.0), cost_pair((C1, 1.0)))
            yield kind({"fn": C1, "fp": 1.0}, n_estimators=6, init="balanced")._scheme(problem)

    learner = bound(X)
    found = boost_together(list(schemes()), learner, 6)
    for history, scheme in zip(found, schemes(), strict=True):
        alone = boost(scheme, learner, n_rounds=6, rng=np.random.RandomState(0))
        assert history.rules == alone.rules
        assert history.stop == alone.stop
        np.testing.assert_allclose(history.votes, alone.votes)


def test_classifier_on_flat_windows_equals_one_on_the_feature_matrix(windows):
    """Stumps with few rows and many bins see every threshold, whichever way they come."""
    X, y = windows
    X, y = X[:60], y[:60]
    haar = HaarFeatures(max_features=None).fit(X.reshape(-1, 8, 8))
    costs = {"fn": 4.0, "fp": 1.0}
    flat = CSAdaBoostClassifier(
        costs, n_estimators=5, estimator=HaarStump((8, 8), max_bins=60), random_state=0
    ).fit(X, y)
    table = CSAdaBoostClassifier(costs, n_estimators=5, estimator=Stump()).fit(
        haar.transform(X.reshape(-1, 8, 8)), y
    )
    np.testing.assert_allclose(flat.train_loss_, table.train_loss_, rtol=1e-9)
    np.testing.assert_allclose(flat.estimator_weights_, table.estimator_weights_, rtol=1e-6)
    staged = list(flat.staged_decision_function(X))
    np.testing.assert_allclose(staged[-1], flat.decision_function(X))
    assert flat.feature_importances_.sum() == pytest.approx(1.0)
    assert flat.feature_importances_.shape == (64,)


def test_windows_without_contrast_give_a_constant_rule():
    y = np.repeat([1.0, -1.0], 10)
    fitted = bound(np.ones((20, 64))).fit(Aim(y, np.ones(20), Votes()), 0)
    assert len(set(fitted.outputs)) == 1


def test_corner_points_are_few_and_sum_to_zero():
    """2, 3 and 4 rectangles side by side share corners: 6, 8 and 9 points."""
    haar = HaarFeatures(max_features=None).fit(np.zeros((1, 6, 6)))
    kinds = {kind: set() for kind in np.unique(haar.feature_type_)}
    _, weights, counts = corner_points(haar._rectangles)
    for kind, count in zip(haar.feature_type_, counts, strict=True):
        kinds[kind].add(int(count))
    assert [kinds[f"type-{k}"] for k in ("2-x", "3-y", "4")] == [{6}, {8}, {9}]
    np.testing.assert_allclose(weights.sum(axis=1), 0.0)


def test_bad_use(windows):
    X, y = windows
    with pytest.raises(ValueError, match="64 columns"):
        CSAdaBoostClassifier(None, n_estimators=3, estimator=HaarStump((8, 8))).fit(X[:, :50], y)
    with pytest.raises(ValueError, match="max_bins"):
        CSAdaBoostClassifier(None, n_estimators=3, estimator=HaarStump((8, 8), max_bins=300)).fit(
            X, y
        )
    with pytest.raises(ValueError, match="vote -1 or"):
        CSLogitBoostClassifier(None, n_estimators=3, estimator=HaarStump((8, 8), 50)).fit(X, y)
    aims = [Aim(y, weights(0), Votes()), Aim(-y, weights(0), Votes())]
    with pytest.raises(ValueError, match="same targets"):
        bound(X).fit_many(aims)

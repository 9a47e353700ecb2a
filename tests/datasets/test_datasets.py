"""Makers are seeded and have the distribution they promise."""

import numpy as np
import pytest

from costboost import datasets
from costboost.datasets import make_fraud


def test_fraud_is_seeded_rare_and_costs_follow_the_amount():
    data, again, other = (make_fraud(20_000, random_state=s, review_cost=7) for s in (1, 1, 2))
    np.testing.assert_array_equal(data.X, again.X)
    np.testing.assert_array_equal(data.y, again.y)
    assert not np.array_equal(data.X, other.X)
    assert data.X.shape == (20_000, len(data.feature_names)) and 0.03 < data.y.mean() < 0.05
    np.testing.assert_array_equal(data.X[:, data.feature_names.index("amount")], data.amount)
    np.testing.assert_array_equal(data.costs[:, 1, 0], data.amount)
    assert (data.costs[:, :, 1] == 7).all() and (data.costs[:, 0, 0] == 0).all()
    # some frauds are too small to be reviewed, and most are not
    assert 0.01 < (data.amount[data.y == 1] < 7).mean() < 0.4


@pytest.mark.parametrize(("C1", "C2"), [(1, 1), (20, 1), (2, 3)])
def test_bayes_rules_are_the_cheapest(C1, C2):
    def cost(decided, y):
        return float(C1 * (~decided & (y == 1)).sum() + C2 * (decided & (y < 0)).sum())

    X, y = datasets.make_gaussians_1d(100_000, random_state=0)
    best = datasets.bayes_threshold(C1, C2)
    assert 1 / (1 + np.exp(-2 * best)) * C1 == pytest.approx(1 / (1 + np.exp(2 * best)) * C2)
    costs = [cost(X[:, 0] >= best + by, y) for by in (0, -0.3, 0.3)]
    assert costs[0] < min(costs[1:])
    X, y = datasets.make_gaussians_2d(50_000, random_state=3)
    costs = [cost(datasets.bayes_decision(X, C1 * by, C2) > 0, y) for by in (1, 0.5, 2)]
    assert costs[0] < min(costs[1:])


def test_gaussians_2d_and_their_log_odds():
    classes = {1: ([-1, 1], [[5.2, 2], [2, 3.7]]), -1: ([1, -1], [[3.3, 1.5], [1.5, 4.6]])}
    X, y = datasets.make_gaussians_2d(50_000, random_state=0)
    densities = {}
    for label, (mean, covariance) in classes.items():
        np.testing.assert_allclose(X[y == label].mean(axis=0), mean, atol=0.05)
        np.testing.assert_allclose(np.cov(X[y == label].T), covariance, atol=0.1)
        d = X[:50] - mean
        distance = np.einsum("ni,ij,nj->n", d, np.linalg.inv(covariance), d)
        densities[label] = -0.5 * (np.log(np.linalg.det(covariance)) + distance)
    expected = densities[1] - densities[-1]
    np.testing.assert_allclose(datasets.log_odds(X[:50]), expected, rtol=1e-9)
    np.testing.assert_allclose(datasets.log_odds(X[:1]), expected[:1], rtol=1e-9)

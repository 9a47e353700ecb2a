"""The papers' cost matrices."""

from __future__ import annotations

import numpy as np

from costboost_papers.costs import class_frequency, random_symmetric


def test_random_matrices():
    y, P = np.repeat(["a", "b", "c"], [70, 20, 10]), np.array([0.7, 0.2, 0.1])
    matrices = np.array([class_frequency(y, rng=seed) for seed in range(500)])
    high = 1000 * P[None, :] / P[:, None] * (1 - np.eye(3))
    assert ((matrices >= 0) & (matrices <= high)).all()
    np.testing.assert_allclose(matrices.mean(axis=0), high / 2, rtol=0.1)
    matrix = random_symmetric(5, 1, 10, rng=0)
    np.testing.assert_array_equal(matrix, matrix.T)
    assert not matrix.diagonal().any()
    off = np.unique(matrix[~np.eye(5, dtype=bool)])
    assert len(off) == 10 and 1 <= off[0] < off[-1] <= 10

"""The papers' cost matrices."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from costboost_papers.costs import class_frequency, from_taxonomy, random_symmetric


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


def test_taxonomy():
    tree = {
        "coral": {"hard": ["acropora", "porites"], "soft": None},
        "algae": ["turf", "macro"],
        "sand": {},
    }
    costs = from_taxonomy(tree)
    assert costs.classes.tolist() == ["acropora", "macro", "porites", "sand", "soft", "turf"]
    D = pd.DataFrame(costs.matrix, costs.classes, costs.classes)
    distances = {
        "acropora porites": 2, "acropora soft": 3, "acropora turf": 5, "soft sand": 3,
        "turf macro": 2, "sand sand": 0,
    }  # fmt: skip
    for pair, distance in distances.items():
        one, other = pair.split()
        assert D.loc[one, other] == D.loc[other, one] == distance


@pytest.mark.parametrize(
    ("tree", "message"),
    [(["a", ["a"]], "each of them once"), ([], "one class"), (["a", 1], "labels of one type")],
)
def test_taxonomy_errors(tree, message):
    with pytest.raises(ValueError, match=message):
        from_taxonomy(tree)

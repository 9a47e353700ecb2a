"""Costs of classes in a tree."""

from __future__ import annotations

import pandas as pd
import pytest

from costboost.costs import from_taxonomy


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

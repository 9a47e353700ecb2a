"""One rule for decisions that cost the same, whoever decides."""

from __future__ import annotations

import numpy as np
import pytest

from costboost.costs import Costs
from costboost.decisions import allocate, cheapest, expected_cost, sensitivity, worst_expected_cost

# Classes, decisions, costs that tie at even probabilities, and the winner.
TIES = {
    "two classes": (["a", "b"], ["a", "b"], [[0, 4], [4, 0]], 1),
    "two decisions that are no classes": (["a", "b"], ["go", "stop"], [[0, 4], [4, 0]], 1),
    "three classes, two decisions": (list("abc"), ["go", "stop"], [[0, 6], [3, 0], [3, 0]], 1),
    "three decisions": (["a", "b"], list("xyz"), [[5, 0, 4], [5, 4, 0]], 1),
    "all three": (list("abc"), list("abc"), 1.0 - np.eye(3), 0),
}


@pytest.mark.parametrize("case", TIES)
def test_a_tie_is_decided_in_one_way(case):
    classes, decisions, matrix, winner = TIES[case]
    p = np.full((3, len(classes)), 1.0 / len(classes))
    costs = Costs(classes, matrix, decisions)
    rows = np.repeat(np.asarray(matrix, float)[None], 3, axis=0)
    found = {
        "cheapest": cheapest(expected_cost(p, matrix)),
        "Costs.decide": costs.decide(p),
        "costs of rows": Costs(classes, rows, decisions).decide(p),
        "the worst case": cheapest(worst_expected_cost(p, [matrix, matrix])),
        "allocate": allocate(expected_cost(p, matrix), decisions).codes,
    }
    assert {name: codes.tolist() for name, codes in found.items()} == dict.fromkeys(
        found, [winner] * 3
    )
    rival = {"the winner": [decisions[winner]] * 3}
    rows = sensitivity(p, matrix, classes=classes, decisions=decisions, rivals=rival).rows
    assert all(row["cost"] == row["the winner"] for row in rows)

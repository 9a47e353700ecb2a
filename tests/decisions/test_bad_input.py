"""What is wrong is refused, with the parameter, the value and the remedy."""

from __future__ import annotations

import numpy as np
import pytest

from costboost.costs import Costs
from costboost.decisions import (
    Budget,
    Decisions,
    Rate,
    allocate,
    explain,
    read_limits,
    sensitivity,
)

P = np.array([[0.9, 0.1], [0.8, 0.2], [0.7, 0.3], [0.6, 0.4]])
MATRIX = np.array([[0.0, 4.0, 9.0], [9.0, 4.0, 0.0]])
ACTIONS = ["accept", "review", "block"]


def decide(expected=P @ MATRIX, per=None, **limits):
    """Decide rows within limits."""
    return allocate(expected, read_limits(**{"decisions": ACTIONS, **limits}), groups=per)


ROW = Decisions.from_proba(P[:1], Costs(MATRIX, [0, 1], ACTIONS))
# Arguments that are right.
GIVEN = {
    decide: {},
    explain: {"contributions": [[1.0, 2.0, 3.0]], "decisions": ROW},
    sensitivity: {"proba": P, "matrix": MATRIX},
}
DAYS = ["mon", "mon", "tue", "tue"]
CLASSES = {"proba": P, "classes": ["ok", "fraud"]}
GAPS = np.array(["mon", None, "tue", "tue"], dtype=object)
ONE = {"capacity": {"review": 1}}
BAD = {
    decide: [
        ({"capacity": {"reveiw": 1}}, "only the decisions.*got .'reveiw'.; did you mean 'review'"),
        ({"capacity": {"review": (3, 1)}}, r"is infeasible: 4 rows .*'review': \(3, 1\)"),
        ({"capacity": {"review": (3, None)}, "per": DAYS}, "2 rows of the group 'mon' cannot"),
        ({"capacity": {"review": -1}}, "number of rows .* got -1"),
        ({"capacity": {"review": 2.5}}, "number of rows .* got 2.5"),
        ({"capacity": {"review": {"mon": 1}}, "per": DAYS}, "none of the group 'tue'"),
        ({"capacity": {"review": {"mon": 1}}}, "limits per group, .* Pass per="),
        ({"capacity": 200}, "must be a mapping"),
        ({**ONE, "per": GAPS}, "must name a group for every row; .*first row 1"),
        ({"decisions": ["accept", "accept"]}, "must hold 2 distinct labels"),
        ({"constraints": Rate("block", given=1, at_least=0.5)}, "'proba' .* have a Rate"),
        ({"constraints": Rate("block", "frod", at_least=0.5), **CLASSES}, "did you mean 'fraud'"),
        ({"constraints": Rate("block", "ok", at_least=95), **CLASSES}, "from 0 to 1, .* got 95"),
        ({"constraints": Rate("block", "ok"), **CLASSES}, "needs at_least= or at_most="),
        ({"constraints": Rate("block", "ok", 0.5, 0.1), **CLASSES}, "the lower limit first"),
        ({"constraints": Budget("review", -1.0)}, "infeasible: found no decisions of these 4 rows"),
        ({"constraints": Budget("review", 5.0, amount=-1.0)}, "'amount' .* must not be negative"),
        ({"constraints": [200]}, "must hold Rate"),
        ({"expected": [[1.0, np.nan, 0.0]]}, "must be finite"),
        ({"expected": [1.0, 2.0]}, r"shape \(n, d\)"),
    ],
    explain: [
        ({"contributions": [1.0, 2.0]}, "must have shape"),
        ({"names": ["a"]}, "must hold 2 names"),
        ({"values": [[1.0]]}, r"'values' parameter of explain must have shape \(1, 2\)"),
        ({"contributions": np.ones((2, 3))}, r"probabilities of shape \(2, 2\).*got \(1, 2\)"),
        ({"decisions": Decisions(ROW.chosen, ROW.decisions, ROW.classes)}, "probabilities.*None"),
    ],
    sensitivity: [
        ({"factors": [0.0]}, "must hold positive numbers"),
        ({"entries": ["fn"]}, "a name for two classes and two decisions"),
        ({"entries": ["miss"]}, r"must be \(truth, decision\) or one of"),
        ({"entries": [(1, 7)]}, "only the decisions .*got .7"),
        ({"rivals": {"mine": [0]}}, "must have one element per row"),
        ({"truth": [0]}, "'truth' parameter of sensitivity must have one element per row"),
        ({"truth": [0, 5, 0, 0]}, "only the classes .*got .5"),
    ],
}
ROWS = [pytest.param(f, *row, id=f"{f.__name__}: {row[1]}") for f in BAD for row in BAD[f]]


@pytest.mark.parametrize(("function", "arguments", "message"), ROWS)
def test_bad_input_is_refused_with_the_remedy(function, arguments, message):
    with pytest.raises((ValueError, TypeError), match=message):
        function(**{**GIVEN[function], **arguments})

"""Positions that the sliders of the page can take, shared by Python and JavaScript."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from costboost.report.case import Case, sums
from costboost.report.data.operating import Board, Lever, levers_of
from costboost.report.data.packing import Packed, pack

__all__ = ["Sliders", "sliders"]

FACTORS = (
    0.0,
    *(0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    1.0,
    *(1.1, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 5.0, 7.5, 10.0),
)
STEPS = 100


@dataclass(frozen=True, eq=False)
class Sliders:
    """What the page needs to move: levers, positions, and the rows."""

    levers: list[Lever]
    factors: list[float]
    thresholds: list[float]
    capacities: list[float]
    limited: int
    packed: Packed
    disagree: float


def sliders(case: Case, board: Board) -> Sliders:
    """Positions of the sliders, and the rows they act on."""
    levers = levers_of(case)
    decided = board.operating_point().decided
    return Sliders(
        levers,
        list(FACTORS),
        thresholds() if 0 < len(case.risky) < case.k else [],
        capacities(float(case.weights.sum())),
        limited_at_first(case),
        pack(case, board, levers),
        float(case.weights[decided != case.decided].sum()),
    )


def thresholds() -> list[float]:
    """Thresholds from 0 to 1, close together near both ends."""
    odds = np.linspace(-9.0, 9.0, 2 * STEPS + 1)
    middle = [float(f"{p:.3g}") for p in 1.0 / (1.0 + np.exp(-odds[odds <= 0]))]
    upper = [round(1.0 - p, 6) for p in middle[-2::-1]]
    return [0.0, *middle, *upper, 1.0]


def capacities(total: float) -> list[float]:
    """Whole numbers from 0 to all rows, close together near 0."""
    most = int(np.ceil(total))
    places = (np.linspace(0.0, 1.0, STEPS + 1) ** 3 * most).round()
    return [float(place) for place in np.unique(places)]


def limited_at_first(case: Case) -> int:
    """A decision that is no class's right one, such as a review; else the commonest action."""
    between = [e for e in range(case.d) if e != case.nothing and e not in case.right]
    if between:
        return between[0]
    counts = sums(case.decided, case.weights, case.d)
    counts[case.nothing] = -1.0
    return int(counts.argmax())

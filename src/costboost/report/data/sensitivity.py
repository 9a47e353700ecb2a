"""If the stated costs are wrong: regret over a grid of factors, and break-even factors."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from costboost._typing import Floats, Ints
from costboost.report.case import Case
from costboost.report.data.operating import Board, Lever, factors_of

__all__ = ["BreakEven", "Sensitivity", "sensitivity"]

GRID = (0.25, 1 / 3, 0.5, 2 / 3, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0)


@dataclass(frozen=True)
class BreakEven:
    """Between which factors the model's decisions beat every constant decision."""

    lever: str
    low: float
    high: float


@dataclass(frozen=True, eq=False)
class Sensitivity:
    """What it costs to decide by the stated costs if the true ones are others."""

    # The regret is the cost, under the true costs, of the decisions made with the stated ones, less
    # that of decisions made with the true ones, both from the same probabilities.

    factors: Floats
    lines: dict[str, Floats]
    grid: Floats | None
    levers: list[str]
    break_even: list[BreakEven]


def sensitivity(case: Case, board: Board, levers: list[Lever]) -> Sensitivity:
    """Regret along each lever and over the grid of the first two, if there are just two."""
    stated = board.operating_point().paid
    stay = GRID.index(1.0)

    def regret(*values: float) -> float:
        factors = factors_of(levers, values, board.shape)
        return float((stated * factors).sum()) - board.operating_point(factors).cost

    grid = None
    if len(levers) == 2:
        grid = np.array([[regret(row, column) for column in GRID] for row in GRID])
        lines = [grid[:, stay], grid[stay]]
    else:
        units = np.eye(len(levers), dtype=bool)
        lines = [
            np.array([regret(*np.where(unit, factor, 1.0)) for factor in GRID]) for unit in units
        ]
    names = [lever.label for lever in levers]
    return Sensitivity(
        np.array(GRID),
        dict(zip(names, lines, strict=True)),
        grid,
        names,
        [break_even(case, board, lever) for lever in levers],
    )


def break_even(case: Case, board: Board, lever: Lever) -> BreakEven:
    """Factors of one lever between which the model's decisions beat every constant one."""
    # A total cost is a straight line in the factor, so each constant decision gives one half-line
    # of factors, and the answer is their intersection.

    def line(decided: Ints) -> tuple[float, float]:
        paid = board.account(decided, np.ones(board.shape)).paid
        return float(paid[~lever.cells].sum()), float(paid[lever.cells].sum())

    level, slope = line(case.decided)
    low, high = 0.0, np.inf
    for code in range(case.d):
        other_level, other_slope = line(np.full(case.n, code))
        more, steeper = other_level - level, other_slope - slope
        if steeper > 0:
            low = max(low, -more / steeper)
        elif steeper < 0:
            high = min(high, -more / steeper)
        elif more < 0:
            high = -1.0
    if low > high:
        low = high = np.nan
    return BreakEven(lever.label, low, high)

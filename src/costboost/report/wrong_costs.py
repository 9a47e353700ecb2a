"""If the stated costs are wrong: regret over a grid of factors, and break-even factors."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from costboost._typing import Ints
from costboost.report import charts
from costboost.report.board import Board, Lever, factors_of
from costboost.report.case import Case
from costboost.report.charts import Figure, Section

if TYPE_CHECKING:
    from costboost.report.page import ReportData

GRID = (0.25, 1 / 3, 0.5, 2 / 3, 0.8, 1.0, 1.25, 1.5, 2.0, 3.0, 4.0)


def sensitivity(case: Case, board: Board, levers: list[Lever]) -> dict[str, Any]:
    """Regret along each lever, and over the grid of both if there are just two."""
    # The regret is the cost, under the true costs, of the decisions made with the stated ones, less
    # that of decisions made with the true ones, both from the same probabilities. Unlike
    # `costboost.decisions.sensitivity`, the errors are the page's sliders: rows have weights, and a
    # lever may move several costs.
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
        lines = [np.array([regret(*np.where(unit, f, 1.0)) for f in GRID]) for unit in units]
    names = [lever.label for lever in levers]
    return {
        "factors": np.array(GRID),
        "lines": dict(zip(names, lines, strict=True)),
        "grid": grid,
        "break_even": {lever.label: break_even(case, board, lever) for lever in levers},
    }


def break_even(case: Case, board: Board, lever: Lever) -> tuple[float, float]:
    """Factors of one lever between which the model's decisions beat every constant one."""
    # A total cost is a straight line in the factor, so each constant decision gives one half-line
    # of factors, and the answer is their intersection.

    def level_and_slope(decided: Ints) -> tuple[float, float]:
        paid = board.account(decided, np.ones(board.shape)).paid
        return float(paid[~lever.cells].sum()), float(paid[lever.cells].sum())

    level, slope = level_and_slope(case.decided)
    low, high = 0.0, np.inf
    for code in range(case.d):
        other_level, other_slope = level_and_slope(np.full(case.n, code))
        more, steeper = other_level - level, other_slope - slope
        if steeper > 0:
            low = max(low, -more / steeper)
        elif steeper < 0:
            high = min(high, -more / steeper)
        elif more < 0:
            high = -1.0
    return (low, high) if low <= high else (np.nan, np.nan)


# -- the section --------------------------------------------------------------------------------


def wrong_costs_section(report: ReportData) -> Section:
    """How wrong one cost may be, and what a wrong one would cost."""
    found = report.sensitivity
    even = charts.table(
        "Break-even: how wrong one cost may be before a constant decision becomes cheaper than the "
        "model's decisions",
        ("Cost", list(found["break_even"])),
        (
            "The model pays while the true cost is",
            [_limits(*e) for e in found["break_even"].values()],
        ),
    )
    return Section(
        "wrong-costs",
        "Wrong costs",
        "If the stated costs are wrong",
        [_regret_chart(found, report.case.unit)],
        "Costs are estimates. This shows how much that matters.",
        before=even,
    )


def _limits(low: float, high: float) -> str:
    def times(factor: float) -> str:
        return f"{factor:.3g}" if factor < 100 else f"{factor:,.0f}"

    if np.isnan(low):
        return "never: a constant decision is cheaper at any multiple"
    if low <= 0:
        if np.isinf(high):
            return "any multiple of the stated one"
        return f"below {times(high)} times the stated one"
    if np.isinf(high):
        return f"above {times(low)} times the stated one"
    return f"{times(low)} to {times(high)} times the stated one"


def _regret_chart(found: dict[str, Any], unit: str) -> Figure:
    factors = [f"×{f:.3g}" for f in found["factors"]]
    lines, grid = found["lines"], found["grid"]
    title = "What a wrong cost would cost"
    if grid is not None:
        first, second = lines
        hover = f"{second} %{{x}}<br>{first} %{{y}}<br>regret %{{z:,.2f}}<extra></extra>"
        lowest = min(0.0, float(grid.min()))
        return Figure(
            "regret",
            title,
            "Each square: the true costs are these multiples of the stated ones, and decisions are "
            "still made by the stated ones. The stronger the colour, the more the error costs.",
            [charts.heat(factors, factors, grid, "Regret", lowest, hovertemplate=hover)],
            {
                "xaxis": charts.axis(second, type="category"),
                "yaxis": charts.axis(first, type="category"),
            },
            charts.table(
                f"Regret; rows: {first}; columns: {second}",
                ("True multiple", factors),
                *((name, charts.amounts(grid[:, c], unit)) for c, name in enumerate(factors)),
            ),
        )
    regrets = np.array(list(lines.values())).reshape(-1, len(factors))
    return Figure(
        "regret",
        title,
        "One cost at a time is this multiple of the stated one, and decisions are still made by "
        "the stated one. A flat line means that the error hardly matters. Below zero, the stated "
        "cost happens to decide better on these rows.",
        [
            charts.line(name, factors, regret, charts.color(place))
            for place, (name, regret) in enumerate(lines.items())
        ],
        {
            "xaxis": charts.axis("True cost, as a multiple of the stated one", type="category"),
            "yaxis": charts.axis("Regret", unit),
        },
        charts.table(
            "Regret by true multiple",
            ("Cost", list(lines)),
            *((name, charts.amounts(regrets[:, c], unit)) for c, name in enumerate(factors)),
        ),
    )

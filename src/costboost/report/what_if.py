"""What if? The sliders, what they act on, the cost by threshold, and if the costs are wrong."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from costboost._typing import Ints
from costboost.report import charts
from costboost.report.board import Board, Lever, Packed, cheapest_but, factors_of, levers_of, pack
from costboost.report.case import Case, sums, texts
from costboost.report.charts import Figure, Section, count, money, percent

if TYPE_CHECKING:
    from costboost.report.page import ReportData

FACTORS = (
    0.0,
    *(0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    1.0,
    *(1.1, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 5.0, 7.5, 10.0),
)
STEPS = 100
# Largest number of points of a drawn curve.
POINTS = 300


@dataclass(frozen=True, eq=False)
class Sliders:
    """Positions that the sliders can take, and the rows they act on."""

    levers: list[Lever]
    factors: list[float]
    thresholds: list[float]
    capacities: list[float]
    limited: int  # the decision that the page limits at first
    packed: Packed
    disagree: float  # rows that the model decided otherwise than the sliders do


def sliders(case: Case, board: Board) -> Sliders:
    """Sliders of a case."""
    levers = levers_of(case)
    # A decision that is no class's right one, such as a review; else the commonest action.
    between = [e for e in range(case.d) if e != case.nothing and e not in case.right]
    taken = sums(case.decided, case.weights, case.d)
    taken[case.nothing] = -1.0
    return Sliders(
        levers,
        list(FACTORS),
        thresholds() if 0 < len(case.risky) < case.k else [],
        capacities(float(case.weights.sum())),
        between[0] if between else int(taken.argmax()),
        pack(case, board, levers),
        float(case.weights[board.operating_point().decided != case.decided].sum()),
    )


def thresholds() -> list[float]:
    """Thresholds from 0 to 1, close together near both ends."""
    odds = np.linspace(-9.0, 9.0, 2 * STEPS + 1)
    middle = [float(f"{p:.3g}") for p in 1.0 / (1.0 + np.exp(-odds[odds <= 0]))]
    upper = [round(1.0 - p, 6) for p in middle[-2::-1]]
    return [0.0, *middle, *upper, 1.0]


def capacities(total: float) -> list[float]:
    """Whole numbers from 0 to all rows, close together near 0."""
    places = (np.linspace(0.0, 1.0, STEPS + 1) ** 3 * int(np.ceil(total))).round()
    return [float(place) for place in np.unique(places)]


def threshold_curve(case: Case, board: Board) -> dict[str, Any] | None:
    """Total cost of acting at or above each threshold on the risk."""
    # None if every class, or no class, calls for action.
    if not 0 < len(case.risky) < case.k:
        return None
    act = cheapest_but(board.expected(np.ones(board.shape)), case.nothing)
    order = np.argsort(case.risk, kind="stable")
    risk = case.risk[order]
    idle, acting = case.spent(case.nothing)[order], case.spent(act)[order]
    below = np.concatenate([[0.0], np.cumsum(idle)])
    above = np.concatenate([np.cumsum(acting[::-1])[::-1], [0.0]])
    starts = np.flatnonzero(np.concatenate([[True], risk[1:] > risk[:-1]]))
    marks = np.append(risk[starts], max(1.0, np.nextafter(risk[-1], 2.0)))
    costs = (below + above)[np.append(starts, case.n)]
    lowest = int(costs.argmin())
    shown = evenly(len(costs), lowest)
    stated = None
    if case.k == case.d == 2 and not case.is_per_row:  # the risk at which acting starts to pay
        j, act_ = int(case.risky[0]), 1 - case.nothing
        harm = float(case.matrix[1 - j, act_] - case.matrix[1 - j, case.nothing])
        good = float(case.matrix[j, case.nothing] - case.matrix[j, act_])
        stated = harm / (harm + good)
    return {
        "thresholds": marks[shown],
        "costs": costs[shown],
        "best": (float(marks[lowest]), float(costs[lowest])),
        "chosen": case.total(case.decided),
        "stated": stated,
    }


def evenly(size: int, *keep: int) -> Ints:
    """At most `POINTS` places from first to last, and those to keep."""
    places = np.linspace(0, size - 1, min(size, POINTS)).round().astype(np.intp)
    return np.unique(np.append(places, np.asarray(keep, dtype=np.intp)))


# -- the section --------------------------------------------------------------------------------


def what_if_section(report: ReportData) -> Section:
    """The sliders, where their results appear, and the cost by threshold."""
    case, moves, curve = report.case, report.sliders, report.thresholds
    days = 0 if report.headline.days is None else len(report.headline.days)
    return Section(
        "what-if",
        "What if?",
        "What if?",
        [None if curve is None else _threshold_chart(curve, case.unit)],
        "Move a slider: decisions, counts and the total cost follow at once. Use the arrow "
        "keys for single steps.",
        before=f'<div class="board">{_controls(case, moves, days)}{_results(case, moves)}</div>',
    )


def _controls(case: Case, moves: Sliders, days: int) -> str:
    levers = "".join(
        f'<div class="slider"><label for="factor-{place}">{escape(lever.label)}</label>'
        f'<input type="range" id="factor-{place}" data-lever="{place}">'
        f'<output for="factor-{place}" id="factor-{place}-shown"></output></div>'
        for place, lever in enumerate(moves.levers)
    )
    threshold = ""
    if moves.thresholds:
        risky = ", ".join(texts([case.classes[j] for j in case.risky]))
        threshold = (
            "<fieldset><legend>One threshold for all rows</legend>"
            '<div class="check"><input type="checkbox" id="use-threshold">'
            '<label for="use-threshold">Use a threshold instead of expected cost</label></div>'
            '<div class="slider"><label for="threshold">Act where the probability of '
            f'{escape(risky)} is at least</label><input type="range" id="threshold">'
            '<output for="threshold" id="threshold-shown"></output></div></fieldset>'
        )
    options = "".join(
        f'<option value="{e}"{" selected" * (e == moves.limited)}>{escape(str(label))}</option>'
        for e, label in enumerate(case.decisions)
        if e != case.nothing
    )
    together = f'<p class="fine">Over all {days} days together.</p>' if days else ""
    return (
        '<form class="controls" id="controls" autocomplete="off">'
        f"<fieldset><legend>What mistakes cost</legend>{levers}</fieldset>{threshold}"
        "<fieldset><legend>Capacity</legend>"
        '<div class="check"><input type="checkbox" id="use-capacity">'
        '<label for="use-capacity">Limit how often one decision is taken</label></div>'
        '<div class="pair"><label for="limited">Decision</label>'
        f'<select id="limited">{options}</select></div>'
        '<div class="slider"><label for="capacity">Largest number of rows</label>'
        '<input type="range" id="capacity"><input type="number" id="capacity-exact" min="0" '
        f'step="1" aria-label="Largest number of rows, exact"></div>{together}</fieldset>'
        '<button type="reset" id="reset">Back to the stated costs</button></form>'
    )


def _results(case: Case, moves: Sliders) -> str:
    error = moves.packed.error
    exact = f"Computed from all {case.n:,} rows, to the cent."
    if error is not None:
        exact = (
            f"Computed from {moves.packed.header['rows']:,} bins of the {case.n:,} rows. At "
            f"{error['positions']} random positions the total cost was at most "
            f"{money(error['largest'], case.unit)} ({percent(error['relative'])}) from the exact "
            "one."
        )
    if moves.disagree:
        exact += (
            f" The sliders decide by smallest expected cost; the model decided otherwise on "
            f"{count(moves.disagree)} rows."
        )
    return (
        '<div class="results">'
        '<div class="live" role="status" aria-live="polite" aria-atomic="true">'
        '<p class="label">Total cost</p><p class="big" id="live-cost">…</p>'
        '<p id="live-change"></p><p id="live-nothing"></p></div>'
        '<div class="scroll"><table id="live-counts"><caption>Decisions</caption><thead><tr>'
        '<th scope="col">Decision</th><th scope="col" class="number">Rows</th>'
        '<th scope="col" class="number">Share</th><th scope="col" class="number">Cost</th></tr>'
        "</thead><tbody></tbody></table></div>"
        '<details><summary>By truth and decision</summary><div class="scroll">'
        '<table id="live-outcomes"><caption>Rows and cost by truth and decision</caption>'
        '<thead><tr><th scope="col">Truth</th><th scope="col">Decision</th>'
        '<th scope="col" class="number">Rows</th><th scope="col" class="number">Cost</th></tr>'
        f'</thead><tbody></tbody></table></div></details><p class="fine">{escape(exact)}</p></div>'
    )


def _threshold_chart(curve: dict[str, Any], unit: str) -> Figure:
    some = slice(None, None, max(1, len(curve["costs"]) // 30))
    stated = ""
    if curve["stated"] is not None:
        stated = f" The stated costs imply a threshold of {curve['stated']:.3g}."
    best, cost = curve["best"]
    return Figure(
        "threshold",
        "Total cost by threshold",
        "The line is what each single threshold would cost under the costs set above, without a "
        "limit; the grey one under the stated costs. The point or dashed level is where the "
        f"sliders stand now. On these rows the lowest cost, {money(cost, unit)}, is at "
        f"{best:.3g}.{stated}",
        [],  # drawn by the script, with the sliders
        {"yaxis": charts.axis("Total cost", unit)},
        charts.table(
            "Total cost by threshold, at the stated costs",
            ("Threshold", charts.figures(curve["thresholds"][some], ".4g")),
            ("Total cost", charts.amounts(curve["costs"][some], unit)),
        ),
        wide=True,
    )


# -- if the stated costs are wrong: regret over a grid of factors, and break-even factors --------


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
    lines, regrets = found["lines"], found["grid"]
    if regrets is not None:
        first, second = lines
        read = (
            "Each square: the true costs are these multiples of the stated ones, and decisions are "
            "still made by the stated ones. The stronger the colour, the more the error costs."
        )
        hover = f"{second} %{{x}}<br>{first} %{{y}}<br>regret %{{z:,.2f}}<extra></extra>"
        lowest = min(0.0, float(regrets.min()))
        data = [charts.heat(factors, factors, regrets, "Regret", lowest, hovertemplate=hover)]
        x, y = charts.axis(second, type="category"), charts.axis(first, type="category")
        caption, rows = f"Regret; rows: {first}; columns: {second}", ("True multiple", factors)
    else:
        read = (
            "One cost at a time is this multiple of the stated one, and decisions are still made "
            "by the stated one. A flat line means that the error hardly matters. Below zero, the "
            "stated cost happens to decide better on these rows."
        )
        data = [
            charts.line(name, factors, regret, charts.color(place))
            for place, (name, regret) in enumerate(lines.items())
        ]
        x = charts.axis("True cost, as a multiple of the stated one", type="category")
        y = charts.axis("Regret", unit)
        caption, rows = "Regret by true multiple", ("Cost", list(lines))
        regrets = np.array(list(lines.values())).reshape(-1, len(factors))
    cells = ((name, charts.amounts(regrets[:, c], unit)) for c, name in enumerate(factors))
    title, table = "What a wrong cost would cost", charts.table(caption, rows, *cells)
    return Figure("regret", title, read, data, {"xaxis": x, "yaxis": y}, table)

"""What if? The sliders, the cost by threshold, and what wrong costs would cost."""

from __future__ import annotations

from dataclasses import dataclass
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from costboost._words import count, money, percent
from costboost.decisions import sensitivity
from costboost.metrics import cost_by_threshold
from costboost.report import charts
from costboost.report.board import Board, Packed, cheapest_but, sampling_error, shown_rows
from costboost.report.case import Case, sums
from costboost.report.charts import Figure, Section

if TYPE_CHECKING:
    from costboost.report.page import ReportData

FACTORS = (
    0.0,
    *(0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    1.0,
    *(1.1, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 5.0, 7.5, 10.0),
)
STEPS = 100
# Costs that are tried out as wrong: those of most money.
MOST_ENTRIES = 6


@dataclass(frozen=True, eq=False)
class Sliders:
    """Positions that the sliders can take, and the rows they act on."""

    thresholds: list[float]
    capacities: list[float]
    limited: int  # the decision that the page limits at first
    rows: int
    packed: Packed
    error: float  # of the total cost, if the rows are a sample
    disagree: float  # rows that the model decided otherwise than the sliders do


def sliders(case: Case, board: Board) -> Sliders:
    """Sliders of a case."""
    # A decision that is no class's right one, such as a review; else the commonest action.
    between = [e for e in range(case.d) if e != case.idle and e not in case.right]
    taken = sums(case.decided, case.weights, case.d)
    if case.idle is not None:
        taken[case.idle] = -1.0
    shown = shown_rows(case)
    return Sliders(
        thresholds() if len(case.risky) else [],
        capacities(float(case.weights.sum())),
        between[0] if between else int(taken.argmax()),
        shown.n,
        Packed(shown),
        0.0 if shown is case else sampling_error(board, Board(shown)),
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
    """Total cost at each threshold that the slider can take; None without a threshold."""
    # Prices of two rows could be taken for a matrix.
    if case.idle is None or not len(case.risky) or case.n == 2:
        return None
    act = cheapest_but(board.expected(), case.idle)
    both = np.column_stack([case.prices[:, case.idle], case.prices[np.arange(case.n), act]])
    risks, totals = cost_by_threshold(
        np.isin(case.codes, case.risky),
        case.risk,
        costs=both,
        labels=[False, True],
        positive=True,
        sample_weight=case.weights,
    )
    marks = np.array(thresholds())
    costs = totals[np.searchsorted(risks, marks)]
    lowest = int(costs.argmin())
    stated = None
    if case.k == case.d == 2 and case.matrix.ndim == 2:  # the risk at which acting starts to pay
        j, other = int(case.risky[0]), 1 - case.idle
        harm = float(case.matrix[1 - j, other] - case.matrix[1 - j, case.idle])
        good = float(case.matrix[j, case.idle] - case.matrix[j, other])
        stated = harm / (harm + good)
    return {
        "thresholds": marks,
        "costs": costs,
        "best": (float(marks[lowest]), float(costs[lowest])),
        "stated": stated,
    }


# -- the section --------------------------------------------------------------------------------


def what_if_section(report: ReportData) -> Section:
    """The sliders, where their results appear, and the cost by threshold."""
    case, curve = report.case, report.thresholds
    return Section(
        "what-if",
        "What if?",
        "What if?",
        [None if curve is None else _threshold_chart(curve, case)],
        "Move a slider: decisions, counts and the total cost follow at once. Use the arrow "
        "keys for single steps.",
        before=f'<div class="board">{_controls(report)}{_results(case, report.sliders)}</div>',
    )


def rule_in_words(case: Case) -> str:
    """What a threshold does."""
    risky = " or ".join(case.classes[j] for j in case.risky)
    if case.d == 2 and case.idle is not None:
        return (
            f"Decide {case.decisions[1 - case.idle]} where the probability of {risky} is at least"
        )
    idle = case.decisions[case.idle or 0]
    return f"Decide otherwise than {idle} where the probability of {risky} is at least"


def _controls(report: ReportData) -> str:
    case, moves = report.case, report.sliders
    levers = "".join(
        f'<div class="slider"><label for="factor-{place}">{escape(label)}</label>'
        f'<input type="range" id="factor-{place}" data-lever="{place}">'
        f'<output for="factor-{place}" id="factor-{place}-shown"></output></div>'
        for place, label in enumerate(report.board.levers)
    )
    threshold = ""
    if moves.thresholds:
        threshold = (
            "<fieldset><legend>One threshold for all rows</legend>"
            '<div class="check"><input type="checkbox" id="use-threshold">'
            '<label for="use-threshold">Use a threshold instead of expected cost</label></div>'
            f'<div class="slider"><label for="threshold">{escape(rule_in_words(case))}</label>'
            '<input type="range" id="threshold">'
            '<output for="threshold" id="threshold-shown"></output></div></fieldset>'
        )
    options = "".join(
        f'<option value="{e}"{" selected" * (e == moves.limited)}>{escape(label)}</option>'
        for e, label in enumerate(case.decisions)
        if e != case.idle
    )
    days = report.headline.days
    together = "" if days is None else f'<p class="fine">Over all {len(days)} days together.</p>'
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
    exact = f"Computed from all {case.n:,} rows, to the cent."
    if moves.rows < case.n:
        exact = (
            f"Computed from a sample of {moves.rows:,} of the {case.n:,} rows, which stands for "
            "all of them. At random positions of the sliders the total cost was at most "
            f"{percent(moves.error)} from the exact one."
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
        '<p id="live-change"></p><p id="live-constant"></p></div>'
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


def _threshold_chart(curve: dict[str, Any], case: Case) -> Figure:
    some = slice(None, None, max(1, len(curve["costs"]) // 30))
    best, cost = curve["best"]
    stated = ""
    if curve["stated"] is not None:
        stated = f" The stated costs imply a threshold of {curve['stated']:.3g}."
    return Figure(
        "threshold",
        "Total cost by threshold",
        f"{rule_in_words(case)} the threshold. The line is what that would cost under the costs "
        "set above, without a limit; the grey one under the stated costs. The point or dashed "
        f"level is where the sliders stand now.{stated} In hindsight, {best:g} would have been the "
        f"best threshold for these rows ({money(cost, case.unit)}); on new rows it need not be.",
        [],  # drawn by the script, with the sliders
        {"yaxis": charts.axis("Total cost", case.unit)},
        charts.table(
            "Total cost by threshold, at the stated costs",
            ("Threshold", charts.figures(curve["thresholds"][some])),
            ("Total cost", charts.amounts(curve["costs"][some], case.unit)),
        ),
        wide=True,
    )


# -- if the stated costs are wrong ---------------------------------------------------------------


def wrong_costs(case: Case, board: Board) -> dict[str, Any] | None:
    """Regret by factor of a cost, and the factors between which the model beats every constant."""
    # None if only what decisions cost afterwards is known: then no cost was stated.
    if case.costs.matrix is None:
        return None
    # The costs with most money behind them: mean cost times rows of the truth.
    stake = np.abs(case.average) * sums(case.codes, case.weights, case.k)[:, None]
    cells = np.logical_or.reduce([*board.levers.values(), np.zeros(stake.shape, dtype=bool)])
    ranked = np.argsort(-np.where(cells, stake, -1.0), axis=None, kind="stable")
    pairs = [divmod(int(place), case.d) for place in ranked[: min(MOST_ENTRIES, cells.sum())]]
    if not pairs:
        return None
    found = sensitivity(
        case.proba, case.matrix, case.codes, entries=pairs, sample_weight=case.weights,
        decisions=np.arange(case.d), classes=np.arange(case.k),
    )  # fmt: skip
    named = {
        pair: f"Deciding {case.decisions[pair[1]]} when it is {case.classes[pair[0]]}"
        for pair in pairs
    }

    def ends(pair: tuple[int, int]) -> tuple[float, float]:
        rivals = [
            row for row in found.crossings if row["entry"] == pair and "always" in row["rival"]
        ]
        below, above = ([row[key] for row in rivals] for key in ("cheaper_below", "cheaper_above"))
        return float(np.nanmax([0.0, *below])), float(np.nanmin([np.inf, *above]))

    return {
        "factors": np.array(sorted({row["factor"] for row in found.rows})),
        "regret": {
            name: np.array([row["regret"] for row in found.rows if row["entry"] == pair])
            for pair, name in named.items()
        },
        "break_even": {name: ends(pair) for pair, name in named.items()},
    }


def wrong_costs_section(report: ReportData) -> Section | None:
    """How wrong one cost may be, and what a wrong one would cost."""
    found, unit = report.sensitivity, report.case.unit
    if found is None:
        return None
    factors, lines = [f"×{f:.3g}" for f in found["factors"]], found["regret"]
    even = charts.table(
        "Break-even: how wrong one cost may be before a constant decision becomes cheaper than the "
        "decisions of smallest expected cost",
        ("Cost", list(lines)),
        ("It pays while the true cost is", [_limits(*e) for e in found["break_even"].values()]),
    )
    chart = Figure(
        "regret",
        "What a wrong cost would cost",
        "One cost at a time is this multiple of the stated one, and decisions are still made by "
        "the stated one. A flat line means that the error hardly matters. Below zero, the stated "
        "cost happens to decide better on these rows.",
        [
            charts.line(name, factors, regret, charts.color(place), mode="lines+markers")
            for place, (name, regret) in enumerate(lines.items())
        ],
        {
            "xaxis": charts.axis("True cost, as a multiple of the stated one", type="category"),
            "yaxis": charts.axis("Regret", unit),
            "height": 320 + 24 * len(lines),
        },
    )
    return Section(
        "wrong-costs",
        "Wrong costs",
        "If the stated costs are wrong",
        [chart],
        "Costs are estimates. This shows how much that matters.",
        before=even,
    )


def _limits(low: float, high: float) -> str:
    def times(factor: float) -> str:
        return f"{factor:.3g}" if factor < 100 else f"{factor:,.0f}"

    if low >= high:
        return "not at the stated cost: a constant decision is cheaper"
    if low <= 0:
        if np.isinf(high):
            return "any multiple of the stated one"
        return f"below {times(high)} times the stated one"
    if np.isinf(high):
        return f"above {times(low)} times the stated one"
    return f"{times(low)} to {times(high)} times the stated one"

"""What if? The sliders, and how wrong a cost may be."""

from __future__ import annotations

from html import escape
from typing import Any

import numpy as np

from costboost._typing import AnyArray, Floats
from costboost._words import count, number, percent
from costboost.decisions import sensitivity
from costboost.report import charts
from costboost.report.case import Case, ReportData, sums
from costboost.report.charts import Section

FACTORS = (
    0.0,
    *(0.1, 0.2, 0.25, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9),
    1.0,
    *(1.1, 1.25, 1.5, 1.75, 2.0, 2.5, 3.0, 4.0, 5.0, 7.5, 10.0),
)
STEPS = 100
# Costs that are tried out as wrong: those of most money.
MOST_ENTRIES = 6


# The page holds at most this many rows, and numbers; of more rows it holds a sample.
MOST_ROWS, MOST_NUMBERS = 100_000, 1_200_000


def sliders(case: Case) -> dict[str, Any]:
    """Positions that the sliders can take, and the rows they act on."""
    shown = shown_rows(case)
    disagree = case.operating_point().decided != case.decided
    # Whole numbers from 0 to all rows, close together near 0.
    capacities = np.linspace(0.0, 1.0, STEPS + 1) ** 3 * np.ceil(case.weights.sum())
    return {
        "capacities": np.unique(capacities.round()).tolist(),
        "rows": shown.n,
        "packed": packed(shown),
        "error": 0.0 if shown is case else sampling_error(case, shown),
        "disagree": float(case.weights[disagree].sum()),
    }


# -- the rows that the page embeds, all or a sample ------------------------------------------------


def shown_rows(case: Case) -> Case:
    """All rows, or a sample whose weights make it stand for all of them."""
    width = case.k + (case.k * case.d if case.matrix.ndim == 3 else 0)
    if case.costs.matrix is None:
        width += case.d
    most = min(MOST_ROWS, MOST_NUMBERS // width)
    if case.n <= most:
        return case
    # Rows are drawn by their share of rows and money, at even steps along an order in which
    # neighbours are alike: every total is right on average, and close.
    money = np.ptp(case.prices, axis=1) * case.weights
    size = case.weights / case.weights.sum() + money / max(money.sum(), np.finfo(float).tiny)
    order = np.lexsort((case.risk, case.proba[:, 0], case.decided, case.codes))
    ends = np.cumsum(size[order])
    marks = (np.arange(most) + 0.5) * (ends[-1] / most)
    drawn, times = np.unique(order[np.searchsorted(ends, marks)], return_counts=True)
    return case.take(drawn, case.weights[drawn] * times * ends[-1] / (most * size[drawn]))


def sampling_error(case: Case, sample: Case) -> float:
    """Largest relative error of the sample's total cost at random positions of the sliders."""
    rng = np.random.default_rng(0)
    largest = 0.0
    for _ in range(20):
        values = np.exp(rng.uniform(-1.4, 1.4, len(case.levers)))
        at = values, rng.uniform(0, case.weights.sum()), int(rng.integers(case.d))
        exact, found = (one.operating_point(*at).cost for one in (case, sample))
        largest = max(largest, abs(found - exact) / abs(exact) if exact else 0.0)
    return largest


def packed(case: Case) -> tuple[dict[str, Any], bytes]:
    """Columns of rows in one buffer, and a header that says how to read them."""
    buffer = bytearray()

    def array(values: AnyArray) -> dict[str, Any]:
        """Append an array; return its type, place and length."""
        buffer.extend(b"\0" * (-len(buffer) % 8))
        place = len(buffer)
        buffer.extend(values.astype(values.dtype.newbyteorder("<")).tobytes())
        return {"type": values.dtype.name, "at": place, "length": len(values)}

    def column(values: Floats | float) -> dict[str, Any]:
        """Append a column of numbers, unless one number says it all."""
        numbers = np.atleast_1d(np.asarray(values, dtype=np.float64))
        return {"constant": float(numbers[0])} if np.ptp(numbers) == 0 else array(numbers)

    known = case.costs.matrix is not None
    header = {
        "rows": case.n,
        "truth": array(case.codes.astype(np.min_scalar_type(case.k - 1))),
        "weights": column(case.weights),
        "proba": [column(p) for p in case.proba.T],
        "costs": [[column(case.matrix[..., j, e]) for e in range(case.d)] for j in range(case.k)],
        # None: the price is the cost of the row's truth.
        "prices": None if known else [column(price) for price in case.prices.T],
    }
    return header, bytes(buffer)


# -- the section --------------------------------------------------------------------------------


def what_if_section(report: ReportData) -> Section:
    """The sliders, and where their results appear."""
    lead = (
        "Move a slider: decisions, counts and the total cost follow at once. Use the arrow keys "
        "for single steps."
    )
    board, even = _board(report), ""
    if report.break_even is not None:
        table = charts.table(
            "Break-even: how wrong one cost may be before a constant decision becomes cheaper than "
            "the decisions of smallest expected cost",
            ("Cost", list(report.break_even)),
            ("It pays while the true cost is", [_limits(*e) for e in report.break_even.values()]),
        )
        even = f'<div class="framed">{table}</div>'
    return Section("what-if", "What if?", "What if?", lead=lead, before=board, after=even)


def _slider(place: int, label: str) -> str:
    name = f"factor-{place}"
    return (
        f'<div class="slider"><label for="{name}">{escape(label)}</label>'
        f'<input type="range" id="{name}">'
        f'<output for="{name}" id="{name}-shown"></output></div>'
    )


def _board(report: ReportData) -> str:
    """The sliders, and where their results appear."""
    case, moves, days = report.case, report.sliders, report.headline.days
    exact = f"Computed from all {case.n:,} rows, to the cent."
    if moves["rows"] < case.n:
        exact = (
            f"Computed from a sample of {moves['rows']:,} of the {case.n:,} rows, which stands for "
            "all of them. At random positions of the sliders the total cost was at most "
            f"{percent(moves['error'])} from the exact one."
        )
    if moves["disagree"]:
        exact += (
            f" The sliders decide by smallest expected cost; the model decided otherwise on "
            f"{count(moves['disagree'])} rows."
        )
    return charts.filled(
        "what_if.html",
        levers="".join(map(_slider, range(len(case.levers)), case.levers)),
        decisions="".join(
            f'<option value="{e}">{escape(label)}</option>'
            for e, label in enumerate(case.decisions)
            if e != case.idle
        ),
        period="" if days is None else f'<p class="fine">Over all {len(days)} days.</p>',
        exact=escape(exact),
    )


# -- if the stated costs are wrong ---------------------------------------------------------------


def break_even(case: Case) -> dict[str, tuple[float, float]] | None:
    """Factors of a cost between which the model beats every constant decision."""
    # None if only what decisions cost afterwards is known: then no cost was stated.
    if case.costs.matrix is None:
        return None
    # The costs with most money behind them: mean cost times rows of the truth.
    stake = np.abs(case.average) * sums(case.codes, case.weights, case.k)[:, None]
    cells = np.logical_or.reduce([*case.levers.values(), np.zeros(stake.shape, dtype=bool)])
    ranked = np.argsort(-np.where(cells, stake, -1.0), axis=None, kind="stable")
    pairs = [divmod(int(place), case.d) for place in ranked[: min(MOST_ENTRIES, cells.sum())]]
    if not pairs:
        return None
    crossings = sensitivity(
        case.proba, case.matrix, case.codes, factors=[1], entries=pairs, sample_weight=case.weights
    ).crossings

    def ends(pair: tuple[int, int]) -> tuple[float, float]:
        rivals = [row for row in crossings if row["entry"] == pair and "always" in row["rival"]]
        below, above = ([row[key] for row in rivals] for key in ("cheaper_below", "cheaper_above"))
        return float(np.nanmax([0.0, *below])), float(np.nanmin([np.inf, *above]))

    return {case.mistake(*pair): ends(pair) for pair in pairs}


def _limits(low: float, high: float) -> str:
    if low >= high:
        return "not at the stated cost: a constant decision is cheaper"
    ends = (("above", low), ("below", high))
    known = [f"{word} {number(end)}" for word, end in ends if 0 < end < np.inf]
    return f"{' and '.join(known) + ' times' if known else 'any multiple of'} the stated one"

"""The sliders of the page and the results they move."""

from __future__ import annotations

from html import escape

from costboost.report.case import Case, texts
from costboost.report.data import ReportData
from costboost.report.page.figure import Figure, money_axis
from costboost.report.page.words import Cell, Table, count, money, percent

__all__ = ["board_html", "threshold_chart"]


def board_html(report: ReportData) -> str:
    """The sliders, and where their results appear."""
    moves, case = report.sliders, report.case
    if moves.packed.error is None:
        exact = f"Computed from all {case.n:,} rows, to the cent."
    else:
        error = moves.packed.error
        exact = (
            f"Computed from {moves.packed.header['rows']:,} bins of the {case.n:,} rows. At "
            f"{error.positions} random positions the total cost was at most "
            f"{money(error.largest, case.unit)} ({percent(error.relative)}) from the exact one."
        )
    if moves.disagree:
        exact += (
            f" The sliders decide by smallest expected cost; the model decided otherwise on "
            f"{count(moves.disagree)} rows."
        )
    lever_html = "".join(_lever(place, lever.label) for place, lever in enumerate(moves.levers))
    controls = (
        '<form class="controls" id="controls" autocomplete="off">'
        f"<fieldset><legend>What mistakes cost</legend>{lever_html}</fieldset>"
        f"{_threshold_control(case) if moves.thresholds else ''}{_capacity_control(report)}"
        '<button type="reset" id="reset">Back to the stated costs</button></form>'
    )
    outputs = (
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
    return f'<div class="board">{controls}{outputs}</div>'


def _lever(place: int, label: str) -> str:
    return (
        f'<div class="slider"><label for="factor-{place}">{escape(label)}</label>'
        f'<input type="range" id="factor-{place}" data-lever="{place}">'
        f'<output for="factor-{place}" id="factor-{place}-shown"></output></div>'
    )


def _threshold_control(case: Case) -> str:
    risky = ", ".join(texts([case.classes[j] for j in case.risky]))
    return (
        "<fieldset><legend>One threshold for all rows</legend>"
        '<div class="check"><input type="checkbox" id="use-threshold">'
        '<label for="use-threshold">Use a threshold instead of expected cost</label></div>'
        '<div class="slider"><label for="threshold">Act where the probability of '
        f"{escape(risky)} is at least</label>"
        '<input type="range" id="threshold"><output for="threshold" id="threshold-shown"></output>'
        "</div></fieldset>"
    )


def _capacity_control(report: ReportData) -> str:
    case = report.case
    options = "".join(
        f'<option value="{e}"{" selected" if e == report.sliders.limited else ""}>'
        f"{escape(str(label))}</option>"
        for e, label in enumerate(case.decisions)
        if e != case.nothing
    )
    days = ""
    if report.headline.daily is not None:
        length = len(report.headline.daily.days)
        days = f'<p class="fine">Over all {length} days together.</p>'
    return (
        "<fieldset><legend>Capacity</legend>"
        '<div class="check"><input type="checkbox" id="use-capacity">'
        '<label for="use-capacity">Limit how often one decision is taken</label></div>'
        '<div class="pair"><label for="limited">Decision</label>'
        f'<select id="limited">{options}</select></div>'
        '<div class="slider"><label for="capacity">Largest number of rows</label>'
        '<input type="range" id="capacity"><input type="number" id="capacity-exact" min="0" '
        f'step="1" aria-label="Largest number of rows, exact"></div>{days}</fieldset>'
    )


def threshold_chart(report: ReportData) -> Figure | None:
    """Cost by threshold; the page's script draws it again whenever a slider moves."""
    curve, unit = report.thresholds, report.case.unit
    if curve is None:
        return None
    shown = list(range(0, len(curve.costs), max(1, len(curve.costs) // 30)))
    stated = ""
    if curve.stated is not None:
        stated = f" The stated costs imply a threshold of {curve.stated:.3g}."
    return Figure(
        "threshold",
        "Total cost by threshold",
        "The line is what each single threshold would cost under the costs set above, without a "
        "limit; the grey one under the stated costs. The point or dashed level is where the "
        f"sliders stand now. On these rows the lowest cost, {money(curve.best[1], unit)}, is at "
        f"{curve.best[0]:.3g}.{stated}",
        [],  # drawn by the script, with the sliders
        {"yaxis": money_axis("Total cost", unit)},
        Table(
            "Total cost by threshold, at the stated costs",
            ["Threshold", "Total cost"],
            [
                [
                    Cell(f"{curve.thresholds[i]:.4g}", float(curve.thresholds[i])),
                    Cell(money(curve.costs[i], unit, cents=True), float(curve.costs[i])),
                ]
                for i in shown
            ],
        ),
        wide=True,
    )

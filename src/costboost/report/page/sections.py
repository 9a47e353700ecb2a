"""The page's sections, from the parts of a report to HTML."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

import numpy as np

from costboost.report.case import Case, texts
from costboost.report.data import ReportData
from costboost.report.data.headline import Interval, Rule
from costboost.report.data.sensitivity import BreakEven
from costboost.report.page import figures
from costboost.report.page.figures import Figure
from costboost.report.page.words import Cell, Table, count, money, percent

__all__ = ["Section", "sections"]


@dataclass(frozen=True, eq=False)
class Section:
    """A part of the page with a heading.

    Attributes
    ----------
    name, title, lead : str
        Identifier, heading, first sentence.
    html : str
        What stands before the charts.
    figures : list of Figure
        The charts.
    after : str
        What stands after them.
    """

    name: str
    title: str
    lead: str
    html: str
    figures: list[Figure]
    after: str = ""

    def text(self) -> str:
        """The section as HTML."""
        charts = "".join(figure.html() for figure in self.figures)
        grid = f'<div class="charts">{charts}</div>' if charts else ""
        lead = f'<p class="lead">{self.lead}</p>' if self.lead else ""
        return (
            f'<section id="{self.name}" aria-labelledby="{self.name}-title">'
            f'<h2 id="{self.name}-title">{escape(self.title)}</h2>{lead}{self.html}{grid}'
            f"{self.after}</section>"
        )


def sections(report: ReportData) -> list[Section]:
    """All sections, in the order of the page."""
    return [
        _headline(report),
        _live(report),
        _decisions(report),
        _wrong_costs(report),
        _money(report),
        *_features(report),
        _about(report),
    ]


def _present(charts: Iterable[Figure | None]) -> list[Figure]:
    return [chart for chart in charts if chart is not None]


# -- headline ----------------------------------------------------------------------------------


def _headline(report: ReportData) -> Section:
    head, unit = report.headline, report.case.unit
    nothing = head.rule("nothing")
    days = 0 if head.daily is None else len(head.daily.days)
    cards = "".join(
        _card(head.rule(key), unit, days) for key in ("nothing", "constant", "likeliest")
    )
    model = head.rule("model").cost
    possible = nothing.cost.value - head.perfect
    reached = ""
    if possible > 0:
        reached = (
            f" Deciding every row right would have cost {money(head.perfect, unit)}; the model "
            f"reaches {percent(nothing.saving.value / possible)} of the possible saving."
        )
    facts = (
        f"On {count(head.rows)} rows that the model is judged on, its decisions cost "
        f"<strong>{money(model.value, unit)}</strong> "
        f"(95 % interval {money(model.low, unit)} to {money(model.high, unit)}).{reached} "
        f"Intervals come from drawing {head.unit}s anew."
    )
    return Section(
        "headline",
        _verdict(nothing, unit),
        facts,
        f'<div class="cards">{cards}</div>',
        _present([figures.headline_chart(head, unit), figures.daily_chart(head, unit)]),
    )


def _verdict(rule: Rule, unit: str) -> str:
    saving = rule.saving
    if saving.low > 0:
        return f"The model saves {money(saving.value, unit)} against doing nothing"
    if saving.high < 0:
        return f"The model costs {money(-saving.value, unit)} more than doing nothing"
    return "The model and doing nothing cost about the same"


def _card(rule: Rule, unit: str, days: int) -> str:
    saving = rule.saving
    kind, note = "good", "saved"
    if saving.high < 0:
        kind, note = "bad", "lost"
    elif saving.low <= 0:
        kind, note = "even", "saved, but this may be chance"
    share = ""
    if rule.cost.value > 0:
        share = (
            f"<p>{percent(saving.value / rule.cost.value)} of {money(rule.cost.value, unit)}</p>"
        )
    daily = ""
    if days:
        daily = f"<p>{_span(_divided(saving, days), unit)} a day</p>"
    return (
        f'<div class="card {kind}"><h3>Against: {escape(rule.name)}</h3>'
        f'<p class="big">{money(abs(saving.value) if kind == "bad" else saving.value, unit)}</p>'
        f'<p class="note">{note}</p>'
        f"<p>95 % interval {money(saving.low, unit)} to {money(saving.high, unit)}</p>"
        f"{share}{daily}</div>"
    )


def _divided(span: Interval, by: float) -> Interval:
    return Interval(span.value / by, span.low / by, span.high / by)


def _span(span: Interval, unit: str) -> str:
    return f"{money(span.value, unit)} ({money(span.low, unit)} to {money(span.high, unit)})"


# -- sliders -----------------------------------------------------------------------------------


def _live(report: ReportData) -> Section:
    moves, case = report.sliders, report.case
    if moves.packed.error is None:
        exact = f"Computed from all {case.n:,} rows, to the cent."
    else:
        error = moves.packed.error
        exact = (
            f"Computed from {moves.packed.header['rows']:,} bins of the {case.n:,} rows. At "
            f"{error.positions} random positions the total was at most "
            f"{money(error.largest, case.unit)} ({percent(error.relative)}) away from the exact one."
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
        '<div class="results"><div class="live" role="status" aria-live="polite" aria-atomic="true">'
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
        f'</thead><tbody></tbody></table></div></details><p class="fine">{exact}</p></div>'
    )
    return Section(
        "what-if",
        "What if?",
        "Move a slider: decisions, counts and the total cost follow at once. Use the arrow keys for "
        "single steps.",
        f'<div class="board">{controls}{outputs}</div>',
        _present([_threshold_chart(report)]),
    )


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
        '<div class="slider"><label for="capacity">Most rows</label>'
        '<input type="range" id="capacity"><input type="number" id="capacity-exact" min="0" '
        f'step="1" aria-label="Most rows, exact number"></div>{days}</fieldset>'
    )


def _threshold_chart(report: ReportData) -> Figure | None:
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
        {"yaxis": figures.money_axis("Total cost", unit)},
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


# -- the other sections ------------------------------------------------------------------------


def _decisions(report: ReportData) -> Section:
    case = report.case
    curve = None if report.cost_curve is None else figures.cost_curve_chart(report.cost_curve)
    capacities = [curve for curve in report.capacities if curve.wanted > 0]
    return Section(
        "decisions",
        "How good are the decisions?",
        "",
        "",
        _present(
            [
                figures.share_chart(report.shares, case.unit),
                *(figures.capacity_chart(case, curve) for curve in capacities[:4]),
                curve,
                figures.calibration_chart(report.calibrations),
                figures.rounds_chart(report.rounds, case.unit),
            ]
        ),
    )


def _wrong_costs(report: ReportData) -> Section:
    rows = [[even.lever, _limits(even)] for even in report.sensitivity.break_even]
    table = Table(
        "Break-even: how wrong one cost may be before a constant decision becomes cheaper than the "
        "model's decisions",
        ["Cost", "The model pays while the true cost is"],
        rows,
    )
    return Section(
        "wrong-costs",
        "If the stated costs are wrong",
        "Costs are estimates. This shows how much that matters.",
        table.html(),
        [figures.regret_chart(report.sensitivity, report.case.unit)],
    )


def _limits(even: BreakEven) -> str:
    if np.isnan(even.low):
        return "never: a constant decision is cheaper at any multiple"
    if even.low <= 0 and np.isinf(even.high):
        return "any multiple of the stated one"
    if even.low <= 0:
        return f"below {even.high:,.3g} times the stated one"
    if np.isinf(even.high):
        return f"above {even.low:,.3g} times the stated one"
    return f"{even.low:,.3g} to {even.high:,.3g} times the stated one"


def _money(report: ReportData) -> Section:
    case = report.case
    charts = [figures.outcomes_chart(case, report.outcomes)]
    if case.amount is not None:
        charts.append(
            figures.groups_chart(
                "deciles",
                f"Cost by {case.amount[0]}, tenths of the rows",
                report.deciles,
                case.unit,
                "Each group has about a tenth of the rows. The model earns its keep where its bar "
                "is much shorter.",
            )
        )
    charts += [
        figures.groups_chart(
            f"segment-{place}",
            f"Cost by {name}",
            groups,
            case.unit,
            "Groups in which the model's bar is as long as the other one are where better data "
            "would pay first.",
        )
        for place, (name, groups) in enumerate(report.segments.items())
    ]
    return Section("money", "Where the money goes", "", "", charts, _mistakes(report))


def _mistakes(report: ReportData) -> str:
    unit = report.case.unit
    if not report.mistakes:
        return "<h3>The most expensive mistakes</h3><p>There are none.</p>"
    reasons = any(mistake.reasons for mistake in report.mistakes)
    head = ["Row", "Truth", "Decided", "Cheapest", "Cost", "Avoidable", "Probability of the truth"]
    rows = [
        [
            mistake.row,
            mistake.truth,
            mistake.decided,
            mistake.cheapest,
            Cell(money(mistake.paid, unit, cents=True), mistake.paid),
            Cell(money(mistake.avoidable, unit, cents=True), mistake.avoidable),
            Cell(f"{mistake.probability:.4f}", mistake.probability),
            *(
                [
                    "; ".join(
                        f"{name} = {value} ({'+' if part > 0 else ''}{money(part, unit)})"
                        for name, value, part in mistake.reasons
                    )
                ]
                if reasons
                else []
            ),
        ]
        for mistake in report.mistakes
    ]
    note = (
        "<p>Reasons are the features that moved the expected saving most: + spoke for the decision "
        "taken, − against it.</p>"
        if reasons
        else ""
    )
    table = Table(
        f"The {len(rows)} rows that cost most more than their cheapest decision",
        [*head, *(["Reasons"] if reasons else [])],
        rows,
        sortable=True,
    )
    return (
        '<h3 id="mistakes">The most expensive mistakes</h3>'
        f'<p>Press a heading to sort.</p>{note}<div class="tall">{table.html()}</div>'
    )


def _features(report: ReportData) -> list[Section]:
    if report.features is None:
        return []
    unit = report.case.unit
    return [
        Section(
            "features",
            "What the decisions rest on",
            "",
            "",
            [
                figures.features_chart(report.features, unit),
                *(
                    figures.effect_chart(effect, place, unit)
                    for place, effect in enumerate(report.features.effects)
                ),
            ],
        )
    ]


def _about(report: ReportData) -> Section:
    about = report.about
    costs = "".join(f"<li>{escape(sentence)}</li>" for sentence in about.costs)
    lists = "".join(
        f"<div><h3>{title}</h3><dl>"
        + "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in pairs)
        + "</dl></div>"
        for title, pairs in (
            ("Data", about.data),
            ("Settings", about.settings),
            ("Versions", about.versions),
        )
        if pairs
    )
    return Section(
        "about",
        "Data, costs and settings",
        "",
        f'<div class="facts"><div class="stated"><h3>The costs in words</h3><ul>{costs}</ul></div>'
        f"{lists}</div>",
        [],
    )

"""The page's sections, from the parts of a report to HTML."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from html import escape

import numpy as np

from costboost.report.data import ReportData
from costboost.report.data.headline import Rule
from costboost.report.data.sensitivity import BreakEven
from costboost.report.page import curve_charts, money_charts
from costboost.report.page.controls import board_html, threshold_chart
from costboost.report.page.figure import Figure
from costboost.report.page.words import Cell, Row, Table, count, money, percent, span

__all__ = ["Section", "sections"]


@dataclass(frozen=True, eq=False)
class Section:
    """A part of the page with a heading."""

    name: str
    menu: str
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
        Section(
            "what-if",
            "What if?",
            "What if?",
            "Move a slider: decisions, counts and the total cost follow at once. Use the arrow "
            "keys for single steps.",
            board_html(report),
            _present([threshold_chart(report)]),
        ),
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
    safe = escape(unit)
    nothing = head.rule("nothing")
    days = 0 if head.daily is None else len(head.daily.days)
    cards = "".join(
        _card(head.rule(key), safe, days) for key in ("nothing", "constant", "likeliest")
    )
    model = head.rule("model").cost
    possible = nothing.cost.value - head.perfect
    reached = ""
    if possible > 0:
        reached = (
            f" Deciding every row right would have cost {money(head.perfect, safe)}; the model "
            f"reaches {percent(nothing.saving.value / possible)} of the possible saving."
        )
    facts = (
        f"On the {count(head.rows)} rows of this report the model's decisions cost "
        f"<strong>{money(model.value, safe)}</strong> "
        f"(95 % interval {span(model.low, model.high, safe)}).{reached} "
        f"Intervals come from resampling {head.unit}s."
    )
    return Section(
        "headline",
        "Summary",
        _verdict(nothing, unit),
        facts,
        f'<div class="cards">{cards}</div>',
        _present([curve_charts.headline_chart(head, unit), curve_charts.daily_chart(head, unit)]),
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
        each = span(saving.low / days, saving.high / days, unit)
        daily = f"<p>{money(saving.value / days, unit)} a day ({each})</p>"
    return (
        f'<div class="card {kind}"><h3>Against: {escape(rule.name)}</h3>'
        f'<p class="big">{money(abs(saving.value) if kind == "bad" else saving.value, unit)}</p>'
        f'<p class="note">{note}</p>'
        f"<p>95 % interval {span(saving.low, saving.high, unit)}</p>"
        f"{share}{daily}</div>"
    )


# -- the other sections ------------------------------------------------------------------------


def _decisions(report: ReportData) -> Section:
    case = report.case
    curve = None if report.cost_curve is None else curve_charts.cost_curve_chart(report.cost_curve)
    capacities = [curve for curve in report.capacities if curve.wanted > 0]
    return Section(
        "decisions",
        "Decisions",
        "How good are the decisions?",
        "",
        "",
        _present(
            [
                curve_charts.share_chart(report.shares, case.unit),
                *(curve_charts.capacity_chart(case, curve) for curve in capacities[:4]),
                curve,
                curve_charts.calibration_chart(report.calibrations),
                curve_charts.rounds_chart(report.rounds, case.unit),
            ]
        ),
    )


def _wrong_costs(report: ReportData) -> Section:
    rows: list[Row] = [[even.lever, _limits(even)] for even in report.sensitivity.break_even]
    table = Table(
        "Break-even: how wrong one cost may be before a constant decision becomes cheaper than the "
        "model's decisions",
        ["Cost", "The model pays while the true cost is"],
        rows,
    )
    return Section(
        "wrong-costs",
        "Wrong costs",
        "If the stated costs are wrong",
        "Costs are estimates. This shows how much that matters.",
        table.html(),
        [money_charts.regret_chart(report.sensitivity, report.case.unit)],
    )


def _limits(even: BreakEven) -> str:
    if np.isnan(even.low):
        return "never: a constant decision is cheaper at any multiple"
    if even.low <= 0 and np.isinf(even.high):
        return "any multiple of the stated one"
    if even.low <= 0:
        return f"below {_times(even.high)} times the stated one"
    if np.isinf(even.high):
        return f"above {_times(even.low)} times the stated one"
    return f"{_times(even.low)} to {_times(even.high)} times the stated one"


def _times(factor: float) -> str:
    return f"{factor:.3g}" if factor < 100 else f"{factor:,.0f}"


def _money(report: ReportData) -> Section:
    case = report.case
    charts = [money_charts.outcomes_chart(case, report.outcomes)]
    if case.amount is not None:
        charts.append(
            money_charts.groups_chart(
                "deciles",
                f"Cost by {case.amount[0]}, tenths of the rows",
                report.deciles,
                case.unit,
                "Each group has about a tenth of the rows. The model saves most where its bar is "
                "much shorter.",
            )
        )
    charts += [
        money_charts.groups_chart(
            f"segment-{place}",
            f"Cost by {name}",
            groups,
            case.unit,
            "Groups in which the model's bar is as long as the other one are where better data "
            "would pay first.",
        )
        for place, (name, groups) in enumerate(report.segments.items())
    ]
    return Section(
        "money", "Where money goes", "Where the money goes", "", "", charts, _mistakes(report)
    )


def _mistakes(report: ReportData) -> str:
    unit = report.case.unit
    if not report.mistakes:
        return "<h3>The most expensive mistakes</h3><p>There are none.</p>"
    reasons = any(mistake.reasons for mistake in report.mistakes)
    head = ["Row", "Truth", "Decided", "Cheapest", "Cost", "Avoidable", "Probability of the truth"]
    rows: list[Row] = [
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
                    "\n".join(
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
        f"The {len(rows)} rows with the largest cost beyond their cheapest decision",
        [*head, *(["Reasons"] if reasons else [])],
        rows,
        sortable=True,
    )
    return (
        '<h3 id="mistakes">The most expensive mistakes</h3>'
        f'<p class="hint">Press a heading to sort.</p>{note}<div class="tall">{table.html()}</div>'
    )


def _features(report: ReportData) -> list[Section]:
    if report.features is None:
        return []
    unit = report.case.unit
    return [
        Section(
            "features",
            "Features",
            "What the decisions rest on",
            "",
            "",
            [
                money_charts.features_chart(report.features, unit),
                *(
                    money_charts.effect_chart(effect, place, unit)
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
        "Data",
        "Data, costs and settings",
        "",
        f'<div class="facts"><div class="stated"><h3>The costs in words</h3><ul>{costs}</ul></div>'
        f"{lists}</div>",
        [],
    )

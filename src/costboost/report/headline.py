"""Summary: what the model costs and saves against the usual alternatives, with intervals."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from textwrap import wrap
from typing import TYPE_CHECKING

import numpy as np

from costboost._typing import AnyArray, Floats, Ints
from costboost.metrics import Verdict
from costboost.metrics.verdict import total_intervals
from costboost.report import charts
from costboost.report.case import Case, sums
from costboost.report.charts import Figure, Section, count, money, percent, span

if TYPE_CHECKING:
    from costboost.report.page import ReportData

# With at least this many days, intervals are those of sums of days: rows of a day are alike.
FEWEST_DAYS = 20

COLORS = {
    "nothing": "@grey",
    "constant": "@amber",
    "likeliest": "@violet",
    "model": "@accent",
    "rival": "@rose",
}
ALTERNATIVES = ("nothing", "constant", "likeliest")


@dataclass(frozen=True)
class Range:
    """A value with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class RuleCost:
    """One way to decide."""

    key: str
    name: str
    cost: Range
    saving: Range
    decision: str = ""  # of a constant rule


@dataclass(frozen=True, eq=False)
class Headline:
    """Costs of all rules; the model comes last of the first four, then the rivals."""

    rules: list[RuleCost]
    perfect: float
    rows: float
    unit: str  # what is drawn, rows or days
    days: AnyArray | None
    daily: dict[str, Floats]  # cost of each rule by day, by its name

    def rule(self, key: str) -> RuleCost:
        """The first rule of that key."""
        return next(rule for rule in self.rules if rule.key == key)


def likeliest(case: Case) -> Ints:
    """The right decision of the most likely class; with two classes, a threshold of 0.5."""
    if case.k == 2 and len(case.risky) == 1:
        acting = int(case.risky[0])
        class_ = np.where(case.proba[:, acting] >= 0.5, acting, 1 - acting)
    else:
        class_ = case.proba.argmax(axis=1)
    return np.asarray(case.right[class_], dtype=np.intp)


def headline(case: Case) -> Headline:
    """Price the model and the alternatives on the same rows."""
    # The best constant decision is the one that is cheapest on these very rows, which gives it a
    # small advantage over the model.
    best = int((case.weights @ case.prices).argmin())
    same = np.zeros(case.n, dtype=np.intp)
    two = case.k == 2 and case.d == 2
    rules: list[tuple[str, str, Ints]] = [
        ("nothing", f"Doing nothing (always {case.decisions[case.nothing]})", same + case.nothing),
        ("constant", f"Best constant decision (always {case.decisions[best]})", same + best),
        ("likeliest", "Threshold 0.5" if two else "Most likely class", likeliest(case)),
        ("model", "The model", case.decided),
        *(("rival", name, rival.decided) for name, rival in case.rivals.items()),
    ]
    paid = np.column_stack([case.spent(decided) for _, _, decided in rules])
    units, unit, days, daily = paid, "row", None, {}
    if case.time is not None:
        day = case.time.astype("datetime64[D]").astype(np.int64)
        first, length = day.min(), int(np.ptp(day)) + 1
        days = np.arange(first, first + length).astype("datetime64[D]")
        by_day = np.column_stack([sums(day - first, column, length) for column in paid.T])
        daily = {name: by_day[:, r] for r, (_, name, _) in enumerate(rules)}
        if length >= FEWEST_DAYS:
            units, unit = by_day, "day"
    found = total_intervals(np.hstack([units, units - units[:, [3]]]))
    intervals = [Range(*three) for three in found.tolist()]
    m = len(rules)
    return Headline(
        [
            RuleCost(
                key,
                name,
                intervals[r],
                intervals[m + r],
                str(case.decisions[best]) if key == "constant" else "",
            )
            for r, (key, name, _) in enumerate(rules)
        ],
        float(case.perfect.sum()),
        float(case.weights.sum()),
        unit,
        days,
        daily,
    )


# -- the section --------------------------------------------------------------------------------


def verdict(rules: Sequence[RuleCost], rows: float, unit: str = "") -> str:
    """Whether the model pays against the best constant decision, in words."""
    rule = next(rule for rule in rules if rule.key == "constant")
    gain, low, high = (x / rows for x in (rule.saving.value, rule.saving.low, rule.saving.high))
    return Verdict(gain, low, high, rows, rule.decision).in_words(unit)


def headline_section(report: ReportData) -> Section:
    """The verdict, a card for each alternative, and the charts of costs and of days."""
    case, head = report.case, report.headline
    unit = escape(case.unit)
    constant, model = head.rule("constant"), head.rule("model").cost
    avoidable = constant.cost.value - head.perfect
    title = verdict(head.rules, head.rows, case.unit)
    reached = ""
    if avoidable > 0:
        reached = (
            f" Deciding every row right would have cost {money(head.perfect, unit)}; of what the "
            f"best constant decision costs beyond that, the model avoids "
            f"{percent(constant.saving.value / avoidable)} (its score)."
        )
    lead = (
        f"On the {count(head.rows)} rows of this report the model's decisions cost "
        f"<strong>{money(model.value, unit)}</strong> "
        f"(95 % interval {span(model.low, model.high, unit)}).{reached} "
        f"Intervals take {head.unit}s as draws."
    )
    days = 0 if head.days is None else len(head.days)
    cards = "".join(_card(head.rule(key), unit, days) for key in ALTERNATIVES)
    charts = [_costs_chart(head, case.unit), _daily_chart(head, case.unit)]
    return Section(
        "headline", "Summary", title, charts, lead, before=f'<div class="cards">{cards}</div>'
    )


def _card(rule: RuleCost, unit: str, days: int) -> str:
    saving = rule.saving
    kind, note, value = "good", "saved", saving.value
    if saving.high < 0:
        kind, note, value = "bad", "lost", abs(saving.value)
    elif saving.low <= 0:
        kind, note = "even", "saved, but this may be chance"
    share = daily = ""
    if rule.cost.value > 0:
        part = percent(saving.value / rule.cost.value)
        share = f"<p>{part} of {money(rule.cost.value, unit)}</p>"
    if days:
        each = span(saving.low / days, saving.high / days, unit)
        daily = f"<p>{money(saving.value / days, unit)} a day ({each})</p>"
    return (
        f'<div class="card {kind}"><h3>Against: {escape(rule.name)}</h3>'
        f'<p class="big">{money(value, unit)}</p><p class="note">{note}</p>'
        f"<p>95 % interval {span(saving.low, saving.high, unit)}</p>{share}{daily}</div>"
    )


def _costs_chart(head: Headline, unit: str) -> Figure:
    rules = head.rules[::-1]
    low, value, high = np.transpose([(r.cost.low, r.cost.value, r.cost.high) for r in rules])
    labels = [
        # Lines of about twenty characters.
        "<br>".join(
            row for part in rule.name.replace(" (", "\n(").splitlines() for row in wrap(part, 24)
        )
        for rule in rules
    ]
    error = charts.whiskers(low, value, high, 1.2, color="@ink")
    colors = [COLORS[rule.key] for rule in rules]
    layout = {
        "xaxis": charts.axis("Total cost", unit),
        "yaxis": {"automargin": True},
        "height": 120 + 48 * len(rules),
    }
    rules = head.rules
    return Figure(
        "headline",
        "What each way to decide costs",
        "Shorter bars are better. The thin lines are 95 % intervals of the total cost. Those of "
        "the savings are narrower, because they compare the same rows.",
        [charts.bars(labels, value, colors, ",.2f", error_x=error)],
        layout,
        charts.table(
            "Total cost of each way to decide, and what the model saves against it",
            ("Way to decide", [rule.name for rule in rules]),
            ("Total cost", charts.amounts([rule.cost.value for rule in rules], unit)),
            ("95 % interval", [span(r.cost.low, r.cost.high, unit) for r in rules]),
            ("The model saves", charts.amounts([rule.saving.value for rule in rules], unit)),
            ("95 % interval", [span(r.saving.low, r.saving.high, unit) for r in rules]),
        ),
        wide=True,
    )


def _daily_chart(head: Headline, unit: str) -> Figure | None:
    if head.days is None:
        return None
    days = [str(day) for day in head.days]
    names = {key: head.rule(key).name for key in ALTERNATIVES}
    saved = {key: head.daily[name] - head.daily["The model"] for key, name in names.items()}
    lines = [
        charts.line(f"Against: {names[key]}", days, saved[key].cumsum(), COLORS[key])
        for key in ALTERNATIVES
    ]
    return Figure(
        "daily",
        "Savings added up, day by day",
        "A line that rises steadily means a reliable saving; a single jump means that one "
        "day made it.",
        lines,
        {"xaxis": {"type": "date"}, "yaxis": charts.axis("Saved so far", unit)},
        charts.table(
            "Saving of each day",
            ("Day", days[:400]),
            *((names[key], charts.amounts(saved[key][:400], unit)) for key in ALTERNATIVES),
        ),
        wide=True,
    )

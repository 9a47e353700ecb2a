"""The first page: does the model pay, how much, compared with what, and what to do now."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from itertools import cycle
from textwrap import wrap
from typing import NamedTuple

import numpy as np

from costboost._typing import AnyArray, Floats, Ints
from costboost._words import count, money, percent, span
from costboost.metrics import Verdict
from costboost.metrics.intervals import decision_cost, decision_gains
from costboost.metrics.money_interval import Interval, interval_of
from costboost.report import charts
from costboost.report.case import Case, ReportData, sums
from costboost.report.charts import Figure, Section

# With at least this many days, intervals are those of sums of days: rows of a day are alike.
FEWEST_DAYS = 20
# With at least this many days, money is also given per year.
FEWEST_DAYS_OF_YEAR = 28

COLORS = {"constant": "@amber", "nothing": "@grey", "likeliest": "@violet", "model": "@accent"}


class RuleCost(NamedTuple):
    """One way to decide: what it costs, and what the model saves against it."""

    key: str
    name: str
    cost: Interval
    saving: Interval


@dataclass(frozen=True, eq=False)
class Headline:
    """Costs of all rules, the best constant decision first and the rivals last."""

    rules: list[RuleCost]
    verdict: Verdict  # against the best constant decision
    perfect: float
    rows: float
    unit: str  # what intervals take for independent: rows, groups or days
    days: AnyArray | None
    daily: dict[str, Floats]  # cost of each rule by day, by its name

    def rule(self, key: str) -> RuleCost:
        """Return the first rule of that key."""
        return next(rule for rule in self.rules if rule.key == key)


def headline(case: Case) -> Headline:
    """Price the model and the alternatives on the same rows."""
    rules = _ways_to_decide(case)
    groups = case.groups
    unit = "row" if groups is None else "group"
    days = None
    daily = {}
    if case.time is not None:
        day = case.time.astype("datetime64[D]").astype(np.int64)
        first = day.min()
        length = int(np.ptp(day)) + 1
        days = np.arange(first, first + length).astype("datetime64[D]")
        for _, name, decided in rules:
            daily[name] = sums(day - first, case.spent(decided), length)
        if groups is None and length >= FEWEST_DAYS:
            groups = day
            unit = "day"

    rows = float(case.weights.sum())
    priced = []
    for key, name, decided in rules:
        cost = decision_cost(case.costs, decided, case.weights, groups=groups)
        # The best constant decision is not known but estimated, so all of them count there.
        other = None if key == "constant" else decided
        gains = decision_gains(
            case.costs, case.decided, case.weights, groups=groups, baseline=other
        )
        saving = interval_of(gains)
        priced.append(RuleCost(key, name, _times(cost, rows), _times(saving, rows)))
    verdict = Verdict.of(case.costs, case.decided, case.weights, groups=groups, doubts=case.doubts)
    return Headline(priced, verdict, float(case.perfect.sum()), rows, unit, days, daily)


def _ways_to_decide(case: Case) -> list[tuple[str, str, Ints]]:
    """Return key, name and decisions of the alternatives and the model."""
    same = np.zeros(case.n, dtype=np.intp)
    best = case.decisions[case.constant]
    rules = [("constant", f"Best constant decision (always {best})", same + case.constant)]
    if case.nothing is not None:
        idle = f"Doing nothing (always {case.decisions[case.nothing]})"
        rules.append(("nothing", idle, same + case.nothing))
    likeliest = "Most likely class"
    if case.k == case.d == 2:
        likeliest = "Threshold 0.5"
    rules.append(("likeliest", likeliest, case.right[case.proba.argmax(axis=1)]))
    rules.append(("model", "The model", case.decided))
    rules += [("rival", name, decided) for name, decided in case.rivals.items()]
    return rules


def _times(interval: Interval, rows: float) -> Interval:
    """Return the total of so many rows, by their mean."""
    return Interval(*(rows * np.array(interval)).tolist())


# -- the first page ------------------------------------------------------------------------------


ADVICE = {
    "pays": ("good", "Deploy it, and keep measuring what its decisions cost."),
    "does not pay": ("bad", "Do not deploy it. Decide without it, or train on better data."),
    "cannot tell": ("even", "Wait. Collect more cases with their outcome, then ask again."),
    "doubts": (
        "even",
        "Do not bet on this. Mend what is said above, and measure again on cases that the model "
        "was not trained on.",
    ),
}


def first_page(report: ReportData) -> Section:
    """For a manager: one sentence, one number, one picture, one recommendation."""
    case = report.case
    head = report.headline
    verdict = head.verdict
    answer = verdict.answer
    if answer == "cannot tell" and verdict.doubts:
        answer = "doubts"
    kind, advice = ADVICE[answer]
    low = 1000 * verdict.low
    high = 1000 * verdict.high
    size = money(1000 * abs(verdict.gain), case.unit, low, high)
    word = "saved" if verdict.gain >= 0 else "lost"
    note = f"{word} per 1,000 cases"
    if answer == "cannot tell":
        note += ", so far"
    yearly = ""
    if answer == "doubts":
        # A number that is not to be believed is no headline.
        size = "Not known"
        note = "what it saves on new cases"
    elif head.days is not None and len(head.days) >= FEWEST_DAYS_OF_YEAR:
        value, low, high = (x * 365.25 / len(head.days) for x in head.rule("constant").saving)
        yearly = (
            f"A year of cases like these: {money(value, case.unit, low, high)} (95\u00a0% interval "
            f"{span(low, high, case.unit, value)})."
        )
    cards = (
        f'<div class="cards"><div class="card {kind}"><p class="big">{escape(size)}</p>'
        f'<p class="note">{note}</p><p>{escape(yearly)}</p></div>'
        f'<div class="card {kind}"><h3>Recommendation</h3>'
        f'<p class="advice">{advice}</p></div></div>'
    )
    lead = f"Measured on {case.rows_in_words}: {verdict.reason(case.unit)}"
    chart = _costs_chart(head, case.unit)
    return Section("headline", "Summary", verdict.title, [chart], escape(lead), before=cards)


def _colors(rules: Sequence[RuleCost]) -> list[str]:
    others = cycle(("@rose", "@blue", "@green", "@brown"))
    return [COLORS.get(rule.key) or next(others) for rule in rules]


def _costs_chart(head: Headline, unit: str) -> Figure:
    rules = head.rules
    value, low, high = np.transpose([rule.cost for rule in rules])
    labels = [
        "<br>".join(line for part in r.name.split(" (") for line in wrap(part.strip(")"), 24))
        for r in rules
    ]
    error = charts.whiskers(value, low, high, color="@ink")
    bars = charts.bars(labels, value, _colors(rules), ",.2f", error_x=error)
    return Figure(
        "headline",
        "What each way to decide costs",
        "Shorter bars are better. The thin lines are 95\u00a0% intervals of the total cost; those "
        "of the savings are narrower, because they compare the same cases.",
        [bars],
        charts.row_layout(labels, 200, 120 + 48 * len(rules), "Total cost", unit),
        "",
        wide=True,
    )


# -- what stands behind it -----------------------------------------------------------------------


def comparison_section(report: ReportData) -> Section:
    """All ways to decide in a table, and the savings by day."""
    case, head = report.case, report.headline
    unit = escape(case.unit)
    model, constant = head.rule("model").cost, head.rule("constant")
    avoidable = constant.cost.value - head.perfect
    reached = ""
    if avoidable > 0:
        reached = (
            f" Deciding every row right would have cost {money(head.perfect, unit)}; of what the "
            f"best constant decision costs beyond that, the model avoids "
            f"{percent(constant.saving.value / avoidable)} (its score)."
        )
    lead = (
        f"On these {count(head.rows)} rows the model's decisions cost "
        f"<strong>{money(model.value, unit, *model)}</strong> "
        f"(95\u00a0% interval {span(model.low, model.high, unit, model.value)}).{reached} "
        f"Intervals take {head.unit}s for independent, and count costly events that are too rare "
        "to be seen here."
    )
    rules = head.rules
    table = charts.table(
        "Total cost of each way to decide, and what the model saves against it",
        ("Way to decide", [rule.name for rule in rules]),
        ("Total cost", charts.amounts([rule.cost.value for rule in rules], case.unit)),
        ("95\u00a0% interval", [span(r.cost.low, r.cost.high, case.unit) for r in rules]),
        ("The model saves", charts.amounts([rule.saving.value for rule in rules], case.unit)),
        ("95\u00a0% interval, share", [_saving(rule, case.unit) for rule in rules]),
    )
    return Section(
        "comparison",
        "Comparison",
        "Against other ways to decide",
        [_daily_chart(head, case.unit)],
        lead,
        before=f'<div class="framed">{table}</div>',
    )


def _saving(rule: RuleCost, unit: str) -> str:
    if rule.key == "model":
        return ""
    share = f", {percent(rule.saving.value / rule.cost.value)}" if rule.cost.value > 0 else ""
    return f"{span(rule.saving.low, rule.saving.high, unit)}{share}"


def _daily_chart(head: Headline, unit: str) -> Figure | None:
    if head.days is None:
        return None
    rules = [rule for rule in head.rules if rule.key != "model"]
    days = [str(day) for day in head.days]
    saved = {rule.name: head.daily[rule.name] - head.daily["The model"] for rule in rules}
    return Figure(
        "daily",
        "Savings added up, day by day",
        "A line that rises steadily means a reliable saving; a single jump means that one "
        "day made it.",
        [
            charts.line(f"Against: {name}", days, gain.cumsum(), color)
            for (name, gain), color in zip(saved.items(), _colors(rules), strict=True)
        ],
        {"xaxis": {"type": "date"}, "yaxis": charts.axis("Saved so far", unit)},
        wide=True,
    )

"""Charts of the page: from the parts of a report to traces and layouts for plotly.

Colours are names with an "@", which ``report.js`` replaces by those of the light or dark style.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

from costboost.report.case import Case, texts
from costboost.report.data.curves import Calibration, Rounds, WholeCostCurve
from costboost.report.data.features import Effect, FeatureMoney
from costboost.report.data.headline import Headline
from costboost.report.data.money import Group, Outcomes
from costboost.report.data.sensitivity import Sensitivity
from costboost.report.data.thresholds import CapacityCurve, ShareCurve
from costboost.report.page.words import Cell, Table, count, money, percent

__all__ = ["Figure"]

SERIES = ("@accent", "@amber", "@violet", "@grey", "@green", "@rose")
RULES = {
    "nothing": "@grey",
    "constant": "@amber",
    "likeliest": "@violet",
    "model": "@accent",
    "rival": "@rose",
}
Trace = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Figure:
    """A chart with its text.

    Attributes
    ----------
    name : str
        Identifier on the page.
    title : str
        Heading.
    read : str
        How to read it, in a sentence or two.
    traces : list of dict
        For plotly.
    layout : dict
        For plotly; what all charts share is added by the page.
    table : Table or None
        The numbers behind it.
    """

    name: str
    title: str
    read: str
    traces: list[Trace]
    layout: dict[str, Any]
    table: Table | None = None
    wide: bool = field(default=False)

    def html(self) -> str:
        """Figure element; the page's script draws into it."""
        table = ""
        if self.table is not None:
            table = f"<details><summary>Numbers behind this chart</summary>{self.table.html()}"
            table += "</details>"
        kind = "chart wide" if self.wide else "chart"
        return (
            f'<figure class="{kind}" id="figure-{self.name}"><h3>{escape(self.title)}</h3>'
            f'<div class="plot" id="plot-{self.name}" data-figure="{self.name}" role="img" '
            f'aria-label="Chart: {escape(self.title)}. {escape(self.read)}"></div>'
            f"<figcaption>{escape(self.read)}</figcaption>{table}</figure>"
        )


def numbers(values: Any) -> list[float | None]:
    """Numbers with six digits, short in JSON; what is not finite becomes a gap."""
    array = np.asarray(values, dtype=np.float64)
    return [float(f"{v:.6g}") if np.isfinite(v) else None for v in array.tolist()]


def axis(title: str, **more: Any) -> dict[str, Any]:
    """An axis with a title."""
    return {"title": {"text": title}, **more}


def money_axis(title: str, unit: str) -> dict[str, Any]:
    """An axis of money."""
    return axis(title, tickprefix=unit if len(unit) <= 1 else f"{unit} ", separatethousands=True)


def _line(name: str, x: Any, y: Any, color: str, **more: Any) -> Trace:
    line = {"color": color, "width": 2.5, **more.pop("line", {})}
    return {"type": "scatter", "mode": "lines", "name": name, "x": x, "y": y, "line": line, **more}


def _point(name: str, x: float, y: float, color: str, symbol: str = "circle") -> Trace:
    marker = {"color": color, "size": 12, "symbol": symbol, "line": {"color": "@card", "width": 2}}
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": [float(x)],
        "y": [float(y)],
        "marker": marker,
    }


def headline_chart(headline: Headline, unit: str) -> Figure:
    """Bars of the total cost of each rule, with intervals."""
    rules = headline.rules[::-1]
    error = {
        "type": "data",
        "symmetric": False,
        "array": numbers([rule.cost.high - rule.cost.value for rule in rules]),
        "arrayminus": numbers([rule.cost.value - rule.cost.low for rule in rules]),
        "color": "@ink",
        "thickness": 1.2,
    }
    bars = {
        "type": "bar",
        "orientation": "h",
        "x": numbers([rule.cost.value for rule in rules]),
        "y": [_wrapped(rule.name) for rule in rules],
        "marker": {"color": [RULES[rule.key] for rule in rules]},
        "error_x": error,
        "showlegend": False,
        "hovertemplate": "%{y}<br>%{x:,.2f}<extra></extra>",
    }
    rows = [
        [
            rule.name,
            _money(rule.cost.value, unit),
            f"{money(rule.cost.low, unit)} to {money(rule.cost.high, unit)}",
            _money(rule.saving.value, unit),
            f"{money(rule.saving.low, unit)} to {money(rule.saving.high, unit)}",
        ]
        for rule in headline.rules
    ]
    return Figure(
        "headline",
        "What each way to decide costs",
        "Shorter bars are better. The thin lines are 95 % intervals of the total; the savings above "
        "have narrower ones, because they compare the same rows.",
        [bars],
        {
            "xaxis": money_axis("Total cost", unit),
            "yaxis": {"automargin": True},
            "height": 120 + 48 * len(rules),
        },
        Table(
            "Total cost of each way to decide, and what the model saves against it",
            ["Way to decide", "Total cost", "95 % interval", "The model saves", "95 % interval"],
            rows,
        ),
        wide=True,
    )


def daily_chart(headline: Headline, unit: str) -> Figure | None:
    """Cumulated saving by day against doing nothing and the best constant decision."""
    if headline.daily is None:
        return None
    days = [str(day) for day in headline.daily.days]
    model = headline.daily.costs[headline.rule("model").name]
    keys = ("nothing", "constant", "likeliest")
    saved = {key: headline.daily.costs[headline.rule(key).name] - model for key in keys}
    lines = [
        _line(f"Against: {headline.rule(key).name}", days, numbers(saved[key].cumsum()), RULES[key])
        for key in keys
    ]
    rows = [
        [day, *(_money(float(saved[key][place]), unit) for key in keys)]
        for place, day in enumerate(days[:400])
    ]
    return Figure(
        "daily",
        "Savings added up, day by day",
        "A line that rises steadily means a saving one can rely on; a single jump means that one "
        "day made it.",
        lines,
        {"xaxis": {"type": "date"}, "yaxis": money_axis("Saved so far", unit)},
        Table("Saving of each day", ["Day", *(headline.rule(key).name for key in keys)], rows),
        wide=True,
    )


def cost_curve_chart(curve: WholeCostCurve) -> Figure:
    """Normalised cost over all cost ratios, with the rivals."""
    pc = numbers(curve.probability_cost)
    trivial = numbers(np.minimum(curve.probability_cost, 1 - curve.probability_cost))
    lines = [
        _line("Always or never acting", pc, trivial, "@grey", line={"dash": "dot", "width": 1.5}),
        *(
            _line(name, pc, numbers(cost), SERIES[place % len(SERIES)])
            for place, (name, cost) in enumerate(curve.costs.items())
        ),
    ]
    layout: dict[str, Any] = {
        "xaxis": axis("Weight of missed cases in the possible cost", range=[0, 1]),
        "yaxis": axis("Cost, as a share of the largest possible", rangemode="tozero"),
    }
    if curve.stated is not None:
        layout["shapes"] = [_upright(curve.stated)]
        layout["annotations"] = [_note(curve.stated, "stated costs")]
    rows = [
        [f"{x:.2f}", *(f"{cost[place]:.4f}" for cost in curve.costs.values())]
        for place, x in enumerate(curve.probability_cost.tolist())
        if place % 5 == 0
    ]
    return Figure(
        "cost-curve",
        "If missed cases weighed more or less",
        "Lower is better. Each point uses the best threshold for that ratio of costs, so the curve "
        "judges the ranking of the rows, not the threshold.",
        lines,
        layout,
        Table("Normalised cost by weight of missed cases", ["Weight", *curve.costs], rows),
    )


def calibration_chart(calibrations: Sequence[Calibration]) -> Figure:
    """Predicted against observed frequencies."""
    traces = [
        _line("Perfect", [0, 1], [0, 1], "@grey", line={"dash": "dot", "width": 1.5}),
        *(
            {
                "type": "scatter",
                "mode": "lines+markers",
                "name": f"Class {c.label}",
                "x": numbers(c.predicted),
                "y": numbers(c.observed),
                "line": {"color": SERIES[place % len(SERIES)], "width": 2},
                "marker": {"size": 7},
                "error_y": {
                    "type": "data",
                    "symmetric": False,
                    "array": numbers(c.high - c.observed),
                    "arrayminus": numbers(c.observed - c.low),
                    "thickness": 1.2,
                },
            }
            for place, c in enumerate(calibrations)
        ),
    ]
    rows = [
        [
            c.label,
            Cell(f"{c.predicted[b]:.4f}", float(c.predicted[b])),
            Cell(f"{c.observed[b]:.4f}", float(c.observed[b])),
            f"{c.low[b]:.4f} to {c.high[b]:.4f}",
            Cell(count(c.rows[b]), float(c.rows[b])),
        ]
        for c in calibrations
        for b in range(len(c.rows))
    ]
    return Figure(
        "calibration",
        "Do the probabilities mean what they say?",
        "Points on the dotted line: of rows given 30 %, 30 % turn out to be of the class. The bars "
        "are 95 % intervals; a point above the line was underestimated.",
        traces,
        {
            "xaxis": axis("Predicted probability", range=[-0.02, 1.02]),
            "yaxis": axis("Observed share", range=[-0.02, 1.02]),
        },
        Table(
            "Predicted and observed frequency by bin",
            ["Class", "Predicted", "Observed", "95 % interval", "Rows"],
            rows,
        ),
    )


def rounds_chart(rounds: Sequence[Rounds], unit: str) -> Figure | None:
    """Mean cost by boosting round."""
    if not rounds:
        return None
    traces = []
    for place, part in enumerate(rounds):
        color = SERIES[place % len(SERIES)]
        x = list(range(1, len(part.costs) + 1))
        traces.append(_line(part.name, x, numbers(part.costs), color))
        traces.append(_point(f"Lowest: round {part.best}", part.best, part.costs.min(), color))
    rows = [
        [part.name, Cell(f"{part.best:,}", part.best), _money(float(part.costs.min()), unit)]
        for part in rounds
    ]
    return Figure(
        "rounds",
        "Cost after each boosting round",
        "The curve should flatten before it ends. If it still falls, more rounds would save more; "
        "if it rises, fewer would.",
        traces,
        {"xaxis": axis("Round"), "yaxis": money_axis("Mean cost of a row", unit)},
        Table("Round of lowest mean cost", ["Rows", "Round", "Mean cost"], rows),
    )


def share_chart(curve: ShareCurve, unit: str) -> Figure:
    """Saving by share of rows acted upon."""
    percents = numbers(100 * curve.shares)
    traces = [
        _line(
            "Random order", [0, 100], [0, curve.random], "@grey", line={"dash": "dot", "width": 1.5}
        ),
        _line("The model's order", percents, numbers(curve.savings), "@accent"),
        _point("The model's decisions", 100 * curve.chosen[0], curve.chosen[1], "@accent"),
    ]
    rows = [
        [percent(share), _money(float(saving), unit)]
        for share, saving in zip(curve.shares[::12], curve.savings[::12], strict=True)
    ]
    return Figure(
        "share",
        "Money saved by the share of rows acted upon",
        "Rows are acted upon in the order of their expected saving. Right of the peak, acting costs "
        f"more than it saves; the peak on these rows is at {percent(curve.best[0])}.",
        traces,
        {
            "xaxis": axis("Share of rows acted upon (%)"),
            "yaxis": money_axis("Saved against doing nothing", unit),
        },
        Table("Saving by share of rows acted upon", ["Share", "Saved"], rows),
    )


def capacity_chart(case: Case, curve: CapacityCurve) -> Figure:
    """Total cost by capacity above, price of one more unit below."""
    name = str(case.decisions[curve.decision])
    x = numbers(curve.capacities)
    traces = [
        _line("Cost on these rows", x, numbers(curve.costs), "@accent"),
        _line(
            "Cost the model expected",
            x,
            numbers(curve.expected),
            "@grey",
            line={"dash": "dash", "width": 1.5},
        ),
        _line("Price of one more", x, numbers(curve.prices), "@amber", yaxis="y2"),
    ]
    rows = [
        [
            Cell(count(c), float(c)),
            _money(float(cost), case.unit),
            _money(float(price), case.unit),
        ]
        for c, cost, price in list(zip(curve.capacities, curve.costs, curve.prices, strict=True))[
            :: max(1, len(x) // 25)
        ]
    ]
    return Figure(
        f"capacity-{curve.decision}",
        f"If “{name}” can be decided only so often",
        f"Above: total cost by how many rows may get “{name}”, the most profitable first. Below: "
        "what one more would save. Pay for more capacity while it costs less than that. Without "
        f"a limit {count(curve.wanted)} rows get it.",
        traces,
        {
            "xaxis": axis(f"Most rows decided “{name}”", anchor="y2"),
            "yaxis": {**money_axis("Total cost", case.unit), "domain": [0.46, 1]},
            "yaxis2": {**money_axis("One more saves", case.unit), "domain": [0, 0.34]},
            "height": 460,
        },
        Table("Cost by capacity", ["Capacity", "Total cost", "One more saves"], rows),
    )


def regret_chart(sensitivity: Sensitivity, unit: str) -> Figure:
    """Regret over the grid of two levers, or along each of several."""
    factors = [f"×{f:.3g}" for f in sensitivity.factors]
    if sensitivity.grid is not None:
        first, second = sensitivity.levers
        heat = {
            "type": "heatmap",
            "x": factors,
            "y": factors,
            "z": [numbers(row) for row in sensitivity.grid],
            "colorscale": "@scale",
            "zmin": min(0.0, float(sensitivity.grid.min())),
            "colorbar": {"title": {"text": "Regret"}, "thickness": 12, "outlinewidth": 0},
            "hovertemplate": f"{second} %{{x}}<br>{first} %{{y}}<br>regret %{{z:,.2f}}"
            "<extra></extra>",
        }
        rows = [
            [factors[r], *(_money(v, unit) for v in row)]
            for r, row in enumerate(sensitivity.grid.tolist())
        ]
        return Figure(
            "regret",
            "What a wrong cost would cost",
            "Each square: the true costs are these multiples of the stated ones, and decisions are "
            "still made by the stated ones. Pale squares mean that the exact figure hardly matters.",
            [heat],
            {"xaxis": axis(second, type="category"), "yaxis": axis(first, type="category")},
            Table(f"Regret; rows: {first}; columns: {second}", ["True multiple", *factors], rows),
        )
    lines = [
        _line(name, factors, numbers(regret), SERIES[place % len(SERIES)])
        for place, (name, regret) in enumerate(sensitivity.lines.items())
    ]
    rows = [
        [name, *(_money(v, unit) for v in regret.tolist())]
        for name, regret in sensitivity.lines.items()
    ]
    return Figure(
        "regret",
        "What a wrong cost would cost",
        "One cost at a time is this multiple of the stated one, and decisions are still made by the "
        "stated one. A flat line means that the exact figure hardly matters; below zero, the stated "
        "cost happens to decide better on these rows.",
        lines,
        {
            "xaxis": axis("True cost, as a multiple of the stated one", type="category"),
            "yaxis": money_axis("Regret", unit),
        },
        Table("Regret by true multiple", ["Cost", *factors], rows),
    )


def outcomes_chart(case: Case, outcomes: Outcomes) -> Figure:
    """Heat map of the money by truth and decision."""
    classes, decisions = texts(case.classes), texts(case.decisions)
    label = [
        [
            f"{money(outcomes.paid[j, e], case.unit)}<br>{count(outcomes.rows[j, e])} rows"
            for e in range(case.d)
        ]
        for j in range(case.k)
    ]
    few = case.k * case.d <= 64
    heat = {
        "type": "heatmap",
        "x": [f"decided {e}" for e in decisions],
        "y": [f"truth {j}" for j in classes],
        "z": [numbers(row) for row in outcomes.avoidable],
        "text": label,
        "colorscale": "@scale",
        "zmin": 0.0,
        "xgap": 3,
        "ygap": 3,
        "colorbar": {"title": {"text": "Avoidable"}, "thickness": 12, "outlinewidth": 0},
        "hovertemplate": "%{y}, %{x}<br>%{text}<br>avoidable %{z:,.2f}<extra></extra>",
        **({"texttemplate": "%{text}"} if few else {}),
    }
    rows = [
        [
            classes[j],
            decisions[e],
            Cell(count(outcomes.rows[j, e]), float(outcomes.rows[j, e])),
            _money(float(outcomes.paid[j, e]), case.unit),
            _money(float(outcomes.avoidable[j, e]), case.unit),
        ]
        for j in range(case.k)
        for e in range(case.d)
        if outcomes.rows[j, e] > 0
    ]
    return Figure(
        "outcomes",
        "Truth and decision, in money",
        "Each square shows what its rows cost. The darker, the more of that the right decisions "
        "would have avoided.",
        [heat],
        {
            "yaxis": {"autorange": "reversed", "automargin": True},
            "xaxis": {"side": "top", "automargin": True},
            "height": 190 + 62 * min(case.k, 10),
        },
        Table(
            "Rows and cost by truth and decision",
            ["Truth", "Decision", "Rows", "Cost", "Avoidable"],
            rows,
        ),
    )


def groups_chart(name: str, title: str, groups: Sequence[Group], unit: str, read: str) -> Figure:
    """Bars of what groups of rows cost, with and without the model."""
    labels = [group.label for group in groups]
    x = list(range(len(labels)))
    traces = [
        {
            "type": "bar",
            "name": text,
            "x": x,
            "y": numbers([getattr(group, key) for group in groups]),
            "customdata": labels,
            "marker": {"color": color},
            "hovertemplate": "%{customdata}<br>%{y:,.2f}<extra>%{fullData.name}</extra>",
        }
        for key, text, color in (
            ("nothing", "Doing nothing", "@grey"),
            ("model", "The model", "@accent"),
        )
    ]
    rows = [
        [
            group.label,
            Cell(count(group.rows), group.rows),
            _money(group.nothing, unit),
            _money(group.model, unit),
            _money(group.nothing - group.model, unit),
            _money(group.model - group.perfect, unit),
        ]
        for group in groups
    ]
    return Figure(
        name,
        title,
        read,
        traces,
        {
            "barmode": "group",
            "xaxis": {"tickvals": x, "ticktext": [_short(t) for t in labels], "automargin": True},
            "yaxis": money_axis("Total cost", unit),
        },
        Table(
            title,
            ["Group", "Rows", "Doing nothing", "The model", "Saved", "Still avoidable"],
            rows,
            sortable=True,
        ),
    )


def features_chart(features: FeatureMoney, unit: str) -> Figure:
    """Bars of mean absolute money per feature."""
    names, values = features.names[::-1], features.money[::-1]
    bars = {
        "type": "bar",
        "orientation": "h",
        "x": numbers(values),
        "y": [_short(name, 32) for name in names],
        "marker": {"color": "@accent"},
        "showlegend": False,
        "hovertemplate": "%{y}<br>%{x:,.4g}<extra></extra>",
    }
    return Figure(
        "features",
        "Which features move money",
        "The mean size of each feature's part in the expected saving of a decision, per row, up or "
        f"down, over {features.rows:,} rows.",
        [bars],
        {
            "xaxis": money_axis("Money moved per row", unit),
            "yaxis": {"automargin": True},
            "height": 130 + 24 * len(names),
        },
        Table(
            "Mean absolute part of each feature, per row",
            ["Feature", "Money"],
            [
                [name, Cell(f"{unit}{value:,.4g}", float(value))]
                for name, value in zip(features.names, features.money, strict=True)
            ],
        ),
    )


def effect_chart(effect: Effect, place: int, unit: str) -> Figure:
    """Mean part of a feature by its value, with the middle 80 %."""
    x = list(range(len(effect.labels)))
    band = {
        "type": "scatter",
        "mode": "lines",
        "x": [*x, *x[::-1]],
        "y": [*numbers(effect.high), *numbers(effect.low)[::-1]],
        "fill": "toself",
        "fillcolor": "@band",
        "line": {"width": 0, "color": "@band"},
        "name": "middle 80 % of rows",
        "hoverinfo": "skip",
    }
    line = _line(
        "mean part", x, numbers(effect.mean), "@accent", mode="lines+markers", marker={"size": 6}
    )
    return Figure(
        f"effect-{place}",
        effect.name,
        f"Where the line is above 0, these values of {effect.name} speak for the action; below 0, "
        "against it.",
        [band, line],
        {
            "xaxis": {
                "tickvals": x,
                "ticktext": [_short(label, 14) for label in effect.labels],
                "automargin": True,
            },
            "yaxis": money_axis("Part of the saving", unit),
            "showlegend": False,
            "height": 280,
        },
        Table(
            f"Part of the saving by {effect.name}",
            ["Value", "Mean", "10 %", "90 %"],
            [
                [label, *(Cell(f"{unit}{v:,.4g}", float(v)) for v in three)]
                for label, *three in zip(
                    effect.labels, effect.mean, effect.low, effect.high, strict=True
                )
            ],
        ),
    )


def _money(value: float, unit: str) -> Cell:
    return Cell(money(value, unit, cents=True), value)


def _upright(x: float) -> dict[str, Any]:
    line = {"color": "@ink", "width": 1.2, "dash": "dash"}
    return {"type": "line", "xref": "x", "yref": "paper", "x0": x, "x1": x, "y0": 0, "y1": 1} | {
        "line": line
    }


def _note(x: float, text: str) -> dict[str, Any]:
    side = "right" if x > 0.7 else "left"
    return {
        "x": x,
        "y": 1,
        "yref": "paper",
        "text": f" {text} ",
        "showarrow": False,
        "xanchor": side,
        "yanchor": "top",
    }


def _short(text: str, most: int = 18) -> str:
    return text if len(text) <= most else f"{text[: most - 1]}…"


def _wrapped(text: str) -> str:
    return text.replace(" (", "<br>(")

"""Charts of the headline and of the curves."""

from __future__ import annotations

from collections.abc import Sequence
from textwrap import wrap
from typing import Any

import numpy as np

from costboost.report.case import Case
from costboost.report.data.curves import Calibration, Rounds, WholeCostCurve
from costboost.report.data.headline import Headline
from costboost.report.data.thresholds import CapacityCurve, ShareCurve
from costboost.report.page.figure import (
    SERIES,
    Figure,
    axis,
    line,
    money_axis,
    money_cell,
    numbers,
    point,
)
from costboost.report.page.words import Cell, Row, Table, count, percent, span

__all__ = [
    "calibration_chart",
    "capacity_chart",
    "cost_curve_chart",
    "daily_chart",
    "headline_chart",
    "rounds_chart",
    "share_chart",
]

RULES = {
    "nothing": "@grey",
    "constant": "@amber",
    "likeliest": "@violet",
    "model": "@accent",
    "rival": "@rose",
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
    rows: list[Row] = [
        [
            rule.name,
            money_cell(rule.cost.value, unit),
            span(rule.cost.low, rule.cost.high, unit),
            money_cell(rule.saving.value, unit),
            span(rule.saving.low, rule.saving.high, unit),
        ]
        for rule in headline.rules
    ]
    return Figure(
        "headline",
        "What each way to decide costs",
        "Shorter bars are better. The thin lines are 95 % intervals of the total cost. Those of "
        "the savings are narrower, because they compare the same rows.",
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
    """Cumulated saving by day against doing nothing, the best constant and the likeliest class."""
    if headline.daily is None:
        return None
    days = [str(day) for day in headline.daily.days]
    model = headline.daily.costs[headline.rule("model").name]
    keys = ("nothing", "constant", "likeliest")
    saved = {key: headline.daily.costs[headline.rule(key).name] - model for key in keys}
    lines = [
        line(f"Against: {headline.rule(key).name}", days, numbers(saved[key].cumsum()), RULES[key])
        for key in keys
    ]
    rows: list[Row] = [
        [day, *(money_cell(float(saved[key][place]), unit) for key in keys)]
        for place, day in enumerate(days[:400])
    ]
    return Figure(
        "daily",
        "Savings added up, day by day",
        "A line that rises steadily means a reliable saving; a single jump means that one "
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
        line("Always or never acting", pc, trivial, "@grey", line={"dash": "dot", "width": 1.5}),
        *(
            line(name, pc, numbers(cost), SERIES[place % len(SERIES)])
            for place, (name, cost) in enumerate(curve.costs.items())
        ),
    ]
    layout: dict[str, Any] = {
        "xaxis": axis("Weight of missed cases", range=[0, 1]),
        "yaxis": axis("Share of the largest cost", rangemode="tozero"),
    }
    if curve.stated is not None:
        layout["shapes"] = [_upright(curve.stated)]
        layout["annotations"] = [_note(curve.stated, "stated costs")]
    rows: list[Row] = [
        [f"{x:.2f}", *(f"{cost[place]:.4f}" for cost in curve.costs.values())]
        for place, x in enumerate(curve.probability_cost.tolist())
        if place % 5 == 0
    ]
    return Figure(
        "cost-curve",
        "If missed cases weighed more or less",
        "Lower is better. To the right, missed cases make up more of the possible cost. Each point "
        "uses the best threshold for its ratio of costs: the curve judges the ranking of the rows.",
        lines,
        layout,
        Table("Normalised cost by weight of missed cases", ["Weight", *curve.costs], rows),
    )


def calibration_chart(calibrations: Sequence[Calibration]) -> Figure:
    """Predicted against observed frequencies."""
    traces = [
        line("Perfect", [0, 1], [0, 1], "@grey", line={"dash": "dot", "width": 1.5}),
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
    rows: list[Row] = [
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
        traces.append(line(part.name, x, numbers(part.costs), color))
        traces.append(point(f"Lowest: round {part.best}", part.best, part.costs.min(), color))
    rows: list[Row] = [
        [part.name, Cell(f"{part.best:,}", part.best), money_cell(float(part.costs.min()), unit)]
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
        line(
            "Random order", [0, 100], [0, curve.random], "@grey", line={"dash": "dot", "width": 1.5}
        ),
        line("The model's order", percents, numbers(curve.savings), "@accent"),
        point("The model's decisions", 100 * curve.chosen[0], curve.chosen[1], "@accent"),
    ]
    rows: list[Row] = [
        [percent(share), money_cell(float(saving), unit)]
        for share, saving in zip(curve.shares[::12], curve.savings[::12], strict=True)
    ]
    return Figure(
        "share",
        "Money saved by the share of rows acted upon",
        "Rows are acted upon in the order of their expected saving. Right of the peak, acting "
        f"costs more than it saves; the peak on these rows is at {percent(curve.best[0])}.",
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
        line("Cost on these rows", x, numbers(curve.costs), "@accent"),
        line(
            "Cost the model expected",
            x,
            numbers(curve.expected),
            "@grey",
            line={"dash": "dash", "width": 1.5},
        ),
        line("Price of one more", x, numbers(curve.prices), "@amber", yaxis="y2"),
    ]
    rows: list[Row] = [
        [
            Cell(count(c), float(c)),
            money_cell(float(cost), case.unit),
            money_cell(float(price), case.unit),
        ]
        for c, cost, price in list(zip(curve.capacities, curve.costs, curve.prices, strict=True))[
            :: max(1, len(x) // 25)
        ]
    ]
    return Figure(
        f"capacity-{curve.decision}",
        f"If only a limited number of rows can get “{name}”",
        f"Above: total cost by how many rows may get “{name}”, the most profitable first. Below: "
        "what one more would save. Pay for more capacity while it costs less than that. Without "
        f"a limit {count(curve.wanted)} rows get it.",
        traces,
        {
            "xaxis": axis(f"Largest number of rows decided “{name}”", anchor="y2"),
            "yaxis": {**money_axis("Total cost", case.unit), "domain": [0.46, 1]},
            "yaxis2": {**money_axis("One more saves", case.unit), "domain": [0, 0.34]},
            "height": 460,
        },
        Table("Cost by capacity", ["Capacity", "Total cost", "One more saves"], rows),
    )


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


def _wrapped(text: str) -> str:
    """Text in lines of about twenty characters."""
    parts = text.replace(" (", "\n(").splitlines()
    return "<br>".join(line for part in parts for line in wrap(part, 24))

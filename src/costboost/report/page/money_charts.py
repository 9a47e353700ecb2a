"""Charts of wrong costs, of where the money goes, and of features."""

from __future__ import annotations

from collections.abc import Sequence

from costboost.report.case import Case, texts
from costboost.report.data.features import Effect, FeatureMoney
from costboost.report.data.money import Group, Outcomes
from costboost.report.data.sensitivity import Sensitivity
from costboost.report.page.figure import (
    SERIES,
    Figure,
    axis,
    line,
    money_axis,
    money_cell,
    named_axis,
    numbers,
    short,
)
from costboost.report.page.words import Cell, Row, Table, count, money

__all__ = [
    "effect_chart",
    "features_chart",
    "groups_chart",
    "outcomes_chart",
    "regret_chart",
]


def regret_chart(sensitivity: Sensitivity, unit: str) -> Figure:
    """Regret over the grid of two levers, or along each of several."""
    rows: list[Row]
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
            [factors[r], *(money_cell(v, unit) for v in row)]
            for r, row in enumerate(sensitivity.grid.tolist())
        ]
        return Figure(
            "regret",
            "What a wrong cost would cost",
            "Each square: the true costs are these multiples of the stated ones, and decisions are "
            "still made by the stated ones. The stronger the colour, the more the error costs.",
            [heat],
            {"xaxis": axis(second, type="category"), "yaxis": axis(first, type="category")},
            Table(f"Regret; rows: {first}; columns: {second}", ["True multiple", *factors], rows),
        )
    lines = [
        line(name, factors, numbers(regret), SERIES[place % len(SERIES)])
        for place, (name, regret) in enumerate(sensitivity.lines.items())
    ]
    rows = [
        [name, *(money_cell(v, unit) for v in regret.tolist())]
        for name, regret in sensitivity.lines.items()
    ]
    return Figure(
        "regret",
        "What a wrong cost would cost",
        "One cost at a time is this multiple of the stated one, and decisions are still made by "
        "the stated one. A flat line means that the error hardly matters. Below zero, the stated "
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
            if outcomes.rows[j, e] > 0
            else ""
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
    rows: list[Row] = [
        [
            classes[j],
            decisions[e],
            Cell(count(outcomes.rows[j, e]), float(outcomes.rows[j, e])),
            money_cell(float(outcomes.paid[j, e]), case.unit),
            money_cell(float(outcomes.avoidable[j, e]), case.unit),
        ]
        for j in range(case.k)
        for e in range(case.d)
        if outcomes.rows[j, e] > 0
    ]
    return Figure(
        "outcomes",
        "Truth and decision, in money",
        "Each square shows what its rows cost. The stronger the colour, the more of that the right "
        "decisions would have avoided.",
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
    rows: list[Row] = [
        [
            group.label,
            Cell(count(group.rows), group.rows),
            money_cell(group.nothing, unit),
            money_cell(group.model, unit),
            money_cell(group.nothing - group.model, unit),
            money_cell(group.model - group.perfect, unit),
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
            "xaxis": named_axis(labels),
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
        "y": [short(name, 32) for name in names],
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
    if effect.is_ordered:
        band = {
            "type": "scatter",
            "mode": "lines",
            "x": [*x, *x[::-1]],
            "y": [*numbers(effect.high), *numbers(effect.low)[::-1]],
            "fill": "toself",
            "fillcolor": "@band",
            "line": {"width": 0, "color": "@band"},
            "hoverinfo": "skip",
        }
        style = {"mode": "lines+markers", "marker": {"size": 6}}
        traces = [band, line("mean part", x, numbers(effect.mean), "@accent", **style)]
    else:
        error = {
            "type": "data",
            "symmetric": False,
            "array": numbers(effect.high - effect.mean),
            "arrayminus": numbers(effect.mean - effect.low),
            "color": "@accent",
            "thickness": 1.5,
        }
        style = {"mode": "markers", "marker": {"size": 10, "color": "@accent"}, "error_y": error}
        traces = [line("mean part", x, numbers(effect.mean), "@accent", **style)]
    return Figure(
        f"effect-{place}",
        effect.name,
        "Values above 0 speak for acting, those below 0 for doing nothing. The "
        f"{'band holds' if effect.is_ordered else 'thin lines hold'} the middle 80 % of the rows.",
        traces,
        {
            "xaxis": named_axis(effect.labels, 14),
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

"""Where the money goes: outcomes, groups of rows, the costliest mistakes, features that move it."""

from __future__ import annotations

from typing import Any

import numpy as np

from costboost._typing import AnyArray, Floats, Ints
from costboost._words import count, money, number
from costboost.report import charts
from costboost.report.case import Case, ReportData, sums
from costboost.report.charts import Figure, Section

MOST_MISTAKES = 100
MOST_GROUPS = 12
REASONS = 3


def mistakes(case: Case, most: int = MOST_MISTAKES) -> list[dict[str, Any]]:
    """The rows with the largest avoidable cost, largest first."""
    paid = case.spent(case.decided)
    avoidable = paid - case.perfect
    wrong = np.flatnonzero(avoidable > 0)
    rows = wrong[np.argsort(-avoidable[wrong], kind="stable")[:most]]
    parts = np.zeros((len(rows), 0))
    if case.explain is not None and len(rows):
        parts = case.explain(rows)
    features = list(case.features.items())
    largest = np.argsort(-np.abs(parts), axis=1, kind="stable")[:, :REASONS]
    return [
        {
            "row": str(row if case.ids is None else case.ids[row]),
            "truth": case.classes[case.codes[row]],
            "decided": case.decisions[case.decided[row]],
            "cheapest": case.decisions[case.prices[row].argmin()],
            "paid": float(paid[row]),
            "avoidable": float(avoidable[row]),
            "probability": float(case.proba[row, case.codes[row]]),
            "reasons": [
                (features[f][0], shown(features[f][1][row]), float(parts[place, f]))
                for f in largest[place]
                if parts[place, f] != 0
            ],
        }
        for place, row in enumerate(rows.tolist())
    ]


def outcomes(case: Case) -> dict[str, Floats]:
    """Rows, their cost, and its avoidable part, by truth and decision (k, d)."""
    paid = case.spent(case.decided)
    parts = {"rows": case.weights, "paid": paid, "avoidable": paid - case.perfect}
    return {key: case.by_cell(part, case.decided) for key, part in parts.items()}


# -- groups of rows -----------------------------------------------------------------------------


def segments(case: Case) -> dict[str, dict[str, Any]]:
    """Costs by the values of each segment column, or by tenths of its numbers."""
    spent = case.spent(case.decided)
    found = {name: groups_of(values, spent) for name, values in case.segments.items()}
    parts = {
        "rows": case.weights,
        "constant": case.spent(case.constant),
        "model": spent,
        "perfect": case.perfect,
    }
    return {
        name: {"labels": labels}
        | {key: sums(place, part, len(labels)) for key, part in parts.items()}
        for name, (labels, place) in found.items()
    }


def shown(value: Any) -> str:
    """A feature's value as text."""
    is_number = isinstance(value, (float, int, np.number)) and not isinstance(value, bool)
    return number(float(value)) if is_number else str(value)


def groups_of(values: AnyArray, weight: Floats) -> tuple[list[str], Ints]:
    """Names of groups, and the group of each value: tenths of numbers, else words."""
    if values.dtype.kind in "iuf" and len(np.unique(values)) > MOST_GROUPS:
        return _tenths_of(values.astype(np.float64))
    # Those of the largest weight first, the last ones joined.
    words = np.array([shown(value) for value in values.tolist()])
    words = np.where(np.isin(words, ["nan", "None", "<NA>", "NaT"]), "missing", words)
    distinct, place = np.unique(words, return_inverse=True)
    order = np.argsort(-sums(place, weight), kind="stable")
    rank = np.argsort(order, kind="stable")
    labels = distinct[order].tolist()
    if len(labels) > MOST_GROUPS:
        labels = [*labels[: MOST_GROUPS - 1], f"{len(labels) - MOST_GROUPS + 1} others"]
    return labels, np.minimum(rank[place], len(labels) - 1)


def _tenths_of(values: Floats) -> tuple[list[str], Ints]:
    """Parts of equal size by their spans; equal values stay together, missing ones are last."""
    missing = np.isnan(values)
    # Edges are values that occur: no arithmetic, so infinite ones do no harm.
    marks = np.linspace(0, 1, 11)[1:-1]
    edges = np.unique(np.quantile(values[~missing], marks, method="lower"))
    place = np.searchsorted(edges, values, side="right")
    place = np.unique(np.where(missing, len(edges) + 1, place), return_inverse=True)[1]
    ends = [(x.min(), x.max()) for x in (values[place == c] for c in range(place.max() + 1))]
    return [
        shown(low) if low == high or np.isnan(low) else f"{shown(low)} to {shown(high)}"
        for low, high in ends
    ], place


# -- the section --------------------------------------------------------------------------------


def money_section(report: ReportData) -> Section:
    """Heat map of outcomes, bars of groups, and the table of mistakes."""
    case = report.case
    groups = [
        _groups_chart(f"segment-{place}", f"Cost by {name}", found, case.unit)
        for place, (name, found) in enumerate(report.segments.items())
    ]
    return Section(
        "money",
        "Where money goes",
        "Where the money goes",
        [_outcomes_chart(case, report.outcomes), *groups],
        after=_mistakes_table(report.mistakes, case.unit),
    )


def _outcomes_chart(case: Case, cells: dict[str, Floats]) -> Figure:
    rows, paid, avoidable, unit = cells["rows"], cells["paid"], cells["avoidable"], case.unit
    j, e = used = np.nonzero(rows > 0)
    few = case.k * case.d <= 9
    text = np.full(rows.shape, "", dtype=object)
    for place in zip(j, e, strict=True):
        text[place] = f"{money(paid[place], unit)}<br>{count(rows[place])} rows"
    squares = {
        "type": "heatmap",
        "x": list(range(case.d)),
        "y": list(range(case.k)),
        "z": [charts.numbers(row) for row in avoidable],
        "text": text.tolist(),
        "customdata": [
            [f"truth {one}, decided {other}" for other in case.decisions] for one in case.classes
        ],
        "hovertemplate": "%{customdata}<br>%{text}<br>avoidable %{z:,.2f}<extra></extra>",
        "colorscale": "@scale",
        "zmin": 0.0,
        "colorbar": {"title": {"text": "Avoidable"}, "thickness": 12, "outlinewidth": 0},
        "xgap": 3,
        "ygap": 3,
        **({"texttemplate": "%{text}"} if case.k * case.d <= 36 else {}),
    }
    return Figure(
        "outcomes",
        "Truth and decision, in money",
        "What the rows of each square cost. The stronger the colour, the more of that the right "
        "decisions would have avoided.",
        [squares],
        {
            "yaxis": charts.row_axis(case.classes, title="Truth"),
            "xaxis": charts.named_axis("Decision", case.decisions),
            "height": 210 + (62 if few else 40) * min(case.k, 12),
            "least": 0 if few else 170 + 75 * min(case.d, 8),  # pixels; narrower screens scroll
        },
        charts.table(
            "Rows and cost by truth and decision",
            ("Truth", [case.classes[one] for one in j]),
            ("Decision", [case.decisions[one] for one in e]),
            ("Rows", charts.cells(rows[used], count)),
            ("Cost", charts.amounts(paid[used], unit)),
            ("Avoidable", charts.amounts(avoidable[used], unit)),
        ),
        wide=not few,
    )


def _groups_chart(name: str, title: str, groups: dict[str, Any], unit: str) -> Figure:
    labels, rows, constant, model, perfect = groups.values()
    baseline = "Best constant decision"
    traces = [
        charts.bars(labels, cost, color, ",.2f", name=text, showlegend=True)
        for text, cost, color in ((baseline, constant, "@amber"), ("The model", model, "@accent"))
    ]
    layout = charts.row_layout(labels, 18, 140 + 34 * len(labels), "Total cost", unit)
    numbers_ = charts.table(
        title,
        ("Group", labels),
        ("Rows", charts.cells(rows, count)),
        (baseline, charts.amounts(constant, unit)),
        ("The model", charts.amounts(model, unit)),
        ("Saved", charts.amounts(constant - model, unit)),
        ("Still avoidable", charts.amounts(model - perfect, unit)),
        sortable=True,
    )
    read = (
        "The model saves most where its bar is much shorter. Where it is as long as the other one, "
        "better data would pay first."
    )
    return Figure(name, title, read, traces, layout, numbers_)


def _mistakes_table(worst: list[dict[str, Any]], unit: str) -> str:
    if not worst:
        return "<h3>The most expensive mistakes</h3><p>There are none.</p>"
    of: dict[str, list[Any]] = {key: [one[key] for one in worst] for key in worst[0]}
    columns: list[tuple[str, list[charts.Cell]]] = [
        *((key.title(), of[key]) for key in ("row", "truth", "decided", "cheapest")),
        ("Cost", charts.amounts(of["paid"], unit)),
        ("Avoidable", charts.amounts(of["avoidable"], unit)),
        ("p of the truth", charts.cells(of["probability"])),
    ]
    note = ""
    if any(of["reasons"]):
        note = (
            "<p>Reasons are the features that moved the expected saving most: + spoke for the "
            "decision taken, − against it.</p>"
        )
        reasons = [
            [
                f"{name} = {value} ({'+' if part > 0 else ''}{money(part, unit)})"
                for name, value, part in found
            ]
            for found in of["reasons"]
        ]
        columns.append(("Reasons", ["\n".join(lines) for lines in reasons]))
    caption = f"The {len(worst)} rows with the largest cost beyond their cheapest decision"
    return (
        '<h3 id="mistakes">The most expensive mistakes</h3>'
        f'<p class="hint">Press a heading to sort.</p>{note}'
        f'<div class="tall">{charts.table(caption, *columns, sortable=True)}</div>'
    )


# -- what the decisions rest on: features by the money they move ---------------------------------


MOST_EXPLAINED = 2_000
MOST_FEATURES = 15


def features(case: Case) -> dict[str, Any] | None:
    """Explain a sample of rows; None if the case has no explanations."""
    if case.explain is None:
        return None
    rows = np.arange(case.n)
    if case.n > MOST_EXPLAINED:
        rows = np.sort(np.random.default_rng(0).choice(case.n, MOST_EXPLAINED, replace=False))
    parts = case.explain(rows)
    names = list(case.features)
    w = case.weights[rows] / case.weights[rows].sum()
    money = w @ np.abs(parts)
    order = np.argsort(-money, kind="stable")[:MOST_FEATURES]
    return {"names": [names[f] for f in order], "money": money[order], "rows": len(rows)}


def features_section(report: ReportData) -> list[Section]:
    """Bars of the features that move most money; no section without explanations."""
    if report.features is None:
        return []
    names, values, rows = report.features.values()
    unit = report.case.unit
    chart = Figure(
        "features",
        "Which features move money",
        "The mean size of each feature's part in the expected saving of a decision, per row, up or "
        f"down, over {rows:,} rows.",
        [charts.bars(names, values, "@accent", ",.4g")],
        charts.row_layout(names, 32, 130 + 24 * len(names), "Money moved per row", unit),
        charts.table(
            "Mean absolute part of each feature, per row",
            ("Feature", names),
            ("Money", charts.amounts(values, unit)),
        ),
    )
    return [Section("features", "Features", "What the decisions rest on", [chart])]

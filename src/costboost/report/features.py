"""What the decisions rest on: features by the money they move, and how."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from costboost._typing import AnyArray, Floats, Ints
from costboost.report import charts
from costboost.report.case import Case
from costboost.report.charts import Figure, Section, short
from costboost.report.money import places_of, ranked_words, shown

if TYPE_CHECKING:
    from costboost.report.page import ReportData

MOST_EXPLAINED = 2_000
MOST_FEATURES = 15
MOST_EFFECTS = 6
STEPS = 12
NUMBERS = "iufb"


def features(case: Case, seed: int = 0) -> dict[str, Any] | None:
    """Explain a sample of rows; None if the case has no explanations."""
    if case.explain is None:
        return None
    rows = np.arange(case.n)
    if case.n > MOST_EXPLAINED:
        rows = np.sort(np.random.default_rng(seed).choice(case.n, MOST_EXPLAINED, replace=False))
    parts = case.explain(rows)
    names = list(case.features)
    w = case.weights[rows] / case.weights[rows].sum()
    money = w @ np.abs(parts)
    order = np.argsort(-money, kind="stable")[:MOST_FEATURES]
    # Parts speak for the decision taken; where that is to do nothing, against acting.
    acting = parts * np.where(case.decided[rows] == case.nothing, -1.0, 1.0)[:, None]
    effects = [
        _effect(names[f], case.features[names[f]][rows], acting[:, f])
        for f in order[:MOST_EFFECTS]
        if money[f] > 0
    ]
    return {
        "names": [names[f] for f in order],
        "money": money[order],
        "rows": len(rows),
        "effects": effects,
    }


def _effect(name: str, values: AnyArray, parts: Floats) -> dict[str, Any]:
    """How much a feature speaks for acting, by its value: mean and middle 80 %."""
    labels, place = _steps(values)
    groups = [parts[place == code] for code in range(len(labels))]
    spread = np.array([[group.mean(), *np.percentile(group, [10, 90])] for group in groups])
    is_ordered = values.dtype.kind in NUMBERS
    order = np.arange(len(labels)) if is_ordered else np.argsort(spread[:, 0], kind="stable")
    mean, low, high = spread[order].T
    about = {"name": name, "labels": [labels[code] for code in order], "is_ordered": is_ordered}
    return {**about, "mean": mean, "low": low, "high": high}


def _steps(values: AnyArray) -> tuple[list[str], Ints]:
    """Values as a few steps: equally frequent ranges of numbers, the most frequent words."""
    if values.dtype.kind not in NUMBERS:
        return ranked_words(values, np.ones(len(values)), STEPS, "others")
    reals = values.astype(np.float64)
    place = places_of(reals, STEPS)
    groups = [reals[place == code] for code in range(int(place.max()) + 1)]
    return [shown(np.quantile(group, 0.5, method="lower")) for group in groups], place


# -- the section --------------------------------------------------------------------------------


def features_section(report: ReportData) -> Section | None:
    """Bars of all features, then the effect of each of the largest."""
    found, unit = report.features, report.case.unit
    if found is None:
        return None
    effects = [
        _effect_chart(effect, f"effect-{place}", unit)
        for place, effect in enumerate(found["effects"])
    ]
    charts = [_money_chart(found, unit), *effects]
    return Section("features", "Features", "What the decisions rest on", charts)


def _money_chart(found: dict[str, Any], unit: str) -> Figure:
    names, values = found["names"], found["money"]
    labels = [short(name, 32) for name in names[::-1]]
    return Figure(
        "features",
        "Which features move money",
        "The mean size of each feature's part in the expected saving of a decision, per row, up or "
        f"down, over {found['rows']:,} rows.",
        [charts.bars(labels, values[::-1], "@accent", ",.4g")],
        {
            "xaxis": charts.axis("Money moved per row", unit),
            "yaxis": {"automargin": True},
            "height": 130 + 24 * len(names),
        },
        charts.table(
            "Mean absolute part of each feature, per row",
            ("Feature", names),
            ("Money", charts.figures(values, ",.4g", unit)),
        ),
    )


def _effect_chart(effect: dict[str, Any], name: str, unit: str) -> Figure:
    mean, low, high = effect["mean"], effect["low"], effect["high"]
    x = list(range(len(effect["labels"])))
    if effect["is_ordered"]:
        filled = {"fill": "toself", "fillcolor": "@band", "hoverinfo": "skip"}
        band = charts.line("middle 80 %", [*x, *x[::-1]], [*high, *low[::-1]], "@band", **filled)
        band["line"]["width"] = 0
        style: dict[str, Any] = {"mode": "lines+markers", "marker": {"size": 6}}
        traces, spread = [band], "band holds"
    else:
        error = charts.whiskers(low, mean, high, 1.5, color="@accent")
        style = {"mode": "markers", "marker": {"size": 10, "color": "@accent"}, "error_y": error}
        traces, spread = [], "thin lines hold"
    return Figure(
        name,
        effect["name"],
        "Values above 0 speak for acting, those below 0 for doing nothing. The "
        f"{spread} the middle 80 % of the rows.",
        [*traces, charts.line("mean part", x, mean, "@accent", **style)],
        {
            "xaxis": charts.named_axis(effect["labels"], 14),
            "yaxis": charts.axis("Part of the saving", unit),
            "showlegend": False,
            "height": 280,
        },
        charts.table(
            f"Part of the saving by {effect['name']}",
            ("Value", effect["labels"]),
            ("Mean", charts.figures(mean, ",.4g", unit)),
            ("10 %", charts.figures(low, ",.4g", unit)),
            ("90 %", charts.figures(high, ",.4g", unit)),
        ),
    )

"""What the report is about: data, settings, versions, and the costs in words."""

from __future__ import annotations

import platform
from html import escape
from typing import TYPE_CHECKING, Any

import numpy as np

from costboost._utils import versions
from costboost.report.case import Case, sums
from costboost.report.charts import Section, money

if TYPE_CHECKING:
    from costboost.report.page import ReportData

PACKAGES = ("costboost", "numpy", "scipy", "scikit-learn", "lightgbm", "xgboost", "plotly")
MOST_PAIRS = 30


def about(case: Case) -> dict[str, Any]:
    """Collect what a reader needs to trust or repeat the report."""
    share = sums(case.codes, case.weights, case.k) / case.weights.sum()
    data = [
        ("Rows", f"{case.n:,}"),
        *(
            (f"Share of class {label}", f"{part:.2%}")
            for label, part in zip(case.classes, share, strict=True)
        ),
        ("Decisions", ", ".join(str(label) for label in case.decisions)),
        ("Doing nothing means", str(case.decisions[case.nothing])),
        ("Costs", "each row has its own" if case.is_per_row else "one matrix for all rows"),
    ]
    if not (case.weights == 1.0).all():
        data.insert(1, ("Sum of weights", f"{case.weights.sum():,.6g}"))
    if case.time is not None:
        days = case.time.astype("datetime64[D]")
        data.append(("Time", f"{days.min()} to {days.max()}"))
    return {
        "data": data,
        "settings": list(case.settings.items()),
        "versions": [("Python", platform.python_version()), *versions(*PACKAGES).items()],
        "costs": costs_in_words(case),
    }


def costs_in_words(case: Case) -> list[str]:
    """One sentence per pair of truth and decision that ever costs or earns something."""
    # The costliest pairs, if there are many. The span is over all rows, as known when deciding.
    rows = case.matrix if case.is_per_row else case.matrix[None]
    low, mean, high = rows.min(axis=0), case.average, rows.max(axis=0)
    pairs = np.argwhere((low != 0) | (high != 0)).tolist()
    if len(pairs) > MOST_PAIRS:
        pairs = sorted(pairs, key=lambda pair: -abs(mean[tuple(pair)]))[:MOST_PAIRS]
    return [
        f"Deciding {case.decisions[e]} when the truth is {case.classes[j]} "
        f"{_phrase(low[j, e], mean[j, e], high[j, e], case.unit)}."
        for j, e in pairs
    ]


def _phrase(low: float, mean: float, high: float, unit: str) -> str:
    if low == high:
        return f"{'costs' if low >= 0 else 'earns'} {_amount(abs(low), unit)}"
    shown = [_amount(value, unit) for value in (low, high, mean)]
    return f"costs {shown[0]} to {shown[1]}, on average {shown[2]}"


def _amount(value: float, unit: str) -> str:
    return money(value, unit, cents=value != round(value))


# -- the section --------------------------------------------------------------------------------


def about_section(report: ReportData) -> Section:
    """Costs in words, then lists of facts."""
    found = report.about
    costs = "".join(f"<li>{escape(sentence)}</li>" for sentence in found["costs"])
    lists = "".join(
        f"<div><h3>{title}</h3><dl>"
        + "".join(f"<dt>{escape(name)}</dt><dd>{escape(value)}</dd>" for name, value in found[key])
        + "</dl></div>"
        for title, key in (("Data", "data"), ("Settings", "settings"), ("Versions", "versions"))
        if found[key]
    )
    html = (
        f'<div class="facts"><div class="stated"><h3>The costs in words</h3><ul>{costs}</ul></div>'
        f"{lists}</div>"
    )
    return Section("about", "Data", "Data, costs and settings", before=html)

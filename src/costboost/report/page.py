"""A report: all its numbers, and the page, one HTML file with everything in it."""

from __future__ import annotations

import base64
import gzip
import json
import os
import platform
from functools import cache
from html import escape
from importlib import import_module
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from costboost._utils import versions, write_bytes
from costboost._words import percent
from costboost.columns import need
from costboost.report import decisions, headline, money, what_if
from costboost.report.case import Case, ReportData, sums
from costboost.report.charts import Section, asset, filled

PACKAGES = ("costboost", "numpy", "scipy", "scikit-learn", "lightgbm", "xgboost", "plotly")


def report_data(case: Case) -> ReportData:
    """Compute all numbers of a report.

    Parameters
    ----------
    case : Case
        The rows, from `make_case`.

    Returns
    -------
    ReportData
        One attribute per part of the page.

    Examples
    --------
    >>> import numpy as np
    >>> from costboost.report import make_case, report_data
    >>> y = np.array([0, 0, 0, 1])
    >>> risk = np.array([0.1, 0.2, 0.4, 0.7])
    >>> case = make_case(y, np.column_stack([1 - risk, risk]), costs=[[0, 1], [5, 0]])
    >>> report = report_data(case)
    >>> report.headline.rule("constant").cost.value, report.headline.rule("model").cost.value
    (3.0, 2.0)
    >>> report.headline.verdict.answer
    'cannot tell'
    >>> report.case.operating_point([2.0, 1.0]).cost
    2.0
    """
    return ReportData(
        case=case,
        headline=headline.headline(case),
        sliders=what_if.sliders(case),
        thresholds=decisions.thresholds(case),
        calibration=decisions.calibration(case),
        capacities=decisions.capacities(case),
        break_even=what_if.break_even(case),
        mistakes=money.mistakes(case),
        outcomes=money.outcomes(case),
        segments=money.segments(case),
        features=money.features(case),
        about=about(case),
    )


def write_report(case: Case | ReportData, path: str | os.PathLike[str]) -> Path:
    """Write the report as one HTML file that needs nothing else.

    Parameters
    ----------
    case : Case or ReportData
        The rows, from `make_case`, or the numbers already computed.
    path : path
        The file to write. It appears only when it is complete.

    Returns
    -------
    Path
        The file.
    """
    report = case if isinstance(case, ReportData) else report_data(case)
    return write_bytes(Path(path), render(report).encode("utf-8"))


def render(report: ReportData) -> str:
    """The page as text."""
    parts = [
        headline.first_page(report),
        headline.comparison_section(report),
        what_if.what_if_section(report),
        decisions.decisions_section(report),
        money.money_section(report),
        *money.features_section(report),
        about_section(report),
    ]
    drawn = [figure for part in parts for figure in part.drawn]
    return filled(
        "report.html",
        title=escape(report.case.title),
        style=asset("report.css"),
        navigation="".join(f'<a href="#{part.name}">{escape(part.menu)}</a>' for part in parts),
        sections="\n".join(part.html() for part in parts),
        version=escape(version("costboost")),
        figures=_json({one.name: {"data": one.data, "layout": one.layout} for one in drawn}),
        model=_json(_model(report)),
        rows=_packed(report.sliders["packed"][1]),
        plotly=_plotly(),
        script=asset("report.js"),
    )


def _model(report: ReportData) -> dict[str, Any]:
    """What the sliders need, apart from the rows."""
    case, moves = report.case, report.sliders
    return {
        "unit": case.unit,
        "classes": case.classes,
        "decisions": case.decisions,
        "levers": [
            {"cells": np.argwhere(cells).tolist(), "mean": float(case.average[cells].mean())}
            for cells in case.levers.values()
        ],
        "factors": what_if.FACTORS,
        "capacities": moves["capacities"],
        "rows": moves["packed"][0],
    }


def _json(content: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    text = json.dumps(content, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    return text.replace("<", "\\u003c")


def _packed(content: bytes) -> str:
    """Compressed, the same text on every run."""
    return base64.b64encode(gzip.compress(content, compresslevel=9, mtime=0)).decode("ascii")


@cache
def _plotly() -> str:
    """plotly.js from plotly's Python package, compressed: 2 MB instead of 5."""
    need("plotly", "cli", "costboost.report")
    return _packed(import_module("plotly.offline").get_plotlyjs().encode("utf-8"))


# -- what the report is about: data, settings, versions, and the costs in words ------------------


def about(case: Case) -> dict[str, Any]:
    """Collect what a reader needs to trust or repeat the report."""
    share = sums(case.codes, case.weights, case.k) / case.weights.sum()
    days = [] if case.time is None else [case.time.min(), case.time.max()]
    data = {
        "Rows": f"{case.n:,}",
        "Sum of weights": "" if (case.weights == 1.0).all() else f"{case.weights.sum():,.6g}",
        **{f"Share of class {one}": percent(share[j]) for j, one in enumerate(case.classes)},
        "Decisions": ", ".join(case.decisions),
        "Costs": "each row has its own" if case.costs.is_per_row else "one matrix for all rows",
        "Doing nothing means": "" if case.nothing is None else case.decisions[case.nothing],
        "Time": " to ".join(str(day.astype("M8[D]")) for day in days),
    }
    return {
        "data": [(name, value) for name, value in data.items() if value],
        "settings": list(case.settings.items()),
        "versions": [("Python", platform.python_version()), *versions(*PACKAGES).items()],
        "costs": [line.strip() for line in str(case.costs).splitlines()[1:]],
    }


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
    unit = f" (in {escape(report.case.unit)})" if report.case.unit else ""
    html = (
        f'<div class="facts"><div class="stated"><h3>The costs in words{unit}</h3><ul>{costs}</ul>'
        f"</div>{lists}</div>"
    )
    return Section("about", "Data", "Data, costs and settings", before=html)

"""The page of a report: one HTML file with everything in it."""

from __future__ import annotations

import base64
import gzip
import json
import os
from functools import cache
from html import escape
from importlib import import_module
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from costboost.report.case import Case, texts
from costboost.report.data import ReportData, report_data
from costboost.report.page.sections import sections

__all__ = ["render", "write_report"]


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
    page = render(report)
    target = Path(path)
    partial = target.with_name(f"{target.name}.partial")
    try:
        partial.write_text(page, encoding="utf-8")
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)
    return target


def render(report: ReportData) -> str:
    """The page as text."""
    parts = sections(report)
    return Template(_asset("report.html")).substitute(
        title=escape(report.case.title),
        style=_asset("report.css"),
        navigation="".join(f'<a href="#{part.name}">{escape(part.menu)}</a>' for part in parts),
        sections="\n".join(part.text() for part in parts),
        version=escape(version("costboost")),
        figures=_json(
            {
                figure.name: {"data": figure.traces, "layout": figure.layout}
                for part in parts
                for figure in part.figures
            }
        ),
        model=_json(_model(report)),
        rows=_base64(report.sliders.packed.compressed()),
        plotly=_plotly(),
        script=_asset("report.js"),
    )


def _model(report: ReportData) -> dict[str, Any]:
    """What the sliders need, apart from the rows."""
    case, moves = report.case, report.sliders
    return {
        "unit": case.unit,
        "classes": texts(case.classes),
        "decisions": texts(case.decisions),
        "nothing": case.nothing,
        "risky": case.risky.tolist(),
        "levers": [
            {"cells": np.argwhere(lever.cells).tolist(), "mean": _mean(case, lever.cells)}
            for lever in moves.levers
        ],
        "factors": moves.factors,
        "thresholds": moves.thresholds,
        "capacities": moves.capacities,
        "rows": moves.packed.header,
    }


def _mean(case: Case, cells: Any) -> float:
    return float(case.average[cells].mean())


def _asset(name: str) -> str:
    return files("costboost.report.page").joinpath(name).read_text("utf-8")


def _json(content: Any) -> str:
    """JSON that cannot end the script element it stands in."""
    text = json.dumps(content, separators=(",", ":"), allow_nan=False, ensure_ascii=False)
    return text.replace("<", "\\u003c")


def _base64(content: bytes) -> str:
    return base64.b64encode(content).decode("ascii")


@cache
def _plotly() -> str:
    """plotly.js from plotly's Python package, compressed: 2 MB instead of 5."""
    try:
        offline = import_module("plotly.offline")
    except ImportError as error:
        raise ImportError(
            "The charts of costboost.report need plotly, which is not installed: "
            'pip install "costboost[report]".'
        ) from error
    return _base64(gzip.compress(offline.get_plotlyjs().encode("utf-8"), compresslevel=9, mtime=0))

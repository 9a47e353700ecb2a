"""A report: all its numbers, and the page, one HTML file with everything in it."""

from __future__ import annotations

import base64
import gzip
import json
import os
import platform
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from html import escape
from importlib import import_module
from importlib.metadata import version
from importlib.resources import files
from pathlib import Path
from string import Template
from typing import Any

import numpy as np

from costboost._typing import Floats
from costboost._utils import versions
from costboost.files.container import write_bytes
from costboost.report import charts, decisions, headline, money, what_if
from costboost.report.board import Board, OperatingPoint, board_of, factors_of
from costboost.report.case import Case, sums, texts
from costboost.report.charts import Section

PACKAGES = ("costboost", "numpy", "scipy", "scikit-learn", "lightgbm", "xgboost", "plotly")
MOST_PAIRS = 30


@dataclass(frozen=True, eq=False)
class ReportData:
    """All numbers of a report, as Python objects.

    Attributes
    ----------
    case : Case
        The arrays it was made of.
    board : Board
        The sliders' model on single rows.
    headline : Headline
        Costs and savings of the model and the alternatives.
    sliders : Sliders
        Positions of the sliders, and the rows they act on.
    thresholds : dict or None
        Total cost by threshold: ``thresholds``, ``costs``, ``best`` (threshold, cost), ``chosen``
        (the model's cost) and ``stated`` (the threshold that the costs imply).
    cost_curve : dict or None
        Cost over all cost ratios: ``probability_cost``, ``costs`` of each rival, ``stated``.
    calibrations : list of dict
        For each class ``label``: ``predicted`` and ``observed`` frequencies, ``low``, ``high``
        and ``rows`` of each bin.
    shares : dict
        Saving by the share of rows acted upon: ``shares``, ``savings``, ``random``, ``chosen``,
        ``best``.
    capacities : list of dict
        Cost by capacity of each ``decision`` other than doing nothing: ``capacities``, ``costs``,
        ``expected``, ``prices``, ``wanted``.
    sensitivity : dict
        If the costs are wrong: ``factors``, regret along each lever in ``lines`` and over the
        ``grid`` of two levers, factors (low, high) of ``break_even``.
    mistakes : list of dict
        The costliest mistakes: ``row``, ``truth``, ``decided``, ``cheapest``, ``paid``,
        ``avoidable``, ``probability``, ``reasons``.
    outcomes : dict
        ``rows``, ``paid`` and ``avoidable`` by truth and decision (k, d).
    deciles : list of dict
        Costs by decile of the amount: ``label``, ``rows``, ``nothing``, ``model``, ``perfect``.
    segments : dict of str to list of dict
        Costs by segment, as in `deciles`.
    features : dict or None
        Features by money: ``names``, ``money``, ``rows``, ``effects``.
    about : dict
        ``data``, ``settings``, ``versions`` as pairs, ``costs`` in words.
    """

    case: Case
    board: Board
    headline: headline.Headline
    sliders: what_if.Sliders
    thresholds: dict[str, Any] | None
    cost_curve: dict[str, Any] | None
    calibrations: list[dict[str, Any]]
    shares: dict[str, Any]
    capacities: list[dict[str, Any]]
    sensitivity: dict[str, Any]
    mistakes: list[dict[str, Any]]
    outcomes: dict[str, Floats]
    deciles: list[dict[str, Any]]
    segments: dict[str, list[dict[str, Any]]]
    features: dict[str, Any] | None
    about: dict[str, Any]

    def operating_point(
        self,
        factors: Sequence[float] | None = None,
        threshold: float | None = None,
        capacity: Mapping[Any, float] | None = None,
    ) -> OperatingPoint:
        """What is decided and paid at one position of the page's sliders.

        Parameters
        ----------
        factors : sequence of float, optional
            A factor for each lever of ``sliders.levers``; by default the stated costs.
        threshold : float, optional
            Act where the risk is at least this; by default decide by expected cost.
        capacity : mapping of one decision to a number, optional
            Largest number of rows that the decision may get, for example ``{"review": 200}``.

        Returns
        -------
        OperatingPoint
            Decisions, counts and costs.
        """
        levers = self.sliders.levers
        values = [1.0] * len(levers) if factors is None else list(factors)
        if len(values) != len(levers):
            raise ValueError(
                f"The 'factors' parameter of operating_point must have one number for each of "
                f"{[lever.label for lever in levers]}, got {len(values)}."
            )
        limited = most = None
        if capacity is not None:
            names = list(self.case.decisions)
            if len(capacity) != 1 or next(iter(capacity)) not in names:
                raise ValueError(
                    "The 'capacity' parameter of operating_point must limit one decision of "
                    f"{names}, got {dict(capacity)}."
                )
            ((name, most),) = capacity.items()
            limited = names.index(name)
        f = factors_of(levers, values, self.board.shape)
        return self.board.operating_point(f, threshold, most, limited)


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
    >>> report.headline.rule("nothing").cost.value, report.headline.rule("model").cost.value
    (5.0, 2.0)
    >>> report.operating_point(threshold=0.5).cost
    0.0
    """
    board = board_of(case)
    moves = what_if.sliders(case, board)
    return ReportData(
        case=case,
        board=board,
        headline=headline.headline(case),
        sliders=moves,
        thresholds=what_if.threshold_curve(case, board),
        cost_curve=decisions.whole_cost_curve(case),
        calibrations=decisions.calibrations(case),
        shares=decisions.share_curve(case, board),
        capacities=[
            decisions.capacity_curve(case, board, code)
            for code in range(case.d)
            if code != case.nothing
        ],
        sensitivity=what_if.sensitivity(case, board, moves.levers),
        mistakes=money.mistakes(case),
        outcomes=money.outcomes(case),
        deciles=money.deciles(case),
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
    makers: tuple[Callable[[ReportData], Section | None], ...] = (
        headline.headline_section,
        what_if.what_if_section,
        decisions.decisions_section,
        what_if.wrong_costs_section,
        money.money_section,
        money.features_section,
        about_section,
    )
    parts = [part for part in (make(report) for make in makers) if part is not None]
    drawn = [figure for part in parts for figure in part.drawn]
    return Template(_asset("report.html")).substitute(
        title=escape(report.case.title),
        style=_asset("report.css"),
        navigation="".join(f'<a href="#{part.name}">{escape(part.menu)}</a>' for part in parts),
        sections="\n".join(part.html() for part in parts),
        version=escape(version("costboost")),
        figures=_json({one.name: {"data": one.data, "layout": one.layout} for one in drawn}),
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
            {
                "cells": np.argwhere(lever.cells).tolist(),
                "mean": float(case.average[lever.cells].mean()),
            }
            for lever in moves.levers
        ],
        "factors": moves.factors,
        "thresholds": moves.thresholds,
        "capacities": moves.capacities,
        "rows": moves.packed.header,
    }


def _asset(name: str) -> str:
    return files("costboost.report").joinpath("assets", name).read_text("utf-8")


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


# -- what the report is about: data, settings, versions, and the costs in words ------------------


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
    return charts.money(value, unit, cents=value != round(value))


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

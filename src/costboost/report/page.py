"""A report: all its numbers, and the page, one HTML file with everything in it."""

from __future__ import annotations

import base64
import gzip
import json
import os
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
from costboost.report import about, decisions, features, headline, money, what_if, wrong_costs
from costboost.report.board import Board, OperatingPoint, board_of, factors_of
from costboost.report.case import Case, texts
from costboost.report.charts import Section


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
        sensitivity=wrong_costs.sensitivity(case, board, moves.levers),
        mistakes=money.mistakes(case),
        outcomes=money.outcomes(case),
        deciles=money.deciles(case),
        segments=money.segments(case),
        features=features.features(case),
        about=about.about(case),
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
    makers: tuple[Callable[[ReportData], Section | None], ...] = (
        headline.headline_section,
        what_if.what_if_section,
        decisions.decisions_section,
        wrong_costs.wrong_costs_section,
        money.money_section,
        features.features_section,
        about.about_section,
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

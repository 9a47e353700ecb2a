"""The numbers of a report: one small module per part, each a function of a `Case`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from costboost.report.case import Case
from costboost.report.data.about import About, about
from costboost.report.data.curves import (
    Calibration,
    Rounds,
    WholeCostCurve,
    calibrations,
    rounds_of,
    whole_cost_curve,
)
from costboost.report.data.features import FeatureMoney, features
from costboost.report.data.headline import Headline, headline
from costboost.report.data.money import (
    Group,
    Mistake,
    Outcomes,
    deciles,
    mistakes,
    outcomes,
    segments,
)
from costboost.report.data.operating import Board, OperatingPoint, board_of, factors_of
from costboost.report.data.sensitivity import Sensitivity, sensitivity
from costboost.report.data.sliders import Sliders, sliders
from costboost.report.data.thresholds import (
    CapacityCurve,
    ShareCurve,
    ThresholdCurve,
    capacity_curve,
    share_curve,
    threshold_curve,
)

__all__ = ["ReportData", "report_data"]


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
    thresholds : ThresholdCurve or None
        Cost by threshold.
    cost_curve : WholeCostCurve or None
        Cost over all cost ratios.
    calibrations : list of Calibration
        Predicted against observed frequencies.
    rounds : list of Rounds
        Cost by boosting round.
    shares : ShareCurve
        Saving by the share of rows acted upon.
    capacities : list of CapacityCurve
        Cost by capacity, one per decision other than doing nothing.
    sensitivity : Sensitivity
        Regret and break-even if the costs are wrong.
    mistakes : list of Mistake
        The costliest mistakes.
    outcomes : Outcomes
        Rows and money by truth and decision.
    deciles : list of Group
        Costs by decile of the amount.
    segments : dict of str to list of Group
        Costs by segment.
    features : FeatureMoney or None
        Features by money.
    about : About
        Data, settings, versions, costs in words.
    """

    case: Case
    board: Board
    headline: Headline
    sliders: Sliders
    thresholds: ThresholdCurve | None
    cost_curve: WholeCostCurve | None
    calibrations: list[Calibration]
    rounds: list[Rounds]
    shares: ShareCurve
    capacities: list[CapacityCurve]
    sensitivity: Sensitivity
    mistakes: list[Mistake]
    outcomes: Outcomes
    deciles: list[Group]
    segments: dict[str, list[Group]]
    features: FeatureMoney | None
    about: About

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
    moves = sliders(case, board)
    return ReportData(
        case=case,
        board=board,
        headline=headline(case),
        sliders=moves,
        thresholds=threshold_curve(case, board),
        cost_curve=whole_cost_curve(case),
        calibrations=calibrations(case),
        rounds=rounds_of(case),
        shares=share_curve(case, board),
        capacities=[
            capacity_curve(case, board, code) for code in range(case.d) if code != case.nothing
        ],
        sensitivity=sensitivity(case, board, moves.levers),
        mistakes=mistakes(case),
        outcomes=outcomes(case),
        deciles=deciles(case),
        segments=segments(case),
        features=features(case),
        about=about(case),
    )

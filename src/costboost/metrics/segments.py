"""What decisions cost in each segment of the rows."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import t as student

from costboost._typing import AnyArray, Floats
from costboost._utils import as_frame, usual_exponent
from costboost.costs.labels import grouped
from costboost.metrics.money import Judged, in_full

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["CostBySegment", "cost_by"]


@dataclass(frozen=True, eq=False)
class CostBySegment:
    """Costs by segment; made by `cost_by`.

    Attributes
    ----------
    groups : array of shape (g,)
        The segments, most costly first.
    rows : array of shape (g,)
        Number of rows, or sum of their weights.
    total_cost, share : arrays of shape (g,)
        Cost of each segment, and its share of the total (NaN if that is 0).
    mean_cost, low, high : arrays of shape (g,)
        Mean cost per row and its interval (Student's t), which is infinite for a single row. NaN
        for rows whose weights are all 0.
    total : float
        Cost of all rows; the segments sum to it.
    confidence : float
        Coverage of the intervals.
    """

    groups: AnyArray
    rows: Floats
    total_cost: Floats
    share: Floats
    mean_cost: Floats
    low: Floats
    high: Floats
    total: float
    confidence: float

    def to_frame(self) -> pd.DataFrame:
        """One row per segment.

        Returns
        -------
        pandas.DataFrame
            Columns ``group``, ``rows``, ``total_cost``, ``share``, ``mean_cost``, ``low`` and
            ``high``.
        """
        names = ("rows", "total_cost", "share", "mean_cost", "low", "high")
        return as_frame(
            {"group": self.groups, **{name: getattr(self, name) for name in names}},
            "CostBySegment.to_frame",
        )


def cost_by(
    groups: ArrayLike,
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    cost_matrix: Any = None,
    costs: Any = None,
    labels: ArrayLike | None = None,
    decisions: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    positive: Any = None,
    X: Any = None,
    confidence: float = 0.95,
) -> CostBySegment:
    """Return what decisions cost in each segment, with intervals of the means.

    The intervals are Student's, for rows that are independent draws from their segment. With few
    rows and a few large costs they are too narrow.

    Parameters
    ----------
    groups : array of shape (n,)
        Segment of each row, such as a country.
    y_true, y_pred, cost_matrix, costs, labels, decisions, sample_weight, positive, X
        As in `total_cost`.
    confidence : float, default=0.95
        Coverage of each interval.

    Returns
    -------
    CostBySegment
        Costs by segment, which sum to `total_cost`.

    Examples
    --------
    >>> found = cost_by(
    ...     ["web", "web", "shop", "shop"], [0, 1, 1, 0], [0, 0, 1, 1],
    ...     cost_matrix={"fn": 5, "fp": 1},
    ... )
    >>> found.groups.tolist(), found.total_cost.tolist(), found.total
    (['web', 'shop'], [5.0, 1.0], 6.0)
    """
    given = {key: x for key, x in locals().items() if key not in ("groups", "confidence")}
    case = Judged("cost_by", **given)
    return segmented(case.costs.paid(case.decisions), groups, case.weights, confidence)


def segmented(
    paid: Floats,
    groups: ArrayLike,
    weights: Floats | None = None,
    confidence: float = 0.95,
) -> CostBySegment:
    """Costs of rows by segment."""
    owner = "cost_by"
    if not 0 < confidence < 1:
        raise ValueError(
            f"The 'confidence' parameter of {owner} must be in (0, 1), got {confidence!r}."
        )
    names, codes = grouped(groups, len(paid), "groups", owner)
    weight = np.ones(len(paid)) if weights is None else weights
    order = np.argsort(codes, kind="stable")
    ends = np.cumsum(np.bincount(codes, minlength=len(names)))[:-1]
    members = np.split(order, ends)
    # In units of their own, powers of two: squares and products of very large or very small numbers
    # would overflow or vanish.
    unit = int(np.frexp(np.abs(paid).max(initial=0.0))[1])
    size = usual_exponent(float(weight.max(initial=0.0)))
    paid, weight = np.ldexp(paid, -unit), np.ldexp(weight, -size)
    totals = np.array([math.fsum(paid[rows] * weight[rows]) for rows in members])
    rows = np.array([float(weight[rows].sum()) for rows in members])
    halves = [half_width(paid[rows], weight[rows], size, confidence) for rows in members]
    with np.errstate(invalid="ignore", divide="ignore"):
        means = totals / rows
    total = math.fsum(paid * weight)
    shares = totals / total if total else np.full(len(totals), np.nan)
    first = np.argsort(-totals, kind="stable")
    half = np.array(halves)
    return CostBySegment(
        groups=names[first],
        rows=np.array([in_full(x, size, owner) for x in rows[first]]),
        total_cost=np.array([in_full(x, unit + size, owner) for x in totals[first]]),
        share=shares[first],
        mean_cost=np.ldexp(means, unit)[first],
        low=np.ldexp(means - half, unit)[first],
        high=np.ldexp(means + half, unit)[first],
        total=in_full(total, unit + size, owner),
        confidence=confidence,
    )


def half_width(paid: Floats, weight: Floats, size: int = 0, confidence: float = 0.95) -> float:
    """Half the interval of a weighted mean; a weight of 2 is a row that came twice."""
    # Weights are divided by two to the ``size``.
    mass, one = float(weight.sum()), math.ldexp(1.0, min(-size, 1000))
    if mass <= one:
        return float("inf")
    mean = float((paid * weight).sum()) / mass
    variance = float((weight * (paid - mean) ** 2).sum()) / (mass - one)
    count = mass / one  # of rows
    return float(student.ppf(0.5 + confidence / 2, count - 1)) * math.sqrt(variance / count)

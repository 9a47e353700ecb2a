"""Sums of what decisions cost."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from costboost._typing import Floats
from costboost._validation import in_range, usual_exponent
from costboost.metrics.case import Case

__all__ = ["mean_cost", "savings_score", "total_cost"]


def total_cost(
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
) -> float:
    """Return the total cost: the sum of what each decision costs.

    Parameters
    ----------
    y_true : array of shape (n,)
        True labels.
    y_pred : array of shape (n,)
        Decisions.
    cost_matrix : array, frame, mapping, callable or None
        Costs, truth by decision, in any form of `costboost.costs.Costs.resolve`. None: every
        mistake costs 1.
    costs : array of shape (n, k, d), (n, d) or (n,), or a form of `cost_matrix`, optional
        Costs of single rows: a matrix, the price of each decision, or the price of an error. They
        override `cost_matrix`.
    labels : array of shape (k,), optional
        The classes, in the order of the rows of the costs. By default the sorted labels found in
        `y_true`, in `y_pred` and in labelled costs; where two classes are needed and one is
        found, a lone 0, 1, -1 or bool is completed to the usual pair.
    decisions : array of shape (d,), optional
        The decisions, in the order of the columns of unlabelled costs. By default the classes, or
        those that labelled costs name.
    sample_weight : array of shape (n,), optional
        How often each row counts.
    positive : label, optional
        The positive class, for ``{"fn": ..., "fp": ...}`` and `costboost.costs.per_row` that do
        not name it.
    X : table of shape (n, d), optional
        The rows, if the costs are expressions over columns, or a function.

    Returns
    -------
    float
        The total cost; negative if profits prevail.

    Examples
    --------
    >>> total_cost([0, 1, 1], [1, 0, 1], cost_matrix={"fn": 5, "fp": 1})
    6.0
    >>> total_cost([0, 1, 1], [1, 0, 1], costs=[2.0, 30.0, 400.0])
    32.0

    Decisions may have names of their own, and costs may come from columns:

    >>> import pandas as pd
    >>> rows = pd.DataFrame({"amount": [90.0, 40.0]})
    >>> prices = {("ok", "accept"): 0, ("ok", "review"): 4,
    ...           ("fraud", "accept"): "amount", ("fraud", "review"): 4}
    >>> total_cost(["fraud", "fraud"], ["accept", "review"], cost_matrix=prices, X=rows)
    94.0
    """
    case = Case(
        y_true,
        y_pred,
        owner="total_cost",
        cost_matrix=cost_matrix,
        costs=costs,
        labels=labels,
        decisions=decisions,
        sample_weight=sample_weight,
        positive=positive,
        X=X,
    )
    total, exponent = _sum(case.costs.paid(case.decisions), case.weights)
    return in_full(total, exponent, "total_cost")


def mean_cost(
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
) -> float:
    """Return the mean cost of a row.

    Parameters
    ----------
    y_true, y_pred, cost_matrix, costs, labels, decisions, sample_weight, positive, X
        As in `total_cost`.

    Returns
    -------
    float
        The (weighted) mean; with ``cost_matrix=None`` the error rate.

    Examples
    --------
    >>> mean_cost([0, 1, 1], [1, 0, 1], cost_matrix={"fn": 5, "fp": 1})
    2.0
    """
    case = Case(
        y_true,
        y_pred,
        owner="mean_cost",
        cost_matrix=cost_matrix,
        costs=costs,
        labels=labels,
        decisions=decisions,
        sample_weight=sample_weight,
        positive=positive,
        X=X,
    )
    weights = case.weights
    if weights is not None:
        weights = in_range(weights, float(weights.max()))
    total, exponent = _sum(case.costs.paid(case.decisions), weights)
    mean = total / (len(case.decisions) if weights is None else float(weights.sum()))
    return math.ldexp(mean, exponent)


def savings_score(
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
) -> float:
    """Return the share of the cost of the best constant decision that is saved.

    ``1 - cost / cost of the best constant decision``: 1 for perfect decisions, 0 for those as good
    as deciding the same for every row, negative if worse. Each row's prices are first reduced by
    their minimum, so that profits and unavoidable costs do not blur the scale: the
    cheapest decision of every row costs 0.

    If the best constant decision costs 0 there is nothing to save: the score is 0 if the cost is 0
    too, else ``-cost / cost of the worst constant decision``. It is never NaN.

    Parameters
    ----------
    y_true, y_pred, cost_matrix, costs, labels, decisions, sample_weight, positive, X
        As in `total_cost`.

    Returns
    -------
    float
        The savings, at most 1.

    Examples
    --------
    >>> savings_score([0, 0, 0, 1], [0, 0, 1, 1], cost_matrix={"fn": 5, "fp": 1})
    0.666...
    """
    case = Case(
        y_true,
        y_pred,
        owner="savings_score",
        cost_matrix=cost_matrix,
        costs=costs,
        labels=labels,
        decisions=decisions,
        sample_weight=sample_weight,
        positive=positive,
        X=X,
    )
    return case.costs.savings(case.decisions, case.weights)


def in_full(value: float, exponent: int, owner: str) -> float:
    """The value times two to the exponent."""
    try:
        return math.ldexp(value, exponent)
    except OverflowError:
        raise ValueError(
            f"A sum of {owner} is larger than the largest number, because the costs or the weights "
            "of the rows are too large. Pass costs in another unit, or use mean_cost."
        ) from None


def _sum(values: Floats, weights: Floats | None) -> tuple[float, int]:
    """Mantissa and exponent of Σ w v: it is the first times two to the second."""
    # The exponent is 0 unless costs or weights are of unusual size.
    exponent = usual_exponent(float(np.abs(values).max()))
    values = np.ldexp(values, -exponent) if exponent else values
    if weights is None:
        return float(values.sum()), exponent
    other = usual_exponent(float(weights.max()))
    weights = np.ldexp(weights, -other) if other else weights
    return float((values * weights).sum()), exponent + other

"""Sums of what decisions cost."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from costboost._typing import Floats
from costboost.metrics._case import Case

__all__ = ["mean_cost", "savings_score", "total_cost"]


def total_cost(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    cost_matrix: Any = None,
    costs: Any = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the bill: the sum of what each decision costs.

    Parameters
    ----------
    y_true : array of shape (n,)
        True labels.
    y_pred : array of shape (n,)
        Decisions.
    cost_matrix : array, frame, mapping or None
        One matrix for all rows, truth by decision, in any form of `costboost.costs.Costs.resolve`
        except a function of X, which a metric does not see: pass ``costs=function(X)``. None:
        every mistake costs 1.
    costs : array of shape (n, k, k), (n, k) or (n,), optional
        Costs of single rows: a matrix, the price of each decision, or the price of an error. They
        win over `cost_matrix`.
    labels : array of shape (k,), optional
        The classes, in the order of the axes of the costs. By default the sorted labels found in
        `y_true`, in `y_pred` and in a labelled `cost_matrix`; where two classes are needed and
        one is found, a lone 0, 1, -1 or bool is completed to the usual pair.
    sample_weight : array of shape (n,), optional
        How often each row counts.

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
    """
    case = Case(y_true, y_pred, cost_matrix, costs, labels, sample_weight, "total_cost")
    return _sum(case.costs.paid(case.decisions), case.weights)


def mean_cost(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    cost_matrix: Any = None,
    costs: Any = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> float:
    """Return the mean cost of a row.

    Parameters
    ----------
    y_true, y_pred, cost_matrix, costs, labels, sample_weight
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
    case = Case(y_true, y_pred, cost_matrix, costs, labels, sample_weight, "mean_cost")
    bill = _sum(case.costs.paid(case.decisions), case.weights)
    return bill / (len(case.decisions) if case.weights is None else float(case.weights.sum()))


def savings_score(
    y_true: ArrayLike,
    y_pred: ArrayLike,
    *,
    cost_matrix: Any = None,
    costs: Any = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
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
    y_true, y_pred, cost_matrix, costs, labels, sample_weight
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
    case = Case(y_true, y_pred, cost_matrix, costs, labels, sample_weight, "savings_score")
    bill, constants = _reduced_bills(case)
    best = float(constants.min())
    if best > 0:
        return 1.0 - bill / best
    return -bill / float(constants.max()) if bill > 0 else 0.0


def _sum(values: Floats, weights: Floats | None) -> float:
    return float(values.sum() if weights is None else (values * weights).sum())


def _reduced_bills(case: Case) -> tuple[float, Floats]:
    """Reduced cost of the decisions taken, and of each constant decision."""
    costs, k = case.costs, len(case.classes)
    matrix = costs.reduced_matrix
    if matrix is not None:  # by outcome: no array of n rows
        outcomes = np.bincount(
            case.codes * k + case.decisions, weights=case.weights, minlength=k * k
        ).reshape(k, k)
        bill = (outcomes * matrix).sum(axis=0).sum()
        return float(bill), (outcomes.sum(axis=1)[:, None] * matrix).sum(axis=0)
    reduced = costs.reduced
    taken = np.take_along_axis(reduced, case.decisions[:, None], axis=1)[:, 0]
    # Summed in the same order as the decisions taken, so that a constant saves exactly 0.
    constants = np.array([_sum(column, case.weights) for column in reduced.T])
    return _sum(taken, case.weights), constants

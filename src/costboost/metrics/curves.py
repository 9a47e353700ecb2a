"""Cost as a function of the threshold, and of class frequencies and prices."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.optimize import isotonic_regression

from costboost._typing import Bools, Floats, Ints
from costboost._utils import in_range, usual_exponent
from costboost.costs.forms import is_short
from costboost.metrics.money import Judged, in_full, positive_index

__all__ = ["cost_by_threshold", "cost_curve"]


def cost_by_threshold(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    cost_matrix: Any = None,
    costs: Any = None,
    positive: Any = None,
    labels: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
    X: Any = None,
) -> tuple[Floats, Floats]:
    """Return the total cost of deciding for the positive class at or above each threshold.

    Parameters
    ----------
    y_true : array of shape (n,)
        True labels, two classes.
    y_score : array of shape (n,)
        Score of the positive class; any monotone scale.
    cost_matrix, costs, labels, sample_weight, X
        As in `total_cost`.
    positive : label, optional
        The class that high scores stand for; by default that of ``cost_matrix["positive"]``, or the
        second of {0, 1}, {False, True} and {-1, 1}. It is also the positive class of costs that
        name none.

    Returns
    -------
    thresholds : array of shape (m + 1,)
        The m distinct scores, increasing, then infinity (never decide "positive").
    costs : array of shape (m + 1,)
        Total cost of the decisions ``y_score >= threshold``.

    Examples
    --------
    >>> thresholds, totals = cost_by_threshold(
    ...     [0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], cost_matrix={"fn": 5, "fp": 1}
    ... )
    >>> thresholds
    array([0.1 , 0.35, 0.4 , 0.8 , inf])
    >>> totals
    array([ 2.,  1.,  6.,  5., 10.])
    """
    owner = "cost_by_threshold"
    if positive is None and is_short(cost_matrix) and costs is None:
        positive = cost_matrix.get("positive")
    case = Judged(
        owner,
        y_true,
        cost_matrix=cost_matrix,
        costs=costs,
        labels=labels,
        sample_weight=sample_weight,
        positive=positive,
        X=X,
        binary=True,
        size=2,
    )
    if len(case.classes) != 2:
        raise ValueError(
            f"The 'labels' parameter of {owner} must name two classes, got {case.classes.tolist()}."
        )
    code = positive_index(case.classes, positive, owner)
    score = _scores(y_score, len(case.codes), owner)
    w = np.ones(len(score)) if case.weights is None else case.weights
    paid = np.stack([case.costs.paid(np.full(len(score), one)) for one in (1 - code, code)])
    # In units of their own, powers of two: products of very large or very small numbers would
    # overflow or vanish.
    unit, size = usual_exponent(float(np.abs(paid).max())), usual_exponent(float(w.max()))
    price_negative, price_positive = np.ldexp(paid, -unit) * np.ldexp(w, -size)
    order, starts = _distinct(score)
    # Two one-sided sums rather than one sum of differences: nothing cancels.
    below = np.concatenate([[0.0], np.cumsum(price_negative[order])])
    above = np.concatenate([[0.0], np.cumsum(price_positive[order[::-1]])])[::-1]
    cuts = np.append(starts, len(score))
    totals = [in_full(total, unit + size, owner) for total in below[cuts] + above[cuts]]
    return np.append(score[order[starts]], np.inf), np.array(totals)


def cost_curve(
    y_true: ArrayLike,
    y_score: ArrayLike,
    *,
    probability_cost: int | ArrayLike | None = 101,
    positive: Any = None,
    sample_weight: ArrayLike | None = None,
) -> tuple[Floats, Floats]:
    """Return the cost curve of Drummond and Holte: the least normalised expected cost.

    With ``PC = p(+) C1 / (p(+) C1 + p(-) C2)``, the share of the positive class in the largest
    possible cost, a threshold costs ``FNR PC + FPR (1 - PC)`` of that. The curve is its
    smallest value over all thresholds, for every mix of class frequencies and costs [1]_.
    Only the corners of the ROC curve's convex hull can be best. They come from an isotonic
    regression, so the work grows like one sort of the scores.

    Parameters
    ----------
    y_true : array of shape (n,)
        True labels, two classes, both present.
    y_score : array of shape (n,)
        Score of the positive class; any monotone scale.
    probability_cost : int, array or None, default=101
        Values of PC: a number of them, evenly spaced from 0 to 1; the values; or None, the exact
        corners, between which the curve is straight.
    positive : label, optional
        The positive class; by default the second of {0, 1}, {False, True} and {-1, 1}.
    sample_weight : array of shape (n,), optional
        How often each row counts.

    Returns
    -------
    probability_cost : array of shape (m,)
        The values of PC.
    expected_cost : array of shape (m,)
        Normalised expected cost, between 0 and ``min(PC, 1 - PC)``.

    References
    ----------
    .. [1] C. Drummond, R. C. Holte, "Cost curves: An improved method for visualizing classifier
       performance", Machine Learning 65, 2006. doi:10.1007/s10994-006-8199-5

    Examples
    --------
    >>> pc, cost = cost_curve([0, 0, 1, 1], [0.1, 0.4, 0.35, 0.8], probability_cost=5)
    >>> pc
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    >>> cost
    array([0.   , 0.125, 0.25 , 0.125, 0.   ])
    """
    owner = "cost_curve"
    case = Judged(owner, y_true, sample_weight=sample_weight, positive=positive, binary=True)
    is_positive = case.codes == positive_index(case.classes, positive, owner)
    score = _scores(y_score, len(case.codes), owner)
    misses, alarms = _hull(is_positive, score, case.weights, owner)
    # From one corner to the next a few more alarms buy fewer misses: it pays above this PC.
    bought, price = -np.diff(misses), np.diff(alarms)
    switches = price / (price + bought)
    if probability_cost is None:
        pc = np.unique(np.concatenate([[0.0], switches, [1.0]]))
    elif isinstance(probability_cost, (int, np.integer)):
        pc = np.linspace(0.0, 1.0, int(probability_cost))
    else:
        pc = np.asarray(probability_cost, dtype=np.float64)
        if not ((pc >= 0) & (pc <= 1)).all():
            raise ValueError(
                f"The 'probability_cost' parameter of {owner} must lie in [0, 1], got values from "
                f"{pc.min()} to {pc.max()}."
            )
    best = np.searchsorted(switches, pc)
    return pc, misses[best] * pc + alarms[best] * (1.0 - pc)


def _scores(y_score: ArrayLike, n: int, owner: str) -> Floats:
    score = np.asarray(y_score, dtype=np.float64)
    if score.shape != (n,):
        remedy = "Pass the column of the positive class, predict_proba(X)[:, 1]."
        raise ValueError(
            f"The 'y_score' parameter of {owner} must have shape ({n},), got {score.shape}. "
            f"{remedy if score.ndim == 2 else ''}".rstrip()
        )
    if not np.isfinite(score).all():
        raise ValueError(f"The 'y_score' parameter of {owner} must be finite, got NaN or infinity.")
    return score


def _distinct(score: Floats) -> tuple[Ints, Ints]:
    """Order of the scores, and where in it each distinct score starts."""
    order = np.argsort(score, kind="stable")
    ranked = score[order]
    return order, np.flatnonzero(np.concatenate([[True], ranked[1:] > ranked[:-1]]))


def _hull(
    positive: Bools, score: Floats, weights: Floats | None, owner: str
) -> tuple[Floats, Floats]:
    """Miss and false-alarm rates at the corners of the ROC hull, from no alarm to all alarms."""
    # Pooling adjacent violators in the order of the scores merges exactly the thresholds under the
    # convex hull.
    order, starts = _distinct(score)
    w = np.ones(len(score)) if weights is None else in_range(weights, float(weights.max()))
    pos = np.add.reduceat(np.where(positive, w, 0.0)[order], starts)
    neg = np.add.reduceat(np.where(positive, 0.0, w)[order], starts)
    if not (pos.sum() > 0 and neg.sum() > 0):
        raise ValueError(
            f"{owner} needs rows of both classes, because it normalises by both. Check y_true and "
            "sample_weight."
        )
    used = pos + neg > 0
    pos, neg = pos[used], neg[used]
    blocks = isotonic_regression(pos / (pos + neg), weights=pos + neg).blocks[:-1]
    pos, neg = np.add.reduceat(pos, blocks), np.add.reduceat(neg, blocks)
    # Cumulated from the end that starts at 0: both rates are exact there.
    misses = np.concatenate([[0.0], np.cumsum(pos)])[::-1] / pos.sum()
    alarms = np.concatenate([[0.0], np.cumsum(neg[::-1])]) / neg.sum()
    # Rows whose weight is lost in rounding make no corner.
    is_corner = np.append(True, (np.diff(misses) != 0) | (np.diff(alarms) != 0))
    return misses[is_corner], alarms[is_corner]

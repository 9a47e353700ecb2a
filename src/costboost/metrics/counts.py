"""Figures of merit of the papers that count decisions instead of pricing them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from costboost.metrics.case import Case, positive_index

__all__ = ["epsilon", "g_mean"]


def epsilon(y_true: ArrayLike, y_pred: ArrayLike, *, factor: float, positive: Any = None) -> float:
    """Return false alarms plus `factor` times misses, as counts.

    It is the figure of merit of [1]_, Table 2, there with factors 2, 5 and 10.

    Parameters
    ----------
    y_true, y_pred : array of shape (n,)
        True labels and decisions, two classes.
    factor : float
        Price of a miss in false alarms.
    positive : label, optional
        The positive class; by default the second of {0, 1}, {False, True} and {-1, 1}.

    Returns
    -------
    float
        The sum.

    References
    ----------
    .. [1] H. Masnadi-Shirazi, N. Vasconcelos, "Cost-sensitive boosting", SVCL-TR 2007/06,
       University of California, San Diego, 2007.

    Examples
    --------
    >>> epsilon([0, 0, 1, 1], [1, 0, 0, 1], factor=5)
    6.0
    """
    if not (np.isfinite(factor) and factor >= 0):
        raise ValueError(
            f"The 'factor' parameter of epsilon must be a finite number >= 0, got {factor}."
        )
    case = Case(y_true, y_pred, owner="epsilon", positive=positive, binary=True)
    code = positive_index(case.classes, positive, "epsilon")
    truth, decided = case.codes == code, case.decisions == code
    return float(np.sum(~truth & decided) + factor * np.sum(truth & ~decided))


def g_mean(y_true: ArrayLike, y_pred: ArrayLike, *, positive: Any = None) -> float:
    """Return the geometric mean of the classes' recalls.

    For two classes ``sqrt(TPR * TNR)``. Recalls are taken over the classes present in `y_true`.

    Parameters
    ----------
    y_true, y_pred : array of shape (n,)
        True labels and decisions.
    positive : label, optional
        Count this class against all others together. Makes no difference for two classes.

    Returns
    -------
    float
        Between 0 (some class is never found) and 1.

    Examples
    --------
    >>> g_mean([0, 0, 1, 1], [1, 0, 1, 1])
    0.707...
    """
    case = Case(y_true, y_pred, owner="g_mean")
    codes, decisions = case.codes, case.decisions
    if positive is not None:
        code = positive_index(case.classes, positive, "g_mean")
        codes, decisions = (codes == code).astype(np.intp), decisions == code
    k = max(len(case.classes), 2)
    counts = np.bincount(codes, minlength=k)
    hits = np.bincount(codes, weights=codes == decisions, minlength=k)
    present = counts > 0
    recalls = hits[present] / counts[present]
    return float(np.prod(recalls ** (1.0 / len(recalls))))

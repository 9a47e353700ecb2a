"""Thresholds with a guarantee: order statistics of held-out scores.

X. Tong, Y. Feng and J. J. Li, "Neyman-Pearson classification algorithms and NP receiver operating
characteristics", Science Advances 4(2), 2018, doi:10.1126/sciadv.aao1659.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binom

from costboost._utils import checked_share


def rows_needed(limit: float, delta: float) -> int:
    """The fewest rows for which an order statistic keeps the promise.

    Parameters
    ----------
    limit : float
        Largest error rate, in (0, 1).
    delta : float
        Largest probability that it is exceeded, in (0, 1).

    Returns
    -------
    int
        The smallest n with ``(1 - limit) ** n <= delta``.

    Examples
    --------
    >>> rows_needed(0.05, 0.05), rows_needed(0.01, 0.05)
    (59, 299)
    """
    limit = checked_share(limit, "limit", "rows_needed")
    delta = checked_share(delta, "delta", "rows_needed")
    return max(1, math.ceil(math.log(delta) / math.log1p(-limit)))


def order_rank(n: int, limit: float, delta: float) -> int:
    """The smallest k with P(Bin(n, 1 - limit) >= k) <= delta; n + 1 if there is none."""
    tails = binom.sf(np.arange(n), n, 1.0 - limit)  # P(Bin > k - 1), falling in k
    return 1 + int(np.searchsorted(-tails, -delta))


def order_threshold(scores: ArrayLike, limit: float, delta: float) -> float:
    """The lowest threshold that scores exceed at a rate above `limit` with probability <= `delta`.

    There are enough scores: at least `rows_needed`.
    """
    ordered = np.sort(np.asarray(scores, dtype=np.float64))
    if np.isnan(ordered).any():
        raise ValueError("A threshold with a guarantee needs scores without NaN. Drop those rows.")
    return float(ordered[order_rank(len(ordered), limit, delta) - 1])

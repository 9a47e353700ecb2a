"""Thresholds with a guarantee: order statistics of held-out scores.

X. Tong, Y. Feng and J. J. Li, "Neyman-Pearson classification algorithms and NP receiver operating
characteristics", Science Advances 4(2), 2018, doi:10.1126/sciadv.aao1659.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binom

__all__ = ["order_rank", "order_threshold", "rows_needed"]


def order_rank(n: int, limit: float, delta: float) -> int:
    r"""Rank k of the order statistic of n scores that bounds an error rate with confidence.

    The smallest k with :math:`P(\mathrm{Bin}(n, 1 - limit) \ge k) \le \delta`; n + 1 if there is
    none.

    Parameters
    ----------
    n : int
        Number of scores.
    limit : float
        Largest error rate, in (0, 1).
    delta : float
        Largest probability that it is exceeded, in (0, 1).

    Returns
    -------
    int
        The rank, from 1 to n + 1.

    Examples
    --------
    >>> order_rank(59, 0.05, 0.05), order_rank(58, 0.05, 0.05), order_rank(1000, 0.05, 0.05)
    (59, 59, 962)
    """
    tails = binom.sf(np.arange(n), n, 1.0 - limit)  # P(Bin > k - 1), falling in k
    return 1 + int(np.searchsorted(-tails, -delta))


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
    return max(1, math.ceil(math.log(delta) / math.log1p(-limit)))


def order_threshold(scores: ArrayLike, limit: float, delta: float) -> float:
    """The lowest threshold that scores exceed at a rate above `limit` with probability <= `delta`.

    Parameters
    ----------
    scores : array of shape (n,)
        Independent scores of the class that should stay below the threshold.
    limit : float
        Largest share of such scores that may exceed the threshold, in (0, 1).
    delta : float
        Largest probability, over the draw of the scores, that more than that exceed it.

    Returns
    -------
    float
        The order statistic of rank `order_rank`.

    Examples
    --------
    >>> order_threshold(range(1, 1001), 0.05, 0.05)
    962.0
    """
    ordered = np.sort(np.asarray(scores, dtype=np.float64))
    k = order_rank(len(ordered), limit, delta)
    if k > len(ordered):
        raise ValueError(
            f"The 'scores' parameter of order_threshold must hold at least "
            f"{rows_needed(limit, delta)} scores for limit={limit!r} and delta={delta!r}; got "
            f"{len(ordered)}. Add rows, or raise limit or delta."
        )
    return float(ordered[k - 1])

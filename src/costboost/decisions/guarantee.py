"""Bounds that hold with a stated probability: of a mean cost, and of a rate."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import binom

from costboost._typing import Floats
from costboost._utils import checked_share, invalid, is_real

# -- Whether the mean cost is below a limit, with a stated probability of being wrong ------------
# Costs of held-out rows are independent draws from an unknown distribution between two known
# bounds. The test bets against "the mean cost is m or more" (Waudby-Smith & Ramdas 2024): with
# costs scaled to [0, 1], the capital
#
# .. math::
#
#     K_n(m) = \prod_{i = 1}^n \bigl(1 + \lambda_i (m - x_i)\bigr),
#     \qquad 0 \le \lambda_i \le \frac{3}{4 (1 - m)},
#
# where the stake λ_i depends on earlier rows only, does not grow on average if the mean is at least
# m. By Markov's inequality it ends above 1/δ with probability at most δ, for any number of rows and
# any distribution. The upper bound is the smallest m at which it does.
#
# Why this one: costs are small for most rows and large for a few. Hoeffding's bound knows only the
# range, and Hoeffding-Bentkus only mean and range; the stakes adapt to the variance, as empirical
# Bernstein bounds do but with smaller constants. Where every row costs either nothing or the
# largest cost, Hoeffding-Bentkus would be a little tighter.


_STAKE = 0.75  # largest share of the capital that one row can take


@dataclass(frozen=True)
class CostGuarantee:
    """An answer of `cost_guarantee`.

    Attributes
    ----------
    holds : bool
        Whether the rows show that the mean cost is below the limit; yes is wrong with probability
        at most delta. False means "not shown", not "above".
    upper_bound : float
        The mean cost is below it with probability at least 1 - delta.
    mean : float
        Mean cost of the rows.
    limit, delta : float
        The arguments of `cost_guarantee`.
    n : int
        Number of rows.
    """

    holds: bool
    upper_bound: float
    mean: float
    limit: float
    delta: float
    n: int

    def __bool__(self) -> bool:
        return self.holds


def cost_guarantee(
    costs: ArrayLike,
    limit: float,
    delta: float = 0.05,
    *,
    largest: float,
    smallest: float = 0.0,
    random_state: int = 0,
) -> CostGuarantee:
    """Ask whether the mean cost is below a limit, being wrong with probability at most delta.

    Parameters
    ----------
    costs : array of shape (n,)
        Costs of the decisions on rows that had no part in training or in choosing the limit.
    limit : float
        The mean cost that must not be exceeded.
    delta : float, default=0.05
        Largest probability, over the draw of the rows, that the answer is yes although the mean is
        not below the limit.
    largest, smallest : float
        Bounds of the cost of any row, known beforehand (such as a card limit) and not read off
        these rows.
    random_state : int, default=0
        Seed of the order in which the rows are used. The order matters a little; fixing it keeps
        the answer the same each time.

    Returns
    -------
    CostGuarantee
        The answer, and the upper bound of the mean cost; true in an ``if`` if the limit holds.

    References
    ----------
    I. Waudby-Smith and A. Ramdas, "Estimating means of bounded random variables by betting",
    Journal of the Royal Statistical Society B 86(1), 2024, doi:10.1093/jrsssb/qkad009.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> costs = np.where(rng.random(2000) < 0.02, 100.0, 0.0)
    >>> found = cost_guarantee(costs, limit=4.0, delta=0.05, largest=100.0)
    >>> found.holds, bool(found.mean < found.upper_bound < 4.0)
    (True, True)
    """
    owner = "cost_guarantee"
    values = np.asarray(costs, dtype=np.float64)
    if values.ndim != 1 or not len(values):
        raise invalid("costs", owner, f"must have shape (n,), non-empty; got {values.shape}.")
    checked_share(delta, "delta", owner)
    ends = f"between smallest={smallest!r} and largest={largest!r}"
    if not all(map(is_real, (smallest, limit, largest))) or not smallest < limit < largest:
        raise invalid("limit", owner, f"must lie {ends}, else it says nothing; got {limit!r}.")
    if not (values.min() >= smallest and values.max() <= largest):
        given = f"got values from {values.min():g} to {values.max():g}"
        raise invalid("costs", owner, f"must lie {ends}, {given}. Name bounds of any row.")
    x = np.random.default_rng(random_state).permutation((values - smallest) / (largest - smallest))
    bound = smallest + (largest - smallest) * _upper_bound(x, delta)
    mean = float(np.mean(values))
    return CostGuarantee(bound <= limit, bound, mean, float(limit), float(delta), len(x))


def _upper_bound(x: Floats, delta: float) -> float:
    """The smallest mean that the bets rule out, by bisection: capital grows with m."""
    wanted, seen = math.log(1.0 / delta), np.arange(1, len(x) + 1)
    # Stakes from the rows before: large where the variance so far is small.
    mean = (0.5 + np.cumsum(x)) / (seen + 1)
    variance = (0.25 + np.cumsum((x - mean) ** 2)) / (seen + 1)
    stakes = np.sqrt(2.0 * wanted / (len(x) * np.append(0.25, variance[:-1])))

    def is_ruled_out(m: float) -> bool:
        stake = np.minimum(stakes, _STAKE / max(1.0 - m, 1e-300))
        return bool(np.log1p(stake * (m - x)).sum() >= wanted)

    low, high = 0.0, 1.0
    for _ in range(60):
        middle = 0.5 * (low + high)
        low, high = (low, middle) if is_ruled_out(middle) else (middle, high)
    return max(high, float(x.mean()))


# -- Thresholds with a guarantee: order statistics of held-out scores ----------------------------
# X. Tong, Y. Feng and J. J. Li, "Neyman-Pearson classification algorithms and NP receiver operating
# characteristics", Science Advances 4(2), 2018, doi:10.1126/sciadv.aao1659.


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

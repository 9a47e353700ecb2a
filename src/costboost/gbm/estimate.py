"""What the decisions will save, with an interval, from rows that no booster was trained on."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from costboost._typing import Floats

__all__ = ["Estimate", "estimate_savings", "savings_of_future_rows"]

_NORMAL_95 = 1.959963984540054


class Estimate(NamedTuple):
    """A value with its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})"


def estimate_savings(paid: Floats, prices: Floats, weights: Floats) -> Estimate:
    """Savings and their interval."""
    # With :math:`a_i` what row i paid and :math:`b_i` what the best constant decision pays,
    # savings are :math:`s = 1 - \sum w_i a_i / \sum w_i b_i`. A ratio of sums has, to first order,
    # the variance of the sum of :math:`w_i (a_i - (1 - s) b_i) / \sum_j w_j b_j`, which gives
    # the interval :math:`s \pm 1.96` standard errors.
    totals = weights @ prices
    constant = int(totals.argmin())
    if totals[constant] <= 0:
        return Estimate(0.0, 0.0, 0.0)
    base = prices[:, constant]
    ratio = float(weights @ paid) / float(totals[constant])
    residual = weights * (paid - ratio * base) / totals[constant]
    # Over n - 1, as for the variance of any mean.
    n = max(len(paid), 2)
    error = float(np.sqrt(np.square(residual).sum() * n / (n - 1)))
    return Estimate(1.0 - ratio, 1.0 - ratio - _NORMAL_95 * error, 1.0 - ratio + _NORMAL_95 * error)


def savings_of_future_rows(estimate: Estimate, n: float, m: float) -> Estimate:
    """What so many new rows will save, with an interval for them."""
    # The interval of `estimate_savings` is about the mean of endlessly many rows. New rows vary
    # too: if :math:`\sigma` is the standard error of n rows, the difference to m other rows has the
    # standard error :math:`\sigma \sqrt{1 + n / m}`. The interval is symmetric on the scale
    # :math:`\log(1 - s)`, because the share of the cost that is left, 1 - s, cannot be negative and
    # has a long upper tail.
    left = 1.0 - estimate.value
    error = (estimate.high - estimate.value) * np.sqrt(1.0 + n / m)
    if left <= 0 or error <= 0:
        return Estimate(estimate.value, estimate.value - error, min(estimate.value + error, 1.0))
    factor = float(np.exp(error / left))
    return Estimate(estimate.value, 1.0 - left * factor, 1.0 - left / factor)

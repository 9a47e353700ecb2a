"""What decisions will save, estimated on held-out rows."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from costboost._typing import AnyArray, Floats, Ints
from costboost.costs import RealizedCosts
from costboost.gbm.data import TrainingData
from costboost.metrics.money_interval import ROUNDING, Interval, money_interval

# How much wider the variance is where the model that will decide is not the one that decided the
# held-out rows: it is the mean of the folds' models, or one model of all rows. Chosen by
# `benchmarks/verdicts.py`. A single booster is judged by rows that it did not see itself.
WIDEN_FOLDS = 1.3
WIDEN_SINGLE = 1.0


@dataclass(frozen=True)
class Estimates:
    """What the decisions on held-out rows cost and save."""

    n_rows: float  # the weight of the held-out rows
    cost: float  # mean of a row
    score: Interval
    savings: Interval | None  # None if the best constant decision costs nothing or earns
    # The same if `predict` is not given the costs of rows; None without costs of single rows.
    score_without_costs: Interval | None = None
    savings_without_costs: Interval | None = None


def make_estimates(
    decided: Ints,
    held_out: TrainingData,
    *,
    decided_without_costs: Ints | None = None,
    widen: float = WIDEN_FOLDS,
) -> Estimates:
    """Return what decisions on held-out rows cost and save, with the costs of rows and without."""
    weight = held_out.sample_weight
    paid = held_out.costs.prices[np.arange(len(held_out)), decided]
    score, savings = estimate_savings(decided, held_out, groups=held_out.groups, widen=widen)
    estimates = Estimates(
        n_rows=float(weight.sum()),
        cost=float(np.average(paid, weights=weight)),
        score=score,
        savings=savings,
    )
    if decided_without_costs is None:
        return estimates
    score, savings = estimate_savings(
        decided_without_costs, held_out, groups=held_out.groups, widen=widen
    )
    return replace(estimates, score_without_costs=score, savings_without_costs=savings)


def estimate_savings(
    decided: Ints,
    held_out: TrainingData,
    *,
    groups: AnyArray | None = None,
    widen: float = WIDEN_FOLDS,
) -> tuple[Interval, Interval | None]:
    """Return the share of the avoidable cost that decisions avoid, and their savings.

    Savings are None where the best constant decision costs nothing or earns.
    """
    costs = held_out.costs
    weight = held_out.sample_weight
    rows = np.arange(len(held_out))
    prices, reduced_prices = _prices_by_class(costs, weight)
    options: dict[str, Any] = {"chosen": decided, "weight": weight, "groups": groups}
    options |= {"of": "share", "widen": widen}
    score = money_interval(
        costs.regret[rows, decided], costs.regret, prices=reduced_prices, **options
    )
    totals = weight @ costs.prices
    if totals.min() <= ROUNDING * float(weight @ np.abs(costs.prices).max(axis=1)):
        return score, None
    savings = money_interval(costs.prices[rows, decided], costs.prices, prices=prices, **options)
    return score, savings


def _prices_by_class(costs: RealizedCosts, weight: Floats) -> tuple[Floats, Floats]:
    """Return prices by class and decision, and the same without the least of each class."""
    if costs.matrix is not None:
        return costs.matrix, costs.matrix - costs.matrix.min(axis=-1, keepdims=True)
    # Of each row only the prices under its own class are known: take the means by class.
    n_classes = len(costs.classes)
    mass = np.bincount(costs.y_index, weight, minlength=n_classes)
    means = []
    for table in (costs.prices, costs.regret):
        sums = np.zeros((n_classes, table.shape[1]))
        np.add.at(sums, costs.y_index, weight[:, None] * table)
        means.append(sums / np.where(mass > 0, mass, 1.0)[:, None])
    return means[0], means[1]


def of_future_rows(estimate: Interval, n: float, m: float) -> Interval:
    r"""Return what m new rows will save, by an estimate of n rows.

    The interval of the estimate is about the mean of endlessly many rows. New rows vary too: if
    :math:`\sigma` is the standard error of n rows, the difference to m other rows has the standard
    error :math:`\sigma \sqrt{1 + n / m}`. The interval is symmetric on the scale
    :math:`\log(1 - s)`, because the share of the cost that is left, 1 - s, cannot be negative and
    has a long upper tail.
    """
    left = 1.0 - estimate.value
    error = (estimate.value - estimate.low) * np.sqrt(1.0 + n / m)
    if not np.isfinite(error):
        return Interval(estimate.value, -np.inf, 1.0)
    if left <= 0:
        high = estimate.value + error
        if estimate.value <= 1:  # above 1 the decisions earn
            high = min(high, 1.0)
        return Interval(estimate.value, estimate.value - error, high)
    factor = float(np.exp(error / left))
    return Interval(estimate.value, 1.0 - left * factor, 1.0 - left / factor)

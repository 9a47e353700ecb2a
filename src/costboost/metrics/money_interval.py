"""The interval under every verdict: what decisions save, in money or as a share, and how sure."""

from __future__ import annotations

from typing import Literal, NamedTuple

import numpy as np
from scipy.stats import t as student

from costboost._typing import AnyArray, Floats, Ints

# How often an event that was never seen is counted. With no event in n rows the exact upper limit
# of Poisson is 3.7 events; Student's interval with 1.5 pseudo-events gives 3.9. With 1, 5 and 10
# events seen it gives 5.6, 11.5 and 18.2, where Poisson's are 5.6, 11.7 and 18.4.
PSEUDO_EVENTS = 1.5
# A constant decision that costs less than this share of all costs costs nothing, but for rounding.
ROUNDING = 1e-12


class Interval(NamedTuple):
    """A value with its interval, of 95 % if nothing else is said."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})"

    def _repr_html_(self) -> str:
        return f"<b>{self.value:.3f}</b> (95 % interval {self.low:.3f} to {self.high:.3f})"


def money_interval(
    paid: Floats,
    constant_costs: Floats,
    *,
    prices: Floats | None,
    chosen: Ints | None = None,
    weight: Floats | None = None,
    groups: AnyArray | None = None,
    of: Literal["gain", "share"] = "gain",
    widen: float = 1.0,
    confidence: float = 0.95,
) -> Interval:
    r"""Return what decisions save against the best constant decision, with an interval.

    With :math:`a_i` the cost of row i and :math:`b_{di}` what it would cost if every row were
    decided d, each times the weight of the row, the value is the least over d of
    :math:`v_d = (B_d - A) / W` (the gain of a row, in money), or of :math:`v_d = 1 - A / B_d` (the
    share of the cost that is saved). Capitals are sums over the rows, W is that of the weights.

    Three things make the interval cover what it says:

    - It is Student's of the sums by group, since rows of one group are not independent.
    - Every constant decision gets an interval, and of these the lowest ends count: which constant
      is best is not known but estimated.
    - Costly events that are too rare to be seen count all the same. For each decision e and class c
      the interval is worked out once more with a pseudo-event, 1.5 rows of mean weight and class c
      that were decided e. The lowest low end counts of those that speak against the decisions, and
      the highest high end of those that speak for them.

    Parameters
    ----------
    paid : array of shape (n,)
        What the decision on each row cost.
    constant_costs : array of shape (n, d)
        What each constant decision would have cost on the row.
    prices : array of shape (k, d) or (n, k, d), or None
        What decisions cost under each class, of all rows or of each. None leaves out the
        pseudo-events.
    chosen : int array of shape (n,), optional
        The decisions, as columns of `constant_costs`; needed with `prices` of single rows.
    weight : array of shape (n,), optional
        Weights of the rows, all positive. Only their ratios matter.
    groups : array of shape (n,), optional
        Group of each row, such as a customer.
    of : {"gain", "share"}, default="gain"
        Whether the value is money per row, or a share of the best constant decision's cost.
    widen : float, default=1.0
        Factor of the variance: above 1 if the model that will decide is not the one that decided
        these rows.
    confidence : float, default=0.95
        Coverage.

    Returns
    -------
    Interval
        The value and the ends of its interval. The ends are infinite for a single row or group,
        and the low end of a share is so where the best constant decision costs nothing or earns.

    Examples
    --------
    >>> y, chosen = np.array([0, 0, 0, 1] * 50), np.array([0, 0, 1, 1] * 50)
    >>> matrix = np.array([[0.0, 1.0], [5.0, 0.0]])
    >>> print(money_interval(matrix[y, chosen], matrix[y], prices=matrix, chosen=chosen))
    0.500 (0.363 to 0.573)
    """
    if weight is None:
        weight = np.ones(len(paid))
    mean_weight = float(weight.mean())
    events = np.empty((0, constant_costs.shape[1] + 1))
    if prices is not None:
        events = _pseudo_events(prices, chosen, weight)
    model_costs = weight * paid
    costs = weight[:, None] * constant_costs
    if groups is not None:
        model_costs = _sums_by_group(model_costs, groups)
        costs = _sums_by_group(costs, groups)
        weight = _sums_by_group(weight, groups)

    totals = costs.sum(axis=0)
    if of == "share" and totals.min() <= ROUNDING * np.abs(costs).sum():
        return _share_of_nothing(float(model_costs.sum()), float(totals.max()))

    value = np.inf
    low = np.inf
    high = np.inf
    for constant, constant_cost in enumerate(costs.T):
        event_constant = events[:, constant]
        unit = weight
        event_unit = np.ones(len(events))
        if of == "share":
            unit = constant_cost
            event_unit = event_constant
        values, halves = _student(
            model_costs,
            constant_cost,
            unit,
            event_paid=mean_weight * events[:, -1],
            event_constant=mean_weight * event_constant,
            event_unit=mean_weight * event_unit,
            widen=widen,
            confidence=confidence,
        )
        value = min(value, float(values[0]))  # the first is without a pseudo-event
        # An event that speaks for the decisions says nothing of how bad they may be.
        low = min(low, float(np.min((values - halves)[values <= values[0]])))
        # The gain against the best constant is the least of all gains, so this bounds it too.
        high = min(high, float(np.max((values + halves)[values >= values[0]])))
    if of == "share":
        high = min(high, 1.0)
    return Interval(value, min(low, value), max(high, value))


def _sums_by_group(values: Floats, groups: AnyArray) -> Floats:
    """Return the sums of the rows of each group."""
    names, group = np.unique(groups, return_inverse=True)
    sums = np.zeros((len(names), *values.shape[1:]))
    np.add.at(sums, group, values)
    return sums


def _share_of_nothing(paid: float, worst_constant: float) -> Interval:
    """Return what `avoidable_cost_score` says where the best constant decision is perfect."""
    value = 0.0
    if paid > 0.0 and worst_constant > 0.0:
        value = -paid / worst_constant
    return Interval(value, -np.inf, 1.0)


def _pseudo_events(prices: Floats, chosen: Ints | None, weight: Floats) -> Floats:
    """Return events: what each constant decision costs, and last what the decision taken costs.

    There is a row for each decision and class, at the mean prices of the rows decided so.
    """
    n_decisions = prices.shape[-1]
    events = []
    for decision in range(n_decisions):
        mean_prices = prices
        if prices.ndim == 3:
            rows = np.flatnonzero(chosen == decision)
            if not len(rows):
                rows = np.arange(len(weight))
            mean_prices = np.average(prices[rows], axis=0, weights=weight[rows])
        events.append(np.column_stack([mean_prices, mean_prices[:, decision]]))
    return np.concatenate(events)


def _student(
    paid: Floats,
    constant_cost: Floats,
    unit: Floats,
    *,
    event_paid: Floats,
    event_constant: Floats,
    event_unit: Floats,
    widen: float,
    confidence: float,
) -> tuple[Floats, Floats]:
    """Return value and half width against one constant: without an event, then with each.

    The value is :math:`(B - A) / U` with U the sum of the units: weights, or the constant's costs.
    """
    times = np.append(0.0, np.full(len(event_paid), PSEUDO_EVENTS))
    event_gain = np.append(0.0, event_constant - event_paid)
    event_unit = np.append(0.0, event_unit)
    gain = constant_cost - paid
    base = unit.sum() + times * event_unit
    values = (gain.sum() + times * event_gain) / base
    n_rows = len(paid)
    if n_rows < 2:
        return values, np.full(len(values), np.inf)

    # Sums of squared residuals :math:`b_i - a_i - v u_i`, for all values v at once.
    residual = gain - values[0] * unit
    away = values - values[0]
    squares = np.square(residual).sum() - 2.0 * away * (residual @ unit)
    squares += np.square(away) * np.square(unit).sum()
    squares = np.maximum(squares, 0.0) + times * np.square(event_gain - values * event_unit)
    n = n_rows + times
    quantile = student.ppf(0.5 + confidence / 2.0, n_rows - 1)
    halves = quantile * np.sqrt(widen * n / (n - 1.0) * squares) / np.abs(base)
    return values, halves

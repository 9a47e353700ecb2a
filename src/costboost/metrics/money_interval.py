"""The interval under every verdict: what decisions save, in money or as a share, and how sure."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import product
from typing import Literal, NamedTuple

import numpy as np
from scipy.stats import t as student

from costboost._typing import AnyArray, Bools, Floats, Ints

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
    gains = gains_over_constants(
        paid,
        constant_costs,
        prices=prices,
        chosen=chosen,
        weight=weight,
        groups=groups,
        of=of,
    )
    if of == "gain":
        return interval_of(gains, widen=widen, confidence=confidence)
    if min(gain.unit for gain in gains) <= ROUNDING * sum(gain.size for gain in gains):
        return _share_of_nothing(gains)
    interval = interval_of(gains, widen=widen, confidence=confidence)
    # Above 1 are only decisions that earn.
    return interval._replace(high=max(min(interval.high, 1.0), interval.value))


def cost_interval(
    paid: Floats,
    *,
    prices: Floats,
    chosen: Ints,
    weight: Floats | None = None,
    groups: AnyArray | None = None,
    confidence: float = 0.95,
) -> Interval:
    """Return the mean cost of a row, with an interval made like that of `money_interval`.

    Parameters
    ----------
    paid, prices, chosen, weight, groups, confidence
        As in `money_interval`.

    Returns
    -------
    Interval
        The mean cost and the ends of its interval, infinite for a single row or group.
    """
    if weight is None:
        weight = np.ones(len(paid))
    # What was never decided, as by a constant decision, cannot cost anything.
    events = [
        _mean_prices(prices, chosen == decision, weight)[:, decision]
        for decision in np.unique(chosen)
    ]
    event_costs = np.concatenate(events)
    # A mean cost is the gain of decisions that cost nothing.
    gain = Gain.of(
        np.column_stack([paid, np.zeros(len(paid))]),
        np.column_stack([event_costs, np.zeros(len(event_costs))]),
        weight=weight,
        groups=groups,
    )
    return interval_of([gain], confidence=confidence)


# --- sums, and the interval that follows from them ------------------------------------------------


@dataclass(frozen=True)
class Gain:
    r"""What decisions gain against one alternative, as sums over rows or groups.

    The value is :math:`v = (B - A) / U` with U the sum of the units: the weights of the rows, or
    what the alternative costs. The residuals are :math:`r_i = b_i - a_i - v u_i`.
    """

    n: float  # rows, or groups
    gain: float  # B - A
    unit: float  # U
    squares: float  # sum of r * r
    cross: float  # sum of r * u
    unit_squares: float  # sum of u * u
    size: float  # sum of the absolute costs of the alternative, for what is zero but for rounding
    paid: float  # A
    event_gain: Floats  # of each pseudo-event; the first is none, and 0
    event_unit: Floats

    @classmethod
    def of(
        cls,
        costs: Floats,
        events: Floats,
        *,
        weight: Floats,
        groups: AnyArray | None = None,
        is_share: bool = False,
    ) -> Gain:
        """Add up rows: columns of `costs` and `events` are the alternative and the decisions."""
        events = weight.mean() * np.column_stack([events, np.ones(len(events))])
        sums = weight[:, None] * np.column_stack([costs, np.ones(len(costs))])
        if groups is not None:
            sums = _sums_by_group(sums, groups)
        unit_column = 2
        if is_share:
            unit_column = 0
        gains = sums[:, 0] - sums[:, 1]
        units = sums[:, unit_column]
        value = 0.0
        if units.sum() != 0.0:
            value = gains.sum() / units.sum()
        residuals = gains - value * units
        return cls(
            n=float(len(sums)),
            gain=float(gains.sum()),
            unit=float(units.sum()),
            squares=float(residuals @ residuals),
            cross=float(residuals @ units),
            unit_squares=float(units @ units),
            size=float(np.abs(sums[:, 0]).sum()),
            paid=float(sums[:, 1].sum()),
            event_gain=np.append(0.0, events[:, 0] - events[:, 1]),
            event_unit=np.append(0.0, events[:, unit_column]),
        )

    def ends(
        self, *, widen: float = 1.0, confidence: float = 0.95, times: float = 1.0
    ) -> tuple[Floats, Floats]:
        """Return value and half width without an event, then with each.

        `times` counts every row so often, as if so many more like them were there.
        """
        events = np.append(0.0, np.full(len(self.event_gain) - 1, PSEUDO_EVENTS))
        base = times * self.unit + events * self.event_unit
        values = (times * self.gain + events * self.event_gain) / base
        n_rows = times * self.n
        if n_rows < 2.0:
            return values, np.full(len(values), np.inf)
        # Squared residuals from all values at once.
        away = values - values[0]
        squares = self.squares - 2.0 * away * self.cross + np.square(away) * self.unit_squares
        squares = times * np.maximum(squares, 0.0)
        squares += events * np.square(self.event_gain - values * self.event_unit)
        n = n_rows + events
        quantile = student.ppf(0.5 + confidence / 2.0, n_rows - 1.0)
        halves = quantile * np.sqrt(widen * n / (n - 1.0) * squares) / np.abs(base)
        return values, halves


def gains_over_constants(
    paid: Floats,
    constant_costs: Floats,
    *,
    prices: Floats | None,
    chosen: Ints | None = None,
    weight: Floats | None = None,
    groups: AnyArray | None = None,
    of: Literal["gain", "share"] = "gain",
) -> list[Gain]:
    """Return the gain against each constant decision; arguments are those of `money_interval`."""
    if weight is None:
        weight = np.ones(len(paid))
    n_constants = constant_costs.shape[1]
    events = np.empty((0, n_constants + 1))
    if prices is not None:
        events = _pseudo_events(prices, chosen, weight)
    gains = []
    for constant in range(n_constants):
        gain = Gain.of(
            np.column_stack([constant_costs[:, constant], paid]),
            events[:, [constant, -1]],
            weight=weight,
            groups=groups,
            is_share=of == "share",
        )
        gains.append(gain)
    return gains


def gain_over_decisions(
    paid: Floats,
    other_paid: Floats,
    *,
    prices: Floats,
    chosen: Ints,
    other: Ints,
    weight: Floats | None = None,
    groups: AnyArray | None = None,
) -> Gain:
    """Return the gain against other decisions on the same rows, such as those of today.

    There is a pseudo-event for each pair of decisions that were taken and each class.
    """
    if weight is None:
        weight = np.ones(len(paid))
    events = []
    for theirs, ours in product(np.unique(other), np.unique(chosen)):
        mean_prices = _mean_prices(prices, (chosen == ours) & (other == theirs), weight)
        events.append(mean_prices[:, [theirs, ours]])
    costs = np.column_stack([other_paid, paid])
    return Gain.of(costs, np.concatenate(events), weight=weight, groups=groups)


def interval_of(
    gains: Sequence[Gain], *, widen: float = 1.0, confidence: float = 0.95, times: float = 1.0
) -> Interval:
    """Return the least gain with the interval that `money_interval` describes."""
    value = np.inf
    low = np.inf
    high = np.inf
    for gain in gains:
        values, halves = gain.ends(widen=widen, confidence=confidence, times=times)
        value = min(value, float(values[0]))  # the first is without a pseudo-event
        # An event that speaks for the decisions says nothing of how bad they may be.
        low = min(low, float(np.min((values - halves)[values <= values[0]])))
        # The gain against the best constant is the least of all gains, so this bounds it too.
        high = min(high, float(np.max((values + halves)[values >= values[0]])))
    return Interval(value, min(low, value), max(high, value))


def worst_event(gains: Sequence[Gain]) -> int | None:
    """Return the pseudo-event that the low end counts; None if it counts none."""
    lowest = np.inf
    event = 0
    for gain in gains:
        values, halves = gain.ends()
        ends = np.where(values <= values[0], values - halves, np.inf)
        if ends.min() < lowest:
            lowest = ends.min()
            event = int(ends.argmin())
    return event - 1 if event > 0 else None


def _sums_by_group(values: Floats, groups: AnyArray) -> Floats:
    """Return the sums of the rows of each group."""
    names, group = np.unique(groups, return_inverse=True)
    sums = np.zeros((len(names), values.shape[1]))
    np.add.at(sums, group, values)
    return sums


def _share_of_nothing(gains: Sequence[Gain]) -> Interval:
    """Return what `avoidable_cost_score` says where the best constant decision is perfect."""
    worst_constant = max(gain.unit for gain in gains)
    value = 0.0
    if gains[0].paid > 0.0 and worst_constant > 0.0:
        value = -gains[0].paid / worst_constant
    return Interval(value, -np.inf, 1.0)


def _pseudo_events(prices: Floats, chosen: Ints | None, weight: Floats) -> Floats:
    """Return events: what each constant decision costs, and last what the decision taken costs.

    There is a row for each decision and class, at the mean prices of the rows decided so.
    """
    events = []
    for decision in range(prices.shape[-1]):
        rows = np.zeros(len(weight), dtype=np.bool_)
        if chosen is not None:
            rows = chosen == decision
        mean_prices = _mean_prices(prices, rows, weight)
        events.append(np.column_stack([mean_prices, mean_prices[:, decision]]))
    return np.concatenate(events)


def _mean_prices(prices: Floats, rows: Bools, weight: Floats) -> Floats:
    """Return mean prices by class and decision, of some rows; of all if there are none."""
    if prices.ndim == 2:
        return prices
    if rows.any():
        return np.average(prices[rows], axis=0, weights=weight[rows])
    return np.average(prices, axis=0, weights=weight)

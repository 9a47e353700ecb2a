"""Decisions of a whole batch within limits at the least cost, and the prices of the limits."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike

from costboost._typing import AnyArray, Floats, Ints
from costboost._utils import Framed, as_frame, check_weights, invalid
from costboost.costs.labels import position
from costboost.decisions.arrays import cheapest, cheapest_other, checked_table, finite
from costboost.decisions.limits import Budget, Rate, Sum, bounds, groups_of, read
from costboost.decisions.program import LinearLimits, dual_bound, solve

if TYPE_CHECKING:
    import pandas as pd


# Groups of at most so many rows are solved together, larger ones begin with a program each.
_SMALL = 256

# -- The graph of exchanges between decisions: optimality, and what one more unit saves ----------
# Given the decision of every row, moving a row from decision j to decision k changes the cost by
# ``E[i, k] - E[i, j]``. The cheapest such move is the arc j -> k of a graph on the d decisions. One
# more node, the outside, stands for unused capacity: k -> outside if k may take another row,
# outside -> j if j may lose one. Decisions within their limits are optimal exactly if the graph has
# no cycle of negative cost (Klein 1967), and shortest paths are the dual prices.


def _graph(
    E: Floats, codes: Ints, group: Ints, lower: Ints, upper: Ints
) -> tuple[Ints, Floats, Ints]:
    """Counts, arcs and the rows that make the moves, for each of several groups of sorted rows."""
    n_groups, d = lower.shape
    starts, rows = np.searchsorted(group, np.arange(n_groups)), np.arange(len(E))
    counts = np.bincount(group * d + codes, minlength=n_groups * d).reshape(-1, d)
    arcs = np.full((n_groups, d + 1, d + 1), np.inf)
    movers = np.zeros((n_groups, d, d), dtype=np.intp)
    for j, k in itertools.permutations(range(d), 2) if len(E) else ():
        change = np.where(codes == j, E[:, k] - E[:, j], np.inf)
        arcs[:, j, k] = np.minimum.reduceat(change, starts)
        cheapest_row = np.where(change == arcs[group, j, k], rows, len(rows))
        movers[:, j, k] = np.minimum.reduceat(cheapest_row, starts)
    arcs[:, :d, d] = np.where(counts < upper, 0.0, np.inf)
    arcs[:, d, :d] = np.where(counts > lower, 0.0, np.inf)
    return counts, arcs, movers


# -- Decisions of a whole batch under limits, and the prices of the limits -----------------------


@dataclass(frozen=True, eq=False)
class Allocation(Framed):
    """Decisions under limits; made by `allocate`.

    Attributes
    ----------
    decisions : array of shape (d,)
        Labels of the decisions.
    codes : int array of shape (n,)
        The decision of each row, as an index into `decisions`.
    expected_cost : float
        Expected cost of all rows together.
    cost_by_decision : dict of label to float
        Its parts: the rows of each decision.
    counts : dict of label to int
        The number of rows of each decision.
    price : dict
        For each decision with a limit, what one more unit of its upper limit saves in total; 0 if
        the limit does not bind. Negative if the lower limit binds: one unit less of it saves that
        much. With ``per``, a dictionary of that kind for each group. With ``constraints`` the
        values are the dual prices of the linear program.
    lower_bound : float
        No decisions within the limits cost less. Equal to `expected_cost` up to rounding unless
        there are constraints, whose sums cannot be met exactly with whole rows.
    constraints : list of dict
        For each constraint (and group): what it is, its limit, the value met, and its dual price.
    """

    decisions: AnyArray
    codes: Ints
    expected_cost: float
    cost_by_decision: dict[Any, float]
    counts: dict[Any, int]
    price: dict[Any, Any]
    lower_bound: float
    constraints: list[dict[str, Any]] = field(default_factory=list)
    _parts: dict[str, list[Any]] = field(default_factory=dict, repr=False)

    @property
    def labels(self) -> AnyArray:
        """The decision of each row, (n,)."""
        return np.asarray(self.decisions[self.codes])

    def to_frame(self) -> pd.DataFrame:
        """One row per decision, and per group if there are groups.

        Returns
        -------
        pandas.DataFrame
            Columns ``group`` (if any), ``decision``, ``rows``, ``at_least``, ``at_most``,
            ``expected_cost`` and ``price``.
        """
        return as_frame(self._parts, "Allocation.to_frame")


def allocate(
    expected: ArrayLike,
    decisions: ArrayLike | None = None,
    *,
    capacity: Mapping[Any, Any] | None = None,
    constraints: Sequence[Rate | Budget] | Rate | Budget | None = None,
    per: ArrayLike | None = None,
    proba: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    X: Any = None,
) -> Allocation:
    """Decide a batch of rows within limits, at the least expected cost.

    With ``capacity`` alone the result is the exact optimum: one limit by partial sort on regret,
    several by a transportation program, whose solutions are whole rows. Equal rows never overshoot
    a limit. ``constraints`` are met, too, but with whole rows the cost may be slightly above the
    optimum: `costboost.decisions.limits` says what is guaranteed.

    Parameters
    ----------
    expected : array of shape (n, d)
        Expected cost of each decision on each row, from `expected_cost` or ``predict_cost``.
    decisions : array of shape (d,), optional
        Labels of the decisions, in the order of the columns; by default 0, 1, ...
    capacity : mapping of decision to limit, optional
        How many rows may get a decision: an integer is a number of rows, a float from 0 to 1 a
        share of the rows, a pair ``(lower, upper)`` has both ends (None is no limit). With
        ``per``, a mapping of group to limit gives every group its own.
    constraints : Rate, Budget or sequence of them, optional
        Limits on expected rates and on sums of money.
    per : array of shape (n,) or str, optional
        Group of each row, such as its day, or the name of that column of X. Limits and constraints
        hold in each group.
    proba : array of shape (n, k), optional
        Probability of each class; needed by `Rate`.
    classes : array of shape (k,), optional
        Labels of the classes; needed by `Rate` if they are not 0, 1, ...
    X : frame, optional
        The rows, if ``per`` is the name of a column.

    Returns
    -------
    Allocation
        The decisions, their expected cost and the prices of the limits.

    Examples
    --------
    Four payments; only one can be reviewed:

    >>> expected = [[10, 4, 18], [2, 4, 20], [50, 4, 9], [30, 4, 12]]
    >>> found = allocate(expected, ["accept", "review", "block"], capacity={"review": 1})
    >>> found.labels.tolist(), found.expected_cost
    (['accept', 'accept', 'block', 'review'], 25.0)
    >>> found.price
    {'review': 6.0}
    """
    owner = "allocate"
    E, labels = checked_table(expected, decisions, owner)
    sums = read(constraints, E, labels, proba, classes, owner)
    names, group = groups_of(per, len(E), owner, X)
    sizes = np.bincount(group, minlength=1 if names is None else len(names))
    lower, upper = bounds(capacity, labels, sizes, owner, names=names)
    met: list[dict[str, Any]] = []
    bound = None
    if sums:
        codes, price, bound, met = _within_sums(E, group, lower, upper, sums, names, owner)
    else:
        codes, price = _within_counts(E, group, lower, upper)
    # Counts and costs of each decision in each group, (groups, d).
    d, actions = len(labels), labels.tolist()
    taken, cell = E[np.arange(len(E)), codes], group * d + codes
    cost = np.bincount(cell, taken, minlength=len(sizes) * d).reshape(-1, d).astype(np.float64)
    count = np.bincount(cell, minlength=len(sizes) * d).reshape(-1, d)
    limited = [j for j, label in enumerate(actions) if label in (capacity or {})]
    prices = [{actions[j]: row[j] for j in limited} for row in price.tolist()]
    total = float(cost.sum())
    return Allocation(
        decisions=labels,
        codes=codes,
        expected_cost=total,
        cost_by_decision=dict(zip(actions, cost.sum(axis=0).tolist(), strict=True)),
        counts=dict(zip(actions, count.sum(axis=0).tolist(), strict=True)),
        price=prices[0] if names is None else dict(zip(names, prices, strict=True)),
        lower_bound=total if bound is None else bound,
        constraints=met,
        _parts={
            **({} if names is None else {"group": [name for name in names for _ in actions]}),
            "decision": actions * len(sizes),
            "rows": count.ravel().tolist(),
            "at_least": lower.ravel().tolist(),
            "at_most": upper.ravel().tolist(),
            "expected_cost": cost.ravel().tolist(),
            "price": price.ravel().tolist(),
        },
    )


def _members(group: Ints, n_groups: int) -> list[Ints]:
    """The rows of each group, by one sort."""
    ends = np.cumsum(np.bincount(group, minlength=n_groups))
    return np.split(np.argsort(group, kind="stable"), ends[:-1]) if n_groups else []


def _within_sums(
    E: Floats,
    group: Ints,
    lower: Ints,
    upper: Ints,
    sums: list[Sum],
    names: list[Any] | None,
    owner: str,
) -> tuple[Ints, Floats, float, list[dict[str, Any]]]:
    """Decisions, prices, the lower bound and the constraints of all groups, one after another."""
    codes, price = np.empty(len(E), dtype=np.intp), np.zeros(lower.shape)
    total, met = [], []
    for g, rows in enumerate(_members(group, len(lower))):
        costs = E[rows]
        counted, counts = _count_limits(costs.shape, lower[g], upper[g])
        wholes = [1.0 if one.total is None else float(one.total[rows].sum()) for one in sums]
        limits = LinearLimits(
            np.concatenate([counts.coefficients, [one.coefficients[rows] for one in sums]]),
            np.append(counts.low, [one.low * w for one, w in zip(sums, wholes, strict=True)]),
            np.append(counts.high, [one.high * w for one, w in zip(sums, wholes, strict=True)]),
        )
        found = solve(costs, limits)
        if found is None:
            where = "" if names is None else f" in the group {names[g]!r}"
            asked = "; ".join(f"{one.words} in [{one.low:g}, {one.high:g}]" for one in sums)
            more = " and the capacity" if len(counted) else ""
            problem = f"is infeasible{where}: found no decisions of these {len(rows)} rows that"
            raise invalid("constraints", owner, f"{problem} meet {asked}{more}. Relax a limit.")
        codes[rows], duals = found
        price[g, counted] = duals[: len(counted)]
        total.append(dual_bound(costs, limits, duals))
        table = np.stack([limits.used(found[0], np.arange(len(rows))), duals], axis=1)
        of_sums = table[len(counted) :].tolist()
        for one, whole, (sum_met, dual) in zip(sums, wholes, of_sums, strict=True):
            ends = [end if np.isfinite(end) else None for end in (one.low, one.high)]
            value = sum_met / whole if whole else float("nan")
            what = {"constraint": one.words, "at_least": ends[0], "at_most": ends[1]}
            of_group = {} if names is None else {"group": names[g]}
            met.append({**of_group, **what, "value": value, "price": dual})
    return codes, price, math.fsum(total), met


def _within_counts(E: Floats, group: Ints, lower: Ints, upper: Ints) -> tuple[Ints, Floats]:
    """The optimum under limits on counts, and what one more unit saves, (groups, d)."""
    codes, price = cheapest(E), np.zeros(lower.shape)
    n_groups, d = lower.shape
    counts = np.bincount(group * d + codes, minlength=n_groups * d).reshape(-1, d)
    sizes = counts.sum(axis=1)
    limited = np.flatnonzero(((lower > 0) | (upper < sizes[:, None])).any(axis=0))
    if len(limited) == 1:
        j = int(limited[0])
        price[:, j] = _one_limit(E, codes, j, group, lower[:, j], upper[:, j])
        return codes, price
    # Where the cheapest decisions meet the limits, nothing is to do, and no limit has a price.
    broken = ((counts < lower) | (counts > upper)).any(axis=1)
    if broken.any():
        members = _members(group, n_groups)
        for g in np.flatnonzero(broken & (sizes > _SMALL)).tolist():
            # A row whose cheapest decision has no limit keeps it, if no limit is a lower one:
            # prices are not negative then.
            rows = members[g]
            is_free = lower[g].any() | (upper[g] < len(rows))[codes[rows]]
            rows = rows[is_free]
            found = solve(E[rows], _count_limits((len(rows), d), lower[g], upper[g])[1])
            if found is None:  # bounds were checked
                raise RuntimeError("The program of allocate failed. Please report these costs.")
            codes[rows] = found[0]
        rows = np.concatenate([members[g] for g in np.flatnonzero(broken)])
        own, groups = codes[rows], np.repeat(np.arange(broken.sum()), sizes[broken])
        price[broken] = _exchanged(E[rows], own, groups, lower[broken], upper[broken])
        codes[rows] = own
    return codes, price


def _exchanged(E: Floats, codes: Ints, group: Ints, lower: Ints, upper: Ints) -> Floats:
    """Move rows until all limits hold and no exchange saves; what one more unit saves."""
    # All groups at once, each one step along its graph of exchanges: around a cycle that saves
    # (Klein 1967), else along the shortest path from a decision with too many rows, or to one with
    # too few. The cheapest decisions have no such cycle, and shortest paths make none; a program
    # works to a tolerance, and may leave some. Rows are sorted by group; `codes` is changed.
    n_groups, d = lower.shape
    slack = 1e-13 * np.maximum.reduceat(
        np.abs(E).max(axis=1), np.searchsorted(group, np.arange(n_groups))
    )
    rows, open_groups = np.arange(len(E)), np.arange(n_groups)
    for _ in range(d * len(E) + 1):
        low, high = lower[open_groups], upper[open_groups]
        own, every = np.searchsorted(open_groups, group[rows]), np.arange(len(open_groups))
        counts, arcs, movers = _graph(E[rows], codes[rows], own, low, high)
        distance, onward = _paths(arcs, slack[open_groups])
        over, under = counts > high, counts < low
        cycle = np.diagonal(distance, axis1=1, axis2=2)
        saves, is_over, is_under = (
            np.asarray(wrong.any(axis=1)) for wrong in (cycle < 0, over, under)
        )
        at = np.where(saves, cycle.argmin(axis=1), np.where(is_over, over.argmax(axis=1), d))
        end = np.where(is_over | ~is_under, d, under.argmax(axis=1))
        end = np.where(saves, at, end)
        still = walking = saves | is_over | is_under
        if not still.any():
            counts, arcs, _ = _graph(E, codes, group, lower, upper)
            return _marginal(_paths(arcs, slack)[0], counts, lower, upper)
        for _ in range(d + 1):
            step = onward[every, at, end]
            moved = walking & (at < d) & (step < d)
            codes[rows[movers[moved, at[moved], step[moved]]]] = step[moved]
            at = np.where(walking, step, at)
            walking = walking & (at != end)
        open_groups, rows = open_groups[still], rows[still[own]]
    raise RuntimeError("The exchanges of allocate did not end. Please report these costs.")


def _paths(arcs: Floats, slack: Floats | None = None) -> tuple[Floats, Ints]:
    """Shortest paths between all nodes (Floyd and Warshall): lengths, and the first steps."""
    # With slack, rounding cannot turn a cycle of cost 0 into a path that never ends, and a graph is
    # left as it is at its first cycle of negative cost.
    least = 0.0 if slack is None else slack[:, None, None]
    nodes = arcs.shape[-1]
    distance = arcs.copy()
    distance[..., range(nodes), range(nodes)] = 0.0
    onward = np.broadcast_to(np.arange(nodes), arcs.shape).copy()
    for node in range(nodes):
        through = distance[..., :, node, None] + distance[..., None, node, :]
        shorter = through < distance - least
        if slack is not None:
            is_whole = np.diagonal(distance, axis1=1, axis2=2).min(axis=1) >= 0
            shorter &= np.asarray(is_whole)[:, None, None]
        distance = np.where(shorter, through, distance)
        onward = np.where(shorter, onward[..., :, node, None], onward)
    return distance, onward


def _marginal(distance: Floats, counts: Ints, lower: Ints, upper: Ints) -> Floats:
    """What one more unit of each decision's upper limit saves, (..., d)."""
    # Negative where the lower limit binds: one unit less of it saves that much.
    d = counts.shape[-1]
    more = np.where(counts == upper, -distance[..., d, :d], 0.0)
    fewer = np.where((counts == lower) & (lower > 0), -distance[..., :d, d], 0.0)
    # A decision that is full only because it has all rows is not limited.
    more = np.where(upper >= counts.sum(axis=-1, keepdims=True), 0.0, more)
    return np.asarray(np.maximum(more, 0.0) - np.maximum(fewer, 0.0))


def _one_limit(E: Floats, codes: Ints, j: int, group: Ints, lower: Ints, upper: Ints) -> Floats:
    """Give decision j to the rows of each group that gain most by it; what one more unit saves."""
    # All groups in one sort by gain. `codes` are the cheapest decisions and become the optimum.
    price = np.zeros(len(lower))
    counts = np.bincount(group[codes == j], minlength=len(lower))
    wanted = np.clip(counts, lower, upper)
    rows = np.flatnonzero((wanted != counts)[group])
    if not len(rows):
        return price
    others = np.delete(np.arange(E.shape[1]), j)
    second = others[E[np.ix_(rows, others)].argmin(axis=1)]
    gain = E[rows, second] - E[rows, j]
    if len(lower) == 1:  # a partial sort is enough: the ranks next to the limit
        ends = [k for k in (wanted[0] - 1, wanted[0]) if 0 <= k < len(rows)]
        order = np.argpartition(-gain, ends)
    else:
        order = np.lexsort((-gain, group[rows]))
    rows, second, gain = rows[order], second[order], gain[order]
    own = group[rows]
    rank = np.arange(len(rows)) - np.searchsorted(own, own)
    codes[rows] = np.where(codes[rows] == j, second, codes[rows])
    codes[rows[rank < wanted[own]]] = j
    next_in = (rank == wanted[own]) & (wanted == upper)[own]
    price[own[next_in]] = np.maximum(gain[next_in], 0.0)
    last_in = (rank == wanted[own] - 1) & ((wanted == lower) & (lower > 0))[own]
    price[own[last_in]] -= np.maximum(-gain[last_in], 0.0)
    return price


def _count_limits(shape: tuple[int, ...], lower: Ints, upper: Ints) -> tuple[Ints, LinearLimits]:
    """The decisions whose numbers of rows are limited, and these limits."""
    n, d = shape
    limited = np.flatnonzero((lower > 0) | (upper < n))
    coefficients = np.broadcast_to(np.eye(d)[limited, None], (len(limited), n, d))
    low, high = np.where(lower > 0, lower, -np.inf), np.where(upper < n, upper, np.inf)
    return limited, LinearLimits(coefficients, low[limited], high[limited])


def _inner_prices(arcs: Floats, upper: Ints) -> Floats:
    """Prices that, added to the costs, make these decisions the cheapest of each row, (d,)."""
    # Distances from a node and to a node are such prices. Their mean lies inside the set of all
    # of them, so that rows tie only where their costs do. A limit of 0 has the price infinity.
    d = len(upper)
    known = arcs[np.isfinite(arcs)]
    far = 2.0 * (d + 1) * (1.0 + np.abs(known).max(initial=0.0))  # in place of infinity
    distance = _paths(np.where(np.isfinite(arcs), arcs, far))[0]
    to = distance - distance[d]
    away = distance[:, [d]] - distance
    prices = 0.5 * (to.mean(axis=1) + away.mean(axis=0))[:d]
    if np.isinf(arcs[:d, d]).all() or np.isinf(arcs[d, :d]).all():
        prices -= prices.min()  # no limit has room: only differences count
    prices[upper == 0] = np.inf
    return np.asarray(prices)


def by_saving(expected: Floats, decided: Ints, limited: int) -> tuple[Ints, Ints, Floats]:
    """Rows of one decision by what it saves, their cheapest other decisions, and the savings."""
    rows = np.flatnonzero(decided == limited)
    other, saved = cheapest_other(expected[rows], limited)
    order = np.argsort(-saved, kind="stable")
    return rows[order], other[order], saved[order]


def capacity_curve(
    expected: ArrayLike,
    decision: Any,
    decisions: ArrayLike | None = None,
    *,
    prices: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> dict[str, Floats]:
    """Total cost by how many rows may get one decision, and what one more saves.

    The rows that gain most get the decision first; the others get their cheapest other one, as in
    `allocate` with this limit alone. The curve ends where every row that wants the decision has it.

    Parameters
    ----------
    expected : array of shape (n, d)
        Expected cost of each decision on each row.
    decision : label
        The decision that is limited.
    decisions : array of shape (d,), optional
        Labels of the decisions, in the order of the columns; by default 0, 1, ...
    prices : array of shape (n, d), optional
        What each decision cost on the row, its truth being known.
    sample_weight : array of shape (n,), optional
        How often each row counts.

    Returns
    -------
    dict of str to array of shape (m + 1,)
        ``capacity``, from 0 to the weight of the m rows that want the decision; ``expected_cost``;
        ``price``, what one more saves, 0 at the end; and with ``prices`` also ``cost``, what the
        decisions really cost.

    Examples
    --------
    >>> expected = [[10, 4, 18], [2, 4, 20], [50, 4, 9], [30, 4, 12]]
    >>> found = capacity_curve(expected, "review", ["accept", "review", "block"])
    >>> found["capacity"], found["expected_cost"], found["price"]
    (array([0., 1., 2., 3.]), array([33., 25., 19., 14.]), array([8., 6., 5., 0.]))
    """
    owner = "capacity_curve"
    E, labels = checked_table(expected, decisions, owner)
    limited = position(decision, labels, "decisions", "decision", owner)
    w = check_weights(sample_weight, len(E), owner)
    fallback = cheapest(E)
    rows, other, saved = by_saving(E, fallback, limited)
    fallback[rows] = other

    def added(values: Floats) -> Floats:
        return np.concatenate([[0.0], np.cumsum(values * w[rows])])

    def costs(table: Floats, saved: Floats) -> Floats:
        start = (np.take_along_axis(table, fallback[:, None], axis=1)[:, 0] * w).sum()
        return np.asarray(start - added(saved))

    found = {
        "capacity": added(np.ones(len(rows))),
        "expected_cost": costs(E, saved),
        "price": np.append(saved, 0.0),
    }
    if prices is not None:
        paid = finite(np.asarray(prices, dtype=np.float64), "prices", owner)
        if paid.shape != E.shape:
            raise invalid("prices", owner, f"must have shape {E.shape}; got {paid.shape}.")
        found["cost"] = costs(paid, paid[rows, other] - paid[rows, limited])
    return found


def capacity_prices(
    expected: ArrayLike,
    decisions: ArrayLike | None = None,
    *,
    capacity: Mapping[Any, Any],
    per: ArrayLike | None = None,
    X: Any = None,
) -> Floats:
    """Prices of decisions that keep limits on average, for rows that arrive one by one.

    They are the dual prices of `allocate` on the rows at hand, which are best held-out ones. Add
    them to the costs, ``matrix + prices``, and take the cheapest decision of each new row: on the
    rows at hand this is the optimum within the limits (up to rows that tie), and on new rows of the
    same kind the limits are met on average.

    Parameters
    ----------
    expected : array of shape (n, d)
        Expected cost of each decision on each row.
    decisions : array of shape (d,), optional
        Labels of the decisions, in the order of the columns; by default 0, 1, ...
    capacity : mapping of decision to limit
        As in `allocate`: numbers of rows, shares, or pairs.
    per : array of shape (n,) or str, optional
        Group of each row, such as its day, or the name of that column of X: numbers of rows are
        then per group, on average. Without it they are for all rows together.
    X : frame, optional
        The rows, if ``per`` is the name of a column.

    Returns
    -------
    array of shape (d,)
        A price per decision; 0 where no limit binds, negative where a lower limit asks for more
        rows than would choose the decision by cost, infinite for a limit of 0.

    Examples
    --------
    >>> expected = np.array([[10, 4, 18], [2, 4, 20], [50, 4, 9], [30, 4, 12]])
    >>> prices = capacity_prices(
    ...     expected, ["accept", "review", "block"], capacity={"review": 0.25}
    ... )
    >>> prices
    array([0., 7., 0.])
    >>> (expected + prices).argmin(axis=1)
    array([0, 0, 2, 1])
    """
    owner = "capacity_prices"
    E, labels = checked_table(expected, decisions, owner)
    names, _ = groups_of(per, len(E), owner, X)
    periods = 1 if names is None else len(names)
    lower, upper = bounds(capacity, labels, np.array([len(E)]), owner, periods=periods)
    group = np.zeros(len(E), np.intp)
    codes, _ = _within_counts(E, group, lower, upper)
    return _inner_prices(_graph(E, codes, group, lower, upper)[1][0], upper[0])

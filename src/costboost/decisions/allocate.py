"""Decisions of a whole batch within limits at the least cost, and the prices of the limits."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from costboost._utils import invalid
from costboost.costs.costs import cheapest
from costboost.decisions.arrays import checked_table
from costboost.decisions.dual import Program, search_prices, solve
from costboost.decisions.limits import (
    CountLimit,
    FixedPrices,
    Limit,
    SumLimit,
    count_bounds,
    read_groups,
)

# Groups of at most so many rows are decided together; a larger one begins with prices of its own.
SMALL_GROUP_ROWS = 256


def allocate(
    expected_cost: ArrayLike, limits: Sequence[Limit], *, groups: ArrayLike | None = None
) -> tuple[np.ndarray, dict[Any, Any]]:
    """Decide a batch of rows within limits, at the least expected cost.

    Limits on numbers of rows are met exactly, and the result is the optimum: one limit by a partial
    sort on regret, several by prices and exchanges of rows. Equal rows never overshoot a limit.
    Rates and budgets are met, too; sums of probabilities or money cannot be met exactly by whole
    rows, and the cost may be above the optimum by what a few rows cost.

    Parameters
    ----------
    expected_cost : array of shape (n, d)
        Expected cost of each decision on each row, from `expected_cost` or ``predict_cost``.
    limits : list of Limit
        The limits, from `read_limits`.
    groups : array of shape (n,), optional
        Group of each row, such as its day. Limits hold in each group.

    Returns
    -------
    chosen : int array of shape (n,)
        The decision of each row, as a column of the expected costs.
    prices : dict
        For each limit, by the label of its decision or by its words, what one more unit of its
        upper end saves in total; 0 if the limit does not bind. Negative if the lower end binds: one
        unit less of it saves that much. With rates or budgets the values are dual prices, exact in
        the middle of many rows. With groups, a dictionary of that kind for each group.

    Examples
    --------
    Four payments; only one can be reviewed:

    >>> from costboost.decisions import allocate, read_limits
    >>> expected_cost = [[10, 4, 18], [2, 4, 20], [50, 4, 9], [30, 4, 12]]
    >>> limits = read_limits({"review": 1}, decisions=["accept", "review", "block"])
    >>> chosen, prices = allocate(expected_cost, limits)
    >>> chosen, prices
    (array([0, 0, 2, 1]), {'review': 6.0})
    """
    expected_cost = checked_table(expected_cost, None, "allocate")[0]
    n_decisions = expected_cost.shape[1]
    names, group = read_groups(groups, len(expected_cost))
    sizes = np.bincount(group, minlength=1 if names is None else len(names))
    low, high = count_bounds(limits, n_decisions, sizes, names)
    for limit in limits:
        if isinstance(limit, FixedPrices):
            expected_cost = expected_cost + np.where(np.isinf(limit.prices), 0.0, limit.prices)
    sums = [limit for limit in limits if isinstance(limit, SumLimit)]
    if sums:
        chosen, count_prices, sum_prices = _within_sums(
            expected_cost, group, low, high, sums=sums, names=names
        )
    else:
        chosen, count_prices = within_counts(expected_cost, group, low, high)
        sum_prices = np.zeros((len(sizes), 0))

    by_group = []
    for of_counts, of_sums in zip(count_prices.tolist(), sum_prices.tolist(), strict=True):
        prices = {
            limit.name: of_counts[limit.decision]
            for limit in limits
            if isinstance(limit, CountLimit)
        }
        for limit, price in zip(sums, of_sums, strict=True):
            # Two limits on the same sum, its lower and its upper end, share a name and a price.
            prices[limit.name] = prices.get(limit.name, 0.0) + price
        by_group.append(prices)
    if names is None:
        return chosen, by_group[0]
    return chosen, dict(zip(names, by_group, strict=True))


# -- Rates and budgets ---------------------------------------------------------------------------


def _within_sums(
    expected_cost: np.ndarray,
    group: np.ndarray,
    low: np.ndarray,
    high: np.ndarray,
    *,
    sums: list[SumLimit],
    names: list[Any] | None,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Decide each group by itself; return the prices of decisions and of sums in each group."""
    chosen = np.empty(len(expected_cost), np.intp)
    count_prices = np.zeros(low.shape)
    sum_prices = np.zeros((len(low), len(sums)))
    added_by_sums = np.array([limit.added(expected_cost) for limit in sums])
    for index, rows in enumerate(_rows_of_groups(group, len(low))):
        limited, added, count_low, count_high = _limited_counts(len(rows), low[index], high[index])
        whole = [limit.whole(rows) for limit in sums]
        sum_low = [_times(limit.at_least, w) for limit, w in zip(sums, whole, strict=True)]
        sum_high = [_times(limit.at_most, w) for limit, w in zip(sums, whole, strict=True)]
        program = Program(
            expected_cost[rows],
            np.concatenate([added, added_by_sums[:, rows]]),
            np.concatenate([count_low, sum_low]),
            np.concatenate([count_high, sum_high]),
        )
        # Groups are alike: the search begins at the prices of the one before.
        start = np.concatenate([count_prices[index - 1, limited], sum_prices[index - 1]])
        solution = solve(program, start)
        if solution is None:
            where = ""
            if names is not None:
                where = f" in the group {names[index]!r}"
            limits = [f"{one.name} in [{one.at_least:g}, {one.at_most:g}]" for one in sums]
            if len(limited):
                limits.append("the capacity")
            problem = f"is infeasible{where}: found no decisions of these {len(rows)} rows that"
            meet = " and ".join(limits)
            raise invalid("constraints", "decide", f"{problem} meet {meet}. Relax a limit.")
        chosen[rows], prices = solution
        count_prices[index, limited] = prices[: len(limited)]
        sum_prices[index] = prices[len(limited) :]
    return chosen, count_prices, sum_prices


def _times(end: float, whole: float) -> float:
    return end * whole if np.isfinite(end) else end


def _rows_of_groups(group: np.ndarray, n_groups: int) -> list[np.ndarray]:
    """Return the rows of each group, by one sort."""
    if n_groups == 0:
        return []
    ends = np.cumsum(np.bincount(group, minlength=n_groups))
    return np.split(np.argsort(group, kind="stable"), ends[:-1])


def _limited_counts(
    n_rows: int, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
    """Return which decisions have limited numbers of rows, and these limits as sums."""
    limited = np.flatnonzero((low > 0) | (high < n_rows))
    counted = np.eye(len(low))[limited]
    added = np.broadcast_to(counted[:, None], (len(limited), n_rows, len(low)))
    count_low = np.where(low > 0, low, -np.inf)[limited]
    count_high = np.where(high < n_rows, high, np.inf)[limited]
    return limited, added, count_low, count_high


# -- Numbers of rows -----------------------------------------------------------------------------


def within_counts(
    expected_cost: np.ndarray, group: np.ndarray, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Return the optimum under limits on counts, and what one more unit saves, (groups, d)."""
    chosen = cheapest(expected_cost)
    prices = np.zeros(low.shape)
    n_groups, n_decisions = low.shape
    sizes = np.bincount(group, minlength=n_groups)
    limited = np.flatnonzero(((low > 0) | (high < sizes[:, None])).any(axis=0))
    if len(limited) == 1:
        decision = int(limited[0])
        prices[:, decision] = _one_limit(
            expected_cost, chosen, decision, group, low=low[:, decision], high=high[:, decision]
        )
        return chosen, prices
    # Where the cheapest decisions meet the limits there is nothing to do, and no limit has a price.
    counts = np.bincount(group * n_decisions + chosen, minlength=n_groups * n_decisions)
    counts = counts.reshape(n_groups, n_decisions)
    is_broken = ((counts < low) | (counts > high)).any(axis=1)
    if not is_broken.any():
        return chosen, prices
    broken = np.flatnonzero(is_broken)
    rows_of_groups = _rows_of_groups(group, n_groups)
    start = np.zeros(n_decisions)
    for index in broken[sizes[broken] > SMALL_GROUP_ROWS]:
        rows = rows_of_groups[index]
        limited, added, count_low, count_high = _limited_counts(len(rows), low[index], high[index])
        program = Program(expected_cost[rows], added, count_low, count_high)
        searched = search_prices(program, program.prices_of_money(start[limited]))
        if searched is not None:
            best, chosen[rows] = searched
            # Groups are alike: the search of the next one begins at these prices.
            start[limited] = program.prices_in_money(best.prices)
    rows = np.concatenate([rows_of_groups[index] for index in broken])
    chosen[rows], prices[broken] = _exchange(
        expected_cost[rows],
        chosen[rows],
        np.repeat(np.arange(len(broken)), sizes[broken]),
        low=low[broken],
        high=high[broken],
    )
    return chosen, prices


def _one_limit(
    expected_cost: np.ndarray,
    chosen: np.ndarray,
    decision: int,
    group: np.ndarray,
    *,
    low: np.ndarray,
    high: np.ndarray,
) -> np.ndarray:
    """Give one decision to the rows of each group that gain most by it, by one sort.

    `chosen` holds the cheapest decisions and becomes the optimum. Return what one more unit saves.
    """
    prices = np.zeros(len(low))
    counts = np.bincount(group[chosen == decision], minlength=len(low))
    wanted = np.clip(counts, low, high)
    rows = np.flatnonzero((wanted != counts)[group])
    if len(rows) == 0:
        return prices
    others = np.delete(np.arange(expected_cost.shape[1]), decision)
    second = others[expected_cost[np.ix_(rows, others)].argmin(axis=1)]
    gain = expected_cost[rows, second] - expected_cost[rows, decision]
    if len(low) == 1:
        # A partial sort is enough: the ranks next to the limit.
        ranks = [rank for rank in (wanted[0] - 1, wanted[0]) if 0 <= rank < len(rows)]
        order = np.argpartition(-gain, ranks)
    else:
        order = np.lexsort((-gain, group[rows]))
    rows = rows[order]
    second = second[order]
    gain = gain[order]
    row_group = group[rows]
    rank = np.arange(len(rows)) - np.searchsorted(row_group, row_group)
    chosen[rows] = np.where(chosen[rows] == decision, second, chosen[rows])
    chosen[rows[rank < wanted[row_group]]] = decision
    is_next = (rank == wanted[row_group]) & (wanted == high)[row_group]
    prices[row_group[is_next]] = np.maximum(gain[is_next], 0.0)
    is_last = (rank == wanted[row_group] - 1) & ((wanted == low) & (low > 0))[row_group]
    prices[row_group[is_last]] -= np.maximum(-gain[is_last], 0.0)
    return prices


# -- The graph of exchanges between decisions ----------------------------------------------------
# Given the decision of every row, moving a row from decision j to decision k changes the cost by
# ``E[i, k] - E[i, j]``. The cheapest such move is the arc j -> k of a graph on the d decisions. One
# more node, the outside, stands for unused capacity: k -> outside if k may take another row,
# outside -> j if j may lose one. Decisions within their limits are optimal exactly if the graph has
# no cycle of negative cost (Klein 1967), and shortest paths are the dual prices.


def exchange_graph(
    expected_cost: np.ndarray,
    chosen: np.ndarray,
    group: np.ndarray,
    *,
    low: np.ndarray,
    high: np.ndarray,
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return counts, arcs and the rows that make the moves, for groups of sorted rows."""
    n_groups, d = low.shape
    starts = np.searchsorted(group, np.arange(n_groups))
    rows = np.arange(len(expected_cost))
    counts = np.bincount(group * d + chosen, minlength=n_groups * d).reshape(n_groups, d)
    arcs = np.full((n_groups, d + 1, d + 1), np.inf)
    movers = np.zeros((n_groups, d, d), dtype=np.intp)
    if len(rows):
        for j, k in itertools.permutations(range(d), 2):
            change = np.where(chosen == j, expected_cost[:, k] - expected_cost[:, j], np.inf)
            arcs[:, j, k] = np.minimum.reduceat(change, starts)
            cheapest_row = np.where(change == arcs[group, j, k], rows, len(rows))
            movers[:, j, k] = np.minimum.reduceat(cheapest_row, starts)
    arcs[:, :d, d] = np.where(counts < high, 0.0, np.inf)
    arcs[:, d, :d] = np.where(counts > low, 0.0, np.inf)
    return counts, arcs, movers


def shortest_paths(
    arcs: np.ndarray, slack: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Return the lengths of shortest paths between all nodes (Floyd and Warshall), and first steps.

    With slack, rounding cannot turn a cycle of cost 0 into a path that never ends, and a graph is
    left as it is at its first cycle of negative cost.
    """
    least_gain = np.zeros(1)
    if slack is not None:
        least_gain = slack[:, None, None]
    n_nodes = arcs.shape[-1]
    distance = arcs.copy()
    distance[..., range(n_nodes), range(n_nodes)] = 0.0
    first_step = np.broadcast_to(np.arange(n_nodes), arcs.shape).copy()
    for node in range(n_nodes):
        through = distance[..., :, node, None] + distance[..., None, node, :]
        is_shorter = through < distance - least_gain
        if slack is not None:
            has_no_cycle = np.diagonal(distance, axis1=1, axis2=2).min(axis=1) >= 0
            is_shorter &= has_no_cycle[:, None, None]
        distance = np.where(is_shorter, through, distance)
        first_step = np.where(is_shorter, first_step[..., :, node, None], first_step)
    return distance, first_step


def _exchange(
    expected_cost: np.ndarray,
    chosen: np.ndarray,
    group: np.ndarray,
    *,
    low: np.ndarray,
    high: np.ndarray,
) -> tuple[np.ndarray, np.ndarray]:
    """Move rows until all limits hold and no exchange saves; return what one more unit saves, too.

    All groups make one step at once, each along its own graph: around a cycle that saves, else
    along the shortest path from a decision with too many rows, or to one with too few. The cheapest
    decisions have no such cycle, and shortest paths make none; decisions by prices may leave some.
    Rows are sorted by group.
    """
    n_groups, d = low.shape
    starts = np.searchsorted(group, np.arange(n_groups))
    slack = 1e-13 * np.maximum.reduceat(np.abs(expected_cost).max(axis=1), starts)
    rows = np.arange(len(expected_cost))
    open_groups = np.arange(n_groups)
    for _ in range(d * len(expected_cost) + 1):
        local_group = np.searchsorted(open_groups, group[rows])
        counts, arcs, movers = exchange_graph(
            expected_cost[rows],
            chosen[rows],
            local_group,
            low=low[open_groups],
            high=high[open_groups],
        )
        distance, first_step = shortest_paths(arcs, slack[open_groups])
        start, end, is_moving = _where_to_move(
            distance, counts, low=low[open_groups], high=high[open_groups]
        )
        if not is_moving.any():
            counts, arcs, _ = exchange_graph(expected_cost, chosen, group, low=low, high=high)
            distance = shortest_paths(arcs, slack)[0]
            return chosen, _marginal_prices(distance, counts, low, high)
        every = np.arange(len(open_groups))
        node = start
        is_walking = is_moving
        for _ in range(d + 1):
            step = first_step[every, node, end]
            moves = is_walking & (node < d) & (step < d)
            chosen[rows[movers[moves, node[moves], step[moves]]]] = step[moves]
            node = np.where(is_walking, step, node)
            is_walking = is_walking & (node != end)
        open_groups = open_groups[is_moving]
        rows = rows[is_moving[local_group]]
    raise RuntimeError("The exchanges of allocate did not end. Please report these costs.")


def _where_to_move(
    distance: np.ndarray, counts: np.ndarray, *, low: np.ndarray, high: np.ndarray
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return where the path of each group starts and ends, and which groups need one."""
    outside = low.shape[1]
    cycle = np.diagonal(distance, axis1=1, axis2=2)
    has_cycle = (cycle < 0).any(axis=1)
    is_over = (counts > high).any(axis=1)
    is_under = (counts < low).any(axis=1)
    start = np.where(is_over, (counts > high).argmax(axis=1), outside)
    start = np.where(has_cycle, cycle.argmin(axis=1), start)
    end = np.where(is_over | ~is_under, outside, (counts < low).argmax(axis=1))
    end = np.where(has_cycle, start, end)
    return start, end, np.logical_or.reduce([has_cycle, is_over, is_under])


def _marginal_prices(
    distance: np.ndarray, counts: np.ndarray, low: np.ndarray, high: np.ndarray
) -> np.ndarray:
    """Return what one more unit of each decision's upper end saves, (groups, d).

    It is negative where the lower end binds: one unit less of it saves that much.
    """
    d = counts.shape[-1]
    more = np.where(counts == high, -distance[..., d, :d], 0.0)
    fewer = np.where((counts == low) & (low > 0), -distance[..., :d, d], 0.0)
    # A decision that is full only because it has all rows is not limited.
    more = np.where(high >= counts.sum(axis=-1, keepdims=True), 0.0, more)
    return np.maximum(more, 0.0) - np.maximum(fewer, 0.0)

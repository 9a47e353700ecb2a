"""What one limit costs at every size, and prices that keep limits for rows that come singly."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from costboost._utils import check_weights, invalid
from costboost.costs.costs import cheapest
from costboost.costs.labels import position
from costboost.decisions.allocate import exchange_graph, shortest_paths, within_counts
from costboost.decisions.arrays import cheapest_other, checked_table, column_of, finite
from costboost.decisions.limits import count_bounds, read_groups, read_limits


def by_saving(
    expected_cost: np.ndarray, decided: np.ndarray, limited: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Return the rows of one decision by what it saves, their cheapest others, and the savings."""
    rows = np.flatnonzero(decided == limited)
    other, saved = cheapest_other(expected_cost[rows], limited)
    order = np.argsort(-saved, kind="stable")
    return rows[order], other[order], saved[order]


def capacity_curve(
    expected: ArrayLike,
    decision: Any,
    decisions: ArrayLike | None = None,
    *,
    prices: ArrayLike | None = None,
    sample_weight: ArrayLike | None = None,
) -> dict[str, np.ndarray]:
    """Compute the total cost by how many rows may get one decision, and what one more saves.

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
    >>> curve = capacity_curve(expected, "review", ["accept", "review", "block"])
    >>> curve["capacity"], curve["expected_cost"], curve["price"]
    (array([0., 1., 2., 3.]), array([33., 25., 19., 14.]), array([8., 6., 5., 0.]))
    """
    owner = "capacity_curve"
    expected_cost, labels = checked_table(expected, decisions, owner)
    limited = position(decision, labels, "decisions", "decision", owner)
    weights = check_weights(sample_weight, len(expected_cost), owner)
    without = cheapest(expected_cost)
    rows, other, saved = by_saving(expected_cost, without, limited)
    without[rows] = other

    def added_up(values: np.ndarray) -> np.ndarray:
        return np.concatenate([[0.0], np.cumsum(values * weights[rows])])

    def total_costs(costs: np.ndarray, saved: np.ndarray) -> np.ndarray:
        start = (costs[np.arange(len(costs)), without] * weights).sum()
        return start - added_up(saved)

    curve = {
        "capacity": added_up(np.ones(len(rows))),
        "expected_cost": total_costs(expected_cost, saved),
        "price": np.append(saved, 0.0),
    }
    if prices is not None:
        paid = finite(np.asarray(prices, dtype=np.float64), "prices", owner)
        if paid.shape != expected_cost.shape:
            rule = f"must have shape {expected_cost.shape}"
            raise invalid("prices", owner, f"{rule}; got {paid.shape}.")
        curve["cost"] = total_costs(paid, paid[rows, other] - paid[rows, limited])
    return curve


def capacity_prices(
    expected: ArrayLike,
    decisions: ArrayLike | None = None,
    *,
    capacity: Mapping[Any, Any],
    per: ArrayLike | None = None,
    X: Any = None,
) -> np.ndarray:
    """Return prices of decisions that keep limits on average, for rows that arrive one by one.

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
    expected_cost, labels = checked_table(expected, decisions, "capacity_prices")
    n_rows = len(expected_cost)
    names, _ = read_groups(column_of(per, X, "per", "capacity_prices"), n_rows)
    periods = 1 if names is None else len(names)
    low, high = count_bounds(
        read_limits(capacity, decisions=labels), len(labels), np.array([n_rows]), periods=periods
    )
    group = np.zeros(n_rows, np.intp)
    chosen, _ = within_counts(expected_cost, group, low, high)
    _, arcs, _ = exchange_graph(expected_cost, chosen, group, low=low, high=high)
    return _inner_prices(arcs[0], high[0])


def _inner_prices(arcs: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return prices that, added to the costs, make these decisions the cheapest of each row, (d,).

    Distances from a node and to a node are such prices. Their mean lies inside the set of all of
    them, so that rows tie only where their costs do. A limit of 0 has the price infinity.
    """
    d = len(high)
    largest = np.abs(arcs[np.isfinite(arcs)]).max(initial=0.0)
    in_place_of_infinity = 2.0 * (d + 1) * (1.0 + largest)
    distance = shortest_paths(np.where(np.isfinite(arcs), arcs, in_place_of_infinity))[0]
    to_node = distance - distance[d]
    from_node = distance[:, [d]] - distance
    prices = 0.5 * (to_node.mean(axis=1) + from_node.mean(axis=0))[:d]
    if np.isinf(arcs[:d, d]).all() or np.isinf(arcs[d, :d]).all():
        prices -= prices.min()  # no limit has room: only differences count
    prices[high == 0] = np.inf
    return prices

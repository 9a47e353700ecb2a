"""The graph of exchanges between decisions: optimality, and what one more unit saves.

Given the decision of every row, moving a row from decision j to decision k changes the cost by
``E[i, k] - E[i, j]``. The cheapest such move is the arc j -> k of a graph on the d decisions. One
more node, the outside, stands for unused capacity: k -> outside if k may take another row, outside
-> j if j may lose one. Decisions within their limits are optimal exactly if the graph has no cycle
of negative cost (Klein 1967), and shortest paths are the dual prices.
"""

from __future__ import annotations

import numpy as np

from costboost._typing import Floats, Ints
from costboost.decisions._limits import Bounds


class Exchange:
    """Cheapest moves between decisions."""

    def __init__(self, expected: Floats, codes: Ints, bounds: Bounds) -> None:
        self.expected = expected
        self.codes = codes
        self.bounds = bounds
        d = expected.shape[1]
        self.counts: Ints = np.bincount(codes, minlength=d)
        self.arcs: Floats = np.full((d + 1, d + 1), np.inf)
        self.movers: Ints = np.full((d, d), -1, dtype=np.intp)
        for j in range(d):
            self._find_moves(j)
        self._open_outside()

    def _find_moves(self, j: int) -> None:
        """The cheapest moves away from decision j."""
        rows = np.flatnonzero(self.codes == j)
        d = self.expected.shape[1]
        self.arcs[j, :d] = np.inf
        if not len(rows):
            return
        for k in range(d):
            if k != j:
                change = self.expected[rows, k] - self.expected[rows, j]
                best = int(change.argmin())
                self.arcs[j, k], self.movers[j, k] = change[best], rows[best]

    def _open_outside(self) -> None:
        d = len(self.counts)
        self.arcs[:d, d] = np.where(self.counts < self.bounds.upper, 0.0, np.inf)
        self.arcs[d, :d] = np.where(self.counts > self.bounds.lower, 0.0, np.inf)

    def improve(self, tolerance: float) -> None:
        """Cancel negative cycles until none is left: the decisions are then optimal."""
        while True:
            cycle = _negative_cycle(self.arcs, tolerance)
            if cycle is None:
                return
            d = len(self.counts)
            pairs = list(zip(cycle, cycle[1:] + cycle[:1], strict=True))
            moves = [(self.movers[j, k], k) for j, k in pairs if j < d and k < d]
            for row, k in moves:
                self.codes[row] = k
            self.counts = np.bincount(self.codes, minlength=d)
            for j in {node for node in cycle if node < d}:
                self._find_moves(j)
            self._open_outside()

    def marginal(self) -> Floats:
        """What one more unit of each decision's upper limit saves, (d,)."""
        # Negative where the lower limit binds: one unit less of it saves that much.
        distance = _distances(self.arcs)
        d = len(self.counts)
        more = np.where(self.counts == self.bounds.upper, -distance[d, :d], 0.0)
        fewer = np.where(self.counts == self.bounds.lower, -distance[:d, d], 0.0)
        # A decision that is full only because it has all rows is not limited.
        more[self.bounds.upper >= len(self.codes)] = 0.0
        fewer[self.bounds.lower <= 0] = 0.0
        return np.asarray(np.maximum(more, 0.0) - np.maximum(fewer, 0.0))

    def prices(self) -> Floats:
        """Prices that, added to the costs, make these decisions the cheapest of each row, (d,)."""
        # Distances from a node and to a node are such prices. Their mean lies inside the set of all
        # of them, so that rows tie only where their costs do. A limit of 0 has the price infinity.
        d = len(self.counts)
        known = self.arcs[np.isfinite(self.arcs)]
        far = 2.0 * (d + 1) * (1.0 + np.abs(known).max(initial=0.0))  # in place of infinity
        distance = _distances(np.where(np.isfinite(self.arcs), self.arcs, far))
        to = distance - distance[d]
        away = distance[:, [d]] - distance
        prices = 0.5 * (to.mean(axis=1) + away.mean(axis=0))[:d]
        if np.isinf(self.arcs[:d, d]).all() or np.isinf(self.arcs[d, :d]).all():
            prices -= prices.min()  # no limit has room: only differences count
        prices[self.bounds.upper == 0] = np.inf
        return np.asarray(prices)


def _distances(arcs: Floats) -> Floats:
    """Shortest paths between all nodes (Floyd and Warshall); there is no negative cycle."""
    distance = arcs.copy()
    np.fill_diagonal(distance, 0.0)
    for node in range(len(arcs)):
        through = distance[:, node, None] + distance[None, node, :]
        np.minimum(distance, through, out=distance)
    return distance


def _negative_cycle(arcs: Floats, tolerance: float) -> list[int] | None:
    """Nodes of a simple cycle of cost below -tolerance, or None."""
    size = len(arcs)
    distance = np.zeros(size)
    before = np.full(size, -1, dtype=np.intp)
    slack = tolerance / size  # rounding must not turn a cycle of cost 0 into a negative one
    for _ in range(size):
        reached = distance[:, None] + arcs
        best = reached.argmin(axis=0)
        value = reached[best, np.arange(size)]
        better = value < distance - slack
        if not better.any():
            return None
        distance = np.where(better, value, distance)
        before = np.where(better, best, before)
    node = int(np.flatnonzero(better)[0])
    for _ in range(size):
        node = int(before[node])
    cycle = [node]
    while (step := int(before[cycle[-1]])) != node:
        cycle.append(step)
    return cycle[::-1]

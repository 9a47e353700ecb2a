"""The sliders' model: what is decided, and what it costs, at one position of the sliders.

`Board.operating_point` and ``operatingPoint`` in ``assets/report.js`` are one definition, computed
in the same order, so that their decisions agree to the last bit:

1. The factor ``f[j, e]`` multiplies the stated cost of decision e when the truth is j.
2. The expected cost of decision e on a row is ``sum over j of f[j, e] * (p[j] * C[j, e])``.
3. Without a threshold a row gets the decision of smallest expected cost, the first one if there are
   several. With a threshold t, rows whose risk is below t get the idle decision; the others get the
   cheapest of the remaining decisions. The risk is the probability of the classes for which
   the idle decision is a mistake.
4. With a capacity c of one decision, the rows that were to get it are sorted by what it saves
   against the row's cheapest other decision. The first ones keep it, as long as their weights sum
   to at most c; the others get their cheapest other decision. Ties keep the order of the rows.
5. A row pays ``f[truth, e] * price[e]`` times its weight.
"""

from __future__ import annotations

import gzip
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from costboost._typing import AnyArray, Bools, Floats, Ints
from costboost.decisions import cheapest
from costboost.report.case import Case, sums

# With at most this many kinds of mistake, each has its own lever; else each true class has one.
MOST_CELLS = 6
MOST_LEVERS = 12

# The page holds at most this many rows, and numbers; of more rows it holds a sample.
MOST_ROWS, MOST_NUMBERS = 100_000, 1_200_000


@dataclass(frozen=True, eq=False)
class OperatingPoint:
    """What is decided and paid at one position of the sliders."""

    decided: Ints
    rows: Floats
    paid: Floats

    @property
    def cost(self) -> float:
        """Total cost."""
        return float(self.paid.sum())

    @property
    def counts(self) -> Floats:
        """Weight of the rows of each decision (d,)."""
        return np.asarray(self.rows.sum(axis=0))


@dataclass(frozen=True, eq=False)
class Board:
    """What the sliders act on."""

    case: Case

    @cached_property
    def products(self) -> dict[tuple[int, int], Floats]:
        """Probability of a truth times the cost of a decision, where that is not always 0."""
        case = self.case
        pairs = {(j, e): case.cost_of(j, e) for j in range(case.k) for e in range(case.d)}
        return {(j, e): case.proba[:, j] * c for (j, e), c in pairs.items() if np.any(c)}

    @cached_property
    def levers(self) -> dict[str, Bools]:
        """Cells (k, d) by name: one per kind of mistake, or per true class if there are many."""
        # A mistake of class j is a decision other than the cheapest one of that class, on average,
        # if it ever costs anything.
        case = self.case
        wrong = np.zeros((case.k, case.d), dtype=bool)
        wrong[tuple(np.transpose(list(self.products) or np.empty((0, 2), dtype=int)))] = True
        wrong[np.arange(case.k), case.right] = False
        pairs = np.argwhere(wrong).tolist()
        if len(pairs) <= MOST_CELLS:
            single = np.eye(case.k * case.d, dtype=bool).reshape(case.k, case.d, case.k, case.d)
            return {
                f"Deciding {case.decisions[e]} when it is {case.classes[j]}": single[j, e]
                for j, e in pairs
            }
        share = sums(case.codes, case.weights, case.k) * np.where(wrong, case.average, 0.0).mean(1)
        own = np.eye(case.k, dtype=bool)[:, :, None]
        return {
            f"Mistakes on {case.classes[j]}": wrong & own[j]
            for j in sorted(np.argsort(-share, kind="stable")[:MOST_LEVERS].tolist())
            if wrong[j].any()
        }

    def factors(self, values: Any = None) -> Floats:
        """Factors (k, d) of the levers' positions; 1 where no lever acts."""
        factors = np.ones((self.case.k, self.case.d))
        if values is not None:
            for cells, value in zip(self.levers.values(), values, strict=True):
                factors[cells] = value
        return factors

    def expected(self, factors: Floats | None = None) -> Floats:
        """Expected cost of each decision (n, d)."""
        total = np.zeros((self.case.n, self.case.d))
        for (j, e), product in self.products.items():
            total[:, e] += product if factors is None else factors[j, e] * product
        return total

    def decide(
        self,
        expected: Floats,
        threshold: float | None = None,
        capacity: float | None = None,
        limited: int | None = None,
    ) -> Ints:
        """Decisions from expected costs: points 3 and 4 of the module's text."""
        decided: Ints = cheapest(expected)
        if threshold is not None and self.case.idle is not None:
            act = cheapest_but(expected, self.case.idle)
            decided = np.where(self.case.risk >= threshold, act, self.case.idle)
        if capacity is None or limited is None:
            return decided
        rows, other, _ = by_saving(expected, decided, limited)
        lost = np.cumsum(self.case.weights[rows]) > capacity
        decided[rows[lost]] = other[lost]
        return decided

    def operating_point(
        self,
        values: Any = None,
        threshold: float | None = None,
        capacity: float | None = None,
        limited: int | None = None,
    ) -> OperatingPoint:
        """Decisions and costs at one position: a factor per lever, and the other controls."""
        factors = self.factors(values)
        decided = self.decide(self.expected(factors), threshold, capacity, limited)
        return self.account(decided, factors)

    def account(self, decided: Ints, factors: Floats) -> OperatingPoint:
        """Count and price decisions under factored costs."""
        case = self.case
        cell, size = case.codes * case.d + decided, case.k * case.d
        rows, paid = (
            sums(cell, part, size).reshape(case.k, case.d)
            for part in (case.weights, case.spent(decided))
        )
        return OperatingPoint(decided, rows, paid * factors)


def cheapest_but(expected: Floats, code: int) -> Ints:
    """The cheapest decision of each row other than one."""
    others = expected.copy()
    others[:, code] = np.inf
    found: Ints = others.argmin(axis=1)
    return found


def by_saving(expected: Floats, decided: Ints, limited: int) -> tuple[Ints, Ints, Floats]:
    """Rows of one decision by what it saves, their cheapest other decisions, and the savings."""
    rows = np.flatnonzero(decided == limited)
    other = cheapest_but(expected[rows], limited)
    saved = expected[rows, other] - expected[rows, limited]
    order = np.argsort(-saved, kind="stable")
    return rows[order], other[order], saved[order]


# -- the rows that the page embeds, all or a sample ------------------------------------------------


def shown_rows(case: Case) -> Case:
    """All rows, or a sample whose weights make it stand for all of them."""
    width = case.k + (case.k * case.d if case.matrix.ndim == 3 else 0)
    if case.costs.matrix is None:
        width += case.d
    most = min(MOST_ROWS, MOST_NUMBERS // width)
    if case.n <= most:
        return case
    # Rows are drawn by their share of rows and money, at even steps along an order in which
    # neighbours are alike: every total is right on average, and close.
    money = np.ptp(case.prices, axis=1) * case.weights
    size = case.weights / case.weights.sum() + money / max(money.sum(), np.finfo(float).tiny)
    order = np.lexsort((case.risk, case.proba[:, 0], case.decided, case.codes))
    ends = np.cumsum(size[order])
    marks = (np.arange(most) + 0.5) * (ends[-1] / most)
    drawn, times = np.unique(order[np.searchsorted(ends, marks)], return_counts=True)
    return case.take(drawn, case.weights[drawn] * times * ends[-1] / (most * size[drawn]))


def sampling_error(board: Board, sample: Board, positions: int = 20) -> float:
    """Largest relative error of the sample's total cost at random positions of the sliders."""
    rng = np.random.default_rng(0)
    largest = 0.0
    for _ in range(positions):
        values = np.exp(rng.uniform(-1.4, 1.4, len(board.levers)))
        threshold = rng.uniform() if rng.uniform() < 0.5 else None
        limit = (rng.uniform(0, board.case.weights.sum()), int(rng.integers(board.case.d)))
        exact, found = (b.operating_point(values, threshold, *limit).cost for b in (board, sample))
        largest = max(largest, abs(found - exact) / abs(exact) if exact else 0.0)
    return largest


class Packed:
    """Columns of rows in one buffer, with a header that says how to read them."""

    def __init__(self, case: Case) -> None:
        self.buffer = bytearray()
        pairs = [[self._column(case.cost_of(j, e)) for e in range(case.d)] for j in range(case.k)]
        self.header = {
            "rows": case.n,
            "truth": self._array(case.codes.astype(np.min_scalar_type(case.k - 1))),
            "weights": self._column(case.weights),
            "proba": [self._column(p) for p in case.proba.T],
            "costs": pairs,
            # None: the price is the cost of the row's truth.
            "prices": None
            if case.costs.matrix is not None
            else [self._column(price) for price in case.prices.T],
        }

    def _array(self, values: AnyArray) -> dict[str, Any]:
        """Append an array; return its type, place and length."""
        self.buffer.extend(b"\0" * (-len(self.buffer) % 8))
        place = len(self.buffer)
        self.buffer.extend(values.astype(values.dtype.newbyteorder("<")).tobytes())
        return {"type": values.dtype.name, "at": place, "length": len(values)}

    def _column(self, values: Floats | float) -> dict[str, Any]:
        """Append a column of numbers, unless one number says it all."""
        column = np.atleast_1d(np.asarray(values, dtype=np.float64))
        if (column == column[0]).all():
            return {"constant": float(column[0])}
        return self._array(column)

    def compressed(self) -> bytes:
        """The buffer compressed by gzip, the same bytes on every run."""
        return gzip.compress(bytes(self.buffer), compresslevel=9, mtime=0)

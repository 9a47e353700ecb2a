"""The sliders' model: what is decided, and what it costs, at one position of the sliders.

`Board.operating_point` and ``operatingPoint`` in ``page/report.js`` are one definition, computed in
the same order, so that their decisions agree to the last bit:

1. The factor ``f[j, e]`` multiplies the stated cost of decision e when the truth is j.
2. The expected cost of decision e on a row is ``sum over j of f[j, e] * (p[j] * C[j, e])``.
3. Without a threshold a row gets the decision of smallest expected cost, the first one if there are
   several. With a threshold t, rows whose risk is below t get the decision "doing nothing"; the
   others get the cheapest of the remaining decisions. The risk is the probability of the classes
   for which doing nothing is a mistake.
4. With a capacity c of one decision, the rows that were to get it are sorted by what it saves
   against the row's cheapest other decision. The first ones keep it, as long as their weights sum
   to at most c; the others get their cheapest other decision. Ties keep the order of the rows.
5. A row pays ``f[truth, e] * price[e]`` times its weight.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from costboost._typing import Bools, Floats, Ints
from costboost.report.case import Case, sums

__all__ = ["Board", "Lever", "OperatingPoint", "board_of", "factors_of", "levers_of"]

MOST_CELLS = 6
"""With at most this many kinds of mistake, each has its own lever; else each true class has one."""

MOST_LEVERS = 12


@dataclass(frozen=True, eq=False)
class Lever:
    """A factor on some stated costs."""

    label: str
    cells: Bools


def levers_of(case: Case) -> list[Lever]:
    """Levers of a case: one per kind of mistake, or one per true class if there are many."""
    # A mistake of class j is a decision other than the cheapest one of that class, on average, if
    # it ever costs anything.
    wrong = np.ones((case.k, case.d), dtype=bool)
    wrong[np.arange(case.k), case.right] = False
    stated = case.matrix.any(axis=0) if case.is_per_row else case.matrix != 0
    wrong &= stated
    pairs = np.argwhere(wrong)
    if len(pairs) <= MOST_CELLS:
        return [
            Lever(f"Deciding {case.decisions[e]} when it is {case.classes[j]}", _only(wrong, j, e))
            for j, e in pairs
        ]
    mean = np.where(wrong, case.average, 0.0).mean(axis=1)
    share = sums(case.codes, case.weights, case.k) * mean
    shown = sorted(np.argsort(-share, kind="stable")[:MOST_LEVERS].tolist())
    return [
        Lever(f"Mistakes on {case.classes[j]}", _only(wrong, j)) for j in shown if wrong[j].any()
    ]


def _only(wrong: Bools, j: int, e: int | None = None) -> Bools:
    cells = np.zeros_like(wrong)
    if e is None:
        cells[j] = wrong[j]
    else:
        cells[j, e] = True
    return cells


def factors_of(levers: Sequence[Lever], values: Iterable[float], shape: tuple[int, int]) -> Floats:
    """Factors (k, d) of the levers' positions; 1 where no lever acts."""
    factors = np.ones(shape)
    for lever, value in zip(levers, values, strict=True):
        factors[lever.cells] = value
    return factors


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
    """What the sliders act on: single rows, or bins of many rows."""

    truth: Ints
    weights: Floats
    risk: Floats
    products: Mapping[tuple[int, int], Floats]
    prices: Floats
    nothing: int
    shape: tuple[int, int]

    def expected(self, factors: Floats) -> Floats:
        """Expected cost of each decision (n, d)."""
        total = np.zeros(self.prices.shape)
        for (j, e), product in self.products.items():
            total[:, e] += factors[j, e] * product
        return total

    def decide(
        self,
        expected: Floats,
        threshold: float | None = None,
        capacity: float | None = None,
        limited: int | None = None,
    ) -> Ints:
        """Decisions from expected costs: points 3 and 4 of the module's text."""
        decided: Ints
        if threshold is None:
            decided = expected.argmin(axis=1)
        else:
            act = cheapest_but(expected, self.nothing)
            decided = np.where(self.risk >= threshold, act, self.nothing)
        if capacity is None or limited is None:
            return decided
        rows = np.flatnonzero(decided == limited)
        other = cheapest_but(expected[rows], limited)
        saved = expected[rows, other] - expected[rows, limited]
        order = np.argsort(-saved, kind="stable")
        lost = order[np.cumsum(self.weights[rows[order]]) > capacity]
        decided[rows[lost]] = other[lost]
        return decided

    def operating_point(
        self,
        factors: Any = 1.0,
        threshold: float | None = None,
        capacity: float | None = None,
        limited: int | None = None,
    ) -> OperatingPoint:
        """Decisions and costs at one position of the sliders."""
        f = np.broadcast_to(np.asarray(factors, dtype=np.float64), self.shape)
        decided = self.decide(self.expected(f), threshold, capacity, limited)
        return self.account(decided, f)

    def account(self, decided: Ints, factors: Floats) -> OperatingPoint:
        """Count and price decisions under factored costs."""
        k, d = self.shape
        cell = self.truth * d + decided
        # One flat index is several times faster than one per axis.
        price = self.prices.ravel()[np.arange(0, len(decided) * d, d) + decided] * self.weights
        rows = sums(cell, self.weights, k * d).reshape(k, d)
        paid = sums(cell, price, k * d).reshape(k, d)
        return OperatingPoint(decided, rows, paid * factors)


def cheapest_but(expected: Floats, code: int) -> Ints:
    """The cheapest decision of each row other than one."""
    others = expected.copy()
    others[:, code] = np.inf
    cheapest: Ints = others.argmin(axis=1)
    return cheapest


def board_of(case: Case) -> Board:
    """Board of single rows: exact."""
    products = {}
    for j in range(case.k):
        for e in range(case.d):
            cost = case.cost_of(j, e)
            if np.any(cost):
                products[j, e] = case.proba[:, j] * cost
    return Board(
        case.codes,
        case.weights,
        case.risk,
        products,
        case.prices,
        case.nothing,
        (case.k, case.d),
    )

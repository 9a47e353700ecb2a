"""The sliders' model: what is decided, and what it costs, at one position of the sliders.

`Board.operating_point` and ``operatingPoint`` in ``assets/report.js`` are one definition, computed
in the same order, so that their decisions agree to the last bit:

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

import gzip
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from costboost._typing import AnyArray, Bools, Floats, Ints
from costboost._utils import cheapest
from costboost.report.case import Case, sums

# With at most this many kinds of mistake, each has its own lever; else each true class has one.
MOST_CELLS = 6

MOST_LEVERS = 12


# Up to this many rows the page holds every row.
EXACT_ROWS = 100_000

# Compressed size above which fewer rows are binned, too, as happens with many classes.
EXACT_BYTES = 9_000_000

# Bytes of all bins before compression.
BIN_BYTES = 2_600_000

MOST_BINS = 75_000

# Bits of a place on the curve that orders rows before they are binned.
CURVE_BITS = 62


@dataclass(frozen=True, eq=False)
class Lever:
    """A factor on some stated costs."""

    label: str
    cells: Bools


def levers_of(case: Case) -> list[Lever]:
    """Levers of a case: one per kind of mistake, or one per true class if there are many."""
    # A mistake of class j is a decision other than the cheapest one of that class, on average, if
    # it ever costs anything.
    wrong: Bools = np.asarray(case.matrix.any(axis=0) if case.is_per_row else case.matrix != 0)
    wrong[np.arange(case.k), case.right] = False
    pairs = np.argwhere(wrong)
    if len(pairs) <= MOST_CELLS:
        cells = np.zeros((len(pairs), case.k, case.d), dtype=bool)
        cells[np.arange(len(pairs)), pairs[:, 0], pairs[:, 1]] = True
        return [
            Lever(f"Deciding {case.decisions[e]} when it is {case.classes[j]}", cells[i])
            for i, (j, e) in enumerate(pairs)
        ]
    mean = np.where(wrong, case.average, 0.0).mean(axis=1)
    share = sums(case.codes, case.weights, case.k) * mean
    shown = sorted(np.argsort(-share, kind="stable")[:MOST_LEVERS].tolist())
    of_class = np.eye(case.k, dtype=bool)[:, :, None]
    return [
        Lever(f"Mistakes on {case.classes[j]}", wrong & of_class[j])
        for j in shown
        if wrong[j].any()
    ]


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
            decided = cheapest(expected)
        else:
            act = cheapest_but(expected, self.nothing)
            decided = np.where(self.risk >= threshold, act, self.nothing)
        if capacity is None or limited is None:
            return decided
        rows, other, _ = by_saving(expected, decided, limited)
        lost = np.cumsum(self.weights[rows]) > capacity
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
    found: Ints = others.argmin(axis=1)
    return found


def by_saving(expected: Floats, decided: Ints, limited: int) -> tuple[Ints, Ints, Floats]:
    """Rows of one decision by what it saves, their cheapest other decisions, and the savings."""
    rows = np.flatnonzero(decided == limited)
    other = cheapest_but(expected[rows], limited)
    saved = expected[rows, other] - expected[rows, limited]
    order = np.argsort(-saved, kind="stable")
    return rows[order], other[order], saved[order]


def board_of(case: Case) -> Board:
    """Board of single rows: exact."""
    products = {}
    for j in range(case.k):
        for e in range(case.d):
            cost = case.cost_of(j, e)
            if np.any(cost):
                products[j, e] = case.proba[:, j] * cost
    shape = (case.k, case.d)
    return Board(case.codes, case.weights, case.risk, products, case.prices, case.nothing, shape)


# -- the rows that the page embeds, exact or binned ------------------------------------------------


@dataclass(eq=False)
class Packed:
    """Columns in one buffer, with a header that says how to read them."""

    header: dict[str, Any] = field(default_factory=dict)
    buffer: bytearray = field(default_factory=bytearray)
    error: dict[str, float] | None = None

    def array(self, values: AnyArray) -> dict[str, Any]:
        """Append an array; return its type, place and length."""
        self.buffer.extend(b"\0" * (-len(self.buffer) % 8))
        place = len(self.buffer)
        self.buffer.extend(values.astype(values.dtype.newbyteorder("<")).tobytes())
        return {"type": values.dtype.name, "at": place, "length": len(values)}

    def codes(self, values: Ints, k: int) -> dict[str, Any]:
        """Append codes of k classes."""
        return self.array(values.astype(np.min_scalar_type(k - 1)))

    def column(self, values: Floats | float) -> dict[str, Any]:
        """Append a column of numbers in the smallest form that keeps every bit."""
        column = np.atleast_1d(np.asarray(values, dtype=np.float64))
        if (column == column[0]).all():
            return {"kind": "constant", "value": float(column[0])}
        distinct, index = np.unique(column, return_inverse=True)
        if len(distinct) <= min(65_536, len(column) // 2):
            known, places = self.array(distinct), self.codes(index, len(distinct))
            return {"kind": "table", "values": known, "index": places}
        return {"kind": "raw", "values": self.array(column)}

    def compressed(self) -> bytes:
        """The buffer compressed by gzip, the same bytes on every run."""
        return gzip.compress(bytes(self.buffer), compresslevel=9, mtime=0)


def pack(case: Case, board: Board, levers: list[Lever]) -> Packed:
    """Pack the rows, exactly if there are few, else in bins with a stated error."""
    if case.n <= EXACT_ROWS:
        packed = _pack_rows(case)
        if len(packed.buffer) <= EXACT_BYTES or len(packed.compressed()) <= EXACT_BYTES:
            return packed
    bins = bin_rows(case, board)
    packed = _pack_bins(bins)
    packed.error = stated_error(board, bins, levers)
    return packed


def _pack_rows(case: Case) -> Packed:
    packed = Packed()
    proba = [packed.column(case.proba[:, 0])]
    if case.k == 2 and (case.proba[:, 1] == 1.0 - case.proba[:, 0]).all():
        proba.append({"kind": "complement", "of": 0})
    else:
        proba += [packed.column(p) for p in case.proba.T[1:]]
    costs = [[packed.column(case.cost_of(j, e)) for e in range(case.d)] for j in range(case.k)]
    own = case.matrix[np.arange(case.n), case.codes] if case.is_per_row else case.matrix[case.codes]
    packed.header = {
        "rows": case.n,
        "exact": True,
        "truth": packed.codes(case.codes, case.k),
        "weights": packed.column(case.weights),
        "proba": proba,
        "costs": costs,
        # None: the price is the cost of the row's truth.
        "prices": None
        if (own == case.prices).all()
        else [packed.column(price) for price in case.prices.T],
    }
    return packed


def _pack_bins(bins: Board) -> Packed:
    packed = Packed()

    def raw(values: Floats, **more: int) -> dict[str, Any]:
        return {**more, "kind": "raw", "values": packed.array(values.astype(np.float32))}

    packed.header = {
        "rows": len(bins.truth),
        "exact": False,
        "truth": packed.codes(bins.truth, bins.shape[0]),
        "weights": {"kind": "raw", "values": packed.array(bins.weights)},
        "risk": raw(bins.risk),
        "products": [raw(q, truth=j, decision=e) for (j, e), q in bins.products.items()],
        "prices": [raw(price) for price in bins.prices.T],
    }
    return packed


def bin_rows(case: Case, board: Board, most: int | None = None, seed: int = 0) -> Board:
    """Join rows that are alike into bins, each acting as one row with their joint weight."""
    # Rows share a bin only if they have the same truth and get the same decision at the stated
    # costs, and are close in probabilities and costs. One row of a bin, drawn at random, decides
    # for it: a mean row would pull all bins to the middle, while errors of random rows cancel out.
    # A bin pays the mean price of its rows, so that at the stated costs, and for each constant
    # decision, the total is exact.
    if most is None:
        numbers = len(board.products) + case.d + 3
        most = int(min(MOST_BINS, max(2_000, BIN_BYTES // (4 * numbers))))
    decided = board.decide(board.expected(np.ones(board.shape)))
    _, group = np.unique(case.codes * case.d + decided, return_inverse=True)
    node = _neighbours(case, group, most)
    mixed = np.random.default_rng(seed).permutation(case.n)
    drawn = mixed[np.unique(node[mixed], return_index=True)[1]]
    weight = sums(node, case.weights)
    totals = [sums(node, price * case.weights) for price in board.prices.T]
    prices = np.column_stack(totals) / np.maximum(weight, np.finfo(float).tiny)[:, None]
    return Board(
        case.codes[drawn],
        weight,
        _stored(board.risk[drawn]),
        {pair: _stored(product[drawn]) for pair, product in board.products.items()},
        _stored(prices),
        board.nothing,
        board.shape,
    )


def _stored(values: Floats) -> Floats:
    """Numbers as the page reads them, so that the stated error is that of the stored ones."""
    return values.astype(np.float32).astype(np.float64)


def _neighbours(case: Case, group: Ints, most: int) -> Ints:
    """Number of each row's bin: consecutive rows of a group along a curve through all columns."""
    # The columns that differ between rows (probabilities, costs) are ranked, and the bits of the
    # ranks interleaved: rows that are close on this curve (Morton's) are close in every column.
    columns = [case.proba[:, j] for j in range(1 if case.k == 2 else 0, case.k)]
    if case.is_per_row:
        flat = case.matrix.reshape(case.n, -1)
        columns += [flat[:, c] for c in range(flat.shape[1]) if np.ptp(flat[:, c]) > 0]
    columns = columns[:CURVE_BITS]
    bits = max(1, min(16, CURVE_BITS // len(columns)))
    key = np.zeros(case.n, dtype=np.int64)
    for place, column in enumerate(columns):
        distinct, index = np.unique(column, return_inverse=True)
        rank = index * (2**bits - 1) // max(len(distinct) - 1, 1)
        for bit in range(bits):
            key |= ((rank >> bit) & 1) << (bit * len(columns) + place)
    order = np.lexsort((key, group))
    # Bins share out the rows and the money evenly: costly rows get small bins.
    money = np.ptp(case.prices, axis=1) * case.weights
    size = 1.0 / case.n + money / max(money.sum(), np.finfo(float).tiny)
    step = np.floor(np.cumsum(size[order]) * (max(most - group.max() - 1, 1) / 2)).astype(np.intp)
    changes = (np.diff(step, prepend=step[0]) > 0) | (np.diff(group[order], prepend=0) > 0)
    bins = np.empty(case.n, dtype=np.intp)
    bins[order] = np.cumsum(changes)
    return bins


def stated_error(
    board: Board, bins: Board, levers: list[Lever], positions: int = 40, seed: int = 0
) -> dict[str, float]:
    """Compare binned with exact totals at random positions of the sliders."""
    rng = np.random.default_rng(seed)
    total = board.weights.sum()
    largest = relative = 0.0
    for _ in range(positions):
        factors = factors_of(levers, np.exp(rng.uniform(-1.4, 1.4, len(levers))), board.shape)
        threshold = rng.uniform() if rng.uniform() < 0.5 else None
        limited = int(rng.integers(board.shape[1]))
        capacity = rng.uniform(0, total) if rng.uniform() < 0.5 else None
        exact = board.operating_point(factors, threshold, capacity, limited).cost
        gap = abs(bins.operating_point(factors, threshold, capacity, limited).cost - exact)
        largest = max(largest, gap)
        relative = max(relative, gap / abs(exact) if exact else 0.0)
    return {"positions": positions, "largest": largest, "relative": relative}

"""Rows of the sliders as compact columns: what the page embeds, exact or binned."""

from __future__ import annotations

import gzip
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from costboost._typing import AnyArray, Floats, Ints
from costboost.report.case import Case, sums
from costboost.report.data.operating import Board, Lever, factors_of

__all__ = ["Packed", "StatedError", "bin_rows", "pack", "stated_error"]

EXACT_ROWS = 100_000
"""Up to this many rows the page holds every row."""

EXACT_BYTES = 9_000_000
"""Compressed size above which fewer rows are binned, too, as happens with many classes."""

BIN_BYTES = 2_600_000
"""Bytes of all bins before compression."""

MOST_BINS = 75_000

CURVE_BITS = 62
"""Bits of a place on the curve that orders rows before they are binned."""


@dataclass(frozen=True)
class StatedError:
    """How far binned totals were from exact ones, over random positions of the sliders."""

    positions: int
    largest: float
    relative: float


@dataclass(eq=False)
class Packed:
    """Columns in one buffer, with a header that says how to read them."""

    header: dict[str, Any] = field(default_factory=dict)
    buffer: bytearray = field(default_factory=bytearray)
    error: StatedError | None = None

    def array(self, values: AnyArray) -> dict[str, Any]:
        """Append an array; return its type, place and length."""
        self.buffer.extend(b"\0" * (-len(self.buffer) % 8))
        place = len(self.buffer)
        self.buffer.extend(
            np.ascontiguousarray(values).astype(_LITTLE[values.dtype.name]).tobytes()
        )
        return {"type": values.dtype.name, "at": place, "length": len(values)}

    def column(self, values: Floats | float) -> dict[str, Any]:
        """Append a column of numbers in the smallest form that keeps every bit."""
        column = np.atleast_1d(np.asarray(values, dtype=np.float64))
        if (column == column[0]).all():
            return {"kind": "constant", "value": float(column[0])}
        distinct, index = np.unique(column, return_inverse=True)
        if len(distinct) <= min(65_536, len(column) // 2):
            small = index.astype(np.uint8 if len(distinct) <= 256 else np.uint16)
            return {"kind": "table", "values": self.array(distinct), "index": self.array(small)}
        return {"kind": "raw", "values": self.array(column)}

    def compressed(self) -> bytes:
        """The buffer compressed by gzip, the same bytes on every run."""
        return gzip.compress(bytes(self.buffer), compresslevel=9, mtime=0)


_LITTLE = {"float64": "<f8", "float32": "<f4", "uint8": "<u1", "uint16": "<u2", "uint32": "<u4"}


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
    codes = np.uint8 if case.k <= 256 else np.uint16
    proba = [packed.column(case.proba[:, 0])]
    for j in range(1, case.k):
        if case.k == 2 and (case.proba[:, 1] == 1.0 - case.proba[:, 0]).all():
            proba.append({"kind": "complement", "of": 0})
        else:
            proba.append(packed.column(case.proba[:, j]))
    costs = [[packed.column(case.cost_of(j, e)) for e in range(case.d)] for j in range(case.k)]
    own = _own_prices(case)
    packed.header = {
        "rows": case.n,
        "exact": True,
        "truth": packed.array(case.codes.astype(codes)),
        "weights": packed.column(case.weights),
        "proba": proba,
        "costs": costs,
        # None: the price is the cost of the row's truth.
        "prices": None if own else [packed.column(case.prices[:, e]) for e in range(case.d)],
    }
    return packed


def _own_prices(case: Case) -> bool:
    rows = np.arange(case.n)
    own = case.matrix[rows, case.codes] if case.is_per_row else case.matrix[case.codes]
    return bool((own == case.prices).all())


def _pack_bins(bins: Board) -> Packed:
    packed = Packed()
    codes = np.uint8 if bins.shape[0] <= 256 else np.uint16
    packed.header = {
        "rows": len(bins.truth),
        "exact": False,
        "truth": packed.array(bins.truth.astype(codes)),
        "weights": {"kind": "raw", "values": packed.array(bins.weights)},
        "risk": {"kind": "raw", "values": packed.array(bins.risk.astype(np.float32))},
        "products": [
            {"truth": j, "decision": e, "kind": "raw", "values": packed.array(q.astype(np.float32))}
            for (j, e), q in bins.products.items()
        ],
        "prices": [
            {"kind": "raw", "values": packed.array(price.astype(np.float32))}
            for price in bins.prices.T
        ],
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
    # Bins share out the rows and the money at stake evenly: costly rows get small bins.
    stake = np.ptp(case.prices, axis=1) * case.weights
    size = 1.0 / case.n + stake / max(stake.sum(), np.finfo(float).tiny)
    step = np.floor(np.cumsum(size[order]) * (max(most - group.max() - 1, 1) / 2)).astype(np.intp)
    changes = (np.diff(step, prepend=step[0]) > 0) | (np.diff(group[order], prepend=0) > 0)
    bins = np.empty(case.n, dtype=np.intp)
    bins[order] = np.cumsum(changes)
    return bins


def stated_error(
    board: Board, bins: Board, levers: list[Lever], positions: int = 40, seed: int = 0
) -> StatedError:
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
    return StatedError(positions, largest, relative)

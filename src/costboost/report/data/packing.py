"""Rows of the sliders as compact columns: what the page embeds, exact or binned."""

from __future__ import annotations

import gzip
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from costboost._typing import AnyArray, Floats, Ints
from costboost.report.case import Case
from costboost.report.data.operating import Board, Lever, factors_of

__all__ = ["Packed", "StatedError", "bin_rows", "pack", "stated_error"]

EXACT_ROWS = 100_000
"""Up to so many rows the page has every row."""

EXACT_BYTES = 9_000_000
"""Compressed size above which even fewer rows are binned: with many classes."""

BIN_BYTES = 2_400_000
"""Bytes of all bins before compression."""

MOST_BINS = 50_000


@dataclass(frozen=True)
class StatedError:
    """How far binned totals were from exact ones, over random positions of the sliders.

    Attributes
    ----------
    positions : int
        Number of random positions.
    largest : float
        Largest difference of the total cost.
    relative : float
        Largest difference as a share of the exact total cost.
    """

    positions: int
    largest: float
    relative: float


@dataclass(eq=False)
class Packed:
    """Columns in one buffer, with a header that says how to read them.

    Attributes
    ----------
    header : dict
        Description of the columns, ready for JSON.
    buffer : bytes
        The arrays, one after another, each at a multiple of 8 bytes.
    error : StatedError or None
        None if the rows are exact.
    """

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
        """The buffer, by gzip, the same bytes on every run."""
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
    """Join rows that are alike into bins, each acting as one row with their joint weight.

    Rows share a bin only if they have the same truth and get the same decision at the stated
    costs. Groups are halved again and again along their widest column (probabilities and costs,
    by rank), until there are enough bins. One row of a bin, drawn at random, decides for it: means
    would pull all bins to the middle, while errors of random rows cancel out. For the decision at
    the stated costs a bin pays the mean of its rows, so that there the total is exact.
    """
    if most is None:
        numbers = len(board.products) + case.d + 3
        most = int(min(MOST_BINS, max(2_000, BIN_BYTES // (4 * numbers))))
    decided = board.decide(board.expected(np.ones(board.shape)))
    _, node = np.unique(case.codes * case.d + decided, return_inverse=True)
    node = _halve(_ranked_columns(case), node, most)
    mixed = np.random.default_rng(seed).permutation(case.n)
    drawn = mixed[np.unique(node[mixed], return_index=True)[1]]
    weight = np.bincount(node, case.weights)
    paid = board.prices[np.arange(case.n), decided]
    total = np.bincount(node, paid * case.weights)
    prices = board.prices[drawn].copy()
    bins = np.arange(len(drawn))
    counted = weight > 0
    prices[bins[counted], decided[drawn[counted]]] = total[counted] / weight[counted]
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


def _ranked_columns(case: Case) -> Floats:
    """Ranks, from 0 to 1, of all columns that differ between rows (n, columns)."""
    columns = [case.proba[:, j] for j in range(1 if case.k == 2 else 0, case.k)]
    if case.is_per_row:
        flat = case.matrix.reshape(case.n, -1)
        columns += [flat[:, c] for c in range(flat.shape[1]) if np.ptp(flat[:, c]) > 0]
    ranked = np.empty((case.n, len(columns)), dtype=np.float32)
    for place, column in enumerate(columns):
        distinct, index = np.unique(column, return_inverse=True)
        ranked[:, place] = index / max(len(distinct) - 1, 1)
    return ranked


def _halve(table: AnyArray, node: Ints, most: int) -> Ints:
    """Split nodes of rows at their medians until there would be more than `most` of them."""
    while True:
        order = np.argsort(node, kind="stable")
        starts = np.flatnonzero(np.diff(node[order], prepend=-1))
        sizes = np.diff(np.append(starts, len(node)))
        spread = np.maximum.reduceat(table[order], starts) - np.minimum.reduceat(
            table[order], starts
        )
        splits = (sizes > 1) & (spread.max(axis=1) > 0)
        room = most - len(starts)
        if room <= 0 or not splits.any():
            return node
        if splits.sum() > room:  # only the largest nodes
            chosen = np.flatnonzero(splits)[np.argsort(-sizes[splits], kind="stable")[:room]]
            splits = np.zeros_like(splits)
            splits[chosen] = True
        key = table[np.arange(len(node)), spread.argmax(axis=1)[node]]
        ranked = np.lexsort((key, node))
        place = np.arange(len(node)) - starts[node[ranked]]
        upper = np.empty(len(node), dtype=bool)
        upper[ranked] = splits[node[ranked]] & (place >= sizes[node[ranked]] // 2)
        _, node = np.unique(2 * node + upper, return_inverse=True)


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

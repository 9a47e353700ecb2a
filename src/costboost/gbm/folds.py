"""Which rows a booster trains on, and which it is held against."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from costboost._typing import AnyArray, Bools, Floats, Ints
from costboost.costs import KnownCosts

__all__ = ["Fold", "HoldOut", "folds", "own_folds", "strata"]

# Most held-out rows, and most numbers in their cost matrices: they are kept in memory.
_HELD_OUT_ROWS = 2**20
_HELD_OUT_NUMBERS = 2**24


@dataclass(frozen=True, eq=False)
class Fold:
    """Rows to train on and rows held out; None is all rows and none."""

    rows: Ints | None = None
    held_out: Ints | None = None


def strata(costs: KnownCosts) -> Ints:
    """Groups of rows that folds share out evenly, (n,): class, and whether anything is at stake."""
    # Where few rows have a price, folds by class alone may have no such row, and nothing to learn
    # from or to stop by.
    return np.asarray(2 * costs.codes + costs.reduced.any(axis=1), dtype=np.intp)


def folds(groups: Ints, n_folds: int, rng: np.random.RandomState) -> list[Fold]:
    """Shuffled folds with the same share of every group, to within a row."""
    order = rng.permutation(len(groups))
    order = order[np.argsort(groups[order], kind="stable")]
    place = np.empty(len(groups), dtype=np.intp)
    place[order] = np.arange(len(groups)) % n_folds
    return [Fold(np.flatnonzero(place != f), np.flatnonzero(place == f)) for f in range(n_folds)]


@dataclass(frozen=True)
class HoldOut:
    """The rule by which a single booster holds out rows, wherever they come from."""

    # The rows of a group (see `strata`) are counted in their order. Of every ``one_in`` that follow
    # each other one is held out, drawn by the seed, but never the first row of a group. So every
    # group has a row to train on and gives the same share, to within a row, and the rows held out
    # do not depend on batches, files, partitions or workers.

    one_in: int = 0
    seed: int = 0

    @classmethod
    def bounded(cls, fraction: float, n_rows: int, n_classes: int, seed: int) -> HoldOut:
        """The rule for that fraction, or for less if memory could not hold so many rows."""
        most = min(_HELD_OUT_ROWS, _HELD_OUT_NUMBERS // n_classes**2)
        return cls(max(round(1.0 / fraction), 2, -(-n_rows // most)), seed)

    def mask(self, groups: Ints, before: Ints | None = None) -> Bools:
        """Which rows of a block are held out."""
        if not self.one_in or not len(groups):
            return np.zeros(len(groups), dtype=np.bool_)
        counts = np.bincount(groups)
        order = np.argsort(groups, kind="stable")
        number = np.empty(len(groups), dtype=np.int64)
        number[order] = np.arange(len(groups)) - np.repeat(np.cumsum(counts) - counts, counts)
        if before is not None:
            number += before[groups]
        turn, place = np.divmod(number, self.one_in)
        first = turn == 0
        drawn = np.floor((self.one_in - first) * _drawn(groups, turn, self.seed)) + first
        return np.asarray(place == drawn)


def _drawn(groups: Ints, turn: Ints, seed: int) -> Floats:
    """A number in [0, 1) per group and turn (the mixing function of SplitMix64)."""
    golden = 0x9E3779B97F4A7C15
    z = np.asarray(turn, dtype=np.uint64) * np.uint64(golden)
    z += np.asarray(groups, dtype=np.uint64) * np.uint64(0xD1342543DE82EF95)
    z += np.uint64((seed + 1) * golden % 2**64)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray((z ^ (z >> np.uint64(31))) >> np.uint64(11), dtype=np.float64) / 2.0**53


def own_folds(cv: Any, X: AnyArray, codes: Ints, place: Ints, owner: str) -> list[Fold]:
    """The folds of a splitter or of an iterable, checked."""
    if hasattr(cv, "split"):
        parts: Iterable[Any] = cv.split(X, codes)
        place = np.arange(len(codes))
    else:
        parts = cv
    found = []
    for number, (rows, held) in enumerate(parts):
        name = f"Fold {number} of the 'cv' parameter of {owner}"
        train, held_out = (
            _indices(part, place, f"{name}, {what},")
            for part, what in ((rows, "training rows"), (held, "held-out rows"))
        )
        both = np.intersect1d(train, held_out)
        if len(both):
            raise ValueError(
                f"{name} holds out {len(both)} of its training rows, such as row "
                f"{int(np.flatnonzero(place == both[0])[0])}: the estimated savings would be too "
                "high. Leave them out of the training rows."
            )
        found.append(Fold(train, held_out))
    if not found:
        raise ValueError(
            f"The 'cv' parameter of {owner} gave no folds. Pass at least one pair (training rows, "
            "held-out rows); an iterator can be used once only, so pass a list."
        )
    return found


def _indices(part: Any, place: Ints, name: str) -> Ints:
    """Rows that have weight, from indices or a mask of all rows."""
    rows = np.asarray(part)
    n = len(place)
    if rows.dtype == np.bool_ and rows.shape == (n,):
        rows = np.flatnonzero(rows)
    elif rows.ndim != 1 or (len(rows) and not np.issubdtype(rows.dtype, np.integer)):
        raise ValueError(
            f"{name} must be indices of rows or a mask of {n} booleans, got an array of "
            f"{rows.dtype} of shape {rows.shape}. Pass integers, such as those of KFold.split."
        )
    strange = rows[(rows < 0) | (rows >= n)] if len(rows) else rows
    if len(strange):
        raise ValueError(
            f"{name} must be indices from 0 to {n - 1}, got {strange[0]}. Make the folds from the "
            "rows that fit is given."
        )
    kept = place[rows.astype(np.intp)]
    kept = kept[kept >= 0]
    if not len(kept):
        raise ValueError(
            f"{name} must have at least one row with weight, got {len(rows)} rows without. Use "
            "fewer or larger folds."
        )
    return np.asarray(kept)

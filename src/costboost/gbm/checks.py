"""What a fit warns of: the target in X, rows that repeat, decisions that do not pay."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from typing import Any

import numpy as np

from costboost._typing import AnyArray, Floats, Ints
from costboost.columns.raw import is_sparse
from costboost.costs import Costs
from costboost.costs.labels import listed
from costboost.errors import CostWarning
from costboost.metrics import Verdict

# Rows that are looked at for the target in X; of these, so many rule out nearly all columns.
_ROWS, _FIRST_ROWS = 20_000, 256
# Fewer rows, or rows of a class, may be told apart by a column by chance.
_FEWEST_ROWS, _FEWEST_OF_CLASS = 100, 5
# Values of a column of categories, or of a number that is one, at most.
_FEW_VALUES = 20
_BLOCK = 1024
# Share of held-out rows with a twin that is told, in tables of this many rows. Where all columns
# have few values twins are natural, and so they are if chance explains two thirds of them.
_REPEATED, _FEWEST_REPEATED, _MANY_VALUES, _DRAWN = 0.05, 300, 50, 2000


def warn_of_target(
    X: Any, codes: Ints, categorical: Sequence[int], names: Sequence[str] | None, owner: str
) -> None:
    """Warn if a column alone tells the class of every row."""
    found = telling_columns(X, codes, categorical)
    if not found:
        return
    shown = listed(found if names is None else [names[j] for j in found])[1:-1]
    start = (
        f"Column {shown} of X tells" if len(found) == 1 else f"Each of the columns {shown} tells"
    )
    warnings.warn(
        f"{start} the class of every row. What is the target, or is known only after the decision, "
        f"must not be in X: the estimates of {owner} are then too good. Leave it out.",
        CostWarning,
        stacklevel=4,
    )


def telling_columns(X: Any, codes: Ints, categorical: Sequence[int]) -> list[int]:
    """Columns that tell the class of every row: by a threshold, or as few values or categories."""
    order = np.argsort(codes, kind="stable")
    counts = np.bincount(codes)
    ends = np.cumsum(counts)
    classes = np.flatnonzero(counts >= _FEWEST_OF_CLASS)
    if len(classes) < 2 or counts[classes].sum() < _FEWEST_ROWS:
        return []

    def some(n: int) -> Ints:
        """Rows of all classes, evenly spaced in each."""
        n = max(n // len(classes), _FEWEST_OF_CLASS)
        return np.concatenate(
            [order[ends[c] - counts[c] : ends[c]][:: -(-counts[c] // n)] for c in classes]
        )

    def left(rows: Ints, columns: Sequence[int]) -> list[int]:
        found: list[int] = []
        for start in range(0, len(columns), _BLOCK):
            block = list(columns[start : start + _BLOCK])
            part = X[rows][:, block].toarray() if is_sparse(X) else X[rows[:, None], block]
            found += [
                j for place, j in enumerate(block) if _tells(part[:, place], codes[rows], j in held)
            ]
        return found

    # What tells apart all rows also tells apart some.
    held = set(categorical)
    return left(some(_ROWS), left(some(_FIRST_ROWS), range(X.shape[1])))


def _tells(values: Floats, codes: Ints, is_category: bool) -> bool:
    """Whether equal values have one class, and the values of a class lie together or are few."""
    order = np.argsort(values, kind="stable")
    v, c = values[order], codes[order]
    changes = c[1:] != c[:-1]
    new = (v[1:] != v[:-1]) & ~(np.isnan(v[1:]) & np.isnan(v[:-1]))  # missing is a value
    if (changes & ~new).any():
        return False
    n_values = int(new.sum()) + 1
    if n_values <= min(_FEW_VALUES, len(v) / 10):
        return True
    return not is_category and int(changes.sum()) == len(np.unique(c)) - 1


def warn_of_repeated_rows(X: Any, folds: Sequence[tuple[Ints, Ints]], owner: str) -> None:
    """Warn if many held-out rows are known to the boosters that decide them."""
    if X.shape[0] < _FEWEST_REPEATED or not folds:
        return
    share = repeated_share(X, folds)
    if share <= _REPEATED:
        return
    chance = _natural_share(X)
    if share <= max(1.5 * chance, chance + _REPEATED):
        return
    warnings.warn(
        f"{share:.0%} of the held-out rows are equal to a row that their fold trains on, in all "
        f"columns: the estimates of {owner} are too good for rows that are new. Drop the copies, "
        "or keep them together by folds of your own, cv=.",
        CostWarning,
        stacklevel=4,
    )


def _natural_share(X: Any) -> float:
    """Share of rows with a twin if the columns were independent; 1 if all have few values."""
    rows = np.linspace(0, X.shape[0] - 1, min(X.shape[0], _DRAWN)).astype(np.intp)
    n, has_many, logarithm = len(rows), False, 0.0
    for start in range(0, X.shape[1], _BLOCK):
        part = X[rows][:, start : start + _BLOCK]
        for column in (part.toarray() if is_sparse(part) else part).T:
            counts = np.unique(column, return_counts=True)[1].astype(np.float64)
            has_many = has_many or len(counts) > _MANY_VALUES
            # The probability that two rows have the same value here.
            same = float((counts * (counts - 1)).sum()) / (n * (n - 1))
            logarithm += np.log(max(same, 1e-300))
    return 1.0 - float(np.exp(-X.shape[0] * np.exp(logarithm))) if has_many else 1.0


def repeated_share(X: Any, folds: Sequence[tuple[Ints, Ints]]) -> float:
    """Share of held-out rows that are equal to a row their fold trains on."""
    _, twins = np.unique(_hashes(X), return_inverse=True)
    repeated = total = 0
    for rows, held_out in folds:
        trained = np.zeros(int(twins.max()) + 1, dtype=np.bool_)
        trained[twins[rows]] = True
        repeated += int(trained[twins[held_out]].sum())
        total += len(held_out)
    return repeated / max(total, 1)


def _hashes(X: Any) -> AnyArray:
    """A number of 64 bits per row; equal rows have equal ones."""
    if is_sparse(X):  # zeros may be stored or not
        bits = _bits(X.data)
        mixed = _mixed(_mixed(X.indices.astype(np.uint64) + np.uint64(1)) ^ bits) * (bits != 0)
        sums = np.concatenate([np.zeros(1, dtype=np.uint64), np.cumsum(mixed)])
        return np.asarray(sums[X.indptr[1:]] - sums[X.indptr[:-1]])
    found = np.zeros(len(X), dtype=np.uint64)
    for column in X.T:
        found = _mixed(found ^ _bits(column))
    return found


def _bits(values: AnyArray) -> AnyArray:
    return np.asarray(values + 0.0, dtype=np.float64).view(np.uint64)  # -0.0 + 0.0 is 0.0


def _mixed(bits: AnyArray) -> AnyArray:
    bits = bits * np.uint64(0x9E3779B97F4A7C15)
    return np.asarray(bits ^ (bits >> np.uint64(29)))


# -- decisions that do not pay --------------------------------------------------------------------


def warn_of_no_gain(costs: Costs, decided: Ints, weights: Floats, owner: str) -> None:
    """Warn if the decisions on held-out rows cost no less than the same one for every row."""
    found = Verdict.of(costs, decided, weights)
    # A gain of exactly 0 is a constant decision, which has a warning of its own, or no cost at all.
    if found.answer == "does not pay" and found.gain < 0:
        warnings.warn(
            f"Held-out rows of {owner}: {found} Look for columns that say more about the class, or "
            f"decide {found.constant!r} for every row.",
            CostWarning,
            stacklevel=4,
        )

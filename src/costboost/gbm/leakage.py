"""What makes estimates too good: the target among the columns, copies of rows, known rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import binom

from costboost._typing import AnyArray, Floats, Ints
from costboost._words import percent
from costboost.columns.table import is_sparse
from costboost.costs.labels import listed

# Rows that are searched for the target in X; of these, so many rule out nearly all columns.
SEARCHED_ROWS = 20_000
FIRST_ROWS = 256
# Fewer rows, or rows of a class, may be told apart by a column by chance.
FEWEST_ROWS = 100
FEWEST_ROWS_OF_CLASS = 5
# Values of a column of categories, or of a number that is one, at most.
FEW_VALUES = 20
# Columns, or rows, that are looked at together.
BLOCK = 1024
# Share of held-out rows with a copy that is a finding, in tables of this many rows.
REPEATED_SHARE = 0.05
FEWEST_REPEATED_ROWS = 300
# Where all columns have at most so many values copies are natural, and so they are if chance, in a
# sample of so many rows, explains two thirds of them.
MANY_VALUES = 50
SAMPLED_ROWS = 2000
# A model keeps the smallest hashes of its training rows, at most so many.
SKETCH_ROWS = 32_768
# Share of rows beyond the natural one that may be known by chance, and how sure that must be.
KNOWN_SHARE = 0.05
KNOWN_PROBABILITY = 1e-3
# Fewer rows say too little about whether rows are new.
FEWEST_COMPARED_ROWS = 20


@dataclass(frozen=True)
class Finding:
    """What makes estimates too good: a few words for a verdict, and sentences for a warning."""

    doubt: str
    warning: str
    columns: tuple[Any, ...] = ()


def find_leaks(
    X: Any,
    codes: Ints,
    folds: Sequence[tuple[Any, Any]],
    *,
    categorical: Sequence[int] = (),
    names: Sequence[str] | None = None,
) -> list[Finding]:
    """Find what makes estimates from these folds too good.

    Parameters
    ----------
    X : matrix of shape (n, p)
        The rows as numbers.
    codes : int array of shape (n,)
        The class of each row, as an index.
    folds : sequence of pairs of int arrays
        Rows to train on, and rows held out.
    categorical : sequence of int
        Columns that hold categories.
    names : sequence of str, optional
        Names of the columns.

    Returns
    -------
    list of Finding
        What was found; usually nothing.
    """
    findings = [find_target(X, codes, categorical, names), find_copies(X, hash_rows(X), folds)]
    return [finding for finding in findings if finding is not None]


# --- the target among the columns -----------------------------------------------------------------


def find_target(
    X: Any, codes: Ints, categorical: Sequence[int], names: Sequence[str] | None
) -> Finding | None:
    """Find columns that alone tell the class of every row, by a threshold or by few values."""
    counts = np.bincount(codes)
    classes = np.flatnonzero(counts >= FEWEST_ROWS_OF_CLASS)
    if len(classes) < 2 or counts[classes].sum() < FEWEST_ROWS:
        return None
    rows_of_class = np.split(np.argsort(codes, kind="stable"), np.cumsum(counts)[:-1])
    telling = list(range(X.shape[1]))
    for n_rows in (FIRST_ROWS, SEARCHED_ROWS):  # what tells apart all rows also tells apart some
        most = max(n_rows // len(classes), FEWEST_ROWS_OF_CLASS)
        rows = np.concatenate([rows_of_class[c][:: -(-counts[c] // most)] for c in classes])
        columns = telling
        telling = []
        for start in range(0, len(columns), BLOCK):
            block = columns[start : start + BLOCK]
            part = X[rows][:, block].toarray() if is_sparse(X) else X[rows[:, None], block]
            for column, values in zip(block, part.T, strict=True):
                if _tells_class(values, codes[rows], column in categorical):
                    telling.append(column)
    if not telling:
        return None
    shown = [names[column] for column in telling] if names is not None else telling
    quoted = listed(shown)[1:-1]
    which = f"Column {quoted} of X"
    doubt = f"column {shown[0]} alone tells the class"
    if len(telling) > 1:
        which = f"Each of the columns {quoted}"
        doubt = f"each of the columns {', '.join(map(str, shown))} alone tells the class"
    warning = (
        f"{which} tells the class of every row. What is the target, or is known only after the "
        "decision, must not be in X: estimates are then too good. Leave it out."
    )
    return Finding(doubt, warning, tuple(shown))


def _tells_class(values: Floats, codes: Ints, is_category: bool) -> bool:
    """Return True if equal values have one class, and those of a class lie together or are few."""
    order = np.argsort(values, kind="stable")
    v = values[order]
    c = codes[order]
    class_changes = c[1:] != c[:-1]
    both_missing = np.isnan(v[1:]) & np.isnan(v[:-1])  # missing is a value
    is_new = (v[1:] != v[:-1]) & ~both_missing
    if (class_changes & ~is_new).any():
        return False
    n_values = int(is_new.sum()) + 1
    if n_values <= min(FEW_VALUES, len(v) / 10):
        return True
    return not is_category and int(class_changes.sum()) == len(np.unique(c)) - 1


# --- copies of rows -------------------------------------------------------------------------------


def find_copies(X: Any, hashes: AnyArray, folds: Sequence[tuple[Any, Any]]) -> Finding | None:
    """Find out whether many held-out rows are known to the models that decide them."""
    known = []
    for rows, held_out in folds:
        if rows is not None and held_out is not None:
            known.append(np.isin(hashes[held_out], hashes[rows]))
    if len(hashes) < FEWEST_REPEATED_ROWS or not known:
        return None
    share = float(np.concatenate(known).mean())
    if share <= REPEATED_SHARE:
        return None
    chance = _natural_share(X)
    if share <= max(1.5 * chance, chance + REPEATED_SHARE):
        return None
    warning = (
        f"{share:.0%} of the held-out rows are equal to a row that their fold trains on, in all "
        "columns: estimates are too good for rows that are new. Drop the copies, or keep them "
        "together by folds of your own, cv=."
    )
    return Finding(f"{percent(share)} of the held-out rows are copies of training rows", warning)


def _natural_share(X: Any) -> float:
    """Return the share of rows that have a copy by chance; 1 if all columns have few values."""
    n_rows = min(X.shape[0], SAMPLED_ROWS)
    rows = np.linspace(0, X.shape[0] - 1, n_rows).astype(np.intp)
    has_many_values = False
    log_probability = 0.0
    for start in range(0, X.shape[1], BLOCK):
        part = X[rows][:, start : start + BLOCK]
        if is_sparse(part):
            part = part.toarray()
        for column in part.T:
            counts = np.unique(column, return_counts=True)[1].astype(np.float64)
            has_many_values = has_many_values or len(counts) > MANY_VALUES
            # The probability that two rows have the same value here.
            same = float((counts * (counts - 1)).sum()) / (n_rows * (n_rows - 1))
            log_probability += np.log(max(same, 1e-300))
    if not has_many_values:
        return 1.0
    return 1.0 - float(np.exp(-X.shape[0] * np.exp(log_probability)))


# --- rows that a model was trained on -------------------------------------------------------------


@dataclass(frozen=True)
class KnownRows:
    """How many rows are among those of a training."""

    share: float  # of the rows that can be compared
    n_compared: int
    natural_share: float  # of training rows that have a copy among the others

    @property
    def excess(self) -> float:
        """Share of the rows that are known beyond what repeats by nature."""
        return (self.share - self.natural_share) / max(1.0 - self.natural_share, 1e-9)

    @property
    def are_new(self) -> bool:
        """True if no more rows are known than repeat by nature."""
        return self.n_compared >= FEWEST_COMPARED_ROWS and self.excess <= KNOWN_SHARE

    @property
    def doubt(self) -> str | None:
        """Words for a verdict if rows were trained on, else None."""
        n_known = round(self.share * self.n_compared)
        by_chance = binom.sf(n_known - 1, self.n_compared, min(self.natural_share + 0.01, 1.0))
        if self.excess <= KNOWN_SHARE or by_chance > KNOWN_PROBABILITY:
            return None
        share = "" if self.share > 0.995 else f"{percent(self.share)} of "
        return f"the model was trained on {share}these rows"


def sketch_rows(X: Any, codes: Ints) -> tuple[AnyArray, float]:
    """Return the smallest hashes of rows with their classes, and the share that has a copy."""
    hashes = _with_class(hash_rows(X), codes)
    distinct, counts = np.unique(hashes, return_counts=True)
    has_copy = counts[counts > 1].sum() / len(hashes)
    return distinct[:SKETCH_ROWS], float(has_copy)


def compare_rows(X: Any, codes: Ints, sketch: AnyArray, natural_share: float) -> KnownRows:
    """Compare rows and their classes with a sketch of training rows."""
    hashes = _with_class(hash_rows(X), codes)
    if len(sketch) == SKETCH_ROWS:
        # Larger hashes were left out of the sketch, so they say nothing.
        hashes = hashes[hashes <= sketch[-1]]
    share = 0.0
    if len(hashes):
        share = float(np.isin(hashes, sketch).mean())
    return KnownRows(share, len(hashes), natural_share)


def hash_rows(X: Any) -> AnyArray:
    """Return a hash of 64 bits of each row.

    The hash of a row is a sum over its columns, to which zeros add nothing, so dense and sparse
    rows have the same.
    """
    factors = _mixed(np.arange(1, X.shape[1] + 1, dtype=np.uint64)) | np.uint64(1)
    if is_sparse(X):
        parts = _bits(X.data) * factors[X.indices]
        sums = np.append(np.uint64(0), np.cumsum(parts, dtype=np.uint64))
        hashes = sums[X.indptr[1:]] - sums[X.indptr[:-1]]
    else:
        hashes = np.empty(len(X), dtype=np.uint64)
        for start in range(0, len(X), BLOCK):
            block = slice(start, start + BLOCK)
            hashes[block] = (_bits(X[block]) * factors).sum(axis=1, dtype=np.uint64)
    return _mixed(hashes)


def _with_class(hashes: AnyArray, codes: Ints) -> AnyArray:
    """Return hashes of rows together with their classes."""
    return _mixed(hashes + _mixed(codes.astype(np.uint64) + np.uint64(1)))


def _bits(values: AnyArray) -> AnyArray:
    """Return the bits of numbers, mixed; those of 0 and -0 are 0, those of all NaN are alike."""
    numbers = np.ascontiguousarray(values, dtype=np.float64) + 0.0
    numbers = np.where(np.isnan(numbers), np.nan, numbers)
    bits = numbers.view(np.uint64)
    # The low bits of whole numbers are 0: without this they would stay so in a product.
    return bits ^ (bits >> np.uint64(32))


def _mixed(z: AnyArray) -> AnyArray:
    """Return numbers whose bits each hang on all bits (the finaliser of SplitMix64)."""
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    mixed: AnyArray = z ^ (z >> np.uint64(31))
    return mixed

"""What makes a fit on a cluster repeat for a seed, wherever the rows are.

XGBoost by itself depends on the place of the rows in three ways: each worker sketches the quantiles
of its own rows, draws its own sample of rows in each round, and sums are added in the order of the
workers. Here

- bins come from rows that are drawn by their number among all rows, and values are rounded down to
  the lower edge of their bin, so that all workers see the same few values;
- a row is in the sample of a round by a hash of its number, the round and the seed;
- gradients are multiples of one power of two, so that their sums are exact in any order.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from scipy.special import expit, softmax

from costboost._typing import AnyArray, Bools, Floats, Ints

__all__ = ["edges_of", "floored", "hashed", "is_drawn", "log_loss_derivatives", "on_grid"]

# Rows that bins are made from.
SKETCHED_ROWS = 2**16
# Gradients are kept to so many bits of the largest one.
_BITS = 24


def hashed(numbers: Ints, seed: int) -> Floats:
    """A number in [0, 1) for each row number (the mixing function of SplitMix64)."""
    golden = 0x9E3779B97F4A7C15
    z = (np.asarray(numbers, dtype=np.uint64) + np.uint64(1)) * np.uint64(golden)
    z ^= np.uint64((seed + 1) * 0xD1342543DE82EF95 % 2**64)
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return np.asarray((z ^ (z >> np.uint64(31))) >> np.uint64(40), dtype=np.float64) / 2.0**24


def is_drawn(marks: AnyArray, round_number: int, share: float, seed: int) -> Bools:
    """Which rows are in the sample of a round."""
    numbers = np.asarray(np.asarray(marks, dtype=np.float64) * 2.0**24, dtype=np.int64)
    return np.asarray(hashed(numbers, seed + 7919 * (round_number + 1)) < share)


def edges_of(rows: AnyArray, n_bins: int, categorical: Sequence[int]) -> list[AnyArray | None]:
    """Lower edges of the bins of each column."""
    found: list[AnyArray | None] = []
    for column in range(rows.shape[1]):
        values = np.sort(rows[:, column][~np.isnan(rows[:, column])])
        if column in categorical or not len(values):
            found.append(None)
            continue
        distinct = np.unique(values)
        if len(distinct) >= n_bins:
            distinct = np.unique(values[(np.arange(n_bins - 1) * len(values)) // (n_bins - 1)])
        found.append(distinct)
    return found


def floored(X: AnyArray, edges: Sequence[AnyArray | None]) -> AnyArray:
    """Values rounded down to the lower edge of their bin; those below all, up to the first."""
    # A tree that splits at an edge sends a value and its rounded one the same way.
    found = np.array(X, dtype=np.float32)
    for column, lower in enumerate(edges):
        if lower is not None:
            values = found[:, column]
            place = np.searchsorted(lower, values, side="right") - 1
            found[:, column] = np.where(np.isnan(values), values, lower[np.maximum(place, 0)])
    return found


def log_loss_derivatives(
    scores: AnyArray, labels: AnyArray, weights: AnyArray
) -> tuple[Floats, Floats]:
    """Gradient and Hessian of log loss, as XGBoost has them."""
    z = np.asarray(scores, dtype=np.float64)
    if z.ndim == 1 or z.shape[1] == 1:
        p = expit(z.ravel())
        g, h = p - (np.asarray(labels) > 0), p * (1.0 - p)
        return (weights * g).reshape(z.shape), (weights * h).reshape(z.shape)
    p = softmax(z, axis=1)
    h = 2.0 * p * (1.0 - p)
    p[np.arange(len(p)), np.asarray(labels, dtype=np.intp)] -= 1.0
    return weights[:, None] * p, weights[:, None] * h


def on_grid(values: AnyArray, largest: float) -> AnyArray:
    """Values as multiples of a power of two: sums of them have no rounding errors."""
    if not largest > 0 or not math.isfinite(largest):
        return np.asarray(values, dtype=np.float32)
    unit = 2.0 ** (math.ceil(math.log2(largest)) - _BITS)
    return np.asarray(np.rint(np.asarray(values, dtype=np.float64) / unit) * unit, np.float32)

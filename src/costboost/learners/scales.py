"""Centre and spread of features of any size."""

from __future__ import annotations

import numpy as np

from costboost._typing import AnyArray, Floats
from costboost._utils import usual_exponent

__all__ = ["centre_and_spread"]

# A feature that varies less counts as constant: its slope would not be finite.
_SMALLEST_SPREAD = 1e-290


def centre_and_spread(X: AnyArray) -> tuple[Floats, Floats]:
    """Mean and standard deviation of each feature; the deviation of a constant one is 1."""
    # Each in a unit of its own, a power of two: the squares of very large or very small numbers
    # would overflow or vanish.
    largest = np.abs(X).max(axis=0).astype(np.float64)
    exponents = np.array([usual_exponent(size) for size in largest])
    spread = np.ldexp(np.std(np.ldexp(X, -exponents, dtype=np.float64), axis=0), exponents)
    return X.mean(axis=0, dtype=np.float64), np.where(spread > _SMALLEST_SPREAD, spread, 1.0)

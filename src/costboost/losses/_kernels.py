"""Compiled inner loop of the generalised logistic loss. numba is imported on first use."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from costboost._typing import Floats, Ints

__all__ = ["gll_slopes"]


@cache
def _compiled() -> Callable[..., Any]:
    from numba import njit

    @njit(cache=True, nogil=True)
    def slopes(y, F, C, direction, weights, alpha):  # type: ignore[no-untyped-def]
        n, k = F.shape
        first = 0.0
        second = 0.0
        for i in range(n):
            z = y[i]
            own, own_step = F[i, z], direction[i, z]
            shift = 0.0  # the largest exponent of a class that costs something, or that of 1
            for j in range(k):
                if C[i, j] > 0.0:
                    exponent = F[i, j] - own + alpha * (direction[i, j] - own_step)
                    shift = max(shift, exponent)
            whole, s1, s2 = np.exp(-shift), 0.0, 0.0
            for j in range(k):
                if C[i, j] > 0.0:
                    step = direction[i, j] - own_step
                    term = C[i, j] * np.exp(F[i, j] - own + alpha * step - shift)
                    whole += term
                    s1 += term * step
                    s2 += term * step * step
            mean = s1 / whole
            first += weights[i] * mean
            second += weights[i] * (s2 / whole - mean * mean)
        return first, second

    return slopes


def gll_slopes(
    y: Ints, F: Floats, C: Floats, direction: Floats, weights: Floats, alpha: float
) -> tuple[float, float]:
    """First and second derivative, by α, of Σ w log(1 + Σ_j C_j e^{S_j - S_z}) at F + α·direction.

    One pass, no temporary arrays: the line search of MCBoost spends its time here.
    """
    first, second = _compiled()(y, F, C, direction, weights, alpha)
    return float(first), float(second)

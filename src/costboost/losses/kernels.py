"""Kernels: loops over rows that numba compiles at their first call, and what they share.

A loss with a fast path writes its kernel as a plain function beside its formula, marks it
`compiled` and names it as its ``kernel``.

A kernel is called as ``kernel(*rows, F, w, G, H)``. ``rows`` is what `Loss.kernel_rows` prepared
once for all rounds, ``F`` the raw scores ((n,) or (n, k), in row or column order, float32 or
float64) and ``w`` the weights ((n,), or (1,) for all rows). It writes the weighted gradient and
diagonal Hessian into ``G`` and ``H``, float32 arrays of the shape of ``F``. Arithmetic is in double
precision; only the results are float32, which is what LightGBM and XGBoost read.

What a kernel writes must be usable for all scores and costs. Two helpers see to it:

- `row_share`: a row whose largest weighted derivative exceeds 1e30 is scaled down, gradient and
  Hessian alike. float32 then holds it, and the Newton step of the row stays the same.
- `usable_hessian`: negative curvature counts as positive, and a Hessian is at least 1e-16 and at
  least 1e-9 times its gradient.
"""

from __future__ import annotations

import numpy as np

from costboost._numba import compiled
from costboost._typing import AnyArray, Floats

__all__ = ["MAX_EXPONENT", "compiled", "fast_exp", "row_share", "store", "usable_hessian"]

# exp(709) is almost the largest finite double; exponents stop short of 709, which leaves room for
# costs, squares of steps and sums over rows in front.
MAX_EXPONENT = 600.0

_LARGEST = 1e30
_SMALLEST = 1e-16
_SHORTEST = 1e-9
_LOW_EXPONENT = -700.0  # its exponential is 1e-304: practically 0, and not subnormal

_LOG2E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10  # log 2 in two parts
_ROUNDER = 1.5 * 2.0**52  # added to a small number, it leaves the nearest integer in the low bits


# --- numbers --------------------------------------------------------------------------------------


@compiled(inline="always")
def row_share(top: float, weight: float = 1.0) -> float:
    """The factor that brings a row's largest derivative into range, with its weight and without."""
    largest = _LARGEST / max(weight, 1.0)
    return 1.0 if top <= largest else largest / top


@compiled(inline="always")
def usable_hessian(g: float, h: float) -> float:
    """The Hessian, positive and not too small for its gradient."""
    return max(abs(h), _SMALLEST, _SHORTEST * abs(g))


@compiled(inline="always")
def fast_exp(x: float) -> float:
    """exp(x) for x cut to [-700, 600], to a relative error of 3e-13; NaN stays."""
    # x = m log 2 + r with |r| <= log(2)/2: a Taylor polynomial in r, and 2^m by its exponent bits.
    x = MAX_EXPONENT if x > MAX_EXPONENT else x
    x = _LOW_EXPONENT if x < _LOW_EXPONENT else x
    rounded = x * _LOG2E + _ROUNDER
    m = rounded - _ROUNDER
    r = (x - m * _LN2_HIGH) - m * _LN2_LOW
    p = 1 / 40320 + r * (1 / 362880 + r * (1 / 3628800))
    p = 1 / 120 + r * (1 / 720 + r * (1 / 5040 + r * p))
    p = 1.0 + r * (1.0 + r * (1 / 2 + r * (1 / 6 + r * (1 / 24 + r * p))))
    bits = np.int64((np.float64(rounded).view(np.int64) + 1023) << 52)
    return p * bits.view(np.float64)


# --- losses without a kernel ----------------------------------------------------------------------


@compiled(error_model="numpy")
def store(g: Floats, h: Floats, w: AnyArray, G: AnyArray, H: AnyArray) -> None:
    """Derivatives (n, k) that are already computed, made usable and weighted."""
    n, k = g.shape
    for i in range(n):
        top = 0.0
        for j in range(k):
            top = max(top, abs(g[i, j]), abs(h[i, j]))
        weight = w[i] if w.size > 1 else w[0]
        share = row_share(top, weight)
        for j in range(k):
            scaled = share * g[i, j]
            G[i, j] = weight * scaled
            H[i, j] = weight * usable_hessian(scaled, share * h[i, j])

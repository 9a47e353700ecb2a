"""Kernels: loops over rows that numba compiles at their first call, and what they share.

A loss with a fast path writes its kernel as a plain function beside its formula, marks it
`compiled` and names it as its ``kernel``. numba is imported when the first kernel is called, so
importing this module costs nothing.

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

The losses of score differences (GEL, GLL) work on blocks of rows that stay in the processor's
cache, class by class. Their loops are short enough for the compiler to handle several rows at once;
`fast_exp` is written out for the same reason.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from types import CellType, FunctionType
from typing import Any

import numpy as np

from costboost._numba import jit
from costboost._typing import AnyArray, Floats, Ints

__all__ = [
    "BLOCK",
    "MAX_EXPONENT",
    "Compiled",
    "compiled",
    "exponentiate_block",
    "fast_exp",
    "load_block",
    "row_share",
    "save_block",
    "store",
    "usable_hessian",
]

# exp(709) is almost the largest finite double; exponents stop short of 709, which leaves room for
# costs, squares of steps and sums over rows in front.
MAX_EXPONENT = 600.0

BLOCK = 256  # rows

_LARGEST = 1e30
_SMALLEST = 1e-16
_SHORTEST = 1e-9
_LOW_EXPONENT = -700.0  # its exponential is 1e-304: practically 0, and not subnormal

_LOG2E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10  # log 2 in two parts
_ROUNDER = 1.5 * 2.0**52  # added to a small number, it leaves the nearest integer in the low bits


class Compiled:
    """A plain function that numba compiles when it is first called."""

    # Other `Compiled` functions that it calls by name are compiled with it.

    def __init__(self, function: FunctionType, options: dict[str, Any]) -> None:
        self.function = function
        self.options = options
        self.__doc__ = function.__doc__
        self.__name__ = function.__name__

    def __call__(self, *arguments: Any) -> Any:
        """Call the compiled function."""
        return self.dispatcher(*arguments)

    @cached_property
    def dispatcher(self) -> Any:
        """The function as numba sees it; made, not yet compiled, at first use."""
        plain = self.function
        code = plain.__code__
        # numba looks names up in the globals of the function, and must find its own kind there.
        names = {
            name: _as_numba(plain.__globals__[name])
            for name in code.co_names
            if name in plain.__globals__
        }
        cells = tuple(CellType(_as_numba(c.cell_contents)) for c in plain.__closure__ or ())
        twin = FunctionType(
            code,
            {**plain.__globals__, **names},
            plain.__name__,
            plain.__defaults__,
            cells or None,
        )
        return jit(twin, **self.options)

    def __getstate__(self) -> dict[str, Any]:
        # Compiled code stays in its process: another one compiles for itself.
        return {name: value for name, value in vars(self).items() if name != "dispatcher"}

    def __repr__(self) -> str:
        return f"<compiled {self.function.__qualname__}>"


def _as_numba(value: Any) -> Any:
    return value.dispatcher if isinstance(value, Compiled) else value


def compiled(**options: Any) -> Callable[[Any], Compiled]:
    """Mark a function to be compiled by numba at its first call."""
    return lambda function: Compiled(function, options)


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


# --- blocks of rows, for losses of score differences ----------------------------------------------


@compiled(error_model="numpy")
def load_block(z: Ints, C: AnyArray, F: AnyArray, D: Floats, P: Floats, own: Floats) -> None:
    """Copy a block of rows, class by row: D = F - F_z and P = C."""
    for i in range(len(z)):
        own[i] = F[z[i], i]
    for j in range(len(F)):
        d, p, scores, costs = D[j], P[j], F[j], C[j]
        for i in range(len(z)):
            d[i] = scores[i] - own[i]
        for i in range(len(z)):
            p[i] = costs[i]


@compiled(error_model="numpy", fastmath={"contract"})
def exponentiate_block(D: Floats, P: Floats, total: Floats) -> None:
    """D becomes exp(D), P becomes P exp(D), and total the sum of P over the classes."""
    total[:] = 0.0
    for j in range(len(D)):
        d, p = D[j], P[j]
        for i in range(len(total)):
            d[i] = fast_exp(d[i])
        for i in range(len(total)):
            p[i] *= d[i]
            total[i] += p[i]


@compiled(error_model="numpy")
def save_block(
    z: Ints,
    P: Floats,
    total: Floats,
    factor: Floats,
    bend: float,
    w: AnyArray,
    G: AnyArray,
    H: AnyArray,
) -> None:
    """Write a block: with s = factor P, at the label -factor total, L' = s, L'' = |s| - bend s²."""
    n = len(z)
    for i in range(n):
        P[z[i], i] = -total[i]
    curve = total
    for j in range(len(P)):
        p, g, h = P[j], G[j], H[j]
        for i in range(n):
            s = factor[i] * p[i]
            size = abs(s)
            p[i] = s
            curve[i] = usable_hessian(s, size - bend * size * size)
        if w.size > 1:
            for i in range(n):
                g[i] = w[i] * p[i]
            for i in range(n):
                h[i] = w[i] * curve[i]
        else:
            for i in range(n):
                g[i] = w[0] * p[i]
            for i in range(n):
                h[i] = w[0] * curve[i]


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

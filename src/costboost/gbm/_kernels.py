"""Compiled gradients and Hessians: one pass over the rows, written in single precision.

Imported on first use, because it imports numba. Arithmetic is in double precision; only the results
are stored as float32, which is what both engines read. Scores may be in row or column order;
weights w are (n,), or (1,) for all rows. Costs C are reduced: 0 at the label y, nowhere below.

The losses of score differences work on blocks of rows that stay in the cache, class by class, in
loops short enough for the compiler to run several rows at once; `_exp` is written out for it.

What leaves a kernel is usable whatever the scores and costs (`_limited`):

- a row whose largest derivative exceeds 1e30 is scaled down to that, gradient and Hessian alike, so
  that float32 holds it and the Newton step of the row stays what it is;
- negative curvature counts as positive, and a Hessian is at least 1e-16 and 1e-9 times its
  gradient.
"""

from __future__ import annotations

import numpy as np
from numba import njit

from costboost._typing import AnyArray, Floats, Ints
from costboost.losses.base import MAX_EXPONENT

__all__ = ["exponential", "gel", "gll", "logistic", "ls", "lt", "store"]

_LARGEST = 1e30
_SMALLEST = 1e-16
_SHORTEST = 1e-9
_TOP_EXPONENT = MAX_EXPONENT
_SAFE_EXPONENT = MAX_EXPONENT / 2  # of the two factors of Lt
_LOW_EXPONENT = -700.0  # its exponential is 1e-304: nothing, and not subnormal
_BLOCK = 256

_LOG2E = 1.4426950408889634
_LN2_HIGH, _LN2_LOW = 0.693147180369123816490, 1.90821492927058770002e-10  # log 2 in two parts
_ROUNDER = 1.5 * 2.0**52  # added to a small number, it leaves the nearest integer in the low bits


@njit(cache=True, nogil=True, inline="always")
def _share(top: float) -> float:
    """The factor that brings a row's largest derivative into range."""
    return 1.0 if top <= _LARGEST else _LARGEST / top


@njit(cache=True, nogil=True, inline="always")
def _limited(g: float, h: float) -> float:
    """The usable Hessian."""
    return max(abs(h), _SMALLEST, _SHORTEST * abs(g))


@njit(cache=True, nogil=True, inline="always")
def _exp(x: float) -> float:
    """exp(x) for x cut to [-700, 600], to a relative error of 3e-13; NaN stays.

    x = m log 2 + r with |r| <= log(2)/2: a Taylor polynomial in r, and 2^m by its exponent bits.
    """
    x = _TOP_EXPONENT if x > _TOP_EXPONENT else x
    x = _LOW_EXPONENT if x < _LOW_EXPONENT else x
    rounded = x * _LOG2E + _ROUNDER
    m = rounded - _ROUNDER
    r = (x - m * _LN2_HIGH) - m * _LN2_LOW
    p = 1 / 40320 + r * (1 / 362880 + r * (1 / 3628800))
    p = 1 / 120 + r * (1 / 720 + r * (1 / 5040 + r * p))
    p = 1.0 + r * (1.0 + r * (1 / 2 + r * (1 / 6 + r * (1 / 24 + r * p))))
    bits = np.int64((np.float64(rounded).view(np.int64) + 1023) << 52)
    return p * bits.view(np.float64)


@njit(cache=True, nogil=True, error_model="numpy")
def exponential(a: Floats, f: Floats, F: AnyArray, w: AnyArray, G: AnyArray, H: AnyArray) -> None:
    """The loss f exp(-aF), with a = slope times label: L' = -a L, L'' = a² L."""
    for i in range(F.shape[0]):
        value = f[i] * _exp(-a[i] * F[i])
        g, h = -a[i] * value, a[i] * a[i] * value
        share = _share(max(abs(g), h))
        g *= share
        weight = w[i] if w.size > 1 else w[0]
        G[i] = weight * g
        H[i] = weight * _limited(g, share * h)


@njit(cache=True, nogil=True, error_model="numpy")
def logistic(a: Floats, b: Floats, F: AnyArray, w: AnyArray, G: AnyArray, H: AnyArray) -> None:
    """The loss log(1 + exp(-u)), u = aF + b: q = 1/(1 + exp(u)), L' = -aq, L'' = a² q(1 - q)."""
    for i in range(F.shape[0]):
        margin = a[i] * F[i] + b[i]
        small = _exp(-abs(margin))
        whole = 1.0 / (1.0 + small)
        q = small * whole if margin > 0.0 else whole
        g, h = -a[i] * q, a[i] * a[i] * small * whole * whole
        weight = w[i] if w.size > 1 else w[0]
        G[i] = weight * g
        H[i] = weight * _limited(g, h)


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def gll(y: Ints, C: Floats, F: AnyArray, w: AnyArray, G: AnyArray, H: AnyArray) -> None:
    """The generalised logistic loss, log(1 + T) with T = sum_j C_j exp(F_j - F_y).

    With q_j = C_j exp(F_j - F_y) / (1 + T), and q_y = T / (1 + T) instead, L_j' = q_j,
    L_y' = -q_y and L_j'' = q_j (1 - q_j). Both terms of 1 + T are divided by the larger of 1 and
    the largest exponential of a class that costs something.
    """
    n, k = F.shape
    D, P = np.empty((k, _BLOCK)), np.empty((k, _BLOCK))
    total, factor = np.empty(_BLOCK), np.empty(_BLOCK)
    for start in range(0, n, _BLOCK):
        rows = slice(start, min(start + _BLOCK, n))
        z = y[rows]
        _load(z, C.T[:, rows], F.T[:, rows], D, P, factor)
        shift = factor
        shift[:] = 0.0
        for j in range(k):
            d, p = D[j], P[j]
            for i in range(len(z)):
                up = d[i] if p[i] > 0.0 else 0.0
                shift[i] = up if up > shift[i] else shift[i]
        for j in range(k):
            d = D[j]
            for i in range(len(z)):
                down = d[i] - shift[i]
                d[i] = 0.0 if down > 0.0 else down
        _price(D, P, total)
        for i in range(len(z)):  # the exponential of the label itself stands for 1
            factor[i] = 1.0 / (total[i] + D[z[i], i])
        _save(z, P, total, factor, 1.0, w[rows] if w.size > 1 else w, G.T[:, rows], H.T[:, rows])


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def gel(y: Ints, C: Floats, F: AnyArray, w: AnyArray, G: AnyArray, H: AnyArray) -> None:
    """The generalised exponential loss, T = sum_j C_j exp(F_j - F_y).

    With E_j = C_j exp(F_j - F_y), and E_y = T instead, L_j' = E_j, L_y' = -E_y and L_j'' = E_j.
    """
    n, k = F.shape
    D, P = np.empty((k, _BLOCK)), np.empty((k, _BLOCK))
    total, factor = np.empty(_BLOCK), np.empty(_BLOCK)
    for start in range(0, n, _BLOCK):
        rows = slice(start, min(start + _BLOCK, n))
        z = y[rows]
        _load(z, C.T[:, rows], F.T[:, rows], D, P, factor)
        _price(D, P, total)
        for i in range(len(z)):
            factor[i] = _share(total[i])
        _save(z, P, total, factor, 0.0, w[rows] if w.size > 1 else w, G.T[:, rows], H.T[:, rows])


@njit(cache=True, nogil=True, error_model="numpy")
def _load(z: Ints, C: AnyArray, F: AnyArray, D: Floats, P: Floats, own: Floats) -> None:
    """Copy a block of rows, class by row: D = F - F_z and P = C."""
    for i in range(len(z)):
        own[i] = F[z[i], i]
    for j in range(len(F)):
        d, p, scores, costs = D[j], P[j], F[j], C[j]
        for i in range(len(z)):
            d[i] = scores[i] - own[i]
        for i in range(len(z)):
            p[i] = costs[i]


@njit(cache=True, nogil=True, error_model="numpy", fastmath={"contract"})
def _price(D: Floats, P: Floats, total: Floats) -> None:
    """D becomes exp(D), P becomes P exp(D), and total their sum over the classes."""
    total[:] = 0.0
    for j in range(len(D)):
        d, p = D[j], P[j]
        for i in range(len(total)):
            d[i] = _exp(d[i])
        for i in range(len(total)):
            p[i] *= d[i]
            total[i] += p[i]


@njit(cache=True, nogil=True, error_model="numpy")
def _save(
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
            curve[i] = _limited(s, size - bend * size * size)
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


@njit(cache=True, nogil=True, error_model="numpy")
def ls(y: Ints, C: Floats, F: AnyArray, w: AnyArray, G: AnyArray, H: AnyArray) -> None:
    """The score-sum loss at scores shifted to sum 0.

    With E_j = C_j exp(S_j - mean S) and T their sum, L_j' = E_j - T/k and
    L_j'' = (1 - 2/k) E_j + T/k².
    """
    n, k = F.shape
    E = np.empty(k)
    for i in range(n):
        mean = 0.0
        for j in range(k):
            mean += F[i, j] / k
        total = 0.0
        for j in range(k):
            E[j] = C[i, j] * np.exp(min(F[i, j] - mean, _TOP_EXPONENT))
            total += E[j]
        share = _share(total)
        weight = w[i] if w.size > 1 else w[0]
        for j in range(k):
            g = share * (E[j] - total / k)
            h = share * ((1.0 - 2.0 / k) * E[j] + total / k**2)
            G[i, j] = weight * g
            H[i, j] = weight * _limited(g, h)


@njit(cache=True, nogil=True, error_model="numpy")
def lt(y: Ints, C: Floats, F: AnyArray, w: AnyArray, G: AnyArray, H: AnyArray) -> None:
    """The all-pairs loss: the product of two sums, up and down."""
    n, k = F.shape
    up, down = np.empty(k), np.empty(k)
    for i in range(n):
        mean = 0.0
        for j in range(k):
            mean += F[i, j] / k
        ups, downs = 0.0, 0.0
        for j in range(k):
            up[j] = C[i, j] * np.exp(min(F[i, j] - mean, _SAFE_EXPONENT))
            down[j] = np.exp(min(mean - F[i, j], _SAFE_EXPONENT))
            ups += up[j]
            downs += down[j]
        share = _share(2.0 * ups * downs)
        weight = w[i] if w.size > 1 else w[0]
        for j in range(k):
            rising, falling = up[j] * downs, down[j] * ups
            g = share * (rising - falling)
            h = share * (rising + falling - 2.0 * up[j] * down[j])
            G[i, j] = weight * g
            H[i, j] = weight * _limited(g, h)


@njit(cache=True, nogil=True, error_model="numpy")
def store(g: Floats, h: Floats, w: AnyArray, G: AnyArray, H: AnyArray) -> None:
    """Derivatives (n, k) that are already computed, made usable and weighted."""
    n, k = g.shape
    for i in range(n):
        top = 0.0
        for j in range(k):
            top = max(top, abs(g[i, j]), abs(h[i, j]))
        share = _share(top)
        weight = w[i] if w.size > 1 else w[0]
        for j in range(k):
            scaled = share * g[i, j]
            G[i, j] = weight * scaled
            H[i, j] = weight * _limited(scaled, share * h[i, j])

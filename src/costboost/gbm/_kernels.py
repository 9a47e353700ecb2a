"""Compiled gradients and Hessians: one pass over the rows, written in single precision.

Imported on first use, because it imports numba. Arithmetic is in double precision; only the results
are stored as float32, which is what both engines read. Scores may be in row or column order;
weights w are (n,), or (1,) for all rows.

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


@njit(cache=True, nogil=True, inline="always")
def _share(top: float) -> float:
    """The factor that brings a row's largest derivative into range."""
    return 1.0 if top <= _LARGEST else _LARGEST / top


@njit(cache=True, nogil=True, inline="always")
def _limited(g: float, h: float) -> float:
    """The usable Hessian."""
    return max(abs(h), _SMALLEST, _SHORTEST * abs(g))


@njit(cache=True, nogil=True, error_model="numpy")
def exponential(a: Floats, f: Floats, F: AnyArray, w: AnyArray, G: AnyArray, H: AnyArray) -> None:
    """The loss f exp(-aF), with a = slope times label: L' = -a L, L'' = a² L."""
    for i in range(F.shape[0]):
        value = f[i] * np.exp(min(-a[i] * F[i], _TOP_EXPONENT))
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
        small = np.exp(-abs(margin))
        whole = 1.0 / (1.0 + small)
        q = small * whole if margin > 0.0 else whole
        g, h = -a[i] * q, a[i] * a[i] * small * whole * whole
        weight = w[i] if w.size > 1 else w[0]
        G[i] = weight * g
        H[i] = weight * _limited(g, h)


@njit(cache=True, nogil=True, error_model="numpy")
def gll(y: Ints, C: Floats, F: AnyArray, w: AnyArray, G: AnyArray, H: AnyArray) -> None:
    """The generalised logistic loss."""
    n, k = F.shape
    q = np.empty(k)
    for i in range(n):
        z = y[i]
        own = float(F[i, z])
        shift = 0.0  # the largest exponent of a class that costs something, or that of 1
        for j in range(k):
            q[j] = F[i, j] - own
            if C[i, j] > 0.0 and q[j] > shift:
                shift = q[j]
        total = 0.0
        for j in range(k):
            q[j] = C[i, j] * np.exp(q[j] - shift) if C[i, j] > 0.0 else 0.0
            total += q[j]
        whole = total + np.exp(-shift) if shift > 0.0 else total + 1.0
        weight = w[i] if w.size > 1 else w[0]
        q[z] = total
        for j in range(k):
            share = q[j] / whole
            g = -share if j == z else share
            G[i, j] = weight * g
            H[i, j] = weight * _limited(g, share * max(1.0 - share, 0.0))


@njit(cache=True, nogil=True, error_model="numpy")
def gel(y: Ints, C: Floats, F: AnyArray, w: AnyArray, G: AnyArray, H: AnyArray) -> None:
    """The generalised exponential loss."""
    n, k = F.shape
    E = np.empty(k)
    for i in range(n):
        z = y[i]
        own = float(F[i, z])
        total = 0.0
        for j in range(k):
            E[j] = 0.0
            if C[i, j] > 0.0:
                E[j] = C[i, j] * np.exp(min(F[i, j] - own, _TOP_EXPONENT))
                total += E[j]
        share = _share(total)
        weight = w[i] if w.size > 1 else w[0]
        E[z] = total
        for j in range(k):
            h = share * E[j]
            g = -h if j == z else h
            G[i, j] = weight * g
            H[i, j] = weight * _limited(g, h)


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

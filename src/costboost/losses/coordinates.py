r"""A loss seen along one coordinate of MCBoost: slopes of the rows, and the line search.

A step α of a rule with outputs g along coordinate r adds :math:`\alpha g_i d_j` to the scores of
row i, with d = `directions` of the coordinate, (k,). Classes with the same d_j move together, so
the sums of their exponentials are all that a line search needs: they are taken once, and every
trial of α costs an exponential per distinct d and row in place of one per class. The codewords of
`costboost.algorithms.beijbom2014.simplex_codewords` have three distinct values per coordinate,
however many classes there are.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple, TypeAlias

import numpy as np

from costboost._typing import Floats, Ints
from costboost.losses.kernels import BLOCK, compiled, fast_exp

# A step length -> first and second derivative of the summed loss there.
Slopes: TypeAlias = Callable[[float], tuple[float, float]]

# Exponents up to which a step that moves scores by 50 leaves all sums finite, costs included.
_LARGEST_EXPONENT = 400.0
_LARGEST_FACTOR = 200.0


class Coordinate(NamedTuple):
    """A loss at scores F, along one coordinate."""

    value: Floats  # (n,) the loss of each row
    slope: Floats  # (n,) its derivative with respect to the coordinate
    # (outputs, weights) -> slopes of the weighted loss at F + α outputs d; α may move scores by 50
    along: Callable[[Floats, Floats], Slopes]


def _groups(directions: Floats) -> tuple[Floats, Ints]:
    """The distinct values of d, and which one each class has."""
    steps, group = np.unique(directions, return_inverse=True)
    return steps, group.astype(np.intp)


# --- Σ_j C_j e^(S_j - S_z), and its logarithm -----------------------------------------------------


@compiled(error_model="numpy", fastmath={"contract"})
def _gather_pairs(
    y: Ints,
    F: Floats,
    C: Floats,
    group: Ints,
    is_relative: bool,
    has_unit_costs: bool,
    is_logarithm: bool,
    T: Floats,
    rest: Floats,
    value: Floats,
) -> float:
    """Sums of C_j e^(S_j - S_z - shift) by group, (groups, n); returns the largest exponent."""
    # Writes the value of the loss, and ``rest``, what 1 has become under the shift.
    # S_z is left out unless ``is_relative``. The loss is the sum, or log(1 + sum) if it
    # ``is_logarithm``; rows are then shifted by the largest exponent above 0 of a class that costs
    # something.
    n, k = F.shape
    D, P = np.empty((k, BLOCK)), np.empty((k, BLOCK))
    own, shift, total = np.empty(BLOCK), np.empty(BLOCK), np.empty(BLOCK)
    top = 0.0
    for start in range(0, n, BLOCK):
        m = min(BLOCK, n - start)
        rows = slice(start, start + m)
        z = y[rows]
        for i in range(m):
            own[i] = F[start + i, z[i]] if is_relative else 0.0
        shift[:] = 0.0
        total[:] = 0.0
        for j in range(k):
            d, p, scores, costs = D[j], P[j], F[rows, j], C[rows, j]
            for i in range(m):
                cost = 1.0 if has_unit_costs else costs[i]
                p[i] = 0.0 if j == z[i] else cost
            for i in range(m):
                exponent = scores[i] - own[i] if p[i] > 0.0 else 0.0
                d[i] = exponent
                shift[i] = exponent if exponent > shift[i] else shift[i]
        for i in range(m):
            top = shift[i] if shift[i] > top else top
        if not is_logarithm:
            shift[:] = 0.0
        for j in range(k):
            d, p, sums = D[j], P[j], T[group[j], rows]
            for i in range(m):
                d[i] = fast_exp(d[i] - shift[i])
            for i in range(m):
                term = p[i] * d[i]
                sums[i] += term
                total[i] += term
        for i in range(m):
            value[start + i] = total[i]
            if is_logarithm:
                rest[start + i] = np.exp(-shift[i]) if shift[i] > 0.0 else 1.0
                more = total[i] + np.expm1(-shift[i]) if shift[i] > 0.0 else total[i]
                value[start + i] = shift[i] + np.log1p(more)
    return top


@compiled(error_model="numpy", fastmath={"contract"})
def _pair_slopes(
    T: Floats,
    rest: Floats,
    own: Floats,
    steps: Floats,
    outputs: Floats,
    weights: Floats,
    alpha: float,
    is_logarithm: bool,
) -> tuple[float, float]:
    """First and second derivative by α of Σ w T, or of Σ w log(rest + T), T a sum over groups."""
    first, second = 0.0, 0.0
    groups, n = T.shape
    grown, whole = np.empty(BLOCK), np.empty(BLOCK)
    s1, s2 = np.empty(BLOCK), np.empty(BLOCK)
    for start in range(0, n, BLOCK):
        m = min(BLOCK, n - start)
        rows = slice(start, start + m)
        g_out, z_step, w = outputs[rows], own[rows], weights[rows]
        whole[:m] = rest[rows]
        s1[:m] = 0.0
        s2[:m] = 0.0
        for g in range(groups):
            sums = T[g, rows]
            for i in range(m):
                grown[i] = fast_exp(alpha * g_out[i] * (steps[g] - z_step[i]))
            for i in range(m):
                e = steps[g] - z_step[i]
                term = sums[i] * grown[i]
                whole[i] += term
                s1[i] += term * e
                s2[i] += term * e * e
        if is_logarithm:
            for i in range(m):
                s1[i] /= whole[i]
                s2[i] = s2[i] / whole[i] - s1[i] * s1[i]
        for i in range(m):
            first += w[i] * g_out[i] * s1[i]
            second += w[i] * g_out[i] * g_out[i] * s2[i]
    return first, second


def sum_of_pairs(
    y: Ints,
    F: Floats,
    C: Floats | None,
    directions: Floats,
    *,
    is_relative: bool = True,
    is_logarithm: bool = False,
) -> Coordinate | None:
    """The loss Σ_{j≠z} C_j e^(S_j - S_z), its log(1 + Σ), or without S_z if it is not relative."""
    # None where exponents would have to be clipped; a logarithm shifts its rows instead.
    steps, group = _groups(directions)
    n = len(F)
    T, rest, value = np.zeros((len(steps), n)), np.zeros(n), np.empty(n)
    costs = F if C is None else C  # not read where costs are 1
    top = _gather_pairs(y, F, costs, group, is_relative, C is None, is_logarithm, T, rest, value)
    if not is_logarithm and not top <= _LARGEST_EXPONENT:
        return None
    own = directions[y] if is_relative else np.zeros(n)
    total = T.sum(axis=0)
    slope = steps @ T - own * total
    if is_logarithm:
        slope /= rest + total

    def along(outputs: Floats, weights: Floats) -> Slopes:
        return lambda alpha: _pair_slopes(
            T, rest, own, steps, outputs, weights, alpha, is_logarithm
        )

    return Coordinate(value, slope, along)


# --- (Σ_j C_j e^(S_j)) (Σ_m e^(-S_m)) -------------------------------------------------------------


@compiled(error_model="numpy", fastmath={"contract"})
def _gather_factors(F: Floats, C: Floats, group: Ints, A: Floats, B: Floats) -> float:
    """Sums of C_j e^(S_j) and of e^(-S_j) by group, scores centred; the largest exponent."""
    n, k = F.shape
    mean, d = np.empty(BLOCK), np.empty(BLOCK)
    top = 0.0
    for start in range(0, n, BLOCK):
        m = min(BLOCK, n - start)
        rows = slice(start, start + m)
        mean[:] = 0.0
        for j in range(k):
            scores = F[rows, j]
            for i in range(m):
                mean[i] += scores[i] / k
        for j in range(k):
            scores, costs = F[rows, j], C[rows, j]
            ups, downs = A[group[j], rows], B[group[j], rows]
            for i in range(m):
                d[i] = mean[i] - scores[i]
                top = max(top, abs(d[i]))
            for i in range(m):
                d[i] = fast_exp(d[i])
            for i in range(m):
                downs[i] += d[i]
                ups[i] += costs[i] / d[i]
    return top


@compiled(error_model="numpy", fastmath={"contract"})
def _factor_slopes(
    A: Floats, B: Floats, steps: Floats, outputs: Floats, weights: Floats, alpha: float
) -> tuple[float, float]:
    """First and second derivative by α of Σ w A B, both sums over groups."""
    first, second = 0.0, 0.0
    groups, n = A.shape
    grown, parts = np.empty(BLOCK), np.empty((6, BLOCK))
    a0, a1, a2, b0, b1, b2 = parts[0], parts[1], parts[2], parts[3], parts[4], parts[5]
    for start in range(0, n, BLOCK):
        m = min(BLOCK, n - start)
        rows = slice(start, start + m)
        g_out, w = outputs[rows], weights[rows]
        parts[:] = 0.0
        for g in range(groups):
            d, ups, downs = steps[g], A[g, rows], B[g, rows]
            for i in range(m):
                grown[i] = fast_exp(alpha * g_out[i] * d)
            for i in range(m):
                a, b = ups[i] * grown[i], downs[i] / grown[i]
                a0[i] += a
                a1[i] += a * d
                a2[i] += a * d * d
                b0[i] += b
                b1[i] -= b * d
                b2[i] += b * d * d
        for i in range(m):
            first += w[i] * g_out[i] * (a1[i] * b0[i] + a0[i] * b1[i])
            curve = a2[i] * b0[i] + 2.0 * a1[i] * b1[i] + a0[i] * b2[i]
            second += w[i] * g_out[i] * g_out[i] * curve
    return first, second


def product_of_sums(F: Floats, C: Floats, directions: Floats) -> Coordinate | None:
    """The loss (Σ_j C_j e^(S_j)) (Σ_m e^(-S_m)); parameters as for `sum_of_pairs`."""
    # The product does not change if all scores move alike.
    steps, group = _groups(directions - directions.mean())
    A, B = np.zeros((len(steps), len(F))), np.zeros((len(steps), len(F)))
    if not _gather_factors(F, C, group, A, B) <= _LARGEST_FACTOR:
        return None
    ups, downs = A.sum(axis=0), B.sum(axis=0)

    def along(outputs: Floats, weights: Floats) -> Slopes:
        return lambda alpha: _factor_slopes(A, B, steps, outputs, weights, alpha)

    return Coordinate(ups * downs, (steps @ A) * downs - ups * (steps @ B), along)

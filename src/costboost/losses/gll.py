"""The generalised logistic loss.

Defined in O. Beijbom, M. Saberian, D. Kriegman and N. Vasconcelos, "Guess-averse loss functions for
cost-sensitive multiclass boosting", ICML 2014.
"""

from __future__ import annotations

import numpy as np

from costboost._typing import AnyArray, Floats, Ints
from costboost.losses.coordinates import Coordinate, logarithm_of_sum
from costboost.losses.kernels import (
    BLOCK,
    MAX_EXPONENT,
    compiled,
    exponentiate_block,
    load_block,
    save_block,
)
from costboost.losses.multiclass import MulticlassLoss, Slopes, right_scores
from costboost.losses.registry import register

__all__ = ["GLL"]

# Half of the range: what multiplies such an exponential may be as large again.
_SAFE_EXPONENT = MAX_EXPONENT / 2


@compiled(error_model="numpy", fastmath={"contract"})
def _kernel(y: Ints, C: Floats, F: AnyArray, w: AnyArray, G: AnyArray, H: AnyArray) -> None:
    """The generalised logistic loss, log(1 + T) with T = sum_j C_j exp(F_j - F_y)."""
    # With q_j = C_j exp(F_j - F_y) / (1 + T), and q_y = T / (1 + T) instead, L_j' = q_j,
    # L_y' = -q_y and L_j'' = q_j (1 - q_j). Both terms of 1 + T are divided by the larger of 1 and
    # the largest exponential of a class that costs something.
    n, k = F.shape
    D, P = np.empty((k, BLOCK)), np.empty((k, BLOCK))
    total, factor = np.empty(BLOCK), np.empty(BLOCK)
    for start in range(0, n, BLOCK):
        rows = slice(start, min(start + BLOCK, n))
        z = y[rows]
        load_block(z, C.T[:, rows], F.T[:, rows], D, P, factor)
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
        exponentiate_block(D, P, total)
        for i in range(len(z)):  # the exponential of the label itself stands for 1
            factor[i] = 1.0 / (total[i] + D[z[i], i])
        save_block(
            z, P, total, factor, 1.0, w[rows] if w.size > 1 else w, G.T[:, rows], H.T[:, rows]
        )


@compiled()
def _slopes(
    y: Ints, F: Floats, C: Floats, direction: Floats, weights: Floats, alpha: float
) -> tuple[float, float]:
    """First two derivatives, by α, of Σ w log(1 + Σ_j C_j e^{S_j - S_z}) at F + α·direction."""
    # One pass, no temporary arrays: the line search of MCBoost spends its time here.
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


@register
class GLL(MulticlassLoss):
    r"""Generalised logistic loss.

    .. math:: L = \log\Bigl(1 + \sum_j C_{zj}\, e^{S_j - S_z}\Bigr), \qquad
        L_j' = q_j, \quad L_z' = -Q, \quad L_j'' = q_j(1 - q_j), \quad L_z'' = Q(1 - Q)

    with :math:`q_j = C_{zj} e^{S_j - S_z} / e^L` and :math:`Q = \sum_j q_j` (Eq. 21).
    Guess-averse, not calibrated. With unit costs it is the multinomial logistic loss. Domain:
    every real S; rows with large exponents are shifted down, so that none overflows.

    Examples
    --------
    >>> import numpy as np
    >>> GLL().value(np.array([0]), np.zeros((1, 3)), np.array([[0.0, 1.0, 1.0]])).round(4)
    array([1.0986])
    """

    name = "gll"
    formula = "log(1 + Σⱼ Cⱼ e^(Sⱼ − S_z))"
    has_probabilities_at_unit_costs = True
    softmax_scale = 1.0
    kernel = _kernel

    def _shares(self, y: Ints, F: Floats, C: Floats) -> tuple[Floats, Floats]:
        """The loss (n,) and q (n, k)."""
        E = F - right_scores(y, F)
        shift = np.zeros((len(F), 1))
        if E.max(initial=0.0) > _SAFE_EXPONENT:
            E[C == 0.0] = -np.inf  # a free decision plays no part, however large its score
            shift = np.maximum(E.max(axis=1, keepdims=True) - _SAFE_EXPONENT, 0.0)
            E -= shift
        np.exp(E, out=E)
        E *= C
        total = E.sum(axis=1, keepdims=True)
        both = total + np.exp(-shift)
        # No subtraction where the rows are shifted: 1 is then e^-shift, and may be next to nothing.
        loss = shift + np.where(shift > 0.0, np.log(both), np.log1p(total))
        E /= both
        return loss[:, 0], E

    def value(self, y: Ints, F: Floats, C: Floats) -> Floats:
        """The loss of each row, (n,)."""
        return self._shares(y, F, C)[0]

    def gradient(self, y: Ints, F: Floats, C: Floats) -> Floats:
        """Its derivatives with respect to the scores, (n, k)."""
        q = self._shares(y, F, C)[1]
        np.put_along_axis(q, y[:, None], -q.sum(axis=1, keepdims=True), axis=1)
        return q

    def hessian(self, y: Ints, F: Floats, C: Floats) -> Floats:
        """Its second derivatives with respect to each score, (n, k)."""
        q = np.abs(self.gradient(y, F, C))
        return q * np.maximum(1.0 - q, 0.0)  # Q may round to just above 1

    def along(self, y: Ints, F: Floats, C: Floats, direction: Floats, weights: Floats) -> Slopes:
        """The summed loss along a line, with exact derivatives."""

        def slopes(alpha: float) -> tuple[float, float]:
            first, second = _slopes(y, F, C, direction, weights, alpha)
            return float(first), float(second)

        return slopes

    def coordinate(self, y: Ints, F: Floats, C: Floats, directions: Floats) -> Coordinate:
        """The same along a coordinate, for many trials of α."""
        return logarithm_of_sum(y, F, C, directions)

"""Multi-class losses of a score per class and a cost row per example (paper 4).

``y`` (n,) holds the code of each row's right (cheapest) class z, ``F`` (n, k) the scores S, ``C``
(n, k) the cost of deciding each class on the row, with ``C[i, y[i]] = 0``. A cost matrix is the
special case ``C = matrix[y]``.

The exponential losses clip their exponents (at 600; the two factors of `Lt` at 300 each), so that
values and derivatives stay finite; `GLL` needs no clipping.

O. Beijbom, M. Saberian, D. Kriegman and N. Vasconcelos, "Guess-averse loss functions for
cost-sensitive multiclass boosting", ICML 2014.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TypeAlias

import numpy as np

from costboost._sums import dot
from costboost._typing import Floats, Ints
from costboost.losses._kernels import gll_slopes
from costboost.losses.base import MAX_EXPONENT, exp

__all__ = ["GEL", "GLL", "MC", "Ls", "Lt", "MulticlassLoss"]

# A step length -> first and second derivative of the summed loss there.
Slopes: TypeAlias = Callable[[float], tuple[float, float]]

_STEP = 1e-5

# Half of the range: what multiplies such an exponential may be as large again.
_SAFE_EXPONENT = MAX_EXPONENT / 2


class MulticlassLoss(ABC):
    """A loss of k scores per row; a subclass needs `value` only.

    `gradient` and `hessian` default to central differences: right, slow, and good enough to try
    an idea. ``hessian`` is the diagonal of the second derivatives, one per score.
    """

    @abstractmethod
    def value(self, y: Ints, F: Floats, C: Floats) -> Floats:
        """The loss of each row, (n,)."""

    def gradient(self, y: Ints, F: Floats, C: Floats) -> Floats:
        """Its derivatives with respect to the scores, (n, k)."""
        return self._differences(
            y, F, C, lambda up, middle, down, h: (up - down) / (2.0 * h), _STEP
        )

    def hessian(self, y: Ints, F: Floats, C: Floats) -> Floats:
        """Its second derivatives with respect to each score, (n, k)."""
        return self._differences(
            y, F, C, lambda up, middle, down, h: (up - 2.0 * middle + down) / h**2, 20.0 * _STEP
        )

    def _differences(
        self,
        y: Ints,
        F: Floats,
        C: Floats,
        formula: Callable[[Floats, Floats, Floats, float], Floats],
        h: float,
    ) -> Floats:
        middle = self.value(y, F, C)
        result = np.empty_like(F)
        for j in range(F.shape[1]):
            up, down = F.copy(), F.copy()
            up[:, j] += h
            down[:, j] -= h
            result[:, j] = formula(self.value(y, up, C), middle, self.value(y, down, C), h)
        return result

    def along(self, y: Ints, F: Floats, C: Floats, direction: Floats, weights: Floats) -> Slopes:
        """The two derivatives, by α, of the weighted loss at F + α·direction.

        The default takes the second derivative by a difference of the first.
        """

        def slope(alpha: float) -> float:
            gradient = self.gradient(y, F + alpha * direction, C)
            return float(np.einsum("n,nk,nk->", weights, gradient, direction))

        def slopes(alpha: float) -> tuple[float, float]:
            return slope(alpha), (slope(alpha + _STEP) - slope(alpha - _STEP)) / (2.0 * _STEP)

        return slopes

    def __repr__(self) -> str:
        return f"{type(self).__name__}()"


def right_scores(y: Ints, F: Floats) -> Floats:
    """The score of each row's right class, (n, 1)."""
    return np.take_along_axis(F, y[:, None], axis=1)


class GEL(MulticlassLoss):
    r"""Generalised exponential loss.

    .. math:: L = \sum_j E_j, \quad E_j = C_{zj}\, e^{S_j - S_z}, \qquad
        L_j' = L_j'' = E_j, \quad L_z' = -L, \quad L_z'' = L

    (Eq. 20). Guess-averse. With two classes and S = ±F/2 it is the cost-weighted exponential loss
    :math:`c\,e^{-yF}`. Domain: every real S; the risk is blind to symmetric cost matrices.

    Examples
    --------
    >>> import numpy as np
    >>> GEL().value(np.array([0]), np.zeros((1, 3)), np.array([[0.0, 1.0, 4.0]]))
    array([5.])
    """

    def _factors(self, y: Ints, C: Floats) -> Floats:
        return C

    def _terms(self, y: Ints, F: Floats, C: Floats) -> Floats:
        return self._factors(y, C) * exp(F - right_scores(y, F))

    def value(self, y: Ints, F: Floats, C: Floats) -> Floats:
        """The loss of each row, (n,)."""
        return np.asarray(self._terms(y, F, C).sum(axis=1))

    def gradient(self, y: Ints, F: Floats, C: Floats) -> Floats:
        """Its derivatives with respect to the scores, (n, k)."""
        E = self._terms(y, F, C)
        np.put_along_axis(E, y[:, None], -E.sum(axis=1, keepdims=True), axis=1)
        return E

    def hessian(self, y: Ints, F: Floats, C: Floats) -> Floats:
        """Its second derivatives with respect to each score, (n, k)."""
        return np.abs(self.gradient(y, F, C))

    def along(self, y: Ints, F: Floats, C: Floats, direction: Floats, weights: Floats) -> Slopes:
        """The summed loss along a line, with exact derivatives."""
        S = F - right_scores(y, F)
        D = direction - right_scores(y, direction)
        first = self._factors(y, C) * weights[:, None] * D

        def slopes(alpha: float) -> tuple[float, float]:
            moved = first * exp(S + alpha * D)
            return float(moved.sum()), float(np.vdot(moved, D))

        return slopes


class MC(GEL):
    r"""MCBoost's own, cost-blind loss: GEL with unit costs, plus 1.

    .. math:: L = \sum_j e^{S_j - S_z}

    (Eq. 22; the term j = z adds the 1). Guess-averse. Its posteriors are
    :math:`P_k \propto e^{2 S_k}` (Eq. 33), for the Bayes rule of P-MCBoost.

    Examples
    --------
    >>> import numpy as np
    >>> MC().value(np.array([0]), np.zeros((1, 3)), np.zeros((1, 3)))
    array([3.])
    """

    def _factors(self, y: Ints, C: Floats) -> Floats:
        unit = np.ones_like(C)
        np.put_along_axis(unit, y[:, None], 0.0, axis=1)
        return unit

    def value(self, y: Ints, F: Floats, C: Floats) -> Floats:
        """The loss of each row, (n,)."""
        return 1.0 + super().value(y, F, C)


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
        loss = shift + np.log1p(total + np.expm1(-shift))
        E /= total + np.exp(-shift)
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
        return lambda alpha: gll_slopes(y, F, C, direction, weights, alpha)


class Ls(MulticlassLoss):
    r"""The score-sum loss, calibrated but not guess-averse.

    .. math:: L = \sum_j C_{zj}\, e^{S_j}, \qquad \sum_j S_j = 0

    (Eq. 12). The constraint is the caller's: simplex codewords keep it. Derivatives are those of
    the formula. Domain: every real S with sum 0.

    Examples
    --------
    >>> import numpy as np
    >>> guess, right = np.zeros((1, 3)), np.array([[3.0, 2.0, -5.0]])
    >>> y, C = np.array([0]), np.array([[0.0, 1.0, 1.0]])
    >>> bool(Ls().value(y, right, C)[0] > Ls().value(y, guess, C)[0])
    True
    """

    def value(self, y: Ints, F: Floats, C: Floats) -> Floats:
        """The loss of each row, (n,)."""
        return np.asarray((C * exp(F)).sum(axis=1))

    def gradient(self, y: Ints, F: Floats, C: Floats) -> Floats:
        """Its derivatives with respect to the scores, (n, k)."""
        return C * exp(F)

    def hessian(self, y: Ints, F: Floats, C: Floats) -> Floats:
        """Its second derivatives with respect to each score, (n, k)."""
        return C * exp(F)

    def along(self, y: Ints, F: Floats, C: Floats, direction: Floats, weights: Floats) -> Slopes:
        """The summed loss along a line, with exact derivatives."""
        first = C * weights[:, None] * direction

        def slopes(alpha: float) -> tuple[float, float]:
            moved = first * exp(F + alpha * direction)
            return float(moved.sum()), float(np.vdot(moved, direction))

        return slopes


class Lt(MulticlassLoss):
    r"""The all-pairs loss, calibrated but not guess-averse.

    .. math:: L = \sum_k \sum_j C_{zj}\, e^{S_j - S_k}
        = \Bigl(\sum_j C_{zj} e^{S_j}\Bigr) \Bigl(\sum_k e^{-S_k}\Bigr)

    (Eq. 14). Domain: every real S.

    Examples
    --------
    >>> import numpy as np
    >>> Lt().value(np.array([0]), np.zeros((1, 3)), np.array([[0.0, 1.0, 1.0]]))
    array([6.])
    """

    def _factors(self, F: Floats, C: Floats) -> tuple[Floats, Floats]:
        # The product is invariant to shifts: centring keeps both factors in range.
        S = F - F.mean(axis=1, keepdims=True)
        return C * exp(S, _SAFE_EXPONENT), exp(-S, _SAFE_EXPONENT)

    def value(self, y: Ints, F: Floats, C: Floats) -> Floats:
        """The loss of each row, (n,)."""
        up, down = self._factors(F, C)
        return np.asarray(up.sum(axis=1) * down.sum(axis=1))

    def gradient(self, y: Ints, F: Floats, C: Floats) -> Floats:
        """Its derivatives with respect to the scores, (n, k)."""
        up, down = self._factors(F, C)
        return np.asarray(
            up * down.sum(axis=1, keepdims=True) - down * up.sum(axis=1, keepdims=True)
        )

    def hessian(self, y: Ints, F: Floats, C: Floats) -> Floats:
        """Its second derivatives with respect to each score, (n, k)."""
        up, down = self._factors(F, C)
        return np.asarray(
            up * down.sum(axis=1, keepdims=True)
            + down * up.sum(axis=1, keepdims=True)
            - 2.0 * up * down
        )

    def along(self, y: Ints, F: Floats, C: Floats, direction: Floats, weights: Floats) -> Slopes:
        """The summed loss along a line, with exact derivatives."""

        def slopes(alpha: float) -> tuple[float, float]:
            a, b = self._factors(F + alpha * direction, C)
            a0, b0 = a.sum(axis=1), b.sum(axis=1)
            a *= direction
            b *= direction
            a1, b1 = a.sum(axis=1), -b.sum(axis=1)
            a2 = np.einsum("nk,nk->n", a, direction)
            b2 = np.einsum("nk,nk->n", b, direction)
            first = a1 * b0 + a0 * b1
            return dot(weights, first), dot(weights, a2 * b0 + 2.0 * a1 * b1 + a0 * b2)

        return slopes

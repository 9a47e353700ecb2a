"""The all-pairs loss.

Defined in O. Beijbom, M. Saberian, D. Kriegman and N. Vasconcelos, "Guess-averse loss functions for
cost-sensitive multiclass boosting", ICML 2014.
"""

from __future__ import annotations

import numpy as np

from costboost._sums import dot
from costboost._typing import AnyArray, Floats, Ints
from costboost.losses.base import exp
from costboost.losses.coordinates import Coordinate, plain, product_of_sums
from costboost.losses.kernels import MAX_EXPONENT, compiled, row_share, usable_hessian
from costboost.losses.multiclass import MulticlassLoss, Slopes
from costboost.losses.registry import register

__all__ = ["Lt"]

# Of each of the two factors: their product stays in range.
_SAFE_EXPONENT = MAX_EXPONENT / 2


@compiled(error_model="numpy")
def _kernel(y: Ints, C: Floats, F: AnyArray, w: AnyArray, G: AnyArray, H: AnyArray) -> None:
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
        weight = w[i] if w.size > 1 else w[0]
        share = row_share(2.0 * ups * downs, weight)
        for j in range(k):
            rising, falling = up[j] * downs, down[j] * ups
            g = share * (rising - falling)
            h = share * (rising + falling - 2.0 * up[j] * down[j])
            G[i, j] = weight * g
            H[i, j] = weight * usable_hessian(g, h)


@register
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

    name = "lt"
    formula = "Σₘ Σⱼ Cⱼ e^(Sⱼ − Sₘ)"
    kernel = _kernel

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

    def coordinate(self, y: Ints, F: Floats, C: Floats, directions: Floats) -> Coordinate:
        """The same along a coordinate, for many trials of α."""
        return product_of_sums(F, C, directions) or plain(self, y, F, C, directions)

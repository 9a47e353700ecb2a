"""The score-sum loss.

Defined in O. Beijbom, M. Saberian, D. Kriegman and N. Vasconcelos, "Guess-averse loss functions for
cost-sensitive multiclass boosting", ICML 2014.
"""

from __future__ import annotations

import numpy as np

from costboost._typing import AnyArray, Floats, Ints
from costboost.losses.base import exp
from costboost.losses.coordinates import Coordinate, plain, sum_of_pairs
from costboost.losses.kernels import MAX_EXPONENT, compiled, row_share, usable_hessian
from costboost.losses.multiclass import MulticlassLoss, Slopes
from costboost.losses.registry import register

__all__ = ["Ls"]


@compiled(error_model="numpy")
def _kernel(y: Ints, C: Floats, F: AnyArray, w: AnyArray, G: AnyArray, H: AnyArray) -> None:
    """The score-sum loss at scores shifted to sum 0."""
    # With E_j = C_j exp(S_j - mean S) and T their sum, L_j' = E_j - T/k and
    # L_j'' = (1 - 2/k) E_j + T/k².
    n, k = F.shape
    E = np.empty(k)
    for i in range(n):
        mean = 0.0
        for j in range(k):
            mean += F[i, j] / k
        total = 0.0
        for j in range(k):
            E[j] = C[i, j] * np.exp(min(F[i, j] - mean, MAX_EXPONENT))
            total += E[j]
        weight = w[i] if w.size > 1 else w[0]
        share = row_share(total, weight)
        for j in range(k):
            g = share * (E[j] - total / k)
            h = share * ((1.0 - 2.0 / k) * E[j] + total / k**2)
            G[i, j] = weight * g
            H[i, j] = weight * usable_hessian(g, h)


@register
class Ls(MulticlassLoss):
    r"""The score-sum loss, calibrated but not guess-averse.

    .. math:: L = \sum_j C_{zj}\, e^{S_j}, \qquad \sum_j S_j = 0

    (Eq. 12). The caller must keep the constraint; scores from simplex codewords do. Derivatives are
    those of the formula. Domain: every real S with sum 0.

    Examples
    --------
    >>> import numpy as np
    >>> guess, right = np.zeros((1, 3)), np.array([[3.0, 2.0, -5.0]])
    >>> y, C = np.array([0]), np.array([[0.0, 1.0, 1.0]])
    >>> bool(Ls().value(y, right, C)[0] > Ls().value(y, guess, C)[0])
    True
    """

    name = "ls"
    formula = "Σⱼ Cⱼ e^(Sⱼ), Σⱼ Sⱼ = 0"
    kernel = _kernel

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

    def coordinate(self, y: Ints, F: Floats, C: Floats, directions: Floats) -> Coordinate:
        """The same along a coordinate, for many trials of α."""
        return sum_of_pairs(y, F, C, directions, is_relative=False) or plain(
            self, y, F, C, directions
        )

    def centred(self, F: Floats) -> Floats:
        """The scores shifted to sum 0."""
        return np.asarray(F - F.mean(axis=1, keepdims=True))

    def raw_derivatives(self, y: Ints, F: Floats, C: Floats) -> tuple[Floats, Floats]:
        """Gradient and diagonal Hessian through the shift.

        With E_j = C_j exp(S_j - mean S) and T their sum, L_j' = E_j - T/k and
        L_j'' = (1 - 2/k) E_j + T/k².
        """
        k = F.shape[1]
        E = C * exp(self.centred(F))
        T = E.sum(axis=1, keepdims=True)
        return E - T / k, (1.0 - 2.0 / k) * E + T / k**2

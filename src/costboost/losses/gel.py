"""The exponential losses of score differences: GEL and its cost-blind form, MC.

Defined in O. Beijbom, M. Saberian, D. Kriegman and N. Vasconcelos, "Guess-averse loss functions for
cost-sensitive multiclass boosting", ICML 2014.
"""

from __future__ import annotations

import numpy as np

from costboost._typing import AnyArray, Floats, Ints
from costboost.losses.base import exp
from costboost.losses.coordinates import Coordinate, plain, sum_of_pairs
from costboost.losses.kernels import (
    BLOCK,
    compiled,
    exponentiate_block,
    load_block,
    row_share,
    save_block,
)
from costboost.losses.multiclass import MulticlassLoss, Slopes, right_scores
from costboost.losses.registry import register

__all__ = ["GEL", "MC"]


@compiled(error_model="numpy", fastmath={"contract"})
def _kernel(y: Ints, C: Floats, F: AnyArray, w: AnyArray, G: AnyArray, H: AnyArray) -> None:
    """The generalised exponential loss, T = sum_j C_j exp(F_j - F_y)."""
    # With E_j = C_j exp(F_j - F_y), and E_y = T instead, L_j' = E_j, L_y' = -E_y and L_j'' = E_j.
    n, k = F.shape
    D, P = np.empty((k, BLOCK)), np.empty((k, BLOCK))
    total, factor = np.empty(BLOCK), np.empty(BLOCK)
    for start in range(0, n, BLOCK):
        rows = slice(start, min(start + BLOCK, n))
        z = y[rows]
        load_block(z, C.T[:, rows], F.T[:, rows], D, P, factor)
        exponentiate_block(D, P, total)
        for i in range(len(z)):
            factor[i] = row_share(total[i], w[start + i] if w.size > 1 else w[0])
        save_block(
            z, P, total, factor, 0.0, w[rows] if w.size > 1 else w, G.T[:, rows], H.T[:, rows]
        )


@register
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

    name = "gel"
    formula = "Σⱼ Cⱼ e^(Sⱼ − S_z)"
    kernel = _kernel

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

    def coordinate(self, y: Ints, F: Floats, C: Floats, directions: Floats) -> Coordinate:
        """The same along a coordinate, for many trials of α."""
        return sum_of_pairs(y, F, C, directions, is_relative=True) or plain(
            self, y, F, C, directions
        )


@register
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

    name = "mc"
    formula = "Σⱼ e^(Sⱼ − S_z)"
    carries_costs = False
    has_probabilities = True
    has_probabilities_at_unit_costs = True
    softmax_scale = 2.0
    kernel = _kernel

    def _factors(self, y: Ints, C: Floats) -> Floats:
        unit = np.ones_like(C)
        np.put_along_axis(unit, y[:, None], 0.0, axis=1)
        return unit

    def value(self, y: Ints, F: Floats, C: Floats) -> Floats:
        """The loss of each row, (n,)."""
        return 1.0 + super().value(y, F, C)

    def coordinate(self, y: Ints, F: Floats, C: Floats, directions: Floats) -> Coordinate:
        """The same along a coordinate, for many trials of α."""
        found = sum_of_pairs(y, F, None, directions, is_relative=True)
        if found is None:
            return plain(self, y, F, C, directions)
        return found._replace(value=1.0 + found.value)

    def kernel_rows(self, y: Ints, C: Floats) -> tuple[AnyArray, ...]:
        """Right classes, and unit costs in place of the given ones."""
        return y, self._factors(y, C)

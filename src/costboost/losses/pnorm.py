"""The p-norm cost of a stochastic hypothesis.

Defined in A. C. Lozano and N. Abe, "Multi-class cost-sensitive boosting with p-norm loss
functions", KDD 2008.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from costboost._typing import Floats, Ints
from costboost.losses.multiclass import MulticlassLoss

__all__ = ["PNorm"]


@dataclass(frozen=True, repr=False)
class PNorm(MulticlassLoss):
    r"""A convex stand-in for the cost of the most likely class.

    .. math:: L = \sum_y H(y|x)^p\, C_{x,y}, \qquad L_y' = p H^{p-1} C, \quad
        L_y'' = p(p-1) H^{p-2} C

    (Eq. 2). Domain: H >= 0, usually a distribution over the classes; p >= 1, where p = 1 is the
    expected cost and p → ∞ approaches the cost of argmax H. It has no name in
    `costboost.losses.LOSSES`, which lists losses of scores.

    Parameters
    ----------
    p : float, default=2.0
        The exponent of the norm, at least 1.

    Examples
    --------
    >>> import numpy as np
    >>> PNorm(2).value(np.array([0]), np.array([[0.5, 0.5]]), np.array([[0.0, 8.0]]))
    array([2.])
    """

    formula = "Σⱼ Cⱼ Hⱼᵖ, H a distribution"
    on_simplex = True

    p: float = 2.0

    def value(self, y: Ints, F: Floats, C: Floats) -> Floats:
        """The loss of each row, (n,)."""
        return np.asarray((F**self.p * C).sum(axis=1))

    def gradient(self, y: Ints, F: Floats, C: Floats) -> Floats:
        """Its derivatives with respect to H, (n, k)."""
        return np.asarray(self.p * F ** (self.p - 1.0) * C)

    def hessian(self, y: Ints, F: Floats, C: Floats) -> Floats:
        """Its second derivatives with respect to each entry of H, (n, k)."""
        if self.p == 1.0:
            return np.zeros_like(F)
        # 0^(p-2) diverges for p < 2, but so does the true second derivative.
        with np.errstate(divide="ignore"):
            return np.asarray(self.p * (self.p - 1.0) * F ** (self.p - 2.0) * C)

    def smoothness(self, C: Floats) -> float:
        r"""Lipschitz constant of the gradient, :math:`\max C \cdot p(p-1)2^{p-2}` (Thm. 4.1)."""
        return float(C.max() * self.p * (self.p - 1.0) * 2.0 ** (self.p - 2.0))

    def __repr__(self) -> str:
        return f"PNorm(p={self.p:g})"

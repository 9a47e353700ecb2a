"""Exponential losses: the cost inside the exponent, or in front of it."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike
from scipy.special import expit, logit

from costboost._typing import AnyArray, Floats
from costboost.losses.base import BinaryLoss, CostPair, cost_pair, error_cost, exp
from costboost.losses.kernels import compiled, fast_exp, row_share, usable_hessian
from costboost.losses.registry import register

__all__ = ["CostExponential", "WeightedExponential"]


@compiled(error_model="numpy")
def _kernel(a: Floats, f: Floats, F: AnyArray, w: AnyArray, G: AnyArray, H: AnyArray) -> None:
    """The loss f exp(-aF), with a = slope times label: L' = -a L, L'' = a² L."""
    for i in range(F.shape[0]):
        value = f[i] * fast_exp(-a[i] * F[i])
        g, h = -a[i] * value, a[i] * a[i] * value
        weight = w[i] if w.size > 1 else w[0]
        share = row_share(max(abs(g), h), weight)
        g *= share
        G[i] = weight * g
        H[i] = weight * usable_hessian(g, share * h)


@register
class CostExponential(BinaryLoss):
    r"""The loss of CS-AdaBoost and CS-RealBoost: the cost scales the margin.

    .. math::

        L = e^{-c\,yF}, \qquad L' = -c\,y\,e^{-c\,yF}, \qquad L'' = c^2 e^{-c\,yF}, \qquad
        F^* = \frac{1}{C_1 + C_2} \log \frac{P_+ C_1}{P_- C_2}

    with c = C1 on positives, C2 on negatives, or the row's own cost (Masnadi-Shirazi and
    Vasconcelos 2007, Eq. 33 and 36). Domain: every real F.

    Examples
    --------
    >>> import numpy as np
    >>> loss = CostExponential()
    >>> loss.value(np.array([1.0, -1.0]), np.array([0.0, 0.5]), (5.0, 1.0))
    array([1.        , 1.64872127])
    """

    name = "cost_exponential"
    formula = "e^(−c y F)"
    kernel = _kernel

    def value(self, y: Floats, F: Floats, C: CostPair | ArrayLike) -> Floats:
        """The loss of each row."""
        return exp(-error_cost(y, C) * y * F)

    def gradient(self, y: Floats, F: Floats, C: CostPair | ArrayLike) -> Floats:
        """Its derivative with respect to ``F``."""
        c = error_cost(y, C)
        return -c * y * exp(-c * y * F)

    def hessian(self, y: Floats, F: Floats, C: CostPair | ArrayLike) -> Floats:
        """Its second derivative with respect to ``F``."""
        c = error_cost(y, C)
        return c * c * exp(-c * y * F)

    def probability(self, F: Floats, C: CostPair) -> Floats:
        """The P(+|x) for which ``F`` is the minimiser."""
        C1, C2 = cost_pair(F, C)
        return np.asarray(expit((C1 + C2) * F + np.log(C2) - np.log(C1)))

    def minimiser(self, p: Floats, C: CostPair) -> Floats:
        """The score that minimises the expected loss when P(+|x) = ``p``."""
        C1, C2 = cost_pair(p, C)
        return np.asarray((logit(p) + np.log(C1) - np.log(C2)) / (C1 + C2))

    def kernel_rows(self, y: Floats, C: CostPair) -> tuple[AnyArray, ...]:
        """Slopes c y, factors 1."""
        return y * error_cost(y, C), np.ones_like(y)


@register
class WeightedExponential(BinaryLoss):
    r"""The loss of AdaBoostC and AsyB: the cost weights the row.

    .. math::

        L = c\,e^{-yF}, \qquad L' = -c\,y\,e^{-yF}, \qquad L'' = c\,e^{-yF}, \qquad
        F^* = \tfrac12 \log \frac{P_+ C_1}{P_- C_2}

    (Cao et al. 2013, Eq. 1). With C1 = C2 = 1 it is AdaBoost's loss. Domain: every real F.

    Examples
    --------
    >>> import numpy as np
    >>> loss = WeightedExponential()
    >>> loss.minimiser(np.array([0.2]), (4.0, 1.0))
    array([0.])
    """

    name = "weighted_exponential"
    formula = "c e^(−y F)"
    kernel = _kernel

    def value(self, y: Floats, F: Floats, C: CostPair | ArrayLike) -> Floats:
        """The loss of each row."""
        return error_cost(y, C) * exp(-y * F)

    def gradient(self, y: Floats, F: Floats, C: CostPair | ArrayLike) -> Floats:
        """Its derivative with respect to ``F``."""
        return -error_cost(y, C) * y * exp(-y * F)

    def hessian(self, y: Floats, F: Floats, C: CostPair | ArrayLike) -> Floats:
        """Its second derivative with respect to ``F``."""
        return error_cost(y, C) * exp(-y * F)

    def probability(self, F: Floats, C: CostPair) -> Floats:
        """The P(+|x) for which ``F`` is the minimiser."""
        C1, C2 = cost_pair(F, C)
        return np.asarray(expit(2.0 * F + np.log(C2) - np.log(C1)))

    def minimiser(self, p: Floats, C: CostPair) -> Floats:
        """The score that minimises the expected loss when P(+|x) = ``p``."""
        C1, C2 = cost_pair(p, C)
        return np.asarray(0.5 * (logit(p) + np.log(C1) - np.log(C2)))

    def kernel_rows(self, y: Floats, C: CostPair) -> tuple[AnyArray, ...]:
        """Slopes y, factors c."""
        return y, error_cost(y, C)

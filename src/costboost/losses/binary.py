"""Losses of one score and two classes: exponential and logistic."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from scipy.special import expit, logit

from costboost._typing import AnyArray, Floats
from costboost.losses.base import BinaryLoss, CostPair, cost_pair, exp, register
from costboost.losses.kernels import compiled, fast_exp, row_share, usable_hessian

# -- The link that all of them have ---------------------------------------------------------------


class LinkedLoss(BinaryLoss):
    """A loss with the link log-odds = slope F + log(C2/C1)."""

    # Whether scores are measured in units of 1/cost, as those of Masnadi-Shirazi & Vasconcelos are.
    in_units_of_costs: ClassVar[bool] = False

    def slope(self, C1: Floats, C2: Floats) -> Floats:
        """How fast the log-odds grow with F."""
        return C1 + C2 if self.in_units_of_costs else np.full_like(C1, 2.0)

    def log_odds(self, F: Floats, C: CostPair) -> Floats:
        """Those for which ``F`` is the minimiser."""
        C1, C2 = cost_pair(C)
        return np.asarray(self.slope(C1, C2) * F + (np.log(C2) - np.log(C1)))

    def probability(self, F: Floats, C: CostPair) -> Floats:
        """The P(+|x) for which ``F`` is the minimiser."""
        return np.asarray(expit(self.log_odds(F, C)))

    def minimiser(self, p: Floats, C: CostPair) -> Floats:
        """The score that minimises the expected loss when P(+|x) = ``p``."""
        C1, C2 = cost_pair(C)
        return np.asarray((logit(p) + np.log(C1) - np.log(C2)) / self.slope(C1, C2))


# -- Exponential losses: the cost inside the exponent, or in front of it -------------------------


@compiled(error_model="numpy")
def _exponential_kernel(
    a: Floats, f: Floats, F: AnyArray, w: AnyArray, G: AnyArray, H: AnyArray
) -> None:
    """The loss f exp(-aF), with a = slope times label: L' = -a L, L'' = a² L."""
    for i in range(F.shape[0]):
        value = f[i] * fast_exp(-a[i] * F[i])
        g, h = -a[i] * value, a[i] * a[i] * value
        weight = w[i] if w.size > 1 else w[0]
        share = row_share(max(abs(g), h), weight)
        g *= share
        G[i] = weight * g
        H[i] = weight * usable_hessian(g, share * h)


class _Exponential(LinkedLoss):
    """f exp(-aF): the cost of the row is in a, its slope times its label, or is the factor f."""

    def kernel_rows(self, y: Floats, C: CostPair) -> tuple[AnyArray, AnyArray]:
        """A and f of every row."""
        c = np.where(y > 0, *C)
        return (y * c, np.ones_like(y)) if self.in_units_of_costs else (y, c)

    def value(self, y: Floats, F: Floats, C: CostPair) -> Floats:
        """The loss of each row."""
        a, f = self.kernel_rows(y, C)
        return np.asarray(f * exp(-a * F))

    def gradient(self, y: Floats, F: Floats, C: CostPair) -> Floats:
        """Its derivative with respect to ``F``."""
        return -self.kernel_rows(y, C)[0] * self.value(y, F, C)

    def hessian(self, y: Floats, F: Floats, C: CostPair) -> Floats:
        """Its second derivative with respect to ``F``."""
        return self.kernel_rows(y, C)[0] ** 2 * self.value(y, F, C)


@register
class CostExponential(_Exponential):
    r"""The loss of CS-AdaBoost and CS-RealBoost: the cost scales the margin.

    .. math::

        L = e^{-c\,yF}, \qquad L' = -c\,y\,e^{-c\,yF}, \qquad L'' = c^2 e^{-c\,yF}, \qquad
        F^* = \frac{1}{C_1 + C_2} \log \frac{P_+ C_1}{P_- C_2}

    with c = C1 on positives, C2 on negatives (Masnadi-Shirazi and Vasconcelos 2007, Eq. 33 and
    36). Domain: every real F.

    Examples
    --------
    >>> import numpy as np
    >>> loss = CostExponential()
    >>> loss.value(np.array([1.0, -1.0]), np.array([0.0, 0.5]), (5.0, 1.0))
    array([1.        , 1.64872127])
    """

    name = "cost_exponential"
    formula = "e^(−c y F)"
    in_units_of_costs = True
    kernel = _exponential_kernel


@register
class WeightedExponential(_Exponential):
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
    kernel = _exponential_kernel


# -- Logistic losses: the costs move the origin of the link, and may set its slope ---------------


@compiled(error_model="numpy")
def _logistic_kernel(
    a: Floats, b: Floats, F: AnyArray, w: AnyArray, G: AnyArray, H: AnyArray
) -> None:
    """The loss log(1 + exp(-u)), u = aF + b: q = 1/(1 + exp(u)), L' = -aq, L'' = a² q(1 - q)."""
    for i in range(F.shape[0]):
        margin = a[i] * F[i] + b[i]
        small = fast_exp(-abs(margin))
        whole = 1.0 / (1.0 + small)
        q = small * whole if margin > 0.0 else whole
        g, h = -a[i] * q, a[i] * a[i] * small * whole * whole
        weight = w[i] if w.size > 1 else w[0]
        G[i] = weight * g
        H[i] = weight * usable_hessian(g, h)


class ShiftedLogistic(LinkedLoss):
    r"""Binomial deviance through the link :math:`p_c = 1/(1 + e^{-2(\gamma F + \eta)})`."""

    # L = log(1 + e^{-2y(γF + η)}), L' = -2γ (y' - p_c), L'' = 4γ² p_c (1 - p_c), with
    # η = ½ log(C2/C1), y' = (y + 1)/2 and half the slope, γ. The Newton step at F is
    # -L'/L'' = z / (2γ), with LogitBoost's response z = (y' - p_c) / (p_c (1 - p_c)).

    def value(self, y: Floats, F: Floats, C: CostPair) -> Floats:
        """The loss of each row."""
        t = -y * self.log_odds(F, C)
        # log(1 + e^t), twice as fast as numpy's logaddexp(0, t).
        return np.asarray(np.maximum(t, 0.0) + np.log1p(np.exp(-np.abs(t))))

    def gradient(self, y: Floats, F: Floats, C: CostPair) -> Floats:
        """Its derivative with respect to ``F``."""
        # y' - p_c = y * expit(-y u): no cancellation when p_c is near 0 or 1.
        return np.asarray(-self.slope(*cost_pair(C)) * y * expit(-y * self.log_odds(F, C)))

    def hessian(self, y: Floats, F: Floats, C: CostPair) -> Floats:
        """Its second derivative with respect to ``F``."""
        u = self.log_odds(F, C)
        return np.asarray(self.slope(*cost_pair(C)) ** 2 * expit(u) * expit(-u))

    def kernel_rows(self, y: Floats, C: CostPair) -> tuple[AnyArray, ...]:
        """Slopes 2 γ y and offsets 2 η y."""
        C1, C2 = (np.asarray(c, dtype=np.float64) for c in C)
        # A free mistake is infinitely far away.
        with np.errstate(divide="ignore", invalid="ignore"):
            shift = np.log(C2) - np.log(C1)
        shift = np.where(C1 == C2, 0.0, shift)  # no mistake of the row costs more than the other
        return y * self.slope(C1, C2), y * shift


@register
class CostLogistic(ShiftedLogistic):
    r"""The loss of CS-LogitBoost, slope :math:`\gamma = (C_1 + C_2)/2`.

    .. math:: F^* = \frac{1}{C_1 + C_2} \log \frac{P_+ C_1}{P_- C_2}

    (Masnadi-Shirazi and Vasconcelos 2007, Eq. 34 to 36). Domain: every real F.

    Examples
    --------
    >>> import numpy as np
    >>> CostLogistic().minimiser(np.array([0.5]), (np.e, 1.0)).round(4)
    array([0.2689])
    """

    name = "cost_logistic"
    formula = "log(1 + e^(−2y(γF + η))), γ = (C₁ + C₂)/2, η = ½ log(C₂/C₁)"
    in_units_of_costs = True
    kernel = _logistic_kernel


@register
class AsymmetricLogistic(ShiftedLogistic):
    r"""The loss of AsyBL, slope 1: :math:`p_c = C_2 e^F / (C_1 e^{-F} + C_2 e^F)`.

    .. math:: F^* = \tfrac12 \log \frac{P_+ C_1}{P_- C_2}

    (Cao et al. 2013, Eq. 2). Domain: every real F.

    Examples
    --------
    >>> import numpy as np
    >>> AsymmetricLogistic().probability(np.array([0.0]), (4.0, 1.0))
    array([0.2])
    """

    name = "asymmetric_logistic"
    formula = "log(1 + e^(−2y(F + η))), η = ½ log(C₂/C₁)"
    kernel = _logistic_kernel

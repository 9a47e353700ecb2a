"""The four binary losses by their formulas, for one row at a time.

``y`` in {-1, +1}, ``F`` the score, ``C1`` the cost of a miss, ``C2`` the cost of a false alarm on
that row. ``minimiser(p, C1, C2)`` is the F with the least expected loss when P(+) = p.
"""

from __future__ import annotations

import math

__all__ = [
    "LOSSES",
    "asy_minimiser",
    "asymmetric_logistic",
    "asymmetric_logistic_probability",
    "cost_exponential",
    "cost_logistic",
    "cost_logistic_probability",
    "cs_minimiser",
    "expected",
    "weighted_exponential",
]


def cost_exponential(y, F, C1, C2):
    """CS-AdaBoost, CS-RealBoost: e^(-C1 F) on a positive, e^(C2 F) on a negative."""
    return math.exp(-C1 * F) if y == 1 else math.exp(C2 * F)


def weighted_exponential(y, F, C1, C2):
    """AdaBoostC, AsyB: C1 e^(-F) on a positive, C2 e^F on a negative."""
    return C1 * math.exp(-F) if y == 1 else C2 * math.exp(F)


def cost_logistic_probability(F, C1, C2):
    """p_c = e^(gamma F + eta) / (e^(gamma F + eta) + e^(-gamma F - eta))."""
    gamma = (C1 + C2) / 2.0
    eta = 0.5 * math.log(C2 / C1)
    return 1.0 / (1.0 + math.exp(-2.0 * (gamma * F + eta)))


def cost_logistic(y, F, C1, C2):
    """CS-LogitBoost: -(y' log p_c + (1 - y') log(1 - p_c)), y' = (y + 1)/2."""
    p_c = cost_logistic_probability(F, C1, C2)
    return -math.log(p_c) if y == 1 else -math.log(1.0 - p_c)


def asymmetric_logistic_probability(F, C1, C2):
    """p_c = C2 e^F / (C1 e^(-F) + C2 e^F)."""
    return C2 * math.exp(F) / (C1 * math.exp(-F) + C2 * math.exp(F))


def asymmetric_logistic(y, F, C1, C2):
    """AsyBL: -(y' log p_c + (1 - y') log(1 - p_c)), y' = (y + 1)/2."""
    p_c = asymmetric_logistic_probability(F, C1, C2)
    return -math.log(p_c) if y == 1 else -math.log(1.0 - p_c)


def cs_minimiser(p, C1, C2):
    """log(p C1 / ((1-p) C2)) / (C1 + C2)."""
    return math.log(p * C1 / ((1.0 - p) * C2)) / (C1 + C2)


def asy_minimiser(p, C1, C2):
    """1/2 log(p C1 / ((1-p) C2))."""
    return 0.5 * math.log(p * C1 / ((1.0 - p) * C2))


def expected(value, p, F, C1, C2):
    """Return the expected loss of the score F when P(+) = p."""
    return p * value(1, F, C1, C2) + (1.0 - p) * value(-1, F, C1, C2)


LOSSES = {
    "CostExponential": (cost_exponential, cs_minimiser),
    "WeightedExponential": (weighted_exponential, asy_minimiser),
    "CostLogistic": (cost_logistic, cs_minimiser),
    "AsymmetricLogistic": (asymmetric_logistic, asy_minimiser),
}

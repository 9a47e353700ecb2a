"""Losses: value, gradient, Hessian, the link to probabilities and the minimiser.

A binary loss is a function of ``y`` in {-1, +1} (n,), the score ``F`` (n,) and the costs ``C``:
the pair ``(C1, C2)`` = (cost of a miss, cost of a false alarm), each a number or an (n,) array; or
one (n,) array with the cost of misclassifying each row.
"""

from costboost.losses.base import BinaryLoss
from costboost.losses.exponential import CostExponential, WeightedExponential
from costboost.losses.logistic import AsymmetricLogistic, CostLogistic

__all__ = [
    "AsymmetricLogistic",
    "BinaryLoss",
    "CostExponential",
    "CostLogistic",
    "WeightedExponential",
]

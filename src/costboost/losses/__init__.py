"""Losses: value, gradient, Hessian, the link to probabilities and the minimiser.

A binary loss is a function of ``y`` in {-1, +1} (n,), the score ``F`` (n,) and the costs ``C``:
the pair ``(C1, C2)`` = (cost of a miss, cost of a false alarm), each a number or an (n,) array; or
one (n,) array with the cost of misclassifying each row. A multi-class loss is a function of the
class codes ``y`` (n,), scores ``F`` (n, k) and cost rows ``C`` (n, k).
"""

from costboost.losses.base import BinaryLoss
from costboost.losses.exponential import CostExponential, WeightedExponential
from costboost.losses.logistic import AsymmetricLogistic, CostLogistic
from costboost.losses.multiclass import GEL, GLL, MC, Ls, Lt, MulticlassLoss
from costboost.losses.pnorm import PNorm

__all__ = [
    "GEL",
    "GLL",
    "MC",
    "AsymmetricLogistic",
    "BinaryLoss",
    "CostExponential",
    "CostLogistic",
    "Ls",
    "Lt",
    "MulticlassLoss",
    "PNorm",
    "WeightedExponential",
]

"""Losses: value, gradient, Hessian, the link to probabilities and the minimiser.

A binary loss is a function of ``y`` in {-1, +1} (n,), the score ``F`` (n,) and the costs ``C``:
the pair ``(C1, C2)`` = (cost of a miss, cost of a false alarm), each a number or an (n,) array. A
multi-class loss is a function of the class codes ``y`` (n,), scores ``F`` (n, k) and cost rows
``C`` (n, k).

`LOSSES` holds the losses of scores by name. To add one, put a file into this package that defines a
subclass of `BinaryLoss` or `MulticlassLoss`, decorated with `register`. The objectives, metrics and
decisions of `costboost.gbm` and `costboost.MCBoostClassifier` take it from there by its name.

>>> LOSSES["gll"]
GLL()
>>> LOSSES["gll"].has_probabilities, LOSSES["mc"].carries_costs
(False, False)
"""

from importlib import import_module
from pkgutil import iter_modules

from costboost.losses.base import LOSSES, BinaryLoss, Loss, named_loss, register
from costboost.losses.binary import (
    AsymmetricLogistic,
    CostExponential,
    CostLogistic,
    WeightedExponential,
)
from costboost.losses.multiclass import GEL, GLL, MC, ExpectedCost, Ls, Lt, MulticlassLoss, PNorm

__all__ = [
    "GEL",
    "GLL",
    "LOSSES",
    "MC",
    "AsymmetricLogistic",
    "BinaryLoss",
    "CostExponential",
    "CostLogistic",
    "ExpectedCost",
    "Loss",
    "Ls",
    "Lt",
    "MulticlassLoss",
    "PNorm",
    "WeightedExponential",
    "named_loss",
    "register",
]

# Every file of this package registers its own losses, so a new one needs no entry above.
for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")

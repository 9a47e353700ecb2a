"""Cost-sensitive boosting: state what mistakes cost, and get the decisions that cost least.

Public names are loaded when they are first used, so ``import costboost`` is quick.
"""

# ruff: noqa: F403, F405 (the algorithms are listed once for checkers, in their own package)

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

from costboost.errors import (
    CollapseWarning,
    ColumnWarning,
    CostWarning,
    ModelFileError,
    TimeLimitWarning,
)

if TYPE_CHECKING:
    from costboost import algorithms, costs, decisions, metrics, wrappers
    from costboost.algorithms import *
    from costboost.comparison import compare
    from costboost.files import inspect, load
    from costboost.gbm.classifier import CostBoostClassifier
    from costboost.wrappers import MinCostClassifier, TargetRateClassifier

__version__ = "0.2.0"

__all__ = [
    "AdaBoostCClassifier",
    "AdaBoostM2Classifier",
    "AdaC1Classifier",
    "AdaC2Classifier",
    "AdaC3Classifier",
    "AdaCostClassifier",
    "AdaCostM2Classifier",
    "AdaMECClassifier",
    "AsyBClassifier",
    "AsyBLClassifier",
    "AsymmetricAdaBoostClassifier",
    "AverageCostClassifier",
    "CSAdaBoostClassifier",
    "CSB0Classifier",
    "CSB1Classifier",
    "CSB2Classifier",
    "CSB2M2Classifier",
    "CSLogitBoostClassifier",
    "CSRealBoostClassifier",
    "CollapseWarning",
    "ColumnWarning",
    "CostBoostClassifier",
    "CostWarning",
    "CostingClassifier",
    "DSEClassifier",
    "GBSEClassifier",
    "GradientCSBClassifier",
    "LpCSBClassifier",
    "MCBoostClassifier",
    "MinCostClassifier",
    "ModelFileError",
    "RareBoostClassifier",
    "SAMMEC2Classifier",
    "TargetRateClassifier",
    "TimeLimitWarning",
    "__version__",
    "algorithms",
    "compare",
    "costs",
    "decisions",
    "inspect",
    "load",
    "metrics",
    "wrappers",
]

# Where public names live; those that are not listed are classes of costboost.algorithms.
_PACKAGES = ("algorithms", "costs", "decisions", "metrics", "wrappers")
_MODULES = {
    "CostBoostClassifier": "costboost.gbm.classifier",
    "MinCostClassifier": "costboost.wrappers",
    "TargetRateClassifier": "costboost.wrappers",
    "compare": "costboost.comparison",
    "inspect": "costboost.files",
    "load": "costboost.files",
}
# Names that are gone, and the sections of docs/recipes.md that do without them.
_RECIPES = {
    "tuned": "Search of settings",
}


def __getattr__(name: str) -> Any:
    """Load a public name at its first use (PEP 562)."""
    if name in _PACKAGES:
        return import_module(f"costboost.{name}")
    if name in _RECIPES:
        section = _RECIPES[name]
        raise AttributeError(
            f"costboost has no {name!r} any more. See {section!r} in docs/recipes.md."
        )
    if name not in __all__:
        raise AttributeError(f"module 'costboost' has no attribute {name!r}")
    found = getattr(import_module(_MODULES.get(name, "costboost.algorithms")), name)
    globals()[name] = found  # the next use does not come here
    return found


def __dir__() -> list[str]:
    """List the public names alone."""
    return sorted(__all__)

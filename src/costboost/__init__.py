"""Cost-sensitive boosting: what a mistake costs goes in, the cheapest decisions come out."""

from costboost import algorithms, costs, decisions, metrics, wrappers
from costboost.algorithms import *  # noqa: F403
from costboost.errors import CollapseWarning, CostWarning
from costboost.gbm.classifier import CostBoostClassifier
from costboost.wrappers import MinCostClassifier, TargetRateClassifier

__version__ = "0.1.0"

__all__ = [
    *algorithms.__all__,
    "CollapseWarning",
    "CostBoostClassifier",
    "CostWarning",
    "MinCostClassifier",
    "TargetRateClassifier",
    "__version__",
    "algorithms",
    "costs",
    "decisions",
    "metrics",
    "wrappers",
]

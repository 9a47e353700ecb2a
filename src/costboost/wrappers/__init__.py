"""Classifiers around any classifier: the smallest expected cost, or a named rate."""

from costboost.wrappers.min_cost import MinCostClassifier
from costboost.wrappers.target_rate import TargetRateClassifier

__all__ = ["MinCostClassifier", "TargetRateClassifier"]

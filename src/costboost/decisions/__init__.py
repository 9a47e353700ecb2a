"""Decisions on top of any classifier: the smallest expected cost, or a named rate."""

from costboost.decisions.min_cost import MinCostClassifier
from costboost.decisions.target_rate import TargetRateClassifier

__all__ = ["MinCostClassifier", "TargetRateClassifier"]

"""Decisions from probabilities and costs: cheapest, within limits, explained, and checked.

The functions take plain arrays: probabilities (n, k), cost matrices (k, d) or (n, k, d) with rows
= truth and columns = decision, expected costs (n, d).
"""

from costboost.decisions.arrays import cheapest, expected_cost, worst_expected_cost
from costboost.decisions.capacity import Allocation, allocate, capacity_prices
from costboost.decisions.constraints import Budget, Rate
from costboost.decisions.min_cost import MinCostClassifier
from costboost.decisions.target_rate import TargetRateClassifier

__all__ = [
    "Allocation",
    "Budget",
    "MinCostClassifier",
    "Rate",
    "TargetRateClassifier",
    "allocate",
    "capacity_prices",
    "cheapest",
    "expected_cost",
    "worst_expected_cost",
]

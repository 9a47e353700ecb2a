"""Decisions from probabilities and costs: cheapest, within limits, explained, and checked.

The functions take plain arrays: probabilities (n, k), cost matrices (k, d) or (n, k, d) with rows
= truth and columns = decision, expected costs (n, d).
"""

from costboost.decisions.arrays import cheapest, expected_cost
from costboost.decisions.explain import Explanation, explain
from costboost.decisions.limits import Budget, Rate
from costboost.decisions.order_statistics import rows_needed
from costboost.decisions.sensitivity import Sensitivity, break_even, sensitivity
from costboost.decisions.solve import Allocation, allocate, capacity_curve, capacity_prices

__all__ = [
    "Allocation",
    "Budget",
    "Explanation",
    "Rate",
    "Sensitivity",
    "allocate",
    "break_even",
    "capacity_curve",
    "capacity_prices",
    "cheapest",
    "expected_cost",
    "explain",
    "rows_needed",
    "sensitivity",
]

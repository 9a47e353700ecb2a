"""Decisions from probabilities and costs: cheapest, within limits, explained, and checked.

The functions take plain arrays: probabilities (n, k), cost matrices (k, d) or (n, k, d) with rows
= truth and columns = decision, expected costs (n, d).
"""

from costboost.costs.costs import cheapest
from costboost.decisions.allocate import allocate
from costboost.decisions.arrays import expected_cost
from costboost.decisions.capacity import capacity_curve, capacity_prices
from costboost.decisions.decisions import Decisions
from costboost.decisions.explain import Explanation, explain
from costboost.decisions.limits import Budget, Rate, read_limits
from costboost.decisions.order_statistics import rows_needed
from costboost.decisions.sensitivity import Sensitivity, break_even, sensitivity

__all__ = [
    "Budget",
    "Decisions",
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
    "read_limits",
    "rows_needed",
    "sensitivity",
]

"""Moved; kept until all callers follow."""

from costboost.costs.table import Costs as KnownCosts
from costboost.costs.table import mean_prices as mean_prices

__all__ = ["KnownCosts", "mean_prices"]

"""Moved; kept until all callers follow."""

from costboost.costs.forms import RowCosts as RowCosts

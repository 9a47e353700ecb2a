"""Moved; kept until all callers follow."""

from costboost.costs.forms import is_short as is_short

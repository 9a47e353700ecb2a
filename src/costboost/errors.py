"""The library's own warnings.

Bad input raises scikit-learn's usual ``ValueError``/``TypeError``; the classes below exist so
that users can silence, or turn into errors, exactly the warning they mean.
"""

from __future__ import annotations

__all__ = ["CollapseWarning", "ColumnWarning", "CostWarning"]


class CostWarning(UserWarning):
    """The costs look wrong, for example a matrix whose rows and columns were swapped."""


class CollapseWarning(UserWarning):
    """The fitted model is degenerate: one class for every row, or no usable weak rule."""


class ColumnWarning(UserWarning):
    """A column of the table is left out, because it says nothing about new rows."""

"""The library's own warnings and errors.

Bad input raises scikit-learn's usual ``ValueError``/``TypeError``; the warnings below exist so
that users can silence, or turn into errors, exactly the warning they mean. A model file that cannot
be trusted raises one error of its own, so that a service can tell it from all others.
"""

from __future__ import annotations

__all__ = ["CollapseWarning", "ColumnWarning", "CostWarning", "ModelFileError", "TimeLimitWarning"]


class CostWarning(UserWarning):
    """The costs look wrong, for example a matrix whose rows and columns were swapped."""


class CollapseWarning(UserWarning):
    """The fitted model is degenerate: one class for every row, or no usable weak rule."""


class ColumnWarning(UserWarning):
    """A column of the table is left out, because it says nothing about new rows."""


class TimeLimitWarning(UserWarning):
    """A training was ended by its time limit before it was finished."""


class ModelFileError(ValueError):
    """A model file is damaged, malicious, too new or cannot be written; nothing was loaded."""

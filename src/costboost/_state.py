"""State appears on an estimator only when it is true: fits work on a copy."""

from __future__ import annotations

from copy import copy
from typing import TypeVar

__all__ = ["unfitted"]

EstimatorT = TypeVar("EstimatorT")


def unfitted(estimator: EstimatorT) -> EstimatorT:
    """A copy without what an earlier fit has left.

    ``fit`` works on it and then takes over its ``__dict__``, so an error or an interrupt leaves the
    estimator as it was.
    """
    blank = copy(estimator)
    for name in [name for name in vars(estimator) if name.endswith("_") and name[0] != "_"]:
        delattr(blank, name)
    return blank

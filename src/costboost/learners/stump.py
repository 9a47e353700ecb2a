"""Decision stumps by one pass over binned features."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from costboost._typing import Floats
from costboost.learners._binning import BinnedRows
from costboost.learners.base import Aim, Fitted, Learner, Rows, constant
from costboost.learners.steps import BoundSteps, StepRule, first_of_least

__all__ = ["Stump"]


@dataclass(frozen=True)
class Stump(Learner):
    """The best single threshold on a single feature, by the criterion of the aim.

    Thresholds lie halfway between neighbouring values; with more than ``max_bins`` distinct
    values, between neighbouring quantile bins. Missing values fall on the right side.

    Parameters
    ----------
    max_bins : int, default=255
        Largest number of bins of a feature.
    """

    max_bins: int = 255

    accepts_missing: ClassVar[bool] = True

    def bind(self, rows: Rows) -> BoundStump:
        """Bin the rows."""
        # One of the 256 bin numbers is kept for missing values.
        return BoundStump(BinnedRows(rows, min(self.max_bins, 255)))


class BoundStump(BoundSteps):
    """Scans all thresholds of all features at once."""

    def __init__(self, binned: BinnedRows) -> None:
        self._binned = binned
        # (features, bins): bin b may be the last on the left side only if it has an upper edge.
        counts = np.array([len(edges) for edges in binned.edges])
        self._candidate = np.nonzero(np.arange(binned.n_bins) < counts[:, None])

    def fit(self, aim: Aim, seed: int) -> Fitted:
        """The stump of smallest loss; ties go to the first."""
        if not len(self._candidate[0]):
            return constant(aim)
        sums = self._binned.histograms(aim)
        # Right sides are summed from the right: a difference of totals would leave rounding
        # noise where a side is empty of a class.
        left = tuple(np.cumsum(s, axis=1)[self._candidate] for s in sums)
        right = tuple(_sum_above(s)[self._candidate] for s in sums)
        loss, left_output, right_output = aim.criterion.stump(
            (left[0], left[1]), (right[0], right[1])
        )
        best = first_of_least(loss)
        feature, last = int(self._candidate[0][best]), int(self._candidate[1][best])
        left_value, right_value = float(left_output[best]), float(right_output[best])
        edge = self._binned.edges[feature][last : last + 1]
        rule = StepRule(feature, edge, np.array([left_value, right_value, right_value]))
        on_left = self._binned.bins[feature] <= last
        return Fitted(rule, np.where(on_left, left_value, right_value))


def _sum_above(sums: Floats) -> Floats:
    """For every bin, the sum of the bins above it."""
    above = np.zeros_like(sums)
    above[:, :-1] = np.cumsum(sums[:, :0:-1], axis=1)[:, ::-1]
    return above

"""Piecewise constant rules on one feature: the weighted histograms of RealBoost."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from costboost.learners._binning import BinnedRows
from costboost.learners.base import Aim, Fitted, Learner, Rows
from costboost.learners.steps import BoundSteps, StepRule, first_of_least

__all__ = ["Histogram"]


@dataclass(frozen=True)
class Histogram(Learner):
    """One output per bin of the best single feature, by the criterion of the aim.

    A feature gets one bin per 300 distinct values, but at least ``min_bins`` and at most
    ``max_bins`` (finer bins overfit within a few rounds); one with fewer distinct values gets one
    bin per value. Missing values have a bin of their own.

    Parameters
    ----------
    min_bins, max_bins : int, default=4 and 64
        Smallest and largest number of bins of a feature.
    """

    min_bins: int = 4
    max_bins: int = 64

    accepts_missing: ClassVar[bool] = True

    def bind(self, rows: Rows) -> BoundHistogram:
        """Bin the rows."""
        return BoundHistogram(BinnedRows(rows, self._limit))

    def _limit(self, distinct: int) -> int:
        return int(np.clip(distinct // 300, self.min_bins, min(self.max_bins, 255)))


class BoundHistogram(BoundSteps):
    """Compares the histograms of all features."""

    def __init__(self, binned: BinnedRows) -> None:
        self._binned = binned

    def fit(self, aim: Aim, seed: int) -> Fitted:
        """The histogram of smallest loss; ties go to the first."""
        first, second = self._binned.histograms(aim)
        best = first_of_least(aim.criterion.loss(first, second).sum(axis=1))
        edges = self._binned.edges[best]
        used = slice(len(edges) + 2)
        outputs = aim.criterion.values(first[best, used], second[best, used])
        return Fitted(StepRule(best, edges, outputs), outputs[self._binned.bins[best]])

"""Straight lines on one feature by weighted least squares: the weak rule of CS-LogitBoost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from costboost._typing import AnyArray, Floats
from costboost.learners.base import Aim, BoundLearner, Fitted, Learner, Rows, one_hot
from costboost.learners.criteria import Criterion
from costboost.learners.scales import centre_and_spread

__all__ = ["Line", "LineRule"]


@dataclass(frozen=True)
class Line(Learner):
    r"""The best :math:`a\varphi + b` over single features φ, by weighted least squares.

    Votes are fitted as numbers and read by their sign.
    """

    def bind(self, rows: Rows) -> BoundLine:
        """Standardise the rows."""
        return BoundLine(rows.X)


@dataclass(frozen=True)
class LineRule:
    """``slope * x[feature] + intercept``, turned into an output by the criterion."""

    feature: int
    slope: float
    intercept: float
    criterion: Criterion

    def predict(self, X: AnyArray) -> Floats:
        """The outputs of the line, (n,)."""
        return self.criterion.of_mean(self.slope * X[:, self.feature] + self.intercept)

    def importances(self, n_features: int) -> Floats:
        """The rule uses one feature, (d,)."""
        return one_hot(self.feature, n_features)


# Rows per block: a block of a few dozen features stays in the cache for its three products.
_BLOCK = 4096

# Standardised features and their squares are kept for all rounds if they take no more bytes than
# this.
_MOST_KEPT = 2**26


class BoundLine(BoundLearner):
    """All features' normal equations by matrix products, in one pass over the rows."""

    def __init__(self, X: AnyArray) -> None:
        self._X = X
        # The sums below would cancel for features far from zero.
        self._centre, self._spread = centre_and_spread(X)
        self._kept: Floats | None = None  # (2 d, n): features, then their squares
        if 16 * X.size <= _MOST_KEPT:
            x = ((X - self._centre) / self._spread).T
            self._kept = np.concatenate([x, np.square(x)])

    def _sums(self, w: Floats, wz: Floats) -> tuple[Floats, Floats, Floats]:
        """Σ w x, Σ w x z and Σ w x² of every standardised feature x."""
        d = self._X.shape[1]
        both = np.column_stack([w, wz])
        if self._kept is not None:
            sums = self._kept @ both
            return sums[:d, 0], sums[:d, 1], sums[d:, 0]
        linear, square = np.zeros((d, 2)), np.zeros(d)
        for start in range(0, len(w), _BLOCK):
            rows = slice(start, start + _BLOCK)
            x = (self._X[rows] - self._centre) / self._spread
            linear += x.T @ both[rows]
            square += np.square(x, out=x).T @ w[rows]
        return linear[:, 0], linear[:, 1], square

    def fit(self, aim: Aim, seed: int) -> Fitted:
        """The line that leaves the smallest weighted sum of squares."""
        w = aim.criterion.fit_weights(aim.targets, aim.weights)
        w = w / w.sum()
        wz = w * aim.targets
        mean_x, product, square = self._sums(w, wz)
        mean_z = float(wz.sum())
        variance = square - mean_x**2
        covariance = product - mean_x * mean_z
        usable = variance > 1e-12
        slopes = np.divide(covariance, variance, out=np.zeros_like(variance), where=usable)
        best = int(np.argmax(slopes * covariance))
        slope = slopes[best] / self._spread[best]
        intercept = mean_z - slopes[best] * mean_x[best] - slope * self._centre[best]
        rule = LineRule(best, float(slope), float(intercept), aim.criterion)
        return Fitted(rule, rule.predict(self._X))

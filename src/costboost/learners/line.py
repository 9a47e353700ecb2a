"""Straight lines on one feature by weighted least squares: the weak rule of CS-LogitBoost."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from costboost._typing import AnyArray, Floats
from costboost.learners.base import Aim, BoundLearner, Fitted, Learner, Rows
from costboost.learners.criteria import Criterion

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


class BoundLine(BoundLearner):
    """All features' normal equations by three matrix-vector products."""

    def __init__(self, X: AnyArray) -> None:
        # Centred and scaled once: the sums below would cancel for features far from zero.
        self._centre = X.mean(axis=0, dtype=np.float64)
        spread = X.std(axis=0, dtype=np.float64)
        self._spread = np.where(spread > 0, spread, 1.0)
        self._features = np.asfortranarray((X - self._centre) / self._spread)
        self._squares = self._features**2

    def fit(self, aim: Aim, seed: int) -> Fitted:
        """The line that leaves the smallest weighted sum of squares."""
        _, w = aim.criterion.gradients(aim.targets, aim.weights)
        w = w / w.sum()
        wz = w * aim.targets
        mean_x, mean_z = self._features.T @ w, float(wz.sum())
        variance = self._squares.T @ w - mean_x**2
        covariance = self._features.T @ wz - mean_x * mean_z
        usable = variance > 1e-12
        slopes = np.divide(covariance, variance, out=np.zeros_like(variance), where=usable)
        best = int(np.argmax(slopes * covariance))
        a, b = slopes[best], mean_z - slopes[best] * mean_x[best]
        outputs = aim.criterion.of_mean(a * self._features[:, best] + b)
        slope = a / self._spread[best]
        rule = LineRule(best, float(slope), float(b - slope * self._centre[best]), aim.criterion)
        return Fitted(rule, outputs)

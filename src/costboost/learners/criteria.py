"""Criteria: what a region of the input space should answer, and how good a partition is.

A weak learner of this library splits the rows into cells (the two sides of a stump, the bins of a
histogram, the leaves of a tree). A criterion turns two sums per cell into the cell's output and
its loss, so learners and algorithms meet in one place: a learner never knows which algorithm it
serves, and an algorithm never knows how the cells were found.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from costboost._typing import Floats
from costboost.learners import _kernels

__all__ = ["Criterion", "JointVotes", "LeastSquares", "LogRatio", "Votes"]


class Criterion(ABC):
    """Two sums per cell -> the cell's output and its share of the loss.

    For targets in {-1, +1} the sums are the weight of the positive and of the negative rows of the
    cell, otherwise the sums of ``weight * target`` and of ``weight``.
    """

    is_regression: ClassVar[bool] = False
    # Whether `of_mean` is only a substitute for `values`: the cell's total weight matters too.
    needs_masses: ClassVar[bool] = False

    def channels(self, targets: Floats, weights: Floats) -> tuple[Floats, Floats]:
        """What each row adds to the two sums of its cell."""
        positive = np.where(targets > 0, weights, 0.0)
        return positive, weights - positive

    def fit_weights(self, targets: Floats, weights: Floats) -> Floats:
        """Row weights for a learner that is fitted to the targets by itself, (n,)."""
        return weights

    @abstractmethod
    def values(self, first: Floats, second: Floats) -> Floats:
        """The output of each cell."""

    @abstractmethod
    def loss(self, first: Floats, second: Floats) -> Floats:
        """The loss of each cell at its output; the sum over cells ranks partitions."""

    @abstractmethod
    def of_mean(self, mean: Floats) -> Floats:
        """The output where only the weighted mean of the targets is known."""

    def stump(
        self, left: tuple[Floats, Floats], right: tuple[Floats, Floats]
    ) -> tuple[Floats, Floats, Floats]:
        """Loss and the two outputs of every candidate stump, given the sums of its sides."""
        return (
            self.loss(*left) + self.loss(*right),
            self.values(*left),
            self.values(*right),
        )


class Votes(Criterion):
    """Outputs in {-1, +1}, loss = weight of the wrong rows."""

    def values(self, first: Floats, second: Floats) -> Floats:
        """The heavier class of each cell."""
        return np.where(first >= second, 1.0, -1.0)

    def loss(self, first: Floats, second: Floats) -> Floats:
        """The weight of the lighter class."""
        return np.minimum(first, second)

    def of_mean(self, mean: Floats) -> Floats:
        """The sign; means within rounding of zero count as positive everywhere."""
        return np.copysign(1.0, mean + 1e-12)

    def stump(
        self, left: tuple[Floats, Floats], right: tuple[Floats, Floats]
    ) -> tuple[Floats, Floats, Floats]:
        """Opposite votes on the two sides, as in g(x) = ±sgn(x - t)."""
        upward = left[0] + right[1]  # left votes -1, right votes +1
        downward = left[1] + right[0]
        sign = np.where(upward <= downward, 1.0, -1.0)
        return np.minimum(upward, downward), -sign, sign


class LeastSquares(Criterion):
    """Outputs the weighted mean of the targets, loss = what it leaves unexplained."""

    is_regression: ClassVar[bool] = True

    def channels(self, targets: Floats, weights: Floats) -> tuple[Floats, Floats]:
        """What each row adds to the two sums of its cell."""
        return weights * targets, weights

    def values(self, first: Floats, second: Floats) -> Floats:
        """The weighted mean of each cell."""
        return np.divide(first, second, out=np.zeros_like(first), where=second > 0)

    def loss(self, first: Floats, second: Floats) -> Floats:
        """Minus the explained sum of squares, the constant left out."""
        return -first * self.values(first, second)

    def of_mean(self, mean: Floats) -> Floats:
        """The mean itself."""
        return mean


@dataclass(frozen=True)
class LogRatio(Criterion):
    r"""Real-valued outputs of RealBoost, cost-sensitive.

    .. math:: G = \frac{1}{C_1 + C_2} \log \frac{(P + s) C_1}{(N + s) C_2}, \qquad
        L = P e^{-C_1 G} + N e^{C_2 G}

    with P, N the class weights of the cell and s the smoothing (Masnadi-Shirazi and
    Vasconcelos 2007, Eq. 47 and 49).
    """

    needs_masses: ClassVar[bool] = True

    C1: float
    C2: float
    smoothing: float  # absolute: mass added to both classes of every cell

    def fit_weights(self, targets: Floats, weights: Floats) -> Floats:
        """The loss's gradient at zero weighs a row by its cost too."""
        return weights * np.where(targets > 0, self.C1, self.C2)

    def values(self, first: Floats, second: Floats) -> Floats:
        """The smoothed, cost-weighted log-odds of each cell."""
        odds = np.log(first + self.smoothing) - np.log(second + self.smoothing)
        # The logarithm of the ratio: the unit of the costs does not reach the last digit.
        return np.asarray((odds + np.log(self.C1 / self.C2)) / (self.C1 + self.C2))

    def loss(self, first: Floats, second: Floats) -> Floats:
        """The exponential loss of each cell at its output."""
        G = self.values(first, second)
        return first * np.exp(-self.C1 * G) + second * np.exp(self.C2 * G)

    def of_mean(self, mean: Floats) -> Floats:
        """From the mean under `fit_weights`, whose odds are P C1 / (N C2) already."""
        mean = np.clip(mean, -1.0, 1.0)
        plus, minus = 0.5 * (1.0 + mean) + self.smoothing, 0.5 * (1.0 - mean) + self.smoothing
        return np.asarray((np.log(plus) - np.log(minus)) / (self.C1 + self.C2))


@dataclass(frozen=True)
class JointVotes(Votes):
    r"""Outputs in {-1, +1}, stumps ranked by the loss after their own best step.

    For a stump with class totals :math:`T_\pm` and wrong weights b (positives), d (negatives)

    .. math:: \min_\alpha \; (e^{C_1\alpha} - e^{-C_1\alpha}) b + e^{-C_1\alpha} T_+
        + (e^{C_2\alpha} - e^{-C_2\alpha}) d + e^{-C_2\alpha} T_-

    (Masnadi-Shirazi and Vasconcelos 2007, Eq. 40 and 41): the stump and its step are chosen
    together. Weights are the loss's own, without the cost factor of its gradient.
    """

    C1: float
    C2: float

    def fit_weights(self, targets: Floats, weights: Floats) -> Floats:
        """The loss's gradient at zero weighs a row by its cost too."""
        return weights * np.where(targets > 0, self.C1, self.C2)

    def values(self, first: Floats, second: Floats) -> Floats:
        """The class of each cell whose errors would weigh more in the gradient."""
        return super().values(self.C1 * first, self.C2 * second)

    def loss(self, first: Floats, second: Floats) -> Floats:
        """What the wrong rows weigh in the gradient."""
        return super().loss(self.C1 * first, self.C2 * second)

    def stump(
        self, left: tuple[Floats, Floats], right: tuple[Floats, Floats]
    ) -> tuple[Floats, Floats, Floats]:
        """Loss at the best step; a negative step is the other polarity."""
        alpha, loss = _kernels.joint_steps(left[0], right[1], right[0], left[1], self.C1, self.C2)
        sign = np.where(alpha >= 0, 1.0, -1.0)
        return loss, -sign, sign

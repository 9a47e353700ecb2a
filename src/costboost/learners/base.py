"""What a weak learner is, and the criteria by which it is asked.

A `Learner` is bound to the training rows once; every round then asks it for a rule by an `Aim`, and
an `Ensemble` is the finished sum Σ α h of the rules.

A weak learner of this library splits the rows into cells (the two sides of a stump, the bins of a
histogram, the leaves of a tree). A `Criterion` turns two sums per cell into the cell's output and
its loss, so learners and algorithms meet in one place: a learner never knows which algorithm it
serves, and an algorithm never knows how the cells were found.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from copy import copy
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Self

import numpy as np
from sklearn.base import BaseEstimator

from costboost._typing import AnyArray, Floats, Ints
from costboost.learners._kernels import joint_steps


class Criterion(ABC):
    """Two sums per cell -> the cell's output and its share of the loss."""

    # For targets in {-1, +1} the sums are the weight of the positive and of the negative rows of
    # the cell, otherwise the sums of ``weight * target`` and of ``weight``.

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
    """Real-valued outputs of RealBoost, cost-sensitive."""

    # G = log((P + s) C1 / (N + s) C2) / (C1 + C2) and the loss P e^{-C1 G} + N e^{C2 G}, with P, N
    # the class weights of the cell and s the smoothing (Masnadi-Shirazi and Vasconcelos 2007,
    # Eq. 47 and 49).

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
    """Outputs in {-1, +1}, stumps ranked by the loss after their own best step."""

    # The stump and its step are chosen together (Masnadi-Shirazi and Vasconcelos 2007, Eq. 40 and
    # 41). Weights are the loss's own, without the cost factor of its gradient.

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
        scale, found = max(self.C1, self.C2), np.empty((2, len(left[0])))
        masses = np.stack([left[0], right[1], right[0], left[1]])
        joint_steps(masses, self.C1 / scale, self.C2 / scale, found)
        sign = np.where(found[0] >= 0, 1.0, -1.0)
        return found[1], -sign, sign


# Classes that a rule from a file may have.
MAX_CLASSES = 2**20


class Aim(NamedTuple):
    """What one round asks of a weak learner."""

    targets: Floats  # (n,) votes in {-1, +1}, or real responses; (n, k) for pairs or cost rows
    weights: Floats  # (n,), or (n, k) for pairs; not negative, with a positive sum
    criterion: Criterion
    coordinate: int = 0  # which of several scores the rule is for


class Rows(NamedTuple):
    """The training rows, as a learner is bound to them."""

    X: AnyArray  # (n, d) float64 or float32; NaN or CSR only for learners that take it
    sample_weight: Floats  # (n,) positive
    categorical: Sequence[int]  # columns that hold category codes
    n_threads: int
    seed: int
    k: int = 0  # number of classes, or decisions, where rules are relations over pairs


@dataclass(frozen=True)
class ConstantRule:
    """The same output everywhere: what remains when no feature helps."""

    value: float | Floats  # or (k,), where rules have k outputs

    def predict(self, X: AnyArray) -> Floats:
        """The constant, once per row."""
        return np.full((X.shape[0], *np.shape(self.value)), self.value)

    def importances(self, n_features: int) -> Floats:
        """No feature is used, (d,)."""
        return np.zeros(n_features)


class Fitted(NamedTuple):
    """A weak rule and its outputs on the rows it was fitted to."""

    rule: Any  # has `predict`; `Learner.ensemble` may replace it
    outputs: Floats


def constant(aim: Aim) -> Fitted:
    """The best constant rule for an aim."""
    first, second = aim.criterion.channels(aim.targets, aim.weights)
    value = aim.criterion.values(np.array([first.sum()]), np.array([second.sum()]))[0]
    return Fitted(ConstantRule(float(value)), np.full(len(aim.targets), value))


def one_hot(index: int, size: int) -> Floats:
    """A row of zeros with a one."""
    row = np.zeros(size)
    row[index] = 1.0
    return row


def voted(vote: Any, outputs: Floats) -> Floats:
    """A rule's share of the score: α h, or α± h where a pair (α-, α+) votes by the sign of h."""
    if np.ndim(vote) == 0:
        return np.asarray(vote * outputs)
    negative, positive = vote
    return np.asarray(np.where(outputs > 0, positive, negative) * outputs)


class Ensemble:
    """A weighted sum of rules, F(x) = Σ α_t h_t(x).

    ``votes`` holds a vote per rule, (T,), or a pair (α-, α+) per rule, (T, 2).
    """

    def __init__(self, rules: Sequence[Any], votes: Floats) -> None:
        self.rules = list(rules)
        self.votes = votes

    @property
    def round_ends(self) -> Ints:
        """The last rule of every round, (rounds,)."""
        return np.arange(len(self.rules))

    def outputs(self, X: AnyArray) -> Iterator[Floats]:
        """The outputs of every rule in turn."""
        for rule in self.rules:
            yield rule.predict(X)

    def staged(self, X: AnyArray) -> Iterator[Floats]:
        """F after each round, (n,) each."""
        F: Any = 0.0
        for vote, outputs in zip(self.votes, self.outputs(X), strict=True):
            F = F + voted(vote, outputs)
            yield F

    def decision_function(self, X: AnyArray) -> Floats:
        """F after the last round, (n,)."""
        F = np.zeros(X.shape[0])
        for F in self.staged(X):  # noqa: B007 the last one is meant
            pass
        return F

    def importances(self, n_features: int) -> Floats:
        """How much each feature is used, (d,): the rules' importances, weighted by their votes.

        Raises an AttributeError if a rule cannot say which features it uses.
        """
        weights = self.votes if self.votes.ndim == 1 else self.votes.mean(axis=1)
        total = np.zeros(n_features)
        for weight, rule in zip(weights, self.rules, strict=True):
            total += weight * rule.importances(n_features)
        return np.asarray(total / total.sum() if total.sum() > 0 else total)


class Learner(ABC):
    """A weak learner: hyper-parameters and, once it is bound, the rows.

    A subclass is a dataclass of its hyper-parameters with the methods `prepare` and `fit`.
    """

    accepts_missing: ClassVar[bool] = False
    accepts_categories: ClassVar[bool] = False
    accepts_sparse: ClassVar[bool] = False
    # Whether it learns relations h(x, y) in {0, 1}: aims and outputs are (n, k).
    learns_relations: ClassVar[bool] = False

    def bind(self, rows: Rows) -> Self:
        """A copy of the learner that has seen the rows, for all rounds of a fit."""
        if self.learns_relations and not rows.k:
            raise ValueError(
                f"{type(self).__name__} learns relations between rows and classes, which this "
                "algorithm does not use. Choose estimator='tree', or LpCSBClassifier or a member "
                "of the AdaBoost.M2 family."
            )
        bound = copy(self)
        bound.prepare(rows)
        return bound

    @abstractmethod
    def prepare(self, rows: Rows) -> None:
        """Do once what every round would repeat: binning, scaling, copying."""

    @abstractmethod
    def fit(self, aim: Aim, seed: int) -> Fitted:
        """The rule for this aim, with its outputs on the bound rows."""

    def sibling(self) -> Learner:
        """Another learner on the same rows; a learner without a state returns itself."""
        return self

    def class_estimator(self) -> BaseEstimator | None:
        """Return the estimator that names one class of several in its place, if there is one."""
        return None

    def ensemble(self, rules: Sequence[Any], votes: Floats) -> Ensemble:
        """The finished predictor; ``rules`` are this learner's, in order, some perhaps dropped."""
        return Ensemble(rules, votes)

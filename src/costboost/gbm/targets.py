"""What boosters are trained for: the labels and weights of rows, and the loss of their scores.

A target without rows says what to learn. `Target.on` puts it on rows of known costs, in memory, in
a batch of a file or on a worker, so all fits share one rule.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from typing import Self

import numpy as np
from scipy.special import log_expit, log_softmax

from costboost._typing import AnyArray, Floats
from costboost.costs import Costs
from costboost.gbm.objectives import Derivatives, LossRows
from costboost.gbm.rows import Totals
from costboost.losses import Loss

# Probabilities are no smaller, so that their logarithms are finite.
LEAST_PROBA = 1e-15


class Target(ABC):
    """What to train for, and once it is put on rows, their labels, weights and loss."""

    name: str
    n_scores: int
    # Whether the engine's own log loss of labels and weights will do.
    is_log_loss: bool
    # Weight of each label, by which XGBoost's smallest leaf is found.
    masses: Floats

    labels: AnyArray  # classes, or the prices that are to be learned
    weights: AnyArray
    weight: float  # of all rows; 0 if there is nothing to learn from them

    @abstractmethod
    def on(self, costs: Costs, weights: Floats) -> Self:
        """The target on rows of these costs."""

    def carried(self, labels: AnyArray, weights: AnyArray) -> Self:
        """The target on the label and weight fields of an engine's matrix."""
        return self.put(labels.astype(np.intp), weights.astype(np.float64))

    def put(self, labels: AnyArray, weights: AnyArray) -> Self:
        """The target on rows of these labels and weights."""
        found = copy(self)
        found.labels, found.weights, found.weight = labels, weights, float(weights.sum())
        return found

    def loss(self, scores: Floats) -> float:
        """Mean loss of the rows, by their weights: what stops a training."""
        if scores.ndim == 1:
            losses = -log_expit(np.where(self.labels > 0, scores, -scores))
        else:
            logs = log_softmax(scores, axis=1)
            losses = -np.take_along_axis(logs, self.labels[:, None], axis=1)[:, 0]
        return float(np.average(losses, weights=self.weights))

    def loss_of_proba(self, proba: Floats) -> float:
        """The same of probabilities, for log loss: (n,) of the second of two classes, or (n, k)."""
        if proba.ndim == 1:
            right = np.where(self.labels > 0, proba, 1.0 - proba)
        else:
            right = np.take_along_axis(proba, self.labels[:, None], axis=1)[:, 0]
        return float(-np.average(np.log(np.maximum(right, LEAST_PROBA)), weights=self.weights))

    def derivatives(self, scores: AnyArray) -> Derivatives:
        """Gradient and Hessian of the weighted loss, for targets other than log loss."""
        raise TypeError(f"{type(self).__name__} is trained by the engine's own log loss.")


class ProbabilityTarget(Target):
    """The true class: log loss, so the scores are log-probabilities."""

    name = "probability"
    is_log_loss = True

    def __init__(self, totals: Totals) -> None:
        k = len(totals.weight)
        self.n_scores = 1 if k == 2 else k
        self.masses = totals.weight

    def on(self, costs: Costs, weights: Floats) -> Self:
        """True classes and sample weights."""
        return self.put(costs.codes, weights)


class LossTarget(Target):
    """A loss of the library, costs inside."""

    name = "decision"
    is_log_loss = False

    def __init__(self, loss: Loss, totals: Totals) -> None:
        self.library_loss = loss
        self.unit = totals.mean_worst_cost
        self.masses = totals.weight
        self.n_scores = loss.n_scores(len(totals.decisions))
        self.static = None if totals.matrix is None else Costs(totals.classes, totals.matrix)

    def on(self, costs: Costs, weights: Floats) -> Self:
        """True classes, sample weights and the costs themselves, as the compiled kernels read."""
        found = self.put(costs.codes, weights)
        found.costs = costs.divided(self.unit)
        found.rows = LossRows(self.library_loss, found.costs, weights)
        return found

    def carried(self, labels: AnyArray, weights: AnyArray) -> Self:
        """The costs are those of the matrix of all rows."""
        assert self.static is not None
        return self.on(self.static.known(labels.astype(np.intp)), weights.astype(np.float64))

    def loss(self, scores: Floats) -> float:
        """Mean loss."""
        return float(np.average(self.rows.value(scores), weights=self.weights))

    def derivatives(self, scores: AnyArray) -> Derivatives:
        """Gradient and Hessian by the compiled kernels."""
        return self.rows.derivatives(scores)

    costs: Costs
    rows: LossRows


class PriceTarget(Target):
    r"""One entry (truth, decision) of the costs of single rows, in units of its mean.

    Poisson loss of prices, :math:`e^F - z F`, whose minimiser is the log of their mean.
    """

    is_log_loss = False
    n_scores = 1

    def __init__(self, truth: int, decision: int, totals: Totals) -> None:
        self.name = f"price {truth}/{decision}"
        self.truth, self.decision = truth, decision
        self.masses = totals.weight
        spans = totals.cost_low, totals.mean_entries, totals.cost_high
        low, mean, high = (float(span[truth, decision]) for span in spans)
        # Prices are not negative: profits get the other sign, and entries of both signs are counted
        # from the smallest one.
        self.least = 0.0 if low >= 0 or high <= 0 else low
        self.unit = mean - self.least
        # What the entries of the cost matrix that follow from it are worth in its units.
        self.slopes = np.zeros_like(totals.cost_low)
        self.slopes[truth, decision] = self.unit

    def on(self, costs: Costs, weights: Floats) -> Self:
        """Prices, of the rows of the class if there are no others."""
        if costs.matrix is None:
            prices, weights = costs.prices[:, self.decision], weights * (costs.codes == self.truth)
        else:
            prices = costs.matrix[:, self.truth, self.decision]
        return self.put(np.maximum((prices - self.least) / self.unit, 0.0), weights)

    def carried(self, labels: AnyArray, weights: AnyArray) -> Self:
        """The labels are prices."""
        return self.put(labels.astype(np.float64), weights.astype(np.float64))

    def loss(self, scores: Floats) -> float:
        """Mean loss."""
        return float(np.average(np.exp(scores) - self.labels * scores, weights=self.weights))

    def derivatives(self, scores: AnyArray) -> Derivatives:
        """Gradient ``w (e^F - z)``, and for Hessian its bound ``w max(e^F, z)``."""
        # With it the step of a leaf is at most 1, however much its prices differ from their guess;
        # Newton's own would be 99 for a price of 100 times the mean.
        means = np.exp(np.asarray(scores, dtype=np.float64))
        gradient = self.weights * (means - self.labels)
        hessian = self.weights * np.maximum(means, self.labels)
        return gradient.astype(np.float32), np.maximum(hessian, 1e-16).astype(np.float32)

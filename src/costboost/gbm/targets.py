"""What boosters are trained for: the labels and weights of rows, and the loss of their scores.

A target without rows says what to learn. `Target.on` puts it on rows of known costs, in memory, in
a batch of a file or on a worker, so all fits share one rule.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from copy import copy
from typing import Any, Self

import numpy as np
from scipy.special import log_expit, log_softmax, softmax

from costboost._typing import AnyArray, Floats, Ints
from costboost.costs import Costs
from costboost.gbm.objectives import Derivatives, LossRows
from costboost.gbm.rows import Totals, gains
from costboost.losses import Loss

# Rows whose gradients are computed at once, in double precision.
_GRADIENT_ROWS = 2**16
# Prices of errors that differ by less than this share of their mean are the same.
_SAME_PRICE = 1e-9


class Target(ABC):
    """What to train for, and once it is put on rows, their labels, weights and loss."""

    name: str
    n_scores: int
    # Whether the engine's own log loss of labels and weights will do.
    is_log_loss: bool
    # Weight of each label, by which XGBoost's smallest leaf is found.
    masses: Floats
    # Whether the labels are gains, one per score.
    learns_gains: bool = False

    labels: Ints
    weights: AnyArray
    weight: float  # of all rows; 0 if there is nothing to learn from them
    values: Any = None  # what the loss needs beside them: gains, prices or costs of the rows

    @abstractmethod
    def on(self, costs: Costs, weights: Floats) -> Self:
        """The target on rows of these costs."""

    def carried(self, labels: AnyArray, weights: AnyArray) -> Self:
        """The target on the label and weight fields of an engine's matrix."""
        return self.put(labels.astype(np.intp), weights.astype(np.float64))

    def put(self, labels: Ints, weights: AnyArray, values: Any = None) -> Self:
        """The target on rows of these labels, weights and values."""
        found = copy(self)
        found.labels, found.weights, found.values = labels, weights, values
        teaches = not isinstance(values, np.ndarray) or values.any()
        found.weight = float(weights.sum()) if teaches else 0.0
        return found

    def take(self, rows: Any) -> Self:
        """The target on some of its rows."""
        values = None if self.values is None else self.values[rows]
        return self.put(self.labels[rows], self.weights[rows], values)

    def loss(self, scores: Floats) -> float:
        """Mean loss of the rows, by their weights: what stops a training."""
        return log_loss(scores, self.labels, self.weights)

    def derivatives(self, scores: AnyArray) -> Derivatives:
        """Gradient and Hessian of the weighted loss, for targets other than log loss."""
        raise TypeError(f"{type(self).__name__} is trained by the engine's own log loss.")


def log_loss(scores: Floats, labels: Ints, weights: AnyArray) -> float:
    """Mean log loss of raw scores."""
    if scores.ndim == 1:
        losses = -log_expit(np.where(labels > 0, scores, -scores))
    else:
        logs = log_softmax(scores, axis=1)
        losses = -np.take_along_axis(logs, labels[:, None], axis=1)[:, 0]
    return float(np.average(losses, weights=weights))


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


class DecisionTarget(Target):
    """The cheapest decision, when the costs of a row are not known at decision time."""

    # The gain of decision d on row i is :math:`v_{id} = \max_e C_{ie} - C_{id}`, and the loss is
    # the cross entropy of the gains,
    #
    # .. math:: L = -\sum_i w_i \sum_d v_{id} \log q_d(x_i), \qquad q = \mathrm{softmax}(F).
    #
    # Its minimiser is :math:`q_d(x) \propto E[v_d \mid x]`, so the largest score belongs to the
    # decision of smallest expected cost given x. For two decisions it is log loss of the effective
    # label with the price of an error as weight; for more it is data space expansion (DSE, Lozano
    # and Abe 2008) in boosted form.

    name = "decision"

    def __init__(self, totals: Totals) -> None:
        d = len(totals.label_gain)
        self.is_log_loss = d == 2
        self.learns_gains = d > 2
        self.n_scores = 1 if d == 2 else d
        # The sum of the gains of a row's decisions, on average.
        self.unit = float(totals.label_gain.sum() / totals.weight.sum())
        # With two decisions gains are weights of the labels, with more they are the labels.
        self.masses = totals.label_gain if d == 2 else totals.label_weight

    def on(self, costs: Costs, weights: Floats) -> Self:
        """Cheapest decisions weighted by their gain, or the gains of all decisions."""
        gain = gains(costs) / self.unit
        if self.is_log_loss:
            return self.put(costs.labels, weights * gain.sum(axis=1))
        return self.put(costs.labels, weights, gain)

    def carried(self, labels: AnyArray, weights: AnyArray) -> Self:
        """Labels of two dimensions are gains."""
        if self.is_log_loss:
            return super().carried(labels, weights)
        return self.put(labels.argmax(axis=1), weights.astype(np.float64), labels)

    def loss(self, scores: Floats) -> float:
        """Mean cross entropy of the gains."""
        if self.values is None:
            return super().loss(scores)
        losses = -(self.values * log_softmax(scores, axis=1)).sum(axis=1)
        return float(np.average(losses, weights=self.weights))

    def derivatives(self, scores: AnyArray) -> Derivatives:
        """Gradient ``w (V q_d - v_d)`` and Hessian ``w V q_d (1 - q_d)``, V the sum of v."""
        gradient = np.empty(self.values.shape, dtype=np.float32)
        hessian = np.empty(self.values.shape, dtype=np.float32)
        for start in range(0, len(gradient), _GRADIENT_ROWS):
            some = slice(start, start + _GRADIENT_ROWS)
            q = softmax(np.asarray(scores[some], dtype=np.float64), axis=1)
            v = np.asarray(self.values[some], dtype=np.float64)
            w, total = self.weights[some, None], v.sum(axis=1, keepdims=True)
            gradient[some] = w * (total * q - v)
            hessian[some] = np.maximum(w * total * q * (1.0 - q), 1e-16)
        return gradient, hessian


class LossTarget(Target):
    """A loss of the library, costs inside."""

    name = "decision"
    is_log_loss = False

    def __init__(self, loss: Loss, totals: Totals) -> None:
        self.library_loss = loss
        self.unit = totals.mean_worst_cost
        self.masses = totals.weight
        self.n_scores = loss.n_scores(len(totals.label_weight))
        self.static = None if totals.matrix is None else Costs(totals.classes, totals.matrix)

    def on(self, costs: Costs, weights: Floats) -> Self:
        """True classes, sample weights and the costs themselves."""
        return self.put(costs.codes, weights, costs.divided(self.unit))

    def put(self, labels: Ints, weights: AnyArray, values: Any = None) -> Self:
        """As the compiled kernels read them."""
        found = super().put(labels, weights, values)
        found.rows = LossRows(self.library_loss, values, weights)
        return found

    def take(self, rows: Any) -> Self:
        """The target on some of its rows."""
        return self.put(self.labels[rows], self.weights[rows], self.values.take(rows))

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

    rows: LossRows


class PriceTarget(Target):
    r"""What an error costs on a row if its class were this one, whatever it is.

    Poisson loss of prices, :math:`e^F - s F`, whose minimiser is the log of their mean.
    """

    is_log_loss = False
    n_scores = 1

    def __init__(self, truth: int, cheaper: int, costs: Costs, weights: Floats) -> None:
        self.name = f"price of class {truth}"
        self.truth = truth
        self.cheaper = cheaper
        self.masses = np.asarray(np.bincount(costs.codes, weights, minlength=2), dtype=np.float64)
        prices = self.prices(costs)
        self.unit = float(np.average(prices, weights=weights))
        # Prices that are all the same need no boosters.
        self.varies = bool(np.ptp(prices) > _SAME_PRICE * self.unit)
        # With the second decision a class saves or loses.
        self.sign = 1.0 if cheaper else -1.0

    def prices(self, costs: Costs) -> Floats:
        """What the other decision costs beyond the cheaper one; at least 0."""
        matrix = costs.matrix[:, self.truth]
        return np.asarray(np.maximum(matrix[:, 1 - self.cheaper] - matrix[:, self.cheaper], 0.0))

    def on(self, costs: Costs, weights: Floats) -> Self:
        """Prices of errors."""
        return self.put(costs.codes, weights, self.prices(costs) / self.unit)

    def loss(self, scores: Floats) -> float:
        """Mean loss."""
        return float(np.average(np.exp(scores) - self.values * scores, weights=self.weights))

    def derivatives(self, scores: AnyArray) -> Derivatives:
        """Gradient ``w (e^F - s)``, and for Hessian its bound ``w max(e^F, s)``."""
        # With it the step of a leaf is at most 1, however much its prices differ from their guess;
        # Newton's own would be 99 for a price of 100 times the mean.
        means = np.exp(np.asarray(scores, dtype=np.float64))
        gradient = self.weights * (means - self.values)
        hessian = self.weights * np.maximum(means, self.values)
        return gradient.astype(np.float32), np.maximum(hessian, 1e-16).astype(np.float32)

"""What boosters are trained for: labels, weights, gradients, and the loss that stops them."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import Any

import numpy as np
from scipy.special import log_expit, log_softmax, softmax

from costboost._typing import AnyArray, Floats, Ints
from costboost.costs import Costs
from costboost.gbm.objectives import Derivatives, loss_rows
from costboost.losses import Loss

__all__ = ["LossTarget", "Part", "PriceTarget", "ProbabilityTarget", "Target", "worths"]


class Part(ABC):
    """A target on some of the rows."""

    @abstractmethod
    def loss(self, scores: Floats) -> float:
        """Mean loss of the rows, by their weights: the smoothed bill that stops a training."""

    def derivatives(self, scores: AnyArray) -> Derivatives:
        """Gradient and Hessian of the weighted loss, for targets that are no log loss."""
        raise TypeError(f"{type(self).__name__} is trained by the engine's own log loss.")


class Target(ABC):
    """What to train for on the rows of a table.

    Attributes
    ----------
    labels : int array of shape (n,)
        Class codes for the engine.
    weights : array of shape (n,)
        Weights of the rows.
    n_scores : int
        1, or k scores for k classes.
    is_log_loss : bool
        Whether the engine's own log loss of labels and weights is meant; if not, the derivatives
        of a `part` are.
    """

    labels: Ints
    weights: Floats
    n_scores: int
    is_log_loss: bool

    @abstractmethod
    def part(self, rows: Any) -> Part:
        """The target on some rows (indices or a slice)."""


class LogLossPart(Part):
    """Log loss of labels and weights."""

    def __init__(self, labels: Ints, weights: Floats) -> None:
        self.labels = labels
        self.weights = weights

    def loss(self, scores: Floats) -> float:
        """Mean log loss."""
        if scores.ndim == 1:
            losses = -log_expit(np.where(self.labels > 0, scores, -scores))
        else:
            logs = log_softmax(scores, axis=1)
            losses = -np.take_along_axis(logs, self.labels[:, None], axis=1)[:, 0]
        return _mean(losses, self.weights)


class ProbabilityTarget(Target):
    """The true class: log loss, so the scores are log-probabilities.

    Parameters
    ----------
    costs : Costs
        The rows' costs and true classes.
    weights : array of shape (n,)
        Sample weights.
    """

    is_log_loss = True

    def __init__(self, costs: Costs, weights: Floats) -> None:
        assert costs.codes is not None
        k = len(costs.classes)
        self.labels = costs.codes
        self.weights = weights
        self.n_scores = 1 if k == 2 else k

    def part(self, rows: Any) -> LogLossPart:
        """Log loss of some rows."""
        return LogLossPart(self.labels[rows], self.weights[rows])


class PriceTarget(Target):
    r"""The cheapest decision, when the costs of a row are not known at decision time.

    Decision d of row i is worth :math:`v_{id} = \max_e C_{ie} - C_{id}`, and the loss is the cross
    entropy of these worths,

    .. math:: L = -\sum_i w_i \sum_d v_{id} \log q_d(x_i), \qquad q = \mathrm{softmax}(F).

    Its minimiser is :math:`q_d(x) \propto E[v_d \mid x]`, so the largest score belongs to the
    decision of smallest expected cost given x. For two classes it is log loss of the effective
    label with the price of an error as weight; for more it is data space expansion (DSE, Lozano
    and Abe 2008) in boosted form.

    Parameters
    ----------
    costs : Costs
        The rows' costs and true classes.
    weights : array of shape (n,)
        Sample weights.
    """

    def __init__(self, costs: Costs, weights: Floats) -> None:
        k = len(costs.classes)
        worth = worths(costs)
        # In units of their mean, so that the engine's regularisation keeps its meaning.
        self.worth = worth / _mean(worth.sum(axis=1), weights)
        self.labels = costs.labels
        self.n_scores = 1 if k == 2 else k
        self.is_log_loss = k == 2
        self.weights = weights * self.worth.sum(axis=1) if k == 2 else weights

    def part(self, rows: Any) -> Part:
        """Cross entropy of some rows."""
        if self.is_log_loss:
            return LogLossPart(self.labels[rows], self.weights[rows])
        return WorthPart(self.worth[rows], self.weights[rows])


def worths(costs: Costs) -> Floats:
    """What each decision saves against the dearest one on its row, (n, k)."""
    return np.asarray(costs.reduced.max(axis=1, keepdims=True) - costs.reduced)


class WorthPart(Part):
    """Cross entropy of the worths of decisions."""

    def __init__(self, worth: Floats, weights: Floats) -> None:
        self.worth = worth
        self.total = worth.sum(axis=1, keepdims=True)
        self.weights = weights

    def loss(self, scores: Floats) -> float:
        """Mean cross entropy."""
        return _mean(-(self.worth * log_softmax(scores, axis=1)).sum(axis=1), self.weights)

    def derivatives(self, scores: AnyArray) -> Derivatives:
        """Gradient ``w (V q_d - v_d)`` and Hessian ``w V q_d (1 - q_d)``, V the sum of v."""
        q = softmax(np.asarray(scores, dtype=np.float64), axis=1)
        w = self.weights[:, None]
        gradient = w * (self.total * q - self.worth)
        hessian = np.maximum(w * self.total * q * (1.0 - q), 1e-16)
        return gradient.astype(np.float32), hessian.astype(np.float32)


class LossTarget(Target):
    """A loss of the library, costs inside.

    Parameters
    ----------
    loss : BinaryLoss or MulticlassLoss
        The loss.
    costs : Costs
        The rows' costs and true classes, in units in which the regularisation keeps its meaning.
    weights : array of shape (n,)
        Sample weights.
    """

    is_log_loss = False

    def __init__(self, loss: Loss, costs: Costs, weights: Floats) -> None:
        assert costs.codes is not None
        self.kind = loss
        self.costs = costs
        self.labels = costs.codes
        self.weights = weights
        self.n_scores = loss.n_scores(len(costs.classes))

    def part(self, rows: Any) -> LossPart:
        """The loss of some rows."""
        return LossPart(self.kind, self.costs.take(rows), self.weights[rows])


class LossPart(Part):
    """A loss of the library on some rows."""

    def __init__(self, loss: Loss, costs: Costs, weights: Floats) -> None:
        self.rows = loss_rows(loss, costs, weights)
        self.weights = weights

    def loss(self, scores: Floats) -> float:
        """Mean loss."""
        return _mean(self.rows.value(scores), self.weights)

    def derivatives(self, scores: AnyArray) -> Derivatives:
        """Gradient and Hessian by the compiled kernels."""
        return self.rows.derivatives(scores)


def _mean(values: Floats, weights: Floats) -> float:
    return float(np.average(values, weights=weights))

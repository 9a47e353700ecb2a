"""What boosters are trained for: the columns an engine trains on, and the loss of scores.

A target knows no rows. `Target.columns` turns the costs and weights of any block into labels,
weights and gains, so tables in memory, Parquet files and Dask partitions share one rule.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import log_expit, log_softmax, softmax

from costboost._typing import AnyArray, Floats, Ints
from costboost.costs import Costs, KnownCosts
from costboost.gbm.objectives import Derivatives, loss_rows
from costboost.gbm.totals import Totals, gains
from costboost.losses import Loss

__all__ = ["Columns", "LossTarget", "Part", "PriceTarget", "ProbabilityTarget", "Target"]

# Rows whose gradients are computed at once, in double precision.
_GRADIENT_ROWS = 2**16


@dataclass(frozen=True, eq=False)
class Columns:
    """What an engine trains on, beside the features."""

    labels: Ints
    weights: AnyArray
    gains: AnyArray | None = None
    costs: KnownCosts | None = None

    def take(self, rows: Any) -> Columns:
        """The columns of some rows."""
        return Columns(
            self.labels[rows],
            self.weights[rows],
            None if self.gains is None else self.gains[rows],
            None if self.costs is None else self.costs.take(rows),
        )


class Part(ABC):
    """A target on some rows."""

    weight: float

    @abstractmethod
    def loss(self, scores: Floats) -> float:
        """Mean loss of the rows, by their weights: what stops a training."""

    def derivatives(self, scores: AnyArray) -> Derivatives:
        """Gradient and Hessian of the weighted loss, for targets other than log loss."""
        raise TypeError(f"{type(self).__name__} is trained by the engine's own log loss.")


class Target(ABC):
    """What to train for."""

    name: str
    n_scores: int
    is_log_loss: bool
    masses: Floats
    learns_gains: bool = False

    @abstractmethod
    def columns(self, costs: KnownCosts, weights: Floats) -> Columns:
        """The columns of a block, row by row."""

    @abstractmethod
    def part(self, columns: Columns) -> Part:
        """Loss and derivatives of the rows that have these columns."""

    def carried(self, labels: AnyArray, weights: AnyArray) -> Columns:
        """Columns from the label and weight fields of an engine's matrix."""
        return Columns(labels.astype(np.intp), weights.astype(np.float64))


class LogLossPart(Part):
    """Log loss of labels and weights."""

    def __init__(self, labels: Ints, weights: AnyArray) -> None:
        self.labels = labels
        self.weights = weights
        self.weight = float(weights.sum())

    def loss(self, scores: Floats) -> float:
        """Mean log loss."""
        if scores.ndim == 1:
            losses = -log_expit(np.where(self.labels > 0, scores, -scores))
        else:
            logs = log_softmax(scores, axis=1)
            losses = -np.take_along_axis(logs, self.labels[:, None], axis=1)[:, 0]
        return _mean(losses, self.weights)


class ProbabilityTarget(Target):
    """The true class: log loss, so the scores are log-probabilities."""

    name = "probability"
    is_log_loss = True

    def __init__(self, totals: Totals) -> None:
        k = len(totals.weight)
        self.n_scores = 1 if k == 2 else k
        self.masses = totals.weight

    def columns(self, costs: KnownCosts, weights: Floats) -> Columns:
        """True classes and sample weights."""
        return Columns(costs.codes, weights)

    def part(self, columns: Columns) -> Part:
        """Log loss of the true classes."""
        return LogLossPart(columns.labels, columns.weights)


class PriceTarget(Target):
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
        self.unit = totals.mean_gain
        # With two decisions gains are weights of the labels, with more they are the labels.
        self.masses = totals.label_gain if d == 2 else totals.label_weight

    def columns(self, costs: KnownCosts, weights: Floats) -> Columns:
        """Cheapest decisions weighted by their gain, or the gains of all decisions."""
        gain = gains(costs) / self.unit
        if self.is_log_loss:
            return Columns(costs.labels, weights * gain.sum(axis=1))
        return Columns(costs.labels, weights, gain)

    def part(self, columns: Columns) -> Part:
        """Cross entropy of the gains."""
        if columns.gains is None:
            return LogLossPart(columns.labels, columns.weights)
        return GainPart(columns.gains, columns.weights)

    def carried(self, labels: AnyArray, weights: AnyArray) -> Columns:
        """Labels of two dimensions are gains."""
        if self.is_log_loss:
            return super().carried(labels, weights)
        return Columns(labels.argmax(axis=1), weights.astype(np.float64), labels)


class GainPart(Part):
    """Cross entropy of the gains of decisions."""

    def __init__(self, gain: AnyArray, weights: AnyArray) -> None:
        self.gain = gain
        self.weights = weights
        self.weight = float(weights.sum()) if gain.any() else 0.0

    def loss(self, scores: Floats) -> float:
        """Mean cross entropy."""
        return _mean(-(self.gain * log_softmax(scores, axis=1)).sum(axis=1), self.weights)

    def derivatives(self, scores: AnyArray) -> Derivatives:
        """Gradient ``w (V q_d - v_d)`` and Hessian ``w V q_d (1 - q_d)``, V the sum of v."""
        gradient = np.empty(self.gain.shape, dtype=np.float32)
        hessian = np.empty(self.gain.shape, dtype=np.float32)
        for start in range(0, len(gradient), _GRADIENT_ROWS):
            some = slice(start, start + _GRADIENT_ROWS)
            q = softmax(np.asarray(scores[some], dtype=np.float64), axis=1)
            v = np.asarray(self.gain[some], dtype=np.float64)
            w, total = self.weights[some, None], v.sum(axis=1, keepdims=True)
            gradient[some] = w * (total * q - v)
            hessian[some] = np.maximum(w * total * q * (1.0 - q), 1e-16)
        return gradient, hessian


class LossTarget(Target):
    """A loss of the library, costs inside."""

    name = "decision"
    is_log_loss = False

    def __init__(self, loss: Loss, totals: Totals, classes: AnyArray) -> None:
        self.loss = loss
        self.unit = totals.mean_stakes
        self.masses = totals.weight
        self.n_scores = loss.n_scores(len(totals.label_weight))
        self.static = None if totals.matrix is None else Costs(classes, totals.matrix)

    def columns(self, costs: KnownCosts, weights: Floats) -> Columns:
        """True classes, sample weights and the costs themselves."""
        return Columns(costs.codes, weights, costs=costs.divided(self.unit))

    def part(self, columns: Columns) -> LossPart:
        """The loss of the rows."""
        assert columns.costs is not None
        return LossPart(self.loss, columns.costs, columns.weights)

    def carried(self, labels: AnyArray, weights: AnyArray) -> Columns:
        """The costs are those of the matrix of all rows."""
        assert self.static is not None
        codes = labels.astype(np.intp)
        return self.columns(self.static.known(codes), weights.astype(np.float64))


class LossPart(Part):
    """A loss of the library on some rows."""

    def __init__(self, loss: Loss, costs: KnownCosts, weights: Floats) -> None:
        self.rows = loss_rows(loss, costs, weights)
        self.weights = weights
        self.weight = float(weights.sum())

    def loss(self, scores: Floats) -> float:
        """Mean loss."""
        return _mean(self.rows.value(scores), self.weights)

    def derivatives(self, scores: AnyArray) -> Derivatives:
        """Gradient and Hessian by the compiled kernels."""
        return self.rows.derivatives(scores)


def _mean(values: Floats, weights: AnyArray) -> float:
    return float(np.average(values, weights=weights))

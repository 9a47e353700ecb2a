"""What models learn: probabilities of the classes, a loss with the costs inside, or expected costs.

An objective holds no rows. `TrainingObjective.target` reads what it needs of rows in memory, in a
batch of a file or on a worker, so all fits share one rule; losses and derivatives are functions of
scores and of that target.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from scipy.special import log_expit, log_softmax

from costboost._typing import AnyArray, Floats
from costboost.costs import Costs, RealizedCosts
from costboost.gbm.custom import Derivatives, LossRows
from costboost.gbm.data import Totals
from costboost.gbm.models import DecisionModel, ModelEnsemble, ProbabilityModel
from costboost.losses import Loss, named_loss

# Probabilities are no smaller, so that their logarithms are finite.
LEAST_PROBA = 1e-15
# Hessians are no smaller, so that steps are finite.
LEAST_HESSIAN = 1e-16

# Scores are (n,) if there is one per row, else (n, n_scores).


def to_scores(proba: AnyArray) -> Floats:
    """Return probabilities as scores: log-odds of (n,), logarithms of (n, k)."""
    p = np.clip(np.asarray(proba, dtype=np.float64), LEAST_PROBA, 1.0 - LEAST_PROBA)
    if p.ndim == 1:
        return np.log(p) - np.log1p(-p)
    return np.log(p)


@dataclass(frozen=True, eq=False)
class Target:
    """What an objective reads of rows."""

    y: AnyArray  # classes as indices, or the costs that are to be learned
    weight: AnyArray
    loss_rows: LossRows | None = None  # of a loss with the costs inside

    @property
    def total_weight(self) -> float:
        """The weight of all rows; 0 if there is nothing to learn from them."""
        return float(self.weight.sum())


class TrainingObjective(ABC):
    """A loss that models are trained for; what it needs to know of all rows are sums."""

    # What the set of models is called in `evals_result_` and for callbacks.
    name: str
    n_scores: int
    # The weight of each class, by which XGBoost's smallest leaf is found.
    class_weight: Floats
    # Whether the engines have the loss themselves; if not, they are given its derivatives.
    is_log_loss: ClassVar[bool] = False

    @abstractmethod
    def target(self, costs: RealizedCosts, weight: Floats) -> Target:
        """Return what is learned of rows with these costs and weights."""

    def target_of_labels(self, y: AnyArray, weight: AnyArray) -> Target:
        """Return the target of the labels and weights that an engine carries."""
        return Target(y.astype(np.float64), weight.astype(np.float64))

    @abstractmethod
    def row_losses(self, scores: Floats, target: Target) -> Floats:
        """Return the loss of each row, without its weight."""

    def loss(self, scores: Floats, target: Target) -> float:
        """Return the mean loss of the rows, by their weights: what stops a training."""
        return float(np.average(self.row_losses(scores, target), weights=target.weight))

    @abstractmethod
    def derivatives(self, scores: AnyArray, target: Target) -> Derivatives:
        """Return gradient and Hessian of the weighted loss."""


class LogLoss(TrainingObjective):
    """Log loss of the classes: scores are log-odds, or logarithms of probabilities."""

    name = "probability"
    is_log_loss = True

    def __init__(self, class_weight: Floats) -> None:
        self.class_weight = class_weight
        n_classes = len(class_weight)
        self.n_scores = 1 if n_classes == 2 else n_classes

    def target(self, costs: RealizedCosts, weight: Floats) -> Target:
        """Return the classes and weights of rows."""
        return Target(costs.y_index, weight)

    def target_of_labels(self, y: AnyArray, weight: AnyArray) -> Target:
        """Return the target of the labels and weights that an engine carries."""
        return Target(y.astype(np.intp), weight.astype(np.float64))

    def row_losses(self, scores: Floats, target: Target) -> Floats:
        """Return the log loss of each row."""
        if scores.ndim == 1:
            return -log_expit(np.where(target.y > 0, scores, -scores))
        logs = log_softmax(scores, axis=1)
        return -np.take_along_axis(logs, target.y[:, None], axis=1)[:, 0]

    def row_losses_of_proba(self, proba: Floats, target: Target) -> Floats:
        """Return the same of probabilities: (n,) of the second of two classes, or (n, k)."""
        if proba.ndim == 1:
            right = np.where(target.y > 0, proba, 1.0 - proba)
        else:
            right = np.take_along_axis(proba, target.y[:, None], axis=1)[:, 0]
        return -np.log(np.maximum(right, LEAST_PROBA))

    def derivatives(self, scores: AnyArray, target: Target) -> Derivatives:
        """Raise an error: engines have log loss themselves."""
        raise NotImplementedError

    def make_model(self, ensemble: ModelEnsemble) -> ProbabilityModel:
        """Return a model that turns the scores of an ensemble into probabilities."""
        return ProbabilityModel(ensemble)


class CostLoss(TrainingObjective):
    """A loss of the library with the costs inside: its scores decide."""

    name = "decision"

    def __init__(self, loss: Loss, costs: Costs, class_weight: Floats, unit: float) -> None:
        self.library_loss = loss
        self.mean_costs = costs
        self.class_weight = class_weight
        # What the worst decision costs on average.
        self.unit = unit
        self.n_scores = loss.n_scores(len(costs.decisions))

    def target(self, costs: RealizedCosts, weight: Floats) -> Target:
        """Return classes, weights and the costs, as the compiled kernels read them."""
        loss_rows = LossRows(self.library_loss, costs.divided(self.unit), weight)
        return Target(costs.y_index, weight, loss_rows)

    def target_of_labels(self, y: AnyArray, weight: AnyArray) -> Target:
        """Return the target of labels that an engine carries: one matrix is that of all rows."""
        costs = self.mean_costs.realized(y.astype(np.intp))
        return self.target(costs, weight.astype(np.float64))

    def row_losses(self, scores: Floats, target: Target) -> Floats:
        """Return the loss of each row."""
        return target.loss_rows.value(scores)

    def derivatives(self, scores: AnyArray, target: Target) -> Derivatives:
        """Return gradient and Hessian by the compiled kernels."""
        return target.loss_rows.derivatives(scores)

    def make_model(self, ensemble: ModelEnsemble) -> DecisionModel:
        """Return a model that decides by the scores of an ensemble."""
        matrix = self.mean_costs.matrix / self.unit
        return DecisionModel(ensemble, loss=self.library_loss, matrix=matrix)


class ExpectedCost(TrainingObjective):
    r"""One entry (class, decision) of the costs of rows, in units of its mean.

    Poisson loss of costs, :math:`e^F - z F`, whose minimiser is the log of their mean.
    """

    n_scores = 1

    def __init__(self, class_index: int, decision: int, totals: Totals) -> None:
        self.class_index = class_index
        self.decision = decision
        self.name = f"price {class_index}/{decision}"
        self.class_weight = totals.weight
        low = float(totals.cost_low[class_index, decision])
        mean = float(totals.mean_entries[class_index, decision])
        high = float(totals.cost_high[class_index, decision])
        # The Poisson loss needs costs that are not negative: profits get the other sign, and
        # entries of both signs are counted from the smallest one.
        self.least = 0.0
        if low < 0 < high:
            self.least = low
        self.unit = mean - self.least

    def target(self, costs: RealizedCosts, weight: Floats) -> Target:
        """Return costs in units of their mean; of the rows of the class if others have none."""
        if costs.matrix is None:
            values = costs.prices[:, self.decision]
            weight = weight * (costs.y_index == self.class_index)
        else:
            values = costs.matrix[:, self.class_index, self.decision]
        return Target(np.maximum((values - self.least) / self.unit, 0.0), weight)

    def row_losses(self, scores: Floats, target: Target) -> Floats:
        """Return the Poisson loss of each row."""
        return np.exp(scores) - target.y * scores

    def derivatives(self, scores: AnyArray, target: Target) -> Derivatives:
        """Return the gradient ``w (e^F - z)``, and for Hessian its bound ``w max(e^F, z)``."""
        # With it the step of a leaf is at most 1, however much its costs differ from their guess;
        # Newton's own would be 99 for a cost of 100 times the mean.
        means = np.exp(np.asarray(scores, dtype=np.float64))
        gradient = target.weight * (means - target.y)
        hessian = target.weight * np.maximum(means, target.y)
        return gradient.astype(np.float32), np.maximum(hessian, LEAST_HESSIAN).astype(np.float32)


def make_objective(loss: str | Loss, totals: Totals, owner: str) -> LogLoss | CostLoss:
    """Return what to train for: the probabilities of the classes, or decisions by a loss."""
    if not totals.worst_cost > 0:
        raise ValueError(
            f"Every decision costs {owner} the same, so there is nothing to learn. Give "
            "cost_matrix or costs at least one entry that tells decisions apart."
        )
    if isinstance(loss, str) and loss == "auto":
        return LogLoss(totals.weight)
    library_loss = named_loss(loss, owner)
    if library_loss.is_binary and len(totals.classes) > 2:
        raise ValueError(
            f"The 'loss' parameter of {owner}, {loss!r}, is for two classes, and there "
            f"are {len(totals.classes)}. Use 'auto' or a multi-class loss, such as 'gll'."
        )
    costs = Costs(totals.mean_costs, totals.classes, totals.decisions)
    if library_loss.has_probabilities:
        library_loss.check_costs(costs.matrix, owner)
    unit = float(totals.worst_cost / totals.weight.sum())
    return CostLoss(library_loss, costs, totals.weight, unit)

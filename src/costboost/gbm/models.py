"""What boosters are trained for, trained models, and heads: the models of a target together.

A target without rows says what to learn. `Target.on` puts it on rows of known costs, in memory, in
a batch of a file or on a worker, so all fits share one rule.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, Self, TypeAlias

import lightgbm as lgb
import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import log_expit, log_softmax

from costboost._threads import n_threads
from costboost._typing import AnyArray, Floats, Ints
from costboost.costs import Costs
from costboost.costs.table import cheapest, expected_costs, to_proba
from costboost.gbm.network import NetworkModel
from costboost.gbm.objectives import Derivatives, LossRows, decide, probability
from costboost.gbm.rows import Totals
from costboost.losses import Loss
from costboost.trees import Trees

# Probabilities are no smaller, so that their logarithms are finite.
LEAST_PROBA = 1e-15
# The factor that calibrates held-out scores: its range, and the standard deviation of the normal
# prior of its logarithm.
_FACTOR_BOUNDS = 0.5, 2.0
_FACTOR_SPREAD = 0.05


# Scores are (n,) if there is one per row, else (n, n_scores).


def to_scores(proba: AnyArray) -> Floats:
    """Probabilities as scores: log-odds of (n,), logarithms of (n, k)."""
    p = np.clip(np.asarray(proba, dtype=np.float64), LEAST_PROBA, 1.0 - LEAST_PROBA)
    logs: Floats = np.log(p)
    return logs - np.log1p(-p) if p.ndim == 1 else logs


# --- what boosters are trained for ----------------------------------------------------------------


class Target:
    """What to train for, and once it is put on rows, their labels, weights and loss."""

    # This one is the true class: log loss, so the scores are log-probabilities.
    name = "probability"
    # Whether the engine's own log loss of labels and weights will do; if not, the engine is given
    # gradient and Hessian of the weighted loss.
    is_log_loss = True
    derivatives: Callable[[AnyArray], Derivatives]

    labels: AnyArray  # classes, or the prices that are to be learned
    weights: AnyArray
    weight: float  # of all rows; 0 if there is nothing to learn from them

    def __init__(self, totals: Totals) -> None:
        # Weight of each label, by which XGBoost's smallest leaf is found.
        self.masses = totals.weight
        k = len(totals.weight)
        self.n_scores = 1 if k == 2 else k

    def on(self, costs: Costs, weights: Floats) -> Self:
        """The target on rows of these costs."""
        return self.put(costs.codes, weights)

    def carried(self, labels: AnyArray, weights: AnyArray) -> Self:
        """The target on the label and weight fields of an engine's matrix."""
        kind = np.intp if self.is_log_loss else np.float64
        return self.put(labels.astype(kind), weights.astype(np.float64))

    def put(self, labels: AnyArray, weights: AnyArray) -> Self:
        """The target on rows of these labels and weights."""
        found = copy(self)
        found.labels, found.weights, found.weight = labels, weights, float(weights.sum())
        return found

    def take(self, rows: Any) -> Self:
        """The target on some of its rows (indices or a slice)."""
        return self.put(self.labels[rows], self.weights[rows])

    def loss(self, scores: Floats) -> float:
        """Mean loss of the rows, by their weights: what stops a training."""
        return float(np.average(self.row_losses(scores), weights=self.weights))

    def row_losses(self, scores: Floats) -> Floats:
        """Loss of each row, without its weight."""
        if scores.ndim == 1:
            return np.asarray(-log_expit(np.where(self.labels > 0, scores, -scores)))
        logs = log_softmax(scores, axis=1)
        return np.asarray(-np.take_along_axis(logs, self.labels[:, None], axis=1)[:, 0])

    def row_losses_of_proba(self, proba: Floats) -> Floats:
        """The same of probabilities, for log loss: (n,) of the second of two classes, or (n, k)."""
        if proba.ndim == 1:
            right = np.where(self.labels > 0, proba, 1.0 - proba)
        else:
            right = np.take_along_axis(proba, self.labels[:, None], axis=1)[:, 0]
        return np.asarray(-np.log(np.maximum(right, LEAST_PROBA)))


class LossTarget(Target):
    """A loss of the library, costs inside."""

    name = "decision"
    is_log_loss = False
    rows: LossRows

    def __init__(self, loss: Loss, totals: Totals) -> None:
        super().__init__(totals)
        self.library_loss = loss
        self.unit = float(totals.worst_cost / totals.weight.sum())
        self.n_scores = loss.n_scores(len(totals.decisions))
        self.totals = totals

    def on(self, costs: Costs, weights: Floats) -> Self:
        """True classes, sample weights and the costs themselves, as the compiled kernels read."""
        found = self.put(costs.codes, weights)
        found.rows = LossRows(self.library_loss, costs.divided(self.unit), weights)
        return found

    def carried(self, labels: AnyArray, weights: AnyArray) -> Self:
        """The costs are those of the matrix of all rows."""
        costs = Costs(self.totals.classes, self.totals.matrix).known(labels.astype(np.intp))
        return self.on(costs, weights.astype(np.float64))

    def row_losses(self, scores: Floats) -> Floats:
        """Loss of each row, without its weight."""
        return self.rows.value(scores)

    def derivatives(self, scores: AnyArray) -> Derivatives:
        """Gradient and Hessian by the compiled kernels."""
        return self.rows.derivatives(scores)


class PriceTarget(Target):
    r"""One entry (truth, decision) of the costs of single rows, in units of its mean.

    Poisson loss of prices, :math:`e^F - z F`, whose minimiser is the log of their mean.
    """

    is_log_loss = False

    def __init__(self, truth: int, decision: int, totals: Totals) -> None:
        super().__init__(totals)
        self.name, self.n_scores = f"price {truth}/{decision}", 1
        self.truth, self.decision = truth, decision
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

    def row_losses(self, scores: Floats) -> Floats:
        """Loss of each row, without its weight."""
        return np.asarray(np.exp(scores) - self.labels * scores)

    def derivatives(self, scores: AnyArray) -> Derivatives:
        """Gradient ``w (e^F - z)``, and for Hessian its bound ``w max(e^F, z)``."""
        # With it the step of a leaf is at most 1, however much its prices differ from their guess;
        # Newton's own would be 99 for a price of 100 times the mean.
        means = np.exp(np.asarray(scores, dtype=np.float64))
        gradient = self.weights * (means - self.labels)
        hessian = self.weights * np.maximum(means, self.labels)
        return gradient.astype(np.float32), np.maximum(hessian, 1e-16).astype(np.float32)


# --- trained models: what an engine leaves behind -------------------------------------------------


@dataclass(frozen=True, eq=False)
class TreeModel:
    """The trees that an engine has grown; the engine itself is not needed any more."""

    trees: Trees
    n_features: int
    engine: str
    # Whether scores are log-odds, or logarithms of probabilities.
    is_log_loss: bool = False
    n_threads: int | None = None

    @staticmethod
    def joined(models: Sequence[TreeModel], weights: Sequence[float]) -> TreeModel:
        """One model with the weighted sum of the scores of others."""
        return replace(models[0], trees=Trees.joined([model.trees for model in models], weights))

    @cached_property
    def booster(self) -> lgb.Booster:
        """A LightGBM booster with the same scores, whichever engine has grown the trees."""
        return self.trees.to_lightgbm(self.n_features, is_log_loss=self.is_log_loss)

    @property
    def n_rounds(self) -> int:
        """Number of rounds kept."""
        return self.trees.n_rounds

    def scores(self, X: AnyArray) -> Floats:
        """Raw scores."""
        return self.trees.scores(X, n_threads(self.n_threads, X.shape[0]))

    def first_rounds(self, n_rounds: int) -> TreeModel:
        """The model with its first rounds alone."""
        if n_rounds >= self.n_rounds:
            return self
        trees = self.trees.picked(np.arange(n_rounds * self.trees.n_scores))
        return replace(self, trees=trees)

    def scores_after(self, X: AnyArray, rounds: Sequence[int]) -> dict[int, Floats]:
        """Raw scores after some numbers of rounds."""
        wanted = {min(n, self.n_rounds) for n in rounds}
        scores: dict[int, Floats] = {}
        for n, stage in enumerate(self.staged_scores(X), start=1):
            if n in wanted:
                scores[n] = stage
            if n == max(wanted):
                break
        return {n: scores[min(n, self.n_rounds)] for n in rounds}

    def shifted(self, shift: float | Floats) -> TreeModel:
        """The model with a number added to each score."""
        return replace(self, trees=self.trees.scaled(1.0, shift))

    def staged_scores(self, X: AnyArray) -> Iterator[Floats]:
        """Raw scores after each round."""
        return self.trees.staged_scores(X, n_threads(self.n_threads, X.shape[0]))

    def contributions(self, X: AnyArray) -> Floats:
        """SHAP values, last the base."""
        return self.trees.contributions(X, n_threads(self.n_threads, X.shape[0]))

    def importances(self, n_features: int) -> Floats:
        """Total gain of each feature."""
        return self.trees.importances(n_features)

    def __getstate__(self) -> dict[str, Any]:
        return {field.name: getattr(self, field.name) for field in fields(self)}


Model: TypeAlias = TreeModel | NetworkModel


# --- heads ----------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Head:
    """Models for one target, whose scores are averaged."""

    # An average of scores is one model: its trees can be put into one booster, and SHAP values add
    # up exactly.

    models: tuple[Model, ...] = ()
    weights: tuple[float, ...] = ()
    temperature: float = 1.0

    @property
    def boosters(self) -> list[Any]:
        """A LightGBM booster of each model's trees; networks are their own."""
        return [model.booster for model in self.models]

    def merged(self) -> Any:
        """All boosters as one, without the temperature, if all models have trees."""
        if len(self.models) == 1:
            return self.models[0].booster
        grown = [model for model in self.models if isinstance(model, TreeModel)]
        if len(grown) < len(self.models):
            raise AttributeError(
                "A network has no trees: the models cannot be merged into one booster. See "
                "boosters_."
            )
        return TreeModel.joined(grown, self.weights).booster

    def average(self, values: Iterable[Floats]) -> Floats:
        """One score, or contribution, from those of the models."""
        total = sum(w * v for w, v in zip(self.weights, values, strict=True))
        return np.asarray(self.temperature * total)

    def scores(self, X: AnyArray) -> Floats:
        """Scores of all models together."""
        return self.average(model.scores(X) for model in self.models)

    def staged_scores(self, X: AnyArray) -> Iterator[Floats]:
        """The scores by round; boosters that have stopped keep their last ones."""
        stages = [model.staged_scores(X) for model in self.models]
        last = [next(stage) for stage in stages]
        for _ in range(max(model.n_rounds for model in self.models)):
            yield self.average(last)
            last = [next(stage, old) for stage, old in zip(stages, last, strict=True)]

    def contributions(self, X: AnyArray) -> Floats:
        """SHAP values of the models, averaged: they sum to the scores."""
        return self.average(model.contributions(X) for model in self.models)

    def importances(self, n_features: int) -> Floats:
        """Share of each feature in what a model gains by its features, averaged over the models."""
        shares = np.zeros(n_features)
        for model, weight in zip(self.models, self.weights, strict=True):
            gains = model.importances(n_features)
            shares += weight * (gains / (gains.sum() or 1.0))
        return np.asarray(shares / (shares.sum() or 1.0))


@dataclass(frozen=True, eq=False)
class ProbabilityHead(Head):
    """Models that know the probabilities of the classes."""

    costs: Costs = field(kw_only=True)

    proba = staticmethod(to_proba)

    def decide(self, scores: Floats, costs: Costs | None = None) -> Ints:
        """The decision of smallest expected cost, by the rows' own matrices if they are known."""
        known = self.costs if costs is None or costs.matrix is None else costs
        return cheapest(expected_costs(to_proba(scores), known.matrix))


@dataclass(frozen=True, eq=False)
class PriceHead(Head):
    """Models of what decisions cost on single rows, by which these differ from the mean costs."""

    # A score is the log of a price in units of its mean. What each entry of the cost matrix is
    # beyond its mean without it, and adds per unit, (k, d); and a factor per truth, (k,), by which
    # held-out rows of that class pay what was expected.
    base: Floats = field(kw_only=True)
    slopes: Floats = field(kw_only=True)
    factors: Floats = field(kw_only=True)

    def beyond(self, scores: Floats) -> Floats:
        """What is expected beyond the mean costs, (n, k, d)."""
        prices = np.exp(scores)[:, None] * self.factors
        return np.asarray(self.base + prices[:, :, None] * self.slopes)


@dataclass(frozen=True, eq=False)
class LossHead(Head):
    """Boosters of a loss of the library, with the costs inside."""

    loss: Loss = field(kw_only=True)
    matrix: Floats = field(kw_only=True)

    def proba(self, scores: Floats) -> Floats:
        """Probabilities by the link of the loss."""
        return probability(scores, self.loss, cost_matrix=self.matrix)

    def decide(self, scores: Floats, costs: Costs | None = None) -> Ints:
        """As the loss decides."""
        return decide(scores, self.loss, cost_matrix=self.matrix)


def best_factor(
    scores: Floats,
    loss: Callable[[Floats], float],
    n: float,
) -> float:
    """The factor of held-out scores that has the smallest loss, drawn towards 1."""
    # One number for all classes (temperature scaling, Guo et al. 2017): it moves no boundary
    # between equally costly classes, and has too little freedom to overfit. Held-out rows without
    # an error would have it grow for ever, and the probability of a rare, costly class vanish; so
    # there are bounds, and a normal prior of its logarithm, which n rows outweigh.
    best = minimize_scalar(
        lambda x: loss(np.exp(x) * scores) + 0.5 * (x / _FACTOR_SPREAD) ** 2 / n,
        bounds=tuple(np.log(_FACTOR_BOUNDS)),
        method="bounded",
        options={"xatol": 1e-3},
    )
    # The search stays within its bounds; an optimum at a bound is found to its tolerance.
    return float(np.exp(best.x)) if np.isfinite(best.fun) else 1.0

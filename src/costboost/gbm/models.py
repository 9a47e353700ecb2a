"""Trained models: trees or networks, ensembles of them, and what their scores say.

A fitted `CostBoostClassifier` holds a `ProbabilityModel` or a `DecisionModel`, and a `CostModel` if
it expects costs from the columns. All are plain dataclasses of arrays, trees and each other.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import TypeAlias

import lightgbm as lgb
import numpy as np

from costboost._threads import n_threads
from costboost._typing import AnyArray, Floats, Ints
from costboost.costs import Costs
from costboost.costs.costs import cheapest, expected_costs, to_proba
from costboost.gbm.custom import decide, probability
from costboost.gbm.network import NetworkModel
from costboost.losses import Loss
from costboost.trees import Trees


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
        """Return one model with the weighted sum of the scores of others."""
        return replace(models[0], trees=Trees.joined([model.trees for model in models], weights))

    @cached_property
    def booster(self) -> lgb.Booster:
        """A LightGBM booster with the same scores, whichever engine has grown the trees."""
        return self.trees.to_lightgbm(self.n_features, is_log_loss=self.is_log_loss)

    @property
    def n_rounds(self) -> int:
        """Number of rounds kept."""
        return self.trees.n_rounds

    def predict(self, X: AnyArray) -> Floats:
        """Return raw scores."""
        return self.trees.scores(X, n_threads(self.n_threads, X.shape[0]))

    def staged_predict(self, X: AnyArray) -> Iterator[Floats]:
        """Yield raw scores after each round."""
        return self.trees.staged_scores(X, n_threads(self.n_threads, X.shape[0]))

    def predict_after(self, X: AnyArray, rounds: Sequence[int]) -> dict[int, Floats]:
        """Return raw scores after some numbers of rounds."""
        wanted = {min(n, self.n_rounds) for n in rounds}
        scores: dict[int, Floats] = {}
        for n, stage in enumerate(self.staged_predict(X), start=1):
            if n in wanted:
                scores[n] = stage
            if n == max(wanted):
                break
        return {n: scores[min(n, self.n_rounds)] for n in rounds}

    def first_rounds(self, n_rounds: int) -> TreeModel:
        """Return the model with its first rounds alone."""
        if n_rounds >= self.n_rounds:
            return self
        trees = self.trees.picked(np.arange(n_rounds * self.trees.n_scores))
        return replace(self, trees=trees)

    def shifted(self, shift: float | Floats) -> TreeModel:
        """Return the model with a number added to each score."""
        return replace(self, trees=self.trees.scaled(1.0, shift))

    def contributions(self, X: AnyArray) -> Floats:
        """Return SHAP values, last the base."""
        return self.trees.contributions(X, n_threads(self.n_threads, X.shape[0]))

    def importances(self, n_features: int) -> Floats:
        """Return the total gain of each feature."""
        return self.trees.importances(n_features)

    def __getstate__(self) -> dict[str, object]:
        # Without the booster, which is made again when it is asked for.
        return {field.name: getattr(self, field.name) for field in fields(self)}


Model: TypeAlias = TreeModel | NetworkModel


@dataclass(eq=False)
class ModelEnsemble:
    """Models whose scores are averaged by weights."""

    # An average of scores is one model: its trees can be put into one booster, and SHAP values add
    # up exactly.

    models: list[Model] = field(default_factory=list)
    weights: list[float] = field(default_factory=list)

    def add(self, model: Model, weight: float) -> None:
        """Add a model."""
        self.models.append(model)
        self.weights.append(weight)

    def _average(self, values: Iterable[Floats]) -> Floats:
        total = sum(w * v for w, v in zip(self.weights, values, strict=True))
        return np.asarray(total)

    def predict(self, X: AnyArray) -> Floats:
        """Return the mean scores of the models."""
        return self._average(model.predict(X) for model in self.models)

    def staged_predict(self, X: AnyArray) -> Iterator[Floats]:
        """Yield the scores after each round; models that have stopped keep their last ones."""
        stages = [model.staged_predict(X) for model in self.models]
        last = [next(stage) for stage in stages]
        for _ in range(self.n_rounds):
            yield self._average(last)
            last = [next(stage, old) for stage, old in zip(stages, last, strict=True)]

    def contributions(self, X: AnyArray) -> Floats:
        """Return the mean SHAP values of the models: they sum to the scores."""
        return self._average(model.contributions(X) for model in self.models)

    @property
    def n_rounds(self) -> int:
        """Rounds of the longest model."""
        return max(model.n_rounds for model in self.models)

    def importances(self, n_features: int) -> Floats:
        """Return the share of each feature in what a model gains by it, averaged over models."""
        shares = np.zeros(n_features)
        for model, weight in zip(self.models, self.weights, strict=True):
            gains = model.importances(n_features)
            shares += weight * (gains / (gains.sum() or 1.0))
        return np.asarray(shares / (shares.sum() or 1.0))

    def shifted(self, shift: float | Floats) -> ModelEnsemble:
        """Return the ensemble with a number added to each score of its models."""
        return ModelEnsemble([model.shifted(shift) for model in self.models], self.weights)

    def merged_booster(self) -> lgb.Booster | NetworkModel:
        """Return all boosters as one, if all models have trees; a single model as it is."""
        if len(self.models) == 1:
            return self.models[0].booster
        trees = [model for model in self.models if isinstance(model, TreeModel)]
        if len(trees) < len(self.models):
            raise AttributeError(
                "A network has no trees: the models cannot be merged into one booster. See "
                "boosters_."
            )
        return TreeModel.joined(trees, self.weights).booster


@dataclass(frozen=True, eq=False)
class ProbabilityModel:
    """An ensemble whose scores, times a temperature, are those of probabilities."""

    ensemble: ModelEnsemble
    temperature: float = 1.0

    def scores(self, X: AnyArray) -> Floats:
        """Return calibrated scores: log-odds, or scores whose softmax is the probability."""
        return np.asarray(self.temperature * self.ensemble.predict(X))

    def staged_scores(self, X: AnyArray) -> Iterator[Floats]:
        """Yield calibrated scores after each round."""
        for scores in self.ensemble.staged_predict(X):
            yield np.asarray(self.temperature * scores)

    def contributions(self, X: AnyArray) -> Floats:
        """Return SHAP values of the calibrated scores, last the base."""
        return np.asarray(self.temperature * self.ensemble.contributions(X))

    def proba(self, scores: Floats) -> Floats:
        """Return the probabilities that scores say, (n, k)."""
        return to_proba(scores)

    def decide(self, scores: Floats, costs: Costs) -> Ints:
        """Return the decisions of least expected cost."""
        return cheapest(expected_costs(to_proba(scores), costs.matrix))


@dataclass(frozen=True, eq=False)
class DecisionModel:
    """An ensemble of a loss of the library with the costs inside: its scores decide."""

    ensemble: ModelEnsemble
    loss: Loss
    matrix: Floats  # mean costs, in the unit of the training
    temperature: float = 1.0

    def scores(self, X: AnyArray) -> Floats:
        """Return scores."""
        return self.ensemble.predict(X)

    def staged_scores(self, X: AnyArray) -> Iterator[Floats]:
        """Yield scores after each round."""
        return self.ensemble.staged_predict(X)

    def contributions(self, X: AnyArray) -> Floats:
        """Return SHAP values of the scores, last the base."""
        return self.ensemble.contributions(X)

    def proba(self, scores: Floats) -> Floats:
        """Return probabilities by the link of the loss."""
        return probability(scores, self.loss, cost_matrix=self.matrix)

    def decide(self, scores: Floats, costs: Costs | None = None) -> Ints:
        """Return the decisions of the loss, whose costs were in the training."""
        return decide(scores, self.loss, cost_matrix=self.matrix)


@dataclass(frozen=True, eq=False)
class CostEntry:
    """Models of one entry of the cost matrix, and of the entries that follow from it."""

    # A score is the log of the cost in units of its mean.
    ensemble: ModelEnsemble
    # What each entry of the cost matrix is beyond its mean without the models, and how much more
    # per unit, (k, d).
    base: Floats
    slopes: Floats
    # By class, (k,): held-out rows of the class pay what was expected times this.
    factors: Floats

    def excess(self, scores: Floats) -> Floats:
        """Return what is expected beyond the mean costs, (n, k, d)."""
        units = np.exp(scores)[:, None] * self.factors
        return np.asarray(self.base + units[:, :, None] * self.slopes)


@dataclass(frozen=True, eq=False)
class CostModel:
    """The costs that rows are expected to have, from their columns."""

    mean: Floats  # (k, d)
    entries: list[CostEntry]

    def predict(self, X: AnyArray) -> Floats:
        """Return the expected cost matrix of each row, (n, k, d)."""
        return self.with_excess([entry.ensemble.predict(X) for entry in self.entries])

    def with_excess(self, scores: Sequence[Floats]) -> Floats:
        """Return the expected cost matrices by the scores of the entries."""
        pairs = zip(self.entries, scores, strict=True)
        return np.asarray(self.mean + sum(entry.excess(score) for entry, score in pairs))

"""Heads: boosters trained for one target on different rows; together they score and decide."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from scipy.optimize import minimize_scalar

from costboost._typing import AnyArray, Floats, Ints
from costboost.costs import Costs
from costboost.decisions.arrays import to_proba
from costboost.gbm.models import Model, TreeModel
from costboost.gbm.objectives import decide, probability
from costboost.gbm.targets import log_loss
from costboost.losses import Loss

# Largest temperature; the smallest is its inverse.
_MOST_TEMPERATURE = 2.0
# Standard deviation of its logarithm, before any row was seen.
_TEMPERATURE_PRIOR = 0.05


@dataclass(frozen=True, eq=False)
class Head(ABC):
    """Models for one target, whose scores are averaged."""

    # An average of scores is one model: its trees can be put into one booster, and SHAP values add
    # up exactly.

    models: tuple[Model, ...] = ()
    weights: tuple[float, ...] = ()
    temperature: float = 1.0
    base: float = 0.0  # what is added to the scores

    # Whether the decision is that of smallest expected cost, under any costs.
    decides_by_cost: ClassVar[bool] = False

    @abstractmethod
    def decide(self, scores: Floats, costs: Costs | None = None) -> Ints:
        """Codes of the decisions."""

    def proba(self, scores: Floats) -> Floats:
        """Probabilities of the classes, (n, k), if there is a link to them."""
        raise TypeError("Boosters that learned decisions know no probabilities.")

    def decision_values(self, scores: Floats, costs: Costs | None = None) -> Floats:
        """What the decision goes by: the scores, unless the head decides by costs."""
        return scores

    @property
    def boosters(self) -> list[Any]:
        """A LightGBM booster of each model's trees; networks are their own."""
        return [model.booster for model in self.models]

    def merged(self) -> Any:
        """All boosters as one, without the temperature, if all models have trees."""
        if len(self.models) == 1:
            return self.models[0].booster
        return TreeModel.joined(self.models, self.weights).booster

    @property
    def n_rounds(self) -> int:
        """Rounds of the longest booster."""
        return max(model.n_rounds for model in self.models)

    def average(self, values: Iterable[Floats]) -> Floats:
        """One score, or contribution, from those of the models, without the base."""
        total = sum(w * v for w, v in zip(self.weights, values, strict=True))
        return np.asarray(self.temperature * total)

    def scores(self, X: AnyArray) -> Floats:
        """Scores of all models together."""
        total = sum(w * m.scores(X) for w, m in zip(self.weights, self.models, strict=True))
        return np.asarray(self.temperature * total + self.base)

    def staged_scores(self, X: AnyArray) -> Iterator[Floats]:
        """The scores by round; boosters that have stopped keep their last ones."""
        stages = [model.staged_scores(X) for model in self.models]
        last = [next(stage) for stage in stages]
        for _ in range(self.n_rounds):
            yield self.average(last) + self.base
            last = [next(stage, old) for stage, old in zip(stages, last, strict=True)]

    def contributions(self, X: AnyArray) -> Floats:
        """SHAP values of the models, averaged: they sum to the scores."""
        found = self.average(model.contributions(X) for model in self.models)
        found[..., -1] += self.base
        return found

    def importances(self, n_features: int) -> Floats:
        """Share of each feature in what a model gains by its features, averaged over the models."""
        shares = np.zeros(n_features)
        for model, weight in zip(self.models, self.weights, strict=True):
            gains = model.importances(n_features)
            total = gains.sum()
            # What is subtracted matters as well.
            shares += abs(weight) * (gains / total if total > 0 else gains)
        total = shares.sum()
        return np.asarray(shares / total if total > 0 else shares)


@dataclass(frozen=True, eq=False)
class ProbabilityHead(Head):
    """Models that know the probabilities of the classes."""

    costs: Costs = field(kw_only=True)

    decides_by_cost = True

    proba = staticmethod(to_proba)

    def decide(self, scores: Floats, costs: Costs | None = None) -> Ints:
        """The decision of smallest expected cost, by the rows' own matrices if they are known."""
        if costs is None or costs.matrix is None:
            return self.costs.decide(to_proba(scores))
        return costs.unknown.decide(to_proba(scores))

    def decision_values(self, scores: Floats, costs: Costs | None = None) -> Floats:
        """Two decisions: what the second is expected to save; more: minus the expected costs."""
        expected = (costs or self.costs).expected(to_proba(scores))
        return expected[:, 0] - expected[:, 1] if expected.shape[1] == 2 else -expected


@dataclass(frozen=True, eq=False)
class DecisionHead(Head):
    """Boosters that have learned which decision is cheapest; they cannot use other costs."""

    # Where costs are guessed from the columns, models of probabilities and of prices are added to
    # those that learned the decision; some of them are subtracted.

    def decide(self, scores: Floats, costs: Costs | None = None) -> Ints:
        """The sign of the score, or the largest score."""
        return np.asarray(scores >= 0 if scores.ndim == 1 else scores.argmax(axis=1), np.intp)


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


def temperature(scores: Floats, labels: Ints, weights: Floats) -> float:
    """The factor of held-out scores that has the smallest log loss."""
    # One number for all classes (temperature scaling, Guo et al. 2017): it moves no boundary
    # between equally costly classes, and has too little freedom to overfit. Held-out rows without
    # an error would have it grow for ever, and the probability of a rare, costly class vanish; so
    # it is drawn towards 1 by a normal prior of its logarithm, and bounded.
    n = np.square(weights.sum()) / np.square(weights).sum()

    def loss(log_t: float) -> float:
        prior = 0.5 * np.square(log_t / _TEMPERATURE_PRIOR)
        return float(log_loss(np.exp(log_t) * scores, labels, weights) + prior / n)

    bound = np.log(_MOST_TEMPERATURE)
    best = minimize_scalar(loss, bounds=(-bound, bound), method="bounded", options={"xatol": 1e-3})
    # The search stays within its bounds; an optimum at a bound is found to its tolerance.
    return float(np.exp(best.x))

"""Trained models, and heads: models trained for one target, which together score and decide."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from typing import Any, ClassVar, Self, TypeAlias

import lightgbm as lgb
import numpy as np
from scipy.optimize import minimize_scalar

from costboost._threads import n_threads
from costboost._typing import AnyArray, Floats, Ints
from costboost.costs import Costs
from costboost.decisions.arrays import to_proba
from costboost.gbm.objectives import decide, probability
from costboost.losses import Loss
from costboost.trees import Trees

# -- Trained models: what an engine leaves behind scores, explains itself and is kept in files ---


# Standardised values beyond are cut off: a line through an outlier says nothing about the others.
MOST = 5.0
# Rows that are multiplied at a time.
_BLOCK = 64


# Raw scores are (n,) if there is one per row, else (n, n_scores).


@dataclass(frozen=True, eq=False)
class TreeModel:
    """The trees that an engine has grown; the engine itself is not needed any more."""

    trees: Trees
    n_features: int
    engine: str
    # Whether scores are log-odds, or logarithms of probabilities.
    is_log_loss: bool = False
    n_threads: int | None = None

    @classmethod
    def joined(cls, models: Sequence[Model], weights: Sequence[float]) -> TreeModel:
        """One model with the weighted sum of the scores of others."""
        own = [model for model in models if isinstance(model, TreeModel)]
        others = [model.engine for model in models if not isinstance(model, TreeModel)]
        if others:
            raise AttributeError(
                f"A {others[0]} has no trees: the models cannot be merged into one booster. See "
                "boosters_."
            )
        return replace(own[0], trees=Trees.joined([model.trees for model in own], weights))

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


@dataclass(frozen=True, eq=False)
class Design:
    """How columns become the inputs of a smooth model."""

    # Numbers are standardised, missing ones replaced by the median and marked; a category becomes a
    # column of zeros and ones for each of its values.

    numeric: Ints
    categorical: Ints
    medians: Floats
    means: Floats
    scales: Floats
    gaps: Ints
    sizes: Ints

    @classmethod
    def of(cls, X: AnyArray, categorical: list[int]) -> Design:
        """The design for the columns of a table."""
        codes = np.asarray(categorical, dtype=np.intp)
        numeric = np.setdiff1d(np.arange(X.shape[1]), codes)
        values = np.asarray(X[:, numeric], dtype=np.float64)
        missing = ~np.isfinite(values)
        known = [column[np.isfinite(column)] for column in values.T]
        medians = np.array([np.median(part) if len(part) else 0.0 for part in known], np.float64)
        filled = np.where(missing, medians, values)
        # Means of scaled values: sums of huge ones would overflow.
        unit = np.maximum(np.abs(filled).max(axis=0, initial=0.0), np.finfo(float).tiny)
        means = (filled / unit).mean(axis=0) * unit
        scales = (filled / unit).std(axis=0) * unit
        # A constant column, such as one that is left out of a frame, is no input.
        varies = scales > 1e-12 * unit
        coded = np.asarray(X[:, codes], dtype=np.float64)
        sizes = np.array([_n_codes(column) for column in coded.T], dtype=np.intp)
        return cls(
            numeric[varies],
            codes,
            medians[varies],
            means[varies],
            scales[varies],
            numeric[missing.any(axis=0)],
            sizes,
        )

    @property
    def sources(self) -> Ints:
        """The column of the table behind each input."""
        return np.concatenate([self.numeric, self.gaps, np.repeat(self.categorical, self.sizes)])

    def __call__(self, X: AnyArray) -> Floats:
        """The inputs of a smooth model, (n, p)."""
        values = np.asarray(X[:, self.numeric], dtype=np.float64)
        with np.errstate(over="ignore", invalid="ignore"):
            filled = np.where(np.isnan(values), self.medians, values)
            scaled = np.clip((filled - self.means) / self.scales, -MOST, MOST)
        parts = [
            np.nan_to_num(scaled),
            ~np.isfinite(np.asarray(X[:, self.gaps], dtype=np.float64)),
        ]
        for column, size in zip(self.categorical, self.sizes, strict=True):
            parts.append(np.asarray(X[:, column])[:, None] == np.arange(size))
        return np.hstack(parts, dtype=np.float64)


@dataclass(frozen=True, eq=False)
class NetworkModel:
    """A network with one hidden layer of rectified units, on the inputs that a design makes."""

    engine: ClassVar[str] = "network"
    # It is fitted at once.
    n_rounds: ClassVar[int] = 1

    design: Design
    slopes: Floats
    shifts: Floats
    tops: Floats
    base: Floats
    centre: Floats

    @classmethod
    def mean(cls, models: Sequence[NetworkModel]) -> NetworkModel:
        """One model with the mean score of models that share a design."""
        return cls(
            models[0].design,
            np.vstack([model.slopes for model in models]),
            np.concatenate([model.shifts for model in models]),
            np.hstack([model.tops for model in models]) / len(models),
            np.mean([model.base for model in models], axis=0),
            np.mean([model.centre for model in models], axis=0),
        )

    @property
    def booster(self) -> Self:
        """The model itself: there is no library behind it."""
        return self

    def scores_of(self, inputs: Floats) -> Floats:
        """Raw scores of inputs."""
        hidden = np.maximum(row_products(inputs, self.slopes) + self.shifts, 0.0)
        found = row_products(hidden, self.tops) + self.base
        return np.asarray(found[:, 0] if len(self.base) == 1 else found)

    def scores(self, X: AnyArray) -> Floats:
        """Raw scores."""
        return self.scores_of(self.design(X))

    def shifted(self, shift: float | Floats) -> NetworkModel:
        """The model with a number added to each score."""
        return replace(self, base=self.base + shift)

    def staged_scores(self, X: AnyArray) -> Iterator[Floats]:
        """The scores, once."""
        yield self.scores(X)

    def contributions(self, X: AnyArray) -> Floats:
        """What each feature adds to the score of a mean row; last the base."""
        # The score's gradient, averaged along the line from the centre to the row (Aumann and
        # Shapley 1974; integrated gradients): on it, a unit is active on one side of a point, so
        # the average is exact, and the effects sum to the difference of the scores.
        at_centre = self.slopes @ self.centre + self.shifts
        away = self.design(X) - self.centre
        moves = row_products(away, self.slopes)
        low = np.minimum(at_centre, at_centre + moves)
        high = np.maximum(at_centre, at_centre + moves)
        # The share of the line on which a unit is active.
        crossed = np.divide(high, np.abs(moves), out=np.zeros_like(high), where=moves != 0.0)
        active = np.where(low > 0.0, 1.0, np.where(high > 0.0, crossed, 0.0))
        is_source = (self.design.sources == np.arange(X.shape[1])[:, None]).astype(np.float64)
        found = np.empty((len(away), len(self.base), X.shape[1] + 1))
        for score, top in enumerate(self.tops):
            effects = away * row_products(active * top, self.slopes.T)
            found[:, score, :-1] = row_products(effects, is_source)
        found[:, :, -1] = self.scores_of(self.centre[None])
        return found[:, 0] if len(self.base) == 1 else found

    def importances(self, n_features: int) -> Floats:
        """Sum over units and inputs of the size of an input's weight times that of the unit."""
        sizes = np.abs(self.tops).sum(axis=0) @ np.abs(self.slopes)
        return np.asarray(np.bincount(self.design.sources, sizes, minlength=n_features), np.float64)


Model: TypeAlias = TreeModel | NetworkModel


def row_products(rows: Floats, weights: Floats) -> Floats:
    """Products of rows and weights, each row by the same steps whatever the others are."""
    # A matrix product may add in another order if there are more rows, so that the score of a row
    # would depend on the batch that it comes in. Blocks of one size do not.
    n, p = rows.shape
    n_blocks = -(-n // _BLOCK)
    padded = np.zeros((n_blocks * _BLOCK, p))
    padded[:n] = rows
    found = padded.reshape(n_blocks, _BLOCK, p) @ np.ascontiguousarray(weights.T)
    return np.asarray(found.reshape(len(padded), len(weights))[:n])


def _n_codes(column: Floats) -> int:
    """Number of values of a column of codes; 1 if none is known, so that there is an input."""
    known = column[np.isfinite(column)]
    return int(known.max()) + 1 if len(known) else 1


# -- Heads: boosters trained for one target on different rows; together they score and decide ----


# Temperatures: the usual one, the standard deviation of its logarithm before any row was seen,
# bounds, and how exact it is.
_TEMPERATURE = 1.0, 0.05, (0.5, 2.0), 1e-3


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
        return TreeModel.joined(self.models, self.weights).booster

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
            total = gains.sum()
            shares += weight * (gains / total if total > 0 else gains)
        total = shares.sum()
        return np.asarray(shares / total if total > 0 else shares)


@dataclass(frozen=True, eq=False)
class ProbabilityHead(Head):
    """Models that know the probabilities of the classes."""

    costs: Costs = field(kw_only=True)

    proba = staticmethod(to_proba)

    def decide(self, scores: Floats, costs: Costs | None = None) -> Ints:
        """The decision of smallest expected cost, by the rows' own matrices if they are known."""
        if costs is None or costs.matrix is None:
            return self.costs.decide(to_proba(scores))
        return costs.decide(to_proba(scores))


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


def temperature(scores: Floats, loss: Callable[[Floats], float], weights: Floats) -> float:
    """The factor that calibrates held-out scores of these rows."""
    # One number for all classes (temperature scaling, Guo et al. 2017): it moves no boundary
    # between equally costly classes, and has too little freedom to overfit.
    n = np.square(weights.sum()) / np.square(weights).sum()
    return best_factor(scores, loss, n, *_TEMPERATURE)


def best_factor(
    scores: Floats,
    loss: Callable[[Floats], float],
    n: float,
    usual: float,
    spread: float,
    bounds: tuple[float, float],
    tolerance: float,
) -> float:
    """The factor of held-out scores that has the smallest loss, drawn towards the usual one."""
    # Held-out rows without an error would have it grow for ever, and the probability of a rare,
    # costly class vanish; so there are bounds, and a normal prior of its logarithm.

    def badness(log_factor: float) -> float:
        distance = (log_factor - np.log(usual)) / spread
        return float(loss(np.exp(log_factor) * scores) + 0.5 * distance**2 / n)

    low, high = np.log(bounds)
    best = minimize_scalar(
        badness, bounds=(low, high), method="bounded", options={"xatol": tolerance}
    )
    # The search stays within its bounds; an optimum at a bound is found to its tolerance.
    return float(np.exp(best.x)) if np.isfinite(best.fun) else usual

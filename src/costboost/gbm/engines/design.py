"""Rows as the inputs of smooth models, and what such models and their engines share."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, Self, TypeVar

import numpy as np

from costboost._typing import AnyArray, Floats, Ints
from costboost.gbm.engines.base import Engine, Job, Model, TargetTable, Watch, watched_sets
from costboost.gbm.folds import Fold

__all__ = ["MOST", "Design", "DesignEngine", "DesignModel", "Judge", "Sample", "row_products"]

# Standardised values beyond are cut off: a line through an outlier says nothing about the others.
MOST = 5.0
# Rows that are multiplied at a time.
_BLOCK = 64


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
        medians = np.array([_median(column) for column in values.T], dtype=np.float64)
        filled = np.where(missing, medians, values)
        # Means of scaled values: sums of huge ones would overflow.
        unit = np.maximum(np.abs(filled).max(axis=0, initial=0.0), np.finfo(float).tiny)
        means = (filled / unit).mean(axis=0) * unit
        scales = (filled / unit).std(axis=0) * unit
        tiny = scales <= 1e-12 * unit
        known = np.asarray(X[:, codes], dtype=np.float64)
        sizes = np.array([_n_codes(column) for column in known.T], dtype=np.intp)
        return cls(
            numeric,
            codes,
            medians,
            means,
            np.where(tiny, np.inf, scales),  # constant columns become zeros
            numeric[missing.any(axis=0)],
            sizes,
        )

    @property
    def n_features(self) -> int:
        """Number of columns of the table."""
        return len(self.numeric) + len(self.categorical)

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


class DesignModel(Model):
    """A model of the inputs that a design makes of rows."""

    design: Design
    base: Floats
    centre: Floats

    @property
    def booster(self) -> Self:
        """The model itself: there is no library behind it."""
        return self

    @property
    def n_rounds(self) -> int:
        """One: it is fitted at once."""
        return 1

    @abstractmethod
    def all_scores(self, inputs: Floats) -> Floats:
        """Raw scores of inputs, (n, n_scores)."""

    @abstractmethod
    def effects(self, inputs: Floats, score: int) -> Floats:
        """What each input adds to a score of the centre, (n, p)."""

    @abstractmethod
    def sizes(self) -> Floats:
        """How much each input weighs, (p,)."""

    def scores_of(self, inputs: Floats) -> Floats:
        """Raw scores of inputs."""
        found = self.all_scores(inputs)
        return np.asarray(found[:, 0] if len(self.base) == 1 else found)

    def scores(self, X: AnyArray) -> Floats:
        """Raw scores."""
        return self.scores_of(self.design(X))

    def staged_scores(self, X: AnyArray) -> Iterator[Floats]:
        """The scores, once."""
        yield self.scores(X)

    def contributions(self, X: AnyArray) -> Floats:
        """What each feature adds to the score of a mean row; last the base."""
        inputs = self.design(X)
        found = np.zeros((len(inputs), len(self.base), X.shape[1] + 1))
        is_source = self.design.sources[:, None] == np.arange(X.shape[1])
        for score in range(len(self.base)):
            effects = self.effects(inputs, score)
            found[:, score, :-1] = row_products(effects, is_source.T.astype(np.float64))
        found[:, :, -1] = self.all_scores(self.centre[None])[0]
        return found[:, 0] if len(self.base) == 1 else found

    def importances(self, n_features: int) -> Floats:
        """Sum of the sizes of each feature's inputs."""
        return np.asarray(
            np.bincount(self.design.sources, self.sizes(), minlength=n_features), dtype=np.float64
        )


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


M = TypeVar("M", bound=DesignModel)


@dataclass(frozen=True, eq=False)
class Sample:
    """What a smooth model is fitted to."""

    design: Design
    inputs: Floats
    labels: Ints
    weights: Floats
    n_scores: int

    @cached_property
    def centre(self) -> Floats:
        """Mean inputs."""
        return np.asarray(self.inputs.mean(axis=0))


class Judge(Generic[M]):
    """Keeps the best of the models that it is shown, by the loss of rows that are held out."""

    def __init__(self, watch: Watch, held: Floats) -> None:
        self.watch = watch
        self.held = held
        self.best: M | None = None

    def is_better(self, model: M) -> bool:
        """Whether it is better than those before; if so, keep it."""
        assert self.watch.stop_by is not None
        scores = model.scores_of(self.held)
        loss = self.watch.see(self.watch.stop_by, scores, is_probability=False)
        if not loss < self.watch.best_loss:
            return False
        self.best, self.watch.best_loss, self.watch.best_scores = model, loss, scores
        return True


class DesignEngine(Engine, Generic[M]):
    """Fits models of a design at once, without rounds: there is nothing to continue."""

    # Only for targets that are log loss, and for tables that are not sparse.

    @abstractmethod
    def fitted(self, sample: Sample, seed: int) -> M:
        """The model for the case that no row is held out."""

    @abstractmethod
    def search(self, sample: Sample, seed: int, judge: Judge[M]) -> None:
        """Show the judge models until they are no better."""

    def train(
        self, table: TargetTable, fold: Fold, job: Job, eval_table: TargetTable | None = None
    ) -> tuple[M, Floats | None]:
        """Train one model."""
        picked: Any = slice(None) if fold.rows is None else fold.rows
        # One design for all folds, so that their models can be put into one.
        design = Design.of(table.X, table.categorical)
        weights = np.asarray(table.columns.weights[picked], dtype=np.float64)
        sample = Sample(
            design,
            design(table.X[picked]),
            table.columns.labels[picked],
            weights / weights.mean() if weights.any() else np.ones(len(weights)),
            table.target.n_scores,
        )
        sets = watched_sets(table, fold, job, eval_table)
        watch = Watch.over(replace(job, start=None), sets)
        if watch.stop_by is None:
            return self.fitted(sample, job.seed), None
        other, rows = sets[watch.stop_by]
        judge = Judge[M](watch, design(other.X if rows is None else other.X[rows]))
        self.search(sample, job.seed, judge)
        if judge.best is None:  # no loss is finite
            judge.best = self.fitted(sample, job.seed)
            watch.best_scores = judge.best.scores_of(judge.held)
        return judge.best, watch.scores_for(fold)


def _median(column: Floats) -> float:
    """The median of the numbers among the values; 0 if there are none."""
    known = column[np.isfinite(column)]
    return float(np.median(known)) if len(known) else 0.0


def _n_codes(column: Floats) -> int:
    """Number of values of a column of codes; 1 if none is known, so that there is an input."""
    known = column[np.isfinite(column)]
    return int(known.max()) + 1 if len(known) else 1

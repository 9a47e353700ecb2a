"""Rows as the inputs of smooth models, and what such models and their engines share."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Generic, TypeVar

import numpy as np

from costboost._typing import Floats, Ints
from costboost.gbm.engines.base import Engine, Job, TargetTable, Watch, watched_sets
from costboost.gbm.folds import Fold
from costboost.gbm.models import Design, DesignModel

__all__ = [
    "DesignEngine",
    "Judge",
    "Sample",
]

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

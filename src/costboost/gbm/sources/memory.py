"""A table in memory: one block of rows, shared out in folds."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from sklearn.utils import check_random_state

from costboost._frames import is_sparse
from costboost._state import fingerprint
from costboost._threads import most_threads
from costboost._typing import AnyArray, Floats
from costboost.costs import KnownCosts
from costboost.gbm.blocks import Block, Features
from costboost.gbm.engines.base import Engine, Job, TargetTable
from costboost.gbm.folds import Fold, folds, own_folds, strata
from costboost.gbm.members import Recipe
from costboost.gbm.models import Model
from costboost.gbm.portfolio import Shape
from costboost.gbm.settings import Settings
from costboost.gbm.sources.base import Source, Trainer, hashes, hold_out_rule
from costboost.gbm.targets import Target
from costboost.gbm.totals import Totals

__all__ = ["LastFit", "MemorySource", "Plan", "make_plan"]

# Rows from which on one booster of all rows replaces those of the folds. With fewer, their average
# hedges: it spent less on seven small sets, and as much on sets of 1,600 to 5,000 rows.
_REFIT_ROWS = 2000
# Numbers of a table beyond which folds are trained one after the other: several copies would take
# too much memory, and a booster of so many rows has work for all threads.
_TOGETHER_NUMBERS = 2**25


@dataclass(frozen=True, eq=False)
class Plan:
    """Which booster trains on which rows."""

    folds: list[Fold]
    seeds: list[int]


@dataclass(frozen=True, eq=False)
class LastFit:
    """What a warm start must know of the fit before."""

    plan: Plan
    classes: AnyArray
    n_rows: int
    n_weighted: int

    def check_same_rows(self, weights: Floats, classes: AnyArray, settings: Settings) -> None:
        """Raise a ValueError if boosters cannot continue on these rows."""
        owner = settings.owner
        used = len(weights), int(np.count_nonzero(weights))
        if used != (self.n_rows, self.n_weighted) or not np.array_equal(classes, self.classes):
            raise ValueError(
                f"{owner}(warm_start=True) continues boosters on the rows that they were trained "
                f"on: {self.n_rows} rows ({self.n_weighted} with weight) of the classes "
                f"{self.classes.tolist()}; got {used[0]} rows ({used[1]}) of {classes.tolist()}. "
                "Set warm_start=False to train anew."
            )
        n_boosters = len(self.plan.folds)
        n_folds = settings.n_folds
        if settings.cv is None and n_folds > 1 and n_folds != n_boosters:
            raise ValueError(
                f"The 'ensemble' parameter of {owner} cannot change in a warm start: there are "
                f"{n_boosters} boosters to continue, got {n_folds}. Set warm_start=False "
                "to train anew."
            )


def make_plan(
    block: Block, weights: Floats, settings: Settings, *, has_eval_set: bool = False
) -> Plan:
    """Share out the rows."""
    rng = check_random_state(settings.random_state)
    n = len(block)
    if n < 2:
        raise ValueError(
            f"{settings.owner} needs two rows or more whose sample_weight is above 0, got {n}. "
            "Give more rows a weight."
        )
    if settings.cv is not None:
        assert block.X is not None
        place = np.where(weights > 0, np.cumsum(weights > 0) - 1, -1)
        codes = block.costs.codes
        parts = own_folds(settings.cv, block.X, codes, place, settings.owner)
    elif (n_folds := min(settings.n_folds, n // 2)) >= 2:
        parts = folds(strata(block.costs), n_folds, rng)
    elif has_eval_set:
        parts = [Fold()]
    else:
        rule = hold_out_rule(settings, n, len(block.costs.classes), rng)
        held = rule.mask(strata(block.costs)) if rule.one_in else np.zeros(n, dtype=np.bool_)
        parts = [Fold(np.flatnonzero(~held), np.flatnonzero(held)) if held.any() else Fold()]
    return Plan(parts, [int(rng.randint(Settings.largest_seed)) for _ in parts])


class MemorySource(Source):
    """A table in memory."""

    def __init__(
        self,
        block: Block,
        features: Features,
        plan: Plan,
        *,
        has_row_costs: bool,
        eval_rows: Block | None = None,
        eval_train: bool = False,
    ) -> None:
        self.block = block
        self.classes = block.costs.classes
        self.features = features
        self.plan = plan
        self.seeds = plan.seeds
        self.has_row_costs = has_row_costs
        self.eval_rows = eval_rows
        self.eval_train = eval_train
        self.totals = Totals.of(block)

    @property
    def shape(self) -> Shape:
        """How large the table is, a category counted once per value."""
        X = self.block.X
        assert X is not None
        codes = self.features.categorical
        inputs = X.shape[1] - len(codes)
        if len(codes) and not is_sparse(X):
            inputs += int(np.nan_to_num(X[:, codes]).max(axis=0, initial=0.0).sum()) + len(codes)
        has_folds = self.held_out() is not None
        return Shape(len(self.block), inputs, is_sparse=is_sparse(X), has_folds=has_folds)

    @property
    def row_costs(self) -> tuple[KnownCosts, Floats] | None:
        """Costs and weights of all rows, if those of the rows differ."""
        return (self.block.costs, self.block.weights) if self.has_row_costs else None

    def refits(self, settings: Settings) -> bool:
        """Whether one booster of all rows replaces those of the folds in the end."""
        if len(self.plan.folds) == 1 or not settings.early_stopping:
            return False
        if settings.refit == "auto":
            # Who chose the folds, or means to continue their boosters, wants to keep them.
            is_ours = settings.ensemble == "auto" and settings.cv is None
            is_ours = is_ours and not settings.warm_start and settings.effort != "fast"
            return is_ours and len(self.block) >= _REFIT_ROWS
        return bool(settings.refit)

    def threads(self, settings: Settings) -> int:
        """Threads for all folds: as many for few rows as for many."""
        return most_threads(settings.n_jobs)

    def n_workers(self, settings: Settings) -> int:
        """A fold per thread, unless the table is large or trains on another device."""
        assert self.block.X is not None
        is_large = self.block.X.shape[0] * self.block.X.shape[1] > _TOGETHER_NUMBERS
        if is_large or settings.device != "cpu":
            return 1
        return min(self.threads(settings), len(self.plan.folds))

    def engine(self, settings: Settings, recipe: Recipe) -> Engine:
        """The engine of that kind of model."""
        return settings.make_engine(recipe, len(self.block))

    def held_out(self, number: int | None = None) -> Block | None:
        """Costs and weights of the held-out rows of one fold, or of all; else of `eval_rows`."""
        some = self.plan.folds if number is None else [self.plan.folds[number]]
        rows = [fold.held_out for fold in some if fold.held_out is not None]
        if rows:
            return self.block.without_features().take(np.concatenate(rows))
        return None if self.eval_rows is None else self.eval_rows.without_features()

    def watched(self, number: int) -> dict[str, Block]:
        """Held-out rows, rows of another table, and training rows if they were asked for."""
        fold, rows = self.plan.folds[number], self.block.without_features()
        found: dict[str, Block] = {}
        if self.eval_rows is not None:
            found["eval_set"] = self.eval_rows.without_features()
        if fold.held_out is not None:
            found["held_out"] = rows.take(fold.held_out)
        if self.eval_train:
            found["train"] = rows if fold.rows is None else rows.take(fold.rows)
        return found

    def identity(self) -> dict[str, str]:
        """Hashes of rows, costs, weights, columns and folds."""
        folds = [part for fold in self.plan.folds for part in (fold.rows, fold.held_out)]
        found = {
            **hashes(self.block),
            "columns": fingerprint(() if self.features.names is None else self.features.names, ()),
            "categories": fingerprint(self.features.categorical, ()),
            "folds": " ".join(fingerprint(() if part is None else part, ()) for part in folds),
            "eval_train": str(self.eval_train),
        }
        if self.eval_rows is not None:
            found.update(hashes(self.eval_rows, "eval_set "))
        return found

    def trainer(self, engine: Engine, target: Target) -> Trainer:
        """Trains on the rows of a fold."""
        X = self.block.X
        assert X is not None
        columns = target.columns(self.block.costs, self.block.weights)
        table = TargetTable(X, self.features.categorical, target, columns)
        other = None
        if self.eval_rows is not None and self.eval_rows.X is not None:
            columns = target.columns(self.eval_rows.costs, self.eval_rows.weights)
            other = replace(table, X=self.eval_rows.X, columns=columns)

        def train(number: int | None, job: Job) -> tuple[Model, Floats | None]:
            if number is None:
                fold = Fold()
                return engine.train(_learnable(table, fold, self.block.weights), fold, job)
            fold = self.plan.folds[number]
            model, scores = job.start, None
            if model is None or job.rounds_to_go:
                job = replace(job, watches_training=self.eval_train)
                usable = _learnable(table, fold, self.block.weights)
                model, scores = engine.train(usable, fold, job, other)
            if scores is None and fold.held_out is not None:
                scores = model.scores(X[fold.held_out])
            elif scores is None and other is not None:
                scores = model.scores(other.X)
            return model, scores

        return train


def _learnable(table: TargetTable, fold: Fold, weights: AnyArray) -> TargetTable:
    """The table; by sample weights alone if nothing is at stake on the training rows of a fold."""
    used = table.columns.weights if fold.rows is None else table.columns.weights[fold.rows]
    if used.any():
        return table
    return replace(table, columns=replace(table.columns, weights=weights))

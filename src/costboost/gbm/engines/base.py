"""What is asked of a gradient boosting library, and no more."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from costboost._typing import AnyArray, Floats, Ints
from costboost.gbm.folds import Fold
from costboost.gbm.models import Model
from costboost.gbm.targets import Columns, Part, Target

__all__ = [
    "ONE_HOT",
    "AfterRound",
    "Engine",
    "Growth",
    "Job",
    "Seen",
    "TargetTable",
    "Watch",
    "watched_sets",
]

# Categories of a column that are split off one at a time; larger columns are split in other ways.
ONE_HOT = 64


@dataclass(frozen=True, eq=False)
class Seen:
    """What an engine sees after a round."""

    round: int
    losses: Mapping[str, float]
    scores: Mapping[str, Floats]


# Hears of each round; whether the training ends there.
AfterRound: TypeAlias = Callable[[Seen], bool]


@dataclass(frozen=True)
class Growth:
    """How trees are grown, in the words that the engines share."""

    learning_rate: float
    max_leaves: int
    min_samples_leaf: int
    reg_lambda: float
    subsample: float
    colsample: float
    random_splits: bool = False


@dataclass(frozen=True, eq=False)
class Job:
    """How long one booster is trained, and from where."""

    n_estimators: int
    patience: int
    seed: int
    start: Model | None = None
    after_round: AfterRound | None = None
    watches_training: bool = False

    @property
    def rounds_to_go(self) -> int:
        """Rounds to train, beyond those of the booster to continue."""
        return max(self.n_estimators - (0 if self.start is None else self.start.n_rounds), 0)

    @property
    def fresh_seed(self) -> int:
        """The seed; another one for rounds that continue, which must not repeat old samples."""
        done = 0 if self.start is None else self.start.n_rounds
        return (self.seed + done) % np.iinfo(np.int32).max

    def tell(self, seen: Seen) -> bool:
        """Report a finished round; whether the training is to end."""
        return self.after_round is not None and self.after_round(seen)


@dataclass(frozen=True, eq=False)
class TargetTable:
    """A table in memory, with the columns of a target."""

    X: AnyArray
    categorical: list[int]
    target: Target
    columns: Columns

    def part(self, rows: Ints | None) -> Part:
        """The target on some rows; None is all."""
        return self.target.part(self.columns if rows is None else self.columns.take(rows))


@dataclass(frozen=True)
class Engine(ABC):
    """A gradient boosting library."""

    growth: Growth
    threads: int | None
    device: str = "cpu"
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @abstractmethod
    def train(
        self, table: TargetTable, fold: Fold, job: Job, eval_table: TargetTable | None = None
    ) -> tuple[Model, Floats | None]:
        """Train one booster on a table in memory."""

    def together(self, models: Sequence[Any]) -> Model | None:
        """One model in place of those of the folds, if that needs no training on all rows."""
        return None


class Watch:
    """What is seen during one training: losses after each round, the best round, when to stop."""

    def __init__(
        self,
        job: Job,
        parts: Mapping[str, Part] | None = None,
        stop_by: str | None = None,
        before: Floats | None = None,
    ) -> None:
        self.job = job
        self.parts = dict(parts or {})
        self.stop_by = stop_by
        self.round = self.best_round = 0 if job.start is None else job.start.n_rounds
        self.best_loss = np.inf
        self.best_scores = before
        if stop_by is not None and before is not None:
            self.best_loss = self.parts[stop_by].loss(before)
        self._losses: dict[str, float] = {}
        self._scores: dict[str, Floats] = {}

    @classmethod
    def over(cls, job: Job, sets: Mapping[str, tuple[TargetTable, Ints | None]]) -> Watch:
        """A watch over some rows of tables."""
        parts = {name: table.part(rows) for name, (table, rows) in sets.items()}
        parts = {name: part for name, part in parts.items() if part.weight > 0}
        stop_by = next((name for name in parts if name != "train"), None) if job.patience else None
        before = None
        if stop_by is not None and job.start is not None:
            table, rows = sets[stop_by]
            before = job.start.scores(table.X if rows is None else table.X[rows])
        return cls(job, parts, stop_by, before)

    def see(self, name: str, outputs: AnyArray, is_probability: bool) -> float:
        """The loss of a set's outputs in the present round."""
        scores = to_scores(outputs) if is_probability else np.asarray(outputs, dtype=np.float64)
        self._scores[name] = scores
        self._losses[name] = loss = self.parts[name].loss(scores)
        return loss

    def end_round(self) -> bool:
        """Report the round; whether the training is to end."""
        self.round += 1
        if self.stop_by is None:
            self.best_round = self.round
        elif (loss := self._losses[self.stop_by]) < self.best_loss:
            self.best_loss, self.best_round = loss, self.round
            self.best_scores = self._scores[self.stop_by].copy()
        is_told = self.job.tell(Seen(self.round, dict(self._losses), dict(self._scores)))
        return is_told or self.is_over

    @property
    def is_over(self) -> bool:
        """Whether the loss has not fallen for as long as the job's patience."""
        return self.stop_by is not None and self.round - self.best_round >= self.job.patience

    def scores_for(self, fold: Fold) -> Floats | None:
        """Scores in the best round of the held-out rows, or of the other table without any."""
        name = "eval_set" if fold.held_out is None else "held_out"
        return self.best_scores if self.stop_by == name else None


def watched_sets(
    table: TargetTable, fold: Fold, job: Job, eval_table: TargetTable | None
) -> dict[str, tuple[TargetTable, Ints | None]]:
    """The sets of rows that a training watches, the one that stops it first."""
    sets: dict[str, tuple[TargetTable, Ints | None]] = {}
    if eval_table is not None:
        sets["eval_set"] = eval_table, None
    if fold.held_out is not None:
        sets["held_out"] = table, fold.held_out
    if job.watches_training:
        sets["train"] = table, fold.rows
    return sets


def to_scores(proba: AnyArray) -> Floats:
    """Probabilities as scores: log-odds of (n,), logarithms of (n, k)."""
    p = np.clip(np.asarray(proba, dtype=np.float64), 1e-15, 1.0 - 1e-15)
    logs: Floats = np.log(p)
    if p.ndim == 1:
        logs -= np.log1p(-p)
    return logs

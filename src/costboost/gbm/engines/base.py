"""What is asked of a gradient boosting library, and no more."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from costboost._typing import AnyArray, Floats, Ints
from costboost.gbm.folds import Fold
from costboost.gbm.targets import Columns, Part, Target

__all__ = ["AfterRound", "Engine", "Growth", "Job", "Model", "TargetTable", "Watch"]

AfterRound: TypeAlias = Callable[[int, "Floats | None"], None]


@dataclass(frozen=True)
class Growth:
    """How trees are grown, in the words that the engines share."""

    learning_rate: float
    max_leaves: int
    min_samples_leaf: int
    reg_lambda: float
    subsample: float
    colsample: float


@dataclass(frozen=True, eq=False)
class Job:
    """How long one booster is trained, and from where.

    Attributes
    ----------
    n_estimators : int
        Number of boosting rounds, at most.
    patience : int
        Rounds without a smaller loss on the held-out rows that end the training; 0 never ends it.
    seed : int
        Seed of row and column samples.
    start : Model or None
        A booster to continue; its rounds count.
    after_round : callable or None
        Called after each round, with its number and the held-out scores.
    """

    n_estimators: int
    patience: int
    seed: int
    start: Model | None = None
    after_round: AfterRound | None = None

    @property
    def rounds_to_go(self) -> int:
        """Rounds to train, beyond those of the booster to continue."""
        return max(self.n_estimators - (0 if self.start is None else self.start.n_rounds), 0)

    @property
    def fresh_seed(self) -> int:
        """The seed; another one for rounds that continue, which must not repeat old samples."""
        done = 0 if self.start is None else self.start.n_rounds
        return (self.seed + done) % np.iinfo(np.int32).max

    def tell(self, rounds: int, scores: Floats | None) -> None:
        """Report a finished round."""
        if self.after_round is not None:
            self.after_round(rounds, scores)


@dataclass(frozen=True, eq=False)
class TargetTable:
    """A table in memory, with the columns of a target.

    Attributes
    ----------
    X : array of shape (n, n_features)
        The features.
    categorical : list of int
        Columns of X that hold category codes.
    target : Target
        What to train for.
    columns : Columns
        The target's columns of all rows.
    """

    X: AnyArray
    categorical: list[int]
    target: Target
    columns: Columns

    def part(self, rows: Ints | None) -> Part:
        """The target on some rows; None is all."""
        return self.target.part(self.columns if rows is None else self.columns.take(rows))


class Model(ABC):
    """A trained booster: raw scores, (n,) if there is one score per row, else (n, n_scores)."""

    booster: Any

    @property
    @abstractmethod
    def n_rounds(self) -> int:
        """Number of rounds kept."""

    @abstractmethod
    def scores(self, X: AnyArray) -> Floats:
        """Raw scores."""

    @abstractmethod
    def staged_scores(self, X: AnyArray) -> Iterator[Floats]:
        """Raw scores after each round."""

    @abstractmethod
    def contributions(self, X: AnyArray) -> Floats:
        """SHAP values: a column per feature, and last the base; they sum to the scores."""

    @abstractmethod
    def importances(self, n_features: int) -> Floats:
        """Total gain of each feature."""


@dataclass(frozen=True)
class Engine(ABC):
    """A gradient boosting library.

    Parameters
    ----------
    growth : Growth
        How trees are grown.
    threads : int or None
        Threads of a training; None leaves the number to the library.
    device : str
        ``"cpu"``, or what the library calls its GPU.
    parameters : mapping
        The library's own parameters; they win.
    """

    growth: Growth
    threads: int | None
    device: str = "cpu"
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @abstractmethod
    def train(self, table: TargetTable, fold: Fold, job: Job) -> tuple[Model, Floats | None]:
        """Train one booster on a table in memory.

        Parameters
        ----------
        table : TargetTable
            All rows.
        fold : Fold
            Which of them to train on, and which are held out.
        job : Job
            How long.

        Returns
        -------
        model : Model
            The booster, cut at its best round.
        held_out : array or None
            Its scores of the held-out rows, if they were watched.
        """


class Watch:
    """The held-out loss of one training: its smallest value and the scores that had it.

    Parameters
    ----------
    part : Part
        The target on the held-out rows.
    job : Job
        The training.
    X : array of shape (m, n_features), optional
        Features of the held-out rows, for a job that continues a booster.
    """

    def __init__(self, part: Part, job: Job, X: AnyArray | None = None) -> None:
        self.part = part
        self.job = job
        self.round = self.best_round = 0
        self.best_loss = np.inf
        self.best_scores: Floats | None = None
        if job.start is not None and X is not None:
            self.round = self.best_round = job.start.n_rounds
            self.best_scores = job.start.scores(X)
            self.best_loss = self.part.loss(self.best_scores)

    @classmethod
    def over(cls, table: TargetTable, fold: Fold, job: Job) -> Watch | None:
        """A watch over the held-out rows; None if there is nothing to stop by."""
        if fold.held_out is None or not job.patience:
            return None
        part = table.part(fold.held_out)
        if not part.weight > 0:
            return None
        return cls(part, job, None if job.start is None else table.X[fold.held_out])

    def see(self, outputs: AnyArray, is_probability: bool) -> float:
        """The loss of the held-out outputs of one round more."""
        scores = to_scores(outputs) if is_probability else np.asarray(outputs, dtype=np.float64)
        self.round += 1
        loss = self.part.loss(scores)
        if loss < self.best_loss:
            self.best_loss, self.best_round, self.best_scores = loss, self.round, scores.copy()
        self.job.tell(self.round, scores)
        return loss

    @property
    def is_over(self) -> bool:
        """Whether the loss has not fallen for as long as the job's patience."""
        return self.round - self.best_round >= self.job.patience


def to_scores(proba: AnyArray) -> Floats:
    """Probabilities as scores: log-odds of (n,), logarithms of (n, k)."""
    p = np.clip(np.asarray(proba, dtype=np.float64), 1e-15, 1.0 - 1e-15)
    logs: Floats = np.log(p)
    if p.ndim == 1:
        logs -= np.log1p(-p)
    return logs

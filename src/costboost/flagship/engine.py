"""What the flagship asks of a gradient boosting library, and no more."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeAlias

import numpy as np

from costboost._typing import AnyArray, Floats, Ints
from costboost.flagship.targets import Target

__all__ = ["Engine", "Growth", "Job", "Model", "Watch", "log_odds"]


@dataclass(frozen=True)
class Growth:
    """How trees are grown, in the words that the engines share."""

    learning_rate: float
    max_leaves: int
    min_samples_leaf: int
    reg_lambda: float
    subsample: float
    colsample: float


Report: TypeAlias = Callable[[int, "Floats | None"], None]


@dataclass(frozen=True, eq=False)
class Job:
    """One booster to be trained.

    Attributes
    ----------
    rows : int array or None
        Rows to train on; None is all.
    held_out : int array or None
        Rows to watch.
    n_estimators : int
        Most rounds.
    patience : int
        Rounds without a smaller bill on the held-out rows that end the training; 0 never ends it.
    seed : int
        Seed of row and column samples.
    start : Model or None
        A booster to continue; its rounds count.
    report : callable or None
        Called after each round, with its number and the held-out scores.
    """

    rows: Ints | None
    held_out: Ints | None
    n_estimators: int
    patience: int
    seed: int
    start: Model | None = None
    report: Report | None = None

    @property
    def rounds_to_go(self) -> int:
        """Rounds to train, beyond those of the booster to continue."""
        return max(self.n_estimators - (0 if self.start is None else self.start.n_rounds), 0)

    @property
    def fresh_seed(self) -> int:
        """The seed, another one for rounds that continue: XGBoost starts no old one anew."""
        done = 0 if self.start is None else self.start.n_rounds
        return (self.seed + done) % np.iinfo(np.int32).max

    @property
    def watched(self) -> Ints | None:
        """The rows to stop by: the held-out ones, if there is a patience."""
        return self.held_out if self.patience else None

    def tell(self, rounds: int, scores: Floats | None) -> None:
        """Report a finished round."""
        if self.report is not None:
            self.report(rounds, scores)


class Model(ABC):
    """A trained booster: raw scores, (n,) log-odds for two classes, else (n, k)."""

    booster: Any

    @property
    @abstractmethod
    def n_rounds(self) -> int:
        """Rounds kept."""

    @abstractmethod
    def scores(self, X: AnyArray) -> Floats:
        """Raw scores."""

    @abstractmethod
    def staged_scores(self, X: AnyArray) -> Iterator[Floats]:
        """Raw scores after each round."""

    @abstractmethod
    def contributions(self, X: AnyArray) -> Floats:
        """SHAP values, (n, d + 1) or (n, k, d + 1): they sum to the scores, last is the base."""

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
    threads : int
        Threads of a training.
    device : str
        ``"cpu"``, or what the library calls its GPU.
    parameters : mapping
        The library's own parameters; they win.
    """

    growth: Growth
    threads: int
    device: str = "cpu"
    parameters: Mapping[str, Any] = field(default_factory=dict)

    @abstractmethod
    def train(
        self, X: AnyArray, categorical: list[int], target: Target, job: Job
    ) -> tuple[Model, Floats | None]:
        """Train one booster.

        Parameters
        ----------
        X : array of shape (n, d)
            All rows.
        categorical : list of int
            Columns of X that hold category codes.
        target : Target
            What to train for, on all rows.
        job : Job
            Which rows, how long.

        Returns
        -------
        model : Model
            The booster, cut at its best round.
        held_out : array or None
            Its scores of the held-out rows.
        """


class Watch:
    """The held-out loss of one training: its smallest value and the scores that had it.

    Parameters
    ----------
    target : Target
        What is trained for.
    job : Job
        The training.
    X : array of shape (n, d)
        All rows.
    """

    def __init__(self, target: Target, job: Job, X: AnyArray) -> None:
        assert job.held_out is not None
        self.job = job
        self.part = target.part(job.held_out)
        self.round = self.best_round = 0
        self.best_loss = np.inf
        self.best_scores: Floats | None = None
        if job.start is not None:
            self.round = self.best_round = job.start.n_rounds
            self.best_scores = job.start.scores(X[job.held_out])
            self.best_loss = self.part.loss(self.best_scores)

    def see(self, outputs: AnyArray, is_probability: bool) -> float:
        """The loss of the held-out outputs of one round more."""
        scores = log_odds(outputs) if is_probability else np.asarray(outputs, dtype=np.float64)
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


def log_odds(proba: AnyArray) -> Floats:
    """Probabilities as scores: log-odds of (n,), logarithms of (n, k)."""
    p = np.clip(np.asarray(proba, dtype=np.float64), 1e-15, 1.0 - 1e-15)
    logs: Floats = np.log(p)
    if p.ndim == 1:
        logs -= np.log1p(-p)
    return logs

"""Heads: boosters trained for one target on different rows, their scores averaged."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from scipy.optimize import minimize_scalar
from scipy.special import expit, softmax

from costboost._typing import AnyArray, Floats, Ints
from costboost.flagship.engine import Engine, Job, Model, log_odds
from costboost.flagship.targets import LogLossPart, ProbabilityTarget, Target

__all__ = [
    "Fold",
    "Head",
    "HeldOut",
    "ProbabilityHead",
    "folds",
    "temperature",
    "to_proba",
    "train_head",
]


@dataclass(frozen=True, eq=False)
class Fold:
    """Rows to train on and rows to watch; None is all and none."""

    rows: Ints | None
    held_out: Ints | None


def folds(codes: Ints, n_folds: int, rng: np.random.RandomState) -> list[Fold]:
    """Shuffled folds with the same share of every class, to within a row.

    Parameters
    ----------
    codes : int array of shape (n,)
        Classes of the rows.
    n_folds : int
        How many.
    rng : RandomState
        Shuffles.

    Returns
    -------
    list of Fold
        Each row is held out once.
    """
    order = rng.permutation(len(codes))
    order = order[np.argsort(codes[order], kind="stable")]
    place = np.empty(len(codes), dtype=np.intp)
    place[order] = np.arange(len(codes)) % n_folds
    return [Fold(np.flatnonzero(place != f), np.flatnonzero(place == f)) for f in range(n_folds)]


@dataclass
class Head:
    """Boosters for one target, whose scores are averaged.

    Attributes
    ----------
    models : list of Model
        The boosters.
    temperature : float
        Factor that calibrates their scores.
    """

    models: list[Model]
    temperature: float = 1.0

    def average(self, scores: list[Floats]) -> Floats:
        """One score from those of the boosters."""
        return self.temperature * _mean(scores)

    def scores(self, X: AnyArray) -> Floats:
        """Scores of all boosters together: (n,) for two classes, else (n, k)."""
        return self.average([model.scores(X) for model in self.models])

    def staged_scores(self, X: AnyArray) -> Iterator[Floats]:
        """The scores by round; boosters that have stopped stay where they are."""
        stages = [model.staged_scores(X) for model in self.models]
        last = [next(stage) for stage in stages]
        for _ in range(max(model.n_rounds for model in self.models)):
            yield self.average(last)
            last = [next(stage, old) for stage, old in zip(stages, last, strict=True)]

    def contributions(self, X: AnyArray) -> Floats:
        """SHAP values of the boosters, averaged."""
        return self.temperature * _mean([model.contributions(X) for model in self.models])

    def importances(self, n_features: int) -> Floats:
        """Share of each feature in the total gain, averaged over the boosters."""
        gains = _mean([model.importances(n_features) for model in self.models])
        total = gains.sum()
        return gains / total if total > 0 else gains


class ProbabilityHead(Head):
    """Boosters whose probabilities are averaged.

    An average of log-odds would let one booster that is wrongly sure of itself rule out a class;
    where missing that class is dear, the arithmetic mean of probabilities spends less.
    """

    def average(self, scores: list[Floats]) -> Floats:
        """Log-odds, or logarithms, of the mean calibrated probability."""
        if len(scores) == 1:
            return super().average(scores)
        proba = _mean([to_proba(self.temperature * booster) for booster in scores])
        return log_odds(proba[:, 1] if proba.shape[1] == 2 else proba)


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Scores of rows by the booster that has not trained on them."""

    rows: Ints
    scores: Floats


def train_head(
    engine: Engine,
    X: AnyArray,
    categorical: list[int],
    target: Target,
    jobs: list[Job],
) -> tuple[Head, HeldOut | None]:
    """Train a booster per job.

    Parameters
    ----------
    engine : Engine
        Who trains.
    X : array of shape (n, d)
        All rows.
    categorical : list of int
        Columns of category codes.
    target : Target
        What for.
    jobs : list of Job
        Which rows, how long.

    Returns
    -------
    head : Head
        The boosters, not yet calibrated.
    held_out : HeldOut or None
        What they say of the rows they have not seen.
    """
    trained = [_trained(engine, X, categorical, target, job) for job in jobs]
    models = [model for model, _ in trained]
    head = ProbabilityHead(models) if isinstance(target, ProbabilityTarget) else Head(models)
    seen = [
        (job.held_out, scores)
        for job, (_, scores) in zip(jobs, trained, strict=True)
        if job.held_out is not None and scores is not None
    ]
    if not seen:
        return head, None
    rows, scores = zip(*seen, strict=True)
    return head, HeldOut(np.concatenate(rows), np.concatenate(scores))


def _trained(
    engine: Engine, X: AnyArray, categorical: list[int], target: Target, job: Job
) -> tuple[Model, Floats | None]:
    """A booster, and its scores of the held-out rows."""
    model, scores = job.start, None
    if model is None or job.rounds_to_go:
        model, scores = engine.train(X, categorical, target, job)
    if scores is None and job.held_out is not None:
        scores = model.scores(X[job.held_out])
    return model, scores


def temperature(scores: Floats, labels: Ints, weights: Floats) -> float:
    """The factor of held-out scores that has the smallest log loss.

    One number for all classes (temperature scaling, Guo et al. 2017): it moves no boundary
    between equally dear classes, and has too little freedom to overfit.

    Parameters
    ----------
    scores : array of shape (n,) or (n, k)
        Held-out scores.
    labels : int array of shape (n,)
        True classes.
    weights : array of shape (n,)
        Sample weights.

    Returns
    -------
    float
        Between 1/10 and 10; below 1 if the boosters are too sure of themselves.
    """
    part = LogLossPart(labels, weights)
    best = minimize_scalar(
        lambda log_t: part.loss(np.exp(log_t) * scores),
        bounds=(-np.log(10.0), np.log(10.0)),
        method="bounded",
        options={"xatol": 1e-3},
    )
    return float(np.exp(best.x))


def to_proba(scores: Floats) -> Floats:
    """Scores as probabilities, (n, k)."""
    if scores.ndim == 1:
        return np.stack([expit(-scores), expit(scores)], axis=1)
    return np.asarray(softmax(scores, axis=1))


def _mean(arrays: list[Floats]) -> Floats:
    return np.asarray(sum(arrays[1:], start=arrays[0]) / len(arrays))

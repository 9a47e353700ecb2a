"""Regularised logistic regression as an engine: what trees need many rows for, it sees in few."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from costboost._typing import AnyArray, Floats, Ints
from costboost.gbm.engines.base import Engine, Job, TargetTable, Watch, watched_sets
from costboost.gbm.engines.design import Design, DesignModel
from costboost.gbm.folds import Fold

__all__ = ["LinearEngine", "LinearModel"]

# Inverse penalties, from strong to weak; the held-out loss chooses.
_PENALTIES = (0.003, 0.03, 0.3, 3.0, 30.0)
# The one that is used if no row was held out.
_USUAL = 0.3


class LinearEngine(Engine):
    """Logistic regression with a squared penalty, chosen on held-out rows.

    Only for targets that are log loss, and for tables that are not sparse.
    """

    def train(
        self, table: TargetTable, fold: Fold, job: Job, eval_table: TargetTable | None = None
    ) -> tuple[LinearModel, Floats | None]:
        """Train one model."""
        picked: Any = slice(None) if fold.rows is None else fold.rows
        labels, weights = table.columns.labels[picked], table.columns.weights[picked]
        # One design for all folds, so that their models can be averaged into one.
        design = Design.of(table.X, table.categorical)
        inputs = design(table.X[picked])
        sets = watched_sets(table, fold, job, eval_table)
        # There is nothing to continue: it is fitted at once.
        watch = Watch.over(replace(job, start=None), sets)
        if watch.stop_by is None:
            return _fitted(design, inputs, labels, weights, table.target.n_scores)[-1], None
        other, rows = sets[watch.stop_by]
        held = design(other.X if rows is None else other.X[rows])
        best: LinearModel | None = None
        for model in _fitted(
            design, inputs, labels, weights, table.target.n_scores, penalties=_PENALTIES
        ):
            loss = watch.see(watch.stop_by, model.scores_of(held), is_probability=False)
            if loss >= watch.best_loss:
                break
            best, watch.best_loss = model, loss
            watch.best_scores = model.scores_of(held)
        if best is None:  # the loss is not finite
            best = _fitted(design, inputs, labels, weights, table.target.n_scores)[-1]
            watch.best_scores = best.scores_of(held)
        return best, watch.scores_for(fold)

    def together(self, models: Sequence[Any]) -> LinearModel:
        """The mean of linear scores, which is one."""
        return LinearModel.mean(models)


def _fitted(
    design: Design,
    inputs: Floats,
    labels: Ints,
    weights: AnyArray,
    n_scores: int,
    penalties: tuple[float, ...] = (_USUAL,),
) -> list[LinearModel]:
    """A model per penalty, each started from the one before."""
    found: list[LinearModel] = []
    present = np.unique(labels[weights > 0]) if (weights > 0).any() else np.unique(labels)
    if len(present) < 2:
        return [_constant(design, inputs, int(present[0]), n_scores, len(labels))]
    regression = LogisticRegression(warm_start=True, max_iter=200, tol=1e-4)
    share = np.asarray(weights, dtype=np.float64) / np.mean(weights)
    for penalty in penalties:
        regression.set_params(C=penalty)
        regression.fit(inputs, labels, sample_weight=share)
        slopes, base = regression.coef_.copy(), regression.intercept_.copy()
        if n_scores > 1:
            slopes, base = _spread(slopes, base, present, n_scores, len(labels))
        found.append(LinearModel(design, slopes, base, inputs.mean(axis=0)))
    return found


def _spread(
    slopes: Floats, base: Floats, present: Ints, n_scores: int, n: int
) -> tuple[Floats, Floats]:
    """Scores of all classes; those without a row are unlikely everywhere."""
    if len(present) == 2:  # one score, of the second
        slopes, base = np.vstack([-0.5 * slopes, 0.5 * slopes]), np.append(-0.5 * base, 0.5 * base)
    every = np.zeros((n_scores, slopes.shape[1]))
    start = np.full(n_scores, base.mean() + np.log(0.5 / n))
    every[present], start[present] = slopes, base
    return every, start


def _constant(design: Design, inputs: Floats, label: int, n_scores: int, n: int) -> LinearModel:
    """What rows of one class teach: that class, but for half a row."""
    sure = np.log(2.0 * n)
    if n_scores == 1:
        base = np.array([sure if label == 1 else -sure])
    else:
        base = np.where(np.arange(n_scores) == label, sure, 0.0)
    return LinearModel(design, np.zeros((n_scores, inputs.shape[1])), base, inputs.mean(axis=0))


class LinearModel(DesignModel):
    """A linear score of the inputs.

    Parameters
    ----------
    design : Design
        How rows become inputs.
    slopes : array of shape (n_scores, p)
        Weight of each input.
    base : array of shape (n_scores,)
        Score of inputs that are zero.
    centre : array of shape (p,)
        Mean inputs: contributions are measured from there.
    """

    engine = "linear"

    def __init__(self, design: Design, slopes: Floats, base: Floats, centre: Floats) -> None:
        self.design = design
        self.slopes = slopes
        self.base = base
        self.centre = centre

    @classmethod
    def mean(cls, models: Sequence[LinearModel]) -> LinearModel:
        """One model with the mean score of models that share a design."""
        slopes, base, centre = (
            np.mean([getattr(model, name) for model in models], axis=0)
            for name in ("slopes", "base", "centre")
        )
        return cls(models[0].design, slopes, base, centre)

    def all_scores(self, inputs: Floats) -> Floats:
        """Raw scores of inputs, (n, n_scores)."""
        return np.asarray(inputs @ self.slopes.T + self.base)

    def effects(self, inputs: Floats, score: int) -> Floats:
        """What each input adds to a score of the centre, (n, p)."""
        return np.asarray((inputs - self.centre) * self.slopes[score])

    def sizes(self) -> Floats:
        """Sum of the sizes of each input's slopes."""
        return np.asarray(np.abs(self.slopes).sum(axis=0))

"""Regularised logistic regression as an engine: what trees need many rows for, it sees in few."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.linear_model import LogisticRegression

from costboost._typing import AnyArray, Floats, Ints
from costboost.gbm.engines.base import Engine, Job, Model, TargetTable, Watch, watched_sets
from costboost.gbm.folds import Fold

__all__ = ["MOST", "Design", "LinearEngine", "LinearModel"]

# Inverse penalties, from strong to weak; the held-out loss chooses.
_PENALTIES = (0.003, 0.03, 0.3, 3.0, 30.0)
# The one that is used if no row was held out.
_USUAL = 0.3
# Standardised values beyond are cut off: a line through an outlier says nothing about the others.
MOST = 5.0


@dataclass(frozen=True, eq=False)
class Design:
    """How columns become the inputs of a linear model.

    Numbers are standardised, missing ones replaced by the median and marked; a category becomes a
    column of zeros and ones for each of its values.

    Attributes
    ----------
    numeric, categorical : int array
        Columns of numbers and of category codes.
    medians, means, scales : array
        Of the columns of numbers.
    gaps : int array
        Columns that had missing values.
    sizes : int array
        Number of values of each categorical column.
    """

    numeric: Ints
    categorical: Ints
    medians: Floats
    means: Floats
    scales: Floats
    gaps: Ints
    sizes: Ints

    @classmethod
    def of(cls, X: AnyArray, categorical: list[int]) -> Design:
        """The design for the columns of a table.

        Parameters
        ----------
        X : array of shape (n, d)
            The rows.
        categorical : list of int
            Columns that hold category codes.

        Returns
        -------
        Design
            Ready to transform rows.
        """
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
        """The inputs of a linear model, (n, p)."""
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


class LinearModel(Model):
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

    @property
    def booster(self) -> LinearModel:
        """The model itself: there is no library behind it."""
        return self

    @property
    def n_rounds(self) -> int:
        """One: it is fitted at once."""
        return 1

    def scores_of(self, inputs: Floats) -> Floats:
        """Raw scores of inputs."""
        found = inputs @ self.slopes.T + self.base
        return np.asarray(found[:, 0] if len(self.base) == 1 else found)

    def scores(self, X: AnyArray) -> Floats:
        """Raw scores."""
        return self.scores_of(self.design(X))

    def staged_scores(self, X: AnyArray) -> Iterator[Floats]:
        """The scores, once."""
        yield self.scores(X)

    def contributions(self, X: AnyArray) -> Floats:
        """What each feature adds to the score of a mean row; last the base."""
        moved = self.design(X) - self.centre
        found = np.zeros((len(moved), len(self.base), X.shape[1] + 1))
        sources = self.design.sources
        for score, slope in enumerate(self.slopes):
            parts = moved * slope
            for j in range(X.shape[1]):
                found[:, score, j] = parts[:, sources == j].sum(axis=1)
            found[:, score, -1] = self.base[score] + self.centre @ slope
        return found[:, 0] if len(self.base) == 1 else found

    def importances(self, n_features: int) -> Floats:
        """Mean size of the slopes of each feature's inputs."""
        sizes = np.abs(self.slopes).sum(axis=0)
        return np.asarray(
            np.bincount(self.design.sources, sizes, minlength=n_features), dtype=np.float64
        )


def _median(column: Floats) -> float:
    """The median of the numbers among the values; 0 if there are none."""
    known = column[np.isfinite(column)]
    return float(np.median(known)) if len(known) else 0.0


def _n_codes(column: Floats) -> int:
    known = column[np.isfinite(column)]
    return int(known.max()) + 1 if len(known) else 0

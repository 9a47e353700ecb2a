"""What a worker does with a partition before and after training."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pandas as pd

from costboost._typing import AnyArray, Floats, Ints
from costboost._validation import check_weights
from costboost.costs import Costs
from costboost.flagship import CostBoostClassifier
from costboost.flagship.heads import folds
from costboost.flagship.targets import worths

__all__ = ["Block", "Rows", "Totals", "found_classes", "prepared", "split"]


@dataclass(frozen=True, eq=False)
class Totals:
    """Sums over rows; those of partitions add up.

    Attributes
    ----------
    train_rows, held_out_rows : int
        Rows of each use.
    weight, label_weight : array of shape (k,)
        Sample weights by true class and by cheapest decision.
    worth : array of shape (k,)
        Weighted worth of the decisions by cheapest decision.
    stakes : float
        Weighted price of the dearest decision.
    cost_sums : array of shape (k, k)
        Weighted costs, truth by decision.
    cost_weights : array of shape (k, 1)
        The weights of these sums.
    """

    train_rows: int
    held_out_rows: int
    weight: Floats
    label_weight: Floats
    worth: Floats
    stakes: float
    cost_sums: Floats
    cost_weights: Floats

    def __add__(self, other: Totals) -> Totals:
        return Totals(*(getattr(self, f.name) + getattr(other, f.name) for f in fields(self)))

    @property
    def rows(self) -> int:
        """All rows."""
        return self.train_rows + self.held_out_rows

    @property
    def mean_stakes(self) -> float:
        """What is at stake on a row, on average."""
        return float(self.stakes / self.weight.sum())

    @property
    def mean_costs(self) -> Floats:
        """Costs averaged over the rows; a truth without weight pays the mean price of errors."""
        k = len(self.weight)
        mean: Floats = self.cost_sums / np.where(self.cost_weights > 0, self.cost_weights, 1.0)
        empty = self.cost_weights[:, 0] <= 0
        if empty.any():
            total = self.cost_sums.sum() - np.trace(self.cost_sums)
            mean[empty] = (total / (self.weight.sum() * (k - 1)) * (1.0 - np.eye(k)))[empty]
        return mean


@dataclass(frozen=True, eq=False)
class Rows:
    """Features (float32), costs and sample weights of rows."""

    X: AnyArray
    costs: Costs
    weights: Floats

    def __len__(self) -> int:
        return len(self.weights)

    def take(self, rows: Any) -> Rows:
        """Some of the rows."""
        return Rows(self.X[rows], self.costs.take(rows), self.weights[rows])


@dataclass(frozen=True, eq=False)
class Block:
    """A partition: rows to train on, rows held out, and their sums."""

    train: Rows
    held_out: Rows
    totals: Totals


def found_classes(y: Any) -> AnyArray:
    """Labels that occur in a partition.

    Parameters
    ----------
    y : array or Series of shape (n,)
        Labels.

    Returns
    -------
    array
        Sorted.
    """
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise ValueError(f"y must have shape (n,), one label per row of X; got {labels.shape}.")
    if pd.isna(labels).any():
        raise ValueError("y holds missing labels. Drop these rows of X and y.")
    return np.unique(labels)


def prepared(
    number: int,
    X: Any,
    y: Any,
    costs: Any,
    weights: Any,
    model: CostBoostClassifier,
    seed: int,
    n_folds: int,
) -> Block:
    """Read a partition and hold out some of its rows.

    Parameters
    ----------
    number : int
        Which partition; with ``seed`` it decides who is held out, whatever the workers.
    X, y, costs, weights : array, frame or None
        The partition.
    model : CostBoostClassifier
        Knows columns, classes and ``cost_matrix``.
    seed : int
        Seed of all partitions.
    n_folds : int
        One of so many folds is held out; 0 holds out nothing.

    Returns
    -------
    Block
        Rows of weight 0 are left out.
    """
    for name, part in (("y", y), ("costs", costs), ("sample_weight", weights)):
        if part is not None and len(part) != len(X):
            raise ValueError(
                f"{name} must have the partitions of X: partition {number} of X has {len(X)} rows, "
                f"that of {name} {len(part)}. Make it a column of the same frame, or repartition."
            )
    rows = _read(X, y, costs, weights, model)
    assert rows.costs.codes is not None
    train, held = split(rows.costs.codes, number, seed, n_folds)
    totals = _totals(rows, len(train), len(held))
    return Block(_with_prices(rows.take(train)), rows.take(held), totals)


def split(codes: Ints, number: int, seed: int, n_folds: int) -> tuple[Ints, Ints]:
    """Rows of a partition to train on, and rows held out.

    Parameters
    ----------
    codes : int array of shape (n,)
        Classes of the rows: all get the same share, to within a row.
    number, seed, n_folds : int
        As in `prepared`.

    Returns
    -------
    train, held_out : int arrays
        Row numbers.
    """
    if not (n_folds and len(codes)):
        return np.arange(len(codes)), np.empty(0, dtype=np.intp)
    rng = np.random.RandomState([seed, number])
    # Any fold of them: the first row of all partitions would else be held out.
    fold = folds(codes, n_folds, rng)[rng.randint(n_folds)]
    assert fold.rows is not None and fold.held_out is not None
    return fold.rows, fold.held_out


def _read(X: Any, y: Any, costs: Any, weights: Any, model: CostBoostClassifier) -> Rows:
    """A partition as arrays, rows of weight 0 left out."""
    classes, n = model.classes_, len(X)
    if not n:
        nothing = np.empty((0, model.n_features_in_), dtype=np.float32)
        prices, codes = np.empty((0, len(classes))), np.empty(0, np.intp)
        return Rows(nothing, Costs(classes, prices=prices, codes=codes), np.empty(0))
    matrix = np.asarray(model._read(X, missing=True), dtype=np.float32)
    codes = np.searchsorted(classes, np.asarray(y))
    w = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
    if w.any():  # a partition may weigh nothing, all together may not
        w = check_weights(w, n, "DaskCostBoostClassifier")
    rows = Rows(matrix, model._known_costs(costs, X, n, codes), w)
    return rows if w.all() else rows.take(np.flatnonzero(w))


def _with_prices(rows: Rows) -> Rows:
    """Without the matrices of single rows, which training does not need."""
    costs = rows.costs
    if costs.matrix is None or costs.matrix.ndim == 2:
        return rows
    return Rows(rows.X, Costs(costs.classes, prices=costs.prices, codes=costs.codes), rows.weights)


def _totals(rows: Rows, n_train: int, n_held_out: int) -> Totals:
    costs, w = rows.costs, rows.weights
    assert costs.codes is not None
    k = len(costs.classes)

    def by(codes: Ints, values: Floats) -> Floats:
        return np.asarray(np.bincount(codes, values, minlength=k), dtype=np.float64)

    weight = by(costs.codes, w)
    if costs.matrix is not None and costs.matrix.ndim == 3:
        cost_sums, cost_weights = np.tensordot(w, costs.matrix, 1), np.full(k, w.sum())
    else:
        cost_sums = np.stack([by(costs.codes, w * column) for column in costs.reduced.T], axis=1)
        cost_weights = weight
    return Totals(
        n_train,
        n_held_out,
        weight,
        by(costs.labels, w),
        by(costs.labels, w * worths(costs).sum(axis=1)),
        float(w @ costs.reduced.max(axis=1)),
        cost_sums,
        cost_weights[:, None],
    )

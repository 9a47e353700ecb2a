"""What the workers of a cluster do: read partitions, follow a target, score held-out rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import xgboost as xgb
from distributed import get_worker
from xgboost import collective

from costboost._typing import AnyArray, Floats, Ints
from costboost._validation import check_weights
from costboost.gbm.models import Model
from costboost.gbm.rounds import to_scores
from costboost.gbm.rows import Columns, HoldOut, Pricing, Rows, Totals, strata
from costboost.gbm.sources.dask.repeatable import (
    floored,
    hashed,
    is_drawn,
    log_loss_derivatives,
    on_grid,
)
from costboost.gbm.targets import Target

__all__ = [
    "Partition",
    "Reader",
    "Shard",
    "WorkerTarget",
    "found_labels",
    "group_counts",
    "prepared",
    "sketched_rows",
    "worker_threads",
]

# X, y, costs and sample weights of a partition; None stands for what is not given.
Partition: TypeAlias = "tuple[Any, Any, Any, Any]"


def found_labels(y: Any) -> AnyArray:
    """Labels that occur in a partition."""
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise ValueError(f"y must have shape (n,), one label per row of X; got {labels.shape}.")
    if pd.isna(labels).any():
        raise ValueError("y holds missing labels. Drop these rows of X and y.")
    return np.unique(labels)


@dataclass(frozen=True, eq=False)
class Reader:
    """Reads partitions."""

    features: Columns
    pricing: Pricing

    @property
    def needs_features(self) -> bool:
        """Whether the costs are a function of the features."""
        return self.pricing.needs_columns

    def block(self, number: int, part: Partition, *, features: bool) -> Rows:
        """The rows of a partition that have weight."""
        X, y, costs, weights = part
        n, classes = len(y), self.pricing.classes
        for name, other in (("X", X), ("costs", costs), ("sample_weight", weights)):
            if other is not None and len(other) != n:
                raise ValueError(
                    f"y, costs and sample_weight must have the partitions of X: partition {number} "
                    f"of y has {n} rows, that of {name} {len(other)}. Make it a column of the same "
                    "frame, or repartition."
                )
        if not n:  # whatever the costs are, they are none
            matrix: AnyArray | None = np.empty((0, self.features.n_features), dtype=np.float32)
            return Rows(matrix, self.pricing.nothing(), np.empty(0))
        w = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
        if w.any():  # a partition may weigh nothing, all together may not
            w = check_weights(w, n, self.pricing.owner)
        codes = np.searchsorted(classes, np.asarray(y))
        matrix = np.asarray(self.features.read(X), dtype=np.float32) if features else None
        return Rows(matrix, self.pricing.resolve(costs, X, codes), w).weighted()


def group_counts(number: int, *part: Any, reader: Reader) -> Ints:
    """How many rows of a partition each group has (see `costboost.gbm.rows.strata`)."""
    costs = reader.block(number, part, features=False).costs
    return np.asarray(np.bincount(strata(costs), minlength=2 * len(costs.classes)))


def sketched_rows(
    number: int, *part: Any, reader: Reader, first: int, share: float, seed: int
) -> AnyArray:
    """Columns of the rows of a partition that bins are made from."""
    X = reader.block(number, part, features=True).X
    assert X is not None
    return X[hashed(first + np.arange(len(X)), seed) < share]


@dataclass(frozen=True, eq=False)
class Shard:
    """The rows of a partition."""

    train: Rows
    held_out: Rows
    totals: Totals | None
    marks: AnyArray

    def summary(self) -> tuple[Totals | None, Rows]:
        """The sums, and costs and weights of the held-out rows: small enough to travel."""
        return self.totals, self.held_out.without_features()

    def columns(self, target: Target, *, held_out: bool) -> tuple[AnyArray, ...]:
        """Columns, labels (or gains), weights and marks of some rows, as XGBoost carries them."""
        rows = self.held_out if held_out else self.train
        marks = np.zeros(len(rows)) if held_out else self.marks
        known = target.on(rows.costs, rows.weights)
        labels = known.values if target.learns_gains else known.labels
        assert rows.X is not None
        numbers = (labels, known.weights, marks)
        return rows.X, *(values.astype(np.float32) for values in numbers)

    def scores(self, model: Model) -> Floats:
        """Scores of the held-out rows."""
        assert self.held_out.X is not None
        with xgb.config_context(nthread=worker_threads()):
            return model.scores(self.held_out.X)


def prepared(
    number: int,
    *part: Any,
    reader: Reader,
    rule: HoldOut,
    before: Ints,
    seed: int = 0,
    edges: Sequence[AnyArray | None] | None = None,
) -> Shard:
    """Read a partition and hold out some of its rows."""
    block = reader.block(number, part, features=True)
    if edges is not None and block.X is not None:
        block = Rows(floored(block.X, edges), block.costs, block.weights)
    held = rule.mask(strata(block.costs), before)
    totals = Totals.of(block, int(held.sum())) if len(block) else None
    marks = hashed(int(before.sum()) + np.arange(len(block)), seed)
    return Shard(block.take(~held).with_prices(), block.take(held), totals, marks[~held])


def worker_threads() -> int:
    """Threads of the Dask worker that asks; 1 elsewhere."""
    try:
        return int(get_worker().state.nthreads)
    except ValueError:
        return 1


class WorkerTarget:
    """A target on the rows of a worker's matrix, as XGBoost's custom objective and metric."""

    # What the rows are is read from the matrix in the first round and kept. Workers that are
    # threads of one process share this object, so it keeps a part per matrix.

    def __init__(self, target: Target, share: float = 1.0, seed: int = 0) -> None:
        self.target = target
        self.share = share
        self.seed = seed
        self._rounds: dict[int, int] = {}
        self._largest: dict[int, float] = {}
        # By identity; the matrix is kept too, or another one could get its number.
        self._parts: dict[int, tuple[xgb.DMatrix, Target]] = {}

    def _part(self, data: xgb.DMatrix) -> Target:
        if id(data) not in self._parts:
            labels = data.get_label()
            if self.target.learns_gains:
                labels = labels.reshape(data.num_row(), self.target.n_scores)
            self._parts[id(data)] = data, self.target.carried(labels, data.get_weight())
        return self._parts[id(data)][1]

    def derivatives(self, scores: AnyArray, data: xgb.DMatrix) -> tuple[AnyArray, AnyArray]:
        """Gradient and Hessian, for a target other than log loss, or of a sample of rows."""
        if self.share < 1.0:
            return self._sampled(scores, data)
        return self._own(scores, data)

    def _own(self, scores: AnyArray, data: xgb.DMatrix) -> tuple[AnyArray, AnyArray]:
        """Gradient and Hessian of all rows of the worker."""
        if not data.num_row():  # XGBoost's scores have lost the number of classes there
            k = self.target.n_scores
            nothing = np.zeros((0, k) if k > 1 else 0, dtype=np.float32)
            return nothing, nothing
        if self.target.is_log_loss:
            return log_loss_derivatives(scores, data.get_label(), data.get_weight())
        return self._part(data).derivatives(scores)

    def _sampled(self, scores: AnyArray, data: xgb.DMatrix) -> tuple[AnyArray, AnyArray]:
        """The same wherever the rows are; others than those of the sample have gradient 0."""
        g, h = self._own(scores, data)
        number = self._rounds.get(id(data), 0)
        self._rounds[id(data)] = number + 1
        if number == 0:  # every worker comes here in the first round
            # All workers must hand over numbers of one type.
            size = max(np.abs(g).max(initial=0.0), np.abs(h).max(initial=0.0))
            own = np.array([size], dtype=np.float64)
            largest: Any = collective.allreduce(own, collective.Op.MAX)
            self._largest[id(data)] = float(largest[0])
        if data.num_row():
            marks = data.get_float_info("label_lower_bound")
            drawn = is_drawn(marks, number, self.share, self.seed).reshape(-1, *(1,) * (g.ndim - 1))
            g, h = np.where(drawn, g, 0.0), np.where(drawn, h, 0.0)
        largest_one = self._largest[id(data)]
        return on_grid(g, largest_one), on_grid(h, largest_one)

    def mean_loss(self, outputs: AnyArray, data: xgb.DMatrix) -> tuple[str, float]:
        """Name and value of the mean loss over the rows of all workers, the same on each."""
        sums = np.zeros(2)
        if data.num_row() and self._part(data).weight > 0:
            # With an objective of its own XGBoost hands over probabilities, else raw scores.
            is_probability = self.target.is_log_loss and self.share == 1.0
            scores = to_scores(outputs) if is_probability else np.asarray(outputs, np.float64)
            weight = float(data.get_weight().sum(dtype=np.float64))
            sums[:] = weight * self._part(data).loss(scores), weight
        total: Any = collective.allreduce(sums, collective.Op.SUM)
        # The order of a sum must not decide when to stop.
        return "loss", float(f"{total[0] / total[1]:.12g}")

# mypy: disable-error-code="no-untyped-call"
"""`CostBoostClassifier` on many machines: XGBoost on a Dask cluster.

The module needs Dask and XGBoost: ``pip install "costboost[dask]"``. Rows stay on the workers,
which turn partitions into blocks; sums over blocks and held-out rows come to the client, and the
training is that of a table in memory, with another matrix.
"""

from __future__ import annotations

import asyncio
import copy
import time
from collections.abc import Awaitable, Callable, Mapping
from copy import deepcopy
from dataclasses import KW_ONLY, dataclass, field, replace
from functools import partial, reduce
from typing import Any, ClassVar, Literal, Self

from costboost.columns.files import need

for _name in ("dask", "distributed", "pandas", "xgboost"):
    need(_name, "dask", "costboost.dask")

# ruff: noqa: E402 - after the check
import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd
import xgboost as xgb
from dask.delayed import delayed
from distributed import Client, get_client
from numpy.typing import ArrayLike
from rich.console import Console
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted
from xgboost import collective
from xgboost import dask as xgb_dask

from costboost._typing import AnyArray, Floats, Ints
from costboost._utils import Constraint, check_classes, check_parameters, check_weights, number
from costboost.columns import Columns
from costboost.columns.inference import ColumnStatistics, column_statistics
from costboost.costs import avoidable_share
from costboost.costs.labels import codes_of
from costboost.decisions import Decisions, Explanation, read_limits
from costboost.gbm.classifier import CostBoostClassifier
from costboost.gbm.data import (
    HoldOut,
    StreamedFold,
    Totals,
    TrainingData,
    TrainingTable,
    draw_seed,
    streamed_table,
)
from costboost.gbm.models import Model, TreeModel
from costboost.gbm.objectives import Target, TrainingObjective, to_scores
from costboost.gbm.parameters import RULES, canonical
from costboost.gbm.settings import TrainingSettings
from costboost.gbm.train import ModelTraining
from costboost.gbm.xgboost import feature_types, in_single, make_params, matrix_options
from costboost.trees import from_xgboost

__all__ = ["DaskCostBoostClassifier", "WorkerLostError"]

# Seconds between two looks at the workers, and how long a failed run waits for the news that a
# worker has died.
_LOOK = 0.5
_NEWS = 3.0


class WorkerLostError(RuntimeError):
    """A worker of the cluster died or fell silent while it was needed; the fit was given up."""


@dataclass(eq=False, repr=False)
class DaskCostBoostClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Gradient boosting that takes the decisions of least expected cost, on many machines.

    `costboost.CostBoostClassifier` with ``effort="fast"`` and XGBoost's trees, trained by the
    workers of a Dask cluster: no process ever holds all rows. There is one booster, not
    one per fold, so that the cluster trains once, not five times.

    Parameters
    ----------
    cost_matrix, loss, costs_known, columns, n_estimators, learning_rate, max_leaves
        As in `costboost.CostBoostClassifier`. A loss other than ``"auto"`` takes one cost matrix
        for all rows. A callable ``cost_matrix`` is called with one partition at a time.
    min_samples_leaf, reg_lambda, colsample, early_stopping, n_iter_no_change
        As there.
    subsample : float, default=1.0
        Share of the rows that a round sees. Each worker draws from its own rows, so a share below 1
        does not repeat, and is refused together with a ``random_state``.
    validation_fraction : float, default=0.2
        Share of rows held out to stop early, calibrate and estimate costs: one in
        ``round(1 / validation_fraction)`` of every class, but at most about a million rows. Which
        ones depends on ``random_state`` and the order of the rows, not on partitions or workers.
    calibration : {"temperature", None}, default="temperature"
        How scores are calibrated on held-out rows.
    engine_params : dict, optional
        Parameters of XGBoost; they override the ones above. ``{"device": "cuda"}`` trains on the
        workers' GPUs.
    random_state : int, RandomState or None, default=None
        Seed of held-out rows and samples of columns.
    verbose : int, default=0
        1 prints what is being done, 2 lets workers print the held-out loss of every round.
    worker_timeout : float, default=300
        Seconds that a worker may be silent, or take no work because its memory is full; then
        ``fit`` and ``score`` give up with a `WorkerLostError`. A worker that died is noticed at
        once.
    client : distributed.Client, optional
        The cluster; by default the client in use.

    Attributes
    ----------
    classes_, decisions_, cost_matrix_, model_, n_iter_, estimated_score_, temperature_
        These and all others as in `costboost.CostBoostClassifier`.
    booster_ : lightgbm.Booster
        The booster of probabilities, made from XGBoost's trees.
    boosters_ : list of lightgbm.Booster
        The boosters of probabilities: a list of one.

    See Also
    --------
    costboost.CostBoostClassifier : On one machine.

    Examples
    --------
    >>> import dask.array as da
    >>> from costboost.costs import per_row
    >>> from costboost.dask import DaskCostBoostClassifier
    >>> from costboost.datasets import make_fraud
    >>> from distributed import Client
    >>> data = make_fraud(4000, random_state=0)
    >>> X, y, costs = (
    ...     da.from_array(part, chunks=(1000, *part.shape[1:]))
    ...     for part in (data.X, data.y, per_row(fn=data.amount, fp=5))
    ... )
    >>> with Client(n_workers=2, threads_per_worker=1) as client:  # doctest: +SKIP
    ...     model = DaskCostBoostClassifier(client=client, random_state=0).fit(X, y, costs=costs)
    ...     print(model.score(X, y, costs=costs) > 0.2)
    True
    """

    _rules: ClassVar[Mapping[str, Constraint]] = {**RULES, "worker_timeout": number(1)}
    _local: CostBoostClassifier = field(init=False)

    cost_matrix: Any = None
    _: KW_ONLY
    loss: Any = "auto"
    costs_known: bool | Literal["auto"] = "auto"
    columns: Mapping[str, str] | None = None
    n_estimators: int = 1000
    learning_rate: float | Literal["auto"] = "auto"
    max_leaves: int | Literal["auto"] = "auto"
    min_samples_leaf: int | Literal["auto"] = "auto"
    reg_lambda: float = 5.0
    subsample: float = 1.0
    colsample: float = 0.8
    early_stopping: bool = True
    n_iter_no_change: int = 50
    validation_fraction: float = 0.2
    calibration: Literal["temperature"] | None = "temperature"
    engine_params: dict[str, Any] | None = None
    random_state: Any = None
    verbose: int = 0
    worker_timeout: float = 300.0
    client: Any = None

    def fit(self, X: Any, y: Any, sample_weight: Any = None, *, costs: Any = None) -> Self:
        """Fit the boosters.

        Parameters
        ----------
        X : dask array of shape (n, d) or dask DataFrame
            The rows; what their columns hold is found out as in `CostBoostClassifier.fit`, by all
            partitions.
        y : dask array or Series of shape (n,)
            Their true classes.
        sample_weight : dask array or Series of shape (n,), optional
            Weights of the rows.
        costs : dask array of shape (n, k, k), (n, k) or (n,), or mapping, optional
            Costs of the rows, as in `CostBoostClassifier.fit`; a mapping over columns of X, such as
            ``{"fn": "amount", "fp": 5}``.

        Returns
        -------
        self
            The fitted classifier.

        Raises
        ------
        WorkerLostError
            If a worker died during the training, or one was silent for ``worker_timeout`` seconds.

        Notes
        -----
        ``y``, ``costs`` and ``sample_weight`` must have the partitions of ``X``. Arrays of known
        chunks are brought into them; arrays in memory too, if the chunks of ``X`` are known.
        """
        check_parameters(self)
        owner, cluster = type(self).__name__, _Cluster(self)
        share = canonical(self.engine_params or {}, "xgboost").get("subsample", self.subsample)
        if share < 1 and self.random_state is not None:
            raise ValueError(
                f"The 'subsample' parameter of {owner} must be 1 with a random_state, got {share}: "
                "workers draw from the rows they hold. Set subsample=1, or random_state=None."
            )
        arguments = self.get_params(deep=False)
        del arguments["client"], arguments["worker_timeout"]
        local = CostBoostClassifier(effort="fast", **arguments)
        table = read_dask_table(cluster, X, y, costs, sample_weight, model=local, owner=owner)
        local._fit_table(table)
        self._local = local
        return self

    def predict(self, X: Any, *, costs: Any = None) -> Any:
        """The decision of smallest expected cost for each row, computed when asked for.

        Parameters
        ----------
        X : dask array of shape (n, d) or dask DataFrame
            The rows.
        costs : dask array of shape (n, k, k), optional
            The rows' own cost matrices, where they are known; as in `CostBoostClassifier.predict`.

        Returns
        -------
        dask array or Series of shape (n,)
            Labels of ``decisions_``; a Series with the index of X if X is a DataFrame.
        """
        return self._lazy(X, costs, "predict")

    def predict_cost(self, X: Any, *, costs: Any = None) -> Any:
        """Expected cost of each decision, computed when asked for.

        Parameters
        ----------
        X : dask array of shape (n, d) or dask DataFrame
            The rows.
        costs : dask array of shape (n, k, d), optional
            The rows' own cost matrices, where they are known; else they are expected from the
            columns, as in `CostBoostClassifier.predict_cost`.

        Returns
        -------
        dask array or DataFrame of shape (n, d)
            A column per decision, in the order of ``decisions_``.
        """
        return self._lazy(X, costs, "predict_cost")

    def predict_proba(self, X: Any) -> Any:
        """Calibrated class probabilities, computed when asked for.

        Parameters
        ----------
        X : dask array of shape (n, d) or dask DataFrame
            The rows.

        Returns
        -------
        dask array or DataFrame of shape (n, k)
            A column per class, in the order of ``classes_``.
        """
        return self._lazy(X, None, "predict_proba")

    def explain(self, X: Any, *, costs: Any = None) -> Any:
        """Explain decisions in money, computed when asked for.

        Parameters
        ----------
        X : dask array of shape (n, d) or dask DataFrame
            The rows.
        costs : dask array of shape (n, k, d), optional
            The costs to decide by, as in `predict`.

        Returns
        -------
        dask DataFrame
            A row per row, as `costboost.decisions.Explanation.to_frame` has it: decision,
            runner-up, what the decision saves against it, and a part per feature.
        """
        return self._lazy(X, costs, "explain")

    def decide(
        self,
        X: Any,
        *,
        costs: Any = None,
        capacity: Mapping[Any, Any] | None = None,
        per: Any = None,
        constraints: Any = None,
        prices: ArrayLike | None = None,
    ) -> Decisions:
        """Decide all rows within limits, at the least expected cost.

        Workers find the expected costs. These come to the client, which shares out what is limited:
        16 bytes for each row and decision or class. Without limits, `predict` needs no memory.

        Parameters
        ----------
        X : dask array of shape (n, d) or dask DataFrame
            The rows.
        costs : dask array of shape (n, k, d), optional
            The costs to decide by, as in `predict`.
        capacity, constraints, prices
            As in `CostBoostClassifier.decide`.
        per : str, array or dask collection of shape (n,), optional
            Group of each row, such as its day, or the name of that column: limits hold in each.

        Returns
        -------
        Decisions
            As of `CostBoostClassifier.decide`, in memory, in the order of the rows, without the
            costs of single rows.
        """
        table, parts = self._asked(_weighed, X, costs=costs)
        self._local._check_probabilities("decide")
        found = [p for p in _Cluster(self).gather(parts, "reading the rows") if p is not None]
        if not found:
            raise ValueError(f"X of {type(self).__name__} has no rows. Pass at least one.")
        expected, proba = (np.concatenate([part[i] for part in found]) for i in (0, 1))
        if isinstance(per, str) and isinstance(table, dd.DataFrame) and per in table.columns:
            per = table[per]
        decisions = found[0][2]
        limits = read_limits(
            capacity, constraints, prices, decisions, proba=proba, classes=self.classes_
        )
        return Decisions.from_expected_cost(
            expected,
            limits,
            decisions=decisions,
            classes=self.classes_,
            proba=proba,
            groups=np.asarray(per.compute()) if hasattr(per, "compute") else per,
        )

    def _asked(self, function: Any, X: Any, *more: Any, **others: Any) -> tuple[Any, list[Any]]:
        """The rows as a collection, and what a function of the model makes of each partition."""
        check_is_fitted(self)
        owner, model = type(self).__name__, delayed(self._local)
        table = _as_table(X, owner)
        parts = zip(*_aligned(table, owner, **others), strict=True)
        return table, [delayed(function)(model, *part, *more) for part in parts]

    def _lazy(self, X: Any, costs: Any, method: str) -> Any:
        """The answer of a method for each partition, as a collection like X."""
        table, parts = self._asked(_predicted, X, method, costs=costs)
        if method != "predict":
            self._local._check_probabilities(method)
        example = _predicted(self._local, table._meta, None, method)
        if isinstance(example, pd.DataFrame | pd.Series):
            divisions = getattr(table, "divisions", None)
            return dd.from_delayed(parts, meta=example, divisions=divisions, verify_meta=False)
        arrays = [
            da.from_delayed(part, (size, *example.shape[1:]), example.dtype)
            for part, size in zip(parts, table.chunks[0], strict=True)
        ]
        return da.concatenate(arrays, axis=0, allow_unknown_chunksizes=True)

    def score(self, X: Any, y: Any, sample_weight: Any = None, *, costs: Any = None) -> float:
        """Share of the avoidable cost that the decisions avoid.

        As `CostBoostClassifier.score`; see `costboost.metrics.avoidable_cost_score`.

        Parameters
        ----------
        X : dask array of shape (n, d) or dask DataFrame
            The rows.
        y : dask array or Series of shape (n,)
            Their true classes, all of them among ``classes_``.
        costs : dask array of shape (n, k, k), (n, k) or (n,), optional
            Costs of the rows. Of shape (n, k, k) they are known at decision time, so the
            decisions use them too; the other forms only price them.
        sample_weight : dask array or Series of shape (n,), optional
            Weights of the rows.

        Returns
        -------
        float
            1 if every row is decided right, 0 if the best constant decision does as well, below 0
            if it does better.
        """
        _, paid = self._asked(_costs_paid, X, y=y, costs=costs, sample_weight=sample_weight)
        self._local._judging_costs(costs)  # an error if they are missing
        cost, *constants = np.sum(_Cluster(self).gather(paid, "adding up the costs"), axis=0)
        return avoidable_share(float(cost), np.asarray(constants))

    def to_local(self) -> CostBoostClassifier:
        """The fitted classifier for data in memory, which needs no cluster and no Dask.

        Returns
        -------
        CostBoostClassifier
            The same boosters, costs and calibration.
        """
        check_is_fitted(self)
        return copy.deepcopy(self._local)

    def __getattr__(self, name: str) -> Any:
        # What a fit has found are attributes of the classifier in memory that it made.
        is_result = name.endswith("_") and not name.startswith("_")
        if is_result and self.__sklearn_is_fitted__():
            return getattr(self._local, name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __sklearn_is_fitted__(self) -> bool:
        return "_local" in self.__dict__

    def __sklearn_clone__(self) -> DaskCostBoostClassifier:
        """A copy that is not fitted, on the same cluster: a client cannot be copied."""
        arguments = {**self.get_params(deep=False), "client": None}
        copies = {name: clone(value, safe=False) for name, value in arguments.items()}
        return type(self)(**{**copies, "client": self.client})

    def __getstate__(self) -> dict[str, Any]:
        return {**super().__getstate__(), "client": None}


# --- what a worker does with a partition when a fitted classifier is used -------------------------


def _predicted(model: CostBoostClassifier, X: Any, costs: Any, method: str) -> Any:
    """What a method answers, a frame or a series if X is a frame."""
    labels = model.classes_ if method == "predict_proba" else model.decisions_
    found: Any
    if len(X):  # by as many threads as OMP_NUM_THREADS says, which Dask sets for its workers
        found = getattr(model, method)(X, **({} if costs is None else {"costs": costs}))
    elif method == "explain":
        names = [str(column.name) for column in model.columns_]
        nothing = Decisions(
            np.empty(0, np.intp),
            decisions=labels,
            classes=model.classes_,
            expected_cost=np.empty((0, len(labels))),
        )
        found = Explanation(nothing, np.empty(0), np.empty((0, len(names))), names)
    else:
        found = labels[:0] if method == "predict" else np.empty((0, len(labels)))
    if method == "explain":
        frame = found.to_frame()
        return frame.set_axis(X.index) if isinstance(X, pd.DataFrame) else frame
    if not isinstance(X, pd.DataFrame):
        return found
    if method == "predict":
        return pd.Series(found, X.index)
    return pd.DataFrame(found, X.index, labels.tolist())


def _weighed(model: CostBoostClassifier, X: Any, costs: Any) -> tuple[AnyArray, ...] | None:
    """Expected costs and probabilities of a partition, and the decisions; None without rows."""
    if not len(X):
        return None
    decided = model._decide_with_costs(X, costs, "decide")
    return decided.expected_cost, decided.proba, decided.decisions


def _costs_paid(model: CostBoostClassifier, X: Any, y: Any, costs: Any, weights: Any) -> Floats:
    """What the decisions on a partition cost, and what every constant decision would."""
    if not len(X):
        return np.zeros(1 + len(model.decisions_))
    codes = codes_of(np.asarray(y).tolist(), model.classes_, "y", "Drop these rows.")
    decided = model.decide(X, costs=model._known_when_deciding(costs, len(X)))
    known = model._realized(model.cost_spec_, costs, X, codes)
    w = None if weights is None else np.asarray(weights, dtype=np.float64)
    total, constants = known.totals(decided.chosen, w, reduced=True)
    return np.array([total, *constants])


# --- collections as lists of partitions that belong together --------------------------------------


def _as_table(X: Any, owner: str) -> Any:
    """The rows as a Dask array of one column block or a Dask frame, columns checked."""
    if isinstance(X, dd.DataFrame):
        return X
    if isinstance(X, da.Array) and X.ndim == 2:
        return X if X.numblocks[1] == 1 else X.rechunk({1: -1})
    given = f"{X.ndim}-D dask array" if isinstance(X, da.Array) else type(X).__name__
    raise TypeError(
        f"X of {owner} must be a 2-D dask array or a dask DataFrame, got a {given}. Use "
        "dask.array.from_array, or CostBoostClassifier (after fit: to_local()) in memory."
    )


def _parts_of(rows: Any) -> list[Any]:
    """The delayed partitions of a collection."""
    if isinstance(rows, da.Array):
        return list(np.ravel(rows.to_delayed()))
    # Only the columns that are needed are read. Dask's other optimisations would read files of few
    # columns several at a time: y would have fewer partitions than the X of the same frame.
    return list(rows.simplify().to_delayed(optimize_graph=False))


def _aligned(X: Any, owner: str, **others: Any) -> list[list[Any]]:
    """Delayed partitions of the rows and of what belongs to them; None for what is not given."""
    rows = _parts_of(X)
    found = [rows]
    sizes = X.chunks[0] if isinstance(X, da.Array) else (np.nan,)
    n = sum(sizes)  # NaN if they are unknown
    for name, other in others.items():
        if other is None or isinstance(other, Mapping):  # costs over columns of X
            found.append([other] * len(rows))
            continue
        if not isinstance(other, da.Array | dd.DataFrame | dd.Series):
            other = da.from_array(np.asarray(other))
        if isinstance(other, da.Array):
            chunks: dict[int, Any] = dict.fromkeys(range(1, other.ndim), -1)
            if not np.isnan(n + other.shape[0]):
                if other.shape[0] != n:
                    given = f"the {n} rows of X; got {other.shape[0]}"
                    raise ValueError(f"{name} of {owner} must have an entry for each of {given}.")
                chunks[0] = sizes
            other = other.rechunk(chunks) if chunks else other
        found.append(_parts_of(other))
        if len(found[-1]) != len(rows):
            raise ValueError(
                f"{name} of {owner} must have the {len(rows)} partitions of X, whose sizes are "
                f"unknown; got {len(found[-1])}. Make it a column of the same frame, repartition "
                "both alike, or use X.compute_chunk_sizes()."
            )
    return found


# --- training -------------------------------------------------------------------------------------


def _seen(X: Any, y: Any, columns: Mapping[str, str] | None) -> tuple[AnyArray, Any]:
    """Labels that occur in a partition, and what the columns of a frame hold."""
    labels = np.asarray(y)
    if labels.ndim != 1:
        raise ValueError(f"y must have shape (n,), one label per row of X; got {labels.shape}.")
    if pd.isna(labels).any():
        raise ValueError("y holds missing labels. Drop these rows of X and y.")
    return np.unique(labels), column_statistics(X, columns) if isinstance(X, pd.DataFrame) else None


def _block(
    place: int, part: Any, model: CostBoostClassifier, owner: str, *, features: bool = False
) -> TrainingData | None:
    """The rows of a partition that have weight, with their features if these are wanted."""
    X, y, costs, weights = part
    n = len(y)
    for name, other in (("X", X), ("costs", costs), ("sample_weight", weights)):
        if other is not None and not isinstance(other, Mapping) and len(other) != n:
            raise ValueError(
                f"y, costs and sample_weight must have the partitions of X: partition {place} of y "
                f"has {n} rows, that of {name} {len(other)}. Make it a column of the same frame."
            )
    w = np.ones(n) if weights is None else np.asarray(weights, dtype=np.float64)
    if not w.any():  # a partition may weigh nothing, all together may not
        return None
    w = check_weights(w, n, owner)
    known = model._price(costs, X, np.searchsorted(model.classes_, np.asarray(y)), owner)
    data = TrainingData(None, known, w)
    if features:
        columns = model.columns_
        inputs = columns.read(X).inputs if columns.columns else np.asarray(X)
        data = replace(data, X=in_single(inputs).astype(np.float32))
    return data.with_weight()


def _group_counts(place: int, part: Any, model: CostBoostClassifier, owner: str) -> Ints:
    """How many rows of a partition each stratum has (see `TrainingData.strata`)."""
    block, n = _block(place, part, model, owner), 2 * len(model.classes_)
    return np.zeros(n, np.intp) if block is None else np.bincount(block.strata, minlength=n)


def _split(rule: HoldOut, before: Ints, *part: Any) -> tuple[Any, ...]:
    """Training and held-out rows of a partition, costs of the latter, and the sums over both."""
    block = _block(*part, features=True)
    if block is None:
        return None, None, None, None
    held = rule.held_out(block.strata, before)
    held_out = block.take(held)
    seen = held_out.without_inputs() if held.any() else None
    return block.take(~held), held_out, seen, Totals.of(block, int(held.sum()))


def _columns(shard: Any, held_out: bool, objective: TrainingObjective) -> tuple[AnyArray, ...]:
    """Features, labels and weights of some rows, as XGBoost carries them."""
    rows = shard[held_out]
    target = objective.target(rows.costs, rows.sample_weight)
    return rows.X, target.y.astype(np.float32), target.weight.astype(np.float32)


def _scores(shard: Any, model: Model) -> Floats:
    """Scores of the held-out rows of a partition."""
    return model.predict(shard[1].X)


def _target_of(objective: TrainingObjective, data: Any) -> Target:
    """The target of the rows of a worker's matrix, read from it in the first round."""
    if not hasattr(data, "costboost_target"):
        target = objective.target_of_labels(data.get_label(), data.get_weight())
        data.costboost_target = target
    return data.costboost_target


def derivatives(
    objective: TrainingObjective, scores: AnyArray, data: xgb.DMatrix
) -> tuple[AnyArray, AnyArray]:
    """XGBoost's custom objective, for one other than log loss: gradient and Hessian."""
    if not data.num_row():  # XGBoost's scores have lost the number of classes there
        k = objective.n_scores
        nothing = np.zeros((0, k) if k > 1 else 0, dtype=np.float32)
        return nothing, nothing
    return objective.derivatives(scores, _target_of(objective, data))


def mean_loss(
    objective: TrainingObjective, outputs: AnyArray, data: xgb.DMatrix
) -> tuple[str, float]:
    """XGBoost's custom metric: the mean loss over the rows of all workers, the same on each."""
    sums = np.zeros(2)
    if data.num_row():
        target = _target_of(objective, data)
        if target.total_weight > 0:
            scores = np.asarray(outputs, np.float64)
            if objective.is_log_loss:
                # With an objective of its own XGBoost hands over probabilities.
                scores = to_scores(outputs)
            weight = float(data.get_weight().sum(dtype=np.float64))
            sums[:] = weight * objective.loss(scores, target), weight
    total: Any = collective.allreduce(sums, collective.Op.SUM)
    # The order of a sum must not decide when to stop.
    return "loss", float(f"{total[0] / total[1]:.12g}")


def read_dask_table(
    cluster: _Cluster,
    X: Any,
    y: Any,
    costs: Any,
    sample_weight: Any,
    *,
    model: CostBoostClassifier,
    owner: str,
) -> TrainingTable:
    """Read columns, classes and sums of rows in the memory of a cluster; split them there."""
    table = _as_table(X, owner)
    if y is None:
        raise ValueError(f"{owner} requires y to be passed, but the target y is None.")
    parts = _aligned(table, owner, y=y, costs=costs, sample_weight=sample_weight)
    partitions = list(enumerate(zip(*parts, strict=True)))
    tasks = [delayed(_seen)(*part[:2], model.columns) for _, part in partitions]
    labels, seen = zip(*cluster.gather(tasks, "reading y and the columns"), strict=True)
    classes = np.unique(np.concatenate([p for p in labels if len(p)] or labels))
    check_classification_targets(np.repeat(classes, 2))  # or many classes are a warning
    check_classes(classes, owner)
    if isinstance(table, da.Array):
        columns = Columns((), table.shape[1])
    else:
        merged = {}
        for name in seen[0]:
            parts_of_column = [part[name] for part in seen]
            merged[name] = reduce(ColumnStatistics.merge, parts_of_column)
        columns = model._learn_columns(merged, str(getattr(y, "name", None) or ""))
    model.classes_ = classes
    model.columns_ = columns
    model.cost_spec_ = model._parse_costs(deepcopy(model.cost_matrix))
    needs_columns = model.cost_spec_.is_per_row or isinstance(costs, Mapping)
    if costs is None and not needs_columns:
        # A mistake in the matrix is found here, not by the workers.
        model._price(None, None, np.empty(0, dtype=np.intp), owner)
    rng = check_random_state(model.random_state)
    shared = delayed(model, traverse=False)
    before = np.zeros((len(partitions) + 1, 2 * len(classes)), dtype=np.intp)
    if model.early_stopping:  # rows of each stratum before each partition
        read = [(i, part if needs_columns else (None, *part[1:])) for i, part in partitions]
        counts = [delayed(_group_counts)(*part, shared, owner) for part in read]
        before[1:] = np.cumsum(cluster.gather(counts, "reading the costs"), axis=0)
    rule = HoldOut.of(model, int(before[-1].sum()), len(classes), rng)
    seed = draw_seed(rng)
    shards = cluster.client.persist(
        [delayed(_split)(rule, before[i], i, part, shared, owner) for i, part in partitions]
    )
    # What the client needs of them is small enough to travel.
    sums = cluster.gather([shard[2:] for shard in shards], "reading the rows")
    # With the numbers of training and held-out rows.
    sizes = [(t.rows - t.held_out_rows, t.held_out_rows) if t else (0, 0) for _, t in sums]
    fold = DaskFold(
        seed,
        cluster=cluster,
        shards=list(zip(shards, sizes, strict=True)),
        columns=columns,
        verbose=model.verbose,
    )
    return streamed_table(
        sums,
        owner=owner,
        columns=columns,
        loss=model.loss,
        has_row_costs=costs is not None,
        fold=fold,
        is_local=False,
    )


@dataclass(frozen=True, eq=False)
class DaskFold(StreamedFold):
    """Training rows in the memory of a cluster; no process holds all of them."""

    cluster: _Cluster = field(kw_only=True)
    # Each partition, with the numbers of its training and held-out rows.
    shards: list[tuple[Any, tuple[int, int]]] = field(kw_only=True)
    columns: Columns = field(kw_only=True)
    verbose: int = field(kw_only=True)

    def fit_model(self, training: ModelTraining) -> TreeModel:
        """Train on the cluster."""
        owner = self.cluster.owner
        doing = f"training the {training.objective.name} booster"
        say = Console(quiet=not self.verbose).print
        n_rows = sum(n for _, (n, _) in self.shards)
        say(f"{owner}: {doing} on {n_rows} rows in {len(self.shards)} partitions")
        model: TreeModel = self.cluster.guarded(partial(self._train, training), doing)
        say(f"{owner}: {model.n_rounds} rounds")
        return model

    def predict_held_out(self, model: Model, held_out: TrainingData) -> Floats:
        """Return the scores of the held-out rows, found by the workers."""
        shared = delayed(model, traverse=False)
        parts = [delayed(_scores)(shard, shared) for shard, (_, n) in self.shards if n]
        return np.concatenate(self.cluster.gather(parts, "scoring held-out rows"))

    async def _train(self, training: ModelTraining, needed: set[str]) -> TreeModel:
        """One training; tells which workers it needs as soon as that is known."""
        objective = training.objective
        settings = training.settings
        data = await self._matrix(objective, settings)
        needed |= set(data.worker_map)
        options: dict[str, Any] = {}
        # There may be no held-out row on which errors cost anything.
        if training.stops_early:
            held_out = await self._matrix(objective, settings, ref=data)
            needed |= set(held_out.worker_map)
            options = {
                "evals": [(held_out, "held_out")],
                "early_stopping_rounds": settings.n_iter_no_change,
                "custom_metric": partial(mean_loss, objective),
            }
        if not objective.is_log_loss:
            options["obj"] = partial(derivatives, objective)
        result = await xgb_dask.train(
            self.cluster.client,
            make_params(training),
            data,
            num_boost_round=settings.n_estimators,
            verbose_eval=self.verbose > 1,
            **options,
        )
        booster = result["booster"]
        if "evals" in options:
            training.losses += [float(loss) for loss in result["history"]["held_out"]["loss"]]
            booster = booster[: booster.best_iteration + 1]
        trees = from_xgboost(booster)
        return TreeModel(trees, self.columns.n_inputs, "xgboost", objective.is_log_loss)

    async def _matrix(
        self, objective: TrainingObjective, settings: TrainingSettings, ref: Any = None
    ) -> Any:
        """Rows binned by the workers that hold them; held-out ones by a reference."""
        types = feature_types(self.columns.n_inputs, self.columns.categorical)
        held_out, shared = ref is not None, delayed(objective, traverse=False)
        used = [
            (delayed(_columns, nout=3)(shard, held_out, shared), sizes[held_out])
            for shard, sizes in self.shards
            if sizes[held_out]
        ]

        def column(i: int, *width: int) -> Any:
            arrays = [da.from_delayed(part[i], (n, *width), np.float32) for part, n in used]
            return da.concatenate(arrays)

        return await xgb_dask.DaskQuantileDMatrix(
            self.cluster.client,
            column(0, self.columns.n_inputs),
            column(1),
            weight=column(2),
            ref=ref,
            **matrix_options(settings, types),
        )


# --- waiting for a cluster without hanging --------------------------------------------------------


class _Cluster:
    """The cluster of a classifier, and how long its workers may be silent."""

    def __init__(self, model: DaskCostBoostClassifier) -> None:
        self.owner, self.seconds = type(model).__name__, model.worker_timeout
        try:
            self.client: Client = get_client() if model.client is None else model.client
        except ValueError:
            text = "found no Dask client. Start one, distributed.Client(...), or pass client="
            raise RuntimeError(f"{self.owner} {text}.") from None

    def gather(self, parts: list[Any], doing: str) -> list[Any]:
        """Results of delayed objects, or an error if the workers are gone."""

        async def run(_: set[str]) -> Any:
            return await self.client.gather(self.client.compute(parts))

        return list(self.guarded(run, doing))

    def guarded(self, run: Callable[[set[str]], Awaitable[Any]], doing: str) -> Any:
        """Run a coroutine on the cluster; give up when a worker that it needs dies or is silent."""
        # XGBoost's workers wait for each other in every round, so the loss of one ends a training:
        # by an error of the others in most cases, but by nothing at all if no worker is left to
        # fail. The coroutine adds the workers that it cannot do without to the set it is given.

        async def watch() -> Any:
            needed: set[str] = set()
            signs: dict[Any, Any] = {}
            known = before = await self._workers(doing)
            task = asyncio.ensure_future(run(needed))
            try:
                while not (await asyncio.wait({task}, timeout=_LOOK))[0]:
                    now = await self._workers(doing)
                    silent = silent_workers(now, needed, signs, time.monotonic(), self.seconds)
                    if silent:
                        words = ", ".join(f"{a} {what}" for a, what in sorted(silent.items()))
                        raise self._error(
                            doing,
                            f"for {self.seconds:g} seconds the worker {words}. Restart it "
                            "(client.restart()), give workers more memory, or raise "
                            "worker_timeout, and call fit again",
                        )
                    known = {**now, **known} if needed else now
                    # Dask repeats the work of a lost worker elsewhere, if there is an elsewhere.
                    lost = _gone(needed, known, now) if now else needed or set(before)
                    if lost:
                        raise self._lost(doing, lost)
            except WorkerLostError:
                task.cancel()
                await asyncio.wait({task}, timeout=_NEWS)
                raise
            try:
                return task.result()
            except Exception as error:
                # The others may fail before the scheduler hears of the loss. Dask itself makes up
                # for a loss, so an error outside a training has most likely another cause.
                for _ in range(round(_NEWS / _LOOK) if needed else 1):
                    now = await self._workers(doing)
                    lost = _gone(needed or set(before), {**before, **known}, now)
                    if lost:
                        raise self._lost(doing, lost) from error
                    await asyncio.sleep(_LOOK if needed else 0.0)
                raise

        with self.client.as_current():
            return self.client.sync(watch)

    async def _workers(self, doing: str) -> dict[str, Any]:
        """What the scheduler knows of each worker, by address."""
        try:
            scheduler: Any = self.client.scheduler
            found = await asyncio.wait_for(scheduler.identity(), max(self.seconds, _NEWS))
        except (TimeoutError, OSError) as error:
            why = f" ({error})" if str(error) else ""
            raise self._error(
                doing,
                f"the scheduler of the cluster does not answer{why}. Start the cluster anew and "
                "call fit again",
            ) from error
        return dict(found["workers"])

    def _lost(self, doing: str, lost: set[str]) -> WorkerLostError:
        return self._error(
            doing,
            f"it lost the worker {', '.join(sorted(lost))}. Call fit again: it uses the workers "
            "that are left, or restarted. If the worker ran out of memory (see its log), give "
            "workers more memory or use more of them",
        )

    def _error(self, doing: str, what: str) -> WorkerLostError:
        return WorkerLostError(f"{self.owner} gave up while {doing}, no model was made: {what}.")


def silent_workers(
    workers: Mapping[str, Any], needed: set[str], signs: dict[Any, Any], now: float, seconds: float
) -> dict[str, str]:
    """Workers that are silent or stuck for so many seconds, and what is wrong with each."""
    # `signs` keeps signs of life of each worker, and when they changed by the clock of this
    # process: clocks of other machines do not matter.
    found: dict[str, set[str]] = {"silent": set(), "stuck": set()}
    for address, worker in workers.items():
        # A worker whose memory is nearly full is paused: what it does goes on, but nothing begins.
        # It is stuck if it does nothing.
        counts = worker.get("metrics", {}).get("task_counts", {})
        is_busy = counts.get("executing") or counts.get("long-running")
        is_stuck = worker.get("status") == "paused" and not is_busy
        lives = {"silent": worker["last_seen"], "stuck": "stuck" if is_stuck else now}
        for kind, sign in lives.items():
            if signs.get((address, kind), (None, now))[0] != sign:
                signs[address, kind] = sign, now
            if now - signs[address, kind][1] > seconds:
                found[kind].add(address)
    silent, stuck = found.values()
    # One that is stuck holds up a training that needs it, and all else only if the others are, too.
    if not stuck & needed and stuck != set(workers):
        stuck = set()
    return {
        **dict.fromkeys(stuck, "has no memory left to begin its work"),
        **dict.fromkeys(silent, "does not answer"),
    }


def _gone(addresses: set[str], known: Mapping[str, Any], now: Mapping[str, Any]) -> set[str]:
    """Workers that have left, or that others of the same address have replaced."""
    folder = "local_directory"  # a process that is started anew has a new one
    return {a for a in addresses if a not in now or now[a][folder] != known.get(a, now[a])[folder]}

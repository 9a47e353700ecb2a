# mypy: disable-error-code="no-untyped-call"
"""Dask collections as a source of rows: another matrix, and XGBoost's training on many workers."""

from __future__ import annotations

from collections.abc import Callable
from functools import reduce
from operator import add
from typing import Any

import dask.array as da
import numpy as np
from dask.delayed import delayed
from distributed import Client
from rich.console import Console
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from xgboost import dask as xgb_dask

from costboost._frames import FrameEncoder, categorical_columns
from costboost._typing import AnyArray, Floats, Ints
from costboost.gbm.members import Candidate
from costboost.gbm.models import Model, XGBoostModel
from costboost.gbm.rounds import Rounds
from costboost.gbm.rows import (
    LARGEST_SEED,
    Columns,
    Pricing,
    Rows,
    Totals,
    TrainingRows,
    check_classes,
    hold_out_rule,
)
from costboost.gbm.sources.dask.guard import SILENCE, Crew, gather, guarded
from costboost.gbm.sources.dask.partitions import Parts, aligned, as_table, example_rows
from costboost.gbm.sources.dask.repeatable import SKETCHED_ROWS, edges_of
from costboost.gbm.sources.dask.training import (
    Reader,
    WorkerTarget,
    found_labels,
    group_counts,
    prepared,
    sketched_rows,
)
from costboost.gbm.targets import Target
from costboost.gbm.xgboost import feature_types, matrix_options, parameters_for

__all__ = ["DaskSource"]


class DaskSource(TrainingRows):
    """Training rows in the memory of a cluster; no process holds all of them."""

    is_local = False

    def __init__(
        self,
        client: Client,
        X: Any,
        y: Any,
        costs: Any,
        sample_weight: Any,
        cost_matrix: Any,
        model: Any,
        owner: str,
        worker_timeout: float = SILENCE,
    ) -> None:
        self.client = client
        self.worker_timeout = worker_timeout
        self.model = model
        self.owner = owner
        table = as_table(X, owner)
        if y is None:
            raise ValueError(f"{owner} requires y to be passed, but the target y is None.")
        if model.loss != "auto" and (costs is not None or callable(cost_matrix)):
            raise ValueError(
                f"The 'loss' parameter of {owner}, {model.loss!r}, takes one cost matrix for "
                "all rows, and the rows have costs of their own. Use loss='auto'."
            )
        parts = aligned(table, owner, y=y, costs=costs, sample_weight=sample_weight)
        self.columns = _columns(table)
        self.classes = self._classes(parts[1])
        self.has_row_costs = costs is not None
        reader = Reader(
            self.columns, Pricing(cost_matrix, self.classes, owner, model.loss != "auto")
        )
        if costs is None and not reader.needs_features:
            # A mistake in the matrix is found here, not by the workers.
            reader.pricing.resolve(None, None, np.empty(0, dtype=np.intp))
        rng = check_random_state(model.random_state)
        before, n_rows = self._counted(parts, reader)
        rule = hold_out_rule(model, n_rows, len(self.classes), rng)
        self.seeds = [int(rng.randint(LARGEST_SEED))]
        shared = delayed(reader, traverse=False)
        edges = self._edges(parts, shared, before, n_rows) if self._samples else None
        told = delayed(edges, traverse=False)
        self.shards = client.persist(
            [
                delayed(prepared)(
                    i,
                    *part,
                    reader=shared,
                    rule=rule,
                    before=before[i],
                    seed=self.seeds[0],
                    edges=told,
                )
                for i, part in enumerate(zip(*parts, strict=True))
            ]
        )
        found: list[tuple[Totals | None, Rows]] = self._gather(
            [shard.summary() for shard in self.shards], "reading the rows"
        )
        known = [totals for totals, _ in found if totals is not None]
        if not known:
            raise ValueError(
                f"sample_weight of {owner} must not be zero on all rows, and it is. Leave it out "
                "to weigh all rows alike."
            )
        self.totals = reduce(add, known)
        self.sizes = [
            (0, 0) if totals is None else (totals.train_rows, totals.held_out_rows)
            for totals, _ in found
        ]
        held = [block for _, block in found if len(block)]
        self._held_out = Rows.joined(held) if held else None

    @property
    def _samples(self) -> bool:
        """Whether rounds see a sample of the rows; then we draw it, and fits repeat."""
        return self.model.subsample < 1.0

    def _edges(self, parts: list[Parts], reader: Any, before: list[Ints], n_rows: int) -> Any:
        """Lower edges of the bins of each column, from rows drawn by their number."""
        share = min(SKETCHED_ROWS / max(n_rows, 1), 1.0)
        found = self._gather(
            [
                delayed(sketched_rows)(
                    i,
                    *part,
                    reader=reader,
                    first=int(before[i].sum()),
                    share=share,
                    seed=self.seeds[0],
                )
                for i, part in enumerate(zip(*parts, strict=True))
            ],
            "reading rows for bins",
        )
        n_bins = int((self.model.engine_params or {}).get("max_bin") or 256)
        return edges_of(np.concatenate(found), n_bins, self.columns.categorical)

    def _counted(self, parts: list[Parts], reader: Reader) -> tuple[list[Ints], int]:
        """Rows of each group before each partition, and of all; not counted if none is held out."""
        n_groups = 2 * len(self.classes)
        if not self.model.early_stopping and not self._samples:
            return [np.zeros(n_groups, dtype=np.intp)] * len(parts[0]), 0
        X, *others = parts
        rows = X if reader.needs_features else [None] * len(X)
        shared = delayed(reader, traverse=False)
        counts = self._gather(
            [
                delayed(group_counts)(i, *part, reader=shared)
                for i, part in enumerate(zip(rows, *others, strict=True))
            ],
            "reading the costs",
        )
        sums = np.cumsum([np.zeros(n_groups, dtype=np.intp), *counts], axis=0)
        return list(sums[:-1]), int(sums[-1].sum())

    def _gather(self, parts: Parts, doing: str) -> list[Any]:
        return gather(self.client, parts, doing, self.owner, self.worker_timeout)

    def _classes(self, y: Parts) -> AnyArray:
        """All labels that occur."""
        found = self._gather([delayed(found_labels)(part) for part in y], "reading y")
        classes = np.unique(np.concatenate([part for part in found if len(part)] or found))
        check_classification_targets(classes)
        check_classes(classes, self.owner)
        return classes

    def held_out(self, number: int | None = None) -> Rows | None:
        """Costs and weights of the held-out rows."""
        return self._held_out

    def fit(
        self,
        kind: Candidate,
        target: Target,
        number: int | None,
        rounds: Rounds,
        threads: int | None,
    ) -> tuple[Model, Floats | None]:
        """Train on the cluster."""
        doing = f"training the {target.name} booster"
        self._say(f"{doing} on {self.totals.train_rows} rows in {len(self.shards)} partitions")
        training = self._training(kind, target, rounds)
        model = guarded(self.client, training, doing, self.owner, self.worker_timeout)
        self._say(f"{model.n_rounds} rounds")
        return model, self._held_out_scores(model)

    def _training(self, kind: Candidate, target: Target, rounds: Rounds) -> Callable[[Crew], Any]:
        """The training, to be guarded: a coroutine that returns the model."""

        async def train(crew: Crew) -> XGBoostModel:
            data = await self._matrix(kind, target, held_out=False)
            options: dict[str, Any] = {}
            share = kind.subsample if self._samples else 1.0
            if rounds.stop_by is not None:
                watched = await self._matrix(kind, target, held_out=True, ref=data)
                options = {
                    "evals": [(watched, "held_out")],
                    "early_stopping_rounds": rounds.patience,
                    "custom_metric": WorkerTarget(target, share).mean_loss,
                }
            if not target.is_log_loss or self._samples:
                options["obj"] = WorkerTarget(target, share, rounds.seed).derivatives
            crew.needs(
                address
                for matrix in (data, *(matrix for matrix, _ in options.get("evals", ())))
                for address in matrix.worker_map
            )
            parameters = parameters_for(kind, target, rounds.seed, None)
            if self._samples:
                parameters["subsample"] = 1.0  # rows that are not drawn have gradient 0
                if target.is_log_loss and target.n_scores == 1:
                    masses = np.asarray(target.masses)
                    mean = float(masses[1] / masses.sum())
                    parameters.setdefault("base_score", min(max(mean, 1e-6), 1.0 - 1e-6))
            if target.learns_gains:
                # Labels of d columns make d scores, and XGBoost wants no classes beside them.
                parameters = {
                    "objective": "reg:squarederror",
                    **{name: p for name, p in parameters.items() if name != "num_class"},
                }
            result = await xgb_dask.train(
                self.client,
                parameters,
                data,
                num_boost_round=rounds.n_rounds,
                verbose_eval=self.model.verbose > 1,
                **options,
            )
            booster = result["booster"]
            if "evals" in options:
                for loss in result["history"]["held_out"]["loss"]:
                    rounds.tell({"held_out": float(loss)})
                booster = booster[: booster.best_iteration + 1]
            return XGBoostModel(booster, self._types)

        return train

    @property
    def _types(self) -> list[str] | None:
        return feature_types(self.columns.n_features, self.columns.categorical)

    async def _matrix(
        self, kind: Candidate, target: Target, *, held_out: bool, ref: Any = None
    ) -> Any:
        """The rows of one use, binned by the workers that hold them."""
        shared = delayed(target, traverse=False)
        used = [
            (shard.columns(shared, held_out=held_out), sizes[held_out])
            for shard, sizes in zip(self.shards, self.sizes, strict=True)
            if sizes[held_out]
        ]

        def column(i: int, *width: int) -> Any:
            arrays = [da.from_delayed(part[i], (n, *width), np.float32) for part, n in used]
            return da.concatenate(arrays)

        return await xgb_dask.DaskQuantileDMatrix(
            self.client,
            column(0, self.columns.n_features),
            column(1, *((target.n_scores,) if target.learns_gains else ())),
            weight=column(2),
            label_lower_bound=column(3),
            ref=ref,
            **matrix_options(kind, self._types),
        )

    def _held_out_scores(self, model: Model) -> Floats | None:
        """Scores of the held-out rows of all blocks, in order."""
        if self._held_out is None:
            return None
        shared = delayed(model, traverse=False)
        parts = [
            shard.scores(shared)
            for shard, (_, held) in zip(self.shards, self.sizes, strict=True)
            if held
        ]
        return np.concatenate(self._gather(parts, "scoring held-out rows"))

    def _say(self, what: str) -> None:
        if self.model.verbose:
            Console().print(f"{self.owner}: {what}")


def _columns(table: Any) -> Columns:
    """The columns of a collection, with the categories that all partitions know."""
    example = example_rows(table)
    categorical = categorical_columns(example)
    names = getattr(example, "columns", None)
    has_names = names is not None and all(isinstance(name, str) for name in names)
    return Columns(
        example.shape[1],
        np.asarray(names, dtype=object) if has_names else None,
        FrameEncoder(example, categorical) if categorical else None,
    )

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
from costboost.gbm.blocks import Block, Features, Pricing, check_classes, joined
from costboost.gbm.engines.base import Engine, Job, Seen
from costboost.gbm.engines.xgboost import XGBoostEngine, feature_types
from costboost.gbm.members import Recipe
from costboost.gbm.models import Model, XGBoostModel
from costboost.gbm.settings import Settings
from costboost.gbm.sources.base import Source, Trainer, hold_out_rule
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
from costboost.gbm.totals import Totals

__all__ = ["DaskSource"]


class DaskSource(Source):
    """Training rows in the memory of a cluster; no process holds all of them."""

    tells_rounds = False

    def __init__(
        self,
        client: Client,
        X: Any,
        y: Any,
        costs: Any,
        sample_weight: Any,
        cost_matrix: Any,
        settings: Settings,
        worker_timeout: float = SILENCE,
    ) -> None:
        self.client = client
        self.worker_timeout = worker_timeout
        self.settings = settings
        owner = settings.owner
        table = as_table(X, owner)
        if y is None:
            raise ValueError(f"{owner} requires y to be passed, but the target y is None.")
        if settings.loss != "auto" and (costs is not None or callable(cost_matrix)):
            raise ValueError(
                f"The 'loss' parameter of {owner}, {settings.loss!r}, takes one cost matrix for "
                "all rows, and the rows have costs of their own. Use loss='auto'."
            )
        parts = aligned(table, owner, y=y, costs=costs, sample_weight=sample_weight)
        self.features = _columns(table)
        self.classes = self._classes(parts[1])
        self.has_row_costs = costs is not None
        reader = Reader(
            self.features, Pricing(cost_matrix, self.classes, owner, settings.loss != "auto")
        )
        if costs is None and not reader.needs_features:
            # A mistake in the matrix is found here, not by the workers.
            reader.pricing.resolve(None, None, np.empty(0, dtype=np.intp))
        rng = check_random_state(settings.random_state)
        before, n_rows = self._counted(parts, reader)
        rule = hold_out_rule(settings, n_rows, len(self.classes), rng)
        self.seeds = [int(rng.randint(Settings.largest_seed))]
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
        found: list[tuple[Totals | None, Block]] = self._gather(
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
        self._held_out = joined(held) if held else None

    @property
    def _samples(self) -> bool:
        """Whether rounds see a sample of the rows; then we draw it, and fits repeat."""
        return self.settings.subsample < 1.0

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
        n_bins = int((self.settings.engine_params or {}).get("max_bin") or 256)
        return edges_of(np.concatenate(found), n_bins, self.features.categorical)

    def _counted(self, parts: list[Parts], reader: Reader) -> tuple[list[Ints], int]:
        """Rows of each group before each partition, and of all; not counted if none is held out."""
        n_groups = 2 * len(self.classes)
        if not self.settings.early_stopping and not self._samples:
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
        return gather(self.client, parts, doing, self.settings.owner, self.worker_timeout)

    def _classes(self, y: Parts) -> AnyArray:
        """All labels that occur."""
        found = self._gather([delayed(found_labels)(part) for part in y], "reading y")
        classes = np.unique(np.concatenate([part for part in found if len(part)] or found))
        check_classification_targets(classes)
        check_classes(classes, self.settings.owner)
        return classes

    def engine(self, settings: Settings, recipe: Recipe) -> Engine:
        """XGBoost, with the threads of the workers."""
        return settings.make_engine(recipe, self.totals.rows, own_threads=False)

    def held_out(self, number: int | None = None) -> Block | None:
        """Costs and weights of the held-out rows."""
        return self._held_out

    def trainer(self, engine: Engine, target: Target) -> Trainer:
        """Trains on the cluster."""
        assert isinstance(engine, XGBoostEngine)
        owner, n_parts = self.settings.owner, len(self.shards)

        def train(number: int | None, job: Job) -> tuple[Model, Floats | None]:
            doing = f"training the {target.name} booster"
            self._say(f"{doing} on {self.totals.train_rows} rows in {n_parts} partitions")
            training = self._training(engine, target, job)
            model = guarded(self.client, training, doing, owner, self.worker_timeout)
            self._say(f"{model.n_rounds} rounds")
            return model, self._held_out_scores(model)

        return train

    def _training(self, engine: XGBoostEngine, target: Target, job: Job) -> Callable[[Crew], Any]:
        """The training, to be guarded: a coroutine that returns the model."""

        async def train(crew: Crew) -> XGBoostModel:
            data = await self._matrix(engine, target, held_out=False)
            options: dict[str, Any] = {}
            share = engine.growth.subsample if self._samples else 1.0
            if self._is_watched(target, job):
                watched = await self._matrix(engine, target, held_out=True, ref=data)
                options = {
                    "evals": [(watched, "held_out")],
                    "early_stopping_rounds": job.patience,
                    "custom_metric": WorkerTarget(target, share).mean_loss,
                }
            if not target.is_log_loss or self._samples:
                options["obj"] = WorkerTarget(target, share, job.fresh_seed).derivatives
            crew.needs(
                address
                for matrix in (data, *(matrix for matrix, _ in options.get("evals", ())))
                for address in matrix.worker_map
            )
            parameters = engine.parameters_for(target, job.fresh_seed)
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
                num_boost_round=job.n_estimators,
                verbose_eval=self.settings.verbose > 1,
                **options,
            )
            booster = result["booster"]
            if "evals" in options:
                for t, loss in enumerate(result["history"]["held_out"]["loss"], start=1):
                    job.tell(Seen(t, {"held_out": float(loss)}, {}))
                booster = booster[: booster.best_iteration + 1]
            return XGBoostModel(booster, self._types)

        return train

    def _is_watched(self, target: Target, job: Job) -> bool:
        """Whether there is a held-out loss to stop by."""
        held = self._held_out
        if held is None or not job.patience:
            return False
        return target.part(target.columns(held.costs, held.weights)).weight > 0

    @property
    def _types(self) -> list[str] | None:
        return feature_types(self.features.n_features, self.features.categorical)

    async def _matrix(
        self, engine: XGBoostEngine, target: Target, *, held_out: bool, ref: Any = None
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
            column(0, self.features.n_features),
            column(1, *((target.n_scores,) if target.learns_gains else ())),
            weight=column(2),
            label_lower_bound=column(3),
            ref=ref,
            **engine.matrix_options(self._types),
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
        if self.settings.verbose:
            Console().print(f"{self.settings.owner}: {what}")


def _columns(table: Any) -> Features:
    """The columns of a collection, with the categories that all partitions know."""
    example = example_rows(table)
    categorical = categorical_columns(example)
    names = getattr(example, "columns", None)
    has_names = names is not None and all(isinstance(name, str) for name in names)
    return Features(
        example.shape[1],
        np.asarray(names, dtype=object) if has_names else None,
        FrameEncoder(example, categorical) if categorical else None,
    )

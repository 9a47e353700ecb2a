"""Parquet files as a source of rows: quantised features on disk, a few batches in memory."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from costboost._state import fingerprint
from costboost._typing import Bools, Floats
from costboost.costs.checks import parameter
from costboost.gbm.blocks import Block, check_classes, joined
from costboost.gbm.engines.base import Engine, Job, Watch
from costboost.gbm.folds import strata
from costboost.gbm.members import Recipe
from costboost.gbm.models import Model
from costboost.gbm.settings import Settings
from costboost.gbm.sources.base import Source, Trainer, hashes, hold_out_rule
from costboost.gbm.sources.parquet.files import ParquetFiles
from costboost.gbm.sources.parquet.reading import ParquetTable
from costboost.gbm.sources.parquet.spill import spill_bytes, spill_folder
from costboost.gbm.targets import Columns, Part, Target
from costboost.gbm.totals import Totals

try:
    import xgboost as xgb
except ImportError as error:
    raise ImportError(
        'fit_parquet needs xgboost, which is not installed: pip install "costboost[gbm]"'
    ) from error

from costboost.gbm.engines.xgboost import XGBoostEngine, feature_types
from costboost.gbm.models import XGBoostModel

__all__ = ["ParquetSource"]


class ParquetSource(Source):
    """The training rows of Parquet files, by XGBoost's external memory."""

    def __init__(
        self,
        paths: Any,
        target: str,
        costs: Any,
        sample_weight: str | None,
        features: Sequence[str] | None,
        batch_rows: int | None,
        cost_matrix: Any,
        settings: Settings,
    ) -> None:
        owner = f"{settings.owner}.fit_parquet"
        _check_supported(settings, owner)
        files = ParquetFiles(paths, owner)
        self.n_rows = files.n_rows
        self.table = ParquetTable(
            files, target, costs, sample_weight, features, batch_rows, cost_matrix
        )
        self.classes = self.table.classes
        check_classes(self.classes, settings.owner)
        self.features = self.table.columns()
        self.has_row_costs = costs is not None
        rng = check_random_state(settings.random_state)
        self.hold_out = hold_out_rule(settings, files.n_rows, len(self.classes), rng)
        self.seeds = [int(rng.randint(Settings.largest_seed))]
        self.totals, self._held_out = self._survey(owner)

    def _survey(self, owner: str) -> tuple[Totals, Block | None]:
        """One pass over the rows that reads no features."""
        found: Totals | None = None
        parts: list[Block] = []
        for block, held in self._split(features=False):
            if not len(block):
                continue
            totals = Totals.of(block, int(held.sum()))
            found = totals if found is None else found + totals
            if held.any():
                parts.append(block.take(held))
        if found is None:
            raise ValueError(
                f"{parameter('sample_weight', owner)} names the column {self.table.weight!r}, "
                "which is 0 in every row. Give weight to some rows."
            )
        return found, joined(parts) if parts else None

    def _split(self, *, features: bool) -> Iterator[tuple[Block, Bools]]:
        """The blocks, and which of their rows are held out: the same in every pass."""
        before = np.zeros(2 * len(self.classes), dtype=np.intp)
        for block in self.table.blocks(features=features):
            groups = strata(block.costs)
            yield block, self.hold_out.mask(groups, before)
            before += np.bincount(groups, minlength=len(before))

    def blocks(self, *, held_out: bool, features: bool) -> Iterator[Block]:
        """The training rows, or the held-out ones."""
        for block, held in self._split(features=features):
            if (held == held_out).any():
                yield block.take(held == held_out)

    def engine(self, settings: Settings, recipe: Recipe) -> Engine:
        """XGBoost."""
        return settings.make_engine(recipe, self.totals.rows)

    def held_out(self, number: int | None = None) -> Block | None:
        """Costs and weights of the held-out rows."""
        return self._held_out

    def identity(self) -> dict[str, str]:
        """Hashes of the files, and of the costs and weights of all rows."""
        files = []
        for path in self.table.files.paths:
            with open(path, "rb") as file:
                files.append(hashlib.file_digest(file, "sha256").hexdigest())
        found: dict[str, Any] = {}
        for block, held in self._split(features=False):
            parts = {**hashes(block), "held-out rows": fingerprint(held, ())}
            for topic, text in parts.items():
                found.setdefault(topic, hashlib.sha256()).update(text.encode())
        columns = [self.table.target, self.table.weight, *self.table.features]
        return {
            **{topic: digest.hexdigest() for topic, digest in found.items()},
            "files": " ".join(files),
            "columns": repr(columns),
            "batch_rows": str(self.table.n_rows),
        }

    def trainer(self, engine: Engine, target: Target) -> Trainer:
        """Trains on matrices in a temporary folder."""
        assert isinstance(engine, XGBoostEngine)
        types = feature_types(self.features.n_features, self.features.categorical)

        def train(number: int | None, job: Job) -> tuple[Model, Floats | None]:
            held, parts = self._held_out, {}
            if held is not None and job.patience:
                part = target.part(target.columns(held.costs, held.weights))
                parts = {"held_out": part} if part.weight > 0 else {}
            watch = Watch(job, parts, next(iter(parts), None))
            n_bins = int(engine.parameters.get("max_bin") or 256)
            n_bytes = spill_bytes(self.totals.rows, self.features.n_features, n_bins)
            with spill_folder(n_bytes, self.table.owner) as folder:
                rows = self._matrix(engine, target, types, folder / "train")
                watched = {
                    name: self._matrix(engine, target, types, folder / name, rows) for name in parts
                }
                booster = engine.boost(target, rows, self._part(target), watched, watch)
                # The booster lets go of the rows, so that their files can be removed.
                booster.reset()
                del rows, watched
            model = XGBoostModel(booster, types)
            if parts:
                return model, watch.best_scores
            return model, None if held is None else self._held_out_scores(model)

        return train

    def _matrix(
        self,
        engine: XGBoostEngine,
        target: Target,
        types: list[str] | None,
        cache: Path,
        reference: xgb.DMatrix | None = None,
    ) -> xgb.ExtMemQuantileDMatrix:
        """Rows quantised into files, read when they are needed; held-out ones by a reference."""

        def batches() -> Generator[dict[str, Any], None, None]:
            for block in self.blocks(held_out=reference is not None, features=True):
                columns = target.columns(block.costs, block.weights)
                yield {"data": block.X, "label": columns.labels, "weight": columns.weights}

        options = engine.matrix_options(types)
        del options["feature_types"]  # goes with every batch
        return xgb.ExtMemQuantileDMatrix(
            _Batches(batches, cache, types), ref=reference, nthread=engine.threads, **options
        )

    def _part(self, target: Target) -> Part | None:
        """The target on the training rows, in single precision; None for log loss."""
        if target.is_log_loss:
            return None
        n = self.totals.train_rows
        labels, weights = np.empty(n, dtype=np.intp), np.empty(n, dtype=np.float32)
        gains = np.empty((n, target.n_scores), dtype=np.float32)
        at = 0
        for block in self.blocks(held_out=False, features=False):
            some = slice(at, at + len(block))
            columns = target.columns(block.costs, block.weights)
            labels[some], weights[some], gains[some] = (
                columns.labels,
                columns.weights,
                columns.gains,
            )
            at += len(block)
        return target.part(Columns(labels, weights, gains))

    def _held_out_scores(self, model: Model) -> Floats:
        """Scores of the held-out rows, for a training that did not watch them."""
        blocks = self.blocks(held_out=True, features=True)
        return np.concatenate([model.scores(b.X) for b in blocks if b.X is not None])


def _check_supported(settings: Settings, owner: str) -> None:
    """Refuse what cannot be trained from disk, and say what to do instead."""
    refused = [
        (
            settings.engine != "xgboost",
            f"engine={settings.engine!r}",
            "LightGBM keeps all binned rows in memory. Set engine='xgboost'",
        ),
        (
            settings.ensemble not in (1, "auto") or settings.cv is not None,
            f"ensemble={settings.ensemble!r}, cv={settings.cv!r}",
            "each booster would need its own copy on disk. Set ensemble=1 and cv=None; with so "
            "many rows one booster is enough",
        ),
        (
            settings.effort == "high",
            "effort='high'",
            "its members are compared on folds in memory. Set effort='balanced', which trains one "
            "booster here",
        ),
        (
            settings.loss != "auto",
            f"loss={settings.loss!r}",
            "its gradients need the costs of all rows in memory. Set loss='auto'",
        ),
        (settings.warm_start, "warm_start=True", "set warm_start=False to train anew"),
        (
            settings.device != "cpu",
            f"device={settings.device!r}",
            "it reads batches into the memory of the processor. Set device='cpu', or use fit or "
            "costboost.dask for GPUs",
        ),
    ]
    for is_refused, given, why in refused:
        if is_refused:
            raise ValueError(f"{owner} cannot train {settings.owner}({given}): {why}.")
    if not hasattr(xgb, "ExtMemQuantileDMatrix"):
        raise ImportError(
            f"{owner} needs xgboost 3.0 or later, got {xgb.__version__}: "
            'pip install --upgrade "xgboost>=3"'
        )


class _Batches(xgb.DataIter):
    """Batches as XGBoost asks for them."""

    def __init__(
        self,
        batches: Callable[[], Generator[dict[str, Any], None, None]],
        cache: Path,
        types: list[str] | None,
    ) -> None:
        self.batches = batches
        self.types = types
        self.current = batches()
        super().__init__(cache_prefix=str(cache))

    def next(self, input_data: Callable[..., None]) -> bool:
        """Hand over a batch; False if there is none left."""
        named = next(self.current, None)
        if named is None:
            return False
        input_data(**named, feature_types=self.types)
        return True

    def reset(self) -> None:
        """Start from the first file."""
        self.current.close()
        self.current = self.batches()

"""Parquet files as a source of rows: quantised features on disk, a few batches in memory."""

from __future__ import annotations

from collections.abc import Callable, Generator, Iterator, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from costboost._typing import Bools, Floats
from costboost.costs.checks import parameter
from costboost.gbm.members import Candidate
from costboost.gbm.models import Model, XGBoostModel
from costboost.gbm.rounds import Rounds
from costboost.gbm.rows import (
    LARGEST_SEED,
    Rows,
    Totals,
    TrainingRows,
    check_classes,
    hold_out_rule,
    strata,
)
from costboost.gbm.sources.parquet.files import ParquetFiles
from costboost.gbm.sources.parquet.reading import ParquetTable
from costboost.gbm.sources.parquet.spill import spill_bytes, spill_folder
from costboost.gbm.targets import Target

try:
    import xgboost as xgb
except ImportError as error:
    raise ImportError(
        'fit_parquet needs xgboost, which is not installed: pip install "costboost[gbm]"'
    ) from error

from costboost.gbm.xgboost import boost, feature_types, matrix_options

__all__ = ["ParquetSource"]


class ParquetSource(TrainingRows):
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
        model: Any,
    ) -> None:
        owner = f"{type(model).__name__}.fit_parquet"
        _check_supported(model, owner)
        self.owner = type(model).__name__
        files = ParquetFiles(paths, owner)
        self.n_rows = files.n_rows
        self.table = ParquetTable(
            files, target, costs, sample_weight, features, batch_rows, cost_matrix
        )
        self.classes = self.table.classes
        check_classes(self.classes, type(model).__name__)
        self.columns = self.table.columns()
        self.has_row_costs = costs is not None
        rng = check_random_state(model.random_state)
        self.hold_out = hold_out_rule(model, files.n_rows, len(self.classes), rng)
        self.seeds = [int(rng.randint(LARGEST_SEED))]
        self.totals, self._held_out = self._survey(owner)

    def _survey(self, owner: str) -> tuple[Totals, Rows | None]:
        """One pass over the rows that reads no features."""
        found: Totals | None = None
        parts: list[Rows] = []
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
        return found, Rows.joined(parts) if parts else None

    def _split(self, *, features: bool) -> Iterator[tuple[Rows, Bools]]:
        """The blocks, and which of their rows are held out: the same in every pass."""
        before = np.zeros(2 * len(self.classes), dtype=np.intp)
        for block in self.table.blocks(features=features):
            groups = strata(block.costs)
            yield block, self.hold_out.mask(groups, before)
            before += np.bincount(groups, minlength=len(before))

    def blocks(self, *, held_out: bool, features: bool) -> Iterator[Rows]:
        """The training rows, or the held-out ones."""
        for block, held in self._split(features=features):
            if (held == held_out).any():
                yield block.take(held == held_out)

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
        """Train on matrices in a temporary folder."""
        types = feature_types(self.columns.n_features, self.columns.categorical)
        n_bins = int(kind.parameters.get("max_bin") or 256)
        n_bytes = spill_bytes(self.totals.rows, self.columns.n_features, n_bins)
        names = [rounds.stop_by] if rounds.stop_by else []
        with spill_folder(n_bytes, self.table.owner) as folder:

            def matrix(name: str, reference: Any = None) -> xgb.ExtMemQuantileDMatrix:
                return self._matrix(kind, target, types, folder / name, threads, reference)

            rows = matrix("train")
            watched = {name: matrix(name, rows) for name in names}
            booster = boost(kind, self._on_rows(target), rows, watched, rounds, threads)
            # The booster lets go of the rows, so that their files can be removed.
            booster.reset()
            del rows, watched
        model = XGBoostModel(booster, types)
        if names or self._held_out is None:
            return model, rounds.best_scores
        return model, self._held_out_scores(model)

    def _matrix(
        self,
        kind: Candidate,
        target: Target,
        types: list[str] | None,
        cache: Path,
        threads: int | None,
        reference: xgb.DMatrix | None = None,
    ) -> xgb.ExtMemQuantileDMatrix:
        """Rows quantised into files, read when they are needed; held-out ones by a reference."""

        def batches() -> Generator[dict[str, Any], None, None]:
            for rows in self.blocks(held_out=reference is not None, features=True):
                known = target.on(rows.costs, rows.weights)
                yield {"data": rows.X, "label": known.labels, "weight": known.weights}

        options = matrix_options(kind, types)
        del options["feature_types"]  # goes with every batch
        return xgb.ExtMemQuantileDMatrix(
            _Batches(batches, cache, types), ref=reference, nthread=threads, **options
        )

    def _on_rows(self, target: Target) -> Target:
        """The target on the training rows, in single precision; log loss needs no rows."""
        if target.is_log_loss:
            return target
        n = self.totals.train_rows
        labels, weights = np.empty(n, dtype=np.intp), np.empty(n, dtype=np.float32)
        gains = np.empty((n, target.n_scores), dtype=np.float32)
        at = 0
        for rows in self.blocks(held_out=False, features=False):
            some = slice(at, at + len(rows))
            known = target.on(rows.costs, rows.weights)
            labels[some], weights[some], gains[some] = known.labels, known.weights, known.values
            at += len(rows)
        return target.put(labels, weights, gains)

    def _held_out_scores(self, model: Model) -> Floats:
        """Scores of the held-out rows, for a training that did not watch them."""
        blocks = self.blocks(held_out=True, features=True)
        return np.concatenate([model.scores(b.X) for b in blocks if b.X is not None])


def _check_supported(model: Any, owner: str) -> None:
    """Refuse what cannot be trained from disk, and say what to do instead."""
    refused = [
        (
            model.engine != "xgboost",
            f"engine={model.engine!r}",
            "LightGBM keeps all binned rows in memory. Set engine='xgboost'",
        ),
        (
            model.ensemble not in (1, "auto") or model.cv is not None,
            f"ensemble={model.ensemble!r}, cv={model.cv!r}",
            "each booster would need its own copy on disk. Set ensemble=1 and cv=None; with so "
            "many rows one booster is enough",
        ),
        (
            model.effort == "high",
            "effort='high'",
            "its members are compared on folds in memory. Set effort='balanced', which trains one "
            "booster here",
        ),
        (
            model.loss != "auto",
            f"loss={model.loss!r}",
            "its gradients need the costs of all rows in memory. Set loss='auto'",
        ),
        (
            model.device != "cpu",
            f"device={model.device!r}",
            "it reads batches into the memory of the processor. Set device='cpu', or use fit or "
            "costboost.dask for GPUs",
        ),
    ]
    for is_refused, given, why in refused:
        if is_refused:
            raise ValueError(f"{owner} cannot train {type(model).__name__}({given}): {why}.")
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

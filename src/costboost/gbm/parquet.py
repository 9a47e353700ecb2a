"""Training on Parquet files that are larger than memory.

Files are read as one long table, in batches. XGBoost quantises the features into a temporary folder
and trains from there; memory holds a few batches and, for each row, labels, scores and gradients.
"""

from __future__ import annotations

import errno
import shutil
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets

from costboost._typing import AnyArray, Bools, Floats
from costboost._utils import check_classes, checked_weights, invalid, is_integer
from costboost.columns import ColumnError, Columns, Rows
from costboost.columns.files import find_files, need
from costboost.columns.inference import ColumnStatistics, column_statistics
from costboost.columns.table import Table, unknown_column
from costboost.costs.labels import parameter
from costboost.costs.spec import columns_of
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
from costboost.gbm.train import ModelTraining
from costboost.trees import from_xgboost

if TYPE_CHECKING:
    from costboost.gbm.classifier import CostBoostClassifier

for _name in ("pandas", "pyarrow"):
    need(_name, "data", "Training on Parquet files")

# ruff: noqa: E402 - after the check
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.compute as pc  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

# Bytes of a column that are read at once.
_BUFFER = 2**20
# Numbers of a batch, unless the user says how many rows: 16 MB of features.
_BATCH_NUMBERS = 2**22
# How the names of folders for quantised features begin.
_PREFIX = "costboost-parquet-"


# --- files ----------------------------------------------------------------------------------------


class ParquetFiles:
    """Parquet files as one table."""

    def __init__(self, paths: Any, owner: str) -> None:
        self.owner = owner
        self.n_rows = 0
        self.schemas: dict[Path, Any] = {}  # of the files that have rows
        entries = [paths] if isinstance(paths, (str, Path)) else paths
        if not isinstance(entries, Sequence):
            rule = f"{parameter('paths', owner)} must be a pattern, a folder, a file or a list"
            raise TypeError(f"{rule} of them, got {paths!r}. Pass 'folder/*.parquet'.")
        for entry in entries:
            place = Path(entry).expanduser()
            for path in find_files(str(place / "*.parquet" if place.is_dir() else place)):
                self._add(path)
        if not self.n_rows:
            raise ValueError(
                f"The files of {owner} have no rows: {entries}. Check what wrote them."
            )
        # Those of all files: a file that lacks one is an error where it is read.
        names = (name for schema in self.schemas.values() for name in schema.names)
        self.columns = list(dict.fromkeys(names))

    def _add(self, path: Path) -> None:
        try:
            with pq.ParquetFile(path) as file:
                if file.metadata.num_rows:
                    self.n_rows += int(file.metadata.num_rows)
                    self.schemas[path] = file.schema_arrow
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            text = f"{str(path)!r} is no readable Parquet file: {error} Remove or repair it."
            raise ValueError(f"{self.owner}: {text}") from error

    def schema(self, columns: Sequence[str]) -> Any:
        """Types of some columns that serve all files."""
        parts = []
        for path, schema in self.schemas.items():
            for name in columns:
                if name not in schema.names:
                    raise unknown_column(name, schema.names, f"{self.owner} needs it", str(path))
            kinds = [schema.field(name).type for name in columns]
            plain = [kind.value_type if pa.types.is_dictionary(kind) else kind for kind in kinds]
            parts.append(pa.schema(list(zip(columns, plain, strict=True))))
        try:
            return pa.unify_schemas(parts, promote_options="permissive")
        except pa.ArrowTypeError as error:
            text = f"must agree on what their columns hold. {error}. Write them with one type."
            raise ValueError(f"The files of {self.owner} {text}") from error

    def batches(self, columns: Sequence[str], n_rows: int) -> Iterator[tuple[int, Any]]:
        """The rows of all files in order, each batch with the number of its first row."""
        schema = self.schema(list(dict.fromkeys(columns)))
        start = 0
        pending = schema.empty_table()
        for path in self.schemas:
            # Read as it is needed: buffering ahead would hold a whole file in memory.
            with pq.ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER) as file:
                for piece in file.iter_batches(n_rows, columns=schema.names, use_threads=False):
                    rows = pa.Table.from_batches([piece]).select(schema.names)
                    pending = pa.concat_tables([pending, rows.cast(schema)])  # copies nothing
                    if pending.num_rows >= n_rows:
                        yield start, pending.slice(0, n_rows)
                        start += n_rows
                        pending = pending.slice(n_rows)
        if pending.num_rows:
            yield start, pending

    def batch_rows(self, given: int | None, n_columns: int) -> int:
        """Rows of a batch: those given, else as many as keep its numbers at about 16 MB."""
        if given is None:
            return max(_BATCH_NUMBERS // max(n_columns, 1), 1024)
        if not is_integer(given) or given < 1:
            rule = f"must be None or an integer >= 1, got {given!r}."
            raise invalid("batch_rows", self.owner, rule)
        return int(given)

    def cost_columns(self, costs: Any, cost_matrix: Any) -> list[str]:
        """The columns that the costs of rows depend on."""
        if isinstance(costs, str):
            return [costs]
        if callable(costs):
            return self.columns
        if costs is None or isinstance(costs, Mapping):
            return columns_of(cost_matrix if costs is None else costs)
        raise TypeError(
            f"{parameter('costs', self.owner)} must be None, the name of a column, a mapping such "
            f"as {{'fn': 'amount', 'fp': 5}} or a callable frame -> (n, k, d), got "
            f"{type(costs).__name__}. One matrix for all rows is cost_matrix."
        )

    def batch_costs(self, costs: Any, table: Any) -> Any:
        """The costs of a batch, as `fit` takes them."""
        if isinstance(costs, str):
            return _numbers(table, costs)
        return costs(table.select(self.columns).to_pandas()) if callable(costs) else costs


def _numbers(table: Any, name: str) -> AnyArray:
    try:
        numbers = table[name].cast("float64", safe=False)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
        raise ValueError(f"The column {name!r} must hold numbers. {error}.") from error
    return np.asarray(numbers.to_numpy(), dtype=np.float64)


@contextmanager
def _batch_from(start: int) -> Iterator[None]:
    """Errors of a later batch say where it begins."""
    try:
        yield
    except ValueError as error:
        if not start or isinstance(error, ColumnError):  # which knows the row of the files
            raise
        raise ValueError(f"{error} Here row 0 is row {start} of the files.") from error


# --- training -------------------------------------------------------------------------------------


def read_parquet_table(
    model: CostBoostClassifier,
    paths: Any,
    target: str,
    *,
    costs: Any,
    sample_weight: str | None,
    features: Sequence[str] | None,
    batch_rows: int | None,
) -> TrainingTable:
    """Read columns, classes and sums of Parquet files, and which rows are held out."""
    owner = f"{type(model).__name__}.fit_parquet"
    need("xgboost", "dask", owner)
    _check_supported(model, owner)
    source = ParquetSource(
        model,
        ParquetFiles(paths, owner),
        target=target,
        costs=costs,
        sample_weight=sample_weight,
        features=features,
        batch_rows=batch_rows,
    )
    rng = check_random_state(model.random_state)
    source.hold_out = HoldOut.of(model, source.files.n_rows, len(source.classes), rng)
    blocks = source.blocks(features=False)
    return streamed_table(
        [_summed(block, held_out) for block, held_out in blocks],
        owner=type(model).__name__,
        columns=source.columns,
        loss=model.loss,
        has_row_costs=costs is not None,
        fold=ParquetFold(draw_seed(rng), parquet=source),
    )


class ParquetSource:
    """The training rows of Parquet files."""

    hold_out: HoldOut

    def __init__(
        self,
        model: CostBoostClassifier,
        files: ParquetFiles,
        *,
        target: str,
        costs: Any,
        sample_weight: str | None,
        features: Sequence[str] | None,
        batch_rows: int | None,
    ) -> None:
        self.model = model
        self.files = files
        self.target = target
        self.costs = costs
        self.weight = sample_weight
        self.names = self._feature_names(features)
        self.batch_rows = files.batch_rows(batch_rows, len(self.names))
        # A function of X sees the features; expressions may name other columns, too.
        self.known = [target, *files.cost_columns(costs, model.cost_matrix)]
        if sample_weight is not None:
            self.known.append(sample_weight)
        classes, columns = self._scan()
        check_classes(classes, type(model).__name__)
        self.classes = model.classes_ = classes
        model.cost_spec_ = model._parse_costs(deepcopy(model.cost_matrix))
        self.columns = model.columns_ = columns

    def _feature_names(self, features: Sequence[str] | None) -> list[str]:
        """Names of the feature columns."""
        owner = self.files.owner
        if isinstance(features, str):
            raise TypeError(
                f"{parameter('features', owner)} must be a list of columns, got {features!r}."
            )
        others = {self.target, self.weight}
        if features is None:
            return [name for name in self.files.columns if name not in others]
        if set(features) & others or not features or len(set(features)) < len(features):
            rule = "must name columns other than the target and the weight, at least one, each once"
            raise invalid("features", owner, f"{rule}; got {features}.")
        return list(features)

    def _scan(self) -> tuple[AnyArray, Columns]:
        """One pass over the target and the features, for what they hold."""
        classes: list[AnyArray] = []
        seen: dict[Any, ColumnStatistics] = {}
        for start, table in self.files.batches([self.target, *self.names], self.batch_rows):
            seen = column_statistics(table.select(self.names), self.model.columns, seen)
            missing = table[self.target].is_null(nan_is_null=True).to_numpy()
            if missing.any():
                raise ValueError(
                    f"{parameter('target', self.files.owner)} names {self.target!r}, which is "
                    f"missing in row {start + int(missing.argmax())} of the files, counted from 0. "
                    "Leave out rows without a class."
                )
            values = table[self.target].unique().to_numpy(zero_copy_only=False)
            classes = [np.unique(np.concatenate([*classes, values]))]
            check_classification_targets(np.repeat(classes[0], 2))  # or many classes are a warning
        return classes[0], self.model._learn_columns(seen, self.target)

    def blocks(self, *, features: bool) -> Iterator[tuple[TrainingData, Bools]]:
        """Yield rows that have weight, and which are held out: the same ones in every pass."""
        from costboost.gbm.xgboost import in_single

        columns = [*self.known]
        if features:
            columns += self.names
        before = np.zeros(2 * len(self.classes), dtype=np.intp)
        for start, table in self.files.batches(columns, self.batch_rows):
            labels = table[self.target]
            rows = Rows(self.columns, Table(table), self.files.owner, start)
            value_set = pa.array(self.classes, type=labels.type)
            y_index = np.asarray(pc.index_in(labels, value_set=value_set).to_numpy(), np.intp)
            weight = np.ones(len(y_index))
            with _batch_from(start):
                given = self.files.batch_costs(self.costs, table)
                costs = self.model._price(given, rows, y_index)
                if self.weight is not None:
                    weight = _numbers(table, self.weight)
                    if weight.any():  # a batch may weigh nothing, all together may not
                        checked_weights(weight, len(y_index), self.files.owner)
            inputs = None
            if features:
                inputs = in_single(rows.inputs).astype(np.float32)
            block = TrainingData(inputs, costs, weight).with_weight()
            strata = block.strata
            yield block, self.hold_out.held_out(strata, before)
            before += np.bincount(strata, minlength=len(before))

    def rows(self, *, held_out: bool) -> Iterator[TrainingData]:
        """Yield the training rows with their features, or the held-out ones."""
        for block, is_held_out in self.blocks(features=True):
            if (is_held_out == held_out).any():
                yield block.take(is_held_out == held_out)


@dataclass(frozen=True, eq=False)
class ParquetFold(StreamedFold):
    """The rows of Parquet files, by XGBoost's external memory."""

    parquet: ParquetSource = field(kw_only=True)

    def fit_model(self, training: ModelTraining) -> TreeModel:
        """Train on matrices in a temporary folder."""
        import xgboost as xgb

        from costboost.gbm.xgboost import Batches, boost, feature_types, matrix_options

        objective = training.objective
        settings = training.settings
        columns = self.parquet.columns
        types = feature_types(columns.n_inputs, columns.categorical)
        options = matrix_options(settings, types)
        del options["feature_types"]  # goes with every batch

        def matrix(cache: str, reference: xgb.DMatrix | None = None) -> xgb.DMatrix:
            """Rows quantised into files, read when they are needed; held-out by a reference."""
            held_out = reference is not None  # the closure must not keep the matrix alive

            def batches() -> Iterator[dict[str, Any]]:
                for block in self.parquet.rows(held_out=held_out):
                    target = objective.target(block.costs, block.sample_weight)
                    yield {
                        "data": block.X,
                        "label": target.y,
                        "weight": target.weight,
                        "feature_types": types,
                    }

            rows = Batches(batches, cache)
            return xgb.ExtMemQuantileDMatrix(
                rows, ref=reference, nthread=training.n_threads, **options
            )

        # Bytes on disk that quantised features may take; measured, and rounded up.
        bytes_per_number = 6
        if int(settings.engine_params.get("max_bin") or 256) > 256:
            bytes_per_number = 10
        n_bytes = settings.n_rows * (columns.n_inputs * bytes_per_number + 16) + 2**20
        _check_room(n_bytes, self.parquet.files.owner)
        with tempfile.TemporaryDirectory(prefix=_PREFIX) as folder:
            rows = matrix(f"{folder}/train")
            held_out = None
            if training.stops_early:
                held_out = matrix(f"{folder}/held_out", rows)
            target = None
            if not objective.is_log_loss:
                target = objective.target_of_labels(rows.get_label(), rows.get_weight())
            booster = boost(rows, held_out, training, target)
            # The booster lets go of the rows, so that their files can be removed.
            booster.reset()
            del rows, held_out
        trees = from_xgboost(booster)
        is_log_loss = objective.is_log_loss
        return TreeModel(trees, columns.n_inputs, "xgboost", is_log_loss, training.n_threads)

    def predict_held_out(self, model: Model, held_out: TrainingData) -> Floats:
        """Return the scores of the held-out rows, by one more pass over the files."""
        rows = self.parquet.rows(held_out=True)
        return np.concatenate([model.predict(block.X) for block in rows])


def _summed(block: TrainingData, is_held_out: Bools) -> tuple[TrainingData | None, Totals | None]:
    """Return the held-out rows of a block without features, and the sums over all of it."""
    held_out = None
    if is_held_out.any():
        held_out = block.without_inputs().take(is_held_out)
    if not len(block):
        return held_out, None
    return held_out, Totals.of(block, int(is_held_out.sum()))


def _check_supported(model: CostBoostClassifier, owner: str) -> None:
    """Refuse what cannot be trained from disk, and say what to do instead."""
    if not isinstance(model.cv, str):
        wrong = "cv", "each booster would need its own copy on disk. Set cv='auto'"
    elif model.effort == "high":
        wrong = "effort", "its members are compared in memory. Set effort='balanced'"
    else:
        return
    name, why = wrong
    given = f"{type(model).__name__}({name}={getattr(model, name)!r})"
    raise ValueError(f"{owner} cannot train {given}: {why}.")


def _check_room(n_bytes: int, owner: str) -> None:
    """Refuse a temporary folder that is too small or gone: XGBoost would end the process."""
    parent = tempfile.gettempdir()
    free = shutil.disk_usage(parent).free if Path(parent).is_dir() else 0
    if free < n_bytes:
        raise OSError(
            errno.ENOSPC,
            f"{owner} writes up to {n_bytes / 1e6:,.0f} MB of quantised features, and there are "
            f"{free / 1e6:,.0f} MB free. Remove folders {_PREFIX}* of killed processes, or set the "
            "environment variable TMPDIR to a folder with room",
            parent,
        )

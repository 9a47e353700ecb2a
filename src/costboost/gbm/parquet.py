"""Training and deciding on Parquet files that are larger than memory.

Files are read as one long table, in batches. XGBoost quantises the features into a temporary folder
and trains from there; memory holds a few batches and, for each row, labels, scores and gradients.
"""

from __future__ import annotations

import errno
import os
import shutil
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager, nullcontext, suppress
from functools import cached_property, partial
from glob import glob
from importlib import import_module
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import type_of_target
from sklearn.utils.validation import check_is_fitted

from costboost._typing import AnyArray, Bools, Floats
from costboost._utils import check_classes, is_integer, replaced
from costboost.columns.columns import ColumnError, Columns, Seen, TypedRows, look
from costboost.columns.raw import RawTable
from costboost.costs.expressions import Expression
from costboost.costs.forms import NAMING_KEYS, columns_of, varies
from costboost.costs.labels import parameter
from costboost.gbm.models import LossTarget, Model, Target, TreeModel
from costboost.gbm.rows import (
    LARGEST_SEED,
    PricedRows,
    Totals,
    TrainingRows,
    held_out_rows,
    hold_out_rule,
    strata,
)
from costboost.gbm.train import Candidate, Rounds
from costboost.trees import from_xgboost

try:
    import pandas  # noqa: F401 - tables become frames
    import pyarrow as pa  # type: ignore[import-untyped]
    import pyarrow.compute as pc  # type: ignore[import-untyped]
    import pyarrow.parquet as pq  # type: ignore[import-untyped]
except ImportError as error:
    raise ImportError(
        "fit_parquet and predict_parquet read Parquet files with pyarrow and pandas, of which one "
        'is not installed: pip install "costboost[data]"'
    ) from error

if TYPE_CHECKING:
    from costboost.gbm.classifier import CostBoostClassifier

xgb: Any = None
with suppress(ImportError):  # predict_parquet can do without it
    xgb = import_module("xgboost")
fcntl: Any = None
with suppress(ImportError):  # without such locks, folders of killed processes stay
    fcntl = import_module("fcntl")

# Bytes of a column that are read at once.
_BUFFER = 2**20
# Numbers of a batch, unless the user says how many rows: 16 MB of features.
_BATCH_NUMBERS = 2**22
# Names of folders for them, which nothing else of the library has, and the seconds after which one
# without a lock is left over.
_PREFIX, _STALE = "costboost-parquet-", 10.0


# --- files ----------------------------------------------------------------------------------------


def find_files(paths: Any, owner: str) -> list[Path]:
    """The files that a pattern, a folder, a file or a sequence of them means."""
    rule = f"{parameter('paths', owner)} must be a pattern, a folder, a file or a list of them"
    entries = [paths] if isinstance(paths, (str, Path)) else paths
    if not isinstance(entries, Sequence) or not all(isinstance(e, (str, Path)) for e in entries):
        raise TypeError(f"{rule}, got {paths!r}. Pass 'folder/*.parquet'.")
    found: list[Path] = []
    for entry in entries:
        path = Path(entry).expanduser()
        if path.is_dir():
            files = sorted(path.glob("*.parquet"))
        else:
            names = [str(path)] if path.exists() else sorted(glob(str(path), recursive=True))
            files = [Path(name) for name in names]
        if not files:
            raise FileNotFoundError(f"{rule}, and nothing matches {str(entry)!r}. Check the path.")
        found += files
    if not found:
        raise ValueError(f"{rule}, got an empty list. Name at least one file.")
    return found


def kind_of(kind: Any) -> str:
    """What the values of an Arrow type are to a booster."""
    types = pa.types
    if types.is_null(kind):
        return "nothing"
    if types.is_dictionary(kind) or types.is_string(kind) or types.is_large_string(kind):
        return "category"
    numbers = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    return "number" if any(is_kind(kind) for is_kind in numbers) else "other"


class ParquetFiles:
    """Parquet files as one table."""

    def __init__(self, paths: Any, owner: str) -> None:
        self.owner = owner
        self.n_rows = 0
        self.schemas: dict[Path, Any] = {}  # of the files that have rows
        found = find_files(paths, owner)
        for path in found:
            try:
                with pq.ParquetFile(path) as file:
                    if file.metadata.num_rows:
                        self.n_rows += int(file.metadata.num_rows)
                        self.schemas[path] = file.schema_arrow
            except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
                text = f"{str(path)!r} is no readable Parquet file: {error} Remove or repair it."
                raise ValueError(f"{owner}: {text}") from error
        if not self.n_rows:
            names = [str(path) for path in found[:5]]
            raise ValueError(f"The files of {owner} have no rows: {names}. Check what wrote them.")

    @cached_property
    def columns(self) -> list[str]:
        """Columns of the first file; the others must have the same, in any order."""
        (first, schema), *others = self.schemas.items()
        for path, other in others:
            differ = sorted(set(schema.names) ^ set(other.names))
            if differ:
                raise ValueError(
                    f"The files of {self.owner} must have the same columns; {differ} are in only "
                    f"one of {str(first)!r} and {str(path)!r}. Name those to use by features=."
                )
        return list(schema.names)

    def type_of(self, name: str) -> Any:
        """One type of a column that serves all files."""
        known: dict[Any, Path] = {}
        for path, schema in self.schemas.items():
            if name not in schema.names:
                raise ValueError(
                    f"{self.owner} needs the column {name!r}, which {str(path)!r} lacks; it has "
                    f"{schema.names}."
                )
            kind = schema.field(name).type
            if kind_of(kind) != "nothing":
                known.setdefault(kind.value_type if pa.types.is_dictionary(kind) else kind, path)
        kinds = {kind_of(kind) for kind in known}
        if len(known) < 2:
            return next(iter(known), pa.float64())
        if all(pa.types.is_integer(kind) for kind in known):
            return pa.int64()
        if kinds == {"number"}:
            return pa.float64()
        if kinds == {"category"}:
            return pa.large_string()
        held = "; ".join(f"{kind} in {str(path)!r}" for kind, path in known.items())
        raise ValueError(
            f"The files of {self.owner} must agree on what the column {name!r} holds: {held}."
        )

    def batches(self, columns: Sequence[str], n_rows: int) -> Iterator[tuple[int, Any]]:
        """The rows of all files in order, each batch with the number of its first row."""
        schema = pa.schema([(name, self.type_of(name)) for name in dict.fromkeys(columns)])
        start, pending = 0, schema.empty_table()
        for path in self.schemas:
            # Read as it is needed: buffering ahead would hold a whole file in memory.
            with pq.ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER) as file:
                for piece in file.iter_batches(n_rows, columns=schema.names, use_threads=False):
                    rows = pa.Table.from_batches([piece]).select(schema.names)
                    pending = pa.concat_tables([pending, rows.cast(schema)])  # copies nothing
                    if pending.num_rows >= n_rows:
                        yield start, pending.slice(0, n_rows)
                        start, pending = start + n_rows, pending.slice(n_rows)
        if pending.num_rows:
            yield start, pending

    def batch_rows(self, given: int | None, n_columns: int) -> int:
        """Rows of a batch: those given, else as many as keep its numbers at about 16 MB."""
        if given is None:
            return max(_BATCH_NUMBERS // max(n_columns, 1), 1024)
        if not is_integer(given) or given < 1:
            rule = f"{parameter('batch_rows', self.owner)} must be None or an integer >= 1"
            raise ValueError(f"{rule}, got {given!r}.")
        return int(given)

    def cost_columns(self, costs: Any) -> list[str]:
        """The columns that costs depend on."""
        if costs is None or isinstance(costs, Mapping):
            return columns_of(costs)
        if callable(costs):
            return self.columns
        if not isinstance(costs, str):
            raise TypeError(
                f"{parameter('costs', self.owner)} must be None, the name of a column, a mapping "
                f"such as {{'fn': 'amount', 'fp': 5}} or a callable frame -> (n, k, d), got "
                f"{type(costs).__name__}. One matrix for all rows is cost_matrix."
            )
        if kind_of(self.type_of(costs)) != "number":
            raise ValueError(
                f"{parameter('costs', self.owner)} names {costs!r}, which must hold numbers and "
                f"holds {self.type_of(costs)}."
            )
        return [costs]

    def batch_costs(self, costs: Any, table: Any, start: int, columns: Columns) -> Any:
        """The costs of a batch, as `fit` and `predict` take them."""
        if isinstance(costs, str):
            return self.numbers(table, costs, start, "costs")
        if isinstance(costs, Mapping):
            typed = TypedRows(columns, RawTable(table), self.owner, start)
            return {
                key: Expression(cell)(typed, rows=range(start, start + len(typed)))
                if isinstance(cell, str) and key not in NAMING_KEYS
                else cell
                for key, cell in costs.items()
            }
        return costs(table.select(self.columns).to_pandas()) if callable(costs) else costs

    def numbers(self, table: Any, name: str, start: int, role: str) -> Floats:
        """A column of finite numbers."""
        values = np.asarray(table[name].cast("float64", safe=False).to_numpy(), dtype=np.float64)
        wrong = np.flatnonzero(~np.isfinite(values))
        if len(wrong):
            raise ValueError(
                f"{parameter(role, self.owner)} names {name!r}, which must hold finite numbers and "
                f"is {values[wrong[0]]} in row {start + wrong[0]} of the files, counted from 0."
            )
        return values


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
        model: Any,
    ) -> None:
        self.owner = type(model).__name__
        owner = f"{self.owner}.fit_parquet"
        _check_supported(model, owner)
        self.files = files = ParquetFiles(paths, owner)
        self.target, self.weight = target, sample_weight
        if kind_of(files.type_of(target)) not in ("number", "category"):
            raise ValueError(
                f"{parameter('target', owner)} must name a column of classes, and {target!r} "
                f"holds {files.type_of(target)}."
            )
        self.names = self._feature_names(features)
        self.batch_rows = files.batch_rows(batch_rows, len(self.names))
        self.has_row_costs = costs is not None
        # Expressions in cost_matrix may name columns that are no features, like those in costs.
        is_mapped = costs is None and isinstance(model.cost_matrix, Mapping)
        self.costs = model.cost_matrix if is_mapped else costs
        self.cost_columns = files.cost_columns(self.costs)
        self.shows_features = self.costs is None and varies(model.cost_matrix)
        self.model = model
        self.classes, self.columns = model.classes_, model.columns_ = self._scan()
        check_classes(self.classes, self.owner)
        rng = check_random_state(model.random_state)
        self.hold_out = hold_out_rule(model, files.n_rows, len(self.classes), rng)
        self.seeds = [int(rng.randint(LARGEST_SEED))]
        self.totals, self._held_out = self._survey()

    def _feature_names(self, features: Sequence[str] | None) -> list[str]:
        """Names of the feature columns."""
        rule = parameter("features", self.files.owner)
        if isinstance(features, str):
            raise TypeError(f"{rule} must be a list of columns, got {features!r}.")
        others = {self.target, self.weight}
        if features is None:
            return [name for name in self.files.columns if name not in others]
        wrong = sorted(set(features) & others)
        if wrong or not features or len(set(features)) < len(features):
            raise ValueError(
                f"{rule} must name columns other than the target and the weight, at least one, "
                f"each once; got {features}{f' with {wrong} among them' if wrong else ''}."
            )
        return list(features)

    def _scan(self) -> tuple[AnyArray, Columns]:
        """One pass over the target and the features, for what they hold."""
        rule = parameter("target", self.files.owner)
        classes: AnyArray | None = None
        seen: dict[Any, Seen] = {}
        for start, table in self.files.batches([self.target, *self.names], self.batch_rows):
            seen = look(table.select(self.names), self.model.columns, seen)
            missing = table[self.target].is_null(nan_is_null=True).to_numpy()
            if missing.any():
                raise ValueError(
                    f"{rule} names {self.target!r}, which is missing in row "
                    f"{start + int(missing.argmax())} of the files, counted from 0. Leave out rows "
                    "without a class."
                )
            values = table[self.target].unique().drop_null().to_numpy(zero_copy_only=False)
            classes = np.unique(values if classes is None else np.concatenate([classes, values]))
            if type_of_target(classes) == "continuous":
                raise ValueError(
                    f"{rule} must name a column of classes, and {self.target!r} holds continuous "
                    f"numbers, such as {classes[:3].tolist()}."
                )
        assert classes is not None
        return classes, self.model._learn_columns(seen, self.target)

    def _survey(self) -> tuple[Totals, PricedRows | None]:
        """One pass over the rows that reads no features: sums, and the held-out rows."""
        found: Totals | None = None
        parts: list[PricedRows] = []
        for block, held in self._blocks(features=False):
            if len(block):
                totals = Totals.of(block, int(held.sum()))
                found = totals if found is None else found + totals
            if held.any():
                parts.append(block.take(held))
        if found is None:
            rule = parameter("sample_weight", self.files.owner)
            raise ValueError(f"{rule} names {self.weight!r}, which is 0 in every row.")
        return found, PricedRows.joined(parts) if parts else None

    def _blocks(self, *, features: bool) -> Iterator[tuple[PricedRows, Bools]]:
        """Rows that have weight, and which are held out: the same ones in every pass."""
        columns = [self.target, *self.cost_columns]
        columns += self.names if features or self.shows_features else []
        columns += [] if self.weight is None else [self.weight]
        before = np.zeros(2 * len(self.classes), dtype=np.intp)
        for start, table in self.files.batches(columns, self.batch_rows):
            labels = table[self.target]
            known = pa.array(self.classes, type=labels.type)
            codes = np.asarray(pc.index_in(labels, value_set=known).to_numpy(), dtype=np.intp)
            given = self.files.batch_costs(self.costs, table, start, self.columns)
            with _batch_from(start):
                X = table.select(self.names).to_pandas() if self.shows_features else None
                costs = self.model._price(given, X, codes)
            matrix = self._matrix_of(table, start) if features else None
            block = PricedRows(matrix, costs, self._weights(table, start)).weighted()
            groups = strata(block.costs)
            yield block, held_out_rows(self.hold_out, groups, before)
            before += np.bincount(groups, minlength=len(before))

    def _weights(self, table: Any, start: int) -> Floats:
        if self.weight is None:
            return np.ones(table.num_rows)
        weights = self.files.numbers(table, self.weight, start, "sample_weight")
        if (weights < 0).any():
            raise ValueError(
                f"{parameter('sample_weight', self.files.owner)} names {self.weight!r}, which must "
                f"not be negative, got {weights.min()}."
            )
        return weights

    def _matrix_of(self, table: Any, start: int) -> AnyArray:
        """Features in single precision, categories as codes."""
        with np.errstate(over="ignore"):
            X = self.columns.encode(table, self.files.owner, start).astype(np.float32)
        if np.isinf(X).any():
            row, j = np.argwhere(np.isinf(X))[0]
            raise ValueError(
                f"Features of {self.files.owner} must be finite in single precision or missing, "
                f"and {self.columns.inputs[j]!r} is not in row {start + row} of the files, counted "
                "from 0."
            )
        return X

    def rows(self, *, held_out: bool, features: bool) -> Iterator[PricedRows]:
        """The training rows, or the held-out ones."""
        for block, held in self._blocks(features=features):
            if (held == held_out).any():
                yield block.take(held == held_out)

    def held_out(self, number: int | None = None) -> PricedRows | None:
        """Costs and weights of the held-out rows."""
        return self._held_out

    def fit(
        self, kind: Candidate, target: Target, number: int | None, rounds: Rounds
    ) -> tuple[Model, Floats | None]:
        """Train on matrices in a temporary folder."""
        from costboost.gbm.xgboost import boost, feature_types

        types = feature_types(self.columns.n_inputs, self.columns.categorical)
        names = [rounds.stop_by] if rounds.stop_by else []
        # Bytes on disk that quantised features may take; measured, and rounded up.
        wide = int(kind.parameters.get("max_bin") or 256) > 256
        n_bytes = self.totals.rows * (self.columns.n_inputs * (10 if wide else 6) + 16) + 2**20
        with spill_folder(n_bytes, self.files.owner) as folder:
            matrix = partial(self._matrix, kind, target, types, rounds.threads)
            rows = matrix(folder / "train")
            watched = {name: matrix(folder / name, rows) for name in names}
            booster = boost(kind, self._on_rows(target), rows, watched, rounds)
            # The booster lets go of the rows, so that their files can be removed.
            booster.reset()
            del rows, watched
        trees, n = from_xgboost(booster), self.columns.n_inputs
        model = TreeModel(trees, n, "xgboost", target.is_log_loss, rounds.threads)
        if names or self._held_out is None:
            return model, rounds.best_scores
        blocks = self.rows(held_out=True, features=True)
        return model, np.concatenate([model.scores(b.X) for b in blocks if b.X is not None])

    def _matrix(
        self,
        kind: Candidate,
        target: Target,
        types: list[str] | None,
        threads: int | None,
        cache: Path,
        reference: Any = None,
    ) -> Any:
        """Rows quantised into files, read when they are needed; held-out ones by a reference."""
        from costboost.gbm.xgboost import Batches, matrix_options

        held_out = reference is not None  # the closure must not keep the matrix alive

        def batches() -> Iterator[dict[str, Any]]:
            for block in self.rows(held_out=held_out, features=True):
                known = target.on(block.costs, block.weights)
                named = {"data": block.X, "label": known.labels, "weight": known.weights}
                yield {**named, "feature_types": types}

        options = matrix_options(kind, types)
        del options["feature_types"]  # goes with every batch
        rows = Batches(batches, str(cache))
        return xgb.ExtMemQuantileDMatrix(rows, ref=reference, nthread=threads, **options)

    def _on_rows(self, target: Target) -> Target:
        """The target on the training rows, in single precision; log loss needs no rows."""
        if target.is_log_loss:
            return target
        if isinstance(target, LossTarget):  # its gradients read what every decision costs
            rows = PricedRows.joined(list(self.rows(held_out=False, features=False)))
            return target.on(rows.costs, rows.weights)
        blocks = self.rows(held_out=False, features=False)
        parts = [target.on(block.costs, block.weights) for block in blocks]
        labels, weights = (
            np.concatenate([getattr(part, name).astype(np.float32) for part in parts])
            for name in ("labels", "weights")
        )
        return target.put(labels, weights)


def _check_supported(model: Any, owner: str) -> None:
    """Refuse what cannot be trained from disk, and say what to do instead."""
    if model.engine != "xgboost":
        wrong = "engine", "LightGBM keeps all binned rows in memory. Set engine='xgboost'"
    elif model.ensemble not in (1, "auto") or model.cv is not None:
        wrong = "ensemble", "each booster would need its own copy on disk. Set ensemble=1, cv=None"
    elif model.effort == "high":
        wrong = "effort", "its members are compared in memory. Set effort='balanced'"
    elif model.device != "cpu":
        wrong = "device", "it reads into the memory of the processor. Set device='cpu'"
    elif not hasattr(xgb, "ExtMemQuantileDMatrix"):
        found = "which is not installed" if xgb is None else f"got {xgb.__version__}"
        raise ImportError(
            f'{owner} needs xgboost 3.0 or later, {found}: pip install --upgrade "xgboost>=3"'
        )
    else:
        return
    name, why = wrong
    given = f"{type(model).__name__}({name}={getattr(model, name)!r})"
    raise ValueError(f"{owner} cannot train {given}: {why}.")


@contextmanager
def spill_folder(n_bytes: int, owner: str) -> Iterator[Path]:
    """A temporary folder with so much free space, removed even if its process is killed."""
    # XGBoost ends the process if the disk is full, so this is checked before. Folders that killed
    # processes have left are removed first: nobody holds their lock.
    remedy = "Set the environment variable TMPDIR to a folder that has room and may be written"
    parent = Path(tempfile.gettempdir())
    if not parent.is_dir():
        text = f"{owner} needs a folder for temporary files. {remedy}"
        raise OSError(errno.ENOENT, text, str(parent))
    for old in parent.glob(f"{_PREFIX}*") if fcntl is not None else ():
        with suppress(OSError):  # gone meanwhile, of another user, or alive
            # A folder is not locked at once when it is made.
            if time.time() - old.stat().st_mtime > _STALE:
                with _locked(old):
                    shutil.rmtree(old, ignore_errors=True)
    free = shutil.disk_usage(parent).free
    if free < n_bytes:
        raise OSError(
            errno.ENOSPC,
            f"{owner} writes up to {n_bytes / 1e6:,.0f} MB of quantised features, and there are "
            f"{free / 1e6:,.0f} MB free. {remedy}",
            str(parent),
        )
    folder = Path(tempfile.mkdtemp(prefix=_PREFIX, dir=parent))
    try:
        with _locked(folder) if fcntl is not None else nullcontext():
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


@contextmanager
def _locked(folder: Path) -> Iterator[None]:
    """Hold a folder until this process ends, however it ends; an OSError if another holds it."""
    handle = os.open(folder, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(handle)


# --- deciding -------------------------------------------------------------------------------------


def predict_parquet(
    model: CostBoostClassifier,
    paths: Any,
    output: str | Path,
    costs: Any,
    proba: bool,
    expected: bool,
    keep: Sequence[str],
    batch_rows: int | None,
) -> Path:
    """Decide on Parquet files; see `CostBoostClassifier.predict_parquet`."""
    check_is_fitted(model)
    owner = f"{type(model).__name__}.predict_parquet"
    if not hasattr(model, "feature_names_in_"):
        raise ValueError(
            f"{owner} finds features by their names, and {type(model).__name__} was fitted on an "
            "array without names. Fit it on a frame or by fit_parquet."
        )
    if (proba or expected) and not hasattr(model, "predict_proba"):
        raise ValueError(
            f"{parameter('proba', owner)} and 'expected_costs' must be False: a classifier of "
            f"loss={model.loss!r} knows no probabilities."
        )
    if isinstance(keep, str):
        raise TypeError(f"{parameter('keep', owner)} must be a list of columns, got {keep!r}.")
    chances = [f"probability_{label}" for label in model.classes_.tolist()] if proba else []
    prices = [f"cost_{label}" for label in model.decisions_.tolist()] if expected else []
    taken = sorted({"decision", *chances, *prices} & set(keep))
    if taken:
        raise ValueError(
            f"{parameter('keep', owner)} must not name {taken}, which are columns of the result."
        )
    files = ParquetFiles(paths, owner)
    written = Path(output).expanduser()
    if written.resolve() in {path.resolve() for path in files.schemas}:
        rule = f"{parameter('output', owner)} must be another file than those read"
        raise ValueError(f"{rule}, got {str(output)!r}.")
    features = [column.name for column in model.columns_.used]
    for path, name in product(files.schemas, features):
        if name not in files.schemas[path].names:
            raise model.columns_.lacks(name, files.schemas[path].names, str(path))
    is_mapped = costs is None and isinstance(model.cost_matrix, Mapping)
    if is_mapped and varies(model.cost_matrix) and hasattr(model, "predict_proba"):
        costs = model.cost_matrix  # its expressions may name columns that are no features
    columns = list(dict.fromkeys([*features, *files.cost_columns(costs), *keep]))
    with replaced(written) as file, ExitStack() as stack:
        writer: Any = None
        for start, table in files.batches(columns, files.batch_rows(batch_rows, len(columns))):
            rows = model.columns_.read(table, owner, start)
            result = {name: table[name] for name in keep}
            known = files.batch_costs(costs, table, start, model.columns_)
            with _batch_from(start):
                answer = model._answer(rows, known, proba=proba or expected)
            result["decision"] = pa.array(answer.costs.decisions[answer.codes])
            if proba and answer.proba is not None:
                result.update(zip(chances, map(pa.array, answer.proba.T), strict=True))
            if expected and answer.expected is not None:
                result.update(zip(prices, map(pa.array, answer.expected.T), strict=True))
            decided = pa.table(result)
            writer = writer or stack.enter_context(pq.ParquetWriter(file, decided.schema))
            writer.write_table(decided)
    return written

"""Batches of Parquet files as blocks: features, classes, weights and costs."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.utils.multiclass import type_of_target

from costboost._frames import FrameEncoder
from costboost._typing import AnyArray, Floats, Ints
from costboost._validation import is_integer
from costboost.costs.checks import parameter
from costboost.gbm.rows import Columns, Pricing, Rows
from costboost.gbm.sources.parquet._arrow import compute as pc
from costboost.gbm.sources.parquet._arrow import pandas as pd
from costboost.gbm.sources.parquet._arrow import pyarrow as pa
from costboost.gbm.sources.parquet.files import ParquetFiles, kind_of
from costboost.gbm.sources.parquet.pricing import ColumnCosts, numbers

__all__ = ["ParquetTable", "batch_size", "feature_columns"]

# Numbers of a batch, unless the user says how many rows: 16 MB of features.
_BATCH_NUMBERS = 2**22


def batch_size(batch_rows: int | None, n_columns: int, owner: str) -> int:
    """Rows of a batch: those given, else as many as keep its features at about 16 MB."""
    if batch_rows is None:
        return max(_BATCH_NUMBERS // max(n_columns, 1), 1024)
    if not is_integer(batch_rows) or batch_rows < 1:
        raise ValueError(
            f"{parameter('batch_rows', owner)} must be None or an integer >= 1, got "
            f"{batch_rows!r}. Leave it out if unsure."
        )
    return int(batch_rows)


def feature_columns(
    files: ParquetFiles, features: Sequence[str] | None, others: Sequence[str]
) -> list[str]:
    """Names of the feature columns, which must hold numbers or categories."""
    rule = parameter("features", files.owner)
    if isinstance(features, str):
        raise TypeError(
            f"{rule} must be a list of columns, got {features!r}. Write [{features!r}]."
        )
    names = [c for c in files.columns if c not in others] if features is None else list(features)
    wrong = sorted(set(names) & set(others))
    if wrong or not names or len(set(names)) < len(names):
        raise ValueError(
            f"{rule} must name columns other than the target and the weight, at least one, each "
            f"once; got {names}{f' with {wrong} among them' if wrong else ''}. Correct the list."
        )
    for name, kind in files.types(names).items():
        if kind_of(kind) == "other":
            raise ValueError(
                f"{rule} must hold numbers, booleans or text, and the column {name!r} holds "
                f"{kind}. Convert it, or list the features without it."
            )
    return names


class ParquetTable:
    """The training rows of Parquet files."""

    def __init__(
        self,
        files: ParquetFiles,
        target: str,
        costs: Any,
        sample_weight: str | None,
        features: Sequence[str] | None,
        batch_rows: int | None,
        cost_matrix: Any,
    ) -> None:
        self.files = files
        self.owner = files.owner
        self.target = target
        self.weight = sample_weight
        if kind_of(files.types([target])[target]) not in ("number", "category"):
            raise ValueError(
                f"{parameter('target', self.owner)} must name a column of classes, and {target!r} "
                f"holds {files.types([target])[target]}. Convert it to text or integers."
            )
        others = [target] if sample_weight is None else [target, sample_weight]
        self.features = feature_columns(files, features, others)
        # Expressions in cost_matrix are read like those in costs.
        is_mapped = costs is None and isinstance(cost_matrix, Mapping)
        self.priced = ColumnCosts(cost_matrix if is_mapped else costs, files)
        self.n_rows = batch_size(batch_rows, len(self.features), self.owner)
        kinds = files.types(self.features)
        named = [name for name in self.features if kind_of(kinds[name]) == "category"]
        self.classes, self.categories = self._scan(named)
        self._pricing = Pricing(cost_matrix, self.classes, self.owner.split(".")[0])

    def columns(self) -> Columns:
        """The feature columns, and how frames like the batches are coded."""
        names = np.asarray(self.features, dtype=object)
        if not self.categories:
            return Columns(len(names), names)
        # Columns of different lengths, filled up with missing values, which are no category; one
        # at least, for columns of text that are missing everywhere.
        held = {
            name: pd.Series([*self.categories.get(name, []), None], dtype=object)
            for name in self.features
        }
        categorical = [j for j, name in enumerate(self.features) if name in self.categories]
        return Columns(len(names), names, FrameEncoder(pd.DataFrame(held), categorical))

    def _scan(self, named: list[str]) -> tuple[AnyArray, dict[str, AnyArray]]:
        """One pass over the target and the categorical columns, for what they hold."""
        found: dict[str, AnyArray] = {}
        for start, table in self.files.batches([self.target, *named], self.n_rows):
            self._check_target(table[self.target], start)
            for name in table.column_names:
                values = table[name].unique().drop_null().to_numpy(zero_copy_only=False)
                before = found.get(name, values[:0])
                found[name] = np.unique(np.concatenate([before, values]))
            if type_of_target(found[self.target]) == "continuous":
                raise ValueError(
                    f"{parameter('target', self.owner)} must name a column of classes, and "
                    f"{self.target!r} holds continuous numbers, such as "
                    f"{found[self.target][:3].tolist()}. Name another, or cut it into classes."
                )
        return found.pop(self.target), found

    def _check_target(self, column: Any, start: int) -> None:
        missing = column.is_null(nan_is_null=True).to_numpy()
        if missing.any():
            raise ValueError(
                f"{parameter('target', self.owner)} names the column {self.target!r}, which must "
                f"hold a class for every row and is missing in row {start + int(missing.argmax())} "
                "of the files, counted from 0. Leave out rows without a class."
            )

    def blocks(self, *, features: bool) -> Iterator[Rows]:
        """The rows of all files that have weight, in order."""
        shown = self._pricing.needs_columns and self.priced.costs is None
        columns = [self.target, *self.priced.columns, *(self.features if features or shown else [])]
        columns += [] if self.weight is None else [self.weight]
        for start, table in self.files.batches(list(dict.fromkeys(columns)), self.n_rows):
            costs = self._pricing.resolve(
                self.priced.read(table, start),
                table.select(self.features).to_pandas() if shown else None,
                self._codes(table[self.target]),
            )
            X = self._matrix(table, start) if features else None
            yield Rows(X, costs, self._weights(table, start)).weighted()

    def _codes(self, column: Any) -> Ints:
        known = pa.array(self.classes, type=column.type)
        return np.asarray(pc.index_in(column, value_set=known).to_numpy(), dtype=np.intp)

    def _weights(self, table: Any, start: int) -> Floats:
        if self.weight is None:
            return np.ones(table.num_rows)
        weights = numbers(table, self.weight, start, "sample_weight", self.owner)
        if (weights < 0).any():
            raise ValueError(
                f"{parameter('sample_weight', self.owner)} names the column {self.weight!r}, which "
                f"must not be negative, got {weights.min()}. Drop the rows you do not want."
            )
        return weights

    def _matrix(self, table: Any, start: int) -> AnyArray:
        """Features in single precision, categories as codes."""
        X = np.empty((table.num_rows, len(self.features)), dtype=np.float32)
        for j, name in enumerate(self.features):
            column = table[name]
            if name in self.categories:
                known = pa.array(self.categories[name], type=column.type)
                column = pc.index_in(column, value_set=known, skip_nulls=True)
            with np.errstate(over="ignore"):
                X[:, j] = column.cast("float64", safe=False).to_numpy()
        if np.isinf(X).any():
            row, j = np.argwhere(np.isinf(X))[0]
            raise ValueError(
                f"Features of {self.owner} must be finite in single precision or missing, and the "
                f"column {self.features[j]!r} is not in row {start + row} of the files, counted "
                "from 0. Replace the value, or make it missing."
            )
        return X

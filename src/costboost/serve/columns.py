"""The columns that a model reads, and the rows of a request."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]

from costboost._typing import AnyArray, Floats
from costboost.columns import TypedRows
from costboost.costs.forms import columns_of
from costboost.serve.unpacking import RequestError

if TYPE_CHECKING:
    import pandas as pd

_NUMBERS: frozenset[type] = frozenset({int, float, bool, type(None)})
_TEXTS: frozenset[type] = frozenset({str, type(None)})
_TYPES = {int: "number", float: "number", bool: "boolean", str: "text", dict: "object"}


@dataclass(frozen=True)
class Field:
    """One column."""

    name: str
    allowed: frozenset[type]  # types of JSON that a value may have
    categories: tuple[Any, ...] | None = None
    is_required: bool = True

    @cached_property
    def codes(self) -> dict[Any, float]:
        """Code of each category."""
        return {value: float(code) for code, value in enumerate(self.categories or ())}

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of a value."""
        names = {float: "number", str: "string", bool: "boolean"}
        types = [name for type_, name in names.items() if type_ in self.allowed]
        found: dict[str, Any] = {"type": [*types, "null"]}
        if self.categories is not None:
            found["description"] = "A value that training has not seen counts as missing."
            if len(self.categories) <= 200:
                found["examples"] = list(self.categories)
        return found

    def refuse(self, given: Any, place: str) -> RequestError:
        """The error for a value of a wrong type."""
        words = [("a number", float), ("a text", str)]
        wanted = ", ".join(word for word, type_ in words if type_ in self.allowed)
        return RequestError(422, f"{self.name!r} must be {wanted} or null; got {given}.", place)

    def read(self, values: Sequence[Any], form: str) -> AnyArray:
        """Values of all rows: floats, or objects if they are not numbers."""
        found = set(map(type, values))
        if not found <= self.allowed:
            row = next(i for i, value in enumerate(values) if type(value) not in self.allowed)
            given = _TYPES.get(type(values[row]), "list")
            raise self.refuse(given, f"{form}[{row}].{self.name}")
        if str in found or self.categories is not None:
            return _objects(values)
        try:
            numbers = np.array(values, dtype=np.float64)
        except OverflowError:  # an integer beyond all floats
            numbers = np.array([float(v or 0) if abs(v or 0) < 1e308 else np.inf for v in values])
        return self.finite(numbers, form)

    def finite(self, numbers: Floats, form: str = "rows") -> Floats:
        """The numbers, none of which is infinite."""
        infinite = np.isinf(numbers)
        if infinite.any():
            place = f"{form}[{int(infinite.argmax())}].{self.name}"
            raise RequestError(422, f"{self.name!r} must be finite or null.", place)
        return numbers


def _objects(values: Sequence[Any]) -> AnyArray:
    objects = np.empty(len(values), dtype=object)
    objects[:] = values
    return objects


def number(name: str) -> Field:
    """A column of numbers."""
    return Field(name, _NUMBERS)


def scalar(name: str, **more: Any) -> Field:
    """A column of numbers or texts."""
    return Field(name, _NUMBERS | _TEXTS, **more)


class Schema:
    """All columns of a fitted classifier."""

    def __init__(self, model: Any) -> None:
        named = getattr(model, "feature_names_in_", None)
        self.has_names = named is not None
        names = [f"x{j}" for j in range(model.n_features_in_)] if named is None else map(str, named)
        # An estimator inside a wrapper reads a frame itself, whatever is in it.
        self.known = getattr(model, "columns_", None)
        encodes = named is None or self.known is not None
        columns = [number(name) if encodes else scalar(name) for name in names]
        for j, found in enumerate(self.known.columns if self.known is not None else ()):
            name = columns[j].name
            if not found.is_used:
                columns[j] = scalar(name, is_required=found.note == "only for the costs")
            elif found.kind == "category":
                columns[j] = Field(name, _TEXTS | _NUMBERS, found.categories)
            elif found.kind == "date":
                columns[j] = scalar(name)
        self.features = tuple(columns)
        known = {column.name for column in columns}
        priced = [name for name in columns_of(model.cost_matrix) if name not in known]
        self.columns = *columns, *(scalar(name) for name in priced)
        self.names = [column.name for column in self.columns]
        self.required = [column.name for column in self.columns if column.is_required]

    @property
    def schema(self) -> dict[str, Any]:
        """The JSON Schema of one row."""
        return {
            "type": "object",
            "properties": {column.name: column.schema for column in self.columns},
            "required": self.required,
            "additionalProperties": False,
        }

    def check_names(self, names: Iterable[str], place: str) -> None:
        """Refuse unknown and missing columns, by name."""
        given = set(names)
        for name in sorted(given - set(self.names)):
            message = f"The model has no column {name[:100]!r}. GET /schema lists its columns."
            raise RequestError(422, message, f"{place}.{name[:100]}")
        for name in self.required:
            if name not in given:
                message = f"The column {name!r} is missing. Use null for an unknown value."
                raise RequestError(422, message, f"{place}.{name}")

    def from_records(self, records: list[Any]) -> Table:
        """Rows that are objects."""
        names, required = set(self.names), set(self.required)
        for row, record in enumerate(records):
            if type(record) is not dict:
                raise RequestError(422, "A record must be an object.", f"records[{row}]")
            if not required <= record.keys() <= names:
                self.check_names(record, f"records[{row}]")
        values = {name: [record.get(name) for record in records] for name in self.names}
        return self._read(values, len(records), "records")

    def from_rows(self, rows: list[Any], names: list[str] | None = None) -> Table:
        """Rows that are lists, in the order of the columns or of the names given."""
        order = self.names if names is None else names
        self.check_names(order, "columns")
        if len(set(order)) < len(order):
            raise RequestError(422, "No column may be named twice.", "columns")
        for row, values in enumerate(rows):
            if type(values) is not list or len(values) != len(order):
                given = len(values) if type(values) is list else type(values).__name__
                message = f"A row must be a list of {len(order)} values; got {given}."
                raise RequestError(422, message, f"rows[{row}]")
        values = dict(zip(order, zip(*rows, strict=True), strict=True))
        return self._read(values, len(rows), "rows")

    def _read(self, values: Mapping[str, Sequence[Any]], n: int, form: str) -> Table:
        none = (None,) * n
        return Table(
            self, {c.name: c.read(values.get(c.name, none), form) for c in self.columns}, n
        )


@dataclass(frozen=True, eq=False)
class Table:
    """The rows of a request: a value per column and row, no more of a frame than needed."""

    schema: Schema
    values: Mapping[str, AnyArray]
    n: int

    @property
    def columns(self) -> list[str]:
        """Names of the columns; with the two methods below, expressions can read the costs."""
        return self.schema.names

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, name: str) -> AnyArray:
        return self.values[name]

    def rows(self) -> TypedRows | Floats:
        """The rows as the model reads them, without building a frame."""
        known = self.schema.known
        if known is None or not known.columns:
            return np.column_stack([self.values[column.name] for column in self.schema.features])
        rows: TypedRows = known.read(self.values, "The request")
        return rows

    def part(self, rows: slice) -> Table:
        """Some of the rows."""
        values = {name: values[rows] for name, values in self.values.items()}
        return Table(self.schema, values, len(range(self.n)[rows]))

    def frame(self) -> pd.DataFrame | Floats:
        """The columns as a data frame; without names, an array."""
        if not self.schema.has_names:
            return np.column_stack([self.values[name] for name in self.columns])
        import pandas as pd

        return pd.DataFrame({name: self.values[name] for name in self.columns})

    def unseen(self) -> dict[str, list[str]]:
        """Categories that training has not seen, by column."""
        found = {}
        for column in self.schema.features:
            if column.categories is not None:
                new = {v for v in self.values[column.name] if v is not None} - column.codes.keys()
                if new:
                    found[column.name] = sorted(map(str, new))[:20]
        return found


# -- Arrow and Parquet --------------------------------------------------------------------------


def read_table(
    table: pa.Table, columns: Schema, others: Mapping[str, Field]
) -> tuple[Table, dict[str, pa.ChunkedArray]]:
    """The rows of a table, and those of the `others` that it has: costs and groups."""
    # A feature of the same name is a feature.
    known = {**others, **{column.name: column for column in columns.columns}}
    given = set(table.column_names)
    if len(given) < len(table.column_names):
        raise RequestError(422, "No column may appear twice.", "columns")
    own = [name for name in given if name not in others or name in columns.names]
    columns.check_names(own, "columns")
    for field_ in table.schema:
        column = known[field_.name]
        if not _fits(field_.type, column):
            raise column.refuse(field_.type, f"columns.{field_.name}")
    values = {
        column.name: _values(table.column(column.name), column)
        if column.name in given
        else np.full(table.num_rows, np.nan)
        for column in columns.columns
    }
    more = {name: table.column(name) for name in others if name in given}
    return Table(columns, values, table.num_rows), more


def _fits(kind: pa.DataType, column: Field) -> bool:
    content = kind.value_type if pa.types.is_dictionary(kind) else kind
    if pa.types.is_string(content) or pa.types.is_large_string(content):
        return str in column.allowed
    is_number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
    return bool(pa.types.is_null(kind) or (is_number and float in column.allowed))


def floats(values: pa.ChunkedArray) -> Floats:
    """Numbers; null is NaN."""
    return np.asarray(values.cast(pa.float64(), safe=False).to_numpy(), dtype=np.float64)


def _values(values: pa.ChunkedArray, column: Field) -> AnyArray:
    if pa.types.is_dictionary(values.type) or column.categories is not None:
        return decoded(values)
    return column.finite(floats(values))


def decoded(values: pa.ChunkedArray) -> AnyArray:
    """Values as objects; those of a dictionary each held once."""
    if not pa.types.is_dictionary(values.type):
        return _objects(values.to_pylist())
    found = []
    for chunk in values.chunks:
        known = _objects([*chunk.dictionary.to_pylist(), None])
        codes = chunk.indices.fill_null(len(known) - 1).cast(pa.int64()).to_numpy()
        found.append(known[codes])
    return np.concatenate(found)

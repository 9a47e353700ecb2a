"""The columns that a model reads, known once, and the rows of a request in that shape."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np

from costboost._typing import AnyArray, Floats
from costboost.costs.forms import columns_of
from costboost.serve.errors import RequestError

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Column", "Columns", "Table"]

Kind = Literal["number", "category", "any"]

_NUMBERS = {int, float, bool, type(None)}
_SCALARS = {*_NUMBERS, str}
_TYPES = {int: "number", float: "number", bool: "boolean", str: "text", dict: "object"}


@dataclass(frozen=True)
class Column:
    """One column."""

    name: str
    kind: Kind
    categories: tuple[Any, ...] = ()
    is_feature: bool = True
    is_required: bool = True

    @cached_property
    def codes(self) -> dict[Any, float]:
        """Code of each category."""
        return {value: float(code) for code, value in enumerate(self.categories)}

    @cached_property
    def allowed(self) -> set[type]:
        """Types that a value may have."""
        if self.kind == "number":
            return _NUMBERS
        if self.kind == "category" and all(isinstance(value, str) for value in self.categories):
            return {str, type(None)}
        return _SCALARS

    @property
    def words(self) -> str:
        """What a value must be, in words."""
        if self.kind == "number":
            return "a number or null"
        return "text or null" if self.allowed != _SCALARS else "a number, a text or null"

    def read(self, values: Sequence[Any], place: Callable[[int], str]) -> AnyArray:
        """Values of all rows: floats, or objects if they are not numbers."""
        found = set(map(type, values))
        if not found <= self.allowed:
            row = next(i for i, value in enumerate(values) if type(value) not in self.allowed)
            given = _TYPES.get(type(values[row]), "list")
            raise RequestError(422, f"{self.name!r} must be {self.words}; got {given}.", place(row))
        if str in found or self.kind == "category":
            objects = np.empty(len(values), dtype=object)
            objects[:] = values
            return objects
        try:
            numbers = np.array(values, dtype=np.float64)
        except OverflowError:
            numbers = np.array([_float(value) for value in values])
        return self.finite(numbers, place)

    def finite(self, numbers: Floats, place: Callable[[int], str]) -> Floats:
        """The numbers, none of which is infinite."""
        infinite = np.isinf(numbers)
        if infinite.any():
            row = int(infinite.argmax())
            raise RequestError(422, f"{self.name!r} must be finite or null.", place(row))
        return numbers


def _float(value: Any) -> float:
    try:
        return np.nan if value is None else float(value)
    except OverflowError:
        return np.inf


@dataclass(frozen=True, eq=False)
class Columns:
    """All columns of a model."""

    columns: tuple[Column, ...]
    has_names: bool

    @classmethod
    def of(cls, model: Any) -> Self:
        """The columns of a fitted classifier."""
        names = getattr(model, "feature_names_in_", None)
        has_names = names is not None
        if names is None:
            names = [f"x{j}" for j in range(int(model.n_features_in_))]
        names = [str(name) for name in names]
        if hasattr(model, "_frame"):
            encoder = model._frame
            coded = {} if encoder is None else dict(
                zip(encoder.categorical, encoder.categories, strict=True)
            )  # fmt: skip
            ignored = set() if encoder is None else set(encoder.ignored)
            features = [
                Column(name, "any", is_required=False) if j in ignored
                else Column(name, "category", tuple(coded[j].tolist())) if j in coded
                else Column(name, "number")
                for j, name in enumerate(names)
            ]  # fmt: skip
        else:
            kind: Kind = "any" if has_names else "number"
            features = [Column(name, kind) for name in names]
        priced = [name for name in columns_of(model.cost_matrix) if name not in names]
        extra = [Column(name, "any", is_feature=False) for name in priced]
        return cls((*features, *extra), has_names)

    @cached_property
    def names(self) -> list[str]:
        """All names, in order."""
        return [column.name for column in self.columns]

    @cached_property
    def features(self) -> tuple[Column, ...]:
        """The columns that the model reads."""
        return tuple(column for column in self.columns if column.is_feature)

    @cached_property
    def required(self) -> frozenset[str]:
        """Names that every row must have."""
        return frozenset(column.name for column in self.columns if column.is_required)

    @cached_property
    def _by_name(self) -> dict[str, Column]:
        return {column.name: column for column in self.columns}

    def check_names(self, names: Iterable[str], place: str) -> None:
        """Refuse unknown and missing columns, by name."""
        given = set(names)
        for name in sorted(given - set(self.names)):
            raise RequestError(
                422,
                f"The model has no column {name[:100]!r}. GET /schema lists its columns.",
                f"{place}.{name[:100]}",
            )
        for name in self.names:
            if name in self.required and name not in given:
                raise RequestError(
                    422,
                    f"The column {name!r} is missing. Use null for an unknown value.",
                    f"{place}.{name}",
                )

    def from_records(self, records: list[Any]) -> Table:
        """Rows that are objects."""
        names, required = set(self.names), self.required
        for row, record in enumerate(records):
            if type(record) is not dict:
                raise RequestError(422, "A record must be an object.", f"records[{row}]")
            if not required <= record.keys() <= names:
                self.check_names(record, f"records[{row}]")
        values = {
            column.name: column.read(
                [record.get(column.name) for record in records],
                lambda row, name=column.name: f"records[{row}].{name}",  # type: ignore[misc]
            )
            for column in self.columns
        }
        return Table(self, values, len(records))

    def from_rows(self, rows: list[Any], names: list[str] | None = None) -> Table:
        """Rows that are lists, in the order of the columns or of the names given."""
        order = self.names if names is None else names
        if names is not None:
            self.check_names(names, "columns")
            if len(set(names)) < len(names):
                raise RequestError(422, "No column may be named twice.", "columns")
        for row, values in enumerate(rows):
            if type(values) is not list or len(values) != len(order):
                given = len(values) if type(values) is list else type(values).__name__
                raise RequestError(
                    422, f"A row must be a list of {len(order)} values; got {given}.",
                    f"rows[{row}]",
                )  # fmt: skip
        by_name = dict(zip(order, zip(*rows, strict=True), strict=True))
        absent: tuple[Any, ...] = (None,) * len(rows)
        columns = {
            column.name: column.read(
                by_name.get(column.name, absent),
                lambda row, name=column.name: f"rows[{row}].{name}",  # type: ignore[misc]
            )
            for column in self.columns
        }
        return Table(self, columns, len(rows))


@dataclass(frozen=True, eq=False)
class Table:
    """The rows of a request: a value per column and row, no more of a frame than needed."""

    schema: Columns
    values: Mapping[str, AnyArray]
    n: int
    groups: AnyArray | None = None
    unseen: dict[str, list[Any]] = field(default_factory=dict)

    @property
    def columns(self) -> list[str]:
        """Names of the columns."""
        return self.schema.names

    def __len__(self) -> int:
        return self.n

    def __getitem__(self, name: str) -> AnyArray:
        return self.values[name]

    def matrix(self) -> Floats:
        """The features as the model's own encoder codes them, (n, f); notes unseen categories."""
        features = self.schema.features
        encoded = np.zeros((self.n, len(features)))
        for j, column in enumerate(features):
            if not column.is_required:
                continue
            values = self.values[column.name]
            if column.kind == "category":
                codes = column.codes
                encoded[:, j] = [codes.get(value, np.nan) for value in values]
                self._note(column, values)
            else:
                encoded[:, j] = values
        return encoded

    def frame(self) -> pd.DataFrame | Floats:
        """The columns as a data frame; without names, an array."""
        for column in self.schema.features:
            if column.kind == "category":
                self._note(column, self.values[column.name])
        if not self.schema.has_names:
            return np.column_stack([self.values[name] for name in self.columns])
        import pandas as pd

        return pd.DataFrame({name: self.values[name] for name in self.columns})

    def _note(self, column: Column, values: AnyArray) -> None:
        new = {value for value in values if value is not None and value not in column.codes}
        if new:
            self.unseen[column.name] = sorted(map(str, new))[:20]

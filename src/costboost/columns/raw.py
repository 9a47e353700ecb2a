"""Tables of any library, column by column, as numpy arrays: the only place that looks at types.

A column holds floats, times, or texts; of texts each value is held once, with the place of every
row among them. What the texts mean is decided in `costboost.columns.columns`.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import date
from decimal import Decimal
from importlib.util import find_spec
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from costboost._typing import AnyArray, Ints
from costboost._utils import is_missing

# Texts that mean a missing value (those of pandas).
NULLS = frozenset(
    ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None", "<NA>", "NaT")
)

_NUMBERS = ("number", "boolean")
_HAS_ARROW = find_spec("pyarrow") is not None

# Whether X is a sparse matrix or array of SciPy.
is_sparse: Callable[[Any], bool] = sparse.issparse


def as_csr(X: Any) -> Any:
    """Sparse rows as the type that all engines know."""
    return sparse.csr_matrix(X)


def check_table(X: Any, owner: str) -> None:
    """Raise a TypeError for a dict of columns or a list of records: they are not tables."""
    is_records = isinstance(X, (list, tuple)) and len(X) > 0 and isinstance(X[0], Mapping)
    if isinstance(X, Mapping) or is_records:
        what = "a list of dicts" if is_records else type(X).__name__
        raise TypeError(
            f"X of {owner} must be an array, a data frame or a sparse matrix, got {what}. Pass "
            "pandas.DataFrame(X)."
        )


class RawColumn(NamedTuple):
    """A column as numpy knows it."""

    kind: str  # "number", "boolean", "date", "text", "category" (text, by its type), "other"
    values: AnyArray  # floats, times in microseconds, or places among the texts (-1: missing)
    texts: Sequence[str | None] = ()  # each once; None is missing
    type: str = ""  # its name, for messages


class RawTable:
    """Columns of a frame of pandas or polars, an Arrow table or a mapping, by their names."""

    def __init__(self, X: Any, names: Sequence[Any] | None = None) -> None:
        self.X = X
        labels = _labels(X)
        self.names = column_names(X) if names is None else list(names)
        if len(set(self.names)) < len(self.names):
            twice = next(name for name in self.names if self.names.count(name) > 1)
            times = self.names.count(twice)
            raise ValueError(f"The column {twice!r} appears {times} times. Drop the copies.")
        self._labels = dict(zip(self.names, labels, strict=True))
        self._opened: dict[Any, RawColumn] = {}

    def __len__(self) -> int:
        if isinstance(self.X, Mapping):
            return len(next(iter(self.X.values()), ()))
        return int(self.X.shape[0] if hasattr(self.X, "shape") else self.X.num_rows)

    def label(self, name: Any) -> Any:
        """What the table itself calls a column."""
        return self._labels[name]

    def source(self, name: Any) -> Any:
        """The column as it was given."""
        return self.X[self._labels[name]]

    def __getitem__(self, name: Any) -> RawColumn:
        found = self._opened.get(name) or open_column(self.source(name))
        if found.texts:  # numbers are as quick to open again, and take memory
            self._opened[name] = found
        return found


def has_columns(X: Any) -> bool:
    """Whether X has columns with names: a frame or an Arrow table."""
    return hasattr(X, "columns") and hasattr(X, "shape") and not isinstance(X, Mapping)


def are_numbers(X: Any) -> bool:
    """Whether all columns of a frame have a type of numbers or booleans."""
    if _is_arrow(X):
        return all(_arrow_kind(kind) in _NUMBERS for kind in X.schema.types)
    if hasattr(X, "iloc"):
        return all(getattr(kind, "kind", "O") in "iufb" for kind in set(X.dtypes))
    return all(kind.is_numeric() or str(kind) == "Boolean" for kind in set(X.dtypes))


def column_names(X: Any) -> list[Any]:
    """Names of the columns of a frame, an Arrow table or a mapping."""
    return [_name(label) for label in _labels(X)]


def _labels(X: Any) -> list[Any]:
    if _is_arrow(X):
        return list(X.schema.names)
    return list(X if isinstance(X, Mapping) else X.columns)


def _is_arrow(X: Any) -> bool:
    return type(X).__module__.startswith("pyarrow")


def _name(label: Any) -> str | int:
    if type(label) is str:
        return label
    return int(label) if isinstance(label, (int, np.integer)) else str(label)


# --- one column --------------------------------------------------------------------------------


def open_column(column: Any) -> RawColumn:
    """A column of any library."""
    library = type(column).__module__.partition(".")[0]
    if library == "pandas":
        return _of_pandas(column)
    if library == "polars" and _HAS_ARROW and str(column.dtype) != "Object":
        return _of_arrow(column.to_arrow())._replace(type=str(column.dtype))
    return _of_arrow(column) if library == "pyarrow" else _of_values(column)


def _of_pandas(column: Any) -> RawColumn:
    dtype, name = column.dtype, str(column.dtype)
    kind = getattr(dtype, "kind", "O")
    if name == "category":
        texts = [text_of(value) for value in dtype.categories.tolist()]
        return RawColumn("category", np.asarray(column.cat.codes, dtype=np.intp), texts, name)
    if hasattr(dtype, "pyarrow_dtype"):
        return _of_arrow(column.array.__arrow_array__())._replace(type=name)
    if kind in "iufb":
        values = column.to_numpy(dtype=np.float64, na_value=np.nan)
        return RawColumn("boolean" if kind == "b" else "number", values, (), name)
    if kind == "M":
        return RawColumn("date", column.to_numpy(dtype="datetime64[us]"), (), name)
    try:
        if kind in "OUT" and not name.startswith(("period", "interval")):
            codes, distinct = column.factorize()
            return _of_distinct(codes, distinct.tolist(), name)
    except TypeError:
        name = "lists"
    return RawColumn("other", np.empty(0), (), name)


def _arrow_kind(kind: Any) -> str:
    """What the values of an Arrow type are."""
    from pyarrow import types  # type: ignore[import-untyped]

    if types.is_dictionary(kind):
        return "category"
    if types.is_boolean(kind):
        return "boolean"
    if types.is_integer(kind) or types.is_floating(kind) or types.is_decimal(kind):
        return "number"
    if types.is_timestamp(kind) or types.is_date(kind):
        return "date"
    is_text = str(kind) in ("string", "large_string", "string_view", "null")
    return "text" if is_text else "other"


def _of_arrow(column: Any) -> RawColumn:
    import pyarrow as pa

    kind, name = _arrow_kind(column.type), str(column.type)
    if isinstance(column, pa.ChunkedArray):
        column = column.combine_chunks()
    if kind in ("number", "boolean", "date"):
        wanted = pa.timestamp("us") if kind == "date" else pa.float64()
        values = column.cast(wanted, safe=False).to_numpy(zero_copy_only=False)
        return RawColumn(kind, values, (), name)
    if kind == "other":
        return RawColumn(kind, np.empty(0), (), name)
    if name in ("string_view", "null"):  # which have no dictionaries
        column = column.cast(pa.large_string())
    if kind == "text":
        column = column.dictionary_encode()
    codes = column.indices.cast(pa.int64()).fill_null(-1).to_numpy(zero_copy_only=False)
    return _of_distinct(codes, column.dictionary.to_pylist(), name)._replace(kind=kind)


def _of_values(column: Any) -> RawColumn:
    """A sequence of Python values, or an array."""
    values = column.to_numpy() if hasattr(column, "to_numpy") else column
    if not isinstance(values, np.ndarray):
        kinds = set(map(type, values)) - {type(None)}
        if kinds and kinds <= {int, float, bool}:
            with suppress(OverflowError):  # an integer beyond all floats is read by its digits
                floats = np.array(values, dtype=np.float64)
                return RawColumn("boolean" if kinds == {bool} else "number", floats, (), "")
    elif values.dtype.kind in "iufb":
        kind = "boolean" if values.dtype.kind == "b" else "number"
        return RawColumn(kind, np.asarray(values, dtype=np.float64), (), str(values.dtype))
    elif values.dtype.kind == "M":
        return RawColumn("date", values.astype("datetime64[us]"), (), str(values.dtype))
    places: dict[Any, int] = {}
    try:
        # Of equal values of several types (1, 1.0, True) the first one stands for all.
        listed = values.tolist() if isinstance(values, np.ndarray) else values
        codes = [places.setdefault(value, len(places)) for value in listed]
    except TypeError:  # lists, dictionaries
        return RawColumn("other", np.empty(0), (), "lists")
    return _of_distinct(np.array(codes, dtype=np.intp), list(places), "")


def _of_distinct(codes: Any, distinct: Sequence[Any], name: str) -> RawColumn:
    return RawColumn("text", np.asarray(codes, np.intp), [text_of(v) for v in distinct], name)


def text_of(value: Any) -> str | None:
    """A value as text, the same whichever type it came in; None if it is missing."""
    if isinstance(value, str):
        text = value.strip()
        if text in NULLS:
            return None
        # 7.0, as a column of whole numbers with missing ones is often written, is 7.
        return text[:-2] if text.endswith(".0") and text[:-2].lstrip("-").isdecimal() else text
    if is_missing(value):
        return None
    if isinstance(value, (float, np.floating, Decimal)):
        return str(int(value)) if float(value).is_integer() else repr(float(value))
    return value.isoformat() if isinstance(value, date) else text_of(str(value))


def as_texts(raw: RawColumn) -> tuple[Ints, Sequence[str | None]]:
    """The values of a column of any kind as texts: the place of each row among them."""
    if raw.kind in ("text", "category"):
        return raw.values, raw.texts
    known = ~np.isnan(raw.values)
    distinct, places = np.unique(raw.values[known], return_inverse=True)
    codes = np.full(len(raw.values), -1, dtype=np.intp)
    codes[known] = places
    values = distinct.astype(bool) if raw.kind == "boolean" else distinct
    return codes, [text_of(value) for value in values.tolist()]

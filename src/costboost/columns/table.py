"""Tables of any data frame library, column by column: the only place that looks at types.

A column holds floats, times, or texts. Each different text is held once, with the position of every
row among them. What the texts mean is decided in `costboost.columns.inference`.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import date
from decimal import Decimal
from difflib import get_close_matches
from typing import Any

import narwhals.stable.v2 as nw
import numpy as np
from scipy import sparse

from costboost._typing import AnyArray, Ints
from costboost._utils import is_missing

# Texts that mean a missing value (those of pandas).
MISSING_TEXTS = frozenset(
    ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None", "<NA>", "NaT")
)
# What makes a table in memory of a query that has not run yet, by the library.
_COLLECT = {
    "polars": "X.collect()",
    "duckdb": "X.df()",
    "ibis": "X.to_pandas()",
    "dask": "X.compute()",
    "pyspark": "X.toPandas()",
    "sqlframe": "X.toPandas()",
}

is_sparse: Callable[[Any], bool] = sparse.issparse


class TableError(ValueError):
    """A file, or a column of it, is not what was asked for; the message says what to do."""


class ColumnError(TableError):
    """A column is missing, or holds a value that cannot be read as in `fit`.

    Attributes
    ----------
    column : str
        The column.
    row : int or None
        The first row with such a value, counted from 0.
    """

    def __init__(self, message: str, column: Any = None, row: int | None = None) -> None:
        super().__init__(message)
        self.column = column
        self.row = row


def nearest(name: Any, names: Iterable[Any], n: int = 1, cutoff: float = 0.5) -> list[Any]:
    """Return the names that are most like one, whatever their case."""
    folded = {str(other).lower(): other for other in names}
    matches = get_close_matches(str(name).lower(), folded, n, cutoff)
    return [folded[match] for match in matches]


def unknown_column(name: str, names: Iterable[str], what: str, where: str) -> TableError:
    """Return the error for a column that a file does not have, with the nearest names.

    Parameters
    ----------
    name : str
        The column that was asked for.
    names : iterable of str
        The columns of the file.
    what : str
        What the column is for, such as ``"--target"``.
    where : str
        The file.

    Returns
    -------
    TableError
        The error, to be raised.
    """
    names = list(names)
    near = nearest(name, names, n=3)
    hint = ""
    if near:
        hint = f" The nearest names: {', '.join(map(repr, near))}."
    shown = ", ".join(names[:12])
    if len(names) > 12:
        shown += f", ... ({len(names)} in all)"
    return TableError(f"{where} has no column {name!r} ({what}).{hint} Its columns: {shown}.")


# --- one column --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Values:
    """The values of a column, as numpy holds them."""

    kind: str  # "number", "boolean", "date", "text", "category" (text, by its type), "other"
    array: AnyArray  # floats, times in microseconds, or positions among the texts (-1: missing)
    texts: Sequence[str | None] = ()  # each once; None is missing
    type: str = ""  # its name, for messages
    is_zoned: bool = False  # whether times are in UTC, rather than on a clock of unknown place

    def as_texts(self) -> tuple[Ints, Sequence[str | None]]:
        """Return values of any kind as texts: the position of each row among them."""
        if self.kind in ("text", "category"):
            return self.array, self.texts
        is_given = ~np.isnan(self.array)
        distinct, inverse = np.unique(self.array[is_given], return_inverse=True)
        positions = np.full(len(self.array), -1, dtype=np.intp)
        positions[is_given] = inverse
        if self.kind == "boolean":
            distinct = distinct.astype(bool)
        return positions, [text_of(value) for value in distinct.tolist()]


def read_values(column: Any) -> Values:
    """Return the values of a column of any library, or of a sequence."""
    if isinstance(column, (list, tuple, np.ndarray)):
        return _of_sequence(column)  # narwhals needs long to find out
    series = nw.from_native(column, series_only=True, pass_through=True)
    if isinstance(series, nw.Series):
        return _of_series(series)
    return _of_sequence(column)


def _of_series(series: nw.Series[Any]) -> Values:
    dtype = series.dtype
    name = str(dtype)
    if dtype == nw.Boolean or dtype.is_numeric():
        kind = "boolean" if dtype == nw.Boolean else "number"
        array = series.to_numpy()
        if array.dtype.kind not in "biuf":  # decimals, and booleans with missing values
            array = series.cast(nw.Float64()).to_numpy()
        return Values(kind, array.astype(np.float64, copy=False), type=name)
    if dtype in (nw.Date, nw.Datetime):
        # Times with a zone become those of UTC, whatever the zone is.
        zone = getattr(dtype, "time_zone", None)
        times = series.cast(nw.Datetime("us", zone)).to_numpy().astype("datetime64[us]")
        return Values("date", times, type=name, is_zoned=zone is not None)
    if dtype in (nw.Categorical, nw.Enum):
        return _of_texts(series.to_list(), name, kind="category")
    if dtype in (nw.String, nw.Object) or series.null_count() == len(series):
        return _of_texts(series.to_list(), name)
    # Narwhals does not know the sparse columns of pandas.
    if getattr(getattr(series.to_native(), "dtype", None), "kind", "O") in "iuf":
        return _of_sequence(np.asarray(series.to_native()))
    return Values("other", np.empty(0), type=name)


def _of_sequence(values: Any) -> Values:
    """Return the values of an array, or of Python's own types."""
    array = values.to_numpy() if hasattr(values, "to_numpy") else values
    if not isinstance(array, np.ndarray):
        types = set(map(type, values)) - {type(None)}
        if types and types <= {int, float, bool}:
            with suppress(OverflowError):  # an integer beyond all floats is read by its digits
                floats = np.array(values, dtype=np.float64)
                return Values("boolean" if types == {bool} else "number", floats)
        return _of_texts(values, "")
    if array.dtype.kind in "iufb":
        kind = "boolean" if array.dtype.kind == "b" else "number"
        return Values(kind, array.astype(np.float64), type=str(array.dtype))
    if array.dtype.kind == "M":
        return Values("date", array.astype("datetime64[us]"), type=str(array.dtype))
    return _of_texts(array.tolist(), "")


def _of_texts(values: Sequence[Any], name: str, kind: str = "text") -> Values:
    # Of equal values of several types (1, 1.0, True) the first one stands for all.
    positions: dict[Any, int] = {}
    try:
        rows = [positions.setdefault(value, len(positions)) for value in values]
    except TypeError:  # lists and dictionaries have no hash
        return Values("other", np.empty(0), type="lists")
    texts = [text_of(value) for value in positions]
    return Values(kind, np.array(rows, dtype=np.intp), texts, name)


def text_of(value: Any) -> str | None:
    """Return a value as text, the same whichever type it has; None if it is missing."""
    if isinstance(value, str):
        text = value.strip()
        if text in MISSING_TEXTS:
            return None
        # A column of whole numbers with missing ones is often written 7.0 in place of 7.
        if text.endswith(".0") and text[:-2].lstrip("-").isdecimal():
            return text[:-2]
        return text
    if is_missing(value):
        return None
    if isinstance(value, (float, np.floating, Decimal)):
        return str(int(value)) if float(value).is_integer() else repr(float(value))
    if isinstance(value, date):
        return value.isoformat()
    return text_of(str(value))


# --- all columns -------------------------------------------------------------------------------


def check_table(X: Any, owner: str) -> None:
    """Raise a TypeError for what is no table, but can be made one."""
    if isinstance(X, np.ndarray) or is_sparse(X) or nw.dependencies.is_pandas_dataframe(X):
        return
    if isinstance(X, Mapping):
        problem, remedy = type(X).__name__, "pandas.DataFrame(X)"
    elif isinstance(X, (list, tuple)):
        if not X or not isinstance(X[0], Mapping):
            return
        problem, remedy = "a list of dicts", "pandas.DataFrame(X)"
    else:
        frame = nw.from_native(X, pass_through=True)
        if not isinstance(frame, nw.LazyFrame):
            return
        library = frame.implementation.value
        problem, remedy = f"a query of {library}", _COLLECT.get(library, "its rows in memory")
    raise TypeError(
        f"X of {owner} must be an array, a data frame or a sparse matrix, got {problem}. Pass "
        f"{remedy}."
    )


def has_columns(X: Any) -> bool:
    """Return True if X has columns with names: a data frame or an Arrow table."""
    return hasattr(X, "columns") and hasattr(X, "shape") and not isinstance(X, Mapping)


def column_names(X: Any) -> list[Any]:
    """Return the names of the columns of a data frame, an Arrow table or a mapping."""
    return [_name(label) for label in _labels(X)]


def _labels(X: Any) -> list[Any]:
    if isinstance(X, Mapping):
        return list(X)
    return list(getattr(X, "column_names", X.columns))  # Arrow has both; its columns are arrays


def _name(label: Any) -> str | int:
    if isinstance(label, (int, np.integer)):
        return int(label)
    return label if type(label) is str else str(label)


class Table:
    """Columns of a data frame, an Arrow table or a mapping of lists, by their names.

    Parameters
    ----------
    X : data frame, Arrow table or mapping of name to values
        The rows.
    names : sequence, optional
        Other names of the columns, in their order.
    """

    def __init__(self, X: Any, names: Sequence[Any] | None = None) -> None:
        self.X = X
        labels = _labels(X)
        self.names = [_name(label) for label in labels] if names is None else list(names)
        if len(set(self.names)) < len(self.names):
            copied = next(name for name in self.names if self.names.count(name) > 1)
            times = self.names.count(copied)
            raise ValueError(f"The column {copied!r} appears {times} times. Drop the copies.")
        self._labels = dict(zip(self.names, labels, strict=True))
        self._texts: dict[Any, Values] = {}

    def __len__(self) -> int:
        if isinstance(self.X, Mapping):
            return len(next(iter(self.X.values()), ()))
        return int(self.X.shape[0])

    def column(self, name: Any) -> Any:
        """Return a column as it was given."""
        return self.X[self._labels[name]]

    def __getitem__(self, name: Any) -> Values:
        values = self._texts.get(name)
        if values is None:
            values = read_values(self.column(name))
            if values.texts:  # numbers are as quick to read again, and take memory
                self._texts[name] = values
        return values

    def numbers(self, names: Sequence[Any]) -> Any:
        """Return some columns as a frame that scikit-learn takes as it is; None if it cannot."""
        if not hasattr(self.X, "dtypes"):
            return None
        frame = self.X
        if names != self.names:
            frame = frame[[self._labels[name] for name in names]]
        if hasattr(frame, "iloc"):  # the kind of types of pandas is quicker than narwhals
            are_numbers = all(getattr(dtype, "kind", "O") in "iufb" for dtype in set(frame.dtypes))
        else:
            types = nw.from_native(frame).schema.dtypes()
            are_numbers = all(dtype.is_numeric() or dtype == nw.Boolean for dtype in types)
        return frame if are_numbers else None


def checked_numbers(
    check: Callable[..., Any], X: Any, names: Sequence[Any] | None = None, **checks: Any
) -> Any:
    """Return X as scikit-learn checks it; an error about a value says where the first one is."""
    try:
        with np.errstate(invalid="ignore"):  # it sums X to look for infinities of both signs
            return check(X, **checks)
    except ValueError as error:
        text = str(error)
        table = np.asarray(X, dtype=object)
        if table.ndim != 2 or not re.search("convert|(X|Input) contains", text):
            raise
        positions = np.argwhere(_wrong_cells(X, table, text))
        if not len(positions):  # too large for single precision
            raise
        row, column = positions[0]
        name = column if names is None else repr(names[column])
        raise ValueError(
            f"{text.rstrip('.')}. The first is in column {name} on row {row}."
        ) from None


def _wrong_cells(X: Any, table: AnyArray, text: str) -> AnyArray:
    if "convert" in text:
        return np.asarray(~np.vectorize(_is_number, otypes=[bool])(table))
    # Missing values of nullable columns of pandas are no floats.
    is_pandas = hasattr(X, "iloc")
    values = X.to_numpy(np.float64, na_value=np.nan) if is_pandas else table.astype(float)
    if "infinity" in text:
        return np.asarray(np.isinf(values))
    return np.asarray(np.isnan(values))


def _is_number(value: Any) -> bool:
    try:
        float(value)
    except (TypeError, ValueError, OverflowError):
        return False
    return True

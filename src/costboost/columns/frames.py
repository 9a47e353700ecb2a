"""Frames with columns that are not numbers, turned into a float matrix the same way each time.

Text and categories become codes. Dates, and text that is different on almost every row (an id),
say nothing about new rows: they are left out, with a warning that names them.
"""

from __future__ import annotations

import re
import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from scipy import sparse

from costboost._typing import AnyArray, Floats, Ints
from costboost.columns.recipe import ID_VALUES
from costboost.costs.labels import label_array
from costboost.errors import ColumnWarning

# How pandas and polars spell the types of columns that hold categories, text or times.
_CATEGORIES = ("category", "Categorical", "Enum")
_TEXT = ("object", "str", "string", "large_string", "String")
_TIMES = (
    *("datetime64", "Datetime", "Date", "Time", "timestamp", "date32", "date64", "time64"),
    *("timedelta64", "Duration", "duration", "period"),
)

_DATE = re.compile(r"\s*(\d{4}-\d{1,2}-\d{1,2}|\d{1,2}[./]\d{1,2}[./]\d{2,4})([T ].*)?\s*")


def check_table(X: Any, owner: str) -> None:
    """Raise a TypeError for a dict of columns or a list of records: they are not tables."""
    is_records = isinstance(X, (list, tuple)) and len(X) > 0 and isinstance(X[0], Mapping)
    if isinstance(X, Mapping) or is_records:
        what = "a list of dicts" if is_records else type(X).__name__
        raise TypeError(
            f"X of {owner} must be an array, a data frame or a sparse matrix, got {what}. Pass "
            "pandas.DataFrame(X)."
        )


class EncodedRows(ABC):
    """Rows whose columns were read and coded before, as the model's own encoder does."""

    @abstractmethod
    def matrix(self) -> Floats:
        """The features (n, d)."""


# Whether X is a sparse matrix or array of SciPy.
is_sparse: Callable[[Any], bool] = sparse.issparse


def as_csr(X: Any) -> Any:
    """Sparse rows as the type that all engines know."""
    return sparse.csr_matrix(X)


def categorical_columns(X: Any) -> list[int]:
    """Positions of the columns of a pandas or polars frame that are not numbers."""
    kinds = _kinds(X)
    return [j for j, kind in enumerate(kinds) if kind in (*_CATEGORIES, *_TEXT, *_TIMES)]


def _kinds(X: Any) -> list[str]:
    """Type of each column; empty if X is not a frame."""
    if not (hasattr(X, "columns") and hasattr(X, "dtypes")):
        return []
    # "large_string[pyarrow]", "Enum(categories=...)": the name before the bracket tells.
    return [str(dtype).split("(")[0].split("[")[0] for dtype in X.dtypes]


def odd_columns(X: Any) -> dict[int, str]:
    """Columns that say nothing about new rows, by their position, with what they hold."""
    found: dict[int, str] = {}
    for j, kind in enumerate(_kinds(X)):
        if kind in _TIMES:
            found[j] = "dates or times"
        elif kind in _TEXT:
            _, distinct = _factorized(X[X.columns[j]])
            texts = [x for x in distinct[:200] if isinstance(x, str)]
            if len(texts) > 1 and all(_DATE.fullmatch(x) for x in texts):
                found[j] = "dates"
            elif len(distinct) > max(ID_VALUES, 0.5 * len(X)):
                found[j] = f"{len(distinct)} different texts on {len(X)} rows, as an id does"
    return found


def _factorized(column: Any) -> tuple[Ints, list[Any]]:
    """Index of each value among the distinct ones, -1 if it is missing; the distinct ones."""
    if hasattr(column, "factorize"):  # pandas
        codes, distinct = column.factorize()
        return np.asarray(codes, dtype=np.intp), list(distinct.tolist())
    values = column.to_list()
    distinct = list(dict.fromkeys(x for x in values if x is not None and x == x))
    places = {value: code for code, value in enumerate(distinct)}
    return np.array([places.get(x, -1) for x in values], dtype=np.intp), distinct


class FrameEncoder:
    """Numbers stay, categories become their codes, missing and unseen ones NaN."""

    def __init__(self, X: Any, categorical: list[int], ignored: Any = ()) -> None:
        self.ignored = list(ignored)
        self.categorical = [j for j in categorical if j not in self.ignored]
        self.categories = [_ordered(_factorized(X[X.columns[j]])[1]) for j in self.categorical]

    def transform(self, X: Any) -> Floats:
        """The frame as a float matrix, (n, d)."""
        encoded = np.zeros(X.shape, dtype=np.float64)
        coded = dict(zip(self.categorical, self.categories, strict=True))
        for j in range(X.shape[1]):
            column = X[X.columns[j]]
            if j in coded:
                encoded[:, j] = _codes(column, coded[j])
            elif j not in self.ignored:
                encoded[:, j] = numbers(column)
        return encoded


def _ordered(distinct: list[Any]) -> AnyArray:
    """Distinct values, sorted."""
    try:
        return label_array(sorted(distinct))
    except TypeError:  # a column of several types
        return label_array(sorted(distinct, key=lambda x: (type(x).__name__, x)))


def _codes(column: Any, known: AnyArray) -> Floats:
    """Position of each value among the known ones; NaN if it is missing or new."""
    codes, distinct = _factorized(column)
    places = {value: float(code) for code, value in enumerate(known.tolist())}
    return np.array([*(places.get(value, np.nan) for value in distinct), np.nan])[codes]


def numbers(column: Any) -> Floats:
    """A column of numbers or booleans as floats; missing values become NaN."""
    if hasattr(column, "isna"):  # pandas: nullable numbers too
        return np.asarray(column.to_numpy(dtype=np.float64, na_value=np.nan))
    return np.asarray(column, dtype=np.float64)


def warn_of(odd: dict[int, str], X: Any, owner: str) -> None:
    """Name the columns that are left out, and what to do with them."""
    named = "; ".join(f"{X.columns[j]!r} holds {what}" for j, what in odd.items())
    warnings.warn(
        f"{owner} leaves out columns that say nothing about new rows: {named}. Drop them, turn "
        "dates into numbers (days since a date, hour of the day), or give a column of real "
        "categories a categorical type.",
        ColumnWarning,
        stacklevel=5,
    )

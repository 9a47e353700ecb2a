"""What each column of a table holds, inferred from its values, with the reason.

A column becomes a feature (a number, a category, parts of a date), or it is skipped, because it
says nothing about new rows: ids, constants, empty columns.
"""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import polars as pl

__all__ = ["NULLS", "Column", "infer_column", "infer_columns", "tells_target"]

DATE_FORMATS = (
    "%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M",
    "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S%.fZ",
    "%Y/%m/%d", "%Y/%m/%d %H:%M:%S", "%d.%m.%Y", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S",
)  # fmt: skip
"""Formats of dates that can be read in one way only."""

NULLS = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None", "<NA>")
"""Texts that mean a missing value (those of pandas)."""

_UNCLEAR = (("%d/%m/%Y", "%m/%d/%Y"), ("%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M"))
_MARKS = ("?", "-", ".", "*", "unknown")
_ID_NAME = re.compile(
    r"(^|_|\b)(id|uuid|guid|key|index|rownum|row_number)$|^id(_|$)|^unnamed", re.I
)
PART_DAYS = {"month": 730, "day": 61, "weekday": 14, "hour": 2}
"""A part of a date is a feature if the dates span this many days, so that its values repeat."""
ID_VALUES = 50
"""Text with more different values than this, and than half of the rows, is an id."""
LONG_TEXT = 60
"""Text longer than this on average is free text."""


@dataclass(frozen=True)
class Column:
    """One column of a table.

    Attributes
    ----------
    name : str
        Its name.
    kind : {"number", "boolean", "category", "date", "nested"}
        What it holds.
    role : str
        ``"feature"`` or ``"skipped"``; or ``"target"``, ``"weight"``, ``"time"``, ``"group"``,
        ``"excluded"``, ``"cost"``.
    reason : str
        Why, for people.
    decimal : str
        The decimal mark, a point or a comma.
    missing : str
        A mark that stands for missing values, beyond the usual ones.
    format : str
        How dates are written.
    parts : tuple of str
        Parts of a date that are features.
    """

    name: str
    kind: str
    role: str = "feature"
    reason: str = ""
    decimal: str = "."
    missing: str = ""
    format: str = ""
    parts: tuple[str, ...] = ()

    def to_json(self) -> dict[str, Any]:
        """The column as JSON; what is left out has its default."""
        values = asdict(self)
        return {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in values.items()
            if value not in ("", (), ".") or key in ("name", "kind")
        }

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Column:
        """The column that `to_json` described."""
        return cls(**{**values, "parts": tuple(values.get("parts", ()))})

    @property
    def _empty(self) -> list[str]:
        return [*NULLS, self.missing] if self.missing else list(NULLS)

    def is_missing(self, raw: pl.Series) -> pl.Series:
        """Which raw values are missing, rather than unreadable."""
        import polars as pl

        if raw.dtype == pl.String:
            return raw.str.strip_chars().is_in(self._empty).fill_null(value=True)
        return raw.is_null() | raw.is_nan() if raw.dtype.is_float() else raw.is_null()

    def parsed(self, raw: pl.Expr) -> pl.Expr:
        """A raw column, text or typed, as what it holds."""
        import polars as pl

        text = raw.cast(pl.String).str.strip_chars()
        text = pl.when(text.is_in(self._empty)).then(None).otherwise(text)
        if self.kind == "number":
            if self.decimal == ",":
                text = text.str.replace(",", ".", literal=True)
            return text.cast(pl.Float64, strict=False)
        if self.kind == "boolean":
            low = text.str.to_lowercase()
            return pl.when(low == "true").then(1.0).when(low == "false").then(0.0)
        if self.kind == "date":
            return text.str.to_datetime(self.format, strict=False, time_unit="us")
        return text

    def typed(self, raw: pl.Expr, dtype: Any) -> pl.Expr:
        """A raw column of a known type as what it holds, without a detour through text."""
        import polars as pl

        if dtype == pl.String:
            return self.parsed(raw)
        if self.kind in ("number", "boolean") and (dtype.is_numeric() or dtype == pl.Boolean):
            value = raw.cast(pl.Float64)
            return pl.when(value.is_nan()).then(None).otherwise(value)
        if self.kind == "date" and dtype.is_temporal():
            return raw.cast(pl.Datetime("us"))
        return self.parsed(raw)


def infer_columns(
    frame: pl.DataFrame, *, keep: Collection[str] = (), force_category: Collection[str] = ()
) -> list[Column]:
    """Find out what every column holds.

    Parameters
    ----------
    frame : polars.DataFrame
        The rows; columns of CSV files are text.
    keep : collection of str
        Columns that are features even if they look useless: those that the costs name.
    force_category : collection of str
        Columns whose values are categories, though they look like numbers or ids.

    Returns
    -------
    list of Column
        In the order of the frame.
    """
    return [
        infer_column(frame[name], keep=name in keep, force_category=name in force_category)
        for name in frame.columns
    ]


def infer_column(values: pl.Series, *, keep: bool = False, force_category: bool = False) -> Column:
    """Find out what one column holds.

    Parameters
    ----------
    values : polars.Series
        The values.
    keep : bool, default=False
        Whether the column stays even if it looks useless.
    force_category : bool, default=False
        Whether its values are categories, whatever they look like.

    Returns
    -------
    Column
        What it holds, its role and the reason.

    Examples
    --------
    >>> import polars as pl
    >>> column = infer_column(pl.Series("when", ["2026-01-31", "2026-02-20", None]))
    >>> column.kind, column.parts
    ('date', ('weekday',))
    """
    import polars as pl

    name, dtype = values.name, values.dtype
    known = values.drop_nulls()
    if dtype in (pl.Categorical, pl.Enum) or isinstance(dtype, pl.Enum):
        known = known.cast(pl.String)
    if known.dtype == pl.String:
        known = known.filter(~known.str.strip_chars().is_in(NULLS))
    elif known.dtype.is_float():
        known = known.filter(known.is_not_nan())
    if not known.len():
        return Column(name, "category", "skipped", "empty: no row has a value")
    if dtype.is_nested() or dtype in (pl.Object, pl.Binary):
        return Column(name, "nested", "skipped", f"holds {dtype}, not single values")
    if force_category:
        return Column(name, "category", reason="as you asked")
    found = _text(name, known) if known.dtype == pl.String else _typed(name, known)
    if found.kind == "date":
        found = _with_parts(found, known)
    if keep:
        return found
    return _without_use(found, known)


def _typed(name: str, known: pl.Series) -> Column:
    import polars as pl

    if known.dtype == pl.Boolean:
        return Column(name, "boolean")
    if known.dtype.is_numeric():
        return Column(name, "number")
    if known.dtype in (pl.Date,) or isinstance(known.dtype, pl.Datetime):
        return Column(name, "date")
    return Column(name, "nested", "skipped", f"holds {known.dtype}, which is not used")


def _text(name: str, known: pl.Series) -> Column:
    """What a column of text holds: numbers, booleans, dates or words."""
    text = known.str.strip_chars()
    if text.cast(_float(), strict=False).null_count() == 0:
        return Column(name, "number")
    if text.str.contains(r"^[-+]?\d+(,\d+)?([eE][-+]?\d+)?$").all():
        return Column(name, "number", decimal=",", reason="decimal comma")
    for mark in _MARKS:
        rest = text.filter(text != mark)
        if 0 < rest.len() < text.len() and rest.cast(_float(), strict=False).null_count() == 0:
            n = text.len() - rest.len()
            return Column(
                name, "number", missing=mark, reason=f"{mark!r} read as missing, {n} rows"
            )
    if text.str.to_lowercase().is_in(["true", "false"]).all():
        return Column(name, "boolean")
    first = text[0]
    if re.match(r"\d", first):
        for form in DATE_FORMATS:
            if _reads(text, form):
                return Column(name, "date", format=form)
        for pair in _UNCLEAR:
            fits = [form for form in pair if _reads(text, form)]
            if len(fits) == 1:
                return Column(name, "date", format=fits[0])
            if fits:
                return Column(
                    name,
                    "date",
                    "skipped",
                    f"dates such as {first}: day or month first? Write them as 2026-12-31",
                    format=fits[0],
                )
    return Column(name, "category")


def _float() -> Any:
    import polars as pl

    return pl.Float64


def _reads(text: pl.Series, form: str) -> bool:
    if text[:1].str.to_datetime(form, strict=False).null_count():
        return False
    return text.str.to_datetime(form, strict=False).null_count() == 0


def _with_parts(column: Column, known: pl.Series) -> Column:
    """The parts of a date that differ from row to row."""
    import polars as pl

    if column.role == "skipped":
        return column
    frame = known.to_frame().select(column.typed(pl.col(column.name), known.dtype))
    moment = frame.to_series()
    parts = {
        "month": moment.dt.month(), "day": moment.dt.day(), "weekday": moment.dt.weekday(),
        "hour": moment.dt.hour(),
    }  # fmt: skip
    days = moment.dt.date().n_unique()
    dates: Any = moment.dt.date()
    span = (dates.max() - dates.min()).days
    varying = tuple(
        part for part, values in parts.items() if values.n_unique() > 1 and span >= PART_DAYS[part]
    )
    if not varying:
        reason = f"dates of {days} days: too short a time for months or weekdays to repeat"
        return Column(**{**asdict(column), "role": "skipped", "reason": reason})
    reason = "as " + ", ".join(varying)
    return Column(**{**asdict(column), "parts": varying, "reason": reason})


def _without_use(column: Column, known: pl.Series) -> Column:
    """The column, skipped if its values say nothing about new rows."""
    if column.role == "skipped":
        return column
    n, distinct = known.len(), known.n_unique()

    def skipped(reason: str) -> Column:
        return Column(**{**asdict(column), "role": "skipped", "reason": reason, "parts": ()})

    if distinct == 1:
        return skipped(f"constant: always {known[0]}")
    if column.kind == "category":
        if distinct > max(ID_VALUES, 0.5 * n):
            return skipped(f"an id: {distinct:,} different texts on {n:,} rows")
        length = known.cast(_string()).str.len_chars().mean()
        if distinct > ID_VALUES and isinstance(length, float) and length > LONG_TEXT:
            return skipped(f"free text: {length:.0f} characters on average")
        reason = column.reason or f"{distinct:,} values"
        return Column(**{**asdict(column), "reason": reason})
    if column.kind == "number" and distinct == n and n >= 20 and _counts(column, known):
        return skipped("an id: a different whole number on every row")
    return column


def _counts(column: Column, known: pl.Series) -> bool:
    """Whether numbers only tell rows apart: whole, and named so or in an unbroken sequence."""
    import polars as pl

    values = known.to_frame().select(column.typed(pl.col(column.name), known.dtype)).to_series()
    if not (values == values.floor()).all():
        return False
    low, high = values.min(), values.max()
    unbroken = isinstance(low, float) and isinstance(high, float) and high - low + 1 == len(values)
    return bool(unbroken or _ID_NAME.search(column.name))


def _string() -> Any:
    import polars as pl

    return pl.String


def tells_target(frame: pl.DataFrame, name: str, target: str) -> bool:
    """Whether each of a column's few values goes with one class only.

    Such a column is often known only after the decision.

    Parameters
    ----------
    frame : polars.DataFrame
        The rows.
    name, target : str
        The column, and the column of the classes.

    Returns
    -------
    bool
        True if the column tells the class of every row.
    """
    distinct = frame[name].n_unique()
    if distinct < 2 or distinct > min(50, frame.height / 20):
        return False
    return frame.select([name, target]).n_unique() == distinct

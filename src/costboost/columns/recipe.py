"""What each column of a table holds, what becomes of it, and why.

`infer_column` finds out what a column holds from its values. It becomes a feature (a number, a
category, parts of a date), or it is skipped, because it says nothing about new rows: ids,
constants, empty columns. A `TableRecipe` is plain data that is kept in the model file, so that
``costboost predict`` builds the table that the model was trained on from the original columns.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from costboost._typing import AnyArray
from costboost.columns.files import TableError, unknown_column

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

DATE_FORMATS = (
    "%Y-%m-%d", "%Y-%m-%d %H:%M:%S", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%d %H:%M", "%Y-%m-%dT%H:%M",
    "%Y-%m-%d %H:%M:%S%.f", "%Y-%m-%dT%H:%M:%S%.f", "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S%.fZ",
    "%Y/%m/%d", "%Y/%m/%d %H:%M:%S", "%d.%m.%Y", "%d.%m.%Y %H:%M", "%d.%m.%Y %H:%M:%S",
)  # fmt: skip
"""Formats of dates that can be read in one way only."""
_UNCLEAR = (("%d/%m/%Y", "%m/%d/%Y"), ("%d/%m/%Y %H:%M", "%m/%d/%Y %H:%M"))
PART_DAYS = {"month": 730, "day": 61, "weekday": 14, "hour": 2}
"""A part of a date is a feature if the dates span this many days, so that its values repeat."""
NULLS = ("", "NA", "N/A", "n/a", "#N/A", "NaN", "nan", "NULL", "null", "None", "<NA>")
"""Texts that mean a missing value (those of pandas)."""
_MARKS = ("?", "-", ".", "*", "unknown")
_ID_NAME = re.compile(
    r"(^|_|\b)(id|uuid|guid|key|index|rownum|row_number)$|^id(_|$)|^unnamed", re.I
)
ID_VALUES = 50
"""Text with more different values than this, and than half of the rows, is an id."""
LONG_TEXT = 60
"""Text longer than this on average is free text."""
VERSION = 1


# --- reading: what a column holds --------------------------------------------------------------


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
        return {
            key: list(value) if isinstance(value, tuple) else value
            for key, value in asdict(self).items()
            if value not in ("", (), ".") or key in ("name", "kind")
        }

    @classmethod
    def from_json(cls, values: dict[str, Any]) -> Column:
        """The column that `to_json` described."""
        return cls(**{**values, "parts": tuple(values.get("parts", ()))})

    @property
    def _nulls(self) -> list[str]:
        return [*NULLS, self.missing]

    def is_missing(self, raw: pl.Series) -> pl.Series:
        """Which raw values are missing, rather than unreadable."""
        import polars as pl

        if raw.dtype == pl.String:
            return raw.str.strip_chars().is_in(self._nulls).fill_null(value=True)
        return raw.is_null() | raw.is_nan() if raw.dtype.is_float() else raw.is_null()

    def typed(self, raw: pl.Expr, dtype: Any) -> pl.Expr:
        """A raw column as what it holds, without a detour through text where it has a type."""
        import polars as pl

        if self.kind in ("number", "boolean") and (dtype.is_numeric() or dtype == pl.Boolean):
            value = raw.cast(pl.Float64)
            return pl.when(value.is_nan()).then(None).otherwise(value)
        if self.kind == "date" and dtype.is_temporal():
            return raw.cast(pl.Datetime("us"))
        text = raw.cast(pl.String).str.strip_chars()
        text = pl.when(text.is_in(self._nulls)).then(None).otherwise(text)
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

    def values(self, raw: pl.Series) -> pl.Series:
        """The values of a raw column, as what it holds."""
        import polars as pl

        return raw.to_frame().select(self.typed(pl.col(raw.name), raw.dtype)).to_series()


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
    if isinstance(dtype, pl.Categorical | pl.Enum):
        known = known.cast(pl.String)
    known = known.filter(~Column(name, "category").is_missing(known))
    if not known.len():
        return Column(name, "category", "skipped", "empty: no row has a value")
    if dtype.is_nested() or dtype in (pl.Object, pl.Binary):
        return Column(name, "nested", "skipped", f"holds {dtype}, not single values")
    if force_category:
        return Column(name, "category", reason="as you asked")
    if known.dtype == pl.String:
        found = _read_text(name, known.str.strip_chars())
    elif known.dtype == pl.Boolean:
        found = Column(name, "boolean")
    elif known.dtype.is_numeric():
        found = Column(name, "number")
    elif known.dtype == pl.Date or isinstance(known.dtype, pl.Datetime):
        found = Column(name, "date")
    else:
        found = Column(name, "nested", "skipped", f"holds {known.dtype}, which is not used")
    if found.kind == "date" and found.role != "skipped":
        found = _with_parts(found, found.values(known))
    return found if keep or found.role == "skipped" else _without_use(found, known)


def _read_text(name: str, text: pl.Series) -> Column:
    """What a column of text holds: numbers, booleans, dates or words."""
    import polars as pl

    def are_numbers(values: pl.Series) -> bool:
        return values.cast(pl.Float64, strict=False).null_count() == 0

    def are_dates(form: str) -> bool:
        heads = (text[:1], text)  # most formats fail on the first value
        return all(not x.str.to_datetime(form, strict=False).null_count() for x in heads)

    if are_numbers(text):
        return Column(name, "number")
    if text.str.contains(r"^[-+]?\d+(,\d+)?([eE][-+]?\d+)?$").all():
        return Column(name, "number", decimal=",", reason="decimal comma")
    for mark in _MARKS:
        rest = text.filter(text != mark)
        if 0 < rest.len() < text.len() and are_numbers(rest):
            reason = f"{mark!r} read as missing, {text.len() - rest.len()} rows"
            return Column(name, "number", missing=mark, reason=reason)
    if text.str.to_lowercase().is_in(["true", "false"]).all():
        return Column(name, "boolean")
    if re.match(r"\d", text[0]):
        for form in DATE_FORMATS:
            if are_dates(form):
                return Column(name, "date", format=form)
        for pair in _UNCLEAR:
            fits = [form for form in pair if are_dates(form)]
            if len(fits) == 1:
                return Column(name, "date", format=fits[0])
            if fits:
                why = f"dates such as {text[0]}: day or month first? Write them as 2026-12-31"
                return Column(name, "date", "skipped", why, format=fits[0])
    return Column(name, "category")


def _with_parts(column: Column, moment: Any) -> Column:
    """The parts of a date that differ from row to row."""
    days = moment.dt.date()
    span = (days.max() - days.min()).days
    parts = tuple(
        part
        for part, least in PART_DAYS.items()
        if span >= least and getattr(moment.dt, part)().n_unique() > 1
    )
    if parts:
        return replace(column, parts=parts, reason="as " + ", ".join(parts))
    reason = f"dates of {days.n_unique()} days: too short a time for months or weekdays to repeat"
    return replace(column, role="skipped", reason=reason)


def _without_use(column: Column, known: pl.Series) -> Column:
    """The column, skipped if its values say nothing about new rows."""
    import polars as pl

    n, distinct = known.len(), known.n_unique()
    reason = ""
    if distinct == 1:
        reason = f"constant: always {known[0]}"
    elif column.kind == "category":
        length: Any = known.cast(pl.String).str.len_chars().mean()
        if distinct > max(ID_VALUES, 0.5 * n):
            reason = f"an id: {distinct:,} different texts on {n:,} rows"
        elif distinct > ID_VALUES and length > LONG_TEXT:
            reason = f"free text: {length:.0f} characters on average"
        else:
            return replace(column, reason=column.reason or f"{distinct:,} values")
    elif column.kind == "number" and distinct == n >= 20:
        values: Any = column.values(known)
        in_a_row = values.max() - values.min() + 1 == n
        if (values == values.floor()).all() and (in_a_row or _ID_NAME.search(column.name)):
            reason = "an id: a different whole number on every row"
    return replace(column, role="skipped", reason=reason, parts=()) if reason else column


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


# --- encoding: the table that a model sees -----------------------------------------------------


@dataclass(frozen=True)
class TableRecipe:
    """How a table of raw columns becomes the features, the target and the weights.

    Attributes
    ----------
    columns : tuple of Column
        Every column of the training file, in its order.
    target : str
        Column of the classes.
    label_kind : {"int", "bool", "text"}
        What the labels are in Python.
    positive : label or None
        The positive class, of two.
    nothing : str
        The decision that means doing nothing; empty if none was named.
    """

    columns: tuple[Column, ...]
    target: str
    label_kind: str
    positive: Any = None
    nothing: str = ""

    def to_json(self) -> dict[str, Any]:
        """The recipe as JSON."""
        return {
            "version": VERSION, "target": self.target, "labels": self.label_kind,
            "positive": self.positive, "nothing": self.nothing,
            "columns": [column.to_json() for column in self.columns],
        }  # fmt: skip

    @classmethod
    def from_json(cls, values: Any) -> TableRecipe:
        """The recipe that `to_json` described."""
        try:
            if values["version"] > VERSION:
                raise TableError(
                    f"The model file has a table recipe of version {values['version']}; this "
                    f"costboost knows {VERSION}. Update costboost."
                )
            columns = tuple(Column.from_json(one) for one in values["columns"])
            positive, nothing = values.get("positive"), values.get("nothing", "")
            return cls(columns, values["target"], values["labels"], positive, nothing)
        except (KeyError, TypeError) as error:
            raise TableError(
                f"The table recipe of the model file is damaged: {error!r}. Fit the model again, "
                "or take another copy of the file."
            ) from error

    def role(self, role: str) -> str | None:
        """Name of the first column of a role; None if there is none."""
        return next((column.name for column in self.columns if column.role == role), None)

    @property
    def used(self) -> list[Column]:
        """The columns that a file must have: features and what the costs name."""
        return [
            column
            for column in self.columns
            if column.role in ("feature", "cost")
            or (column.role in ("time", "group") and column.parts)
        ]

    @property
    def feature_names(self) -> list[str]:
        """Names of the columns of `features`."""
        names: list[str] = []
        for column in self.used:
            names += [f"{column.name}_{part}" for part in column.parts] or [column.name]
        return names

    @property
    def date_parts(self) -> list[str]:
        """Names of the features that are parts of dates."""
        return [f"{column.name}_{part}" for column in self.used for part in column.parts]

    def expressions(self, schema: Any) -> list[pl.Expr]:
        """The features as polars expressions over the raw columns.

        Parameters
        ----------
        schema : mapping of name to polars type
            The raw columns.

        Returns
        -------
        list of polars.Expr
            Named as in `feature_names`.
        """
        import polars as pl

        found = []
        for column in self.used:
            value = column.typed(pl.col(column.name), schema[column.name])
            if column.kind != "date":
                found.append(value.alias(column.name))
            for part in column.parts:
                number = getattr(value.dt, part)().cast(pl.Float64)
                found.append(number.alias(f"{column.name}_{part}"))
        return found

    def features(self, frame: pl.DataFrame, where: str = "The file") -> pd.DataFrame:
        """The table that the model sees.

        Parameters
        ----------
        frame : polars.DataFrame
            Rows with the original columns; others are ignored.
        where : str
            What to call the rows in messages.

        Returns
        -------
        pandas.DataFrame
            Numbers as floats, text as categories, dates in parts.

        Raises
        ------
        TableError
            If columns are missing, or hold values that cannot be read as they were in training.
        """
        import polars as pl

        self.check_columns(frame.columns, where)
        table = frame.select(self.expressions(frame.schema))
        for column in self.used:
            raw = frame[column.name]
            parsed = table[f"{column.name}_{column.parts[0]}" if column.parts else column.name]
            if column.kind == "category" or parsed.null_count() <= raw.null_count():
                continue
            bad = (parsed.is_null() & ~column.is_missing(raw)).arg_true()
            if len(bad):
                dates = f"dates like {column.format or '2026-12-31'}"
                raise TableError(
                    f"{where}: the column {column.name!r} must hold "
                    f"{dates if column.kind == 'date' else column.kind + 's'}, as in training, got "
                    f"{raw[bad[0]]!r} on row {bad[0] + 1} ({len(bad)} such rows). Correct the "
                    "values, or leave them empty."
                )
        texts = [column.name for column in self.used if column.kind == "category"]
        return table.with_columns(pl.col(texts).cast(pl.Categorical)).to_pandas()

    def check_columns(self, names: Sequence[str], where: str) -> None:
        """Raise a `TableError` that names the columns that a file lacks."""
        lacking = [column.name for column in self.used if column.name not in names]
        if len(lacking) == 1:
            raise unknown_column(lacking[0], names, "the model needs it", where)
        if lacking:
            shown = ", ".join(map(repr, lacking[:10])) + (", ..." if len(lacking) > 10 else "")
            hint = " Is the delimiter right? See --delimiter." if len(names) == 1 else ""
            raise TableError(
                f"{where} lacks {len(lacking)} columns that the model needs: {shown}. It has: "
                f"{', '.join(list(names)[:12])}.{hint}"
            )

    def truth(self, frame: pl.DataFrame, where: str = "The file") -> AnyArray | None:
        """Labels of the rows; None if the file has no column of that name."""
        if self.target not in frame.columns:
            return None
        missing = without_label(frame[self.target]).sum()
        if missing:
            raise TableError(
                f"{where}: the target {self.target!r} is missing on {missing} rows. Remove them."
            )
        return labels(frame[self.target], self.label_kind)

    def label(self, text: str) -> Any:
        """A label as Python knows it, from what a user typed."""
        if self.label_kind == "int":
            try:
                return int(float(text))
            except ValueError:
                return text
        text = text.strip()
        if self.label_kind == "bool" and text.lower() in ("true", "false"):
            return text.lower() == "true"
        return text

    def moments(self, frame: pl.DataFrame, name: str, where: str = "The file") -> pl.Series:
        """A column of dates."""
        if name not in frame.columns:
            raise unknown_column(name, frame.columns, "--time-column", where)
        known = next((c for c in self.columns if c.name == name and c.kind == "date"), None)
        column = known or infer_column(frame[name], keep=True)
        if column.kind not in ("date", "number"):
            raise TableError(
                f"{where}: the time column {name!r} must hold dates such as 2026-12-31 08:30 or "
                f"numbers, got {frame[name].drop_nulls()[0]!r}."
            )
        values = column.values(frame[name])
        if values.null_count():
            row = values.is_null().arg_true()[0]
            raise TableError(
                f"{where}: the time column {name!r} has no date on row {row + 1} "
                f"({values.null_count()} such rows). Remove them."
            )
        return values


def without_label(values: pl.Series) -> pl.Series:
    """Which rows have no label.

    Parameters
    ----------
    values : polars.Series
        The raw target.

    Returns
    -------
    polars.Series
        Booleans.
    """
    return Column(values.name, "category").is_missing(values)


def label_kind(values: pl.Series) -> str:
    """What labels are in Python: whole numbers, booleans, or text.

    Parameters
    ----------
    values : polars.Series
        The labels, none missing.

    Returns
    -------
    {"int", "bool", "text"}
        The kind.
    """
    import polars as pl

    if values.dtype == pl.Boolean:
        return "bool"
    text = values.cast(pl.String).str.strip_chars()
    numbers = text.cast(pl.Float64, strict=False)
    if numbers.null_count() == 0 and bool((numbers == numbers.floor()).all()):
        padded = text.str.contains(r"^[-+]?0\d").any()
        return "text" if padded else "int"
    if text.is_in(["True", "False"]).all() or text.is_in(["true", "false"]).all():
        return "bool"
    return "text"


def labels(values: pl.Series, kind: str) -> AnyArray:
    """Labels as a numpy array.

    Parameters
    ----------
    values : polars.Series
        The labels, none missing.
    kind : {"int", "bool", "text"}
        As `label_kind` found.

    Returns
    -------
    array of shape (n,)
        Integers, booleans or texts.
    """
    import polars as pl

    text = values.cast(pl.String).str.strip_chars()
    if kind == "int":
        numbers = text.cast(pl.Float64, strict=False)
        if numbers.null_count():
            bad = text.filter(numbers.is_null())[0]
            raise TableError(
                f"The target {values.name!r} must hold whole numbers, as in training, got {bad!r}."
            )
        return np.asarray(numbers.cast(pl.Int64).to_numpy())
    if kind == "bool":
        return np.asarray((text.str.to_lowercase() == "true").to_numpy())
    return np.asarray(text.to_list(), dtype=np.str_)

"""What each column of a table holds, and what becomes of it: learned in `fit`, part of the model.

Two steps. *Reading*: whatever a table is written in, a column holds numbers, booleans, dates or
categories. *Encoding*: numbers stay, categories become codes, dates become parts that repeat
(month, weekday, hour), and what says nothing about new rows is left out: ids, constants, free text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields, replace
from datetime import date, datetime
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from costboost._typing import AnyArray, Floats, Ints
from costboost.columns.files import TableError, nearest, unknown_column
from costboost.columns.raw import RawColumn, RawTable, as_texts

# A part of a date is an input if the dates span this many days, so that its values repeat.
PART_DAYS = {"month": 730, "day": 61, "weekday": 14, "hour": 2}
# Text with more different values than this, and than half of the rows, is an id.
ID_VALUES = 50
# Text that is longer on average, and differs so often, is free text.
LONG_TEXT = 60
# What stands for a missing value in a column that holds something else in all other rows.
MARKS = ("?", "-", ".", "*", "unknown")
KINDS = ("number", "boolean", "category", "date")
_ID_NAME = re.compile(
    r"(^|_|\b)(id|uuid|guid|key|index|rownum|row_number)$|^id(_|$)|^unnamed|(?-i:[a-z]I[dD]$)", re.I
)
_TIME = re.compile(
    r"[T ](?P<H>\d{1,2}):(?P<M>\d\d)(?::(?P<S>\d\d)(?:\.(?P<f>\d{1,9}))?)?"
    r"(?P<z>Z|[+-]\d\d:?\d\d)?"
)
# How the day is written; the time may follow. The last two cannot be told apart before the 13th.
DATES = ("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y")
_COMMA = re.compile(r"[-+]?\d+(,\d+)?([eE][-+]?\d+)?")
_BOOLEANS = {"true": 1.0, "false": 0.0, "1": 1.0, "0": 0.0}


class ColumnError(TableError):
    """A column lacks, or holds a value that cannot be read as in `fit`.

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


# --- texts as what they mean -------------------------------------------------------------------


def number_of(text: str, decimal: str = ".") -> float | None:
    """The number that a text writes; None if it is none."""
    if decimal == ",":
        if not _COMMA.fullmatch(text):
            return None
        text = text.replace(",", ".")
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


def moment_of(text: str, form: str) -> int | None:
    """Microseconds since 1970, in UTC if the text says how far from it; None if it is no time."""
    # Days and times of the day repeat in most columns, so each is read once.
    end = max(text.find(" "), text.find("T"))
    end = len(text) if end < 0 else end
    day, time = _day_of(text[:end], form), _time_of(text[end:])
    return None if day is None or time is None else day + time


@lru_cache(2**15)
def _day_of(text: str, form: str) -> int | None:
    try:
        day = datetime.strptime(text, form).toordinal()
    except ValueError:
        return None
    return 86_400_000_000 * (day - date(1970, 1, 1).toordinal())


@lru_cache(2**15)
def _time_of(text: str) -> int | None:
    found = _TIME.fullmatch(text)
    if found is None:
        return None if text else 0
    hours, minutes, seconds = (int(part or 0) for part in found.group("H", "M", "S"))
    if hours > 23 or minutes > 59 or seconds > 59:
        return None
    if (z := found["z"]) and z != "Z":
        minutes -= int(z[0] + z[1:3]) * 60 + int(z[0] + z[-2:])
    micro = int((found["f"] or "0").ljust(6, "0")[:6])
    return 1_000_000 * (3600 * hours + 60 * minutes + seconds) + micro


def _parts(moments: AnyArray) -> dict[str, Floats]:
    """Month, day, weekday (Monday is 1) and hour of times; NaN where there is none."""
    missing = np.isnan(moments)
    moments = np.where(missing, np.datetime64(0, "us"), moments)  # or numpy warns
    days, months = moments.astype("datetime64[D]"), moments.astype("datetime64[M]")
    found = {
        "month": months.astype(np.int64) % 12 + 1,
        "day": (days - months.astype("datetime64[D]")).astype(np.int64) + 1,
        "weekday": (days.astype(np.int64) + 3) % 7 + 1,
        "hour": (moments - days) // np.timedelta64(1, "h"),
    }
    return {part: np.where(missing, np.nan, values) for part, values in found.items()}


# --- one column --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Column:
    """One column of the table of `fit`.

    Attributes
    ----------
    name : str
        Its name.
    kind : str
        What it holds: ``"number"``, ``"boolean"``, ``"category"``, ``"date"``; or ``"text"``,
        ``"empty"`` or ``"other"``, which are not used.
    is_used : bool
        Whether the model has inputs of it.
    note : str
        Why it is left out, or how it is read.
    missing : int
        In how many rows of `fit` it has no value.
    categories : tuple of str
        Its categories, as texts.
    parts : tuple of str
        The parts of a date that are inputs.
    decimal, mark, format : str
        How its texts are written: the decimal mark of numbers, a mark for missing values beyond
        the usual ones, the order of day, month and year of dates.
    """

    name: Any
    kind: str
    is_used: bool = True
    note: str = ""
    missing: int = 0
    categories: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    decimal: str = "."
    mark: str = ""
    format: str = ""

    @property
    def inputs(self) -> list[str]:
        """Names of the model's inputs that are made of it."""
        if not self.is_used:
            return []
        return [f"{self.name}_{part}" for part in self.parts] or [str(self.name)]

    @cached_property
    def _codes(self) -> dict[str | None, float]:
        return {text: float(code) for code, text in enumerate(self.categories)}

    def values(self, raw: RawColumn, where: str = "X", first: int = 0) -> AnyArray:
        """What the rows hold: floats (codes of categories), or times."""
        if self.kind == raw.kind != "category" or (self.kind, raw.kind) == ("number", "boolean"):
            return raw.values
        if raw.kind == "other":
            raise self._error(f"values of the type {raw.type}", [0], where, first)
        places, texts = as_texts(raw)
        if self.kind == "category":
            return _taken([self._codes.get(text) for text in texts], places)
        known = [None if text == self.mark else text for text in texts]
        read = [None if text is None else self._read(text) for text in known]
        strange = [i for i, text in enumerate(known) if text is not None and read[i] is None]
        bad: Ints = np.flatnonzero(np.isin(places, strange)) if strange else np.empty(0, int)
        if len(bad):
            raise self._error(repr(texts[places[bad[0]]]), bad.tolist(), where, first)
        return _taken(read, places, "datetime64[us]" if self.kind == "date" else "float64")

    def _read(self, text: str) -> float | None:
        """A text as what the column holds; None if it is unreadable."""
        if self.kind == "number":
            return number_of(text, self.decimal)
        if self.kind == "boolean":
            return _BOOLEANS.get(text.lower())
        # A year in front can be read in one way only, and of dates that had a type all clear ones.
        forms = (self.format, DATES[0]) if self.format else DATES[:3]
        moments = (moment_of(text, form) for form in forms)
        return next((moment for moment in moments if moment is not None), None)

    def _error(self, given: str, rows: Sequence[int], where: str, first: int) -> ColumnError:
        """The error for values that cannot be read."""
        wanted = {
            "number": "numbers" + (" with a decimal comma" if self.decimal == "," else ""),
            "boolean": "true or false",
            "category": "texts or numbers",
            "date": f"dates like {datetime(2026, 12, 31).strftime(self.format or '%Y-%m-%d')}",
        }[self.kind]
        count = f", {len(rows):,} such rows" if len(rows) > 1 else ""
        return ColumnError(
            f"{where}: the column {self.name!r} must hold {wanted}, got {given} (row "
            f"{first + rows[0]}{count}). Correct it, or leave it empty.",
            self.name,
            rows[0],
        )


def _taken(values: Sequence[Any], places: Ints, dtype: str = "float64") -> AnyArray:
    """The value of each row; missing where there is none."""
    return np.array([*values, None], dtype=dtype)[places]


# All that texts can be read as, in the order in which it is tried.
_FORMS = (
    Column("", "number"),
    Column("", "number", note="decimal comma", decimal=","),
    Column("", "boolean"),
    *(Column("", "date", format=form) for form in DATES),
)


class Seen:
    """What was seen of a column so far: enough to say what it holds, however rows arrive."""

    def __init__(self, name: Any) -> None:
        self.name = name
        self.is_named_id = _ID_NAME.search(str(name)) is not None
        self.rows = self.known = 0
        self.kinds: set[str] = set()
        self.types: set[str] = set()
        self.texts: Counter[str] = Counter()
        # Different values of numbers and dates, in order: of numbers that may be ids all, of dates
        # every hour, always the smallest and the largest.
        self.values: dict[str, AnyArray] = {}

    def add(self, raw: RawColumn, n: int) -> Seen:
        """Look at some more rows."""
        self.rows += n
        self.types.add(raw.type)
        if raw.kind in ("text", "category"):
            counts = np.bincount(raw.values[raw.values >= 0], minlength=len(raw.texts))
            for text, count in zip(raw.texts, counts.tolist(), strict=True):
                if text is not None and count:
                    self.texts[text] += count
                    self.known += count
            if raw.type == "null" or (raw.kind == "text" and not self.texts):
                return self
        elif raw.kind == "other":
            self.known += n
        else:
            known = raw.values[~np.isnan(raw.values)]
            self.known += len(known)
            if not len(known):
                return self
            self._see(known)
        self.kinds.add(raw.kind)
        return self

    def _see(self, values: AnyArray) -> None:
        is_date = values.dtype.kind == "M"
        kind = "date" if is_date else "number"
        kept = [self.values.get(kind, values[:0]), np.array([values.min(), values.max()])]
        if is_date:
            kept.append(values.astype("datetime64[h]").astype(values.dtype))
        elif self.is_named_id:
            kept.append(values)
        self.values[kind] = np.unique(np.concatenate(kept))

    def merge(self, other: Seen) -> Seen:
        """With what was seen of other rows."""
        self.rows, self.known = self.rows + other.rows, self.known + other.known
        self.kinds |= other.kinds
        self.types |= other.types
        self.texts += other.texts
        for values in other.values.values():
            self._see(values)
        return self

    def column(self, asked: str | None = None, keep: bool = False) -> Column:
        """What the column holds, and what becomes of it."""
        missing = self.rows - self.known
        if asked == "ignore":
            return replace(self.column(keep=True), is_used=False, note="as you asked")
        if not self.known:
            return Column(self.name, "empty", False, "empty: no row has a value", missing)
        if "date" in self.kinds and self.kinds & {"number", "boolean"}:
            raise self._mixed()
        found = self._as_asked(asked) if asked else self._inferred()
        found = replace(found, name=self.name, missing=missing)
        if found.kind == "date" and found.is_used:
            found = self._with_parts(found, is_asked=asked is not None)
        return found if asked or not found.is_used else self._without_use(found, keep)

    def _mixed(self) -> ColumnError:
        return ColumnError(
            f"The column {self.name!r} must hold values of one kind, got {sorted(self.types)}. "
            "Convert it to one type.",
            self.name,
        )

    def _inferred(self) -> Column:
        """What it holds, by its type or its texts."""
        if "other" in self.kinds:
            what = ", ".join(sorted(self.types))
            return Column("", "other", False, f"holds {what}, which is not used")
        if "category" in self.kinds:
            return self._category()
        if "text" in self.kinds:
            is_text = self.kinds == {"text"}
            found = self._texts_as(KINDS if is_text else self.kinds)
            if found is None and not is_text:
                raise self._mixed()
            return found or self._category()
        return Column("", max(self.kinds))  # booleans and numbers are numbers

    def _texts_as(self, kinds: Collection[str]) -> Column | None:
        """What the texts mean, of some kinds or formats of dates; None if nothing fits."""
        for form in _FORMS:
            found = self._fitted(form) if {form.kind, form.format} & {*kinds} else None
            if found is None:
                continue
            if form is _FORMS[-2] and form.kind in kinds and self._fitted(_FORMS[-1]):
                example = next(text for text in self.texts if text not in MARKS)
                note = (
                    f"dates such as {example}: day or month first? Say columns={{{self.name!r}: "
                    f"{form.format!r}}}, or write them as 2026-12-31"
                )
                return replace(found, is_used=False, note=note)
            return found
        return None

    def _fitted(self, form: Column) -> Column | None:
        """The form, if all texts can be read in it but for one mark of missing values."""
        mark, read = "", []
        for text in self.texts:
            value = form._read(text)
            if value is not None:
                read.append(value)
            elif mark or text not in MARKS or len(self.texts) == 1:
                return None
            else:
                mark = text
        if read:
            self._see(np.array(read).astype("datetime64[us]" if form.kind == "date" else float))
        if not mark:
            return form
        n = self.texts[mark]
        note = f"{mark!r} read as missing, {n:,} row{'s' if n > 1 else ''}"
        return replace(form, mark=mark, note=", ".join(filter(None, (form.note, note))))

    def _category(self, note: str = "") -> Column:
        texts = sorted(self.texts)
        numbers = [number_of(text) for text in texts]
        if None not in numbers:
            texts = [text for _, text in sorted(zip(numbers, texts, strict=True))]
        return Column("", "category", categories=tuple(texts), note=note)

    def _as_asked(self, asked: str) -> Column:
        """What the user says that it holds."""
        what, kind = ", ".join(sorted(self.types)), "date" if "%" in asked else asked
        if "other" not in self.kinds:
            if asked == "category":
                return self._category("as you asked")
            if self.kinds & {"text", "category"}:
                found = self._texts_as([asked])
                if found is not None and found.is_used:
                    return found
                form = next(form for form in _FORMS if asked in (form.kind, form.format))
                strange = (repr(text) for text in self.texts if form._read(text) is None)
                what = found.note if found is not None else next(strange)
            else:
                is_binary = set(self.values.get("number", ())) <= {0.0, 1.0}
                fits = {"number": {"number", "boolean"}, "boolean": {"boolean"}, "date": {"date"}}
                if self.kinds & fits[kind] or (kind == "boolean" and is_binary):
                    return Column("", kind, note="as you asked")
        raise ColumnError(
            f"The 'columns' parameter says that {self.name!r} is {asked!r}, and it holds {what}. "
            f"Correct the values, or say what it is, one of {(*KINDS, 'ignore')}.",
            self.name,
        )

    def _with_parts(self, column: Column, is_asked: bool) -> Column:
        """The parts of a date that differ from row to row, and repeat."""
        moments = self.values["date"]
        span = (moments[-1] - moments[0]) / np.timedelta64(1, "D")
        parts = tuple(
            part
            for part, values in _parts(moments).items()
            if (is_asked or span >= PART_DAYS[part]) and len(np.unique(values)) > 1
        )
        if parts:
            note = ", ".join(filter(None, ("as " + ", ".join(parts), column.note)))
            return replace(column, parts=parts, note=note)
        note = f"dates of {int(span) + 1} days: too short a time for months or weekdays to repeat"
        return replace(column, is_used=False, note=note)

    def _without_use(self, column: Column, keep: bool) -> Column:
        """The column, left out if its values say nothing about new rows."""
        note, kind = "", column.kind
        texts = [text for text in self.texts if text != column.mark]
        numbers = self.values.get("number", np.empty(0))
        if len(texts) == 1:
            note = f"constant: always {texts[0]}"
        elif not texts and len(numbers) == 1 and np.isfinite(numbers[0]):
            note = f"constant: always {numbers[0]:g}"
        elif kind == "category" and "category" not in self.kinds and not keep:
            length = sum(len(text) * n for text, n in self.texts.items()) / self.known
            if len(texts) > max(ID_VALUES, 0.5 * self.known):
                note = f"an id: {len(texts):,} different texts on {self.known:,} rows"
            elif len(texts) > ID_VALUES and length > LONG_TEXT:
                kind, note = "text", f"free text: {length:.0f} characters on average"
        elif kind == "number" and self.is_named_id and not keep:
            is_whole = (numbers == np.floor(numbers)).all()
            if is_whole and len(numbers) == self.known >= 20:
                note = "an id: a different whole number on every row, and so its name says"
        if note:
            return replace(column, kind=kind, is_used=False, note=note, parts=(), categories=())
        return column


# --- all columns -------------------------------------------------------------------------------


def look(
    X: Any, overrides: Mapping[Any, str] | None = None, seen: Mapping[Any, Seen] | None = None
) -> dict[Any, Seen]:
    """What the columns of a table hold, added to what was seen of other rows."""
    table = X if isinstance(X, RawTable) else RawTable(X)
    n, found = len(table), dict(seen or {})
    for name in table.names:
        raw = table[name]
        if (overrides or {}).get(name) == "category" and raw.kind in ("number", "boolean", "date"):
            places, texts = as_texts(raw)
            raw = RawColumn("text", places, texts, raw.type)
        found[name] = found.get(name, Seen(name)).add(raw, n)
    return found


@dataclass(frozen=True, eq=False)
class Columns:
    """What becomes of the columns of a table: learned in `fit`, used whenever rows are read.

    Attributes
    ----------
    columns : tuple of Column
        The columns of `fit`, in their order; empty if it was given an array, whose columns are
        numbers.
    n_features : int
        Their number.
    target : str
        Name of the target, if it has one.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"kind": ["a", "b", "a"], "size": [1, 2, 3], "unit": ["kg"] * 3})
    >>> print(Columns.learn(table))
    column  kind      becomes        note
    kind    category  2 categories
    size    number    a number
    unit    category  nothing        constant: always kg
    """

    columns: tuple[Column, ...]
    n_features: int
    target: str = ""

    @classmethod
    def learn(
        cls,
        X: Any,
        overrides: Mapping[Any, str] | None = None,
        *,
        target: str = "",
        left_out: Mapping[Any, str] | None = None,
        keep: Collection[Any] = (),
    ) -> Columns:
        """Find out what the columns of a table hold.

        Parameters
        ----------
        X : frame of pandas or polars, Arrow table, or mapping of name to values
            The rows; numbers, booleans and dates may be written as text. Or what `look` saw.
        overrides : mapping of name to kind, optional
            What columns are, whatever they look like: ``"number"``, ``"boolean"``,
            ``"category"``, ``"date"`` (or how dates are written, such as ``"%d/%m/%Y"``),
            ``"ignore"``.
        target : str
            Name of the target, which may be a column of tables.
        left_out : mapping of name to reason, optional
            Columns that are not used.
        keep : collection of names
            Columns that are used even if they look like ids or free text.

        Returns
        -------
        Columns
            What becomes of each.

        Raises
        ------
        ColumnError
            If a column does not hold what `overrides` say, or none is left to learn from.
        """
        is_seen = isinstance(X, dict) and isinstance(next(iter(X.values()), None), Seen)
        seen = X if is_seen else look(X, overrides)
        asked = dict(overrides or {})
        for name, kind in asked.items():
            if name not in seen:
                raise unknown_column(name, map(str, seen), "the 'columns' parameter", "X")
            if kind not in (*KINDS, "ignore", *DATES):
                raise ColumnError(
                    f"The 'columns' parameter must say of {name!r} one of {(*KINDS, 'ignore')}, or "
                    f"how its dates are written, one of {DATES}; got {kind!r}.",
                    name,
                )
        others = {target: "the target: it has the name of y", **(left_out or {})}
        found = []
        for name, one in seen.items():
            # A column that only has the name of y, such as X.amount > 40, can be asked for.
            is_out = name in others and (name != target or asked.get(name) in (None, "ignore"))
            column = one.column(asked.get(name), keep=is_out or name in keep)
            found.append(replace(column, is_used=False, note=others[name]) if is_out else column)
        if not any(column.is_used for column in found):
            why = "; ".join(f"{c.name!r}: {c.note}" for c in found[:5])
            raise TableError(
                f"No column is left to learn from ({why}). Say what they are by 'columns'."
            )
        return cls(tuple(found), len(found), target)

    def __len__(self) -> int:
        return self.n_features

    def __iter__(self) -> Iterator[Column]:
        return iter(self.columns or (Column(f"x{j}", "number") for j in range(self.n_features)))

    def __getitem__(self, name: Any) -> Column:
        return {column.name: column for column in self}[name]

    # -- the inputs of the model ----------------------------------------------------------------

    @cached_property
    def used(self) -> tuple[Column, ...]:
        """The columns that rows must have."""
        return tuple(column for column in self if column.is_used)

    @cached_property
    def inputs(self) -> list[str]:
        """Names of the model's inputs: columns, and parts of dates."""
        return [name for column in self for name in column.inputs]

    @property
    def n_inputs(self) -> int:
        """Number of inputs."""
        return len(self.sources)

    @cached_property
    def sources(self) -> Ints:
        """For each input the position of its column."""
        if not self.columns:
            return np.arange(self.n_features)
        counts = [len(column.inputs) for column in self.columns]
        return np.repeat(np.arange(len(counts)), counts)

    @cached_property
    def categorical(self) -> list[int]:
        """Positions of the inputs that are codes of categories."""
        places = self.sources if self.columns else ()
        return [j for j, at in enumerate(places) if self.columns[at].kind == "category"]

    @cached_property
    def are_numbers(self) -> bool:
        """Whether every column that is used is a number."""
        return all(column.kind in ("number", "boolean") for column in self.used)

    @cached_property
    def optional(self) -> frozenset[Any]:
        """Columns that tables may have or not: those that are left out, and the target."""
        return frozenset([self.target, *(c.name for c in self.columns if not c.is_used)])

    @property
    def surprising(self) -> list[Column]:
        """Columns that are left out though they have values, and nobody asked for that."""
        usual = ("constant", "empty", "as you asked", "only for the costs")
        return [c for c in self.columns if not c.is_used and not c.note.startswith(usual)]

    def by_column(self, values: Floats) -> Floats:
        """Numbers of the inputs along the last axis, added up to those of the columns."""
        found = np.zeros((*values.shape[:-1], self.n_features))
        np.add.at(found.T, self.sources, values.T)  # several inputs may be of one column
        return found

    # -- rows -----------------------------------------------------------------------------------

    def read(self, X: Any, where: str = "X", first: int = 0) -> TypedRows:
        """Rows as the model reads them, found by the names of their columns.

        Parameters
        ----------
        X : frame of pandas or polars, Arrow table, or mapping of name to values
            The rows. Columns that the model does not use may be there or not.
        where : str
            What to call the rows in messages.
        first : int
            Number of the first row in messages.

        Returns
        -------
        TypedRows
            What `predict` and all other methods of the model take in place of a table.

        Raises
        ------
        ColumnError
            If a column is missing; by `TypedRows.matrix`, if it holds values that cannot be read
            as in `fit`.
        """
        table = X if isinstance(X, RawTable) else RawTable(X)
        for column in self.used:
            if column.name not in table.names:
                raise self.lacks(column.name, table.names, where)
        return TypedRows(self, table, where, first)

    def encode(self, X: Any, where: str = "X", first: int = 0) -> Floats:
        """The inputs of the model, a row per row of a table; see `read`."""
        return self.read(X, where, first).matrix()

    def lacks(self, name: Any, given: Iterable[Any], where: str) -> ColumnError:
        """The error for a column that rows lack, with the nearest name that nobody knows."""
        names = list(given)
        known = {column.name for column in self} | {self.target}
        near = nearest(name, (other for other in names if other not in known))
        hint = f" Is it {near[0]!r}?" if near else ""
        shown = ", ".join(map(str, names[:12])) + (", ..." if len(names) > 12 else "")
        return ColumnError(
            f"{where} lacks the column {name!r}, which the model needs.{hint} It has: {shown}. "
            "Rename or add the column.",
            name,
        )

    def example(self) -> Any:
        """A row that the model can decide: zeros, first categories, some day."""
        if not self.columns:
            return np.zeros((1, self.n_features))
        row: dict[Any, list[Any]] = {}
        for column in self.used:
            usual = {"category": column.categories[:1], "date": ("2026-01-01",)}
            row[column.name] = list(usual.get(column.kind, (0.0,))) or [None]
        return self.read(row)

    def check(self) -> None:
        """Raise a ValueError if a file has made up columns that no `fit` could learn."""
        for column in self.columns:
            fine = (
                all(type(getattr(column, f.name)) is str for f in fields(column)[7:])
                and column.format in ("", *DATES)
                and type(column.name) in (str, int)
                and set(column.parts) <= set(PART_DAYS)
                and all(type(text) is str for text in column.categories)
                and (column.kind in KINDS or not column.is_used)
                and (bool(column.parts) == (column.kind == "date") or not column.is_used)
            )
            if not fine:
                raise ValueError(f"the column {column.name!r:.40} is none that fit could learn")
        if self.columns and len(self.columns) != self.n_features:
            raise ValueError("the number of columns is not that of the names")

    # -- for people -----------------------------------------------------------------------------

    def __str__(self) -> str:
        rows = [("column", "kind", "becomes", "note"), *self.rows()]
        widths = [max(len(row[j]) for row in rows) for j in range(3)]
        lines = ("  ".join([*map(str.ljust, row, widths), row[3]]).rstrip() for row in rows)
        return "\n".join(lines)

    __repr__ = __str__

    def rows(self) -> Iterator[tuple[str, str, str, str]]:
        """Name, kind, what becomes of it, and why, of each column; a short form for arrays."""
        if not self.columns and self.n_features > 20:
            yield f"x0 ... x{self.n_features - 1}", "number", "a number", ""
            return
        for column in self:
            words = {"category": f"{len(column.categories):,} categories", "boolean": "0 or 1"}
            becomes = ", ".join(column.parts) or words.get(column.kind, "a number")
            becomes = becomes if column.is_used else "nothing"
            gaps = f"{column.missing:,} missing" if column.missing else ""
            note = column.note if column.note != "as " + becomes else ""
            yield str(column.name), column.kind, becomes, ", ".join(filter(None, (note, gaps)))


@dataclass(eq=False)
class TypedRows:
    """Rows that `Columns.read` found, in place of a table: typed columns, inputs of the model.

    Parameters
    ----------
    known : Columns
        What the columns hold.
    table : RawTable
        The rows.
    where : str
        What to call the rows in messages.
    first : int
        Number of the first row in messages.
    """

    known: Columns
    table: RawTable
    where: str
    first: int

    def __len__(self) -> int:
        return len(self.table)

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self), len(self.table.names)

    @property
    def columns(self) -> list[Any]:
        """Names of the columns, those that the model does not know among them."""
        return self.table.names

    def __getitem__(self, name: Any) -> Any:
        """A column as expressions read it: numbers as floats, categories as texts."""
        column = next((c for c in self.known.columns if c.name == name), None)
        if column is None or column.kind not in ("number", "boolean", "category"):
            return self.table.source(name)
        raw = self.table[name]
        if column.kind != "category":
            return column.values(raw, self.where, self.first)
        places, texts = as_texts(raw)
        return np.array([*texts, None], dtype=object)[places]

    def values(self) -> AnyArray:
        """The columns of `fit` as they were given, (n, n_features); None where there is none."""
        found = np.full((len(self), len(self.known)), None, dtype=object)
        for j, column in enumerate(self.known):
            if column.name in self.table.names:
                found[:, j] = np.asarray(self.table.source(column.name), dtype=object)
        return found

    def matrix(self) -> Floats:
        """The inputs of the model, (n, n_inputs)."""
        found = np.empty((len(self), self.known.n_inputs), dtype=np.float64)
        j = 0
        for column in self.known.used:
            values = column.values(self.table[column.name], self.where, self.first)
            if column.kind == "number" and np.isinf(values).any():
                row = int(np.isinf(values).argmax())
                raise ColumnError(
                    f"Input X contains infinity: {self.where}, column {column.name!r}, row "
                    f"{self.first + row}. Correct the value, or leave it empty.",
                    column.name,
                    row,
                )
            parts = _parts(values) if column.parts else {"": values}
            for part in column.parts or ("",):
                found[:, j] = parts[part]
                j += 1
        return found

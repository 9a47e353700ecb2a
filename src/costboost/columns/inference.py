"""What one column holds, and whether a model can use it.

Texts are numbers, booleans, dates or categories. Ids, constants and free text say nothing about new
rows and are left out.
"""

from __future__ import annotations

import re
import warnings
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from enum import Enum
from functools import cached_property, lru_cache
from typing import Any

import numpy as np

from costboost._typing import AnyArray, Floats
from costboost.columns.table import ColumnError, Table, Values
from costboost.errors import ColumnWarning

KINDS = ("number", "boolean", "category", "date")
# How days are written; the time may follow. The last two agree on days before the 13th.
DATES = ("%Y-%m-%d", "%Y/%m/%d", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y")
# A part of a date is an input if the dates span this many days, so that its values repeat.
PART_DAYS = {"month": 730, "day": 61, "weekday": 14, "hour": 2}
# Text with more different values than this, and than half of the rows, is an id.
ID_VALUES = 50
# Text that is longer on average, and differs so often, is free text.
LONG_TEXT_CHARACTERS = 60
# Fewer numbers on all rows may be different by chance.
FEWEST_ID_ROWS = 20
# A text column is one of numbers in another notation if at least so many different numbers stand on
# this share of its rows, beside a few marks of missing values at most.
FEWEST_NUMBERS = 10
MOSTLY = 0.5
MOST_MARKS = 3
# Fewer numbers may all have three decimals by chance.
FEWEST_POINTS = 2

_ID_NAME = re.compile(
    r"(^|_|\b)(id|uuid|guid|key|index|rownum|row_number)$|^id(_|$)|^unnamed|(?-i:[a-z]I[dD]$)", re.I
)
# Notations that people use: the decimal mark, and what separates thousands.
_NOTATIONS = (
    (".", ""),
    (",", ""),
    (",", "."),
    (",", " "),
    (".", ","),
    (".", " "),
    (",", "'"),
    (".", "'"),
)
_UNIT = re.compile(r"^[€$£¥]\s*|\s*[€$£¥%]$|(?<=\d) [A-Za-z]{1,3}$")
_POINTS = re.compile(r"[-+]?[1-9]\d{0,2}(\.\d{3})+")
_BOOLEANS = {"true": 1.0, "false": 0.0, "1": 1.0, "0": 0.0}


class Exclusion(Enum):
    """Why a column is no input of the model; `Column.exclusion` is the text of one."""

    EMPTY = "empty"
    CONSTANT = "constant"
    IDENTIFIER = "an id"
    FREE_TEXT = "free text"
    OTHER_TYPE = "another type"
    UNCLEAR_DATES = "unclear dates"
    SHORT_PERIOD = "dates of a short period"
    TARGET = "the target: it has the name of y"
    ON_REQUEST = "as you asked"
    COSTS_ONLY = "only for the costs"
    WEIGHT = "weight of the row"
    GROUP = "keeps groups together"


# --- texts as what they mean -------------------------------------------------------------------


def number_of(text: str, decimal: str = ".", thousands: str = "") -> float | None:
    """Return the number that a text writes; None if it is none."""
    if decimal != "." or thousands:
        number, separator = _number_patterns(decimal, thousands)
        if not number.fullmatch(text):
            return None
        text = separator.sub("", text).replace(decimal, ".")
    try:
        return None if "_" in text else float(text)
    except ValueError:
        return None


@lru_cache
def _number_patterns(decimal: str, thousands: str) -> tuple[re.Pattern[str], re.Pattern[str]]:
    """Return the pattern of numbers, and that of what separates thousands."""
    separator = re.escape(thousands)
    if thousands == " ":
        separator = "[ \u00a0\u202f]"  # spreadsheets write a space that does not break
    whole = r"\d+"
    if thousands:
        whole = rf"(\d+|\d{{1,3}}({separator}\d{{3}})+)"
    number = rf"[-+]?{whole}({re.escape(decimal)}\d+)?([eE][-+]?\d+)?"
    return re.compile(number), re.compile(separator)


def moment_of(text: str, form: str) -> datetime | None:
    """Return the time that a text writes, in UTC if it says how far from it; None if it is none."""
    end = max(text.find(" "), text.find("T"))
    if end < 0:
        end = len(text)
    time = text[end + 1 :] or "00:00"
    if time[1:2] == ":":
        time = f"0{time}"
    try:
        moment = datetime.fromisoformat(f"{_day_of(text[:end], form)} {time}")
        return moment if moment.tzinfo is None else moment.astimezone(UTC)
    except (ValueError, OverflowError):
        return None


@lru_cache(2**15)  # days repeat in most columns, and this is slow
def _day_of(text: str, form: str) -> str:
    return datetime.strptime(text, form).date().isoformat()


def _as_array(moments: Sequence[datetime | None]) -> AnyArray:
    naive = [None if moment is None else moment.replace(tzinfo=None) for moment in moments]
    return np.array(naive, dtype="datetime64[us]")


def date_parts(moments: AnyArray) -> dict[str, Floats]:
    """Return month, day, weekday (Monday is 1) and hour of times; NaN where there is none."""
    is_missing = np.isnan(moments)
    moments = np.where(is_missing, np.datetime64(0, "us"), moments)  # or numpy warns
    days = moments.astype("datetime64[D]")
    months = moments.astype("datetime64[M]")
    parts = {
        "month": months.astype(np.int64) % 12 + 1,
        "day": (days - months.astype("datetime64[D]")).astype(np.int64) + 1,
        "weekday": (days.astype(np.int64) + 3) % 7 + 1,
        "hour": (moments - days) // np.timedelta64(1, "h"),
    }
    return {name: np.where(is_missing, np.nan, values) for name, values in parts.items()}


# --- one column --------------------------------------------------------------------------------


@dataclass(frozen=True)
class Notation:
    """How the texts of a file write numbers and missing values, as the user says.

    Attributes
    ----------
    decimal : str, optional
        The decimal mark: a point if None, and then points that may separate thousands are
        questioned.
    thousands : str
        What separates thousands; empty if nothing does.
    na : tuple of str
        Texts that mean a missing value, beyond those of pandas.
    """

    decimal: str | None = None
    thousands: str = ""
    na: tuple[str, ...] = ()


USUAL = Notation()


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
    exclusion : str
        Why it is no input of the model, the text of an `Exclusion`; empty if it is one.
    note : str
        The same with details, or how it is read.
    missing : int
        In how many rows of `fit` it has no value.
    categories : tuple of str
        Its categories, as texts.
    parts : tuple of str
        The parts of a date that are inputs.
    format : str
        How days are written in texts.
    is_zoned : bool
        Whether times have a time zone; they are then read in UTC.
    decimal, thousands : str
        The marks of numbers in texts.
    na : tuple of str
        Texts that mean a missing value, beyond the usual ones.
    """

    name: Any
    kind: str
    exclusion: str = ""
    note: str = ""
    missing: int = 0
    categories: tuple[str, ...] = ()
    parts: tuple[str, ...] = ()
    format: str = ""
    is_zoned: bool = False
    decimal: str = "."
    thousands: str = ""
    na: tuple[str, ...] = ()

    @property
    def is_used(self) -> bool:
        """Whether the model has inputs of it."""
        return not self.exclusion

    @property
    def excluded(self) -> Exclusion | None:
        """Why it is no input of the model; None if it is one."""
        return Exclusion(self.exclusion) if self.exclusion else None

    def leave_out(self, reason: Exclusion, note: str = "") -> Column:
        """Return the column as no input of the model."""
        words = note or reason.value
        return replace(self, exclusion=reason.value, note=words, categories=(), parts=())

    @property
    def inputs(self) -> list[str]:
        """Names of the model's inputs that are made of it."""
        if not self.is_used:
            return []
        return [f"{self.name}_{part}" for part in self.parts] or [str(self.name)]

    @cached_property
    def _codes(self) -> dict[str | None, float]:
        return {text: float(code) for code, text in enumerate(self.categories)}

    def values(self, given: Values, where: str = "X", first: int = 0) -> AnyArray:
        """Return what rows hold: floats (codes of categories), or times."""
        if given.kind == "other":
            raise self._error(f"values of the type {given.type}", [0], where, first)
        if self.kind == given.kind == "date":
            self._check_zone(given.is_zoned, ~np.isnat(given.array), where, first)
            return given.array
        if given.kind in ("number", "boolean") and self.kind in (given.kind, "number"):
            return given.array
        positions, texts = given.as_texts()
        texts = [None if text in self.na else text for text in texts]
        if self.kind == "category":
            codes = [self._codes.get(text) for text in texts]
            return np.array([*codes, None], dtype=np.float64)[positions]

        read = [None if text is None else self.read(text) for text in texts]
        unread = [i for i, text in enumerate(texts) if text is not None and read[i] is None]
        if unread:
            rows = np.flatnonzero(np.isin(positions, unread))
            if len(rows):
                raise self._error(repr(texts[positions[rows[0]]]), rows.tolist(), where, first)
        if self.kind != "date":
            return np.array([*read, None], dtype=np.float64)[positions]
        for is_zoned in (True, False):
            of_zone = [moment and (moment.tzinfo is not None) == is_zoned for moment in read]
            rows = np.array([*of_zone, False], dtype=bool)[positions]
            self._check_zone(is_zoned, rows, where, first)
        return _as_array([*read, None])[positions]

    def read(self, text: str) -> Any:
        """Return a text as what the column holds (see `moment_of`); None if it is unreadable."""
        if self.kind == "number":
            return number_of(text, self.decimal, self.thousands)
        if self.kind == "boolean":
            return _BOOLEANS.get(text.lower())
        # A year in front can be read in one way only, and of dates that had a type all clear ones.
        forms = [self.format, DATES[0]] if self.format else DATES[:3]
        for form in forms:
            moment = moment_of(text, form)
            if moment is not None:
                return moment
        return None

    def _check_zone(self, is_zoned: bool, rows: AnyArray, where: str, first: int) -> None:
        """Refuse times on another clock than those of the fit."""
        if is_zoned == self.is_zoned or not rows.any():
            return
        given, expected, remedy = "a time zone", "none", "tz_localize(None)"
        if self.is_zoned:
            given, expected, remedy = "no time zone", "one", "tz_localize('UTC')"
        row = int(rows.argmax())
        raise ColumnError(
            f"{where}: the times of the column {self.name!r} have {given} (row {first + row}), and "
            f"those of the fit have {expected}: their hours are not the same. Bring them to the "
            f"clock of the fit, in pandas with .dt.tz_convert or .dt.{remedy}.",
            self.name,
            row,
        )

    def _error(self, given: str, rows: Sequence[int], where: str, first: int) -> ColumnError:
        """Return the error for values that cannot be read."""
        numbers = "numbers"
        if self.decimal != "." or self.thousands:
            numbers += f" like {f'1{self.thousands}234{self.decimal}5'}"
        example = datetime(2026, 12, 31).strftime(self.format or DATES[0])
        expected = {
            "number": numbers,
            "boolean": "true or false",
            "category": "texts or numbers",
            "date": f"dates like {example}",
        }[self.kind]
        count = ""
        if len(rows) > 1:
            count = f", {len(rows):,} such rows"
        return ColumnError(
            f"{where}: the column {self.name!r} must hold {expected}, got {given} (row "
            f"{first + rows[0]}{count}). Correct it, or leave it empty.",
            self.name,
            rows[0],
        )


# --- what a column holds, by its values --------------------------------------------------------


class ColumnStatistics:
    """What the rows so far say of a column: enough to infer its kind, however rows arrive.

    Parameters
    ----------
    name : str
        The column.
    notation : Notation, optional
        How its texts are written.
    """

    def __init__(self, name: Any, notation: Notation = USUAL) -> None:
        self.name = name
        self.notation = notation
        self.is_named_id = _ID_NAME.search(str(name)) is not None
        self.n_rows = 0
        self.n_values = 0
        self.kinds: set[str] = set()
        self.types: set[str] = set()
        self.zones: set[bool] = set()
        self.texts: Counter[str] = Counter()
        # Different values of numbers and dates, in order: of numbers that may be ids all, of dates
        # every hour, always the smallest and the largest.
        self.distinct: dict[str, AnyArray] = {}

    def add(self, values: Values, n_rows: int) -> ColumnStatistics:
        """Look at some more rows."""
        self.n_rows += n_rows
        self.types.add(values.type)
        if values.kind == "other":
            self.n_values += n_rows
        elif values.kind in ("text", "category"):
            n_texts = self._add_texts(values)
            if values.kind == "text" and not n_texts:
                return self
        else:
            given = values.array[~np.isnan(values.array)]
            if not len(given):
                return self
            self.n_values += len(given)
            self._add_distinct(given)
            if values.kind == "date":
                self.zones.add(values.is_zoned)
        self.kinds.add(values.kind)
        return self

    def _add_texts(self, values: Values) -> int:
        positions = values.array[values.array >= 0]
        counts = np.bincount(positions, minlength=len(values.texts)).tolist()
        n_texts = 0
        for text, count in zip(values.texts, counts, strict=True):
            if text is not None and count and text not in self.notation.na:
                self.texts[text] += count
                n_texts += count
        self.n_values += n_texts
        return n_texts

    def _add_distinct(self, values: AnyArray) -> None:
        kind = "number"
        kept = [np.array([values.min(), values.max()])]
        if values.dtype.kind == "M":
            kind = "date"
            kept.append(values.astype("datetime64[h]").astype(values.dtype))
        elif self.is_named_id:
            kept.append(values)
        if kind in self.distinct:
            kept.append(self.distinct[kind])
        self.distinct[kind] = np.unique(np.concatenate(kept))

    def merge(self, other: ColumnStatistics) -> ColumnStatistics:
        """Add what was seen of other rows."""
        self.n_rows += other.n_rows
        self.n_values += other.n_values
        self.kinds |= other.kinds
        self.types |= other.types
        self.zones |= other.zones
        self.texts += other.texts
        for values in other.distinct.values():
            self._add_distinct(values)
        return self

    # -- from values to a column ----------------------------------------------------------------

    def infer(self, asked: str | None = None, *, keep: bool = False) -> Column:
        """Return what the column holds, and what becomes of it.

        Parameters
        ----------
        asked : str, optional
            What the user says that it holds: a kind, a format of dates, or ``"ignore"``.
        keep : bool, default=False
            Whether it is used even if it looks like an id or free text.
        """
        n_missing = self.n_rows - self.n_values
        if asked == "ignore":
            try:
                column = self.infer(keep=True)
            except ColumnError:  # what is not used may hold anything
                column = Column(self.name, "text", missing=n_missing)
            return column.leave_out(Exclusion.ON_REQUEST)
        if not self.n_values:
            column = Column(self.name, "empty", missing=n_missing)
            return column.leave_out(Exclusion.EMPTY, "empty: no row has a value")
        if "date" in self.kinds and self.kinds & {"number", "boolean"}:
            raise self._mixed_error()
        column = self._asked(asked) if asked else self._inferred()
        column = replace(
            column,
            name=self.name,
            missing=n_missing,
            decimal=self.notation.decimal or ".",
            thousands=self.notation.thousands,
            na=self.notation.na,
        )
        if column.kind == "date" and column.is_used:
            column = self._with_parts(column, is_asked=asked is not None)
        if asked or not column.is_used:
            return column
        return self._without_use(column, keep)

    def _mixed_error(self) -> ColumnError:
        return ColumnError(
            f"The column {self.name!r} must hold values of one kind, got {sorted(self.types)}. "
            "Convert it to one type.",
            self.name,
        )

    def _inferred(self) -> Column:
        """Return what it holds, by its type or its texts."""
        if "other" in self.kinds:
            types = ", ".join(sorted(self.types))
            column = Column(self.name, "other")
            return column.leave_out(Exclusion.OTHER_TYPE, f"holds {types}, which is not used")
        if "category" in self.kinds:
            return self._category()
        if "text" in self.kinds:
            is_text = self.kinds == {"text"}
            typed = self._texts_as(KINDS if is_text else self.kinds)
            if typed is not None:
                return typed
            if not is_text:
                raise self._mixed_error()
            self._check_notation()
            return self._category()
        if self.kinds == {"date"}:
            return self._date()
        return Column(self.name, max(self.kinds))  # booleans and numbers are numbers

    def _date(self, form: str = "") -> Column:
        if len(self.zones) > 1:
            raise ColumnError(
                f"The column {self.name!r} must hold times of one clock, and some have a time "
                "zone, others have none. Give all of them one, or none.",
                self.name,
            )
        return Column(self.name, "date", format=form, is_zoned=True in self.zones)

    def _texts_as(self, kinds: Collection[str]) -> Column | None:
        """Return what the texts mean, of some kinds or formats of dates; None if nothing fits."""
        decimal = self.notation.decimal or "."
        number = Column("", "number", decimal=decimal, thousands=self.notation.thousands)
        for column in (number, Column("", "boolean")):
            values = [column.read(text) for text in self.texts]
            if column.kind in kinds and None not in values:
                self._add_distinct(np.array(values))
                if self.notation.decimal is None and len(kinds) > 1:
                    self._warn_of_points()
                return column
        forms = [form for form in DATES if form in kinds or "date" in kinds]
        forms = [form for form in forms if all(moment_of(text, form) for text in self.texts)]
        if not forms:
            return None
        moments = [moment_of(text, forms[0]) for text in self.texts]
        self._add_distinct(_as_array(moments))
        self.zones |= {moment is not None and moment.tzinfo is not None for moment in moments}
        column = self._date(forms[0])
        if len(forms) == 1:
            return column
        note = (
            f"dates such as {next(iter(self.texts))}: day or month first? Say "
            f"columns={{{self.name!r}: {forms[0]!r}}}, or write them as 2026-12-31"
        )
        return column.leave_out(Exclusion.UNCLEAR_DATES, note)

    def _category(self, note: str = "") -> Column:
        texts = sorted(self.texts)
        numbers = [number_of(text) for text in texts]
        if None not in numbers:
            texts = [text for _, text in sorted(zip(numbers, texts, strict=True))]
        return Column(self.name, "category", categories=tuple(texts), note=note)

    def _asked(self, asked: str) -> Column:
        """Return the column as the user says that it is."""
        kind = "date" if "%" in asked else asked
        if "other" not in self.kinds:
            if asked == "category":
                return self._category(Exclusion.ON_REQUEST.value)
            if self.kinds & {"text", "category"}:
                typed = self._texts_as([asked])
                if typed is not None and typed.is_used:
                    return typed
            elif self._fits_type(kind):
                column = self._date() if kind == "date" else Column(self.name, kind)
                return replace(column, note=Exclusion.ON_REQUEST.value)
        raise self._asked_error(asked, kind)

    def _fits_type(self, kind: str) -> bool:
        """Return True if values that have a type are of a kind."""
        if kind == "boolean" and set(self.distinct.get("number", ())) <= {0.0, 1.0}:
            return "date" not in self.kinds
        fitting = {"number": {"number", "boolean"}, "boolean": {"boolean"}, "date": {"date"}}
        return bool(self.kinds & fitting[kind])

    def _asked_error(self, asked: str, kind: str) -> ColumnError:
        given = ", ".join(sorted(self.types))
        if self.kinds & {"text", "category"}:
            form = Column("", kind, format=asked if "%" in asked else "")
            unread = [repr(text) for text in self.texts if form.read(text) is None]
            unclear = "dates of which day or month may come first: say how they are written"
            given = next(iter(unread), unclear)
        return ColumnError(
            f"The 'columns' parameter says that {self.name!r} is {asked!r}, and it holds {given}. "
            f"Correct the values, or say what it is, one of {(*KINDS, 'ignore')}.",
            self.name,
        )

    def _with_parts(self, column: Column, *, is_asked: bool) -> Column:
        """Return a date with its parts that differ from row to row, and repeat."""
        moments = self.distinct["date"]
        n_days = (moments[-1] - moments[0]) / np.timedelta64(1, "D")
        parts = []
        for part, values in date_parts(moments).items():
            if (is_asked or n_days >= PART_DAYS[part]) and len(np.unique(values)) > 1:
                parts.append(part)
        if parts:
            notes = ["as " + ", ".join(parts)]
            if column.note:
                notes.append(column.note)
            return replace(column, parts=tuple(parts), note=", ".join(notes))
        note = f"dates of {int(n_days) + 1} days: too short a time for months or weekdays to repeat"
        return column.leave_out(Exclusion.SHORT_PERIOD, note)

    def _without_use(self, column: Column, keep: bool) -> Column:
        """Return the column, left out if its values say nothing about new rows."""
        numbers = self.distinct.get("number", np.empty(0))
        if len(self.texts) == 1:
            note = f"constant: always {next(iter(self.texts))}"
            return column.leave_out(Exclusion.CONSTANT, note)
        if not self.texts and len(numbers) == 1 and np.isfinite(numbers[0]):
            return column.leave_out(Exclusion.CONSTANT, f"constant: always {numbers[0]:g}")
        if keep:
            return column
        if column.kind == "category" and "category" not in self.kinds:
            n_texts = len(self.texts)
            if n_texts > max(ID_VALUES, 0.5 * self.n_values):
                note = f"an id: {n_texts:,} different texts on {self.n_values:,} rows"
                return column.leave_out(Exclusion.IDENTIFIER, note)
            length = sum(len(text) * n for text, n in self.texts.items()) / self.n_values
            if n_texts > ID_VALUES and length > LONG_TEXT_CHARACTERS:
                note = f"free text: {length:.0f} characters on average"
                return replace(column, kind="text").leave_out(Exclusion.FREE_TEXT, note)
        if column.kind == "number" and self.is_named_id:
            is_whole = (numbers == np.floor(numbers)).all()
            if is_whole and len(numbers) == self.n_values >= FEWEST_ID_ROWS:
                note = "an id: a different whole number on every row, and so its name says"
                return column.leave_out(Exclusion.IDENTIFIER, note)
        return column

    # -- numbers in another notation ------------------------------------------------------------

    def _warn_of_points(self) -> None:
        """Warn if the points of numbers may separate thousands."""
        with_point = [text for text in self.texts if "." in text]
        others = [text for text in self.texts if "." not in text]
        if len(with_point) < FEWEST_POINTS or not all(map(_POINTS.fullmatch, with_point)):
            return
        if any(number_of(text) is None or len(text.strip("+-")) > 3 for text in others):
            return
        example = with_point[0]
        warnings.warn(
            f"The column {self.name!r} is read with a decimal point: {example!r} is a little more "
            f"than {int(float(example))}. If its points separate thousands, read the file with "
            f"{_options(',', '.')}; if not, say columns={{{self.name!r}: 'number'}} "
            f"(--column {self.name}=number).",
            ColumnWarning,
            stacklevel=2,
        )

    def _check_notation(self) -> None:
        """Raise an error if texts are numbers for people, but not in this notation."""
        texts = {_UNIT.sub("", text): count for text, count in self.texts.items()}
        signs = set("".join(texts))
        best = (".", "")
        read: list[str] = []
        for decimal, thousands in _NOTATIONS:
            if (decimal == "," and "," not in signs and thousands != ".") or (
                thousands and thousands not in signs
            ):
                continue
            fitting = [text for text in texts if number_of(text, decimal, thousands) is not None]
            if sum(texts[text] for text in fitting) > sum(texts[text] for text in read):
                best = (decimal, thousands)
                read = fitting
        unread = [text for text in texts if text not in read]
        share = sum(texts[text] for text in read) / self.n_values
        if len(read) < FEWEST_NUMBERS or share < MOSTLY or len(unread) > MOST_MARKS:
            return
        remedies = []
        current = (self.notation.decimal or ".", self.notation.thousands)
        if best != current:
            remedies.append(_options(*best))
        if unread:
            marks = ", ".join(map(repr, unread))
            remedies.append(f"na_values=[{marks}] (on the command line --na {unread[0]!r})")
        if any(text not in texts for text in self.texts):
            remedies.append("the unit removed")
        example = next(text for text in self.texts if number_of(text, *current) is None)
        raise ColumnError(
            f"The column {self.name!r} holds {example!r} and other texts that look like numbers in "
            f"another notation. Read the file with {' and '.join(remedies)}, as in "
            f"pandas.read_csv, or say columns={{{self.name!r}: 'category'}} "
            f"(--column {self.name}=category).",
            self.name,
        )


def _options(decimal: str, thousands: str) -> str:
    """Return the options that read a notation, in Python and on the command line."""
    arguments = []
    options = []
    if decimal != "." or not thousands:
        arguments.append(f"decimal={decimal!r}")
        options.append(f"--decimal {decimal!r}")
    if thousands:
        arguments.append(f"thousands={thousands!r}")
        options.append(f"--thousands {thousands!r}")
    return f"{', '.join(arguments)} (on the command line {' '.join(options)})"


def column_statistics(
    X: Any,
    kinds: Mapping[Any, str] | None = None,
    earlier: Mapping[Any, ColumnStatistics] | None = None,
    *,
    notation: Notation = USUAL,
) -> dict[Any, ColumnStatistics]:
    """Return what the columns of a table hold, added to what was seen of earlier rows."""
    table = X if isinstance(X, Table) else Table(X)
    kinds = kinds or {}
    statistics = dict(earlier or {})
    for name in table.names:
        values = table[name]
        if kinds.get(name) == "category" and values.kind in ("number", "boolean", "date"):
            positions, texts = values.as_texts()
            values = Values("text", positions, texts, values.type)
        if name not in statistics:
            statistics[name] = ColumnStatistics(name, notation)
        statistics[name].add(values, len(table))
    return statistics

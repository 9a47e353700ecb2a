"""What was done to the columns of a table, to be done again to new rows.

A `TableRecipe` is plain data. It is kept in the model file, so that ``costboost predict`` builds
the same table that the model was trained on from a file with the original columns.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from costboost._typing import AnyArray
from costboost.tables.columns import Column
from costboost.tables.errors import TableError, unknown_column

if TYPE_CHECKING:
    import pandas as pd
    import polars as pl

__all__ = ["TableRecipe", "label_kind", "labels", "without_label"]

VERSION = 1


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
            "version": VERSION,
            "target": self.target,
            "labels": self.label_kind,
            "positive": self.positive,
            "nothing": self.nothing,
            "columns": [column.to_json() for column in self.columns],
        }

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
        return [column for column in self.columns if _is_used(column)]

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
                continue
            part_of = {
                "month": value.dt.month(), "day": value.dt.day(),
                "weekday": value.dt.weekday(), "hour": value.dt.hour(),
            }  # fmt: skip
            for part in column.parts:
                found.append(part_of[part].cast(pl.Float64).alias(f"{column.name}_{part}"))
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
        schema = frame.schema
        table = frame.select(self.expressions(schema))
        for column in self.used:
            first = f"{column.name}_{column.parts[0]}" if column.parts else column.name
            raw = frame[column.name]
            lost = table[first].null_count() - raw.null_count()
            if lost > 0 and column.kind in ("number", "boolean", "date"):
                self._refuse(column, raw, table[first], where)
        texts = [column.name for column in self.used if column.kind == "category"]
        return table.with_columns(pl.col(texts).cast(pl.Categorical)).to_pandas()

    def _refuse(self, column: Column, raw: pl.Series, parsed: pl.Series, where: str) -> None:
        bad = (parsed.is_null() & ~column.is_missing(raw)).to_numpy().nonzero()[0]
        if len(bad):
            row = int(bad[0])
            what = {"date": f"dates like {column.format or '2026-12-31'}"}.get(
                column.kind, f"{column.kind}s"
            )
            raise TableError(
                f"{where}: the column {column.name!r} must hold {what}, as in training, got "
                f"{raw[row]!r} on row {row + 1} ({len(bad)} such rows). Correct the values, or "
                "leave them empty."
            )

    def check_columns(self, names: Sequence[str], where: str) -> None:
        """Raise a `TableError` that names the columns that a file lacks."""
        lacking = [column.name for column in self.used if column.name not in names]
        if not lacking:
            return
        if len(lacking) == 1:
            raise unknown_column(lacking[0], names, "the model needs it", where)
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
        return _one_label(text, self.label_kind)

    def moments(self, frame: pl.DataFrame, name: str, where: str = "The file") -> pl.Series:
        """A column of dates."""
        import polars as pl

        from costboost.tables.columns import infer_column

        if name not in frame.columns:
            raise unknown_column(name, frame.columns, "--time-column", where)
        known = next((c for c in self.columns if c.name == name and c.kind == "date"), None)
        column = known or infer_column(frame[name], keep=True)
        if column.kind not in ("date", "number"):
            raise TableError(
                f"{where}: the time column {name!r} must hold dates such as 2026-12-31 08:30 or "
                f"numbers, got {frame[name].drop_nulls()[0]!r}."
            )
        values = frame.select(column.typed(pl.col(name), frame.schema[name])).to_series()
        if values.null_count():
            row = int(values.is_null().to_numpy().nonzero()[0][0])
            raise TableError(
                f"{where}: the time column {name!r} has no date on row {row + 1} "
                f"({values.null_count()} such rows). Remove them."
            )
        return values


def _is_used(column: Column) -> bool:
    if column.role in ("feature", "cost"):
        return True
    return column.role in ("time", "group") and bool(column.parts)


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


def _one_label(text: str, kind: str) -> Any:
    try:
        if kind == "int":
            return int(float(text))
    except ValueError:
        return text
    if kind == "bool" and text.strip().lower() in ("true", "false"):
        return text.strip().lower() == "true"
    return text.strip()

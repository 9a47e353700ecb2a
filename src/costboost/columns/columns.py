"""What becomes of the columns of a table: learned in `fit`, part of the model.

Numbers stay, categories become codes, and dates become parts that repeat (month, weekday, hour).
Rows are read by these rules at every entry point: Python, command line, service and files.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_array, validate_data

from costboost._typing import AnyArray, Floats, Ints
from costboost.columns.inference import (
    DATES,
    KINDS,
    PART_DAYS,
    USUAL,
    Column,
    ColumnStatistics,
    Exclusion,
    Notation,
    column_statistics,
    date_parts,
)
from costboost.columns.table import (
    ColumnError,
    Table,
    TableError,
    check_table,
    checked_numbers,
    has_columns,
    is_sparse,
    nearest,
    unknown_column,
)

# Reasons that a user may not expect, since the column has values.
_SURPRISING = (
    Exclusion.IDENTIFIER,
    Exclusion.FREE_TEXT,
    Exclusion.OTHER_TYPE,
    Exclusion.UNCLEAR_DATES,
    Exclusion.SHORT_PERIOD,
    Exclusion.TARGET,
)
# Sparse rows of so many columns are read as dense ones: networks, which learn from no wider tables,
# need them, and trees grow on either alike.
DENSE_COLUMNS = 500
# How scikit-learn checks numbers that a model of trees takes.
_CHECKS = {
    "dtype": [np.float64, np.float32],
    "ensure_all_finite": "allow-nan",
    "accept_sparse": "csr",
}


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
    >>> print(Columns.from_table(table))
    column  kind      becomes        note
    kind    category  2 categories
    size    number    a number
    unit    category  nothing        constant: always kg
    """

    columns: tuple[Column, ...]
    n_features: int
    target: str = ""

    @classmethod
    def from_table(
        cls,
        X: Any,
        *,
        kinds: Mapping[Any, str] | None = None,
        exclude: Mapping[Any, Exclusion] | None = None,
        keep: Collection[Any] = (),
        target: str = "",
        notation: Notation = USUAL,
    ) -> Columns:
        """Find out what the columns of a table hold.

        Parameters
        ----------
        X : data frame, Arrow table, or mapping of name to values
            The rows; numbers, booleans and dates may be written as text. Or `ColumnStatistics` by
            name, where the rows came in parts.
        kinds : mapping of name to kind, optional
            What columns are, whatever they look like: ``"number"``, ``"boolean"``,
            ``"category"``, ``"date"`` (or how dates are written, such as ``"%d/%m/%Y"``),
            ``"ignore"``.
        exclude : mapping of name to Exclusion, optional
            Columns that are not used.
        keep : collection of names
            Columns that are used even if they look like ids or free text.
        target : str
            Name of the target, which may be a column of tables.
        notation : Notation, optional
            How texts write numbers and missing values.

        Returns
        -------
        Columns
            What becomes of each.

        Raises
        ------
        ColumnError
            If a column does not hold what `kinds` say, if its texts are numbers in another
            notation, or if no column is left to learn from.
        """
        kinds = dict(kinds or {})
        statistics = X
        if not isinstance(X, dict) or not isinstance(
            next(iter(X.values()), None), ColumnStatistics
        ):
            statistics = column_statistics(X, kinds, notation=notation)
        _check_kinds(kinds, statistics)
        exclude = {target: Exclusion.TARGET, **(exclude or {})}
        columns = []
        for name, seen in statistics.items():
            reason = exclude.get(name)
            # A column that only has the name of y, such as X.amount > 40, can be asked for.
            if name == target and kinds.get(name) not in (None, "ignore"):
                reason = None
            column = seen.infer(kinds.get(name), keep=reason is not None or name in keep)
            if reason is not None:
                column = column.leave_out(reason)
            columns.append(column)
        if not any(column.is_used for column in columns):
            reasons = "; ".join(f"{column.name!r}: {column.note}" for column in columns[:5])
            raise TableError(
                f"No column is left to learn from ({reasons}). Say what they are by 'columns'."
            )
        return cls(tuple(columns), len(columns), target)

    def __len__(self) -> int:
        return self.n_features

    def __iter__(self) -> Iterator[Column]:
        if self.columns:
            return iter(self.columns)
        return (Column(f"x{j}", "number") for j in range(self.n_features))

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
        if not self.columns:
            return []
        kinds = [self.columns[source].kind for source in self.sources]
        return [j for j, kind in enumerate(kinds) if kind == "category"]

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
        return [column for column in self.columns if column.excluded in _SURPRISING]

    def sum_by_column(self, values: Floats) -> Floats:
        """Add up numbers of the inputs, along the last axis, to those of the columns."""
        sums = np.zeros((*values.shape[:-1], self.n_features))
        np.add.at(sums.T, self.sources, values.T)  # several inputs may be of one column
        return sums

    @property
    def notation(self) -> Notation:
        """How the texts of the fit write numbers and missing values."""
        if not self.columns:
            return USUAL
        first = self.columns[0]
        return Notation(first.decimal, first.thousands, first.na)

    def with_notation(self, notation: Notation) -> Columns:
        """Return the same columns of tables whose texts are written in another way."""
        columns = [
            replace(
                column,
                decimal=notation.decimal or ".",
                thousands=notation.thousands,
                na=notation.na,
            )
            for column in self.columns
        ]
        return replace(self, columns=tuple(columns))

    # -- rows -----------------------------------------------------------------------------------

    def read(
        self, X: Any, where: str = "X", first: int = 0, *, estimator: BaseEstimator | None = None
    ) -> Rows:
        """Read rows by the names of their columns.

        Parameters
        ----------
        X : data frame, Arrow table, mapping of name to values, array or sparse matrix
            The rows. Columns that the model does not use may be there or not.
        where : str
            What to call the rows in messages.
        first : int
            Number of the first row in messages.
        estimator : classifier, optional
            The model, which then checks the names and the number of columns as scikit-learn does.

        Returns
        -------
        Rows
            What all methods of the model take in place of a table.

        Raises
        ------
        ColumnError
            If a column is missing; by `Rows.inputs`, if it holds values that cannot be read as in
            `fit`.
        """
        if isinstance(X, Rows):
            return X
        if estimator is not None:
            where = f"X of {type(estimator).__name__}"
            check_table(X, type(estimator).__name__)
        if estimator is not None and not (self.columns and has_columns(X)):
            return Rows(self, self._read_array(X, estimator), where, first)
        table = X if isinstance(X, Table) else Table(X)
        if estimator is not None:
            table = self._checked_names(table, estimator)
        for column in self.used:
            if column.name not in table.names:
                raise self.lacks(column.name, table.names, where)
        return Rows(self, table, where, first)

    def _read_array(self, X: Any, estimator: BaseEstimator) -> Any:
        """Return rows without names as scikit-learn checks them."""
        if not self.are_numbers:
            names = [column.name for column in self.used]
            raise ValueError(
                f"X of {type(estimator).__name__} must be a data frame, as in fit, with the "
                f"columns {names}; got {type(X).__name__}."
            )
        matrix = checked_numbers(partial(validate_data, estimator), X, reset=False, **_CHECKS)
        if self.columns:
            matrix = matrix[:, self.sources]
        return dense_or_csr(matrix)

    def _checked_names(self, table: Table, estimator: BaseEstimator) -> Table:
        """Return a table whose columns are checked as scikit-learn does."""
        # Columns that fit left out, and the target, may be there or not.
        given = [name for name in table.names if name not in self.optional]
        needed = [column.name for column in self.used]
        names = [column.name for column in self]
        if given == needed or table.names == names:
            return table
        try:
            validate_data(estimator, table.X, reset=False, skip_check_array=True)
        except ValueError as error:
            hint = ""
            lacking = [name for name in needed if name not in table.names]
            if lacking:
                hint = str(self.lacks(lacking[0], table.names, "X"))
            raise ValueError(f"{error}{hint}") from None
        # Without names, columns are found by their positions.
        return Table(table.X, names)

    def lacks(self, name: Any, given: Iterable[Any], where: str) -> ColumnError:
        """Return the error for a column that rows lack, with the nearest unknown name."""
        names = list(given)
        expected = {column.name for column in self} | {self.target}
        near = nearest(name, (other for other in names if other not in expected))
        hint = ""
        if near:
            hint = f" Is it {near[0]!r}?"
        shown = ", ".join(map(str, names[:12]))
        if len(names) > 12:
            shown += ", ..."
        return ColumnError(
            f"{where} lacks the column {name!r}, which the model needs.{hint} It has: {shown}. "
            "Rename or add the column.",
            name,
        )

    def example(self) -> Rows:
        """Return a row that the model can decide: zeros, first categories, some day."""
        if not self.columns:
            return Rows(self, np.zeros((1, self.n_features)), "X", 0)
        row: dict[Any, list[Any]] = {}
        for column in self.used:
            if column.kind == "category":
                row[column.name] = list(column.categories[:1]) or [None]
            elif column.kind == "date":
                row[column.name] = ["2026-01-01T00:00Z" if column.is_zoned else "2026-01-01"]
            else:
                row[column.name] = [0.0]
        return self.read(row)

    def check(self) -> None:
        """Raise a ValueError if a file has made up columns that no `fit` could learn."""
        reasons = {"", *(reason.value for reason in Exclusion)}
        for column in self.columns:
            texts = (column.exclusion, column.note, column.format, column.decimal, column.thousands)
            is_possible = (
                all(type(text) is str for text in (*texts, *column.categories, *column.na))
                and column.exclusion in reasons
                and column.format in ("", *DATES)
                and type(column.name) in (str, int)
                and set(column.parts) <= set(PART_DAYS)
                and (column.kind in KINDS or not column.is_used)
                and (bool(column.parts) == (column.kind == "date") or not column.is_used)
                and len(column.decimal) == 1
                and len(column.thousands) <= 1
            )
            if not is_possible:
                raise ValueError(f"the column {column.name!r:.40} is none that fit could learn")
        if self.columns and len(self.columns) != self.n_features:
            raise ValueError("the number of columns is not that of the names")

    # -- for people -----------------------------------------------------------------------------

    def __str__(self) -> str:
        rows = [("column", "kind", "becomes", "note"), *self.rows()]
        widths = [max(len(row[j]) for row in rows) for j in range(3)]
        lines = []
        for row in rows:
            cells = [cell.ljust(width) for cell, width in zip(row, widths, strict=False)]
            lines.append("  ".join([*cells, row[3]]).rstrip())
        return "\n".join(lines)

    __repr__ = __str__

    def rows(self) -> Iterator[tuple[str, str, str, str]]:
        """Yield name, kind, what becomes of it, and why, of each column; briefly for arrays."""
        if not self.columns and self.n_features > 20:
            yield f"x0 ... x{self.n_features - 1}", "number", "a number", ""
            return
        for column in self:
            becomes = "a number"
            if not column.is_used:
                becomes = "nothing"
            elif column.kind == "category":
                becomes = f"{len(column.categories):,} categories"
            elif column.kind == "boolean":
                becomes = "0 or 1"
            elif column.parts:
                becomes = ", ".join(column.parts)
            notes = []
            if column.note and column.note != f"as {becomes}":
                notes.append(column.note)
            if column.missing:
                notes.append(f"{column.missing:,} missing")
            yield str(column.name), column.kind, becomes, ", ".join(notes)


def dense_or_csr(matrix: Any) -> Any:
    """Return rows in a form that all members read: dense, or sparse ones if they are wide."""
    if not is_sparse(matrix):
        return matrix
    if matrix.shape[1] <= DENSE_COLUMNS:
        return matrix.toarray()
    return csr_matrix(matrix)


def _check_kinds(kinds: Mapping[Any, str], names: Collection[Any]) -> None:
    for name, kind in kinds.items():
        if name not in names:
            raise unknown_column(name, map(str, names), "the 'columns' parameter", "X")
        if kind not in (*KINDS, "ignore", *DATES):
            raise ColumnError(
                f"The 'columns' parameter must say of {name!r} one of {(*KINDS, 'ignore')}, or "
                f"how its dates are written, one of {DATES}; got {kind!r}.",
                name,
            )


@dataclass(eq=False)
class Rows:
    """Rows that `Columns.read` has read; methods of a model take them in place of a table.

    Parameters
    ----------
    known : Columns
        What becomes of the columns.
    table : Table, array or sparse matrix
        The rows.
    where : str
        What to call the rows in messages.
    first : int
        Number of the first row in messages.
    """

    known: Columns
    table: Any
    where: str
    first: int

    def __len__(self) -> int:
        return len(self.table) if isinstance(self.table, Table) else self.table.shape[0]

    @property
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""
        return len(self), len(self.columns)

    @property
    def columns(self) -> list[Any]:
        """Names of the columns, those that the model does not know among them."""
        if isinstance(self.table, Table):
            return self.table.names
        return [column.name for column in self.known]

    def __getitem__(self, name: Any) -> Any:
        """Return a column as expressions read it: numbers as floats, categories as texts."""
        kind = next((column.kind for column in self.known.columns if column.name == name), "other")
        if kind not in ("number", "boolean", "category"):
            return self.table.column(name)
        values = self.table[name]
        if kind != "category":
            return self.known[name].values(values, self.where, self.first)
        positions, texts = values.as_texts()
        texts = [None if text in self.known[name].na else text for text in texts]
        return np.array([*texts, None], dtype=object)[positions]

    def values(self) -> AnyArray:
        """Return the columns of `fit` as they were given, (n, n_features); None where none is."""
        values = np.full((len(self), len(self.known)), None, dtype=object)
        for j, column in enumerate(self.known):
            if column.name in self.table.names:
                values[:, j] = np.asarray(self.table.column(column.name), dtype=object)
        return values

    @cached_property
    def inputs(self) -> Any:
        """The inputs of the model, (n, n_inputs): an array, or sparse rows as they were given."""
        if not isinstance(self.table, Table):
            return self.table
        if self.known.are_numbers:
            frame = self.table.numbers([column.name for column in self.known.used])
            if frame is not None:
                return dense_or_csr(
                    checked_numbers(check_array, frame, self.known.inputs, **_CHECKS)
                )
        inputs = np.empty((len(self), self.known.n_inputs))
        position = 0
        for column in self.known.used:
            values = column.values(self.table[column.name], self.where, self.first)
            if column.kind == "number":
                self._check_finite(column, values)
            parts = {"": values}
            if column.parts:
                parts = date_parts(values)
            for part in column.parts or ("",):
                inputs[:, position] = parts[part]
                position += 1
        return inputs

    def _check_finite(self, column: Column, values: AnyArray) -> None:
        is_infinite = np.isinf(values)
        if is_infinite.any():
            row = int(is_infinite.argmax())
            raise ColumnError(
                f"Input X contains infinity: {self.where}, column {column.name!r}, row "
                f"{self.first + row}. Correct the value, or leave it empty.",
                column.name,
                row,
            )

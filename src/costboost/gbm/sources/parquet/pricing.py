"""Costs by the names of columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from costboost._typing import AnyArray, Bools, Floats
from costboost._validation import is_real
from costboost.costs._forms import parameter, static_matrix
from costboost.gbm.sources.parquet.files import ParquetFiles, kind_of

__all__ = ["ColumnCosts", "numbers"]


def numbers(table: Any, name: str, start: int, role: str, owner: str) -> Floats:
    """A column of finite numbers.

    Parameters
    ----------
    table : pyarrow.Table
        A batch.
    name : str
        The column.
    start : int
        Number of the batch's first row.
    role : str
        The argument that names the column.
    owner : str
        Whom error messages name.

    Returns
    -------
    array of shape (m,)
        Its values.
    """
    values = np.asarray(table[name].cast("float64", safe=False).to_numpy(), dtype=np.float64)
    wrong = np.flatnonzero(~np.isfinite(values))
    if len(wrong):
        raise ValueError(
            f"{parameter(role, owner)} names the column {name!r}, which must hold finite numbers "
            f"and is {values[wrong[0]]} in row {start + wrong[0]} of the files, counted from 0. "
            "Fill it, or leave the row out."
        )
    return values


class ColumnCosts:
    """Costs of single rows, from columns of their batch.

    Parameters
    ----------
    costs : None, str, mapping or callable
        None, no costs of single rows; a column with the price of an error; one of the mappings
        that ``cost_matrix`` may be, with numbers or names of columns as entries; a callable
        ``frame -> costs`` in a form that ``fit`` takes, of a pandas frame with all columns.
    files : ParquetFiles
        The files.

    Attributes
    ----------
    columns : list of str
        Columns that the costs are made of.
    """

    def __init__(self, costs: Any, files: ParquetFiles) -> None:
        self.costs = costs
        self.owner = files.owner
        if costs is None:
            self.columns: list[str] = []
        elif isinstance(costs, str):
            self.columns = [costs]
        elif isinstance(costs, Mapping):
            entries = {key: entry for key, entry in costs.items() if key != "positive"}
            self.columns = [entry for entry in entries.values() if isinstance(entry, str)]
            for key, entry in entries.items():
                if not (is_real(entry) or isinstance(entry, str)):
                    raise TypeError(
                        f"{parameter('costs', self.owner)} must map {key!r} to a finite number or "
                        f"the name of a column, got {entry!r}. For anything else pass a callable."
                    )
        elif callable(costs):
            self.columns = files.columns
        else:
            raise TypeError(
                f"{parameter('costs', self.owner)} must be None, the name of a column, a mapping "
                f"such as {{'fn': 'amount', 'fp': 5}} or a callable frame -> (n, k, k), got "
                f"{type(costs).__name__}. One matrix for all rows goes into cost_matrix."
            )
        if not callable(costs):
            for name, kind in files.types(self.columns).items():
                if kind_of(kind) != "number":
                    raise ValueError(
                        f"{parameter('costs', self.owner)} names the column {name!r}, which must "
                        f"hold numbers and holds {kind}. Convert it, or name another."
                    )

    def read(self, table: Any, start: int, classes: AnyArray) -> Any:
        """The costs of a batch.

        Parameters
        ----------
        table : pyarrow.Table
            A batch with at least `columns`.
        start : int
            Number of its first row.
        classes : array of shape (k,)
            The classes.

        Returns
        -------
        None or array
            In a form that ``fit`` takes.
        """
        if self.costs is None:
            return None
        if isinstance(self.costs, str):
            return numbers(table, self.costs, start, "costs", self.owner)
        if not isinstance(self.costs, Mapping):
            return self.costs(table.to_pandas())
        matrices: Floats | None = None
        for key, entry in self.costs.items():
            if key == "positive":
                continue
            is_column = isinstance(entry, str)
            price = numbers(table, entry, start, "costs", self.owner) if is_column else entry
            places = self._places(key, classes)
            if matrices is None:
                matrices = np.zeros((table.num_rows, *places.shape))
            matrices[:, places] = np.reshape(price, (-1, 1))
        return matrices

    def _places(self, key: Any, classes: AnyArray) -> Bools:
        """Cells of the matrix that a key fills, (k, d); none if its class has no rows."""
        # What the key alone fills in a matrix of zeros; the checks of the form come for free.
        alone = {
            other: value if other == "positive" else float(other == key)
            for other, value in self.costs.items()
        }
        try:
            return np.asarray(static_matrix(alone, classes, self.owner) != 0)
        except ValueError as error:
            told = str(error).replace("'cost_matrix'", "'costs'")
            raise ValueError(told) from None

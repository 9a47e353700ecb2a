"""Costs by the names of columns."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from costboost._typing import Floats
from costboost.costs.expressions import Expression
from costboost.costs.forms import columns_of
from costboost.costs.labels import parameter
from costboost.gbm.sources.parquet.files import ParquetFiles, kind_of

__all__ = ["ColumnCosts", "numbers"]


def numbers(table: Any, name: str, start: int, role: str, owner: str) -> Floats:
    """A column of finite numbers."""
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
    """Costs of single rows, from columns of their batch."""

    def __init__(self, costs: Any, files: ParquetFiles) -> None:
        self.costs = costs
        self.owner = files.owner
        if costs is None:
            self.columns: list[str] = []
        elif isinstance(costs, str):
            self.columns = [costs]
        elif isinstance(costs, Mapping):
            self.columns = columns_of(costs)
        elif callable(costs):
            self.columns = files.columns
        else:
            raise TypeError(
                f"{parameter('costs', self.owner)} must be None, the name of a column, a mapping "
                f"such as {{'fn': 'amount', 'fp': 5}} or a callable frame -> (n, k, d), got "
                f"{type(costs).__name__}. One matrix for all rows goes into cost_matrix."
            )
        kinds = files.types([] if callable(costs) else self.columns)
        if isinstance(costs, str):
            for name, kind in kinds.items():
                if kind_of(kind) != "number":
                    raise ValueError(
                        f"{parameter('costs', self.owner)} names the column {name!r}, which must "
                        f"hold numbers and holds {kind}. Convert it, or name another."
                    )

    def read(self, table: Any, start: int) -> Any:
        """The costs of a batch."""
        if self.costs is None:
            return None
        if isinstance(self.costs, str):
            return numbers(table, self.costs, start, "costs", self.owner)
        frame = table.select(self.columns).to_pandas() if self.columns else None
        if not isinstance(self.costs, Mapping):
            return self.costs(frame)
        return {
            key: self._priced(entry, frame, start) if _is_expression(key, entry) else entry
            for key, entry in self.costs.items()
        }

    def _priced(self, text: str, frame: Any, start: int) -> Floats:
        """The prices of a batch by an expression."""
        prices = Expression(text)(frame)
        wrong = np.flatnonzero(~np.isfinite(prices))
        if len(wrong):
            raise ValueError(
                f"{parameter('costs', self.owner)} has the expression {text!r}, which must give "
                f"finite numbers and is {prices[wrong[0]]} in row {start + wrong[0]} of the files, "
                "counted from 0. Fill its columns, or leave the row out."
            )
        return prices


def _is_expression(key: Any, entry: Any) -> bool:
    return key != "positive" and isinstance(entry, str)

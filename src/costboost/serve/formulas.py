"""Costs written as expressions over columns, parsed once instead of at every request."""

from __future__ import annotations

from typing import Any

import numpy as np

from costboost._typing import AnyArray
from costboost.costs import Costs
from costboost.costs.expressions import Expression
from costboost.costs.forms import Reader, check_finite
from costboost.costs.uncertain import scenarios

__all__ = ["Formulas"]


class Formulas:
    """The costs of rows by their columns."""

    def __init__(self, model: Any) -> None:
        self.owner = type(model).__name__
        self.classes: AnyArray = model.classes_
        self.decisions: AnyArray = model.decisions_
        reader = Reader(self.classes, owner=self.owner, decisions=self.decisions)
        cells, _ = reader.cells(scenarios(model.cost_matrix).expected)
        self._constants = np.zeros(cells.shape)
        self._expressions: list[tuple[int, int, Expression]] = []
        for j, d in np.ndindex(*cells.shape):
            cell: Any = cells[j, d]
            if isinstance(cell, str):
                self._expressions.append((j, d, Expression(cell)))
            else:
                self._constants[j, d] = cell

    def __call__(self, table: Any) -> Costs:
        """The costs of a table of rows."""
        matrix = np.empty((len(table), *self._constants.shape))
        matrix[:] = self._constants
        for j, d, expression in self._expressions:
            matrix[:, j, d] = expression(table)
        check_finite(matrix, "cost_matrix", self.owner, self.classes, self.decisions)
        return Costs(self.classes, matrix, self.decisions)

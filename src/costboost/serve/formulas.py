"""Costs written as expressions over columns, parsed once instead of at every request."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from costboost._typing import AnyArray
from costboost.costs import Costs
from costboost.costs.checks import check_finite, is_frame
from costboost.costs.context import Context, object_array
from costboost.costs.expressions import Expression
from costboost.costs.labelled import from_mapping, labelled, open_frame
from costboost.costs.uncertain import scenarios

__all__ = ["Formulas"]


class Formulas:
    """The costs of rows by their columns."""

    def __init__(self, model: Any) -> None:
        self.owner = type(model).__name__
        self.classes: AnyArray = model.classes_
        self.decisions: AnyArray = model.decisions_
        context = Context(self.classes, "cost_matrix", self.owner, self.decisions)
        cells = _cells(scenarios(model.cost_matrix).expected, context)
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


def _cells(form: Any, context: Context) -> AnyArray:
    """Numbers and texts, truth by decision, in the order of the model."""
    if isinstance(form, Mapping):
        return from_mapping(form, context)[0]
    if is_frame(form):
        truths, columns, cells = open_frame(form, context.name, context.owner)
        return labelled(cells, truths, columns, context)[0]
    return object_array(form).astype(object)

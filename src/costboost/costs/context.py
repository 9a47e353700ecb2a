"""What is known where costs are read, and the cells of a matrix turned into numbers."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from costboost._typing import AnyArray, Floats
from costboost.costs.checks import as_floats, check_finite, parameter, refuse_uncertain
from costboost.costs.expressions import Expression

__all__ = ["Context", "Form", "filled", "is_number_text", "object_array"]


@dataclass(frozen=True)
class Context:
    """What is known where costs are read."""

    classes: AnyArray
    name: str = "cost_matrix"
    owner: str = ""
    decisions: AnyArray | None = None
    n_samples: int | None = None
    X: Any = None
    as_classes: bool = False

    @property
    def start(self) -> str:
        """How a message begins."""
        return parameter(self.name, self.owner)

    @property
    def columns(self) -> AnyArray:
        """Decisions of an unlabelled array."""
        return self.classes if self.decisions is None else self.decisions


@dataclass(frozen=True)
class Form:
    """Costs as they were read: the decisions, the array, and the text of cells that were text."""

    decisions: AnyArray
    matrix: Floats  # (k, d) or (n, k, d)
    texts: Mapping[tuple[int, int], str]


def filled(cells: AnyArray, decisions: AnyArray, context: Context) -> Form:
    """Numbers for all cells: (k, d), or (n, k, d) if one of them is an array or an expression."""
    texts: dict[tuple[int, int], str] = {}
    values: dict[tuple[int, int], Any] = {}
    for j, d in np.ndindex(*cells.shape):
        cell: Any = cells[j, d]
        pair = context.classes.tolist()[j], decisions.tolist()[d]
        if isinstance(cell, str):
            texts[j, d] = cell
        values[j, d] = _cell(cell, pair, context)
    sizes = {len(value) for value in values.values() if np.ndim(value)}
    if not sizes:
        matrix = np.array(
            [[values[j, d] for d in range(cells.shape[1])] for j in range(len(cells))]
        )
    else:
        matrix = np.empty((_one_size(sizes, context), *cells.shape))
        for (j, d), value in values.items():
            matrix[:, j, d] = value
    check_finite(matrix, context.name, context.owner, context.classes, decisions)
    return Form(decisions, matrix, texts)


def _one_size(sizes: set[int], context: Context) -> int:
    wanted = {context.n_samples} - {None}
    if len(sizes | wanted) > 1:
        raise ValueError(
            f"{context.start} must give one price per row, {context.n_samples or 'n'} of them, got "
            f"arrays of length {sorted(sizes)}. Take the prices from the same rows as X; an "
            'expression over columns, such as "amount + 15", fits any rows.'
        )
    return next(iter(sizes))


def _cell(cell: Any, pair: tuple[Any, Any], context: Context) -> Any:
    """A number, or the numbers of all rows."""
    refuse_uncertain(cell, context.name, context.owner)
    place = f"for deciding {pair[1]!r} when the truth is {pair[0]!r}"
    if isinstance(cell, str):
        if is_number_text(cell):
            raise TypeError(
                f"{context.start} must hold numbers or expressions over columns, got the text "
                f"{cell!r} {place}. Write the number without quotes: {cell.strip()}."
            )
        if context.X is None:
            raise ValueError(
                f"{context.start} has the expression {cell!r} {place}, and the columns of X are "
                "unknown here. Pass X=, or the prices as an array."
            )
        return Expression(cell)(context.X)
    if cell is None or isinstance(cell, bytes):
        raise TypeError(f"{context.start} must hold a number {place}, got {cell!r}.")
    values = as_floats(cell, context.name, context.owner)
    if values.ndim > 1:
        raise ValueError(
            f"{context.start} must hold a number or an array of shape (n,) {place}, got shape "
            f"{values.shape}. Flatten it."
        )
    return values if values.ndim else float(values)


def is_number_text(cell: str) -> bool:
    """Whether a text is only a number."""
    try:
        float(cell)
    except ValueError:
        return False
    return True


def object_array(form: Any) -> AnyArray:
    """The form as an array without converting numbers to text; ragged forms become empty."""
    if isinstance(form, np.ndarray):
        return form
    try:
        array = np.asarray(form)
        if array.dtype.kind in "US":
            array = np.asarray(form, dtype=object)
        return array
    except ValueError:
        return np.empty(0)

"""The cells of any form of costs, read and replaced, so that a form keeps its shape and labels."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from costboost._typing import AnyArray, Floats
from costboost.costs.checks import Uncertain, is_frame


class Pair(tuple[Any, Any]):
    """A value ``(low, high)`` of a mapping."""


def cells_of(form: Any) -> list[Any]:
    """The cells that may be uncertain; none for an array of plain numbers."""
    if isinstance(form, Mapping):
        return [
            Pair(value) if isinstance(value, tuple) and len(value) == 2 else value
            for key, value in form.items()
            if key != "positive"
        ]
    return list(_objects(form).flat)


def _objects(form: Any) -> AnyArray:
    """The cells as an object array; empty if they are plain numbers, or if the form has none."""
    if is_frame(form):
        form = form.to_numpy()
    if isinstance(form, list | tuple | np.ndarray):
        try:
            array = np.asarray(form)
        except ValueError:  # not rectangular: Costs.resolve says so
            return np.empty(0, dtype=object)
        if array.dtype == object:
            return array
    return np.empty(0, dtype=object)


def replaced(form: Any, cells: list[Any], values: Iterable[Floats]) -> Any:
    """The same form, its uncertain cells replaced by these values in turn."""
    supply = iter(values)
    numbers = [
        float(next(supply)) if isinstance(cell, Uncertain | Pair) else cell for cell in cells
    ]
    if isinstance(form, Mapping):
        given = iter(numbers)
        return {key: v if key == "positive" else next(given) for key, v in form.items()}
    flat = np.empty(len(numbers), dtype=object)
    flat[:] = numbers
    table: AnyArray = flat.reshape(_objects(form).shape)
    if not is_frame(form):
        return table
    if hasattr(form, "index"):
        return type(form)(table, index=form.index, columns=form.columns)
    columns = zip(form.columns, table.T.tolist(), strict=True)
    return type(form)({name: [_one_type(x) for x in column] for name, column in columns})


def _one_type(cell: Any) -> Any:
    """Numbers as floats: a polars column holds one type."""
    return float(cell) if isinstance(cell, int | float) else cell

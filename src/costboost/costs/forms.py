"""The forms in which users write costs, each turned into an array, truth by decision.

Every function here either returns finite floats, with the names of the decisions, or raises an
error that names the parameter, its owner, the rule, what was given and the remedy.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from costboost._typing import AnyArray
from costboost.costs.checks import as_floats, check_finite, is_frame, refuse_uncertain
from costboost.costs.context import Context, Form, filled, is_number_text, object_array
from costboost.costs.expressions import Expression
from costboost.costs.labelled import from_mapping, is_short, labelled, open_frame
from costboost.costs.labels import label_array
from costboost.costs.rows import RowCosts, in_class_order

__all__ = [
    "cells_in",
    "columns_of",
    "decision_labels",
    "decisions_of",
    "is_labelled",
    "named_labels",
    "read_matrix",
    "varies",
]


def cells_in(form: Any) -> list[Any]:
    """The cells of a mapping, a frame or an object array; empty for other forms."""
    if isinstance(form, Mapping):
        return [value for key, value in form.items() if key != "positive"]
    if is_frame(form):
        form = form.to_numpy()
    if isinstance(form, list | tuple):
        form = object_array(form)
    if isinstance(form, np.ndarray) and form.dtype.kind in "OUT":
        return list(form.flat)
    return []


def columns_of(form: Any) -> list[str]:
    """Columns of X that the expressions of a form name, each once."""
    names: dict[str, None] = {}
    for cell in cells_in(form):
        if isinstance(cell, str) and not is_number_text(cell):
            names |= dict.fromkeys(Expression(cell).columns)
    return list(names)


def varies(form: Any) -> bool:
    """Whether the costs differ from row to row: a function of X, columns or arrays as entries."""
    if callable(form):
        return True
    shape = np.shape(form) if isinstance(form, np.ndarray) else ()
    if len(shape) == 3:
        return True
    return any(isinstance(cell, str) or np.ndim(cell) == 1 for cell in cells_in(form))


def decisions_of(
    form: Any, classes: AnyArray, owner: str = "", *, as_classes: bool = False
) -> AnyArray:
    """The decisions that a form names; the classes if it names none."""
    # Entries are not looked at, so expressions need no table.
    context = Context(classes, "cost_matrix", owner, as_classes=as_classes)
    if isinstance(form, Mapping):
        empty = {key: value if key == "positive" else 0.0 for key, value in form.items()}
        return from_mapping(empty, context)[1]
    if is_frame(form):
        truths, columns, cells = open_frame(form, context.name, owner)
        return labelled(cells, truths, columns, context)[1]
    return getattr(form, "decisions", classes)  # those of a Costs object


def named_labels(form: Any) -> tuple[list[Any], list[Any]]:
    """Truths and decisions that a labelled form names by itself; empty for an unlabelled one."""
    if isinstance(form, Mapping):
        if is_short(form):
            return ([form["positive"]] if "positive" in form else [], [])
        pairs = [key for key in form if isinstance(key, tuple) and len(key) == 2]
        return list(dict.fromkeys(t for t, _ in pairs)), list(dict.fromkeys(d for _, d in pairs))
    if is_frame(form):
        truths, decisions, _ = open_frame(form, "cost_matrix", "")
        return truths, decisions
    return [], []


def is_labelled(form: Any) -> bool:
    """Whether the form names all classes by itself."""
    return len(named_labels(form)[0]) > 1


def read_matrix(form: Any, context: Context) -> Form:
    """Read any form of a matrix: (k, d), or (n, k, d) if entries differ from row to row."""
    is_result = callable(form)
    if is_result:
        form = _called(form, context)
    k = len(context.classes)
    if form is None:
        return Form(context.classes, 1.0 - np.eye(k), {})
    if isinstance(form, str | bytes):
        raise TypeError(
            f"{context.start} must be a matrix or a mapping, got the text {form!r}. Name the entry "
            f'it stands for, as in {{"fn": {form!r}, "fp": 1}}.'
        )
    refuse_uncertain(form, context.name, context.owner)
    if isinstance(form, Mapping):
        cells, decisions = from_mapping(form, context)
    elif is_frame(form):
        truths, columns, table = open_frame(form, context.name, context.owner)
        cells, decisions = labelled(table, truths, columns, context)
    else:
        return _from_array(form, context, is_result)
    return filled(cells, decisions, context)


def _called(form: Any, context: Context) -> Any:
    """What a function of X returns."""
    if context.X is None:
        raise ValueError(
            f"{context.start} is a function of the features X, which are unknown here. Call it "
            "yourself and pass the result as costs=cost_matrix(X)."
        )
    result = form(context.X)
    if not isinstance(result, Mapping) and np.ndim(result) != 3:
        k, d = len(context.classes), len(context.columns)
        n = "n" if context.n_samples is None else context.n_samples
        raise ValueError(
            f"{context.start} must return one matrix per row, truth by decision: shape "
            f"({n}, {k}, {d}), got {np.shape(result)}. A mapping {{(truth, decision): prices}} "
            "will do as well."
        )
    return result


def _from_array(form: Any, context: Context, is_result: bool) -> Form:
    if isinstance(form, RowCosts):
        form = in_class_order(form, context.classes, context.owner)
    array = object_array(form)
    if (
        array.dtype.kind in "OUT"
        and array.ndim == 2
        and any(isinstance(x, str) for x in array.flat)
    ):
        _check_shape(array.shape, context)
        return filled(array.astype(object), context.columns, context)
    matrix = as_floats(form, context.name, context.owner)
    if matrix.ndim == 3 and context.name == "cost_matrix" and not is_result:
        raise ValueError(
            f"{context.start} must be one matrix for all rows, got shape {matrix.shape}. "
            "Matrices of single rows go into costs=, at fit, predict or score."
        )
    if matrix.ndim == 2:
        matrix = matrix.copy()
    _check_shape(matrix.shape, context)
    check_finite(matrix, context.name, context.owner, context.classes, context.columns)
    return Form(context.columns, matrix, {})


def _check_shape(shape: tuple[int, ...], context: Context) -> None:
    k, d = len(context.classes), len(context.columns)
    n = context.n_samples
    if shape == (k, d) or (len(shape) == 3 and shape[1:] == (k, d) and n in (None, shape[0])):
        return
    known, decisions = context.classes.tolist(), context.columns.tolist()
    stated = "" if decisions == known else f" and the decisions {decisions}"
    if len(shape) == 3 and shape[1:] == (k, d):
        remedy = f"X has {n} rows: take the costs from the same rows."
    elif len(shape) in (2, 3) and shape[-2] == k and context.decisions is None:
        remedy = (
            "Columns that are not the classes need names: pass a labelled frame, or a mapping "
            "{(truth, decision): cost} whose costs are numbers, arrays or expressions."
        )
    elif len(shape) == 3 and k > 2:
        remedy = "Pass a matrix per row, or a mapping {(truth, decision): prices of the rows}."
    elif len(shape) == 3:
        remedy = "costboost.costs.per_row(fn=..., fp=...) builds it."
    else:
        remedy = (
            "Give one row per true class and one column per decision, in the order of the classes."
        )
    wanted = f"({k}, {d})" if len(shape) != 3 else f"({'n' if n is None else n}, {k}, {d})"
    raise ValueError(
        f"{context.start} must have shape {wanted} for the classes {known}{stated}, got {shape}. "
        f"{remedy}"
    )


def decision_labels(decisions: Any) -> AnyArray | None:
    """Labels that a caller gave to the columns."""
    return None if decisions is None else label_array(list(decisions))

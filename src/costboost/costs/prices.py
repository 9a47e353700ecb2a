"""Prices of rows whose truth is known: the price of each decision, or of an error."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from costboost._typing import AnyArray, Floats, Ints
from costboost.costs.checks import as_floats, check_finite, is_frame
from costboost.costs.context import Context, object_array
from costboost.costs.labelled import in_known_order, row_labels
from costboost.costs.labels import arranged, matched

__all__ = ["is_matrix", "read_prices"]


def read_prices(costs: Any, codes: Ints, context: Context) -> tuple[AnyArray, Floats]:
    """Check prices of rows whose truth is known, (n, d) or (n,); return decisions and (n, d)."""
    # A frame whose columns carry the labels of the decisions is put into their order.
    n, classes = len(codes), context.classes
    array = as_floats(costs.to_numpy() if is_frame(costs) else costs, context.name, context.owner)
    if array.shape == (n,):
        check_finite(array, context.name, context.owner, classes, context.columns)
        if context.decisions is not None and not np.array_equal(context.decisions, classes):
            raise ValueError(
                f"{context.start} of shape (n,) is the price of an error, but the decisions "
                f"{context.decisions.tolist()} are not the classes, so none of them is the error. "
                "Pass shape (n, d), the price of each decision."
            )
        prices = np.repeat(array[:, None], len(classes), axis=1)
        prices[np.arange(n), codes] = 0.0
        return classes, prices
    decisions = context.columns
    if is_frame(costs) and array.ndim == 2 and len(array) == n:
        labels = list(costs.columns)
        if labels != list(range(len(decisions))):
            return _labelled_prices(array, labels, context)
    k, d = len(classes), len(decisions)
    if array.shape != (n, d):
        remedy = (
            f"X has {n} rows: take the costs from the same rows."
            if array.ndim in (1, 2) and len(array) != n
            else "Name other decisions by the columns of a frame."
        )
        raise ValueError(
            f"{context.start} must have shape ({n}, {k}, {d}), a matrix per row; "
            f"({n}, {d}), the price of each decision per row; ({n},), the price of an error "
            f"per row; or ({k}, {d}), one matrix; got {array.shape}. {remedy}"
        )
    check_finite(array, context.name, context.owner, classes, decisions)
    return decisions, array


def _labelled_prices(array: Floats, labels: list[Any], context: Context) -> tuple[AnyArray, Floats]:
    """Prices of named decisions, in order."""
    codes = matched(labels, context.classes)
    if -1 not in codes and len(codes) == len(context.classes) == len(set(codes)):
        cells, decisions = array[:, np.argsort(codes)], context.classes
    else:
        layout = arranged(
            context.classes.tolist(),
            labels,
            context.classes,
            context.name,
            context.owner,
            as_classes=context.as_classes,
        )
        cells, decisions = array[:, layout.columns], layout.decisions
    cells, decisions = in_known_order(cells, decisions, context)
    check_finite(cells, context.name, context.owner, context.classes, decisions)
    return decisions, cells


def is_matrix(costs: Any, codes: Ints | None, context: Context) -> bool:
    """Whether ``costs`` is one matrix for all rows, or a matrix per row, and not prices of rows."""
    # A 2-D array that could be either, because there are as many rows as classes, is refused.
    if isinstance(costs, Mapping):
        return True
    ndim = 2 if is_frame(costs) else np.ndim(object_array(costs))
    if ndim != 2 or codes is None:
        return ndim != 1 or codes is None
    k = len(context.classes)
    shape = costs.shape if is_frame(costs) else np.shape(costs)
    if is_frame(costs):
        labels = row_labels(costs)
        is_named = len(labels) == k and -1 not in matched(labels, context.classes)
        if not is_named or len(codes) != k:
            return is_named and len(codes) != k
    elif shape[0] != k or len(codes) != k:
        return bool(shape == (k, len(context.columns)) and len(codes) != k)
    elif shape[1] != len(context.columns):
        return False
    raise ValueError(
        f"{context.start} of shape {tuple(shape)} may be one matrix or the prices of {len(codes)} "
        f"rows, because there are as many rows as classes. Pass a matrix as cost_matrix= or as a "
        f"mapping, prices as one matrix per row, shape ({len(codes)}, {k}, {len(context.columns)})."
    )

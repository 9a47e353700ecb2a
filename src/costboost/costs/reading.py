"""From any form of costs to `Costs` or, where the truth is known, to `KnownCosts`."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from costboost._typing import Floats, Ints
from costboost.costs.checks import is_frame, parameter, refuse_uncertain
from costboost.costs.context import Context, object_array
from costboost.costs.forms import decision_labels, read_matrix
from costboost.costs.known import KnownCosts
from costboost.costs.labelled import labelled
from costboost.costs.prices import is_matrix, read_prices
from costboost.costs.table import Costs
from costboost.errors import CostWarning

__all__ = ["resolve"]


def resolve(
    cost_matrix: Any,
    costs: Any,
    *,
    classes: ArrayLike,
    decisions: ArrayLike | None,
    n_samples: int | None,
    X: Any,
    codes: ArrayLike | None,
    owner: str,
    as_classes: bool,
) -> Costs | KnownCosts:
    """Read costs; `Costs.resolve` describes the arguments."""
    truth = None if codes is None else np.asarray(codes, dtype=np.intp)
    if n_samples is None and truth is not None:
        n_samples = len(truth)
    context = Context(
        np.asarray(classes),
        "cost_matrix" if costs is None else "costs",
        owner,
        decision_labels(decisions),
        n_samples,
        X,
        as_classes,
    )
    given = cost_matrix if costs is None else costs
    if isinstance(given, Costs):
        found = _relabelled(given, context)
    elif costs is None:
        found = _from_form(given, context)
    else:
        if callable(costs) or isinstance(costs, (KnownCosts, str)):
            raise TypeError(
                f"{context.start} must be an array, a frame or a mapping, got "
                f"{type(costs).__name__}. Pass a function as cost_matrix=."
            )
        refuse_uncertain(costs, context.name, context.owner)
        if truth is not None and not is_matrix(costs, truth, context):
            return _from_prices(costs, truth, context)
        if truth is None and not isinstance(costs, Mapping) and not is_frame(costs):
            shape = np.shape(object_array(costs))
            if len(shape) < 3 and shape != (len(context.classes), len(context.columns)):
                _refuse_prices(shape, context)
        found = _from_form(costs, context)
    return found if truth is None else found.known(truth)


def _relabelled(costs: Costs, context: Context) -> Costs:
    if costs.matrix.ndim == 3:
        raise ValueError(
            f"{context.start} must be one matrix for all rows, got Costs of single rows. Pass "
            "their .matrix as costs=."
        )
    cells, decisions = labelled(
        costs.matrix, costs.classes.tolist(), costs.decisions.tolist(), context
    )
    return Costs(context.classes, cells, decisions)


def _from_form(form: Any, context: Context) -> Costs:
    found = read_matrix(form, context)
    costs = Costs(context.classes, found.matrix, found.decisions, texts=found.texts)
    if found.matrix.ndim == 2 and costs.decides_classes:
        _warn_if_swapped(found.matrix, context)
    return costs


def _from_prices(costs: Any, codes: Ints, context: Context) -> KnownCosts:
    decisions, prices = read_prices(costs, codes, context)
    if np.ndim(costs) == 1 and prices.min(initial=0.0) < 0:
        warnings.warn(
            f"{context.start} of shape (n,) is the price of an error, and {prices.min():g} is "
            "negative: there the error is taken for the best decision. Pass shape (n, d) if that "
            "is meant, else check the sign.",
            CostWarning,
            stacklevel=4,
        )
    return KnownCosts(context.classes, codes, None, decisions, prices=prices)


def _refuse_prices(shape: tuple[int, ...], context: Context) -> None:
    k, d = len(context.classes), len(context.columns)
    helper = (
        " For two classes costboost.costs.per_row(fn=..., fp=...) builds it." if k == d == 2 else ""
    )
    raise ValueError(
        f"{context.start} must have shape (n, {k}, {d}), truth by decision, or ({k}, {d}), because "
        f"the truth is unknown here; got {shape}.{helper}"
    )


def _warn_if_swapped(matrix: Floats, context: Context) -> None:
    """Warn if a right decision costs more than every mistake on the same truth."""
    classes = context.classes
    if len(classes) < 2:
        return
    right = matrix.diagonal()
    mistakes = np.where(np.eye(len(classes), dtype=bool), -np.inf, matrix).max(axis=1)
    swapped = np.flatnonzero(right > mistakes)
    if len(swapped):
        j = swapped[0]
        label = classes.tolist()[j]
        warnings.warn(
            f"{parameter(context.name, context.owner)} makes the right decision the most costly "
            f"one: deciding {label!r} when the truth is {label!r} costs {right[j]:.6g}, a mistake "
            f"at most {mistakes[j]:.6g}. Rows are the truth and columns the decision: is the "
            "matrix transposed, or its columns in another order than the classes "
            f"{classes.tolist()}?",
            CostWarning,
            stacklevel=4,
        )

"""Checks of what metrics are given: labels turned into codes, costs resolved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from costboost._typing import AnyArray, Floats, Ints
from costboost.costs import Costs
from costboost.costs.forms import RowCosts, is_frame, is_short, named_labels
from costboost.costs.labels import nearest, positive_code


class Case:
    """Checked arguments of a metric: codes of the truth and the decisions, costs, weights."""

    def __init__(
        self,
        y_true: ArrayLike,
        y_pred: ArrayLike | None,
        *,
        owner: str,
        cost_matrix: Any = None,
        costs: Any = None,
        labels: ArrayLike | None = None,
        decisions: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
        X: Any = None,
        positive: Any = None,
        extra: Sequence[Any] = (),
        binary: bool = False,
        size: int | None = None,
    ) -> None:
        truth, truth_codes = _unique(y_true, "y_true", owner)
        if y_pred is None:
            decided, decided_codes = truth, truth_codes
        else:
            decided, decided_codes = _unique(y_pred, "y_pred", owner)
        if len(truth_codes) != len(decided_codes):
            raise ValueError(
                f"The 'y_pred' parameter of {owner} must have one decision per row of y_true, "
                f"{len(truth_codes)}, got {len(decided_codes)}."
            )
        form = cost_matrix if costs is None else costs
        rows = None if costs is None else len(truth_codes)
        form = with_positive(form, positive)
        if positive is not None:
            extra = [*extra, positive]
        self.classes = (
            _classes(
                [*truth.tolist(), *_class_labels(form, truth, decided, decisions, rows), *extra],
                size or _size(form, is_rows=costs is not None),
                owner,
            )
            if labels is None
            else np.asarray(labels)
        )
        if binary and len(self.classes) > 2:
            raise ValueError(
                f"{owner} is defined for two classes, found {len(self.classes)}: "
                f"{self.classes.tolist()}. Compare one class with the rest: pass y == label."
            )
        self.codes = _code(truth, self.classes, "y_true", "labels", owner)[truth_codes]
        self.weights = _weights(sample_weight, len(self.codes), owner)
        self.costs = Costs.resolve(
            form if costs is None else None,
            None if costs is None else form,
            classes=self.classes,
            decisions=decisions,
            codes=self.codes,
            X=X,
            owner=owner,
            as_classes=binary,
        )
        self.decisions = _code(decided, self.costs.decisions, "y_pred", "decisions", owner)[
            decided_codes
        ]


def with_positive(form: Any, positive: Any) -> Any:
    """The costs with the positive class named, if their form leaves it open."""
    if positive is None:
        return form
    if is_short(form) and "positive" not in form:
        return {**form, "positive": positive}
    if isinstance(form, RowCosts) and form.positive is None:
        named: Any = form[:]
        named.positive = positive
        return named
    return form


def _class_labels(
    form: Any, truth: AnyArray, decided: AnyArray, decisions: Any, rows: int | None
) -> list[Any]:
    """Labels of classes that the costs and the decisions name by themselves."""
    # ``rows`` is the number of rows if the costs may be prices of single rows.
    truths: list[Any]
    if isinstance(form, Costs):
        truths, named = form.classes.tolist(), form.decisions.tolist()
    elif rows is not None and is_frame(form) and len(form) == rows:
        named = list(form.columns)
        truths = named if set(truth.tolist()) <= set(named) else []
    else:
        truths, named = named_labels(form)
        if isinstance(form, RowCosts) and form.positive is not None:
            truths = [form.positive]
    if decisions is not None or (named and not set(named) <= set(truths)):
        return truths  # decisions have names of their own
    return [*truths, *decided.tolist()]


def _unique(y: ArrayLike, name: str, owner: str) -> tuple[AnyArray, Ints]:
    """Distinct labels, and the index of each row's label among them."""
    array = np.asarray(y)
    if array.ndim == 2 and array.shape[1] == 1:
        array = array[:, 0]
    if array.ndim != 1 or not len(array):
        raise ValueError(
            f"The {name!r} parameter of {owner} must be a non-empty array of shape (n,), got shape "
            f"{array.shape}."
        )
    if array.dtype.kind == "f" and not np.isfinite(array).all():
        raise ValueError(
            f"The {name!r} parameter of {owner} must hold labels, got NaN or infinity. Drop those "
            "rows."
        )
    try:
        if array.dtype.kind != "O":
            return np.unique(array, return_inverse=True)
        labels = array.tolist()  # hashing beats sorting Python objects tenfold
        distinct = sorted(set(labels))
    except TypeError as error:
        raise ValueError(
            f"The {name!r} parameter of {owner} must hold labels of one type, got a mixture "
            f"({error}). Convert them to text."
        ) from error
    index = {label: i for i, label in enumerate(distinct)}
    codes = np.fromiter((index[label] for label in labels), dtype=np.intp, count=len(labels))
    return np.array(distinct, dtype=object), codes


def _classes(found: list[Any], size: int | None, owner: str) -> AnyArray:
    """Sort the labels found; complete a lone one if two classes are needed."""
    distinct = set(found)
    if size == 2 and len(distinct) == 1:
        lone = next(iter(distinct))
        if isinstance(lone, bool):
            distinct = {False, True}
        elif not isinstance(lone, str) and lone in (0, 1, -1):
            distinct = {-1, 1} if lone == -1 else {0, 1}
    try:
        classes = sorted(distinct)
    except TypeError as error:
        raise ValueError(
            f"{owner} found labels of different types in y_true, y_pred or the costs: "
            f"{list(distinct)}. Use one type everywhere."
        ) from error
    if size is not None and len(classes) < size:
        raise ValueError(
            f"{owner} needs {size} classes but found only {classes} in the data. "
            "Pass labels=, all classes in the order of the costs."
        )
    return np.array(classes)


def _size(form: Any, *, is_rows: bool) -> int | None:
    """Number of classes that the form of the costs demands; None if it leaves that open."""
    if is_short(form):
        return 2
    if form is None or callable(form) or isinstance(form, Mapping | Costs) or is_frame(form):
        return None
    shape = np.shape(form)
    if is_rows:
        return int(shape[-2]) if len(shape) == 3 else int(shape[-1]) if len(shape) == 2 else None
    return int(shape[0]) if len(shape) == 2 else None


def _code(values: AnyArray, known: AnyArray, name: str, others: str, owner: str) -> Ints:
    """Index of each distinct label among those that are known."""
    places = {label: i for i, label in enumerate(known.tolist())}
    unknown = [value for value in values.tolist() if value not in places]
    if unknown:
        raise ValueError(
            f"The {name!r} parameter of {owner} must hold only the {others} {known.tolist()}, got "
            f"{unknown[:5]}{nearest(unknown[0], known.tolist())} Correct them, or add them to "
            f"{others}=."
        )
    return np.array([places[value] for value in values.tolist()], dtype=np.intp)


def _weights(sample_weight: ArrayLike | None, n: int, owner: str) -> Floats | None:
    if sample_weight is None:
        return None
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.shape != (n,):
        raise ValueError(
            f"The 'sample_weight' parameter of {owner} must have shape ({n},), got {weights.shape}."
        )
    if not (np.isfinite(weights).all() and (weights >= 0).all() and weights.any()):
        raise ValueError(
            f"The 'sample_weight' parameter of {owner} must be finite, >= 0 and not all 0, got "
            f"values from {weights.min()} to {weights.max()}."
        )
    return weights


def positive_index(classes: AnyArray, positive: Any, owner: str) -> int:
    """Index of the positive class, which only the usual pairs of labels leave out."""
    if len(classes) == 1 and positive is None:
        return 0
    return positive_code(
        positive, classes, "positive", owner, remedy=f"pass positive={classes.tolist()[-1]!r}"
    )

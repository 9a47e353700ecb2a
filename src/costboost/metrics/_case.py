"""Checks of what metrics are given: labels turned into codes, costs resolved."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from costboost._typing import AnyArray, Floats, Ints
from costboost.costs import Costs
from costboost.costs.forms import named_labels
from costboost.costs.labelled import is_short


class Case:
    """Checked arguments of a metric: codes of the truth and the decisions, costs, weights.

    `extra` are labels that other arguments name; `binary` says that the metric is defined for at
    most two classes, `size` that it needs so many.
    """

    def __init__(
        self,
        y_true: ArrayLike,
        y_pred: ArrayLike | None,
        cost_matrix: Any,
        costs: Any,
        labels: ArrayLike | None,
        sample_weight: ArrayLike | None,
        owner: str,
        *,
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
        if labels is None:
            named = [] if costs is not None else _named(cost_matrix)
            found = [*truth.tolist(), *decided.tolist(), *named, *extra]
            self.classes = _classes(found, size or _size(cost_matrix, costs), owner)
        else:
            self.classes = np.asarray(labels)
        if binary and len(self.classes) > 2:
            raise ValueError(
                f"{owner} is defined for two classes, found {len(self.classes)}: "
                f"{self.classes.tolist()}. Compare one class with the rest: pass y == label."
            )
        self.codes = _code(truth, self.classes, "y_true", owner)[truth_codes]
        self.decisions = _code(decided, self.classes, "y_pred", owner)[decided_codes]
        self.weights = _weights(sample_weight, len(self.codes), owner)
        self.costs = Costs.resolve(
            cost_matrix, costs, classes=self.classes, codes=self.codes, owner=owner
        )


def _named(cost_matrix: Any) -> list[Any]:
    """Labels that the costs name by themselves."""
    if isinstance(cost_matrix, Costs):
        return list(cost_matrix.classes.tolist())
    return named_labels(cost_matrix)


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


def _size(cost_matrix: Any, costs: Any) -> int | None:
    """Number of classes that the form of the costs demands; None if it leaves that open."""
    if costs is not None:
        return int(np.shape(costs)[-1]) if np.ndim(costs) > 1 else None
    if is_short(cost_matrix):
        return 2
    if cost_matrix is None or callable(cost_matrix) or isinstance(cost_matrix, Mapping):
        return None
    return len(cost_matrix) if hasattr(cost_matrix, "__len__") else None


def _code(values: AnyArray, classes: AnyArray, name: str, owner: str) -> Ints:
    """Index of each distinct label among the classes."""
    known = {label: i for i, label in enumerate(classes.tolist())}
    unknown = [value for value in values.tolist() if value not in known]
    if unknown:
        raise ValueError(
            f"The {name!r} parameter of {owner} must hold only the classes {classes.tolist()}, got "
            f"{unknown[:5]}. Add them to labels=, or correct them."
        )
    return np.array([known[value] for value in values.tolist()], dtype=np.intp)


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


def positive_index(classes: AnyArray, pos_label: Any, owner: str) -> int:
    """Index of the positive class, by default the last."""
    known: list[Any] = classes.tolist()
    if pos_label is None:
        return len(known) - 1
    if pos_label not in known:
        raise ValueError(
            f"The 'pos_label' parameter of {owner} must be one of the classes {known}, got "
            f"{pos_label!r}."
        )
    return known.index(pos_label)

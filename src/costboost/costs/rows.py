"""Costs of single rows for two classes, with the positive class attached."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from costboost._typing import AnyArray, Floats
from costboost.costs.checks import as_floats, parameter
from costboost.costs.expressions import Expression
from costboost.costs.labels import positive_code

__all__ = ["RowCosts", "in_class_order", "per_row"]


class RowCosts(np.ndarray[Any, np.dtype[np.float64]]):
    """The (n, 2, 2) array of `per_row`, index 1 the positive class, which it remembers.

    Where it is used as ``costs``, it is put into the order of the classes. Slices and joined arrays
    remember it too, so the array may be cut into folds. ``numpy.asarray`` forgets it.

    Attributes
    ----------
    positive : label or None
        The positive class; None is the second of {0, 1}, {False, True} or {-1, 1}.
    """

    positive: Any

    def __array_finalize__(self, obj: Any) -> None:
        self.positive = getattr(obj, "positive", None)

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        result = super().__array_function__(func, types, args, kwargs)
        if type(result) is not np.ndarray or result.ndim != 3:
            return result
        # Functions that join arrays return plain ones.
        parts = [x for y in args for x in (y if isinstance(y, list | tuple) else [y])]
        named = {part.positive for part in parts if isinstance(part, RowCosts)}
        if len(named) > 1:
            raise ValueError(
                f"Costs of rows with the positive classes {sorted(map(repr, named))} cannot be "
                "joined. Build them with the same per_row(..., positive=...)."
            )
        joined = result.view(RowCosts)
        joined.positive = named.pop() if named else self.positive
        return joined

    def __reduce__(self) -> Any:
        rebuilt: Any = super().__reduce__()
        return rebuilt[0], rebuilt[1], (rebuilt[2], self.positive)

    def __setstate__(self, state: Any) -> None:
        inner, self.positive = state
        super().__setstate__(inner)


def in_class_order(costs: RowCosts, classes: AnyArray, owner: str) -> Floats:
    """A plain array with the classes in their order."""
    plain = np.asarray(costs)
    if plain.ndim != 3 or len(classes) != 2:
        return plain  # the shape is refused where all arrays are checked
    code = positive_code(
        costs.positive,
        classes,
        "costs",
        owner,
        remedy="call per_row(..., positive=...) with the label of the positive class",
    )
    return plain if code == 1 else plain[:, ::-1, ::-1]


def per_row(
    fn: ArrayLike,
    fp: ArrayLike,
    tp: ArrayLike = 0.0,
    tn: ArrayLike = 0.0,
    *,
    positive: Any = None,
    n: int | None = None,
    X: Any = None,
) -> Any:
    """Build the costs of single rows for two classes.

    Parameters
    ----------
    fn, fp, tp, tn : float, array of shape (n,) or str
        Price of a miss, a false alarm, a detection and a correct rejection, for all rows or for
        each. A text is the name of a column of X or arithmetic over columns, ``"amount + 15"``; see
        `costboost.costs.expressions`.
    positive : label, optional
        The positive class, such as ``"fraud"``. It may be left out only for the labels {0, 1},
        {False, True} and {-1, 1}, whose second is positive.
    n : int, optional
        Number of rows; needed only if all prices are single numbers.
    X : data frame, optional
        The rows, if prices name columns. Without it, names of columns are kept, and the classifier
        or metric that uses the costs reads them from its own X.

    Returns
    -------
    RowCosts of shape (n, 2, 2), or dict
        Cost of each row, truth by decision, index 1 the positive class. A dict, the short form of
        ``cost_matrix``, if columns are named and X is not given.

    Examples
    --------
    A fraud costs its amount, a call to the customer 5 whether or not it was needed:

    >>> per_row(fn=[120.0, 3.0], fp=5, tp=5)
    RowCosts([[[  0.,   5.],
               [120.,   5.]],
              [[  0.,   5.],
               [  3.,   5.]]])
    >>> per_row(fn="amount", fp=5, positive="fraud")
    {'fn': 'amount', 'fp': 5, 'positive': 'fraud'}
    """
    parts: dict[str, Any] = {"fn": fn, "fp": fp, "tp": tp, "tn": tn}
    named = [key for key, value in parts.items() if isinstance(value, str)]
    if named and X is None:
        arrays = [key for key, value in parts.items() if key not in named and np.ndim(value)]
        if arrays:
            raise ValueError(
                f"{parameter(named[0], 'per_row')} names a column and {arrays[0]!r} is an array: "
                "they cannot be joined without X. Pass X=, the frame with the column."
            )
        short = {key: parts[key] for key in ("fn", "fp")}
        short |= {key: parts[key] for key in ("tp", "tn") if parts[key] != 0.0}
        return short if positive is None else {**short, "positive": positive}
    for key in named:
        parts[key] = Expression(parts[key])(X)
    arrays_by_key = {key: as_floats(value, key, "per_row") for key, value in parts.items()}
    size = _size(arrays_by_key, n if X is None else len(X))
    matrices = np.empty((size, 2, 2))
    matrices[:, 1, 0], matrices[:, 0, 1] = arrays_by_key["fn"], arrays_by_key["fp"]
    matrices[:, 1, 1], matrices[:, 0, 0] = arrays_by_key["tp"], arrays_by_key["tn"]
    costs = matrices.view(RowCosts)
    costs.positive = positive
    return costs


def _size(arrays: dict[str, Floats], n: int | None) -> int:
    """Number of rows, after checking that all prices agree on it."""
    for key, array in arrays.items():
        if array.ndim > 1:
            raise ValueError(
                f"{parameter(key, 'per_row')} must be one number or an array of shape (n,), got "
                f"shape {array.shape}. Flatten it."
            )
        if not np.isfinite(array).all():
            raise ValueError(
                f"{parameter(key, 'per_row')} must be finite, got "
                f"{array[~np.isfinite(array)].flat[0]}. Replace it by a number."
            )
    lengths = {key: len(array) for key, array in arrays.items() if array.ndim == 1}
    sizes = set(lengths.values()) | ({n} if n is not None else set())
    if len(sizes) > 1:
        stated = "" if n is None else f", n={n}"
        raise ValueError(
            f"per_row needs one price per row, got arrays of different lengths: {lengths}{stated}. "
            "Take all of them from the same rows."
        )
    if not sizes:
        raise ValueError(
            "per_row got only single numbers, so the number of rows is unknown. Pass n=, or use "
            'cost_matrix={"fn": ..., "fp": ...}, the same costs for all rows.'
        )
    return sizes.pop()

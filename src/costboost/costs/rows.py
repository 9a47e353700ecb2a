"""Costs of single rows as an array that remembers what its entries are of."""

from __future__ import annotations

from typing import Any

import numpy as np


class RowCosts(np.ndarray[Any, np.dtype[np.float64]]):
    """Costs of single rows, shape (n, k, d), that remember what they are of; see `per_row`.

    Where they are used as ``costs``, they are put into the order of the classes. Slices, copies and
    joined arrays remember it too, so the array may be cut into folds. An array whose classes or
    decisions were moved is refused. ``numpy.asarray`` forgets all labels.

    Attributes
    ----------
    positive : label or None
        The positive class of costs of two classes, whose index is 1; None is the second of {0, 1},
        {False, True} or {-1, 1}.
    labels : tuple of two lists, or None
        The classes and the decisions, if pairs of them were named.
    classes : list or None
        All classes, if they were named, so that costs are found where labels are encoded.
    """

    positive: Any
    labels: tuple[list[Any], list[Any]] | None
    classes: list[Any] | None
    index: Any  # that of the prices `per_row` was given; parts of the array have none
    # Strides of the axes of classes and decisions where they are in their order; None if they may
    # have been moved. A view keeps its memory, so transposed or reversed axes have other strides.
    _strides: tuple[int, ...] | None

    def __array_finalize__(self, obj: Any) -> None:
        self.positive = getattr(obj, "positive", None)
        self.labels = getattr(obj, "labels", None)
        self.classes = getattr(obj, "classes", None)
        self.index = None
        self._strides = self.strides[-2:]
        if isinstance(obj, RowCosts):
            if np.may_share_memory(self, obj):
                self._strides = obj._strides
            elif not obj.is_in_order:
                self._strides = None

    @property
    def is_in_order(self) -> bool:
        """Whether the last two axes are those of the classes and the decisions, as named."""
        return self._strides == self.strides[-2:]

    def __getitem__(self, key: Any) -> Any:
        part = super().__getitem__(key)
        has_arrays = isinstance(key, tuple) and any(np.ndim(k) for k in key[1:] if k is not None)
        if has_arrays and isinstance(part, RowCosts):
            part._strides = None
        return part

    def __array_function__(self, func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        result = super().__array_function__(func, types, args, kwargs)
        if func is not np.concatenate:
            return result
        for part in args[0]:
            if not isinstance(part, RowCosts) or part.names != self.names:
                raise ValueError(
                    "Costs of rows with other positive classes or labels, or without them, cannot "
                    "be joined."
                )
        joined = result.view(RowCosts)
        joined.positive, joined.labels, joined.classes = self.names
        if not all(part.is_in_order for part in args[0]):
            joined._strides = None
        return joined

    @property
    def names(self) -> tuple[Any, Any, Any]:
        """What the costs are of: `positive`, `labels` and `classes`."""
        return self.positive, self.labels, self.classes

    def __reduce__(self) -> Any:
        rebuilt: Any = super().__reduce__()
        return rebuilt[0], rebuilt[1], (rebuilt[2], self.names, self.is_in_order)

    def __setstate__(self, state: Any) -> None:
        values, names, is_in_order = state
        super().__setstate__(values)
        self.positive, self.labels, self.classes = names
        self._strides = self.strides[-2:] if is_in_order else None

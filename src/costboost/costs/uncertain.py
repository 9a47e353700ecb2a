"""Costs that are not known exactly: intervals and samples in place of numbers.

An entry of a cost matrix, or a whole matrix, may be an interval or a list of possible values:

>>> from costboost.costs import Costs, interval, samples, scenarios
>>> from costboost.decisions import cheapest
>>> found = scenarios({"fn": interval(100, 300), "fp": 5})
>>> found.expected
{'fn': 200.0, 'fp': 5}
>>> found.worst
[{'fn': 300.0, 'fp': 5}]

Samples belong together: scenario s takes the s-th value of every sampled entry. The expected cost
of a decision is linear in the costs, so minimising it needs their means only, ``expected``. The
worst cost needs all scenarios:

>>> found = scenarios({"fn": samples([10, 40]), "fp": samples([9, 1])})
>>> cases = [Costs.resolve(form, classes=[0, 1]) for form in found.worst]
>>> Costs.resolve(found.expected, classes=[0, 1]).decide([[0.825, 0.175]])
array([1])
>>> cheapest(np.max([case.expected([[0.825, 0.175]]) for case in cases], axis=0))
array([0])
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from costboost._typing import Floats
from costboost.costs.forms import NAMING_KEYS, Uncertain, as_floats, is_frame, object_array
from costboost.costs.labels import listed, parameter


@dataclass(frozen=True, eq=False, repr=False)
class Interval(Uncertain):
    """Costs known up to bounds; made by `interval`.

    Parameters
    ----------
    low, high : float arrays of one shape
        The bounds; of shape () for one entry.
    """

    low: Floats
    high: Floats

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the costs; () for one entry of a matrix."""
        return self.low.shape

    @property
    def mean(self) -> Floats:
        """The midpoint."""
        return np.asarray(0.5 * self.low + 0.5 * self.high)

    def draws(self, n: int) -> list[Floats]:
        """The upper end, in each of n scenarios."""
        return [self.high] * n

    def __repr__(self) -> str:
        if self.ndim:
            return f"<interval of shape {self.shape}>"
        return f"interval({self.low:g}, {self.high:g})"


@dataclass(frozen=True, eq=False, repr=False)
class Samples(Uncertain):
    """Possible values of costs, all equally likely; made by `samples`.

    Parameters
    ----------
    values : float array of shape (S,) for one entry, or (S, ...)
        The values.
    """

    values: Floats

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the costs; () for one entry of a matrix."""
        return self.values.shape[1:]

    @property
    def mean(self) -> Floats:
        """The mean of the values."""
        return np.asarray(self.values.mean(axis=0))

    def draws(self, n: int) -> list[Floats]:
        """The values, one per scenario."""
        return list(self.values[:n])

    def __repr__(self) -> str:
        if self.ndim:
            return f"<{len(self.values)} samples of shape {self.shape}>"
        shown = ", ".join(f"{value:g}" for value in self.values[:4])
        return f"samples([{shown}{', ...' if len(self.values) > 4 else ''}])"


def interval(low: ArrayLike, high: ArrayLike) -> Interval:
    """Costs between two bounds.

    The expected cost takes the midpoint, the worst cost the upper end.

    Parameters
    ----------
    low, high : float, or array of shape (k, d) or (n, k, d)
        The bounds of one entry, of a whole matrix, or of a matrix per row.

    Returns
    -------
    Interval
        An entry of a cost matrix, or a whole one.

    Examples
    --------
    >>> interval(100, 300)
    interval(100, 300)
    >>> interval([[0, 1], [10, 0]], [[0, 2], [40, 0]]).mean
    array([[ 0. ,  1.5],
           [25. ,  0. ]])
    """
    bounds = [_checked(value, name, "interval") for name, value in (("low", low), ("high", high))]
    if bounds[0].shape != bounds[1].shape and all(bound.ndim for bound in bounds):
        raise ValueError(
            "The 'low' and 'high' parameters of interval must have one shape, got "
            f"{bounds[0].shape} and {bounds[1].shape}."
        )
    lower, upper = np.broadcast_arrays(*bounds)
    if (lower > upper).any():
        where = tuple(int(i) for i in np.argwhere(lower > upper)[0])
        raise ValueError(
            "The 'low' parameter of interval must not exceed 'high', got "
            f"{lower[where]:g} > {upper[where]:g}{f' at {where}' if where else ''}. Swap them."
        )
    return Interval(lower, upper)


def samples(values: ArrayLike) -> Samples:
    """Costs that take one of several values, all equally likely.

    The values of all samples in one matrix belong together: scenario s takes the s-th of each.

    Parameters
    ----------
    values : array of shape (S,), (S, k, d) or (S, n, k, d)
        S values of one entry, of a whole matrix, or of a matrix per row.

    Returns
    -------
    Samples
        An entry of a cost matrix, or a whole one.

    Examples
    --------
    >>> samples([90, 120, 700]).mean
    array(303.33333333)
    """
    array = _checked(values, "values", "samples")
    if array.ndim == 0 or not len(array):
        raise ValueError(
            f"The 'values' parameter of samples must hold at least one sample along its first "
            f"axis, got shape {array.shape}. Pass a list of values."
        )
    return Samples(array)


def _checked(value: Any, name: str, owner: str) -> Floats:
    """A finite, read-only copy as floats."""
    if is_frame(value) or isinstance(value, Mapping):
        raise TypeError(
            f"{parameter(name, owner)} must be a number or an array, got {type(value).__name__}, "
            f"whose labels would be lost. Write {owner}(...) as the entries of it."
        )
    array = as_floats(value, name, owner).copy()
    if not np.isfinite(array).all():
        raise ValueError(
            f"{parameter(name, owner)} must be finite, got {array[~np.isfinite(array)].flat[0]}."
        )
    array.flags.writeable = False
    return array


class Scenarios:
    """What uncertain costs may be; the result of `scenarios`.

    Every form here is one that `Costs.resolve` takes, in the place (``cost_matrix`` or ``costs``)
    of the form it came from; those of a function that was called are arrays with a matrix per row,
    for ``costs``.

    Parameters
    ----------
    expected : any form of costs
        The costs, every uncertain entry replaced by its mean.
    worst : sequence of forms of costs, or None
        One form per scenario; None if the scenarios are unknown.
    is_uncertain : bool
        Whether an entry is uncertain; False for a function that was not called.
    """

    def __init__(self, expected: Any, worst: Sequence[Any] | None, *, is_uncertain: bool) -> None:
        self.expected = expected
        self.is_uncertain = is_uncertain
        self._worst = worst

    @property
    def worst(self) -> list[Any]:
        """One form per scenario: the s-th value of all samples, intervals at their upper ends.

        The worst cost over intervals needs no other corner. For probabilities p >= 0 the expected
        cost of decision d, sum_j p_j C[j, d], does not fall when any C[j, d] grows. So over all
        matrices between the bounds it is largest at the upper ends, for every p and for all d at
        once: one matrix serves for all decisions.
        """
        if self._worst is None:
            raise ValueError(
                "The worst of scenarios(cost_matrix) is unknown, because cost_matrix is a function "
                "of the features X. Call scenarios(cost_matrix, X)."
            )
        return list(self._worst)


def _mean_of(function: Callable[[Any], Any], X: Any) -> Any:
    """What a function of X returns, uncertain costs replaced by their means."""
    return scenarios(function(X)).expected


def scenarios(cost_matrix: Any, X: Any = None) -> Scenarios:
    """Split uncertain costs into certain ones: their mean, and every scenario.

    Parameters
    ----------
    cost_matrix : any form of `Costs.resolve`, or an Interval or Samples
        Costs, for all rows or for single ones. Values of a mapping and cells of an array or frame
        may be intervals or samples; a value ``(low, high)`` of a mapping is an interval. All
        samples in it must have the same number of values.
    X : table, optional
        The features, to call a `cost_matrix` that is a function. Without them it stays a function
        (of the mean costs), and ``worst`` is unknown.

    Returns
    -------
    Scenarios
        The mean costs and the scenarios; certain costs are their own mean and only scenario.

    Examples
    --------
    >>> found = scenarios([[0, interval(2, 4)], [samples([10, 60]), 0]])
    >>> found.expected
    array([[0, 3.0],
           [35.0, 0]], dtype=object)
    >>> [float(form[1, 0]) for form in found.worst]
    [10.0, 60.0]
    """
    if callable(cost_matrix):
        if X is None:
            return Scenarios(partial(_mean_of, cost_matrix), None, is_uncertain=False)
        return scenarios(cost_matrix(X))
    start = parameter("cost_matrix", "scenarios")
    if isinstance(cost_matrix, Interval | Samples):
        if cost_matrix.ndim == 0:
            raise ValueError(
                f"{start} must be a matrix, got the single entry {cost_matrix!r}. Put it into one, "
                f'as in {{"fn": {cost_matrix!r}, "fp": 1}}.'
            )
        n = len(cost_matrix.values) if isinstance(cost_matrix, Samples) else 1
        return Scenarios(cost_matrix.mean, cost_matrix.draws(n), is_uncertain=True)
    cells = _cells(cost_matrix)
    entries = [cell for cell in cells if isinstance(cell, Interval | Samples)]
    if not entries:
        return Scenarios(cost_matrix, [cost_matrix], is_uncertain=False)
    for cell in entries:
        if cell.ndim:
            raise ValueError(
                f"{start} must hold single uncertain numbers as its entries, got {cell!r}. Pass "
                "numbers to interval and a flat list to samples, or the whole matrix as one."
            )
    lengths = sorted({len(entry.values) for entry in entries if isinstance(entry, Samples)})
    if len(lengths) > 1:
        raise ValueError(
            f"{start} must hold samples of one length, because the s-th values of all belong "
            f"together; got the lengths {listed(lengths)}."
        )
    n = lengths[0] if lengths else 1
    # Of each cell its mean and its value in every scenario.
    values = [
        [float(x) for x in (cell.mean, *cell.draws(n))]
        if isinstance(cell, Interval | Samples)
        else [cell] * (n + 1)
        for cell in cells
    ]
    expected, *worst = (_refilled(cost_matrix, list(case)) for case in zip(*values, strict=True))
    return Scenarios(expected, worst, is_uncertain=True)


def _cells(form: Any) -> list[Any]:
    """The cells that may be uncertain, pairs as intervals; none for an array of plain numbers."""
    if isinstance(form, Mapping):
        return [
            interval(*value) if isinstance(value, tuple) and len(value) == 2 else value
            for key, value in form.items()
            if key not in NAMING_KEYS
        ]
    array = form.to_numpy() if is_frame(form) else form
    has_cells = isinstance(array, list | tuple | np.ndarray)
    cells = object_array(array) if has_cells else np.empty(0)
    return list(cells.flat) if cells.dtype == object else []


def _refilled(form: Any, cells: list[Any]) -> Any:
    """The same form with other cells."""
    if isinstance(form, Mapping):
        given = iter(cells)
        return {key: v if key in NAMING_KEYS else next(given) for key, v in form.items()}
    table = np.empty(len(cells), dtype=object)
    table[:] = cells
    table = table.reshape(np.shape(form))
    if not is_frame(form):
        return table
    if hasattr(form, "index"):
        return type(form)(table, index=form.index, columns=form.columns)
    # A polars column holds one type: numbers as floats.
    columns = [
        [float(x) if isinstance(x, int | float) else x for x in column] for column in table.T
    ]
    return type(form)(dict(zip(form.columns, columns, strict=True)))

"""Costs that are not known exactly: intervals and samples in place of numbers.

An entry of a cost matrix may be an interval or a list of possible values:

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

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from costboost._typing import Floats
from costboost.costs.forms import Uncertain, as_floats, cells_in, is_frame, object_array
from costboost.costs.labels import listed, parameter


@dataclass(frozen=True, eq=False, repr=False)
class Interval(Uncertain):
    """A cost known up to bounds; made by `interval`.

    Parameters
    ----------
    low, high : float arrays of shape () or (n,)
        The bounds, for all rows or for each.
    """

    low: Floats
    high: Floats

    @property
    def ndim(self) -> int:
        """1 if each row has its own bounds, else 0."""
        return self.low.ndim

    @property
    def mean(self) -> Floats:
        """The midpoint."""
        return np.asarray(0.5 * self.low + 0.5 * self.high)

    def draw(self, scenario: int) -> Floats:
        """The upper end, in any scenario."""
        return self.high

    def __repr__(self) -> str:
        if self.ndim:
            return f"<interval of {len(self.low)} rows>"
        return f"interval({self.low:g}, {self.high:g})"


@dataclass(frozen=True, eq=False, repr=False)
class Samples(Uncertain):
    """Possible values of a cost, all equally likely; made by `samples`.

    Parameters
    ----------
    values : float array of shape (S,) or (S, n)
        The values, for all rows or for each.
    """

    values: Floats

    @property
    def ndim(self) -> int:
        """1 if each row has its own values, else 0."""
        return self.values.ndim - 1

    @property
    def mean(self) -> Floats:
        """The mean of the values."""
        return np.asarray(self.values.mean(axis=0))

    def draw(self, scenario: int) -> Floats:
        """The value in a scenario."""
        return np.asarray(self.values[scenario])

    def __repr__(self) -> str:
        if self.ndim:
            return f"<{len(self.values)} samples of {self.values.shape[1]} rows>"
        shown = ", ".join(f"{value:g}" for value in self.values[:4])
        return f"samples([{shown}{', ...' if len(self.values) > 4 else ''}])"


def interval(low: ArrayLike, high: ArrayLike) -> Interval:
    """A cost between two bounds.

    The expected cost takes the midpoint, the worst cost the upper end.

    Parameters
    ----------
    low, high : float, or array of shape (n,)
        The bounds, for all rows or for each.

    Returns
    -------
    Interval
        An entry of a cost matrix.

    Examples
    --------
    >>> interval(100, 300)
    interval(100, 300)
    >>> interval([20, 80], 100).mean
    array([60., 90.])
    """
    lower, upper = np.broadcast_arrays(
        _checked(low, "low", "interval"), _checked(high, "high", "interval")
    )
    if (lower > upper).any():
        raise ValueError(
            "The 'low' parameter of interval must not exceed 'high', got "
            f"{lower[lower > upper].flat[0]:g} > {upper[lower > upper].flat[0]:g}. Swap them."
        )
    return Interval(lower, upper)


def samples(values: ArrayLike) -> Samples:
    """A cost that takes one of several values, all equally likely.

    The values of all samples in one matrix belong together: scenario s takes the s-th of each.

    Parameters
    ----------
    values : array of shape (S,) or (S, n)
        S values, for all rows or for each.

    Returns
    -------
    Samples
        An entry of a cost matrix.

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
    if hasattr(value, "to_numpy"):
        raise TypeError(
            f"{parameter(name, owner)} must be a number or an array, got {type(value).__name__}, "
            "whose labels would be lost. Pass .to_numpy() if its order is that of the rows."
        )
    array = as_floats(value, name, owner).copy()
    if not np.isfinite(array).all():
        raise ValueError(
            f"{parameter(name, owner)} must be finite, got {array[~np.isfinite(array)].flat[0]}."
        )
    array.flags.writeable = False
    return array


class Scenarios(NamedTuple):
    """What uncertain costs may be; the result of `scenarios`.

    Every form here is one that `Costs.resolve` takes, in the place (``cost_matrix`` or ``costs``)
    of the form it came from.

    Parameters
    ----------
    expected : any form of costs
        The costs, every uncertain entry replaced by its mean.
    worst : list of forms of costs
        One form per scenario: the s-th value of all samples, intervals at their upper ends. The
        worst cost over intervals needs no other corner. For probabilities p >= 0 the expected cost
        of decision d, sum_j p_j C[j, d], does not fall when any C[j, d] grows. So over all
        matrices between the bounds it is largest at the upper ends, for every p and for all d at
        once: one matrix serves for all decisions.
    is_uncertain : bool
        Whether an entry is uncertain.
    """

    expected: Any
    worst: list[Any]
    is_uncertain: bool


def scenarios(cost_matrix: Any) -> Scenarios:
    """Split uncertain costs into certain ones: their mean, and every scenario.

    Parameters
    ----------
    cost_matrix : any form of `Costs.resolve`
        Costs, for all rows or for single ones. Values of a mapping and cells of an array or frame
        may be intervals or samples. All samples in it must have the same number of values.

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
    entries = [cell for cell in cells_in(cost_matrix) if isinstance(cell, Interval | Samples)]
    if not entries:
        return Scenarios(cost_matrix, [cost_matrix], is_uncertain=False)
    lengths = sorted({len(entry.values) for entry in entries if isinstance(entry, Samples)})
    if len(lengths) > 1:
        raise ValueError(
            f"{parameter('cost_matrix', 'scenarios')} must hold samples of one length, because the "
            f"s-th values of all belong together; got the lengths {listed(lengths)}."
        )
    worst = [_certain(cost_matrix, s) for s in range(lengths[0] if lengths else 1)]
    return Scenarios(_certain(cost_matrix), worst, is_uncertain=True)


def _certain(form: Any, scenario: int | None = None) -> Any:
    """The same form, each uncertain cell replaced by its value in a scenario, or by its mean."""

    def certain(cell: Any) -> Any:
        if not isinstance(cell, Interval | Samples):
            return cell
        value = cell.mean if scenario is None else cell.draw(scenario)
        return value if value.ndim else float(value)

    if isinstance(form, Mapping):
        return {key: certain(x) for key, x in form.items()}
    if not is_frame(form):
        return np.frompyfunc(certain, 1, 1)(object_array(form))
    if hasattr(form, "map"):  # pandas
        return form.map(certain)
    return type(form)({name: list(map(certain, form[name])) for name in form.columns}, strict=False)

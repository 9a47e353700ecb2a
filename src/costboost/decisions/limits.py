"""What users write as limits: numbers of rows, expected rates, money."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from costboost._utils import invalid, is_integer, is_real
from costboost.costs.labels import grouped, of_length, parameter, position
from costboost.decisions.arrays import column_labels, finite

# A share of rows is a product of floats: 0.29 * 100 is 28.999999999999996 and means 29.
ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Rate:
    """A limit on the expected share of a class that gets certain decisions.

    The rate is ``sum of p(given) over the rows with these decisions / sum of p(given) over all
    rows``, with the model's probabilities p. It is the rate expected if the model is calibrated.

    Parameters
    ----------
    decisions : label or sequence of labels
        The decisions that count, such as ``["review", "block"]`` for detections.
    given : label
        The true class, such as ``"fraud"`` for detections or ``"ok"`` for false alarms.
    at_least, at_most : float, optional
        The limits, from 0 to 1; at least one of them.

    See Also
    --------
    Budget : A limit on money.
    costboost.TargetRateClassifier : A rate of one classifier, with a guarantee.

    Examples
    --------
    >>> from costboost.decisions import allocate, read_limits
    >>> proba = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]])
    >>> expected_cost = proba @ np.array([[0, 4], [6, 0]])
    >>> catch = Rate("block", given="fraud", at_least=0.85)
    >>> limits = read_limits(
    ...     constraints=catch, decisions=["ok", "block"], proba=proba, classes=["ok", "fraud"]
    ... )
    >>> allocate(expected_cost, limits)[0]
    array([0, 1, 1])
    """

    decisions: Any
    given: Any
    at_least: float | None = None
    at_most: float | None = None


@dataclass(frozen=True, eq=False)
class Budget:
    """A limit on the money that certain decisions may cost together.

    Parameters
    ----------
    decisions : label or sequence of labels
        The decisions that count, such as ``"review"``.
    at_most : float
        The budget.
    amount : float or array of shape (n,), optional
        What such a decision takes from the budget on each row, not negative; by default its
        expected cost.

    See Also
    --------
    Rate : A limit on a rate.

    Examples
    --------
    >>> from costboost.decisions import allocate, read_limits
    >>> expected_cost = [[10, 4], [2, 4], [50, 4], [30, 4]]
    >>> hours = Budget("review", at_most=3.0, amount=[2.0, 1.0, 2.0, 1.0])
    >>> limits = read_limits(constraints=hours, decisions=["accept", "review"])
    >>> allocate(expected_cost, limits)[0]
    array([0, 0, 1, 1])
    """

    decisions: Any
    at_most: float
    amount: Any = None


@dataclass(frozen=True, eq=False)
class CountLimit:
    """How many rows of each group may get one decision."""

    name: Any  # the label of the decision
    decision: int
    limit: Any  # a number of rows, a share, a pair of them, or a mapping of groups to such limits

    def bounds(
        self, sizes: np.ndarray, names: list[Any] | None = None, *, periods: int = 1
    ) -> tuple[np.ndarray, np.ndarray]:
        """Return the fewest and the most rows in groups of these sizes.

        `periods` is the number of groups that share these rows: it multiplies counts.
        """
        if not isinstance(self.limit, Mapping):
            return self._range(self.limit, sizes, periods)
        if names is None:
            raise self._lacks_group("any")
        low = np.zeros_like(sizes)
        high = np.zeros_like(sizes)
        for index, name in enumerate(names):
            if name not in self.limit:
                raise self._lacks_group(name)
            low[index], high[index] = self._range(self.limit[name], sizes[index], periods)
        return low, high

    def _range(self, limit: Any, sizes: Any, periods: int) -> tuple[Any, Any]:
        at_least = 0
        at_most = limit
        if isinstance(limit, tuple | list) and len(limit) == 2:
            at_least, at_most = limit
        low = np.zeros_like(sizes)
        if at_least is not None:
            low = self._rows(at_least, sizes, periods, is_upper=False)
        high = sizes
        if at_most is not None:
            high = self._rows(at_most, sizes, periods, is_upper=True)
        return low, np.minimum(high, sizes)

    def _rows(self, limit: Any, sizes: Any, periods: int, *, is_upper: bool) -> np.ndarray:
        """Return a count as it is, and a share in whole rows on the side that keeps the limit."""
        if not is_real(limit) or limit < 0 or (limit > 1 and limit != int(limit)):
            raise invalid(
                "capacity",
                "decide",
                f"must have for {self.name!r} a number of rows (200), a share from 0.0 to 1.0, or "
                f"a pair (lower, upper) of them; got {limit!r}.",
            )
        if is_integer(limit) or limit > 1:
            return np.full_like(sizes, int(limit) * periods)
        if is_upper:
            return np.floor(limit * sizes + ROUNDING).astype(np.intp)
        return np.ceil(limit * sizes - ROUNDING).astype(np.intp)

    def _lacks_group(self, name: Any) -> ValueError:
        return invalid(
            "capacity",
            "decide",
            f"has for {self.name!r} limits per group, and none of the group {name!r}. "
            "Pass per=, and limits of all groups.",
        )


@dataclass(frozen=True, eq=False)
class SumLimit:
    """A limit on the sum of an amount over the rows that get certain decisions."""

    name: str
    counted: np.ndarray  # (d,), 1 for the decisions that count, else 0
    amount: np.ndarray | None  # (n,), what each row adds; None: the expected cost of its decision
    at_least: float = -np.inf
    at_most: float = np.inf
    is_rate: bool = False  # the limits are shares of the amount of all rows

    def added(self, expected_cost: np.ndarray) -> np.ndarray:
        """Return what each row adds with each decision, (n, d)."""
        if self.amount is None:
            return expected_cost * self.counted
        if self.amount.ndim:
            of_length(self.amount, len(expected_cost), "constraints", "decide")
        return np.broadcast_to(self.amount, len(expected_cost))[:, None] * self.counted

    def whole(self, rows: np.ndarray) -> float:
        """Return what the sum over these rows is divided by."""
        if self.is_rate and self.amount is not None:
            return float(self.amount[rows].sum())
        return 1.0


@dataclass(frozen=True, eq=False)
class FixedPrices:
    """Prices of the decisions that kept the limits of an earlier batch."""

    prices: np.ndarray  # (d,), infinite for a decision that is closed


Limit = CountLimit | SumLimit | FixedPrices


def read_limits(
    capacity: Mapping[Any, Any] | None = None,
    constraints: Sequence[Rate | Budget] | Rate | Budget | None = (),
    prices: ArrayLike | None = None,
    decisions: ArrayLike = (),
    *,
    proba: ArrayLike | None = None,
    classes: ArrayLike | None = None,
) -> list[Limit]:
    """Check limits as users write them; `allocate` keeps them.

    Parameters
    ----------
    capacity : mapping of decision to limit, optional
        How many rows may get a decision: an integer is a number of rows, a float from 0 to 1 a
        share of the rows, a pair ``(lower, upper)`` has both ends (None is no limit). A mapping of
        group to limit gives every group its own.
    constraints : Rate, Budget or sequence of them, optional
        Limits on expected rates and on sums of money.
    prices : array of shape (d,), optional
        Prices of the decisions by `capacity_prices`, for rows that arrive one by one.
    decisions : array of shape (d,)
        Labels of the decisions, in the order of the columns of the expected costs.
    proba : array of shape (n, k), optional
        Probability of each class; needed by `Rate`.
    classes : array of shape (k,), optional
        Labels of the classes; needed by `Rate` if they are not 0, 1, ...

    Returns
    -------
    list of Limit
        The limits.
    """
    labels = column_labels(decisions, np.size(decisions), "decisions", "decide")
    limits: list[Limit] = []
    if capacity is not None:
        if not isinstance(capacity, Mapping):
            rule = "must be a mapping of decisions to limits, such as {'review': 200}"
            problem = f"{parameter('capacity', 'decide')} {rule}; got {type(capacity).__name__}."
            raise TypeError(problem)
        for label, limit in capacity.items():
            decision = position(label, labels, "decisions", "capacity", "decide")
            limits.append(CountLimit(label, decision, limit))
    if constraints is None:
        constraints = ()
    if isinstance(constraints, Rate | Budget):
        constraints = [constraints]
    for constraint in constraints:
        if isinstance(constraint, Rate):
            limits.append(_rate_limit(constraint, labels, proba, classes))
        elif isinstance(constraint, Budget):
            limits.append(_budget_limit(constraint, labels))
        else:
            rule = f"must hold Rate(...) and Budget(...), got {type(constraint).__name__}"
            problem = f"{parameter('constraints', 'decide')} {rule}"
            raise TypeError(f"{problem}. Limits on numbers of rows are capacity=.")
    if prices is not None:
        limits.append(_fixed_prices(prices, labels))
    return limits


def _counted(constraint: Rate | Budget, labels: np.ndarray) -> tuple[np.ndarray, str]:
    """Return which decisions count, and their names in words."""
    names = [constraint.decisions]
    if isinstance(constraint.decisions, list | tuple | set | np.ndarray):
        names = list(constraint.decisions)
    counted = np.zeros(len(labels))
    for name in names:
        counted[position(name, labels, "decisions", "constraints", "decide")] = 1.0
    return counted, " or ".join(str(name) for name in names)


def _rate_limit(
    rate: Rate, labels: np.ndarray, proba: ArrayLike | None, classes: ArrayLike | None
) -> SumLimit:
    counted, words = _counted(rate, labels)
    ends = [end for end in (rate.at_least, rate.at_most) if end is not None]
    are_shares = all(is_real(end) and 0 <= end <= 1 for end in ends)
    if not ends or not are_shares or ends != sorted(ends):
        rule = "needs at_least= or at_most= from 0 to 1, or both, the lower limit first"
        raise ValueError(f"Rate {rule}; got {rate.at_least!r} and {rate.at_most!r}.")
    p = np.asarray(() if proba is None else proba, dtype=np.float64)
    if p.ndim != 2:
        rule = "must have shape (n, k), because constraints have a Rate"
        raise invalid("proba", "decide", f"{rule}; got shape {p.shape}.")
    finite(p, "proba", "decide")
    class_labels = column_labels(classes, p.shape[1], "classes", "decide")
    column = position(rate.given, class_labels, "classes", "constraints", "decide")
    return SumLimit(
        name=f"rate of {words} given {rate.given}",
        counted=counted,
        amount=p[:, column],
        at_least=-np.inf if rate.at_least is None else float(rate.at_least),
        at_most=np.inf if rate.at_most is None else float(rate.at_most),
        is_rate=True,
    )


def _budget_limit(budget: Budget, labels: np.ndarray) -> SumLimit:
    counted, words = _counted(budget, labels)
    if not is_real(budget.at_most):
        raise invalid("at_most", "Budget", f"must be a finite number, got {budget.at_most!r}.")
    amount = None
    if budget.amount is not None:
        amount = finite(np.asarray(budget.amount, dtype=np.float64), "amount", "Budget")
        if (amount < 0).any():
            raise invalid("amount", "Budget", f"must not be negative, got {amount.min()}.")
    return SumLimit(f"total of {words}", counted, amount, at_most=float(budget.at_most))


def _fixed_prices(prices: ArrayLike, labels: np.ndarray) -> FixedPrices:
    values = np.asarray(prices, dtype=np.float64)
    if values.shape != labels.shape or not (values > -np.inf).all():
        raise invalid(
            "prices",
            "decide",
            f"must be one number for each of the decisions {labels.tolist()!r:.200}, got "
            f"{values.tolist()!r:.100}. Take them from costboost.decisions.capacity_prices.",
        )
    return FixedPrices(values)


def read_groups(groups: Any, n_rows: int) -> tuple[list[Any] | None, np.ndarray]:
    """Return the names of the groups, None if there are none, and the group of each row."""
    if groups is None:
        return None, np.zeros(n_rows, np.intp)
    names, group = grouped(groups, n_rows, "per", "decide")
    return names.tolist(), group


def count_bounds(
    limits: Sequence[Limit],
    n_decisions: int,
    sizes: np.ndarray,
    names: list[Any] | None = None,
    *,
    periods: int = 1,
) -> tuple[np.ndarray, np.ndarray]:
    """Return the fewest and the most rows of each decision in each group, both (groups, d)."""
    low = np.zeros((len(sizes), n_decisions), np.intp)
    high = np.repeat(sizes[:, None], n_decisions, axis=1)
    limited = [limit for limit in limits if isinstance(limit, CountLimit)]
    for count_limit in limited:
        j = count_limit.decision
        low[:, j], high[:, j] = count_limit.bounds(sizes, names, periods=periods)
    for limit in limits:
        if isinstance(limit, FixedPrices):
            high[:, np.isinf(limit.prices)] = 0  # the price of a limit of 0
    is_wrong = (low > high).any(axis=1)
    is_wrong |= (low.sum(axis=1) > sizes) | (high.sum(axis=1) < sizes)
    if is_wrong.any():
        group = int(is_wrong.argmax())
        where = ""
        if names is not None:
            where = f" of the group {names[group]!r}"
        ends = {
            limit.name: (int(low[group, limit.decision]), int(high[group, limit.decision]))
            for limit in limited
        }
        raise invalid(
            "capacity",
            "decide",
            f"is infeasible: {sizes[group]} rows{where} cannot have these numbers of decisions "
            f"(fewest, most): {ends}. Relax a limit.",
        )
    return low, high

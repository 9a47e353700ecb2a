"""What users write as limits: numbers of rows, expected rates, money."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from costboost._typing import AnyArray, Floats, Ints
from costboost._utils import invalid, is_integer, is_real
from costboost.costs.labels import grouped, of_length, parameter, position
from costboost.decisions.arrays import column_labels, column_of, finite

# -- What users write as capacity, as bounds on the number of rows of each decision --------------


# A share of rows is a product of floats: 0.29 * 100 is 28.999999999999996 and means 29.
_ROUNDING = 1e-9


def groups_of(per: Any, n: int, owner: str, X: Any) -> tuple[list[Any] | None, Ints]:
    """Names of the groups, None if there are none, and the group of each row."""
    if per is None:
        return None, np.zeros(n, np.intp)
    names, group = grouped(column_of(per, X, "per", owner), n, "per", owner)
    return names.tolist(), group


def bounds(
    capacity: Any,
    decisions: AnyArray,
    sizes: Ints,
    owner: str,
    *,
    names: list[Any] | None = None,
    periods: int = 1,
) -> tuple[Ints, Ints]:
    """Fewest and most rows of each decision in each group, both (groups, d)."""
    # `periods` multiplies counts: it is the number of groups that share these rows.
    if capacity is not None and not isinstance(capacity, Mapping):
        rule = "must be a mapping of decisions to limits, such as {'review': 200}"
        raise TypeError(f"{parameter('capacity', owner)} {rule}; got {type(capacity).__name__}.")
    d = len(decisions)
    lower, upper = np.zeros((len(sizes), d), np.intp), np.repeat(sizes[:, None], d, axis=1)
    for label, limit in (capacity or {}).items():
        j, own = position(label, decisions, "decisions", "capacity", owner), [(slice(None), limit)]
        if isinstance(limit, Mapping):
            absent = [name for name in names or ["any"] if name not in limit]
            if names is None or absent:
                problem = f"has for {label!r} limits per group, and none of the group {absent[0]!r}"
                raise invalid("capacity", owner, f"{problem}. Pass per=, and limits of all groups.")
            own = [(slice(g, g + 1), limit[name]) for g, name in enumerate(names)]
        for at, one in own:
            lower[at, j], upper[at, j] = _range(one, sizes[at], periods, label, owner)
    is_wrong = (lower > upper).any(axis=1)
    is_wrong |= (lower.sum(axis=1) > sizes) | (upper.sum(axis=1) < sizes)
    for g in np.flatnonzero(is_wrong).tolist():
        where = "" if names is None else f" of the group {names[g]!r}"
        ends = zip(lower[g].tolist(), upper[g].tolist(), strict=True)
        asked = dict(zip(decisions.tolist(), ends, strict=True))
        problem = f"is infeasible: {sizes[g]} rows{where} cannot have these numbers of decisions"
        raise invalid("capacity", owner, f"{problem} (fewest, most): {asked}. Relax a limit.")
    return lower, upper


def _range(limit: Any, sizes: Ints, periods: int, label: Any, owner: str) -> tuple[Ints, Ints]:
    """Fewest and most rows of one decision in groups of these sizes."""
    least, most = limit if isinstance(limit, tuple | list) and len(limit) == 2 else (None, limit)
    lower = _count(0 if least is None else least, sizes, periods, np.ceil, label, owner)
    upper = sizes if most is None else _count(most, sizes, periods, np.floor, label, owner)
    return lower, np.minimum(upper, sizes)


def _count(limit: Any, sizes: Ints, periods: int, whole: Any, label: Any, owner: str) -> Ints:
    """A count as it is, a share in rows."""
    if is_real(limit) and limit >= 0 and (limit <= 1 or limit == int(limit)):
        if is_integer(limit) or limit > 1:
            return np.full_like(sizes, int(limit) * periods)
        rounding = _ROUNDING if whole is np.floor else -_ROUNDING
        return np.asarray(whole(limit * sizes + rounding), dtype=np.intp)
    rule = f"must have for {label!r} a number of rows (200), a share from 0.0 to 1.0, or a pair"
    raise invalid("capacity", owner, f"{rule} (lower, upper) of them; got {limit!r}.")


# -- Limits on expected rates and on money, beside those on numbers of rows ----------------------
# Limits on counts have solutions in whole rows. Sums of probabilities or money have not: the linear
# program may split rows between decisions, at most one row per binding limit. What `allocate`
# guarantees then:
#
# 1. **Feasible.** Every constraint holds for the whole rows returned, up to rounding. The few split
#    rows and those next to a tie are decided by branch and bound; if no decisions of theirs meet
#    the limits, an error says that none were found.
# 2. **Nearly optimal, with proof.** ``Allocation.lower_bound`` is the value of the linear program's
#    dual: no decisions within the limits cost less. The difference to ``expected_cost`` is at most
#    what a few rows cost.


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
    >>> from costboost.decisions import allocate
    >>> proba = np.array([[0.9, 0.1], [0.8, 0.2], [0.3, 0.7]])
    >>> expected = proba @ np.array([[0, 4], [6, 0]])
    >>> catch = Rate("block", given="fraud", at_least=0.85)
    >>> found = allocate(
    ...     expected, ["ok", "block"], constraints=catch, proba=proba, classes=["ok", "fraud"]
    ... )
    >>> found.labels.tolist(), round(found.constraints[0]["value"], 3)
    (['ok', 'block', 'block'], 0.9)
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
    >>> from costboost.decisions import allocate
    >>> expected = [[10, 4], [2, 4], [50, 4], [30, 4]]
    >>> hours = Budget("review", at_most=3.0, amount=[2.0, 1.0, 2.0, 1.0])
    >>> allocate(expected, ["accept", "review"], constraints=hours).labels.tolist()
    ['accept', 'accept', 'review', 'review']
    """

    decisions: Any
    at_most: float
    amount: Any = None


class Sum(NamedTuple):
    """A constraint on plain arrays: a sum of coefficients (n, d), or a rate."""

    words: str
    coefficients: Floats
    low: float
    high: float
    total: Floats | None = None  # (n,), what the sum is divided by if it is a rate


def read(
    constraints: Any,
    expected: Floats,
    decisions: AnyArray,
    proba: ArrayLike | None,
    classes: ArrayLike | None,
    owner: str,
) -> list[Sum]:
    """Check constraints and write them as sums."""
    given = [constraints] if isinstance(constraints, Rate | Budget) else list(constraints or ())
    found: list[Sum] = []
    for one in given:
        if not isinstance(one, Rate | Budget):
            rule = f"must hold Rate(...) and Budget(...), got {type(one).__name__}"
            start = f"{parameter('constraints', owner)} {rule}"
            raise TypeError(f"{start}. Limits on numbers of rows are capacity=.")
        several = isinstance(one.decisions, list | tuple | set | np.ndarray)
        names = list(one.decisions) if several else [one.decisions]
        counted = np.zeros(len(decisions))
        for name in names:
            counted[position(name, decisions, "decisions", "constraints", owner)] = 1.0
        words = " or ".join(str(name) for name in names)
        if isinstance(one, Budget):
            coefficients = _taken(one, expected) * counted
            found.append(Sum(f"total of {words}", coefficients, -np.inf, float(one.at_most)))
        else:
            column = _given(one, len(expected), proba, classes, owner)
            low = -np.inf if one.at_least is None else float(one.at_least)
            high = np.inf if one.at_most is None else float(one.at_most)
            words = f"rate of {words} given {one.given}"
            found.append(Sum(words, column[:, None] * counted, low, high, column))
    return found


def _taken(one: Budget, expected: Floats) -> Floats:
    """What a decision takes from the budget on each row, (n, 1) or (n, d)."""
    if not is_real(one.at_most):
        raise invalid("at_most", "Budget", f"must be a finite number, got {one.at_most!r}.")
    if one.amount is None:
        return expected
    amount = np.asarray(one.amount, dtype=np.float64)
    if amount.ndim:
        of_length(amount, len(expected), "amount", "Budget")
    if not (finite(amount, "amount", "Budget") >= 0).all():
        raise invalid("amount", "Budget", f"must not be negative, got {amount.min()}.")
    return np.broadcast_to(amount, len(expected))[:, None]


def _given(
    one: Rate, n: int, proba: ArrayLike | None, classes: ArrayLike | None, owner: str
) -> Floats:
    """Probability of the class of a rate on each row."""
    ends = [end for end in (one.at_least, one.at_most) if end is not None]
    if not ends or not all(is_real(end) and 0 <= end <= 1 for end in ends) or ends != sorted(ends):
        rule = "needs at_least= or at_most= from 0 to 1, or both, the lower limit first"
        raise ValueError(f"Rate {rule}; got {one.at_least!r} and {one.at_most!r}.")
    p = np.empty(0) if proba is None else np.asarray(proba, dtype=np.float64)
    if p.ndim != 2 or len(p) != n:
        rule = f"must have shape ({n}, k), because constraints have a Rate"
        raise invalid("proba", owner, f"{rule}; got {None if proba is None else p.shape}.")
    labels = column_labels(classes, p.shape[1], "classes", owner)
    code = position(one.given, labels, "classes", "constraints", owner)
    return np.asarray(finite(p, "proba", owner)[:, code])

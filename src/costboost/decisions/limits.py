"""What users write as limits: numbers of rows, expected rates, money."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from costboost._typing import AnyArray, Floats, Ints
from costboost._utils import is_integer, is_real
from costboost.costs.labels import grouped, of_length, position
from costboost.decisions.arrays import column_labels, finite
from costboost.decisions.program import Limit, count_limit, dual_bound, solve, whole_rows

# -- What users write as capacity, as bounds on the number of rows of each decision --------------


# A share of rows is a product of floats: 0.29 * 100 is 28.999999999999996 and means 29.
_ROUNDING = 1e-9


def groups_of(per: Any, n: int, owner: str, X: Any) -> tuple[list[Any] | None, Ints]:
    """Names of the groups, None if there are none, and the group of each row."""
    if per is None:
        return None, np.zeros(n, np.intp)
    if isinstance(per, str):
        columns = [str(name) for name in getattr(X, "columns", ())]
        if per not in columns:
            raise ValueError(
                f"The 'per' parameter of {owner} must be the group of each row or a column of X; "
                f"got {per!r}, and X has {columns[:10] or 'no named columns'}."
            )
        per = X[per]
    names, group = grouped(per, n, "per", owner)
    return names.tolist(), group


def bounds(
    capacity: Mapping[Any, Any] | None,
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
        raise TypeError(
            f"The 'capacity' parameter of {owner} must be a mapping of decisions to limits, such "
            f"as {{'review': 200}}; got {type(capacity).__name__}."
        )
    d = len(decisions)
    lower, upper = np.zeros((len(sizes), d), np.intp), np.repeat(sizes[:, None], d, axis=1)
    for label, limit in (capacity or {}).items():
        j = position(label, decisions, "decisions", "capacity", owner)
        for at, own in _by_group(label, limit, names, owner):
            lower[at, j], upper[at, j] = _range(own, sizes[at], periods, label, owner)
    asked, room = lower.sum(axis=1), upper.sum(axis=1)
    for g in np.flatnonzero((asked > sizes) | (room < sizes)).tolist():
        where = "" if names is None else f" of the group {names[g]!r}"
        problem = f"its lower limits ask for {asked[g]} rows and there are {sizes[g]}{where}. Lower"
        if asked[g] <= sizes[g]:
            limits = dict(zip(decisions.tolist(), upper[g].tolist(), strict=True))
            problem = (
                f"all decisions are limited, {limits}, together to {room[g]} of {sizes[g]} rows"
                f"{where}. Raise"
            )
        raise ValueError(
            f"The 'capacity' parameter of {owner} is infeasible: {problem} the limits, or leave "
            "one decision without."
        )
    return lower, upper


def _by_group(
    label: Any, limit: Any, names: list[Any] | None, owner: str
) -> list[tuple[slice, Any]]:
    """The limit of all groups, or that of each."""
    if not isinstance(limit, Mapping):
        return [(slice(None), limit)]
    if names is None:
        raise ValueError(
            f"The 'capacity' parameter of {owner} has for {label!r} a limit per group, and there "
            "are no groups. Pass per=, the group of each row."
        )
    if absent := [name for name in names if name not in limit]:
        raise ValueError(
            f"The 'capacity' parameter of {owner} has for {label!r} no limit of the group "
            f"{absent[0]!r} ({len(absent)} missing). Add it, or give one limit for all groups."
        )
    return [(slice(g, g + 1), limit[name]) for g, name in enumerate(names)]


def _range(limit: Any, sizes: Ints, periods: int, label: Any, owner: str) -> tuple[Ints, Ints]:
    """Fewest and most rows of one decision in groups of these sizes."""
    least, most = limit if isinstance(limit, tuple | list) and len(limit) == 2 else (None, limit)
    lower, upper = np.zeros_like(sizes), sizes
    if least is not None:
        lower = _count(least, sizes, periods, np.ceil, label, owner)
    if most is not None:
        upper = _count(most, sizes, periods, np.floor, label, owner)
    if least is not None and most is not None:
        # Two counts, or two shares, can be compared as they stand.
        swapped = is_integer(least) == is_integer(most) and bool(least > most)
        wrong = np.flatnonzero(swapped | (lower > upper))
        if len(wrong):
            g = wrong[0]
            raise ValueError(
                f"The 'capacity' parameter of {owner} has for {label!r} a lower limit above the "
                f"upper one: {least!r} > {most!r} (of {sizes[g]} rows: {lower[g]} > {upper[g]}). "
                "Swap or relax them."
            )
    return lower, np.minimum(upper, sizes)


def _count(limit: Any, sizes: Ints, periods: int, whole: Any, label: Any, owner: str) -> Ints:
    """A count as it is, a share in rows."""
    rule = (
        f"The 'capacity' parameter of {owner} must have for {label!r} a number of rows (an integer "
        "such as 200), a share of the rows (a float from 0 to 1), or a pair (lower, upper) of them"
    )
    if not (is_real(limit) or isinstance(limit, np.integer)):
        raise ValueError(f"{rule}; got {limit!r}.")
    if limit < 0:
        raise ValueError(f"{rule}; got the negative limit {limit!r}.")
    if not is_integer(limit) and limit <= 1:
        rounding = _ROUNDING if whole is np.floor else -_ROUNDING
        return np.asarray(whole(limit * sizes + rounding), dtype=np.intp)
    if limit != int(limit):
        raise ValueError(f"{rule}; got {limit!r}, which is neither a share nor a whole number.")
    return np.full_like(sizes, int(limit) * periods)


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


@dataclass(frozen=True, eq=False)
class Sum:
    """A constraint on plain arrays: a sum of coefficients (n, d), or a rate."""

    words: str
    coefficients: Floats
    low: float
    high: float
    total: Floats | None = None  # (n,), what the sum is divided by if it is a rate

    def part(self, rows: Ints) -> Sum:
        """The constraint on some of the rows."""
        total = None if self.total is None else self.total[rows]
        return replace(self, coefficients=self.coefficients[rows], total=total)

    @property
    def whole(self) -> float:
        """What the sum is divided by."""
        return 1.0 if self.total is None else float(self.total.sum())

    @property
    def limit(self) -> Limit:
        """The same on the sum itself."""
        return Limit(self.coefficients, self.low * self.whole, self.high * self.whole)


def read(
    constraints: Sequence[Rate | Budget] | Rate | Budget | None,
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
            raise TypeError(
                f"The 'constraints' parameter of {owner} must hold Rate(...) and Budget(...), got "
                f"{type(one).__name__}. Limits on numbers of rows are capacity=."
            )
        several = isinstance(one.decisions, list | tuple | set | np.ndarray)
        names = list(one.decisions) if several else [one.decisions]
        counted = np.zeros(len(decisions))
        for name in names:
            counted[position(name, decisions, "decisions", "constraints", owner)] = 1.0
        words = " or ".join(str(name) for name in names)
        if isinstance(one, Budget):
            coefficients = _budget(one, expected, counted)
            found.append(Sum(f"total of {words}", coefficients, -np.inf, float(one.at_most)))
        else:
            column = _given(one, len(expected), proba, classes, owner)
            low = -np.inf if one.at_least is None else float(one.at_least)
            high = np.inf if one.at_most is None else float(one.at_most)
            words = f"rate of {words} given {one.given}"
            found.append(Sum(words, column[:, None] * counted, low, high, column))
    return found


def _budget(one: Budget, expected: Floats, counted: Floats) -> Floats:
    """What each decision takes from the budget on each row."""
    if not is_real(one.at_most):
        raise ValueError(f"The 'at_most' of Budget must be a finite number, got {one.at_most!r}.")
    if one.amount is None:
        return np.asarray(expected * counted)
    amount = np.asarray(one.amount, dtype=np.float64)
    if amount.ndim:
        amount = of_length(amount, len(expected), "amount", "Budget")
    if not (np.isfinite(amount).all() and (amount >= 0).all()):
        raise ValueError(
            "The 'amount' of Budget must be finite and not negative, got values from "
            f"{amount.min()} to {amount.max()}."
        )
    return np.asarray(np.broadcast_to(amount, len(expected))[:, None] * counted)


def _given(
    one: Rate, n: int, proba: ArrayLike | None, classes: ArrayLike | None, owner: str
) -> Floats:
    """Probability of the class of a rate on each row."""
    if proba is None:
        raise ValueError(
            f"The 'constraints' parameter of {owner} has a Rate, which needs the probabilities of "
            "the classes. Pass proba= (and classes=)."
        )
    p = np.asarray(proba, dtype=np.float64)
    if p.ndim != 2 or len(p) != n:
        raise ValueError(
            f"The 'proba' parameter of {owner} must have shape ({n}, k), got {p.shape}."
        )
    finite(p, "proba", owner)
    for name, value in (("at_least", one.at_least), ("at_most", one.at_most)):
        if value is not None and not (is_real(value) and 0 <= value <= 1):
            raise ValueError(f"The {name!r} of Rate must be from 0 to 1, got {value!r}.")
    if one.at_least is None and one.at_most is None:
        raise ValueError("Rate needs at_least= or at_most=, got neither.")
    if one.at_least is not None and one.at_most is not None and one.at_least > one.at_most:
        raise ValueError(
            f"Rate has a lower limit above the upper one: at_least={one.at_least!r} > at_most="
            f"{one.at_most!r}. Swap or relax them."
        )
    labels = column_labels(classes, p.shape[1], "classes", owner)
    return np.asarray(p[:, position(one.given, labels, "classes", "constraints", owner)])


def constrained(
    expected: Floats, lower: Ints, upper: Ints, sums: list[Sum], group: Any, owner: str
) -> tuple[Ints, Floats, float, list[dict[str, Any]]]:
    """Decisions of one group, prices of its capacities, the lower bound, and the constraints."""
    n, d = expected.shape
    limited = np.flatnonzero((lower > 0) | (upper < n))
    counts = [
        count_limit(j, expected.shape, float(lower[j]), float(upper[j])) for j in limited.tolist()
    ]
    limits = [*counts, *(one.limit for one in sums)]
    found = solve(expected, limits)
    codes = None if found is None else whole_rows(expected, limits, found)
    if found is None or codes is None:
        where = "" if group is None else f" in the group {group!r}"
        asked = "; ".join(f"{one.words} in [{one.low:g}, {one.high:g}]" for one in sums)
        raise ValueError(
            f"The 'constraints' parameter of {owner} is infeasible{where}: found no decisions of "
            f"these {n} rows that meet {asked}{' and the capacity' if counts else ''}. Relax a "
            "limit."
        )
    prices = found[2]
    bound = dual_bound(expected, limits, prices)
    price = np.zeros(d)
    price[limited] = prices[: len(counts)]
    met = [
        {
            "constraint": one.words,
            "at_least": one.low if np.isfinite(one.low) else None,
            "at_most": one.high if np.isfinite(one.high) else None,
            "value": one.limit.used(codes) / one.whole if one.whole else float("nan"),
            "price": float(dual),
        }
        for one, dual in zip(sums, prices[len(counts) :], strict=True)
    ]
    return codes, price, bound, met

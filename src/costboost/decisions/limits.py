"""What users write as limits: numbers of rows, expected rates, money."""

from __future__ import annotations

import itertools
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from costboost._typing import AnyArray, Floats, Ints
from costboost._utils import is_integer, is_missing, is_real
from costboost.decisions.arrays import checked_labels, of_length, position
from costboost.decisions.program import Limit, dual_bound, solve, solve_whole, tolerance

# -- What users write as capacity, as bounds on the number of rows of each decision --------------


# A share of rows is a product of floats: 0.29 * 100 is 28.999999999999996 and means 29.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class RowLimits:
    """Fewest and most rows of each decision, both (d,)."""

    lower: Ints
    upper: Ints


@dataclass(frozen=True, eq=False)
class Groups:
    """Rows by group: the names, and the group of each row."""

    names: list[Any]
    codes: Ints

    def rows(self) -> list[Ints]:
        """The rows of each group."""
        order = np.argsort(self.codes, kind="stable")
        ends = np.cumsum(np.bincount(self.codes, minlength=len(self.names)))
        return np.split(order, ends[:-1]) if self.names else []


def grouped(per: ArrayLike, n: int, owner: str, X: Any = None) -> Groups:
    """Rows by group, groups in sorted order; a missing group is refused."""
    if isinstance(per, str):
        columns = [str(name) for name in getattr(X, "columns", ())]
        if per not in columns:
            raise ValueError(
                f"The 'per' parameter of {owner} must be the group of each row or a column of X; "
                f"got {per!r}, and X has {columns[:10] or 'no named columns'}."
            )
        per = np.asarray(X[per])
    array = of_length(per, n, "per", owner)
    values = array.tolist()
    missing = [i for i, value in enumerate(values) if is_missing(value)]
    if missing:
        raise ValueError(
            f"The 'per' parameter of {owner} must name a group for every row; row {missing[0]} has "
            f"{values[missing[0]]!r} ({len(missing)} rows in all). Name a group for them or drop "
            "them."
        )
    try:
        names, codes = np.unique(array, return_inverse=True)
    except TypeError as error:
        raise ValueError(
            f"The 'per' parameter of {owner} must hold groups of one type, got a mixture "
            f"({error}). Convert them to text."
        ) from error
    return Groups(names.tolist(), codes.astype(np.intp))


def bounds(
    capacity: Mapping[Any, Any] | None,
    decisions: AnyArray,
    n: int,
    owner: str,
    *,
    groups: Groups | None = None,
    group: Any = None,
    periods: int = 1,
) -> RowLimits:
    """RowLimits on the rows of each decision among `n` rows of one group."""
    # `periods` multiplies counts: it is the number of groups that share these rows.
    lower = np.zeros(len(decisions), dtype=np.intp)
    upper = np.full(len(decisions), n, dtype=np.intp)
    if capacity is not None and not isinstance(capacity, Mapping):
        raise TypeError(
            f"The 'capacity' parameter of {owner} must be a mapping of decisions to limits, such "
            f"as {{'review': 200}}; got {type(capacity).__name__}."
        )
    for label, limit in (capacity or {}).items():
        j = position(label, decisions, "decision", "capacity", owner)
        own = _of_group(label, limit, groups, group, owner)
        least, most = own if isinstance(own, tuple | list) and len(own) == 2 else (None, own)
        lower[j] = 0 if least is None else _count(least, n, periods, math.ceil, label, owner)
        upper[j] = n if most is None else _count(most, n, periods, math.floor, label, owner)
        both = least is not None and most is not None
        if both and (_out_of_order(least, most) or lower[j] > upper[j]):
            raise ValueError(
                f"The 'capacity' parameter of {owner} has for {label!r} a lower limit above the "
                f"upper one: {least!r} > {most!r}{_in_rows(lower[j], upper[j], n)}. Swap or relax "
                "them."
            )
        upper[j] = min(upper[j], n)
    _check_feasible(lower, upper, decisions, n, group, owner)
    return RowLimits(lower, upper)


def _of_group(label: Any, limit: Any, groups: Groups | None, group: Any, owner: str) -> Any:
    """The limit itself, or that of the group if there is one for each."""
    if not isinstance(limit, Mapping):
        return limit
    if groups is None:
        raise ValueError(
            f"The 'capacity' parameter of {owner} has for {label!r} a limit per group, and there "
            "are no groups. Pass per=, the group of each row."
        )
    absent = [name for name in groups.names if name not in limit]
    if absent:
        raise ValueError(
            f"The 'capacity' parameter of {owner} has for {label!r} no limit of the group "
            f"{absent[0]!r} ({len(absent)} missing). Add it, or give one limit for all groups."
        )
    return limit[group]


def _count(limit: Any, n: int, periods: int, whole: Any, label: Any, owner: str) -> int:
    """A count as it is, a share in rows."""
    rule = (
        f"The 'capacity' parameter of {owner} must have for {label!r} a number of rows (an integer "
        "such as 200), a share of the rows (a float from 0 to 1), or a pair (lower, upper) of them"
    )
    if not (is_real(limit) or isinstance(limit, np.integer)):
        raise ValueError(f"{rule}; got {limit!r}.")
    if limit < 0:
        raise ValueError(f"{rule}; got the negative limit {limit!r}.")
    if is_integer(limit):
        return int(limit) * periods
    if limit <= 1:
        return int(whole(limit * n + (_ROUNDING if whole is math.floor else -_ROUNDING)))
    if limit == int(limit):
        return int(limit) * periods
    raise ValueError(f"{rule}; got {limit!r}, which is neither a share nor a whole number.")


def _out_of_order(least: Any, most: Any) -> bool:
    """Whether two counts, or two shares, are in the wrong order."""
    return is_integer(least) == is_integer(most) and bool(least > most)


def _in_rows(lower: int, upper: int, n: int) -> str:
    return f" (of {n} rows: {lower} > {upper})"


def _check_feasible(
    lower: Ints, upper: Ints, decisions: AnyArray, n: int, group: Any, owner: str
) -> None:
    where = "" if group is None else f" of the group {group!r}"
    if lower.sum() > n:
        raise ValueError(
            f"The 'capacity' parameter of {owner} is infeasible: its lower limits ask for "
            f"{lower.sum()} rows and there are {n}{where}. Lower them."
        )
    if upper.sum() < n:
        raise ValueError(
            f"The 'capacity' parameter of {owner} is infeasible: all decisions are limited, "
            f"{dict(zip(decisions.tolist(), upper.tolist(), strict=True))}, together to "
            f"{upper.sum()} of {n} rows{where}. Leave one decision without an upper limit."
        )


# -- Limits on expected rates and on money, beside those on numbers of rows ----------------------
# Limits on counts have solutions in whole rows. Sums of probabilities or money have not: the linear
# program may split rows between decisions, at most one row per binding limit. What `allocate`
# guarantees then:
#
# 1. **Feasible.** Every constraint holds for the whole rows returned, up to rounding. The few split
#    rows are tried in all combinations, and the cheapest feasible one is taken. If none is,
#    the program is solved again with every limit drawn in by what its split rows can change, after
#    which rounding cannot break it. If that has no solution either, up to 200 rows are solved by
#    branch and bound; for more rows an error says that no decisions were found.
# 2. **Nearly optimal, with proof.** ``Allocation.lower_bound`` is the value of the linear program's
#    dual: no decisions within the limits cost less. The difference to ``expected_cost`` is at most
#    what a few rows cost.


# Largest number of combinations of split rows and decisions that are tried.
_COMBINATIONS = 100_000
# Up to this many rows branch and bound is the last resort.
_FEW_ROWS = 200


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
    """A constraint on plain arrays: a weighted count between two shares of a whole."""

    words: str
    coefficients: Floats
    total: Floats | None
    low: float
    high: float

    def take(self, rows: Ints) -> Sum:
        """The constraint on some rows."""
        total = None if self.total is None else self.total[rows]
        return Sum(self.words, self.coefficients[rows], total, self.low, self.high)

    @property
    def whole(self) -> float:
        """What the sum is divided by."""
        return 1.0 if self.total is None else float(self.total.sum())

    def limit(self) -> Limit:
        """The limit on the undivided sum."""
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
    if constraints is None:
        return []
    given = [constraints] if isinstance(constraints, Rate | Budget) else list(constraints)
    return [_read_one(one, expected, decisions, proba, classes, owner) for one in given]


def _read_one(
    one: Any,
    expected: Floats,
    decisions: AnyArray,
    proba: ArrayLike | None,
    classes: ArrayLike | None,
    owner: str,
) -> Sum:
    if not isinstance(one, Rate | Budget):
        raise TypeError(
            f"The 'constraints' parameter of {owner} must hold Rate(...) and Budget(...), got "
            f"{type(one).__name__}. Limits on numbers of rows are capacity=."
        )
    several = isinstance(one.decisions, list | tuple | set | np.ndarray)
    names = list(one.decisions) if several else [one.decisions]
    counted = np.zeros(len(decisions))
    for name in names:
        counted[position(name, decisions, "decision", "constraints", owner)] = 1.0
    words = " or ".join(str(name) for name in names)
    if isinstance(one, Budget):
        return _budget(one, expected, counted, words, owner)
    return _rate(one, expected, counted, words, proba, classes, owner)


def _budget(one: Budget, expected: Floats, counted: Floats, words: str, owner: str) -> Sum:
    if not is_real(one.at_most):
        raise ValueError(f"The 'at_most' of Budget must be a finite number, got {one.at_most!r}.")
    if one.amount is None:
        coefficients: Floats = expected * counted
    else:
        amount = np.asarray(one.amount, dtype=np.float64)
        if amount.ndim:
            amount = of_length(amount, len(expected), "amount", "Budget")
        if not (np.isfinite(amount).all() and (amount >= 0).all()):
            raise ValueError(
                "The 'amount' of Budget must be finite and not negative, got values from "
                f"{amount.min()} to {amount.max()}."
            )
        coefficients = np.broadcast_to(amount, len(expected))[:, None] * counted
    return Sum(f"total of {words}", coefficients, None, -np.inf, float(one.at_most))


def _rate(
    one: Rate,
    expected: Floats,
    counted: Floats,
    words: str,
    proba: ArrayLike | None,
    classes: ArrayLike | None,
    owner: str,
) -> Sum:
    if proba is None:
        raise ValueError(
            f"The 'constraints' parameter of {owner} has a Rate, which needs the probabilities of "
            "the classes. Pass proba= (and classes=)."
        )
    p = np.asarray(proba, dtype=np.float64)
    if p.ndim != 2 or len(p) != len(expected):
        raise ValueError(
            f"The 'proba' parameter of {owner} must have shape ({len(expected)}, k), got {p.shape}."
        )
    labels = checked_labels(classes, p.shape[1], "classes", owner)
    column = p[:, position(one.given, labels, "class", "constraints", owner)]
    limits = [("at_least", one.at_least), ("at_most", one.at_most)]
    for name, value in limits:
        if value is not None and not (is_real(value) and 0 <= value <= 1):
            raise ValueError(f"The {name!r} of Rate must be from 0 to 1, got {value!r}.")
    if one.at_least is None and one.at_most is None:
        raise ValueError("Rate needs at_least= or at_most=, got neither.")
    if one.at_least is not None and one.at_most is not None and one.at_least > one.at_most:
        raise ValueError(
            f"Rate has a lower limit above the upper one: at_least={one.at_least!r} > at_most="
            f"{one.at_most!r}. Swap or relax them."
        )
    return Sum(
        f"rate of {words} given {one.given}",
        column[:, None] * counted,
        column,
        -np.inf if one.at_least is None else float(one.at_least),
        np.inf if one.at_most is None else float(one.at_most),
    )


def constrained(
    expected: Floats, bounds: RowLimits, sums: list[Sum], group: Any, owner: str
) -> tuple[Ints, Floats, float, list[dict[str, Any]]]:
    """Decisions of one group, prices of its capacities, the lower bound, and the constraints."""
    n, d = expected.shape
    limited = np.flatnonzero((bounds.lower > 0) | (bounds.upper < n))
    counts = [Limit(np.eye(d)[j], float(bounds.lower[j]), float(bounds.upper[j])) for j in limited]
    limits = counts + [one.limit() for one in sums]
    found = solve(expected, limits)
    codes = None
    if found is not None:
        bound = dual_bound(expected, limits, found.prices)
        codes = _whole_rows(expected, limits, found.codes, found.split)
        if codes is None:
            codes = _drawn_in(expected, limits, len(counts))
    if found is None or codes is None:
        where = "" if group is None else f" in the group {group!r}"
        asked = "; ".join(f"{one.words} in [{one.low:g}, {one.high:g}]" for one in sums)
        raise ValueError(
            f"The 'constraints' parameter of {owner} is infeasible{where}: found no decisions of "
            f"these {n} rows that meet {asked}{' and the capacity' if counts else ''}. Relax a "
            "limit."
        )
    price = np.zeros(d)
    price[limited] = found.prices[: len(counts)]
    met = [
        {
            "constraint": one.words,
            "at_least": one.low if np.isfinite(one.low) else None,
            "at_most": one.high if np.isfinite(one.high) else None,
            "value": one.limit().used(codes) / one.whole if one.whole else float("nan"),
            "price": float(dual),
        }
        for one, dual in zip(sums, found.prices[len(counts) :], strict=True)
    ]
    return codes, price, bound, met


def _is_met(limit: Limit, value: float) -> bool:
    slack = tolerance(limit)
    return limit.low - slack <= value <= limit.high + slack


def _whole_rows(expected: Floats, limits: list[Limit], codes: Ints, split: Ints) -> Ints | None:
    """The cheapest feasible decisions of the split rows; None if no combination is feasible."""
    d = expected.shape[1]
    used = np.array([limit.used(codes) for limit in limits])
    # What each limit and the cost change if a split row takes another decision.
    changes = [
        np.array([limit.of(split)[s] - limit.of(split)[s, codes[row]] for limit in limits])
        for s, row in enumerate(split)
    ]
    best, best_cost = None, np.inf
    if d ** len(split) > _COMBINATIONS:
        return None
    for choice in itertools.product(range(d), repeat=len(split)):
        total = used + sum((changes[s][:, j] for s, j in enumerate(choice)), np.zeros(len(limits)))
        if all(_is_met(limit, value) for limit, value in zip(limits, total, strict=True)):
            cost = float(expected[split, list(choice)].sum())
            if cost < best_cost:
                best, best_cost = choice, cost
    if best is None:
        return None
    codes = codes.copy()
    codes[split] = best
    return codes


def _drawn_in(expected: Floats, limits: list[Limit], n_counts: int) -> Ints | None:
    """Solve with limits drawn in by what rounding the split rows can change."""
    m = len(limits)
    rows = np.arange(len(expected))
    tighter = []
    for limit in limits:
        reach = np.sort(np.ptp(limit.of(rows), axis=1))[-m:].sum()
        tighter.append(Limit(limit.coefficients, limit.low + reach, limit.high - reach))
    # Counts are drawn in only if nothing else works: their limits are small numbers of rows.
    for attempt in (limits[:n_counts] + tighter[n_counts:], tighter):
        if any(limit.low > limit.high for limit in attempt):
            continue
        found = solve(expected, attempt)
        if found is not None:
            codes = _whole_rows(expected, limits, found.codes, found.split)
            if codes is not None:
                return codes
    return solve_whole(expected, limits) if len(expected) <= _FEW_ROWS else None

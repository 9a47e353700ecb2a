"""What users write as capacity, as bounds on the number of rows of each decision."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from costboost._tables import is_missing
from costboost._typing import AnyArray, Ints
from costboost._validation import is_integer, is_real
from costboost.decisions.arrays import of_length, position

# A share of rows is a product of floats: 0.29 * 100 is 28.999999999999996 and means 29.
_ROUNDING = 1e-9


@dataclass(frozen=True, eq=False)
class Bounds:
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
) -> Bounds:
    """Bounds on the rows of each decision among `n` rows of one group."""
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
    return Bounds(lower, upper)


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

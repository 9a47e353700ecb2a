"""Linear programs over many rows and few limits, solved on the few rows that matter.

Minimise the sum over rows of the cost of their decisions, subject to a few limits on sums over
all rows. Each limit has a dual price; given the prices, every row takes its cheapest decision. So
only rows near a tie need a linear program. The prices are searched first: a sample of rows gives a
start, the dual function of all rows is climbed from there. Rows far from a tie at these prices keep
their decision, the others are solved exactly. The prices of that small program then prove that all
rows are right, or it is solved again with more rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, linprog, milp, minimize

from costboost._typing import Floats, Ints

# Rows of the sample and of the first program near a tie.
_ROWS = 1000
# Rows next to a tie that may change when split rows are made whole: at first, and at last.
_NEAR = (20, 400)


@dataclass(frozen=True, eq=False)
class Limit:
    """A limit on ``sum_i coefficients[i, decision of i]``; the coefficients are (n, d)."""

    coefficients: Floats
    low: float
    high: float
    whole: float = 1.0  # what the sum is divided by if it is a rate

    def on(self, rows: Ints, share: float) -> Limit:
        """The limit of some rows, in proportion."""
        return Limit(self.coefficients[rows], self.low * share, self.high * share)

    def used(self, codes: Ints, rows: Ints | None = None) -> float:
        """The sum that is limited, or its part that some rows make up."""
        rows = np.arange(len(codes)) if rows is None else rows
        return float(self.coefficients[rows, codes[rows]].sum())

    @property
    def slack(self) -> float:
        """What counts as rounding in the sum."""
        return 1e-9 * max(1.0, *(abs(end) for end in (self.low, self.high) if np.isfinite(end)))


def count_limit(j: int, shape: tuple[int, ...], low: float, high: float) -> Limit:
    """A limit on the number of rows that get decision j."""
    return Limit(np.broadcast_to(np.eye(shape[1])[j], shape), low, high)


# A vertex of the program's solutions: the decision of each row, the rows that are split between
# decisions, and the prices of the limits.
Solution = tuple[Ints, Ints, Floats]


def solve(expected: Floats, limits: Sequence[Limit]) -> Solution | None:
    """Decisions of least cost within the limits, rows possibly split; None if infeasible."""
    n = len(expected)
    every, codes = np.arange(n), np.zeros(n, dtype=np.intp)
    if n <= 2 * _ROWS:
        return _with_free_rows(expected, limits, every, codes)
    rows = np.random.default_rng(0).choice(n, _ROWS, replace=False)
    start = solve(expected[rows], [limit.on(rows, _ROWS / n) for limit in limits])
    if start is None and _is_impossible(limits, n):
        return None
    prices = _climbed(expected, limits, np.zeros(len(limits)) if start is None else start[2])
    size = _ROWS
    while size < n:
        penalised = _penalised(expected, limits, prices)
        codes = penalised.argmin(axis=1)
        two = np.partition(penalised, 1, axis=1)[:, :2]
        margin = two[:, 1] - two[:, 0]
        # All rows of a tie together: they are one row of the program.
        free = np.flatnonzero(margin <= np.partition(margin, size - 1)[size - 1])
        found = _with_free_rows(expected, limits, free, codes)
        if found is not None:
            if not _contradicted(expected, limits, found):
                return found
            # Fixed rows that hardly leave room make extreme prices: the dual function judges.
            prices = max(prices, found[2], key=lambda one: dual_bound(expected, limits, one))
        size *= 2
    return _with_free_rows(expected, limits, every, codes)


def dual_bound(expected: Floats, limits: Sequence[Limit], prices: Floats) -> float:
    """Lower bound of the least cost by weak duality; valid for any prices of the right sign."""
    ends = np.array([
        limit.high if price > 0 else limit.low for limit, price in zip(limits, prices, strict=True)
    ])  # fmt: skip
    # A price without an end to go with comes from rounding in the solver.
    real = np.where(np.isfinite(ends), prices, 0.0)
    paid = (real * np.where(np.isfinite(ends), ends, 0.0)).sum()
    return float(_penalised(expected, limits, real).min(axis=1).sum() - paid)


def _climbed(expected: Floats, limits: Sequence[Limit], prices: Floats) -> Floats:
    """Prices where the dual function of all rows is nearly largest."""
    # A sum over many rows is almost smooth. A limit with two ends has a price for each.
    m, unit = len(limits), _unit(expected) * len(expected)
    ends = np.array([*(limit.high for limit in limits), *(-limit.low for limit in limits)])
    scale = np.array([max(float(np.abs(limit.coefficients).mean()), 1e-300) for limit in limits])
    known, scale = np.isfinite(ends), np.tile(scale, 2)
    ends = np.where(known, ends, 0.0)

    def fall(point: Floats) -> tuple[float, Floats]:
        each = point / scale
        penalised = _penalised(expected, limits, each[:m] - each[m:])
        codes: Ints = penalised.argmin(axis=1)
        used = np.array([limit.used(codes) for limit in limits])
        least = float(np.take_along_axis(penalised, codes[:, None], axis=1).sum())
        slope = np.where(known, ends - np.append(used, -used), 0.0) / scale
        return (float(each @ ends) - least) / unit, slope / unit

    start = scale * np.maximum(np.append(prices, -prices), 0.0) * known
    bounds = Bounds(0.0, np.where(known, np.inf, 0.0))
    each = minimize(fall, start, jac=True, method="L-BFGS-B", bounds=bounds).x / scale
    return np.asarray(each[:m] - each[m:])


def _is_impossible(limits: Sequence[Limit], n: int) -> bool:
    """Whether the limits are proved to contradict each other (Farkas' lemma)."""
    # A sample of the rows, which cost nothing, breaks every limit by at most the same share of its
    # sum. If nothing costs anything, the dual function is at most 0 where the limits can be met:
    # the prices of the least share are where it is largest.
    rows = np.random.default_rng(0).choice(n, min(n, 2 * _ROWS), replace=False)
    part = [limit.on(rows, len(rows) / n) for limit in limits]
    free = np.zeros((len(rows), limits[0].coefficients.shape[-1]))
    found = _with_free_rows(free, part, np.arange(len(rows)), np.zeros(len(rows), np.intp), True)
    if found is None:
        return False
    rounding = sum(abs(p) * limit.slack for p, limit in zip(found[2], limits, strict=True))
    bound = dual_bound(np.zeros((n, free.shape[1])), limits, found[2])
    return bound > n * float(rounding)


def whole_rows(expected: Floats, limits: Sequence[Limit], found: Solution) -> Ints | None:
    """Decisions in whole rows near a solution that splits a few, or None if none were found."""
    codes, split, prices = found
    if not len(split):
        return codes
    n, d = expected.shape
    margin = np.ptp(np.partition(_penalised(expected, limits, prices), 1, axis=1)[:, :2], axis=1)
    margin[split] = -1.0
    slack = np.array([limit.slack for limit in limits])
    for size in _NEAR:  # the split rows, and those next to a tie
        free = np.argsort(margin, kind="stable")[: len(split) + size]
        used = np.array([limit.used(codes) - limit.used(codes, free) for limit in limits])
        low, high = (np.array([getattr(limit, end) for limit in limits]) for end in ("low", "high"))
        result = milp(
            expected[free].ravel() / _unit(expected),
            integrality=np.ones(len(free) * d),
            bounds=Bounds(0, 1),
            constraints=[
                LinearConstraint(sparse.kron(sparse.identity(len(free)), np.ones((1, d))), 1, 1),
                LinearConstraint(
                    np.array([limit.coefficients[free].ravel() for limit in limits]),
                    low - used - slack,
                    high - used + slack,
                ),
            ],
            options={"node_limit": 1000},  # the same decisions each time, unlike a time limit
        )
        if result.x is not None:
            codes = codes.copy()
            codes[free] = result.x.reshape(-1, d).argmax(axis=1)
            return codes
        if size >= n:
            break
    return None


def _penalised(expected: Floats, limits: Sequence[Limit], prices: Floats) -> Floats:
    penalised = expected.copy()
    for limit, price in zip(limits, prices, strict=True):
        if price:
            penalised += price * limit.coefficients
    return penalised


def _contradicted(expected: Floats, limits: Sequence[Limit], found: Solution) -> bool:
    """Whether the prices of the solution speak against the decision of any row."""
    codes, split, prices = found
    penalised = _penalised(expected, limits, prices)
    own = np.take_along_axis(penalised, codes[:, None], axis=1)[:, 0]
    wrong = own > penalised.min(axis=1) + 1e-6 * _unit(expected)
    wrong[split] = False
    return bool(wrong.any())


def _with_free_rows(
    expected: Floats, limits: Sequence[Limit], free: Ints, codes: Ints, elastic: bool = False
) -> Solution | None:
    """Solve for the free rows; the others keep their codes. Elastic: break the limits least."""
    sums = [limit.coefficients[free] for limit in limits]
    table = np.concatenate([_regret(expected[free]), *sums], axis=1)
    distinct, member, supply = np.unique(table, axis=0, return_inverse=True, return_counts=True)
    member = member.reshape(-1)
    d, m = expected.shape[1], len(limits)
    fixed = np.ones(len(codes), dtype=np.bool_)
    fixed[free] = False
    others = np.flatnonzero(fixed)
    weights = distinct[:, d:].reshape(-1, m, d).swapaxes(0, 1).reshape(m, -1)
    spent = np.array([limit.used(codes, others) for limit in limits])
    highs, lows = (np.array([getattr(limit, end) for limit in limits]) for end in ("high", "low"))
    above, below = np.isfinite(highs), np.isfinite(lows)
    unit = _unit(expected)
    costs = distinct[:, :d].ravel() / unit
    # SciPy's type hints know no sparse matrices here.
    upper: Any = sparse.csr_matrix(np.concatenate([weights[above], -weights[below]]))
    one_each: Any = sparse.kron(sparse.identity(len(distinct)), np.ones((1, d)), format="csr")
    if elastic:  # one more variable, what the limits are broken by
        reach = np.abs(upper).sum(axis=1)
        costs = np.append(costs, 1.0)
        upper = sparse.hstack([upper, sparse.csr_matrix(-reach)], format="csr")
        one_each = sparse.hstack([one_each, sparse.csr_matrix((len(distinct), 1))], format="csr")
    result = linprog(
        costs,
        A_ub=upper,
        b_ub=np.concatenate([(highs - spent)[above], (spent - lows)[below]]),
        A_eq=one_each,
        b_eq=supply.astype(np.float64),
        bounds=(0, None),
        method="highs-ds",
    )
    if result.status != 0 or result.x is None:
        return None
    prices = np.zeros(m)
    marginals = result.ineqlin.marginals * unit
    prices[above] -= marginals[: above.sum()]
    prices[below] += marginals[above.sum() :]
    codes, parts = codes.copy(), result.x[: len(distinct) * d].reshape(-1, d)
    return codes, _dealt(parts, member, free, codes), prices


def _dealt(parts: Floats, member: Ints, free: Ints, codes: Ints) -> Ints:
    """Write the decisions of the free rows into `codes`; return the rows that are split."""
    whole = np.rint(parts)
    whole = np.where(np.abs(parts - whole) < 1e-6, whole, np.floor(parts)).astype(np.intp)
    order = np.argsort(member, kind="stable")
    supply = np.bincount(member, minlength=len(parts))
    left = supply - whole.sum(axis=1)  # rows without a whole decision
    largest = (parts - whole).argmax(axis=1)
    shares = np.concatenate([whole, left[:, None]], axis=1)
    columns = np.tile(np.arange(shares.shape[1]), len(parts))
    dealt = np.repeat(columns, shares.ravel())
    is_split = dealt == parts.shape[1]
    codes[free[order]] = np.where(is_split, largest[member[order]], dealt)
    return np.asarray(free[order][is_split], dtype=np.intp)


def _regret(expected: Floats) -> Floats:
    return np.asarray(expected - expected.min(axis=1, keepdims=True))


def _unit(expected: Floats) -> float:
    """A typical difference between decisions, so that the solver's tolerances fit."""
    mean = float(_regret(expected).mean()) if expected.size else 0.0
    return mean if mean > 0 else 1.0

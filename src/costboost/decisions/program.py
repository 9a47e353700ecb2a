"""Linear programs over many rows and few limits, solved on the few rows that matter.

Minimise the sum over rows of the cost of their decisions, subject to a few limits on sums over
all rows. Each limit has a dual price; given the prices, every row takes its cheapest decision. So
only rows near a tie need a linear program. The prices are searched first: a sample of rows gives
a start, cutting planes on all rows refine it. Rows far from a tie at these prices keep their
decision, the others are solved exactly. The prices of that small program then prove that all rows
are right, or it is solved again with more rows.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

from costboost._typing import Floats, Ints

# Rows of the first sample and of the first program near a tie.
_ROWS = 1000
# Largest number of cutting planes between two programs.
_STEPS = 60


@dataclass(frozen=True, eq=False)
class Limit:
    """A limit on ``sum_i coefficients[i, decision of i]``."""

    coefficients: Floats
    low: float
    high: float

    def of(self, rows: Ints) -> Floats:
        """Coefficients of some rows, (m, d)."""
        if self.coefficients.ndim == 2:
            return np.asarray(self.coefficients[rows])
        return np.broadcast_to(self.coefficients, (len(rows), len(self.coefficients)))

    def used(self, codes: Ints) -> float:
        """The sum that is limited."""
        if self.coefficients.ndim == 2:
            return float(np.take_along_axis(self.coefficients, codes[:, None], axis=1).sum())
        return float(self.coefficients @ np.bincount(codes, minlength=len(self.coefficients)))

    @property
    def slack(self) -> float:
        """What counts as rounding in the sum."""
        return 1e-9 * max(1.0, *(abs(end) for end in (self.low, self.high) if np.isfinite(end)))


# A vertex of the program's solutions: the decision of each row, the rows that are split between
# decisions, and the prices of the limits.
Solution = tuple[Ints, Ints, Floats]


def solve(expected: Floats, limits: Sequence[Limit]) -> Solution | None:
    """Decisions of least cost within the limits, rows possibly split; None if infeasible."""
    n = len(expected)
    every = np.arange(n)
    if n <= 2 * _ROWS:
        return _with_free_rows(expected, limits, every, np.zeros(n, dtype=np.intp))
    dual = Dual(expected, limits)
    dual.visit(_sample_prices(expected, limits))
    size = _ROWS
    while size < n and dual.climb():
        penalised = _penalised(expected, limits, dual.best)
        codes: Ints = penalised.argmin(axis=1)
        two = np.partition(penalised, 1, axis=1)[:, :2]
        margin = two[:, 1] - two[:, 0]
        # All rows of a tie together: they are one row of the program.
        free = np.flatnonzero(margin <= np.partition(margin, size - 1)[size - 1])
        found = _with_free_rows(expected, limits, free, codes)
        if found is not None:
            if not _contradicted(expected, limits, found):
                return found
            dual.visit(found[2])
        size *= 2
    if _proves_infeasible(limits, n, dual.best):
        return None
    return _with_free_rows(expected, limits, every, np.zeros(n, dtype=np.intp))


def dual_bound(expected: Floats, limits: Sequence[Limit], prices: Floats) -> float:
    """Lower bound of the least cost by weak duality; valid for any prices of the right sign."""
    return Dual(expected, limits).value(prices)[0]


class Dual:
    """The dual function of the prices, concave and piecewise linear, and its maximum."""

    # Its maximum is searched with cutting planes (Kelley 1960) around the best prices so far. A
    # limit with two ends has two prices, one for each, so that the function is smooth at 0.

    def __init__(self, expected: Floats, limits: Sequence[Limit]) -> None:
        self.expected, self.limits = expected, limits
        self.highs = np.array([limit.high for limit in limits])
        self.lows = np.array([limit.low for limit in limits])
        self.points: list[Floats] = []  # (2 m,): prices of the upper ends, then of the lower ones
        self.values: list[float] = []
        self.slopes: list[Floats] = []
        reach = np.array([float(np.ptp(limit.coefficients, axis=-1).mean()) for limit in limits])
        unit = float(_regret(expected).max(initial=0.0)) / np.where(reach > 0, reach, 1.0)
        has_end = np.isfinite(np.concatenate([self.highs, -self.lows]))
        self.most = np.where(has_end, 1e3 * np.tile(unit, 2), 0.0)
        self.radius = 1e-3 * np.tile(unit, 2)

    @property
    def best(self) -> Floats:
        """The best prices so far, (m,)."""
        return self._prices(self.points[int(np.argmax(self.values))])

    def _prices(self, point: Floats) -> Floats:
        m = len(self.limits)
        return np.asarray(point[:m] - point[m:])

    def value(self, prices: Floats) -> tuple[float, Floats]:
        """The dual function, and what the cheapest decisions at these prices use of each limit."""
        ends = np.where(prices > 0, self.highs, self.lows)
        # A price without an end to go with comes from rounding in the solver.
        real = np.where(np.isfinite(ends), prices, 0.0)
        penalised = _penalised(self.expected, self.limits, real)
        codes: Ints = penalised.argmin(axis=1)
        least = float(np.take_along_axis(penalised, codes[:, None], axis=1).sum())
        paid = float((real * np.where(np.isfinite(ends), ends, 0.0)).sum())
        return least - paid, np.array([limit.used(codes) for limit in self.limits])

    def visit(self, prices: Floats) -> float:
        """Evaluate the function and keep the plane that touches it there."""
        point = np.minimum(
            np.concatenate([np.maximum(prices, 0), np.maximum(-prices, 0)]), self.most
        )
        value, used = self.value(self._prices(point))
        slope = np.concatenate([used - self.highs, self.lows - used])
        self.points.append(point)
        self.values.append(value)
        self.slopes.append(np.where(self.most > 0, slope, 0.0))
        return value

    def climb(self) -> bool:
        """Go up until the planes promise no more; False if the prices grow without end."""
        tolerance = 1e-12 * max(abs(max(self.values)), _unit(self.expected))
        for _ in range(_STEPS):
            before = max(self.values)
            centre = self.points[int(np.argmax(self.values))]
            low = np.maximum(centre - self.radius, 0.0)
            high = np.minimum(centre + self.radius, self.most)
            target = self._highest_plane(low, high)
            if target is None or target[1] - before <= tolerance:
                break
            value = self.visit(self._prices(target[0]))
            at_edge = ((target[0] >= high) & (high < self.most)) | ((target[0] <= low) & (low > 0))
            if value > before and at_edge.any():
                self.radius *= 4.0
        best = self.points[int(np.argmax(self.values))]
        return not ((best >= self.most) & (self.most > 0)).any()

    def _highest_plane(self, low: Floats, high: Floats) -> tuple[Floats, float] | None:
        """Where the lowest of the planes is highest within a box, and how high."""
        unit = _unit(self.expected)
        slopes = np.array(self.slopes) / unit
        offsets = np.array([
            (value - max(self.values)) / unit - slope @ point
            for value, slope, point in zip(self.values, slopes, self.points, strict=True)
        ])  # fmt: skip
        planes = np.concatenate([-slopes, np.ones((len(slopes), 1))], axis=1)
        result = linprog(
            np.append(np.zeros(len(low)), -1.0),
            A_ub=planes,
            b_ub=offsets,
            bounds=[*zip(low, high, strict=True), (None, None)],
            method="highs",
        )
        if result.status != 0 or result.x is None:
            return None
        return result.x[:-1], float(result.x[-1]) * unit + max(self.values)


def _proves_infeasible(limits: Sequence[Limit], n: int, prices: Floats) -> bool:
    """Whether the limits contradict each other by these prices (Farkas' lemma)."""
    # If nothing costs anything, the dual function is at most 0 where the limits can be met.
    free = np.zeros((n, limits[0].coefficients.shape[-1]))
    scale = sum(abs(price) * limit.slack for price, limit in zip(prices, limits, strict=True))
    return bool(Dual(free, limits).value(prices)[0] > n * scale)


def solve_whole(expected: Floats, limits: Sequence[Limit]) -> Ints | None:
    """Decisions of least cost within the limits in whole rows, by branch and bound, or None."""
    # For few rows: the time may grow exponentially.
    n, d = expected.shape
    every = np.arange(n)
    one_each = sparse.kron(sparse.identity(n), np.ones((1, d)), format="csr")
    rows = np.array([limit.of(every).ravel() for limit in limits])
    slack = np.array([limit.slack for limit in limits])
    low, high = (np.array([getattr(limit, end) for limit in limits]) for end in ("low", "high"))
    result = milp(
        expected.ravel() / _unit(expected),
        integrality=np.ones(n * d),
        bounds=Bounds(0, 1),
        constraints=[
            LinearConstraint(one_each, 1, 1),
            LinearConstraint(rows, low - slack, high + slack),
        ],
    )
    if result.x is None:
        return None
    return np.asarray(result.x.reshape(n, d).argmax(axis=1), dtype=np.intp)


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


def _sample_prices(expected: Floats, limits: Sequence[Limit]) -> Floats:
    """Prices from a sample of rows, with limits in proportion."""
    n = len(expected)
    rows = np.random.default_rng(0).choice(n, _ROWS, replace=False)
    share = _ROWS / n
    smaller = [Limit(limit.of(rows), limit.low * share, limit.high * share) for limit in limits]
    found = _with_free_rows(expected[rows], smaller, np.arange(_ROWS), np.zeros(_ROWS, np.intp))
    return np.zeros(len(limits)) if found is None else found[2]


def _with_free_rows(
    expected: Floats, limits: Sequence[Limit], free: Ints, codes: Ints
) -> Solution | None:
    """Solve for the free rows; the others keep their codes."""
    table = np.concatenate([_regret(expected[free]), *(limit.of(free) for limit in limits)], axis=1)
    distinct, member, supply = np.unique(table, axis=0, return_inverse=True, return_counts=True)
    member = member.reshape(-1)
    d, m = expected.shape[1], len(limits)
    fixed = np.ones(len(codes), dtype=np.bool_)
    fixed[free] = False
    others = np.flatnonzero(fixed)
    weights = distinct[:, d:].reshape(-1, m, d).swapaxes(0, 1).reshape(m, -1)
    spent = np.array([
        np.take_along_axis(limit.of(others), codes[others, None], axis=1).sum() for limit in limits
    ])  # fmt: skip
    highs, lows = (np.array([getattr(limit, end) for limit in limits]) for end in ("high", "low"))
    above, below = np.isfinite(highs), np.isfinite(lows)
    unit = _unit(expected)
    # SciPy's type hints know no sparse matrices here.
    upper: Any = sparse.csr_matrix(np.concatenate([weights[above], -weights[below]]))
    one_each: Any = sparse.kron(sparse.identity(len(distinct)), np.ones((1, d)), format="csr")
    result = linprog(
        distinct[:, :d].ravel() / unit,
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
    codes = codes.copy()
    return codes, _dealt(result.x.reshape(-1, d), member, free, codes), prices


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

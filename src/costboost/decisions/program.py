"""Linear programs over many rows and few limits, solved on the few rows that matter.

Minimise the sum over rows of the cost of their decisions, subject to a few limits on sums over
all rows. Each limit has a dual price; given the prices, every row takes its cheapest decision. So
only rows near a tie need a linear program. The prices are searched first: a sample of rows gives a
start, the dual function of all rows is climbed from there. Rows far from a tie at these prices keep
their decision, the others are solved exactly. The prices of that small program then prove that all
rows are right, or it is solved again with more rows.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, linprog, milp, minimize

from costboost._typing import Floats, Ints

# Rows of the sample and of the first program near a tie.
_ROWS = 1000
# Rows next to a tie that may change when split rows are made whole: at first, and at last.
_NEAR = (20, 400)


class LinearLimits(NamedTuple):
    """Limits ``low <= sum_i coefficients[:, i, decision of i] <= high``, m of them."""

    coefficients: Floats  # (m, n, d)
    low: Floats  # (m,)
    high: Floats  # (m,)

    @property
    def slack(self) -> Floats:
        """What counts as rounding in each sum, (m,)."""
        ends = np.abs([self.low, self.high])
        return np.asarray(1e-9 * np.where(np.isfinite(ends), ends, 1.0).max(axis=0, initial=1.0))

    def used(self, codes: Ints, rows: Ints) -> Floats:
        """The part of each limited sum that some rows make up, (m,)."""
        return np.asarray(self.coefficients[:, rows, codes[rows]].sum(axis=1))


# A vertex of the program's solutions: the decision of each row, the rows that are split between
# decisions, and the prices of the limits.
Vertex = tuple[Ints, Ints, Floats]


def solve(expected: Floats, limits: LinearLimits) -> tuple[Ints, Floats] | None:
    """Decisions of least cost within the limits, and the prices of the limits; None if none."""
    found = _vertex(expected, limits)
    codes = None if found is None else _whole_rows(expected, limits, found)
    return None if found is None or codes is None else (codes, found[2])


def _vertex(expected: Floats, limits: LinearLimits) -> Vertex | None:
    """The optimum if rows can be split between decisions; None if infeasible."""
    n = len(expected)
    every, codes = np.arange(n), np.zeros(n, dtype=np.intp)
    if n <= 2 * _ROWS:
        return _with_free_rows(expected, limits, every, codes)
    sample, share = np.random.default_rng(0).choice(n, _ROWS, replace=False), _ROWS / n
    costs, zeros = expected[sample], np.zeros(len(limits.low))
    part = LinearLimits(limits.coefficients[:, sample], limits.low * share, limits.high * share)
    start = _vertex(costs, part)
    if start is None and _is_proof(expected, limits, _climbed(costs, part, zeros)):
        return None
    prices = _climbed(expected, limits, zeros if start is None else start[2])
    if _is_proof(expected, limits, prices):
        return None
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


def dual_bound(expected: Floats, limits: LinearLimits, prices: Floats) -> float:
    """Lower bound of the least cost by weak duality; valid for any prices of the right sign."""
    ends = np.where(prices > 0, limits.high, limits.low)
    # A price without an end to go with comes from rounding in the solver.
    real = np.where(np.isfinite(ends), prices, 0.0)
    paid = (real * np.where(np.isfinite(ends), ends, 0.0)).sum()
    return float(_penalised(expected, limits, real).min(axis=1).sum() - paid)


def _climbed(expected: Floats, limits: LinearLimits, prices: Floats) -> Floats:
    """Prices where the dual function of all rows is nearly largest, or that are a proof."""
    # A sum over many rows is almost smooth. A limit with two ends has a price for each.
    m, every, unit = len(limits.low), np.arange(len(expected)), _unit(expected) * len(expected)
    scale = np.maximum(np.tile(np.abs(limits.coefficients).mean(axis=(1, 2)), 2), 1e-300)
    ends = np.append(limits.high, -limits.low)
    known = np.isfinite(ends)
    ends = np.where(known, ends, 0.0)

    def of_limits(point: Floats) -> Floats:
        each = point / scale
        return np.asarray(each[:m] - each[m:])

    def fall(point: Floats) -> tuple[float, Floats]:
        penalised = _penalised(expected, limits, of_limits(point))
        codes: Ints = penalised.argmin(axis=1)
        used = limits.used(codes, every)
        least = float(penalised[every, codes].sum())
        slope = np.where(known, ends - np.append(used, -used), 0.0) / scale
        return (float(point / scale @ ends) - least) / unit, slope / unit

    def stop_at_proof(xk: Floats) -> None:
        if _is_proof(expected, limits, of_limits(xk)):
            raise StopIteration

    start = scale * np.maximum(np.append(prices, -prices), 0.0) * known
    bounds = Bounds(0.0, np.where(known, np.inf, 0.0))
    # A few dozen evaluations are usual; without an end to the function there would be no end.
    how: Any = {"method": "L-BFGS-B", "bounds": bounds, "options": {"maxfun": 1000}}
    return of_limits(minimize(fall, start, jac=True, callback=stop_at_proof, **how).x)


def _is_proof(expected: Floats, limits: LinearLimits, prices: Floats) -> bool:
    """Whether the prices prove that no decisions are within the limits."""
    # Where nothing costs anything, such decisions would cost more than nothing (Farkas' lemma). If
    # limits contradict each other, the dual function has no end, and prices become such a proof.
    free = np.zeros_like(expected)
    rounding = len(expected) * np.abs(prices) @ limits.slack
    return bool(dual_bound(free, limits, prices) > rounding)


def _whole_rows(expected: Floats, limits: LinearLimits, found: Vertex) -> Ints | None:
    """Decisions in whole rows near a solution that splits a few, or None if none were found."""
    codes, split, prices = found
    if not len(split):
        return codes
    d = expected.shape[1]
    margin = np.ptp(np.partition(_penalised(expected, limits, prices), 1, axis=1)[:, :2], axis=1)
    margin[split] = -1.0
    for size in _NEAR:  # the split rows, and those next to a tie
        order = np.argsort(margin, kind="stable")
        free, others = np.split(order, [len(split) + size])
        used = limits.used(codes, others)
        result = milp(
            expected[free].ravel() / _unit(expected),
            integrality=np.ones(len(free) * d),
            bounds=Bounds(0, 1),
            constraints=[
                LinearConstraint(sparse.kron(sparse.identity(len(free)), np.ones((1, d))), 1, 1),
                LinearConstraint(
                    limits.coefficients[:, free].reshape(len(used), -1),
                    limits.low - used - limits.slack,
                    limits.high - used + limits.slack,
                ),
            ],
            options={"node_limit": 1000},  # the same decisions each time, unlike a time limit
        )
        if result.x is not None:
            codes = codes.copy()
            codes[free] = result.x.reshape(-1, d).argmax(axis=1)
            return codes
    return None


def _penalised(expected: Floats, limits: LinearLimits, prices: Floats) -> Floats:
    penalised = expected.copy()
    for coefficients, price in zip(limits.coefficients, prices, strict=True):
        if price:
            penalised += price * coefficients
    return penalised


def _contradicted(expected: Floats, limits: LinearLimits, found: Vertex) -> bool:
    """Whether the prices of the solution speak against the decision of any row."""
    codes, split, prices = found
    penalised = _penalised(expected, limits, prices)
    wrong = penalised[np.arange(len(codes)), codes] > penalised.min(axis=1) + 1e-6 * _unit(expected)
    wrong[split] = False
    return bool(wrong.any())


def _with_free_rows(
    expected: Floats, limits: LinearLimits, free: Ints, codes: Ints
) -> Vertex | None:
    """Solve for the free rows; the others keep their codes."""
    table = np.concatenate([_regret(expected[free]), *limits.coefficients[:, free]], axis=1)
    distinct, member, supply = np.unique(table, axis=0, return_inverse=True, return_counts=True)
    member = member.reshape(-1)
    d, m, unit = expected.shape[1], len(limits.low), _unit(expected)
    weights = distinct[:, d:].reshape(-1, m, d).swapaxes(0, 1).reshape(m, -1)
    spent = limits.used(codes, np.setdiff1d(np.arange(len(codes)), free, assume_unique=True))
    ends = np.append(limits.high - spent, spent - limits.low)
    known = np.isfinite(ends)
    # SciPy's type hints know no sparse matrices here.
    upper: Any = sparse.csr_matrix(np.concatenate([weights, -weights])[known])
    one_each: Any = sparse.kron(sparse.identity(len(distinct)), np.ones((1, d)), format="csr")
    result = linprog(
        distinct[:, :d].ravel() / unit,
        A_ub=upper,
        b_ub=ends[known],
        A_eq=one_each,
        b_eq=supply.astype(np.float64),
        bounds=(0, None),
        method="highs-ds",
    )
    if result.status != 0 or result.x is None:
        return None
    marginals = np.zeros(2 * m)
    marginals[known] = result.ineqlin.marginals * unit
    codes = codes.copy()
    split = _dealt(result.x.reshape(-1, d), member, free, codes)
    return codes, split, marginals[m:] - marginals[:m]


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

"""Prices of limits by cutting planes, and decisions in whole rows that keep the limits.

Minimise the sum over the rows of the cost of their decisions, while a few sums over all rows stay
within limits. Each limit has a price. At given prices every row takes its cheapest decision, and
what that costs is a lower bound of the least cost (weak duality). The bound is a concave function
of the prices, and the decisions at each trial are a plane above it: a small linear program finds
the prices where the lowest of the planes is highest, and gives the next trial. Time grows with the
number of trials, a few dozen, times the number of rows; no program over all rows is solved.

At the best prices a few decisions are mixed, because rows tie there. The rows are dealt to these
decisions, and what is still missing or too much is repaired on the rows nearest to a tie.
"""

from __future__ import annotations

import copy
from dataclasses import dataclass

import numpy as np
from scipy import sparse
from scipy.optimize import Bounds, LinearConstraint, linprog, milp

# Trials of prices; ten to fifty are usual.
MAX_TRIALS = 400
# The bound is as high as it can be up to this share of a typical difference between decisions.
TOLERANCE = 1e-6
# A program of more rows starts with the prices of a sample of so many.
SAMPLE_ROWS = 5000
# How far the next trial may be from the best one, at first, in typical differences per unit.
FIRST_STEP = 0.1
# Rows nearest to a tie that the repair may change: at first, and at last.
REPAIRED_ROWS = (20, 400)


class Program:
    """Rows to decide at the least cost, while sums over them stay within limits.

    Costs are in units of a typical difference between decisions, and sums in units of what a row
    adds on average: the tolerances of solvers fit these.
    """

    def __init__(
        self, expected_cost: np.ndarray, added: np.ndarray, low: np.ndarray, high: np.ndarray
    ) -> None:
        regret = expected_cost - expected_cost.min(axis=1, keepdims=True)
        self.unit = regret.mean() if regret.any() else 1.0
        self.scale = np.maximum(np.abs(added).mean(axis=(1, 2)), 1e-300)
        # By decision first: a pass over the rows of one decision is a pass over one array.
        self.regret = np.ascontiguousarray(regret.T) / self.unit  # (d, n)
        self.added = np.ascontiguousarray(added.swapaxes(1, 2)) / self.scale[:, None, None]
        self.low = low / self.scale  # (m,)
        self.high = high / self.scale
        ends = np.abs([self.low, self.high])
        ends[~np.isfinite(ends)] = 0.0
        self.rounding = 1e-9 * np.maximum(ends.max(axis=0), 1.0 / self.scale)  # (m,)

    def sample(self, n_rows: int) -> Program:
        """Return a program of about so many of the rows, with their share of the limits."""
        rows = np.arange(0, self.regret.shape[1], self.regret.shape[1] // n_rows)
        share = len(rows) / self.regret.shape[1]
        sampled = copy.copy(self)
        sampled.regret = self.regret[:, rows]
        sampled.added = self.added[:, :, rows]
        sampled.low = self.low * share
        sampled.high = self.high * share
        return sampled

    def penalised(self, prices: np.ndarray) -> np.ndarray:
        """Return the cost of each decision on each row, the prices of limits included, (d, n)."""
        penalised = self.regret.copy()
        for added, price in zip(self.added, prices, strict=True):
            if price != 0.0:
                penalised += price * added
        return penalised

    def decide(self, prices: np.ndarray) -> np.ndarray:
        """Return the cheapest decision of each row at these prices, (n,)."""
        penalised = self.penalised(prices)
        least = penalised[0].copy()
        chosen = np.zeros(len(least), np.intp)
        for decision in range(1, len(penalised)):
            chosen[penalised[decision] < least] = decision
            np.minimum(least, penalised[decision], out=least)
        return chosen

    def totals(self, chosen: np.ndarray) -> tuple[float, np.ndarray]:
        """Return the cost of decisions and their limited sums, (m,)."""
        cost = 0.0
        sums = np.zeros(len(self.low))
        for decision, regret in enumerate(self.regret):
            # Not by BLAS, whose sums may depend on the number of threads.
            is_chosen = (chosen == decision).astype(np.float64)
            cost += float(np.einsum("n,n->", regret, is_chosen))
            sums += np.einsum("mn,n->m", self.added[:, decision], is_chosen)
        return cost, sums

    def is_within(self, chosen: np.ndarray) -> bool:
        _, sums = self.totals(chosen)
        is_met = (sums >= self.low - self.rounding) & (sums <= self.high + self.rounding)
        return bool(is_met.all())

    def prices_in_money(self, prices: np.ndarray) -> np.ndarray:
        return prices * self.unit / self.scale

    def prices_of_money(self, prices: np.ndarray) -> np.ndarray:
        """Return prices in the units of the program, 0 for an end that is no limit."""
        is_possible = np.where(prices > 0, np.isfinite(self.high), np.isfinite(self.low))
        return np.where(is_possible, prices * self.scale / self.unit, 0.0)


@dataclass(frozen=True, eq=False)
class Trial:
    """Prices that were tried, and the decisions at them: a plane above the lower bound."""

    prices: np.ndarray  # (m,)
    cost: float
    sums: np.ndarray  # (m,)
    bound: float  # the lower bound at the prices

    @classmethod
    def at(cls, prices: np.ndarray, program: Program) -> Trial:
        chosen = program.decide(prices)
        cost, sums = program.totals(chosen)
        ends = np.where(prices > 0, program.high, program.low)
        is_paid = prices != 0.0
        bound = cost + float(prices[is_paid] @ (sums - ends)[is_paid])
        return cls(prices, cost, sums, bound)


def solve(program: Program, start: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """Return the decision of each row and the prices of the limits in money; None if infeasible.

    `start` holds prices in money where the search begins, such as those of similar rows.
    """
    searched = search_prices(program, program.prices_of_money(start))
    if searched is None:
        return None
    best, chosen = searched
    prices = program.prices_in_money(best.prices)
    if program.is_within(chosen) and program.totals(chosen)[0] - best.bound <= TOLERANCE:
        return chosen, prices
    repaired = _repair(program, chosen, best.prices)
    if repaired is None:
        return None
    return repaired, prices


def search_prices(program: Program, start: np.ndarray) -> tuple[Trial, np.ndarray] | None:
    """Return the prices of the highest bound, and decisions that meet the limits up to a few rows.

    None if no decisions are within the limits: the bound is then above what any decisions cost.
    """
    largest_cost = float(program.regret.max(axis=0).sum()) * (1.0 + 1e-9) + TOLERANCE
    if program.regret.shape[1] > 2 * SAMPLE_ROWS:
        searched = search_prices(program.sample(SAMPLE_ROWS), start)
        if searched is not None:
            start = searched[0].prices
    step = np.where(start == 0.0, FIRST_STEP, 0.05 * np.abs(start))
    trials = [Trial.at(start, program)]
    best = trials[0]
    weights = np.ones(1)
    for _ in range(MAX_TRIALS):
        if best.bound > largest_cost:
            return None
        highest = _highest_of_planes(program, trials, best, step)
        if highest is None:
            break
        rise, prices, weights = highest
        if rise <= TOLERANCE:
            break
        is_at_edge = np.abs(prices - best.prices) >= step * (1.0 - 1e-9)
        if is_at_edge.any():
            step = np.where(is_at_edge, 4.0 * step, step)
        else:
            # Half the way: the highest point of the planes is far out at first.
            prices = 0.5 * (prices + best.prices)
        trials.append(Trial.at(prices, program))
        if trials[-1].bound > best.bound:
            best = trials[-1]
    is_mixed = np.flatnonzero(weights > 1e-9)
    return best, _deal(program, [trials[i] for i in is_mixed], weights[is_mixed])


def _highest_of_planes(
    program: Program, trials: list[Trial], best: Trial, step: np.ndarray
) -> tuple[float, np.ndarray, np.ndarray] | None:
    """Maximise the lowest plane within a step of the best prices.

    Return how much higher than the best bound it is, where, and the weights of the trials there.
    """
    # Variables: the rise, and for each limit the price of its upper and that of its lower end.
    m = len(step)
    has_high = np.isfinite(program.high)
    has_low = np.isfinite(program.low)
    sums = np.array([trial.sums for trial in trials])
    cost = np.array([trial.cost for trial in trials])
    above_high = sums - np.where(has_high, program.high, 0.0)
    above_low = sums - np.where(has_low, program.low, 0.0)
    planes = np.column_stack([np.ones(len(trials)), -above_high, above_low])
    price = np.column_stack([np.zeros(m), np.eye(m), -np.eye(m)])
    end_is_there = np.concatenate([has_high, has_low])
    result = linprog(
        np.concatenate([[-1.0], np.zeros(2 * m)]),
        A_ub=np.concatenate([planes, price, -price]),
        b_ub=np.concatenate([cost - best.bound, best.prices + step, step - best.prices]),
        bounds=[(None, None), *((0.0, None if there else 0.0) for there in end_is_there)],
        method="highs-ds",
    )
    if result.status != 0:
        return None
    point = np.asarray(result.x)
    prices = point[1 : m + 1] - point[m + 1 :]
    return point[0], prices, -result.ineqlin.marginals[: len(trials)]


def _deal(program: Program, trials: list[Trial], weights: np.ndarray) -> np.ndarray:
    """Deal the rows to the decisions of several trials, in proportion to the trials' weights."""
    options = np.array([program.decide(trial.prices) for trial in trials])  # (trials, n)
    chosen = options[weights.argmax()].copy()
    tied = np.flatnonzero((options != options[0]).any(axis=0))
    if len(tied) == 0:
        return chosen
    # Rows that tie between the same decisions are one hand: each trial gets its share of every
    # hand, up to one row.
    _, hand = np.unique(options[:, tied], axis=1, return_inverse=True)
    hand = hand.ravel()
    order = np.argsort(hand, kind="stable")
    hand = hand[order]
    rows = tied[order]
    place = np.arange(len(rows)) - np.searchsorted(hand, hand)
    share = (place + 0.5) / np.bincount(hand)[hand]
    trial = np.searchsorted(np.cumsum(weights / weights.sum())[:-1], share)
    chosen[rows] = options[trial, rows]
    return chosen


def _repair(program: Program, chosen: np.ndarray, prices: np.ndarray) -> np.ndarray | None:
    """Decide the rows nearest to a tie anew, so that all limits hold; None if that fails."""
    penalised = program.penalised(prices)
    n_decisions = len(penalised)
    two_least = np.partition(penalised, 1, axis=0)[:2]
    order = np.argsort(two_least[1] - two_least[0], kind="stable")
    for size in REPAIRED_ROWS:
        free = order[:size]
        fixed = order[size:]
        fixed_sums = program.added[:, chosen[fixed], fixed].sum(axis=1)
        one_each = sparse.kron(np.ones((1, n_decisions)), sparse.identity(len(free)))
        added = program.added[:, :, free].reshape(len(fixed_sums), -1)
        result = milp(
            program.regret[:, free].ravel(),
            integrality=np.ones(n_decisions * len(free), dtype=int),
            bounds=Bounds(0, 1),
            constraints=[
                LinearConstraint(one_each, 1, 1),
                LinearConstraint(
                    added,
                    program.low - fixed_sums - program.rounding,
                    program.high - fixed_sums + program.rounding,
                ),
            ],
            options={"node_limit": 500},  # the same decisions each time, unlike a time limit
        )
        if result.x is None:
            continue
        repaired = chosen.copy()
        repaired[free] = result.x.reshape(n_decisions, -1).argmax(axis=0)
        if program.is_within(repaired):
            return repaired
    return None

"""Cost by threshold, money by share acted upon, and the capacity of a decision."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from costboost._typing import Floats, Ints
from costboost.report.case import Case
from costboost.report.data.operating import Board, cheapest_but

__all__ = [
    "CapacityCurve",
    "ShareCurve",
    "ThresholdCurve",
    "capacity_curve",
    "share_curve",
    "threshold_curve",
]

POINTS = 300
"""Largest number of points of a drawn curve."""


@dataclass(frozen=True, eq=False)
class ThresholdCurve:
    """Total cost of acting at or above each threshold on the risk."""

    thresholds: Floats
    costs: Floats
    best: tuple[float, float]
    chosen: float
    stated: float | None


def threshold_curve(case: Case, board: Board) -> ThresholdCurve | None:
    """Total cost by threshold; None if every class, or no class, calls for action."""
    if not 0 < len(case.risky) < case.k:
        return None
    act = cheapest_but(board.expected(np.ones(board.shape)), case.nothing)
    order = np.argsort(case.risk, kind="stable")
    risk = case.risk[order]
    idle = (case.prices[:, case.nothing] * case.weights)[order]
    acting = (case.paid(act) * case.weights)[order]
    below = np.concatenate([[0.0], np.cumsum(idle)])
    above = np.concatenate([np.cumsum(acting[::-1])[::-1], [0.0]])
    starts = np.flatnonzero(np.concatenate([[True], risk[1:] > risk[:-1]]))
    thresholds = np.append(risk[starts], max(1.0, np.nextafter(risk[-1], 2.0)))
    costs = (below + above)[np.append(starts, case.n)]
    lowest = int(costs.argmin())
    shown = evenly(len(costs), lowest)
    return ThresholdCurve(
        thresholds[shown],
        costs[shown],
        (float(thresholds[lowest]), float(costs[lowest])),
        case.total(case.decided),
        _stated_threshold(case),
    )


def _stated_threshold(case: Case) -> float | None:
    """With two classes and one matrix: the risk at which acting starts to pay."""
    if case.k != 2 or case.d != 2 or case.is_per_row:
        return None
    j, act = int(case.risky[0]), 1 - case.nothing
    harm = float(case.matrix[1 - j, act] - case.matrix[1 - j, case.nothing])
    good = float(case.matrix[j, case.nothing] - case.matrix[j, act])
    return harm / (harm + good)


def evenly(count: int, *keep: int) -> Ints:
    """At most `POINTS` places from first to last, and those to keep."""
    places = np.linspace(0, count - 1, min(count, POINTS)).round().astype(np.intp)
    return np.unique(np.append(places, np.asarray(keep, dtype=np.intp)))


@dataclass(frozen=True, eq=False)
class ShareCurve:
    """What is saved against doing nothing, by the share of rows acted upon."""

    shares: Floats
    savings: Floats
    random: float
    chosen: tuple[float, float]
    best: tuple[float, float]


def share_curve(case: Case, board: Board) -> ShareCurve:
    """Act on the rows with the largest expected saving first."""
    expected = board.expected(np.ones(board.shape))
    act = cheapest_but(expected, case.nothing)
    rows = np.arange(case.n)
    order = np.argsort(expected[rows, act] - expected[:, case.nothing], kind="stable")
    saved = ((case.prices[:, case.nothing] - case.paid(act)) * case.weights)[order]
    total = case.weights.sum()
    shares = np.concatenate([[0.0], np.cumsum(case.weights[order])]) / total
    savings = np.concatenate([[0.0], np.cumsum(saved)])
    idle = case.total(np.full(case.n, case.nothing))
    chosen = (
        float(case.weights[case.decided != case.nothing].sum() / total),
        idle - case.total(case.decided),
    )
    highest = int(savings.argmax())
    shown = evenly(len(shares), highest)
    return ShareCurve(
        shares[shown],
        savings[shown],
        float(savings[-1]),
        chosen,
        (float(shares[highest]), float(savings[highest])),
    )


@dataclass(frozen=True, eq=False)
class CapacityCurve:
    """Total cost if a decision can be taken on a limited number of rows only."""

    decision: int
    capacities: Floats
    costs: Floats
    expected: Floats
    prices: Floats
    wanted: float


def capacity_curve(case: Case, board: Board, limited: int) -> CapacityCurve:
    """Total cost by the capacity of one decision, at the stated costs."""
    expected = board.expected(np.ones(board.shape))
    decided = board.decide(expected)
    rows = np.flatnonzero(decided == limited)
    other = cheapest_but(expected[rows], limited)
    saved = expected[rows, other] - expected[rows, limited]
    order = np.argsort(-saved, kind="stable")
    rows, other, saved = rows[order], other[order], saved[order]
    w = case.weights[rows]
    fallback = decided.copy()
    fallback[rows] = other
    real = (case.prices[rows, other] - case.prices[rows, limited]) * w
    start = float((expected[np.arange(case.n), fallback] * case.weights).sum())
    capacities = np.concatenate([[0.0], np.cumsum(w)])
    shown = evenly(len(capacities))
    return CapacityCurve(
        limited,
        capacities[shown],
        (case.total(fallback) - np.concatenate([[0.0], np.cumsum(real)]))[shown],
        (start - np.concatenate([[0.0], np.cumsum(saved * w)]))[shown],
        np.append(saved, 0.0)[shown],
        float(w.sum()),
    )

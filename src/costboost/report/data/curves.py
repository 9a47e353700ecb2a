"""Cost curve over all cost ratios, calibration, and cost by boosting round."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from costboost._typing import Floats
from costboost.metrics import cost_curve
from costboost.report.case import Case, sum_columns, sums

__all__ = [
    "Calibration",
    "Rounds",
    "WholeCostCurve",
    "calibrations",
    "rounds_of",
    "whole_cost_curve",
]

BINS = 10
MOST_CLASSES = 6
Z = 1.959964


@dataclass(frozen=True, eq=False)
class WholeCostCurve:
    """Least cost over all thresholds, for every ratio of costs."""

    probability_cost: Floats
    costs: dict[str, Floats]
    stated: float | None


def whole_cost_curve(case: Case) -> WholeCostCurve | None:
    """Cost curves of acting against not acting; None if one of them is never right."""
    risky = np.isin(case.codes, case.risky)
    weights = case.weights
    if not (weights[risky].any() and weights[~risky].any()):
        return None
    known = {"The model": case.proba}
    known |= {name: rival.proba for name, rival in case.rivals.items() if rival.proba is not None}
    costs, pc = {}, np.linspace(0.0, 1.0, 101)
    for name, proba in known.items():
        risk = sum_columns(proba, case.risky)
        pc, costs[name] = cost_curve(risky, risk, positive=True, sample_weight=weights)
    return WholeCostCurve(pc, costs, _stated(case))


def _stated(case: Case) -> float | None:
    """Share of missed cases in the cost of getting every row wrong (its cheapest wrong action)."""
    idle = case.prices[:, case.nothing]
    act = np.delete(case.prices, case.nothing, axis=1).min(axis=1)
    risky = np.isin(case.codes, case.risky)
    missed = float((np.maximum(idle - act, 0.0) * case.weights)[risky].sum())
    alarmed = float((np.maximum(act - idle, 0.0) * case.weights)[~risky].sum())
    return missed / (missed + alarmed) if missed + alarmed > 0 else None


@dataclass(frozen=True, eq=False)
class Calibration:
    """Predicted against observed frequency of one class."""

    label: str
    predicted: Floats
    observed: Floats
    low: Floats
    high: Floats
    rows: Floats


def calibrations(case: Case) -> list[Calibration]:
    """Calibration of the class that calls for action, or of the most frequent classes."""
    if case.k == 2:
        shown = case.risky.tolist() if len(case.risky) == 1 else [1]
    else:
        frequency = sums(case.codes, case.weights, case.k)
        shown = sorted(np.argsort(-frequency, kind="stable")[:MOST_CLASSES].tolist())
    return [_calibration(case, j) for j in shown]


def _calibration(case: Case, j: int) -> Calibration:
    p = case.proba[:, j]
    edges = np.unique(np.quantile(p, np.linspace(0, 1, BINS + 1)[1:-1]))
    place = np.searchsorted(edges, p, side="right")
    rows = sums(place, case.weights, len(edges) + 1)
    squares = sums(place, case.weights**2, len(edges) + 1)
    used = rows > 0
    predicted = sums(place, case.weights * p, len(rows))[used] / rows[used]
    hits = sums(place, case.weights * (case.codes == j), len(rows))[used]
    observed = hits / rows[used]
    low, high = wilson(observed, rows[used] ** 2 / squares[used])
    return Calibration(str(case.classes[j]), predicted, observed, low, high, rows[used])


def wilson(share: Floats, n: Floats) -> tuple[Floats, Floats]:
    """95 % interval of a share observed on n rows."""
    middle = (share + Z**2 / (2 * n)) / (1 + Z**2 / n)
    half = Z / (1 + Z**2 / n) * np.sqrt(share * (1 - share) / n + Z**2 / (4 * n**2))
    return np.maximum(middle - half, 0.0), np.minimum(middle + half, 1.0)


@dataclass(frozen=True, eq=False)
class Rounds:
    """Mean cost after each boosting round."""

    name: str
    costs: Floats
    best: int


def rounds_of(case: Case) -> list[Rounds]:
    """Cost by round, as given."""
    return [Rounds(name, costs, int(costs.argmin()) + 1) for name, costs in case.rounds.items()]

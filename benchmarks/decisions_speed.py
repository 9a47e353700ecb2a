"""Decisions under limits on a million rows.

    python benchmarks/decisions_speed.py

Speed on an otherwise idle machine: one limit under 2 s, two under 30 s, a rate or a budget on
200,000 rows under 1 s.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from harness import Bench, median_seconds

from costboost.decisions import Budget, Rate, allocate, capacity_prices, read_limits

SEED = 0
ROWS = 1_000_000
FEW_ROWS = 200_000


def payments(n: int, rng: np.random.Generator) -> np.ndarray:
    """Expected costs of accept, review and block."""
    fraud, amount = rng.beta(0.3, 5.0, n), rng.lognormal(3.5, 1.0, n)
    return np.stack([fraud * amount, 4.0 + 0.1 * fraud * amount, 20.0 * (1 - fraud)], axis=1)


def speed() -> None:
    rng = np.random.default_rng(SEED)
    expected = payments(ROWS, rng)
    days = rng.integers(0, 365, ROWS)
    few = expected[:FEW_ROWS]
    risk = rng.beta(0.3, 5.0, FEW_ROWS)
    rate = Rate([1, 2], given=1, at_least=0.85)
    budget = Budget(1, at_most=0.04 * FEW_ROWS, amount=rng.uniform(1, 2, FEW_ROWS))

    def limits(capacity: object = None, constraints: object = ()) -> list:
        proba = np.stack([1 - risk, risk], axis=1)
        return read_limits(capacity, constraints, decisions=range(3), proba=proba)

    bench = Bench("decisions under limits, 1M rows, 3 decisions: target in seconds")
    both_ends = {1: (0.02, 0.05), 2: (0.01, 0.02)}
    cases: list[tuple[str, float, Callable[[], object]]] = [
        ("one limit", 2.0, lambda: allocate(expected, limits({1: 0.01}))),
        (
            "one limit in each of 365 groups",
            2.0,
            lambda: allocate(expected, limits({1: 20}), groups=days),
        ),
        ("two upper limits", 30.0, lambda: allocate(expected, limits({1: 0.01, 2: 0.005}))),
        ("two limits with both ends", 30.0, lambda: allocate(expected, limits(both_ends))),
        (
            "two limits, whole amounts (many ties)",
            30.0,
            lambda: allocate(expected.round(), limits({1: 0.01, 2: 0.005})),
        ),
        (
            "prices of two limits",
            30.0,
            lambda: capacity_prices(expected, capacity={1: 0.01, 2: 0.005}),
        ),
        ("a rate on 200,000 rows", 1.0, lambda: allocate(few, limits(None, rate))),
        ("a budget on 200,000 rows", 1.0, lambda: allocate(few, limits(None, budget))),
    ]
    for what, target, run in cases:
        bench.add("11", what, median_seconds(run, 3), "target", target, at_most=1.0)
    bench.finish("decisions_speed", SEED)


if __name__ == "__main__":
    speed()

"""Decisions under limits on a million rows.

    python benchmarks/decisions_speed.py

Speed: one limit under 2 s, two under 30 s, on an otherwise idle machine.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from harness import Bench, median_seconds

from costboost.decisions import allocate, capacity_prices

SEED = 0
ROWS = 1_000_000


def payments(n: int, rng: np.random.Generator) -> np.ndarray:
    """Expected costs of accept, review and block."""
    fraud, amount = rng.beta(0.3, 5.0, n), rng.lognormal(3.5, 1.0, n)
    return np.stack([fraud * amount, 4.0 + 0.1 * fraud * amount, 20.0 * (1 - fraud)], axis=1)


def speed() -> None:
    rng = np.random.default_rng(SEED)
    expected = payments(ROWS, rng)
    days = rng.integers(0, 365, ROWS)
    bench = Bench("decisions under limits, 1M rows, 3 decisions: target in seconds")
    cases: list[tuple[str, float, Callable[[], object]]] = [
        ("one limit", 2.0, lambda: allocate(expected, capacity={1: 0.01})),
        (
            "one limit in each of 365 groups",
            2.0,
            lambda: allocate(expected, capacity={1: 20}, per=days),
        ),
        ("two upper limits", 30.0, lambda: allocate(expected, capacity={1: 0.01, 2: 0.005})),
        (
            "two limits with both ends",
            30.0,
            lambda: allocate(expected, capacity={1: (0.02, 0.05), 2: (0.01, 0.02)}),
        ),
        (
            "two limits, whole amounts (many ties)",
            30.0,
            lambda: allocate(expected.round(), capacity={1: 0.01, 2: 0.005}),
        ),
        (
            "prices of two limits",
            30.0,
            lambda: capacity_prices(expected, capacity={1: 0.01, 2: 0.005}),
        ),
    ]
    for what, target, run in cases:
        bench.add("11", what, median_seconds(run, 3), "target", target, at_most=1.0)
    bench.finish("decisions_speed", SEED)


if __name__ == "__main__":
    speed()

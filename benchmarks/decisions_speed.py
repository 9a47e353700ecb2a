"""Decisions under limits on a million rows, and how often the promises of the library fail.

    python benchmarks/decisions_speed.py                      # both parts
    python benchmarks/decisions_speed.py decisions_promises   # 2,000 simulations of each promise

Speed: one limit under 2 s, two under 30 s, on an otherwise idle machine.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from harness import Bench, median_seconds, run_parts

from costboost.decisions import allocate, capacity_prices, cost_guarantee
from costboost.monitor import Monitor, snapshot

SEED = 0
ROWS = 1_000_000
SIMULATIONS = 2_000


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


def promises() -> None:
    """Share of simulations in which a promise failed, against what was promised."""
    bench = Bench(f"promises over {SIMULATIONS} simulations: share of failures")
    draws: dict[str, tuple[Callable[[np.random.Generator], np.ndarray], float]] = {
        "2 % cost 100": (lambda rng: 100.0 * (rng.random(500) < 0.02), 2.0),
        "40 % cost 100": (lambda rng: 100.0 * (rng.random(500) < 0.4), 40.0),
        "beta, mean 5 of 100": (lambda rng: 100.0 * rng.beta(0.3, 5.7, 500), 5.0),
    }
    for delta in (0.05, 0.2):
        for name, (draw, mean) in draws.items():
            rng = np.random.default_rng(SEED)
            answers = [
                cost_guarantee(draw(rng), 50.0, delta, largest=100.0) for _ in range(SIMULATIONS)
            ]
            bounds = np.array([one.upper_bound for one in answers])
            failed = float((bounds < mean).mean())
            what = f"cost_guarantee, 500 rows, {name}: mean above the bound"
            note = f"mean bound {bounds.mean():.3g} of mean {mean:g}"
            bench.add("11", what, failed, "delta", delta, at_most=1.0, unit="share", note=note)
    for rate in (0.01, 0.1):
        rng = np.random.default_rng(SEED)
        false = sum(bool(_unchanged(rng, rate)) for _ in range(SIMULATIONS)) / SIMULATIONS
        bench.add("11", "Monitor, unchanged rows with labels: any alarm", false, "rate", rate,
                  at_most=1.2, unit="share")  # fmt: skip
    bench.finish("decisions_promises", SEED)


def _unchanged(rng: np.random.Generator, rate: float) -> list[object]:
    """Alarms on two samples of one distribution."""

    def sample(n: int) -> object:
        X = rng.normal(size=(n, 5))
        fraud = 1 / (1 + np.exp(2 - X[:, 0] - X[:, 1]))
        matrix = np.zeros((n, 2, 3))
        matrix[:, 1, 0] = rng.lognormal(3.0, 0.7, n)
        matrix[:, :, 1], matrix[:, 0, 2] = 2.0, 8.0
        truth = (rng.random(n) < fraud).astype(int)
        return snapshot(X, np.stack([1 - fraud, fraud], axis=1), matrix, truth)

    return list(Monitor(sample(2000), false_alarm_rate=rate).check(sample(1000)).alarms)


if __name__ == "__main__":
    run_parts({"decisions_speed": speed, "decisions_promises": promises}, __doc__)

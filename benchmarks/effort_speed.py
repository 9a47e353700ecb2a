"""What each effort costs in processor time, beside the recipe that people use.

    python benchmarks/effort_speed.py [--rows 20000,80000,320000] [--repeats 1]

The recipe is five LightGBM boosters of 150 rounds, calibrated by isotonic regression, and the
cheapest decision. One thread; seconds of processor time, so other work on the machine hardly
counts. Savings are those on 100,000 other payments. Writes results/effort_speed.csv.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable
from statistics import median

import numpy as np
from harness import Bench, write_rows
from lightgbm import LGBMClassifier
from sklearn.calibration import CalibratedClassifierCV

from costboost import CostBoostClassifier
from costboost.costs import Costs
from costboost.datasets import make_fraud

SEED, TEST_ROWS = 0, 100_000
MATRIX = np.array([[0.0, 5.0], [100.0, 0.0]])
# Processor time in that of the recipe, at most: at 20,000 rows, and from 80,000 rows on.
TARGETS = {"fast": (1.0, 1.0), "balanced": (6.0, 4.0), "high": (15.0, 12.0)}


def seconds(fit: Callable[[], object], repeats: int) -> tuple[float, object]:
    """Median processor time, and what the last call returned."""
    found = []
    for _ in range(repeats):
        start = time.process_time()
        fitted = fit()
        found.append(time.process_time() - start)
    return median(found), fitted


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", default="20000,80000,320000")
    parser.add_argument("--repeats", type=int, default=1)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    bench = Bench("processor time of a fit")
    test = make_fraud(TEST_ROWS, random_state=SEED + 1)
    known = Costs([0, 1], test.costs, codes=test.y)
    CostBoostClassifier(effort="fast", n_jobs=1).fit(test.X[:500], test.y[:500])  # imports
    for n in map(int, asked.rows.split(",")):
        data = make_fraud(n, random_state=SEED)
        booster = LGBMClassifier(n_estimators=150, learning_rate=0.05, n_jobs=1, verbose=-1)
        recipe = CalibratedClassifierCV(booster, method="isotonic", cv=5)
        theirs, fitted = seconds(lambda r=recipe, d=data: r.fit(d.X, d.y), asked.repeats)
        proba = fitted.predict_proba(test.X)
        base = known.avoidable_share(known.decide(proba))
        for effort, targets in TARGETS.items():
            for name, given in (("matrix", {}), ("row costs", {"costs": data.costs})):
                model = CostBoostClassifier(MATRIX, effort=effort, n_jobs=1, random_state=SEED)
                ours, fitted = seconds(
                    lambda m=model, d=data, g=given: m.fit(d.X, d.y, **g), asked.repeats
                )
                saved = known.avoidable_share(known.decide(fitted.predict_proba(test.X)))
                total = sum(member.seconds for member in fitted.members_)
                idle = sum(member.seconds for member in fitted.members_ if not member.weight)
                bench.add(
                    f"{n:,} rows", f"{effort}, {name}", ours, "the recipe", theirs,
                    at_most=targets[n >= 80_000],
                    note=f"saves {saved:.4f} (recipe {base:.4f}); kinds of weight 0: "
                    f"{idle / total:.0%} of the training",
                )  # fmt: skip
    bench.console.print(bench.table())
    write_rows("effort_speed", bench.rows, SEED)


if __name__ == "__main__":
    main()

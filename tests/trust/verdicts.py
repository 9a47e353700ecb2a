"""Whether intervals cover what they say: some draws of each cell of a part of the grid of verdicts.

    PYTHONPATH=src:tests python -m trust.verdicts 40

`benchmarks/verdicts.py` has the whole grid. A violation is an interval of width zero, or fewer
intervals that cover than chance explains if each covered with a probability of 0.93.
"""

from __future__ import annotations

import multiprocessing
import sys
from concurrent.futures import ProcessPoolExecutor

import pandas as pd
from benchmarks import verdicts
from scipy.stats import binom

from trust.part import main

LEAST_COVERAGE = 0.93
# A run in so many is a false alarm.
FALSE_ALARMS = 1e-3
CELLS = [
    verdicts.Cell(effort, n_rows, table)
    for effort in ("fast", "balanced")
    for n_rows in (300, 1000)
    for table in verdicts.TABLES
]


def violations_of(rows):
    """Return what is wrong with the intervals of draws, in words."""
    violations = []
    widths = rows["high"] - rows["low"]
    for row in rows[widths <= verdicts.ROUNDING].itertuples():
        violations.append(f"width zero: {row.effort}, {row.n_rows} rows, {row.table}, {row.seed}")
    covered = (rows["low"] <= rows["truth"]) & (rows["truth"] <= rows["high"])
    fewest = binom.ppf(FALSE_ALARMS, len(rows), LEAST_COVERAGE)
    if covered.sum() < fewest:
        violations.append(f"{covered.sum()} of {len(rows)} intervals cover; at least {fewest:.0f}")
    return violations


def run(seed, n_draws=40):
    """Draw from every cell; return counts and violations."""
    jobs = [(cell, 200_000 + 1000 * seed + i) for cell in CELLS for i in range(n_draws)]
    context = multiprocessing.get_context("spawn")  # LightGBM's threads do not survive a fork
    with ProcessPoolExecutor(2, mp_context=context) as pool:
        rows = pd.DataFrame(pool.map(verdicts.draw, *zip(*jobs, strict=True)))
    covered = (rows["low"] <= rows["truth"]) & (rows["truth"] <= rows["high"])
    losing = rows["truth"] <= verdicts.ROUNDING
    counts = {
        "intervals of estimates": len(rows),
        "intervals that cover the truth": int(covered.sum()),
        "models that lose": int(losing.sum()),
        "models that lose and are said to pay": int((losing & (rows["low"] > 0.0)).sum()),
    }
    return counts, violations_of(rows)


if __name__ == "__main__":
    main("verdicts", run, n_draws=int(sys.argv[1]) if len(sys.argv) > 1 else 40)

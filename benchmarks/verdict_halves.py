"""Whether estimates hold on real data: halves of the development sets.

    python -m benchmarks.verdict_halves [--halvings 20] [--efforts fast balanced] [--minutes 60]

Each set is halved at random, at most 4,000 rows. A classifier is fitted on one half; its estimate
is compared with its score on the other half, whose own error is an interval, too. A line of
results/verdict_halves.csv is a fit; a stopped run goes on where it was. It ends with the share of
test halves that agree with the estimate, by size, and the mean score.
"""

from __future__ import annotations

import argparse
import time
import warnings
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import numpy as np
import pandas as pd
from benchmarks.harness import RESULTS, append_rows, source_number
from benchmarks.held_out_cost import problems

from costboost import CostBoostClassifier
from costboost.costs import RealizedCosts

MOST_ROWS = 2_000  # of a half
FIRST_SEED = 3000  # of splits that chose nothing
PATH = RESULTS / "verdict_halves.csv"
KEYS = ["effort", "data", "problem", "seed"]
FIELDS = (*KEYS, "n_rows", "value", "low", "high", "score", "score_error", "seconds", "source")


def measure(effort, data, problem_name, seed):
    """Fit on a half; return the estimate and the score of the other half."""
    whole = problems.table(data)
    (problem,) = (p for p in problems.problems_of(data) if p.costs == problem_name)
    rows = np.random.default_rng(seed).permutation(len(whole.y))[: 2 * MOST_ROWS]
    halves = np.array_split(rows, 2)
    split = problems.Split(
        *(whole.X.iloc[half].reset_index(drop=True) for half in halves),
        *(whole.y[half] for half in halves),
        whole.k,
        seed,
        None if whole.row_costs is None else tuple(whole.row_costs[half] for half in halves),
        whole.matrix,
        int(np.bincount(whole.y).argmin()),
    )
    prices = problems.price(problem, split)
    model = CostBoostClassifier(
        None if prices.rows is not None else prices.matrix,
        effort=effort,
        n_jobs=1,
        random_state=seed,
    )
    start = time.process_time()
    with warnings.catch_warnings(action="ignore"):
        model.fit(split.X_train, split.y_train, costs=prices.rows)
        seconds = time.process_time() - start
        decided = model.predict(
            split.X_test, costs=prices.test.matrix if prices.rows is not None else None
        )
    score, error = score_and_error(prices.test, np.searchsorted(model.classes_, decided))
    return {
        "effort": effort,
        "data": data,
        "problem": problem_name,
        "seed": seed,
        "n_rows": len(split.y_train),
        **dict(zip(("value", "low", "high"), map(float, model.estimated_score_), strict=True)),
        "score": score,
        "score_error": error,
        "seconds": seconds,
    }


def score_and_error(costs: RealizedCosts, decided):
    """Return the share of the avoidable cost, and its standard error."""
    reduced = costs.regret
    paid = reduced[np.arange(len(decided)), decided]
    best = reduced[:, reduced.sum(axis=0).argmin()]
    share = 1.0 - paid.sum() / best.sum()
    residual = (1.0 - share) * best - paid
    return float(share), float(np.sqrt(np.square(residual).sum()) / best.sum())


def run(efforts, halvings, minutes, workers, path):
    """Add fits until all are there or the time is over."""
    done = set()
    if path.exists():
        done = set(pd.read_csv(path)[KEYS].itertuples(index=False, name=None))
    jobs = []
    for seed in range(FIRST_SEED, FIRST_SEED + halvings):
        for data in problems.DEVELOPMENT:
            for problem in problems.problems_of(data):
                if problem.costs == problems.HIDDEN:
                    continue  # its score is of told costs; hidden_costs measures the others
                for effort in efforts:
                    job = (effort, data, problem.costs, seed)
                    if job not in done:
                        jobs.append(job)
    end = time.monotonic() + 60.0 * minutes
    source = source_number(path.parent)
    with ProcessPoolExecutor(workers) as pool:
        for start in range(0, len(jobs), 8 * workers):
            if time.monotonic() > end:
                break
            batch = jobs[start : start + 8 * workers]
            found = pool.map(measure, *zip(*batch, strict=True))
            append_rows(path, [{**row, "source": source} for row in found], FIELDS)


def summary(rows):
    """Return the share of halves that agree, by effort and size."""
    sizes = pd.cut(rows["n_rows"], [0, 200, 500, 1000, 2000])
    half_width = np.where(
        rows["score"] < rows["value"], rows["value"] - rows["low"], rows["high"] - rows["value"]
    )
    reach = np.sqrt(np.square(half_width) + np.square(1.96 * rows["score_error"]))
    gap = rows["value"] - rows["score"]
    table = rows.assign(agrees=gap.abs() <= reach, bias=gap)
    columns = {"agrees": "mean", "bias": "mean", "score": "mean", "seconds": ["mean", "size"]}
    return table.groupby(["effort", sizes], observed=True).agg(columns)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--halvings", type=int, default=20)
    parser.add_argument("--efforts", nargs="*", default=["fast", "balanced"])
    parser.add_argument("--minutes", type=float, default=600.0)
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--path", type=Path, default=PATH)
    asked = parser.parse_args()
    run(asked.efforts, asked.halvings, asked.minutes, asked.workers, asked.path)
    print(summary(pd.read_csv(asked.path)).round(3).to_string())


if __name__ == "__main__":
    main()

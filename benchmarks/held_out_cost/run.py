"""Run methods on splits of problems by `costboost.compare`; rows are kept as splits are done."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.harness import append_rows, finished, source_number
from benchmarks.held_out_cost.problems import (
    FIRST_SEED,
    HIDDEN,
    KNOWN,
    Problem,
    draw,
    price,
    problems_of,
    rows_of,
    table,
)
from rich.console import Console

import costboost

FIELDS = (
    "data", "costs", "group", "development", "split", "method", "score", "mean_cost",
    "fit_seconds", "predict_seconds", "n_train", "n_test", "estimated", "estimated_low",
    "estimated_high", "error", "source",
)  # fmt: skip
SECONDS = ("fit_seconds", "predict_seconds")
KEYS = ("data", "costs", "split", "method")
# Given a problem and its number of classes, the methods that apply: estimators or functions.
Methods = Callable[[Problem, int], Mapping[str, Any]]


def run(
    sets: Sequence[str],
    methods: Methods,
    path: Path,
    *,
    splits: Sequence[int],
    costs: Sequence[str] = (),
    jobs: int = 1,
    most_train: int | None = None,
) -> None:
    """Run what ``path`` does not have yet, the first split of all sets first.

    `costs` chooses problems; none chooses all of a set. `most_train` rows of it are trained on.
    """
    console, start = Console(width=110), time.perf_counter()
    done = finished(path, *KEYS)
    source = source_number(path.parent)
    for split in splits:
        for data in sets:
            asked = [one for one in problems_of(data) if not costs or one.costs in costs]
            rows = [
                row
                for one in asked
                for row in run_problem(one, split, methods, done, jobs, most_train)
            ]
            append_rows(path, [{**row, "source": source} for row in rows], FIELDS)
            minutes = (time.perf_counter() - start) / 60
            console.print(f"{minutes:6.1f} min  split {split}, {data}: {len(rows)} rows")
            for row in rows:
                if row["error"]:
                    console.print(f"   {row['method']} on {row['costs']}: {row['error']}")


def run_problem(
    problem: Problem,
    split: int,
    methods: Methods,
    done: set[tuple[str, ...]],
    jobs: int = 1,
    most_train: int | None = None,
) -> list[dict[str, Any]]:
    """The rows of one problem and split that are not done, failures among them."""
    whole, seed = table(problem.data), FIRST_SEED + split
    key = (problem.data, problem.costs, str(split))
    missing = {
        name: one for name, one in methods(problem, whole.k).items() if (*key, name) not in done
    }
    if not missing:
        return []
    facts = {
        "data": problem.data, "costs": problem.costs, "group": problem.group, "split": split,
        "development": int(problem.is_development), "error": "",
    }  # fmt: skip
    matrix = price(problem, draw(whole, seed, most_train)).matrix
    costs = whole.row_costs if problem.costs in (KNOWN, HIDDEN) else matrix
    try:
        found = costboost.compare(
            missing, {problem.name: (whole.X, whole.y, costs)},
            costs_known=problem.costs != HIDDEN, splits={split: rows_of(whole, seed, most_train)},
            random_state=seed, n_jobs=jobs, progress=False,
        )  # fmt: skip
    except ValueError as error:  # none of them could run
        return [{**facts, "method": name, "error": str(error)[:300]} for name in missing]
    rows = []
    for row in found.rows:
        value, low, high = row.get("estimated", (float("nan"),) * 3)
        own = {"estimated": value, "estimated_low": low, "estimated_high": high}
        seconds = {name: f"{row[name]:.3g}" for name in SECONDS if name in row}
        rows.append({**row, **seconds, **own, **facts})
    failed = [{"method": name, "error": why} for name, why in found.failures.items()]
    return rows + [{**facts, **row} for row in failed]

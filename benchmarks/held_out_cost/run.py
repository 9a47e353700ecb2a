"""Run every method on every split of every problem; a row each, kept as soon as a split is done."""

from __future__ import annotations

import csv
import json
import os
import time
import warnings
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from typing import Any

import joblib
import numpy as np
import pandas as pd
from benchmarks.harness import provenance
from benchmarks.held_out_cost.methods import METHODS, RIVALS, Method, rounds
from benchmarks.held_out_cost.problems import (
    FIRST_SEED,
    SPLITS,
    Prices,
    Problem,
    Split,
    draw,
    price,
    problems_of,
    table,
)
from rich.console import Console

from costboost import CostBoostClassifier
from costboost.metrics import avoidable_cost_score, mean_cost

FIELDS = (
    "data", "costs", "group", "development", "split", "method", "score", "mean_cost",
    "fit_seconds", "predict_seconds", "rounds", "n_train", "n_test", "classes",
    "estimated", "estimated_low", "estimated_high", "error", "commit",
)  # fmt: skip
Key = tuple[str, str, int, str]
SLOW = 60.0  # seconds; fits above are printed
RIVALS_VERSIONS = "versions of rivals"  # in the JSON file
MORE_PACKAGES = ("xgboost", "pandas", "catboost", "autogluon.tabular", "vowpalwabbit")
# Longest first, so that no worker is left alone with the longest at the end.
LONGEST = ("kddcup99", "adult", "optdigits", "pendigits", "vowel", "shuttle", "satimage",
           "creditscoring1", "bankmarketing", "credit_default", "segment")  # fmt: skip


def run(
    data: list[str],
    methods: list[str],
    path: Path,
    *,
    splits: int = SPLITS,
    jobs: int = 2,
    resume: bool = False,
    by_split: bool = False,
) -> None:
    """Run, appending to ``path``.

    Parameters
    ----------
    data, methods : list of str
        Names of sets and methods; methods that are not installed are skipped.
    path : Path
        CSV file of the rows.
    splits : int
        Splits of each set.
    jobs : int
        Processes.
    resume : bool
        Keep the rows of the file and run what is missing.
    by_split : bool
        Run the first split of all sets, in the order given, before the second of any.
    """
    console = Console(width=110)
    path.parent.mkdir(parents=True, exist_ok=True)
    done = finished(path) if resume else set()
    if not done:
        path.unlink(missing_ok=True)
    missing = [name for name in methods if not METHODS[name].is_installed]
    for name in missing:
        console.print(f"skipped: {name} needs {METHODS[name].needs}, which is not installed here")
    methods = [name for name in methods if name not in missing]
    source = record_source(path, methods, keep=bool(done))
    if by_split:
        tasks = [(name, split) for split in range(splits) for name in data]
    else:
        data = sorted(data, key=lambda name: LONGEST.index(name) if name in LONGEST else 99)
        tasks = [(name, split) for name in data for split in range(splits)]
    start, spent = time.perf_counter(), 0.0
    parallel = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
    results = parallel(
        joblib.delayed(run_split)(name, split, methods, done) for name, split in tasks
    )
    for i, rows in enumerate(results, 1):
        append(path, [{**row, "commit": source["commit"]} for row in rows])
        spent += sum(row["fit_seconds"] + row["predict_seconds"] for row in rows if row["fresh"])
        minutes = (time.perf_counter() - start) / 60
        if rows:
            label = f"{rows[0]['data']}, split {rows[0]['split']}"
            console.print(f"{i}/{len(tasks)}  {minutes:5.1f} min  {label}: {len(rows)} rows")
        for row in rows:
            if row["error"] or (row["fresh"] and row["fit_seconds"] > SLOW):
                told = row["error"] or f"{row['fit_seconds']:.0f} s"
                console.print(f"   {row['method']} on {row['data']}, {row['costs']}: {told}")
    console.print(
        f"{spent / 60:.1f} minutes of processor time in fits and decisions; {SPLITS} splits of "
        f"these sets take about {spent / 60 * SPLITS / splits / jobs:.0f} minutes on {jobs} cores."
    )


def record_source(path: Path, methods: list[str], keep: bool) -> dict[str, str]:
    """Write beside the rows what they are measured with; the rivals' environment is apart."""
    source = provenance(FIRST_SEED)
    found = {package: _version(package) for package in MORE_PACKAGES}
    source["versions"] += "".join(f" {name}=={number}" for name, number in found.items() if number)
    file = path.with_suffix(".json")
    told = json.loads(file.read_text()) if keep and file.exists() else {}
    if set(methods) <= {method.name for method in RIVALS}:
        told = {**source, **told, RIVALS_VERSIONS: source["versions"]}
    else:
        told |= source
    file.write_text(json.dumps(told, indent=1) + "\n")
    return source


def run_split(data: str, split: int, methods: list[str], done: set[Key]) -> list[dict[str, Any]]:
    """All rows of one split of a set that are not done yet."""
    wanted = [
        (problem, METHODS[name])
        for problem in problems_of(data)
        for name in methods
        if (data, problem.costs, split, name) not in done
    ]
    if not wanted:
        return []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return list(compare(draw(table(data), FIRST_SEED + split), split, wanted))


def compare(
    part: Split, number: int, wanted: list[tuple[Problem, Method]]
) -> Iterator[dict[str, Any]]:
    """A row per problem and method; trainings that cannot differ are shared."""
    trained: dict[tuple[str, str], tuple[Any, float, Problem]] = {}
    for problem, method in wanted:
        if not method.applies(problem, part.k):
            continue
        prices = price(problem, part)
        key = method.training(problem, part.k)
        row: dict[str, Any] = {
            "data": problem.data, "costs": problem.costs, "group": problem.group,
            "development": int(problem.is_development), "split": number, "method": method.name,
            "fit_seconds": np.nan, "predict_seconds": np.nan, "n_train": len(part.y_train),
            "n_test": len(part.y_test), "classes": part.k, "error": "", "fresh": key not in trained,
        }  # fmt: skip
        try:
            if key not in trained:
                if method.needs:
                    import_module(method.needs)  # not part of the training's time
                start = cpu_seconds()
                model = method.fit(part, prices)
                trained[key] = model, cpu_seconds() - start, problem
            model, row["fit_seconds"], origin = trained[key]
            start = cpu_seconds()
            decided = method.decide(model, part, prices)
            # Probabilities that were kept from another problem count with the time they took.
            spent = cpu_seconds() - start
            row["predict_seconds"] = max(spent, getattr(model, "proba_seconds_", 0.0))
            row |= judge(decided, part, prices) | estimate(model, problem, origin)
            row["rounds"] = rounds(model)
        except Exception as error:
            row["error"] = f"{type(error).__name__}: {error}".replace("\n", " ")[:300]
            row["fresh"] = False
        yield row


def cpu_seconds() -> float:
    """Processor time of this process and of the child processes that have ended."""
    spent = os.times()
    return time.process_time() + spent.children_user + spent.children_system


def judge(decided: np.ndarray, part: Split, prices: Prices) -> dict[str, float]:
    """What the decisions cost."""
    known = {"labels": np.arange(part.k)}
    if prices.rows is None:
        known["cost_matrix"] = prices.matrix
    else:
        known["costs"] = prices.test.matrix
    return {
        "score": avoidable_cost_score(part.y_test, decided, **known),
        "mean_cost": mean_cost(part.y_test, decided, **known),
    }


def estimate(model: Any, problem: Problem, origin: Problem) -> dict[str, float]:
    """What the flagship expected to save, if it was trained for this very problem."""
    per_row = ("per row", "hidden")
    same_costs = problem.costs == origin.costs or problem.group in per_row
    if not isinstance(model, CostBoostClassifier) or not same_costs:
        return {}
    which = "estimated_score_without_costs_" if problem.group == "hidden" else "estimated_score_"
    if not hasattr(model, which):
        return {}
    return dict(
        zip(("estimated", "estimated_low", "estimated_high"), getattr(model, which), strict=True)
    )


def finished(path: Path) -> set[Key]:
    """What the rows on disk already answer; failures are tried again."""
    if not path.exists():
        return set()
    content = path.read_bytes()
    if not content.endswith(b"\n"):  # a run was ended while it wrote
        path.write_bytes(content[: content.rfind(b"\n") + 1])
    rows = pd.read_csv(path, keep_default_na=False, na_values={"score": [""]})
    kept = rows[rows["error"] == ""]
    if len(kept) < len(rows):
        kept.to_csv(path, index=False)
    columns = (kept["data"], kept["costs"], kept["split"], kept["method"])
    return set(zip(*(column.tolist() for column in columns), strict=True))


def append(path: Path, rows: list[dict[str, Any]]) -> None:
    """Add rows to a CSV file."""
    is_new = not path.exists()
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(file, FIELDS, extrasaction="ignore", restval="")
        if is_new:
            writer.writeheader()
        for row in rows:
            writer.writerow({key: _short(value) for key, value in row.items()})


def _short(value: Any) -> Any:
    if isinstance(value, float | np.floating):
        return "" if np.isnan(value) else f"{value:.6g}"
    return value


def _version(package: str) -> str:
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return ""

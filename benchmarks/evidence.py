"""Measure everything that is not measured with the code as it is, cheapest first; write the pages.

    make evidence                     # or: python -m benchmarks.evidence [NAME ...]
    make evidence ARGS=--list         # what is new, what is old and why, what it takes
    make evidence ARGS=--one-commit   # until every figure is of this very source; also with --list

A step is skipped if its results are those of this source, or of an earlier one that no **Numbers**
entry of the changelog separates from it (`benchmarks/fresh.py`); with ``--one-commit``, only if
they are those of this source. It can be stopped at any time: the same command goes on, and writes
the pages at its end. Results of another source stay until new ones take their place. Steps that
time something wait until the machine is idle again; while other work is going on they are left
out, and named. Edited source is refused.
"""

from __future__ import annotations

import argparse
import os
import shlex
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from pathlib import Path

from benchmarks.fresh import (
    CONCERNED,
    OUTSIDE,
    PAPERS,
    RESULTS,
    ROOT,
    commit_faults,
    faults,
    read,
    row_faults,
)
from benchmarks.harness import append_rows
from benchmarks.held_out_cost.methods import AUTOGLUON, RIVALS
from benchmarks.held_out_cost.run import KEYS
from rich.console import Console
from rich.table import Table

from costboost_papers import registry
from costboost_papers.item import Item, Options
from costboost_papers.pages import read_runs
from costboost_papers.run import Store, source_commit

PYTHON = sys.executable
PAPER_PAGES = ROOT / "docs" / "papers"
# Sets of at least 1,000 rows, where AutoGluon has all splits.
LARGE = (
    "bankmarketing,creditscoring1,credit_default,creditcard_subset,adult,phoneme,page-blocks,"
    "sick-euthyroid,german,telco,mlc_churn,segment,satimage,splice,thyroid,flare,optdigits,"
    "pendigits,shuttle,nursery,winewhite,drybean,kddcup99"
)
# Rivals that take long, in the order of their worth: all splits for AutoGluon, one for the others,
# and sets with all their rows.
RIVAL_RUNS = (
    f'--methods "{AUTOGLUON}" --sets "{LARGE}"',
    f'--splits 1 --methods "{";".join(rival.name for rival in RIVALS if rival.name != AUTOGLUON)}"',
    "--splits 1 --methods "
    '"CostBoost;CostBoost, effort=fast;LightGBM early-stopped + Bayes;AutoGluon + Bayes" --sets '
    '"adult (all rows),bankmarketing (all rows),creditscoring1 (all rows),'
    'credit_default (all rows)"',
)
IDLE = 0.5  # load of a machine that times mean something on
PATIENCE = 180  # seconds after which the load of the step before has worn off


@dataclass(frozen=True)
class Step:
    """Commands that bring results files, or an item of a paper, up to date."""

    name: str
    minutes: float
    commands: tuple[tuple[str, ...], ...]
    state: Callable[[], list[str]]  # why it is old; nothing if it is new
    timed: bool = False  # it needs an idle machine
    grows: bool = False  # its command goes on with the rows that are there
    around: Callable[[], AbstractContextManager[None]] = nullcontext  # what its commands need


def bench(minutes: float, command: str, *results: str, only: str = "", **kind: bool) -> Step:
    """A script of this folder and the files that it writes; old unless of the commit `only`."""

    def state() -> list[str]:
        found = {name: read(name) for name in results}
        return [
            why
            for name, rows in found.items()
            for why in (faults(rows, CONCERNED.get(name), only) if rows else ["not measured"])
        ]

    parts = [shlex.split(part) for part in command.split(" && ")]
    commands = tuple(tuple(one) if one[0] == "make" else (PYTHON, *one) for one in parts)
    step = Step(results[0], minutes, commands, state, **kind)
    return replace(step, around=partial(new_rows_alone, results[0], only)) if step.grows else step


@contextmanager
def new_rows_alone(name: str, only: str) -> Iterator[None]:
    """A file that its command goes on with, without old rows; they return where none is newer."""
    path, words, rows = RESULTS / f"{name}.csv", CONCERNED.get(name), read(name)
    valid = [row for row in rows if not row_faults(row, words)]
    if rows:
        path.unlink()
        append_rows(path, [row for row in valid if not row_faults(row, words, only)], list(rows[0]))
    try:
        yield
    finally:
        have = {tuple(row.get(key) for key in KEYS) for row in read(name)}
        left = [row for row in valid if tuple(row.get(key) for key in KEYS) not in have]
        append_rows(path, left, list(rows[0]) if rows else [])


def paper(item: Item, only: str = "") -> Step:
    """An item of `costboost reproduce`; its rows are kept for the source that makes them."""
    rows = Path("build") / "evidence" / source_commit() / f"{item.paper}-{item.name}"
    common = ("-m", "costboost", "reproduce")

    def state() -> list[str]:
        run = read_runs(PAPER_PAGES / "summaries").get((item.paper, item.name))
        if run is None:
            return ["not measured"]
        words = CONCERNED["held_out_cost"] if item.paper in OUTSIDE else PAPERS
        commits = run.commit.split(" / ")
        found = [why for commit in commits for why in commit_faults(commit, str(words), only)]
        if run.tasks < run.planned:
            found.append(f"{run.tasks} of {run.planned} tasks")
        return found

    return Step(
        f"{item.paper} {item.name}",
        item.minutes,
        (
            (
                PYTHON,
                *common,
                item.paper,
                item.name,
                "--output",
                str(rows),
                *["--fresh"] * bool(only),
            ),
            (PYTHON, *common, "--pages", "--output", str(rows)),
        ),
        state,
        around=partial(kept_rows, item, rows, only) if only else nullcontext,
    )


@contextmanager
def kept_rows(item: Item, folder: Path, only: str) -> Iterator[None]:
    """Of the rows that are kept beside the pages, a run starts with those of one commit."""
    store = Store(ROOT / folder, item, Options(), PAPER_PAGES)
    rows = store.rows()
    store.repair()
    rows[rows["commit"] == only].to_csv(store.path, index=False, lineterminator="\n", na_rep="nan")
    yield


def steps(only: str = "") -> list[Step]:
    """Everything, cheapest first; old is what is not of the commit `only`, if it is given."""
    bench_of = partial(bench, only=only)
    # Minutes are of one core, seen once: an order, no promise.
    found = [
        bench_of(4, "benchmarks/hidden_costs.py", "hidden_costs"),
        bench_of(5, "-m benchmarks.stopping", "stopping"),
        bench_of(4, "benchmarks/classifier_choices.py", "classifier_choices"),
        bench_of(
            8, "benchmarks/member_choices.py keep && benchmarks/member_choices.py show",
            "member_choices",
        ),
        bench_of(40, "-m benchmarks.fair", "fair", grows=True),
        bench_of(
            300, " && ".join(
                ["make bench-cost", *(f"make bench-rivals 'ARGS={run}'" for run in RIVAL_RUNS)]
            ),
            "held_out_cost", grows=True,
        ),
        bench_of(30, "make bench-again", "again"),
        bench_of(2, "benchmarks/walk.py", "walk", timed=True),
        bench_of(1, "benchmarks/decisions_speed.py", "decisions_speed", timed=True),
        bench_of(10, "make bench", "speed", "multiclass_speed", timed=True),
        bench_of(3, "benchmarks/speed.py speed_cpu", "speed_cpu", timed=True),
        bench_of(
            30, "make bench-scale", "classifier_speed", "gbm_speed", "effort_speed", "scale",
            "dask_speed", "out_of_core", timed=True,
        ),
        bench_of(5, "make bench-serve", "serve_load", timed=True),
        *(paper(item, only) for item in registry.items() if item.shares_rows_with is None),
    ]  # fmt: skip
    return sorted(found, key=lambda step: step.minutes)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("names", nargs="*", help="steps; all of them by default")
    parser.add_argument("--list", action="store_true", help="show the steps and what they lack")
    parser.add_argument(
        "--one-commit", action="store_true", help="measure again what another commit measured"
    )
    asked = parser.parse_args()
    console = Console(width=110)
    todo = steps(source_commit() if asked.one_commit else "")
    unknown = set(asked.names) - {step.name for step in todo}
    if unknown:
        parser.error(f"there is no step {', '.join(sorted(unknown))}; see --list")
    todo = [step for step in todo if not asked.names or step.name in asked.names]
    if asked.list:
        console.print(listed(todo))
        return
    if source_commit().endswith("-dirty"):
        raise SystemExit("The source is edited: commit it first, so that rows can name a commit.")
    run(todo, console)
    # Not after a stop: a page must not be written from half of the rows.
    for written in (
        ("-m", "benchmarks.held_out_cost", "report"),
        ("docs/build.py", "tables"),
    ):
        subprocess.run([PYTHON, *written], cwd=ROOT, check=False)


def run(todo: list[Step], console: Console) -> None:
    """Run what is old; say what was left out, and why."""
    left = []
    for step in todo:
        old = step.state()
        if not old and not step.grows:
            console.print(f"[dim]{step.name}: new[/]")
            continue
        if step.timed and not is_idle():
            left.append(
                f"{step.name} (needs an idle machine; the load is {os.getloadavg()[0]:.1f})"
            )
            continue
        console.print(f"{step.name}: {old[0] if old else 'goes on'}")
        start = time.perf_counter()
        with step.around():
            codes = [
                subprocess.run(one, cwd=ROOT, env=environment(), check=False).returncode
                for one in step.commands
            ]
        if any(codes):
            left.append(f"{step.name} (failed)")
        console.print(f"{step.name}: {(time.perf_counter() - start) / 60:.1f} minutes")
    for line in left:
        console.print(f"[yellow]left out: {line}[/]")


def environment() -> dict[str, str]:
    """Without what `make evidence ARGS=...` hands on: the commands have arguments of their own."""
    own = ("ARGS", "MAKEFLAGS", "MAKEOVERRIDES", "MFLAGS")
    return {name: value for name, value in os.environ.items() if name not in own}


def is_idle() -> bool:
    """Whether nothing else runs here; the load falls slowly after the step before."""
    until = time.monotonic() + PATIENCE
    while os.getloadavg()[0] > IDLE:
        if time.monotonic() >= until:
            return False
        time.sleep(1)
    return True


def listed(todo: list[Step]) -> Table:
    """The steps, and why they are old."""
    table = Table("step", "minutes", "state")
    for step in todo:
        old = step.state()
        idle = "; needs an idle machine" if old and step.timed else ""
        table.add_row(
            step.name,
            f"{step.minutes:g}",
            f"{old[0]}{idle}" if old else "new" + ", may go on" * step.grows,
        )
    return table


if __name__ == "__main__":
    main()

"""Run the tasks of items: in parallel, in any order, and again from where a killed run stopped."""

from __future__ import annotations

import json
import os
import time
import traceback
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from costboost_papers.item import Item, Mode, Task
from costboost_papers.store import Store

__all__ = ["CannotRunError", "Failure", "Tally", "progress_bar", "run_item"]

# (tasks finished now, what is under way)
OnProgress = Callable[[int, str], None]


class CannotRunError(Exception):
    """No task can be run: the data are missing, or the results cannot be kept."""


@dataclass(frozen=True)
class Failure:
    """A task that raised an error."""

    task: Task
    error: str  # the last line
    trace: str


@dataclass
class Tally:
    """What became of the tasks of an item."""

    planned: int
    found: int  # done by an earlier run
    done: int = 0
    seconds: float = 0.0  # computing, summed over processes
    failures: list[Failure] = field(default_factory=list)


@dataclass(frozen=True)
class _Outcome:
    task: Task
    metrics: dict[str, float] | None
    seconds: float
    error: str = ""
    trace: str = ""


def run_item(
    item: Item,
    mode: Mode,
    folder: str | os.PathLike[str],
    *,
    n_jobs: int = -1,
    progress: OnProgress | None = None,
) -> Tally:
    """Do the tasks of an item that are not done yet."""
    # Every row is on disk as soon as its task ends. A task that fails is reported and tried again
    # by the next run; the others go on.
    if item.shares_rows_with is not None:
        raise ValueError(
            f"item of run_item must have rows of its own; {item.name!r} reads those of "
            f"{item.shares_rows_with!r}. Run that one."
        )
    tasks = item.tasks(mode)
    _check_plan(item, tasks)
    store = Store(folder, item, mode)
    todo = _prepared(item, tasks, store)
    tally = Tally(planned=len(tasks), found=len(tasks) - len(todo))
    tell = progress or (lambda finished, name: None)
    tell(tally.found, f"{item.paper} {item.name}")
    for outcome in _outcomes(item, todo, mode, n_jobs):
        tally.seconds += outcome.seconds
        if outcome.metrics is None:
            tally.failures.append(Failure(outcome.task, outcome.error, outcome.trace))
        else:
            store.append(outcome.task, outcome.metrics, outcome.seconds)
            tally.done += 1
        tell(1, f"{item.paper} {item.name}")
    _write_failures(store, tally.failures)
    return tally


def _prepared(item: Item, tasks: Sequence[Task], store: Store) -> list[Task]:
    """The tasks left to do, once it is known that they can be done and kept."""
    from costboost.datasets import load

    try:
        store.repair()
        done = store.done()
        todo = [task for task in tasks if task not in done]
        if item.reads_benchmark_files:
            # One by one, in this process: missing data stop the run once, not every task, and
            # processes do not download the same set at the same time.
            for name in dict.fromkeys(task.dataset for task in todo):
                load(name)
    except (OSError, ValueError) as error:
        raise CannotRunError(f"{item.paper} {item.name}: {error}") from error
    return todo


def _outcomes(item: Item, tasks: Sequence[Task], mode: Mode, n_jobs: int) -> Iterator[_Outcome]:
    """What the tasks came to, in the order in which they end."""
    from joblib import Parallel, delayed, effective_n_jobs, parallel_config

    processes = min(effective_n_jobs(n_jobs), max(len(tasks), 1))
    if processes == 1:
        yield from (_perform(item, task, mode) for task in tasks)
        return
    with parallel_config("loky", n_jobs=processes, inner_max_num_threads=1):
        pool = Parallel(return_as="generator_unordered", batch_size=1)
        yield from pool(delayed(_perform)(item, task, mode) for task in tasks)


def _perform(item: Item, task: Task, mode: Mode) -> _Outcome:
    """Do one task on one thread; an error is an outcome too."""
    from threadpoolctl import threadpool_limits

    start = time.perf_counter()
    try:
        with threadpool_limits(1):
            metrics = {name: float(value) for name, value in item.run(task, mode).items()}
        if not metrics:
            raise ValueError(f"run of {item.paper} {item.name} must return at least one metric.")
    except Exception as error:  # whatever it is, the other tasks go on
        line = f"{type(error).__name__}: {error}".splitlines()[0]
        return _Outcome(task, None, time.perf_counter() - start, line, traceback.format_exc())
    return _Outcome(task, metrics, time.perf_counter() - start)


def _check_plan(item: Item, tasks: Sequence[Task]) -> None:
    strangers = {task.key for task in tasks if (task.paper, task.item) != (item.paper, item.name)}
    if strangers:
        raise ValueError(
            f"tasks of {item.paper} {item.name} must carry its names; got {sorted(strangers)[:3]}."
        )
    if len(set(tasks)) < len(tasks):
        raise ValueError(f"tasks of {item.paper} {item.name} must differ; some are planned twice.")


def _write_failures(store: Store, failures: Sequence[Failure]) -> None:
    """The errors of this run beside the rows; the file of an earlier run goes."""
    path = failures_path(store.path)
    path.unlink(missing_ok=True)
    if failures:
        lines = [
            json.dumps({"task": failure.task.key, "error": failure.error, "trace": failure.trace})
            for failure in failures
        ]
        path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def failures_path(rows: Path) -> Path:
    """Where the failures of a run are written, beside its rows."""
    return rows.with_suffix(".failures.jsonl")


@contextmanager
def progress_bar(total: int, console: Any) -> Iterator[OnProgress]:
    """A bar with the tasks done, the time passed and the time left."""
    from rich.progress import (
        BarColumn,
        MofNCompleteColumn,
        Progress,
        TextColumn,
        TimeElapsedColumn,
        TimeRemainingColumn,
    )

    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TextColumn("left"),
        TimeRemainingColumn(),
    )
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=total)

        def tell(finished: int, name: str) -> None:
            bar.update(task, advance=finished, description=name)

        yield tell

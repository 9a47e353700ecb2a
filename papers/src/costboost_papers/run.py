"""Run the tasks of items: in parallel, in any order, and again from where a killed run stopped."""

from __future__ import annotations

import csv
import gzip
import hashlib
import io
import json
import os
import platform
import subprocess
import time
import traceback
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cache, cached_property
from importlib.metadata import version
from operator import attrgetter
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed, effective_n_jobs, parallel_config
from threadpoolctl import threadpool_limits

import costboost
from costboost_papers.datasets import load
from costboost_papers.item import Item, Mode, Options, Task
from costboost_papers.protocol import data_file

# --- what ran -------------------------------------------------------------------------------------


def source_commit(folder: str | os.PathLike[str] | None = None) -> str:
    """Return the last commit of the source, with ``-dirty`` if the source differs from it."""
    # Commits and edits elsewhere do not count: writing results, which are tracked too, leaves the
    # answer as it was.
    sources = [Path(costboost.__file__).parent, Path(__file__).parent]
    if folder is not None:
        sources = [Path(folder)]
    paths = [str(source.resolve()) for source in sources]
    commit = _git(sources[0], "log", "-1", "--format=%h", "--abbrev=10", "--", *paths)
    dirty = commit and _git(sources[0], "status", "--porcelain", "--", *paths)
    return f"{commit}-dirty" if dirty else commit


def _git(folder: Path, *arguments: str) -> str:
    """What Git prints; empty if it cannot answer."""
    command = ["git", "-C", str(folder), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:  # Git is not installed
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""


@cache
def checksum(dataset: str) -> str:
    """SHA-256 of the file of a benchmark set, 12 digits; empty if the set has no file here."""
    path = data_file(f"{dataset}.csv.gz", f"{dataset}.npz", f"nikolaou2016/{dataset}")
    return "" if path is None else hashlib.sha256(path.read_bytes()).hexdigest()[:12]


@cache
def versions() -> str:
    """What ran: ``"costboost 0.2.0; python 3.11.9; numpy 2.3.1; ..."``."""
    libraries = ("numpy", "scipy", "scikit-learn", "lightgbm", "pandas")
    found = {"costboost": costboost.__version__, "python": platform.python_version()}
    found |= {name: version(name) for name in libraries}
    return "; ".join(f"{name} {number}" for name, number in found.items())


# --- store ---------------------------------------------------------------------------------------

TASK = ["paper", "item", "dataset", "algorithm", "setting", "split"]
COLUMNS = [*TASK, "seed", "metric", "value", "of", "seconds", "versions", "commit"]
_HEADER = ",".join(COLUMNS)


class Store:
    """The raw rows of one item: those of a folder, and those that are kept beside the pages."""

    def __init__(
        self,
        folder: str | os.PathLike[str],
        item: Item,
        options: Options,
        docs: str | os.PathLike[str] | None = None,
    ) -> None:
        self.path = Path(folder) / options.folder / f"{item.paper}-{item.name}.csv"
        self.kept: Path | None = None  # rows of full runs, with the source under version control
        if docs is not None and options.folder == "full":
            self.kept = Path(docs) / "rows" / f"{self.path.name}.gz"

    @cached_property
    def commit(self) -> str:
        """Of the source, once a run: what follows is computed by this source."""
        return source_commit()

    def repair(self) -> None:
        """Cut off what a killed run left half written; make the file if there is none."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            content = self.path.read_bytes() if self.path.is_file() else b""
            whole = content.rfind(b"\n") + 1
            if not whole:
                self.path.write_text(f"{_HEADER}\n", encoding="utf-8")
            elif whole < len(content):
                os.truncate(self.path, whole)
        except OSError as error:
            raise OSError(
                f"The results file {self.path} cannot be written: {error.strerror or error}. "
                "Name a folder that you may write to (--output)."
            ) from error

    def append(self, task: Task, metrics: Mapping[str, float], seconds: float) -> None:
        """Add the rows of one task, in one write, and see them to the disk."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        tail = [len(metrics), f"{seconds:.3f}", versions(), self.commit]
        for metric, value in metrics.items():
            writer.writerow([*vars(task).values(), task.seed, metric, repr(float(value)), *tail])
        whole = self.path.stat().st_size
        try:
            with self.path.open("ab") as stream:
                stream.write(text.getvalue().encode())
                stream.flush()
                os.fsync(stream.fileno())
        except OSError as error:
            os.truncate(self.path, whole)  # no half line may stay, or the next one is lost too
            raise OSError(
                error.errno,
                f"The results of {task.key} cannot be kept: {error.strerror or error}. Those "
                "before are kept. Free the disk, and run the same command to go on",
                str(self.path),
            ) from error

    def rows(self) -> pd.DataFrame:
        """The rows of all tasks that are done, in the order of their names."""
        parts = [pd.DataFrame(columns=COLUMNS)]
        if self.kept is not None and self.kept.is_file():
            parts.append(_read(self.kept, gzip.decompress(self.kept.read_bytes())))
        if self.path.is_file():
            parts.append(_read(self.path, self.path.read_bytes()))
        frame = pd.concat([part for part in parts if len(part)] or parts[:1])
        # A task that was cut short and done again has some of its rows twice; new rows win.
        frame = frame.drop_duplicates([*TASK, "metric"], keep="last")
        whole = frame.groupby(TASK)["metric"].transform("size") == frame["of"]
        return frame[whole].sort_values(TASK, kind="stable").reset_index(drop=True)

    def rows_of(self, tasks: Iterable[Task]) -> pd.DataFrame:
        """The rows of these tasks; a plan may have changed since others were done."""
        rows, plan = self.rows(), set(tasks)
        return _chosen(rows, [task in plan for task in _tasks(rows)])

    def settled(self, tasks: Sequence[Task], *, over_sets: bool) -> pd.DataFrame:
        """The splits with all methods done; ``over_sets``, of settings with one for every set."""
        rows = self.rows_of(tasks)
        done = set(_tasks(rows))
        split = attrgetter("dataset", "setting", "split")
        whole = set(map(split, tasks)) - {split(task) for task in tasks if task not in done}
        have = {(dataset, setting) for dataset, setting, _ in whole}
        lacking = (task for task in tasks if (task.dataset, task.setting) not in have)
        short = {task.setting for task in lacking} if over_sets else set()
        kept = [split(task) in whole and task.setting not in short for task in _tasks(rows)]
        return _chosen(rows, kept)

    def done(self) -> set[Task]:
        """The tasks whose rows are all there."""
        return set(_tasks(self.rows()))

    def keep(self, tasks: Iterable[Task]) -> None:
        """Write the rows of these tasks beside the pages; equal rows give an equal file."""
        rows = self.rows_of(tasks)
        if self.kept is not None and len(rows):
            self.kept.parent.mkdir(parents=True, exist_ok=True)
            text = rows.to_csv(index=False, lineterminator="\n", na_rep="nan")
            self.kept.write_bytes(gzip.compress(text.encode(), mtime=0))


def _tasks(rows: pd.DataFrame) -> list[Task]:
    """The task of each row."""
    return [Task(*row) for row in rows[TASK].itertuples(index=False, name=None)]


def _chosen(rows: pd.DataFrame, which: Sequence[bool]) -> pd.DataFrame:
    # As booleans: an empty list would select no columns instead of no rows.
    return rows[np.array(which, dtype=bool)].reset_index(drop=True)


def _read(path: Path, content: bytes) -> pd.DataFrame:
    """The rows of a file, without a last line that was cut off."""
    content = content[: content.rfind(b"\n") + 1]
    if content and content.split(b"\n", 1)[0] != _HEADER.encode():
        raise ValueError(
            f"The results file {path} must begin with the columns {_HEADER}; it is of an "
            "earlier version or not a results file. Move it away, or use another folder "
            "(--output)."
        )
    words = dict.fromkeys(set(COLUMNS) - {"split", "seed", "of", "seconds"}, str)
    try:
        frame = pd.read_csv(io.BytesIO(content), dtype=words, keep_default_na=False)
        # Exactly what was written.
        return frame.assign(value=frame["value"].map(float).astype("float64"))
    except ValueError as error:
        raise ValueError(
            f"The results file {path} is damaged: {str(error).strip()}. Delete it to "
            "run its tasks again, or use another folder (--output)."
        ) from error


# --- run -----------------------------------------------------------------------------------------

# (tasks finished now, what is under way)
OnProgress = Callable[[int, str], None]


class Outcome(NamedTuple):
    """What a task came to: its metrics, or an error."""

    task: Task
    metrics: dict[str, float] | None
    seconds: float
    error: str = ""  # the last line
    trace: str = ""


@dataclass
class Tally:
    """What became of the tasks of an item."""

    found: int  # done by an earlier run
    done: int = 0
    seconds: float = 0.0  # computing, summed over processes
    failures: list[Outcome] = field(default_factory=list)


def run_item(
    item: Item,
    options: Options,
    folder: str | os.PathLike[str],
    *,
    docs: str | os.PathLike[str] | None = None,
    n_jobs: int = -1,
    progress: OnProgress = lambda finished, name: None,
) -> Tally:
    """Do the tasks of an item that are not done yet, nor kept beside the pages in ``docs``."""
    # Every row is on disk as soon as its task ends. A task that fails is reported and tried again
    # by the next run; the others go on.
    item = item.with_rounds(options.rounds)
    tasks = item.planned(options)
    store = Store(folder, item, options, docs)
    todo = _prepared(item, tasks, store)
    if todo:
        _write_provenance(store, tasks)
    tally = Tally(found=len(tasks) - len(todo))
    progress(tally.found, f"{item.paper} {item.name}")
    for outcome in _outcomes(item, todo, options.mode, n_jobs):
        tally.seconds += outcome.seconds
        if outcome.metrics is None:
            tally.failures.append(outcome)
        else:
            store.append(outcome.task, outcome.metrics, outcome.seconds)
            tally.done += 1
        progress(1, f"{item.paper} {item.name}")
    _write_failures(store, tally.failures)
    return tally


def _write_provenance(store: Store, tasks: Iterable[Task]) -> None:
    """Beside the rows: commit, versions and checksums of the data of every run that added some."""
    sums = {name: checksum(name) for name in dict.fromkeys(task.dataset for task in tasks)}
    record = {
        "started": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "commit": store.commit,
        "versions": versions(),
        "data": {name: found for name, found in sums.items() if found},
    }
    with store.path.with_suffix(".runs.jsonl").open("a", encoding="utf-8") as stream:
        stream.write(json.dumps(record) + "\n")


def _prepared(item: Item, tasks: Sequence[Task], store: Store) -> list[Task]:
    """The tasks left to do, once it is known that they can be done and kept."""
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
        raise OSError(f"{item.paper} {item.name}: {error}") from error
    return todo


def _outcomes(item: Item, tasks: Sequence[Task], mode: Mode, n_jobs: int) -> Iterator[Outcome]:
    """What the tasks came to, in the order in which they end."""
    processes = min(effective_n_jobs(n_jobs), max(len(tasks), 1))
    if processes == 1:
        yield from (_perform(item, task, mode) for task in tasks)
        return
    with parallel_config("loky", n_jobs=processes, inner_max_num_threads=1):
        pool = Parallel(return_as="generator_unordered", batch_size=1)
        yield from pool(delayed(_perform)(item, task, mode) for task in tasks)


def _perform(item: Item, task: Task, mode: Mode) -> Outcome:
    """Do one task on one thread; an error is an outcome too."""
    start = time.process_time()  # one thread: what else runs on the machine does not count
    try:
        with threadpool_limits(1):
            metrics = {name: float(value) for name, value in item.run(task, mode).items()}
    except Exception as error:  # whatever it is, the other tasks go on
        line = f"{type(error).__name__}: {error}".splitlines()[0]
        return Outcome(task, None, time.process_time() - start, line, traceback.format_exc())
    return Outcome(task, metrics, time.process_time() - start)


def _write_failures(store: Store, failures: Sequence[Outcome]) -> None:
    """The errors of this run beside the rows; the file of an earlier run goes."""
    path = failures_path(store.path)
    path.unlink(missing_ok=True)
    if failures:
        records = [{"task": f.task.key, "error": f.error, "trace": f.trace} for f in failures]
        text = "".join(json.dumps(record) + "\n" for record in records)
        path.write_text(text, encoding="utf-8")


def failures_path(rows: Path) -> Path:
    """Where the failures of a run are written, beside its rows."""
    return rows.with_suffix(".failures.jsonl")

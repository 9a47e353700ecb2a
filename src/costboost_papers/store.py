"""Rows on disk: one CSV file per item and mode, appended to and never rewritten.

A task is done when all of its rows are there (``of`` says how many they are). A line that a killed
run left half written is cut off when the file is opened next; its task is then done again.
"""

from __future__ import annotations

import csv
import io
import os
import platform
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from costboost_papers.item import Item, Mode, Task
from costboost_papers.provenance import source_commit

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Store", "versions"]

TASK = ["paper", "item", "dataset", "algorithm", "setting", "split"]
COLUMNS = [*TASK, "seed", "metric", "value", "of", "seconds", "versions", "commit"]
_HEADER = ",".join(COLUMNS)
_WORDS = (
    "paper", "item", "dataset", "algorithm", "setting", "metric", "value", "versions", "commit"
)  # fmt: skip
_RECORDED = ("numpy", "scipy", "scikit-learn", "lightgbm", "pandas")


@cache
def versions() -> str:
    """What ran: ``"costboost 0.5.0; python 3.11.9; numpy 2.3.1; ..."``."""
    import costboost

    parts = [f"costboost {costboost.__version__}", f"python {platform.python_version()}"]
    for name in _RECORDED:
        try:
            parts.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            continue
    return "; ".join(parts)


class Store:
    """The raw rows of one item."""

    def __init__(self, folder: str | os.PathLike[str], item: Item, mode: Mode) -> None:
        self.path = Path(folder) / mode / f"{item.paper}-{item.name}.csv"
        self._commit: str | None = None

    def repair(self) -> None:
        """Cut off what a killed run left half written; make the file if there is none."""
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            content = self.path.read_bytes() if self.path.is_file() else b""
            whole = content[: content.rfind(b"\n") + 1]
            if not whole:
                self.path.write_text(f"{_HEADER}\n", encoding="utf-8")
            elif len(whole) < len(content):
                with self.path.open("r+b") as stream:
                    stream.truncate(len(whole))
        except OSError as error:
            raise OSError(
                f"The results file {self.path} cannot be written: {error.strerror or error}. "
                "Name a folder that you may write to (--output)."
            ) from error

    def append(self, task: Task, metrics: Mapping[str, float], seconds: float) -> None:
        """Add the rows of one task, in one write, and see them to the disk."""
        if self._commit is None:  # once a run; what follows is computed by this source
            self._commit = source_commit()
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        identity = [getattr(task, field) for field in TASK]
        tail = [len(metrics), f"{seconds:.3f}", versions(), self._commit]
        for metric, value in metrics.items():
            writer.writerow([*identity, task.seed, metric, repr(float(value)), *tail])
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
        import pandas as pd

        if not self.path.is_file():
            return pd.DataFrame(columns=COLUMNS)
        content = self.path.read_bytes()
        content = content[: content.rfind(b"\n") + 1]
        if content and content.split(b"\n", 1)[0] != _HEADER.encode():
            raise ValueError(
                f"The results file {self.path} must begin with the columns {_HEADER}; it is of an "
                "earlier version or not a results file. Move it away, or use another folder "
                "(--output)."
            )
        try:
            frame = pd.read_csv(
                io.BytesIO(content), dtype=dict.fromkeys(_WORDS, str), keep_default_na=False
            )
            # Exactly what was written.
            frame["value"] = frame["value"].map(float).astype("float64")
        except ValueError as error:
            raise ValueError(
                f"The results file {self.path} is damaged: {str(error).strip()}. Delete it to "
                "run its tasks again, or use another folder (--output)."
            ) from error
        # A task that was cut short and done again has some of its rows twice.
        frame = frame.drop_duplicates([*TASK, "metric"], keep="last")
        whole = frame.groupby(TASK)["metric"].transform("size") == frame["of"]
        return frame[whole].sort_values(TASK, kind="stable").reset_index(drop=True)

    def rows_of(self, tasks: Iterable[Task]) -> pd.DataFrame:
        """The rows of these tasks; a plan may have changed since others were done."""
        rows, plan = self.rows(), set(tasks)
        planned = [Task(*row) in plan for row in rows[TASK].itertuples(index=False, name=None)]
        # As booleans: an empty list would select no columns instead of no rows.
        return rows[np.array(planned, dtype=bool)].reset_index(drop=True)

    def done(self) -> set[Task]:
        """The tasks whose rows are all there."""
        tasks = self.rows()[TASK].drop_duplicates()
        return {Task(*row) for row in tasks.itertuples(index=False, name=None)}

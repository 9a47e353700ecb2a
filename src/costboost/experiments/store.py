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

from costboost.experiments.item import Item, Mode, Task

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Store", "versions"]

TASK = ["paper", "item", "dataset", "algorithm", "setting", "split"]
COLUMNS = [*TASK, "seed", "metric", "value", "of", "seconds", "versions"]
_WORDS = ("paper", "item", "dataset", "algorithm", "setting", "metric", "value", "versions")
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
    """The raw rows of one item.

    Parameters
    ----------
    folder : path
        Results folder.
    item : Item
        The item that owns the rows.
    mode : {"quick", "full"}
        Rows of both modes are kept apart.
    """

    def __init__(self, folder: str | os.PathLike[str], item: Item, mode: Mode) -> None:
        self.path = Path(folder) / mode / f"{item.paper}-{item.name}.csv"

    def repair(self) -> None:
        """Cut off what a killed run left half written; make the file if there is none."""
        self.path.parent.mkdir(parents=True, exist_ok=True)
        content = self.path.read_bytes() if self.path.is_file() else b""
        whole = content[: content.rfind(b"\n") + 1]
        if not whole:
            self.path.write_text(",".join(COLUMNS) + "\n", encoding="utf-8")
        elif len(whole) < len(content):
            with self.path.open("r+b") as stream:
                stream.truncate(len(whole))

    def append(self, task: Task, metrics: Mapping[str, float], seconds: float) -> None:
        """Add the rows of one task, in one write, and see them to the disk."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        identity = [getattr(task, field) for field in TASK]
        for metric, value in metrics.items():
            tail = [repr(float(value)), len(metrics), f"{seconds:.3f}", versions()]
            writer.writerow([*identity, task.seed, metric, *tail])
        with self.path.open("ab") as stream:
            stream.write(text.getvalue().encode())
            stream.flush()
            os.fsync(stream.fileno())

    def rows(self) -> pd.DataFrame:
        """The rows of all tasks that are done, in the order of their names."""
        import pandas as pd

        if not self.path.is_file():
            return pd.DataFrame(columns=COLUMNS)
        with self.path.open("rb") as stream:
            content = stream.read()
        frame = pd.read_csv(
            io.BytesIO(content[: content.rfind(b"\n") + 1]),
            dtype=dict.fromkeys(_WORDS, str),
            keep_default_na=False,
        )
        frame["value"] = frame["value"].map(float).astype("float64")  # exactly what was written
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

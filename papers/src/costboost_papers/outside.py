"""What items of papers share whose algorithms are not ours: savings on sets with row costs."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd
from sklearn.base import clone

from costboost import compare
from costboost.datasets import load
from costboost_papers.grading import paired
from costboost_papers.item import Item, Mode, Task, cells
from costboost_papers.protocol import holdout, quiet


class Savings(Item):
    """Savings of classifiers on stratified random splits, the costs of each row known."""

    reads_benchmark_files = True
    methods: Mapping[str, Any]
    datasets: tuple[str, ...]
    splits: int
    test_share: float
    pairs: tuple[tuple[str, str], ...] = ()  # compared split by split: (ours, rival)

    def tasks(self, mode: Mode) -> list[Task]:
        splits = 2 if mode == "quick" else self.splits
        return self.grid(self.datasets, self.methods, splits=splits)

    def run(self, task: Task, mode: Mode) -> dict[str, float]:
        """1 - cost / cost of the better of the two constant decisions."""
        data = load(task.dataset)
        with quiet():
            found = compare(
                {task.algorithm: clone(self.methods[task.algorithm])},
                {task.dataset: (data.X, data.y, data.costs)},
                splits={task.split: holdout(data.y, self.test_share, task.seed)},
                random_state=task.seed,
                n_jobs=1,
                progress=False,
            )
        return {"savings": float(found.rows[0]["savings"])}

    @property
    def ratio(self) -> float:
        """Test rows by training rows."""
        return self.test_share / (1 - self.test_share)

    def summarise(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Mean and deviation of each method; the differences of `pairs`."""
        gaps = paired(rows, "savings", self.pairs, self.ratio)
        return pd.concat([super().summarise(rows), gaps], ignore_index=True)

    def table(self, summary: pd.DataFrame) -> pd.DataFrame:
        own = cells(summary, "savings", list(self.methods), 3, "sd")
        lines = [[name, *own(name, "")] for name in summary["dataset"].unique()]
        return pd.DataFrame(lines, columns=["data set", *self.methods])

    def missing(self, summary: pd.DataFrame) -> list[str]:
        """Sets that were not run."""
        known = set(summary["dataset"])
        return [name for name in self.datasets if name not in known]

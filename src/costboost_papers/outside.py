"""What items of papers share whose algorithms are not ours: savings on sets with row costs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from sklearn.base import clone

from costboost_papers.grading import paired
from costboost_papers.item import SUMMARY_COLUMNS, Item, Mode, Task, cells, wide
from costboost_papers.protocol import holdout, quiet

if TYPE_CHECKING:
    import pandas as pd
else:
    from costboost_papers._lazy import pd


class Savings(Item):
    """Savings of classifiers on stratified random splits, the costs of each row known."""

    reads_benchmark_files = True
    methods: Mapping[str, Any]
    datasets: tuple[str, ...]
    splits: int
    test_share: float
    pairs: tuple[tuple[str, str], ...] = ()  # compared split by split: (ours, rival)

    def tasks(self, mode: Mode) -> list[Task]:
        splits = range(2 if mode == "quick" else self.splits)
        return [
            Task(self.paper, self.name, name, method, "", split)
            for name in self.datasets
            for split in splits
            for method in self.methods
        ]

    def run(self, task: Task, mode: Mode) -> dict[str, float]:
        """1 - cost / cost of the better of the two constant decisions."""
        from costboost import compare
        from costboost.datasets import load

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
        (row,) = found.rows
        return {"savings": float(row["savings"])}

    def summarise(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Mean and deviation of each method; the differences of `pairs`."""
        ratio = self.test_share / (1 - self.test_share)
        gaps = paired(rows, "savings", self.pairs, ratio)
        return pd.concat([super().summarise(rows), gaps], ignore_index=True)[SUMMARY_COLUMNS]

    def table(self, summary: pd.DataFrame) -> pd.DataFrame:
        means, spread = wide(summary, "savings"), wide(summary, "savings", "sd")
        lines = [
            [name, *cells(means, spread, (name, setting), list(self.methods), 3)]
            for name, setting in means.index
        ]
        return pd.DataFrame(lines, columns=["data set", *self.methods])

    def missing(self, summary: pd.DataFrame) -> tuple[str, ...]:
        """Sets that were not run."""
        known: Iterable[str] = set(summary["dataset"])
        return tuple(name for name in self.datasets if name not in known)

"""What an experiment is: tasks to run, rows to summarise, a table, a figure and conclusions.

An :class:`Item` is one table or figure of a paper. The steps between plan and page hand over tidy
tables, so that each can be repeated alone: ``tasks`` -> ``run`` (one row per metric) ->
``summarise`` (the compact table that is kept) -> ``table``, ``figure``, ``conclusions``.
"""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from importlib.resources import files
from math import isnan
from typing import TYPE_CHECKING, Literal

from costboost_papers.grading import Conclusion

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure
else:
    from costboost_papers._lazy import pd


# --- item ----------------------------------------------------------------------------------------

Mode = Literal["quick", "full"]

GROUP = ["dataset", "algorithm", "setting", "metric"]
SUMMARY_COLUMNS = [*GROUP, "statistic", "value", "n"]
PRINTED_COLUMNS = [*GROUP, "value"]
# A paper that was renamed keeps its seeds, and with them its published figures.
_SEEDED_AS = {"cai2008": "cai"}


@dataclass(frozen=True)
class Task:
    """One unit of work, of seconds to a minute; it runs alone, in any order, in any process."""

    paper: str
    item: str
    dataset: str
    algorithm: str
    setting: str = ""
    split: int = 0

    @property
    def seed(self) -> int:
        """Seed in [0, 2**31), the same for all algorithms: they see the same splits and costs."""
        paper = _SEEDED_AS.get(self.paper, self.paper)
        shared = (paper, self.item, self.dataset, self.setting, str(self.split))
        return zlib.crc32("\x1f".join(shared).encode()) & 0x7FFFFFFF

    @property
    def key(self) -> str:
        """Name of the task, unique among all tasks."""
        parts = (self.paper, self.item, self.dataset, self.algorithm, self.setting, str(self.split))
        return "/".join(parts)


class Item(ABC):
    """One table or figure of a paper."""

    # A subclass sets the attributes and writes the abstract methods; instances must pickle, since
    # tasks run in other processes.

    paper: str
    name: str
    title: str
    notes: str = ""
    shares_rows_with: str | None = None
    reads_benchmark_files: bool = False
    minutes: float = 1.0
    tau_metric: str | None = None

    @abstractmethod
    def tasks(self, mode: Mode) -> list[Task]:
        """The plan: every task of this item."""

    @abstractmethod
    def run(self, task: Task, mode: Mode) -> dict[str, float]:
        """Do one task; returns metric -> value (a curve as ``"cost@10"`` and so on)."""

    def printed(self) -> pd.DataFrame:
        """The paper's numbers: dataset, algorithm, setting, metric, value."""
        # Read from ``printed``; empty if the paper prints none.
        source = files("costboost_papers") / "printed" / f"{self.paper}.csv"
        if not source.is_file():
            return pd.DataFrame(columns=PRINTED_COLUMNS)
        with source.open(encoding="utf-8") as stream:
            numbers = pd.read_csv(
                stream,
                comment="#",
                keep_default_na=False,
                dtype={"setting": str, "dataset": str, "algorithm": str},
            )
        own = numbers[numbers["item"] == self.name].astype({"value": float})
        return own[PRINTED_COLUMNS].reset_index(drop=True)

    def summarise(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Mean, standard deviation and median over the splits."""
        values = rows.groupby(GROUP, sort=False)["value"]
        wide = values.agg(mean="mean", sd="std", median="median", n="count").reset_index()
        tidy = wide.melt(
            id_vars=[*GROUP, "n"],
            value_vars=["mean", "sd", "median"],
            var_name="statistic",
            value_name="value",
        )
        return tidy[SUMMARY_COLUMNS]

    @abstractmethod
    def table(self, summary: pd.DataFrame) -> pd.DataFrame:
        """The paper's layout, our figures beside the printed ones; a column per printed column."""

    def figure(self, summary: pd.DataFrame) -> Figure | None:
        """The paper's figure drawn from our figures, or None if the item has none."""
        return None

    def conclusions(self, summary: pd.DataFrame) -> list[Conclusion]:
        """What the paper states about this item, checked on our figures."""
        return []


# --- layout --------------------------------------------------------------------------------------


def mean_and_error(rows: pd.DataFrame, metrics: Iterable[str]) -> pd.DataFrame:
    """Mean and standard error (statistic ``se``) of raw rows, for some metrics only."""
    group = ["dataset", "algorithm", "setting", "metric"]
    values = rows[rows["metric"].isin(list(metrics))].groupby(group, sort=False)["value"]
    found = values.agg(mean="mean", se="sem", n="count").reset_index()
    tidy = found.melt(
        id_vars=[*group, "n"],
        value_vars=["mean", "se"],
        var_name="statistic",
        value_name="value",
    )
    return tidy[SUMMARY_COLUMNS]


def wide(summary: pd.DataFrame, metric: str, statistic: str = "mean") -> pd.DataFrame:
    """One statistic of one metric: index (dataset, setting), a column per algorithm."""
    # Rows and columns keep the order in which they come.
    chosen = summary[(summary["metric"] == metric) & (summary["statistic"] == statistic)]
    table = chosen.pivot(index=["dataset", "setting"], columns="algorithm", values="value")
    order = pd.MultiIndex.from_frame(chosen[["dataset", "setting"]].drop_duplicates())
    return table.reindex(index=order, columns=chosen["algorithm"].unique())


def plus_minus(value: float, error: float, digits: int, sign: str = "") -> str:
    """Mean and error as one cell; empty if there is no mean, without an error if there is none."""
    # ``sign="+"`` writes the sign of positive numbers too.
    if isnan(value):
        return ""
    return f"{value:{sign}.{digits}f}" + ("" if isnan(error) else f" ± {error:.{digits}f}")


def cells(
    means: pd.DataFrame,
    errors: pd.DataFrame,
    place: tuple[str, str],
    columns: Sequence[str],
    digits: int,
) -> list[str]:
    """The cells of one data set and setting; empty where there is no such number."""
    row = pd.MultiIndex.from_tuples([place])
    values, spread = (
        table.reindex(index=row, columns=list(columns)).to_numpy(dtype=float)[0]
        for table in (means, errors)
    )
    return [plus_minus(value, error, digits) for value, error in zip(values, spread, strict=True)]


def compact(summary: pd.DataFrame, spread_of: str) -> pd.DataFrame:
    """The means, and all statistics of one metric."""
    kept = (summary["statistic"] == "mean") | (summary["metric"] == spread_of)
    return summary[kept].reset_index(drop=True)

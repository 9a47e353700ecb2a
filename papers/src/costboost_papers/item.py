"""What an experiment is: tasks to run, rows to summarise, a table, a figure and conclusions.

An :class:`Item` is one table or figure of a paper. The steps between plan and page hand over tidy
tables, so that each can be repeated alone: ``tasks`` -> ``run`` (one row per metric) ->
``summarise`` (the compact table that is kept) -> ``table``, ``figure``, ``conclusions``.
"""

from __future__ import annotations

import zlib
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from copy import copy
from dataclasses import dataclass, replace
from importlib.resources import files
from math import isnan
from types import MappingProxyType
from typing import Any, Literal

import pandas as pd
from matplotlib.figure import Figure

from costboost_papers.grading import Conclusion
from costboost_papers.statistics import corrected_t_test

# --- item ----------------------------------------------------------------------------------------

Mode = Literal["quick", "full"]

GROUP = ["dataset", "algorithm", "setting", "metric"]
SUMMARY_COLUMNS = [*GROUP, "statistic", "value", "n"]
PRINTED_COLUMNS = [*GROUP, "value"]
SEED_STEP = 1000  # splits of another --seed are numbered from its multiple on
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
        return "/".join(map(str, vars(self).values()))


@dataclass(frozen=True)
class Options:
    """How much of a plan is run."""

    mode: Mode = "full"
    datasets: tuple[str, ...] = ()
    algorithms: tuple[str, ...] = ()
    splits: int | None = None
    rounds: int | None = None
    estimator: str | None = None
    seed: int = 0

    @property
    def whole(self) -> bool:
        """Whether every data set and method is run, so that the paper's table can be laid out."""
        return not (self.datasets or self.algorithms or self.estimator)

    @property
    def folder(self) -> str:
        """Where rows are kept: fits of other lengths stay apart."""
        return self.mode if self.rounds is None else f"{self.mode}-{self.rounds}-rounds"


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
    printed_beside: Iterable[str] = ("",)  # settings that share the paper's one row
    estimators: Mapping[str, str] = MappingProxyType({})  # names for --estimator: their settings
    rounds: int | None = None  # in place of the protocol's
    over_sets: bool = False  # the summary has statistics over all data sets
    many_rounds: bool = False  # the protocol compares several numbers of rounds

    @abstractmethod
    def tasks(self, mode: Mode) -> list[Task]:
        """The plan: every task of this item."""

    def grid(
        self,
        datasets: Iterable[str],
        algorithms: Iterable[str],
        settings: Iterable[str] = ("",),
        splits: int | Mapping[str, int] = 1,
    ) -> list[Task]:
        """The tasks of all combinations; the number of splits may differ by setting."""
        item = self.shares_rows_with or self.name
        return [
            Task(self.paper, item, dataset, algorithm, setting, split)
            for dataset in datasets
            for setting in settings
            for split in range(splits if isinstance(splits, int) else splits[setting])
            for algorithm in algorithms
        ]

    def planned(self, options: Options) -> list[Task]:
        """The part of the plan that is asked for; a seed above 0 has splits of its own."""
        tasks = every = self.tasks(options.mode)
        settings = {setting: name for name, setting in self.estimators.items()}
        for option, name_of, wanted in (
            ("--datasets", lambda task: task.dataset, options.datasets),
            ("--algorithms", lambda task: task.algorithm, options.algorithms),
            (
                "--estimator",
                lambda task: settings.get(task.setting),
                (options.estimator,) if options.estimator else (),
            ),
        ):
            known = list(dict.fromkeys(filter(None, map(name_of, every))))
            strangers = [name for name in wanted if name not in known]
            if strangers:
                raise ValueError(
                    f"{option} of {self.paper} {self.name} must be among "
                    f"{', '.join(known) or 'none'}; got {', '.join(strangers)}."
                )
            tasks = [task for task in tasks if not wanted or name_of(task) in wanted]
        if not tasks:
            raise ValueError(
                f"{self.paper} {self.name} has no such combination of --datasets, --algorithms and "
                "--estimator. Leave one of them out."
            )
        # The first split of everything before the second of anything: a stopped run has a table.
        return [
            replace(task, split=task.split + SEED_STEP * options.seed)
            for task in sorted(tasks, key=lambda task: task.split)
            if options.splits is None or task.split < options.splits
        ]

    def with_rounds(self, rounds: int | None) -> Item:
        """A copy whose fits have so many rounds."""
        if rounds is None:
            return self
        if self.many_rounds:
            raise ValueError(
                f"--rounds does not apply to {self.paper} {self.name}, which compares several "
                "numbers of rounds. Leave it out."
            )
        changed = copy(self)
        changed.rounds = rounds
        return changed

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
            words = dict.fromkeys(["item", *GROUP], str)
            numbers = pd.read_csv(stream, comment="#", keep_default_na=False, dtype=words)
        own = numbers[numbers["item"] == self.name].astype({"value": float})[PRINTED_COLUMNS]
        # A figure that the paper prints without a setting stands beside each of ours.
        parts = [own.assign(setting=own["setting"].replace("", s)) for s in self.printed_beside]
        return pd.concat(parts, ignore_index=True)

    def printed_summary(self) -> pd.DataFrame:
        """The paper's numbers in the form of a summary: ``cost se`` is a statistic of ``cost``."""
        printed = self.printed()
        parts = printed["metric"].str.extract(r"^(.*?)(?: (se|sd))?$")
        return printed.assign(metric=parts[0], statistic=parts[1].fillna("mean"), n=1)

    def summarise(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Mean, standard deviation and median over the splits."""
        return aggregated(rows, mean="mean", sd="std", median="median")

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


def aggregated(rows: pd.DataFrame, **statistics: str) -> pd.DataFrame:
    """Statistics of raw rows over the splits, named as given, in the columns of a summary."""
    kinds: dict[str, Any] = {**statistics, "n": "count"}
    table = rows.groupby(GROUP, sort=False)["value"].agg(**kinds).reset_index()
    tidy: pd.DataFrame = table.melt([*GROUP, "n"], var_name="statistic", value_name="value")
    return tidy.reindex(columns=SUMMARY_COLUMNS)


def mean_and_error(rows: pd.DataFrame, metrics: Iterable[str]) -> pd.DataFrame:
    """Mean and standard error (statistic ``se``) of some metrics."""
    return aggregated(rows[rows["metric"].isin(list(metrics))], mean="mean", se="sem")


def wide(summary: pd.DataFrame, metric: str, statistic: str = "mean") -> pd.DataFrame:
    """One statistic of one metric: index (dataset, setting), a column per algorithm."""
    # Rows and columns keep the order in which they come.
    chosen = summary[(summary["metric"] == metric) & (summary["statistic"] == statistic)]
    table = chosen.pivot(index=["dataset", "setting"], columns="algorithm", values="value")
    order = pd.MultiIndex.from_frame(chosen[["dataset", "setting"]].drop_duplicates())
    return table.reindex(index=order, columns=chosen["algorithm"].unique())


def plus_minus(value: float, error: float, digits: int) -> str:
    """Mean and error as one cell; empty if there is no mean, without an error if there is none."""
    if isnan(value):
        return ""
    return f"{value:.{digits}f}" + ("" if isnan(error) else f" ± {error:.{digits}f}")


def alike(
    rows: pd.DataFrame, metric: str, test_to_train: float, *, lower: bool = True
) -> pd.DataFrame:
    """Summary rows, statistic ``alike``: 1 where a method is not told from the best of a set."""
    own = rows[rows["metric"] == metric]
    found = []
    for (dataset, setting), group in own.groupby(["dataset", "setting"], sort=False):
        table = group.pivot(index="split", columns="algorithm", values="value")
        if len(table) < 2:
            continue  # nothing is told apart by one split
        means = table.mean() if lower else -table.mean()
        gaps = table.sub(table[means.idxmin()], axis=0)
        for name, gap in gaps.items():
            differences = gap.dropna().to_numpy(dtype=float)
            same = corrected_t_test(differences, test_to_train) > 0.05
            place = (dataset, name, setting, metric)
            found.append((*place, "alike", float(same), len(differences)))
    return pd.DataFrame(found, columns=SUMMARY_COLUMNS)


def cells(
    summary: pd.DataFrame, metric: str, columns: Sequence[str], digits: int, spread: str = "se"
) -> Callable[[str, str], list[str]]:
    """The cells of any data set and setting; † where a test does not tell them from the best."""
    tables = [wide(summary, metric, kind) for kind in ("mean", spread, "alike")]

    def row(dataset: str, setting: str) -> list[str]:
        place = pd.MultiIndex.from_tuples([(dataset, setting)])
        found = (table.reindex(index=place, columns=list(columns)).iloc[0] for table in tables)
        return [
            plus_minus(mean, error, digits) + (" †" if mark == 1.0 else "")
            for mean, error, mark in zip(*found, strict=True)
        ]

    return row

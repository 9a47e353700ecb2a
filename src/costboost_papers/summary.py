"""From raw rows to the compact table that is kept, and orderings compared with the paper's."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import kendalltau

from costboost_papers.item import SUMMARY_COLUMNS, Item, Mode

__all__ = [
    "Run",
    "describe_run",
    "ordering",
    "read_runs",
    "read_summary",
    "summarise",
    "write_runs",
]

_DIGITS = 6
_RUNS = "runs.csv"


@dataclass(frozen=True)
class Run:
    """How the rows of an item came about."""

    paper: str
    item: str
    mode: Mode
    tasks: int  # done
    planned: int
    seconds: float  # computing, summed over processes
    versions: str
    commit: str  # of the source that ran; empty if it was not recorded


def summarise(item: Item, rows: pd.DataFrame) -> pd.DataFrame:
    """The item's compact table, its columns checked, its values rounded to 6 digits."""
    summary = item.summarise(rows)
    missing = [column for column in SUMMARY_COLUMNS if column not in summary.columns]
    if missing:
        raise ValueError(
            f"summarise of {item.paper} {item.name} must return the columns "
            f"{', '.join(SUMMARY_COLUMNS)}; {', '.join(missing)} are missing."
        )
    values = [_rounded(value) for value in summary["value"]]
    return summary[SUMMARY_COLUMNS].assign(value=values).reset_index(drop=True)


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}") if np.isfinite(value) else float(value)


def describe_run(item: Item, owner: Item, rows: pd.DataFrame, mode: Mode) -> Run:
    """The record of a run, from the raw rows of the item that owns them."""
    tasks = rows.drop_duplicates(["dataset", "algorithm", "setting", "split"])
    return Run(
        paper=item.paper,
        item=item.name,
        mode=mode,
        tasks=len(tasks),
        planned=len(owner.tasks(mode)),
        seconds=round(float(tasks["seconds"].sum()), 1),
        versions=" / ".join(sorted(set(tasks["versions"]))),
        commit=" / ".join(sorted(set(tasks["commit"]) - {""})),
    )


def summary_path(folder: Path, item: Item) -> Path:
    """Where the summary of an item is kept."""
    return folder / f"{item.paper}-{item.name}.csv"


def write_summary(folder: Path, item: Item, summary: pd.DataFrame) -> Path:
    """Keep a summary; returns where."""
    folder.mkdir(parents=True, exist_ok=True)
    path = summary_path(folder, item)
    summary.to_csv(path, index=False, lineterminator="\n", float_format=f"%.{_DIGITS}g")
    return path


def read_summary(folder: Path, item: Item) -> pd.DataFrame | None:
    """The summary that was kept, or None."""
    path = summary_path(folder, item)
    if not path.is_file():
        return None
    words = [column for column in SUMMARY_COLUMNS if column not in ("value", "n")]
    return pd.read_csv(
        path,
        dtype=dict.fromkeys(words, str),
        keep_default_na=False,
        na_values={"value": ["", "nan"]},
    )


def write_runs(folder: Path, runs: dict[tuple[str, str], Run]) -> None:
    """Keep the records of the runs, in the order of their names."""
    folder.mkdir(parents=True, exist_ok=True)
    frame = pd.DataFrame([vars(runs[key]) for key in sorted(runs)])
    frame.to_csv(folder / _RUNS, index=False, lineterminator="\n")


def read_runs(folder: Path) -> dict[tuple[str, str], Run]:
    """The records that were kept, by (paper, item)."""
    path = folder / _RUNS
    if not path.is_file():
        return {}
    frame = pd.read_csv(path, keep_default_na=False, dtype={"commit": str})
    runs = [Run(*row) for row in frame.itertuples(index=False, name=None)]
    return {(run.paper, run.item): run for run in runs}


def ordering(item: Item, summary: pd.DataFrame) -> pd.DataFrame:
    """How far the algorithms stand in the paper's order: Kendall's tau."""
    # The metric is the item's ``tau_metric``, else the first printed one that the summary has too.
    columns = ["metric", "dataset", "setting", "tau", "n"]
    means = summary[summary["statistic"] == "mean"]
    printed = item.printed()
    common = [metric for metric in printed["metric"].unique() if metric in set(means["metric"])]
    metric = item.tau_metric or (common[0] if common else None)
    found = []
    if metric is not None:
        keys = ["dataset", "algorithm", "setting"]
        both = printed[printed["metric"] == metric].merge(
            means[means["metric"] == metric], on=keys, suffixes=("_printed", "_ours")
        )
        for (dataset, setting), group in both.groupby(["dataset", "setting"], sort=False):
            spread = group[["value_printed", "value_ours"]].nunique().min()
            if len(group) >= 3 and spread > 1:
                tau = kendalltau(group["value_printed"], group["value_ours"]).statistic
                found.append((metric, dataset, setting, float(tau), len(group)))
    return pd.DataFrame(found, columns=columns)

"""What tables and conclusions share: summaries turned on their side, and cells."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from math import isnan
from typing import TYPE_CHECKING

from costboost_papers.item import SUMMARY_COLUMNS

if TYPE_CHECKING:
    import pandas as pd
else:
    from costboost_papers._lazy import pd

__all__ = ["cells", "compact", "mean_and_error", "plus_minus", "wide"]


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

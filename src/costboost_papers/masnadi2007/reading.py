"""Summaries as the tables, figures and verdicts of the report need them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from costboost_papers.masnadi2007.methods import ADDED, ALGORITHMS, EARLIER, NEW

if TYPE_CHECKING:
    import pandas as pd

__all__ = [
    "HEAD",
    "MEAN",
    "OTHERS",
    "PROTOCOLS",
    "SETS",
    "by_algorithm",
    "by_cost",
    "by_set",
    "cost_of",
    "count_tops",
    "count_wins",
]

SETS = (
    "pima", "wdbc", "wpbc", "wbc", "liver", "sonar", "echocardiogram", "cleveland", "tic-tac-toe",
    "haberman",
)  # fmt: skip
MEAN = "mean over f"  # the setting of the figures that the paper tabulates
# The metrics of the summary and what they mean.
PROTOCOLS = {
    "min ε, 50 rounds": "cost searched on the test folds, 50 rounds",
    "min ε, 10 rounds": "cost searched on the test folds, 10 rounds",
    "ε, inner search": "cost and rounds searched inside the training folds",
}
HEAD, *OTHERS = PROTOCOLS


def cost_of(setting: str) -> float:
    """5.0 of ``"C1=5"``."""
    return float(setting.removeprefix("C1="))


def by_cost(summary: pd.DataFrame, metric: str, statistic: str) -> pd.DataFrame:
    """A row per cost, a column per new algorithm."""
    own = summary[(summary["metric"] == metric) & (summary["statistic"] == statistic)]
    wide = own.assign(C1=own["setting"].map(cost_of)).pivot(
        index="C1", columns="algorithm", values="value"
    )
    return wide[[name for name in NEW if name in wide]]


def by_algorithm(summary: pd.DataFrame, setting: str) -> pd.DataFrame:
    """Medians over the samples: a row per algorithm, a column per figure."""
    own = summary[(summary["setting"] == setting) & (summary["statistic"] == "median")]
    return own.pivot(index="algorithm", columns="metric", values="value")


def by_set(summary: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Mean ε over f: a row per set, a column per algorithm."""
    own = summary[
        (summary["metric"] == metric) & (summary["setting"] == MEAN) & (summary["dataset"] != "all")
    ]
    wide = own.pivot(index="dataset", columns="algorithm", values="value")
    return wide.loc[
        [name for name in SETS if name in wide.index],
        [name for name in ALGORITHMS if name in wide.columns],
    ]


def count_tops(wide: pd.DataFrame) -> pd.Series:
    """On how many sets each of the paper's algorithms has the lowest ε of them; ties count."""
    own = wide[[*NEW, *EARLIER]]
    return own.eq(own.min(axis=1), axis=0).sum()


def count_wins(wide: pd.DataFrame) -> pd.Series:
    """On how many sets an algorithm that is not an earlier one is below all earlier ones."""
    names = [*NEW, *ADDED]
    return wide[names].lt(wide[list(EARLIER)].min(axis=1), axis=0).sum()

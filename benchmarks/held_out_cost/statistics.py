"""Means, ranks and paired tests from the rows of a run."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from scipy.stats import rankdata, t

from costboost_papers.statistics import corrected_t_test, holm, wilcoxon_test

LEVEL = 0.05
# Scores closer than this are called equal.
TIE = 0.001


def score_table(rows: pd.DataFrame) -> pd.DataFrame:
    """Mean score over the splits, a row per problem and a column per method.

    A method that failed on a split of a problem has no mean there.
    """
    whole = rows.groupby("problem")["split"].nunique()
    grouped = rows.dropna(subset=["score"]).groupby(["problem", "method"])["score"]
    means, counts = grouped.mean().unstack(), grouped.count().unstack()
    return means.where(counts.eq(whole, axis=0))


def method_ranks(table: pd.DataFrame) -> pd.Series:
    """Mean rank of each method, 1 = highest score; the table must have no gaps."""
    # Not `mean_ranks`, which refuses a single method: rows of rivals alone make a page too.
    ranks = rankdata(-table.to_numpy(), axis=1).mean(axis=0)
    return pd.Series(ranks, index=table.columns).sort_values()


def set_ranks(table: pd.DataFrame) -> pd.Series:
    """Mean rank of each method over data sets: a set's problems, "set, costs", count as one."""
    ranks = pd.DataFrame(rankdata(-table.to_numpy(), axis=1), table.index, table.columns)
    return ranks.groupby(ranks.index.str.split(", ").str[0]).mean().mean()


def record(differences: pd.Series, tie: float = TIE) -> tuple[int, int, int]:
    """Problems won, tied and lost, where ``tie`` is the largest difference called equal."""
    return (
        int((differences > tie).sum()),
        int((differences.abs() <= tie).sum()),
        int((differences < -tie).sum()),
    )


@dataclass(frozen=True)
class Duel:
    """One method against another, problem by problem.

    Attributes
    ----------
    problems : DataFrame
        By problem: data, difference of mean scores (ours - theirs), half-width of its 95 %
        interval, p and p after Holm's correction over the problems.
    p_sets : float
        Wilcoxon's signed-rank test over data sets (a set's problems averaged, for they share rows).
    p_problems : float
        The same over problems, as if they were independent.
    """

    problems: pd.DataFrame
    p_sets: float
    p_problems: float

    @property
    def record(self) -> tuple[int, int, int]:
        """Problems won, tied and lost."""
        return record(self.problems["difference"])

    def significant(self, sign: int, corrected: bool = True) -> list[str]:
        """Problems on which ours is significantly better (sign 1) or worse (-1)."""
        found = self.problems
        p = found["p_holm" if corrected else "p"]
        return list(found.index[(p < LEVEL) & (np.sign(found["difference"]) == sign)])


def corrected_t_interval(differences: np.ndarray, test_to_train: float) -> float:
    """Return half the 95 % interval of the mean difference over splits that share training rows.

    The variance of the mean is not s²/J but s² (1/J + n_test / n_train) (Nadeau and Bengio,
    "Inference for the generalization error", 2003). A single split has no interval: NaN.
    """
    n_splits = len(differences)
    if n_splits < 2:
        return float("nan")
    error = np.std(differences, ddof=1) * np.sqrt(1.0 / n_splits + test_to_train)
    return float(t.ppf(0.975, n_splits - 1) * error)


def duel(rows: pd.DataFrame, ours: str, theirs: str) -> Duel | None:
    """Compare two methods on the splits that both finished; None if there are none."""
    pair = rows[rows["method"].isin((ours, theirs))]
    wide = pair.pivot_table(index=["problem", "split"], columns="method", values="score")
    wide = wide.reindex(columns=[ours, theirs])
    gaps = (wide[ours] - wide[theirs]).dropna()
    if gaps.empty:
        return None
    lines = []
    for problem, values in gaps.groupby(level="problem", sort=False):
        sizes = rows[rows["problem"] == problem]
        ratio = float(sizes["n_test"].sum() / sizes["n_train"].sum())
        lines.append(
            {
                "problem": problem,
                "data": problem.split(", ")[0],
                "difference": values.mean(),
                "error": corrected_t_interval(values.to_numpy(), ratio) if len(values) > 1 else 0.0,
                "p": corrected_t_test(values, ratio),
            }
        )
    frame = pd.DataFrame(lines).set_index("problem")
    frame = frame.assign(p_holm=holm(frame["p"]))
    by_set = frame.groupby("data")["difference"].mean()
    return Duel(frame, wilcoxon_test(by_set), wilcoxon_test(frame["difference"]))

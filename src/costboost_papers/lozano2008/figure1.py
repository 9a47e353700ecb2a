"""Figure 1 as printed: one tree over the pairs (x, y), beside the library's tree per class."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from costboost.learners import JointTree, Tree
from costboost_papers.grading import tiered
from costboost_papers.item import SUMMARY_COLUMNS, Conclusion, Item, Mode, Task
from costboost_papers.layout import cells, mean_and_error, wide
from costboost_papers.lozano2008.methods import Problem

if TYPE_CHECKING:
    import pandas as pd
else:
    from costboost_papers._lazy import pd

__all__ = ["Figure1"]

ALL = "all"  # data set of what is computed over all splits of all sets
RIVAL = "AdaBoost.M2"
ALGORITHMS = (RIVAL, "p=2", "p=2 sampled")
PER_CLASS = ("16 leaves", "C4.5-like")
JOINT = ("joint, 16 leaves", "joint, C4.5-like")
# A C4.5-like tree is grown until its leaves are pure or would have fewer than 2 cases.
LEARNERS: dict[str, Any] = {
    "16 leaves": Tree(max_leaves=16),
    "joint, 16 leaves": JointTree(max_leaves=16),
    "C4.5-like": Tree(max_leaves=1000, min_rows=2),
    "joint, C4.5-like": JointTree(max_leaves=1000, min_pairs=2),
}
DATASETS = ("vehicle", "segment")


@dataclass(frozen=True)
class Effort:
    """How much a mode runs."""

    rounds: int
    splits: int


EFFORTS: dict[Mode, Effort] = {"quick": Effort(10, 1), "full": Effort(30, 20)}


class Figure1(Item):
    """p = 2 against AdaBoost.M2, both with one tree over pairs and with a tree per class."""

    paper = "lozano2008"
    reads_benchmark_files = True
    name = "figure1"
    title = (
        "One tree over the pairs (x, y), as printed, and a tree per class: p = 2 and AdaBoost.M2"
    )
    minutes = 2.0
    notes = (
        "The component learner of Figure 1 is one tree over the pairs (x, y), with the class as a "
        "feature; this library grows a tree per class unless `estimator=JointTree(...)` asks for "
        "the printed form. All rows of each set, a third of them for the test, class-frequency "
        "costs anew for each split, 30 rounds; *sampled* draws a cost-proportionate sample of the "
        "pairs each round. *C4.5-like* trees are grown to the end with two rows (pairs) or more in "
        "a leaf, by Gini's gain in place of the gain ratio and without pruning. Two sets with 20 "
        "splits each; vehicle is not in the paper. "
        "Ratios and counts compare the two methods on the same split."
    )

    def tasks(self, mode: Mode) -> list[Task]:
        """Every data set, split, learner and algorithm."""
        effort = EFFORTS[mode]
        return [
            Task(self.paper, self.name, name, algorithm, setting, split)
            for name in DATASETS
            for split in range(effort.splits)
            for setting in LEARNERS
            for algorithm in ALGORITHMS
        ]

    def run(self, task: Task, mode: Mode) -> dict[str, float]:
        """Mean test cost and rounds of one fit."""
        return Problem.of(task).run(
            task.algorithm, n_estimators=EFFORTS[mode].rounds, estimator=LEARNERS[task.setting]
        )

    def summarise(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Mean and error of the cost; over all splits, ratios and wins against the rival."""
        # Statistic ``wins`` counts splits on which the algorithm costs less than AdaBoost.M2 with
        # the same learner, ties half; ``ratio`` is the median of the quotients of the costs.
        # ``joint wins`` and ``joint ratio`` compare the joint tree with the tree per class of the
        # same size, for every algorithm.
        costs = rows[rows["metric"] == "cost"]
        keys = ["dataset", "split"]
        table = costs.pivot(index=keys, columns=["setting", "algorithm"], values="value")
        found = []
        for setting in LEARNERS:
            for name in ALGORITHMS[1:]:
                pair = _both(table, (setting, name), (setting, RIVAL))
                found += _compared(pair, setting, name, "")
        for joint, plain in zip(JOINT, PER_CLASS, strict=True):
            for name in ALGORITHMS:
                found += _compared(
                    _both(table, (joint, name), (plain, name)), joint, name, "joint "
                )
        compared = pd.DataFrame(found, columns=SUMMARY_COLUMNS)
        parts = [mean_and_error(rows, ["cost"]), mean_and_error(rows, ["rounds"]), compared]
        return pd.concat(parts, ignore_index=True)

    def table(self, summary: pd.DataFrame) -> pd.DataFrame:
        """A row per data set and learner, then the comparisons over all splits."""
        means, errors = wide(summary, "cost"), wide(summary, "cost", "se")
        known = means.index.unique("dataset")
        lines = [
            [name, setting, *cells(means, errors, (name, setting), ALGORITHMS, 1)]
            for name in DATASETS
            if name in known
            for setting in LEARNERS
            if (name, setting) in means.index
        ]
        for setting in LEARNERS:
            said = [_told(summary, setting, name, "") for name in ALGORITHMS]
            lines.append([f"splits below {RIVAL}; median ratio", setting, *said])
        for setting in JOINT:
            said = [_told(summary, setting, name, "joint ") for name in ALGORITHMS]
            lines.append(["splits below the tree per class; median ratio", setting, *said])
        return pd.DataFrame(lines, columns=["data set", "tree", *ALGORITHMS])

    def conclusions(self, summary: pd.DataFrame) -> list[Conclusion]:
        """Whether p = 2 beats the rival with the printed learner, and what joint trees change."""
        return [
            _beats_rival(summary, "p=2", "as printed"),
            _beats_rival(summary, "p=2 sampled", "sampled (not in the paper)"),
            _per_class(summary),
        ]


def _both(table: pd.DataFrame, mine: tuple[str, str], other: tuple[str, str]) -> pd.DataFrame:
    if mine not in table.columns or other not in table.columns:
        return pd.DataFrame({"mine": [], "other": []}, dtype=float)
    return pd.DataFrame({"mine": table[mine], "other": table[other]}).dropna()


def _compared(pair: pd.DataFrame, setting: str, name: str, prefix: str) -> list[list[Any]]:
    if not len(pair):
        return []
    wins = float((pair["mine"] < pair["other"]).sum() + 0.5 * (pair["mine"] == pair["other"]).sum())
    usable = pair[pair["other"] > 0]
    ratio = float((usable["mine"] / usable["other"]).median()) if len(usable) else 1.0
    return [
        [ALL, name, setting, "cost", f"{prefix}wins", wins, len(pair)],
        [ALL, name, setting, "cost", f"{prefix}ratio", ratio, len(usable)],
    ]


def _numbers(
    summary: pd.DataFrame, setting: str, name: str, prefix: str
) -> tuple[float, int, float] | None:
    """Wins, number of splits and median ratio of one comparison."""
    chosen = summary[
        (summary["dataset"] == ALL)
        & (summary["setting"] == setting)
        & (summary["algorithm"] == name)
    ]
    kinds = chosen["statistic"].tolist()
    values = dict(zip(kinds, chosen["value"].astype(float).tolist(), strict=True))
    counts = dict(zip(kinds, chosen["n"].astype(int).tolist(), strict=True))
    if f"{prefix}wins" not in values:
        return None
    return values[f"{prefix}wins"], counts[f"{prefix}wins"], values[f"{prefix}ratio"]


def _told(summary: pd.DataFrame, setting: str, name: str, prefix: str) -> str:
    found = _numbers(summary, setting, name, prefix)
    return "" if found is None else f"{found[0]:g} of {found[1]}; {found[2]:.2f}"


def _beats_rival(summary: pd.DataFrame, name: str, form: str) -> Conclusion:
    parts: list[str] = []
    joint: list[bool] = []
    plain: list[bool] = []
    for setting in LEARNERS:
        found = _numbers(summary, setting, name, "")
        if found is None:
            continue
        wins, n, ratio = found
        (joint if setting in JOINT else plain).append(wins > 0.5 * n and ratio < 1.0)
        parts.append(f"{setting}: {wins:g} of {n} splits, median ratio of the costs {ratio:.2f}")
    return Conclusion(
        f"p = 2, {form}, costs less than AdaBoost.M2 with the same trees.",
        tiered(bool(joint) and all(joint), any(joint) or any(plain)),
        "; ".join(parts) + ". The verdict is on the joint trees, which the paper prints.",
    )


def _per_class(summary: pd.DataFrame) -> Conclusion:
    parts, good = [], []
    for setting in JOINT:
        for name in ALGORITHMS:
            found = _numbers(summary, setting, name, "joint ")
            if found is not None:
                wins, n, ratio = found
                good.append(ratio >= 1.0)
                parts.append(f"{setting}, {name}: {wins:g} of {n} splits, ratio {ratio:.2f}")
    return Conclusion(
        "A tree per class, the default here, costs no more than one joint tree with as many leaves "
        "for all classes together (not in the paper).",
        tiered(bool(good) and all(good), any(good)),
        "Splits on which the joint tree costs less, and the median ratio of its cost to that of "
        f"the tree per class: {'; '.join(parts)}.",
    )

"""Tables 1 to 5: what twelve algorithms cost, a data set each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from costboost._typing import AnyArray
from costboost_papers.cao2013.methods import (
    ALGORITHMS,
    FACTOR,
    FOLDS,
    LARGE,
    LEAVES,
    PAPER,
    ROUNDS,
    SETTING,
)
from costboost_papers.cao2013.verdicts import judge_overall, judge_table
from costboost_papers.item import Conclusion, Item, Mode, Task
from costboost_papers.layout import compact
from costboost_papers.protocol import (
    BinaryData,
    binary_data,
    binary_metrics,
    fold,
    quiet,
    split_seed,
)

if TYPE_CHECKING:
    import pandas as pd
else:
    from costboost_papers._lazy import pd

__all__ = ["CURVE", "TABLES", "CostTable", "overall"]

# Rounds at which figure 3 is drawn.
CURVE = (*range(1, 11), *range(15, ROUNDS + 1, 5))

_PRINTED = {
    "precision": "precision",
    "recall": "recall",
    "√(TP·TN)/n": "g-mean (paper)",
    "F": "f",
    "AUC": "auc",
}
_NOTES = (
    "weak learner: trees of at most 8 leaves in place of C4.5 and CART, whose settings the paper "
    "does not give; with them AdaBoostC's precision and recall are about the printed ones. One "
    "column shows the cost with 32 leaves. *AsyBL (rate 0.1)* is not in the paper: a tenth of each "
    "Newton step. All vote methods start from cost-proportional weights, as in the paper; the two "
    "logit methods start from equal ones, as in their algorithms. A vote that is not positive ends "
    "the boosting. Three stratified, shuffled 5-fold partitions in place of one (one for 32 "
    "leaves; if quick, two folds and one); costs are per test fold. The paper's "
    "G-mean is √(TP·TN)/n with counts (its own precision and recall confirm it), so it depends on "
    "the class shares; it is printed beside the standard √(TPR·TNR)."
)


@lru_cache(maxsize=2)
def _data(name: str, positive: tuple[Any, ...] | None) -> BinaryData:
    return binary_data(name, positive)


class CostTable(Item):
    """Tables 1 to 5: cost, precision, recall, G-mean, F and AUC on one data set."""

    paper = PAPER
    reads_benchmark_files = True
    notes = _NOTES
    tau_metric: str | None = "cost"

    def __init__(
        self,
        number: int,
        dataset: str,
        positive: tuple[Any, ...] | None = None,
        note: str = "",
        minutes: float = 0.3,
    ) -> None:
        self.name = f"table{number}"
        self.dataset = dataset
        self.positive = positive
        self.title = f"What twelve algorithms cost on {dataset}"
        self.notes = _NOTES if number == 1 else f"as for table1. {note}".strip()
        self.minutes = minutes

    def tasks(self, mode: Mode) -> list[Task]:
        """A task per algorithm, fold and size of the trees."""
        splits = {SETTING: 2, LARGE: 1} if mode == "quick" else {SETTING: 3 * FOLDS, LARGE: FOLDS}
        return [
            Task(self.paper, self.name, self.dataset, algorithm, setting, split)
            for setting, n in splits.items()
            for split in range(n)
            for algorithm in ALGORITHMS
        ]

    def run(self, task: Task, mode: Mode) -> dict[str, float]:
        """Fit on four folds, measure on the fifth, and follow the cost by round."""
        data = _data(self.dataset, self.positive)
        # Trees of both sizes see the same folds.
        train, test = fold(data.y, FOLDS, task.split, split_seed(replace(task, setting=SETTING)))
        classifier = ALGORITHMS[task.algorithm].make(
            FACTOR, ROUNDS, "tree", LEAVES[task.setting], task.seed
        )
        with quiet():
            classifier.fit(data.X.iloc[train], data.y[train])
        X, y = data.X.iloc[test], data.y[test]
        decided = classifier.predict(X)
        metrics = binary_metrics(y, decided, classifier.decision_function(X), FACTOR)
        hits, rejections = (float((decided[y == k] == k).sum()) for k in (1, 0))
        metrics["specificity"] = rejections / float((y == 0).sum())
        metrics["g-mean (paper)"] = float(np.sqrt(hits * rejections)) / len(y)
        metrics["rounds"] = float(classifier.n_iter_)
        if task.setting != SETTING:
            return metrics
        metrics |= _curve("train", classifier, data.X.iloc[train], data.y[train])
        return metrics | _curve("test", classifier, X, y)

    def summarise(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Without the curves, which are figure 3's; of the large trees the cost alone."""
        curve = rows["metric"].str.contains("@")
        other = (rows["setting"] != SETTING) & (rows["metric"] != "cost")
        return compact(super().summarise(rows[~curve & ~other]), spread_of="cost")

    def table(self, summary: pd.DataFrame) -> pd.DataFrame:
        """Ours, then the printed figure in brackets; standard deviations for the cost alone."""
        every = summary.set_index(["setting", "algorithm", "metric", "statistic"])["value"]
        ours, large = every[SETTING], every[LARGE]
        theirs = self.printed().set_index(["algorithm", "metric"])["value"]

        def beside(name: str, metric: str, digits: int) -> str:
            """The printed figure in brackets, if there is one."""
            if (name, metric) not in theirs.index:
                return ""
            spread = f" ± {theirs[name, 'cost sd']:.1f}" if metric == "cost" else ""
            return f" [{theirs[name, metric]:.{digits}f}{spread}]"

        lines = []
        for name in ALGORITHMS:
            cost, sd = (ours[name, "cost", statistic] for statistic in ("mean", "sd"))
            line = {
                "algorithm": name,
                "cost": f"{cost:.1f} ± {sd:.1f}{beside(name, 'cost', 1)}",
                "cost, 32 leaves": f"{large[name, 'cost', 'mean']:.1f}",
                "G-mean": f"{ours[name, 'g-mean', 'mean']:.2f}",
            }
            for heading, metric in _PRINTED.items():
                line[heading] = f"{ours[name, metric, 'mean']:.2f}{beside(name, metric, 2)}"
            line["rounds"] = f"{ours[name, 'rounds', 'mean']:.0f}"
            lines.append(line)
        return pd.DataFrame(lines)

    def conclusions(self, summary: pd.DataFrame) -> list[Conclusion]:
        """Whether AsyB and AsyBL are cheaper, and which methods collapse."""
        return judge_table(summary, SETTING)


def _curve(part: str, classifier: Any, X: Any, y: AnyArray) -> dict[str, float]:
    """Total cost after some rounds; a classifier that stopped early stays where it was."""
    wanted = set(CURVE)
    costs = {
        number: float(_cost(y, scores >= 0))
        for number, scores in enumerate(classifier.staged_decision_function(X), start=1)
        if number in wanted or number == classifier.n_iter_
    }
    last = max(costs)
    return {f"{part} cost@{number}": costs[min(number, last)] for number in CURVE}


def _cost(y: AnyArray, decided: AnyArray) -> float:
    return FACTOR * float((~decided & (y == 1)).sum()) + float((decided & (y == 0)).sum())


TABLES = [
    CostTable(1, "crx"),
    CostTable(
        2,
        "page-blocks",
        (2, 3, 4, 5),
        "Positive: everything but text, as in KEEL's page-blocks0 (which has one row fewer).",
    ),
    CostTable(3, "phoneme", minutes=0.4),
    CostTable(4, "pima"),
    CostTable(
        5,
        "vowel",
        ("hid",),
        "Positive: the vowel hid, as in KEEL's vowel0; speaker and sex kept. In shuffled folds "
        "every speaker is in the training part, so the task is easy; the paper's folds may follow "
        "the file, which is ordered by speaker.",
    ),
]


def overall(summaries: Mapping[str, pd.DataFrame]) -> list[Conclusion]:
    """The paper's statements over its five tables."""
    tables = [table.name for table in TABLES]
    found = [summaries[name] for name in tables if name in summaries]
    return judge_overall(found, SETTING, LARGE)

"""Table 2: minimum ε on ten benchmark sets."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from costboost._typing import Floats, Ints
from costboost_papers.item import SUMMARY_COLUMNS, Conclusion, Item, Mode, Task
from costboost_papers.masnadi2007.methods import ALGORITHMS, classifier
from costboost_papers.masnadi2007.reading import (
    HEAD,
    MEAN,
    OTHERS,
    PROTOCOLS,
    SETS,
    by_set,
    count_tops,
    count_wins,
)
from costboost_papers.masnadi2007.verdicts import judge_table2
from costboost_papers.plots import CostFactorDisplay
from costboost_papers.protocol import (
    BinaryData,
    binary_data,
    encode,
    fold,
    quiet,
    split_seed,
)

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

__all__ = ["Table2"]

FACTORS = (2, 5, 10)
ROUNDS = (5, 10, 20, 50)
REPORTED = (10, 50)
COSTS = {
    "full": (1.0, 1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0, 30.0),
    "quick": (1.0, 1.5, 5.0),
}
FOLDS, INNER_FOLDS = 5, 3


class Table2(Item):
    """Average minimum ε of twelve algorithms on ten sets."""

    paper = "masnadi2007"
    reads_benchmark_files = True
    name = "table2"
    title = "Average minimum ε = false alarms + f x misses on ten sets, f = 2, 5, 10"
    minutes = 5.5
    notes = (
        "Five stratified folds; ε is summed over the folds, the least over the training cost Ĉ1 "
        "is taken per f, and averaged over f in {2, 5, 10}, as the paper does. That search sees "
        "the test folds, so its figures flatter every algorithm; beside it stand figures with Ĉ1 "
        "and the rounds (5, 10, 20 or 50) chosen by three folds inside the training part. The "
        "paper gives neither the rounds (50 as in its Figure 3, and 10, here) nor, in the text "
        "that survives, the range of Ĉ1 (11 values from 1 to 30 here) nor any number of the "
        "table; the printed counts are from its text. Positive (costly) classes are those that the "
        "sets name: diabetes, malignant, recurrence, liver class 1, mines, still alive, heart "
        "disease, x wins, died. Missing numbers are medians, categories are indicator columns, "
        "columns are standardised. Weak learners: stumps; histograms for CS-RealBoost; lines for "
        "CS-LogitBoost. CS-AdaBoost and CS-RealBoost start from equal class totals, as printed. "
        "wpbc keeps its column of recurrence times, which leaks the outcome, for the 33 features "
        "of the literature. AsymBoost and AdaBoostC are not in the paper; "
        "AsymBoost spreads the cost over its 50 rounds, so that fewer show it unfinished."
    )

    def tasks(self, mode: Mode) -> list[Task]:
        """Sets x algorithms x folds."""
        sets = SETS if mode == "full" else ("liver", "echocardiogram")
        return [
            Task(self.paper, self.name, dataset, algorithm, "", split)
            for dataset in sets
            for algorithm in ALGORITHMS
            for split in range(FOLDS)
        ]

    def run(self, task: Task, mode: Mode) -> dict[str, float]:
        """Counts of the test fold by training cost, and ε of the inner search."""
        # ``fp@C@r`` and ``fn@C@r`` are false alarms and misses with training cost C after r rounds;
        # ``ε@f``, ``Ĉ1@f`` and ``rounds@f`` are what the inner search comes to.
        data, seed, costs = binary_data(task.dataset), split_seed(task), COSTS[mode]
        train, test = fold(data.y, FOLDS, task.split, seed)
        outer = _counts(task.algorithm, data, train, test, costs)
        inner = np.zeros_like(outer)
        for number in range(INNER_FOLDS):
            learn, check = fold(data.y[train], INNER_FOLDS, number, seed)
            inner += _counts(task.algorithm, data, train[learn], train[check], costs)
        found = {
            f"{kind}@{cost:g}@{rounds}": float(outer[i, ROUNDS.index(rounds), j])
            for i, cost in enumerate(costs)
            for rounds in REPORTED
            for j, kind in enumerate(("fp", "fn"))
        }
        for f in FACTORS:
            price = np.array([1.0, f])
            i, r = np.unravel_index(np.argmin(inner @ price), inner.shape[:2])
            found |= {
                f"ε@{f}": float(outer[i, r] @ price),
                f"Ĉ1@{f}": float(costs[i]),
                f"rounds@{f}": float(ROUNDS[r]),
            }
        return found

    def summarise(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Per set and algorithm the mean over f; per f the median over the sets."""
        import pandas as pd

        sums = rows.groupby(["dataset", "algorithm", "metric"], sort=False)["value"].agg(
            ["sum", "count"]
        )
        tidy: list[tuple[str, str, str, str, float, int]] = []
        for key, own in sums.groupby(["dataset", "algorithm"], sort=False):
            dataset, algorithm = map(str, key)
            values, n = own["sum"].droplevel([0, 1]), int(own["count"].max())
            per_f = _per_factor(values)
            for metric in PROTOCOLS:
                tidy += [
                    (dataset, algorithm, f"f={f}", metric, per_f[metric, f], n) for f in FACTORS
                ]
            if (dataset, algorithm) == ("cleveland", "CS-RealBoost"):  # the paper's Table 1
                tidy += [
                    (dataset, algorithm, f"f={f}", "training C1", per_f["training C1", f], n)
                    for f in FACTORS
                ]
        columns = ["dataset", "algorithm", "setting", "metric", "value", "n"]
        frame = pd.DataFrame(tidy, columns=columns).assign(statistic="mean")
        epsilon = frame[frame["metric"].isin(list(PROTOCOLS))]
        by_set = (
            epsilon.groupby(["dataset", "algorithm", "metric"], sort=False)
            .agg(value=("value", "mean"), n=("n", "max"))
            .reset_index()
            .assign(setting=MEAN, statistic="mean")
        )
        everywhere = pd.concat([epsilon, by_set], ignore_index=True)
        medians = (
            everywhere.groupby(["algorithm", "setting", "metric"], sort=False)
            .agg(value=("value", "median"), n=("value", "size"))
            .reset_index()
            .assign(dataset="all", statistic="median")
        )
        table1 = frame[(frame["dataset"] == "cleveland") & (frame["algorithm"] == "CS-RealBoost")]
        kept = table1[table1["metric"].isin(["training C1", HEAD])]
        return pd.concat([by_set, medians, kept], ignore_index=True)[SUMMARY_COLUMNS]

    def table(self, summary: pd.DataFrame) -> pd.DataFrame:
        """A row per set, then medians, counts of sets, and the counts that the paper states."""
        import pandas as pd

        wide = by_set(summary, HEAD)
        lines = {name: wide.loc[name].round(1).to_dict() for name in wide.index}
        for metric, words in PROTOCOLS.items():
            own = by_set(summary, metric)
            lines[f"median ε: {words}"] = own.median().round(1).to_dict()
            lines[f"sets with the lowest ε of the paper's: {words}"] = count_tops(own).to_dict()
            lines[f"sets with ε below all earlier: {words}"] = count_wins(own).to_dict()
        printed = self.printed().set_index("algorithm")["value"].astype(int)
        lines["sets with the lowest ε: paper"] = printed.to_dict()
        table = pd.DataFrame(
            [{name: line.get(name, "") for name in wide.columns} for line in lines.values()],
            dtype=object,
        )
        table.insert(0, "data set", list(lines))
        return table

    def figure(self, summary: pd.DataFrame) -> Figure:
        """Median ε against f: the paper's search, and the search inside the training folds."""
        from matplotlib.figure import Figure as Canvas

        figure = Canvas(figsize=(9.2, 4.2), layout="constrained")
        medians = summary[(summary["dataset"] == "all") & (summary["setting"] != MEAN)]
        for ax, metric in zip(figure.subplots(1, 2), (HEAD, OTHERS[-1]), strict=True):
            own = medians[medians["metric"] == metric]
            wide = own.assign(f=own["setting"].str.removeprefix("f=").astype(int)).pivot(
                index="f", columns="algorithm", values="value"
            )
            lines = {name: wide[name].to_numpy() for name in ALGORITHMS if name in wide}
            CostFactorDisplay(
                wide.index.to_numpy(),
                lines,
                value_name="median ε over the sets",
                factor_name="cost factor f",
            ).plot(ax)
            ax.set_title(PROTOCOLS[metric], fontsize=10)
        return figure

    def conclusions(self, summary: pd.DataFrame) -> list[Conclusion]:
        """Medians, wins and the order of the new algorithms."""
        return judge_table2(summary)


def _counts(
    algorithm: str, data: BinaryData, train: Ints, test: Ints, costs: tuple[float, ...]
) -> Floats:
    """False alarms and misses on the test rows, (costs, rounds, 2)."""
    X, X_test = encode(data.X.iloc[train], data.X.iloc[test], one_hot=True, scale=True)
    truth = data.y[test] == 1
    counts = np.zeros((len(costs), len(ROUNDS), 2))
    for i, cost in enumerate(costs):
        with quiet():
            fitted = classifier(algorithm, cost, ROUNDS[-1]).fit(X, data.y[train])
        staged = list(fitted.staged_decision_function(X_test))
        for j, rounds in enumerate(ROUNDS):
            decided = staged[min(rounds, len(staged)) - 1] >= 0
            counts[i, j] = (decided & ~truth).sum(), (truth & ~decided).sum()
    return counts


def _per_factor(values: pd.Series) -> dict[tuple[str, int], float]:
    """ε by protocol and f, and the training cost of the first protocol, from sums over folds."""
    found: dict[tuple[str, int], float] = {}
    costs = [metric.split("@")[1] for metric in values.index if metric.startswith(("fp@", "fn@"))]
    for f in FACTORS:
        for rounds in REPORTED:
            epsilon = {
                cost: float(values[f"fp@{cost}@{rounds}"] + f * values[f"fn@{cost}@{rounds}"])
                for cost in dict.fromkeys(costs)
            }
            best = min(epsilon, key=lambda cost: epsilon[cost])
            found[f"min ε, {rounds} rounds", f] = epsilon[best]
            if rounds == REPORTED[-1]:
                found["training C1", f] = float(best)
        found["ε, inner search", f] = float(values[f"ε@{f}"])
    return found

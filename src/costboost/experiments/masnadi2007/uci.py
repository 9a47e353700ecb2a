"""Table 2: minimum ε on ten benchmark sets."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from costboost._typing import Floats, Ints
from costboost.experiments._protocol import (
    BinaryData,
    binary_data,
    encode,
    fold,
    quiet,
    split_seed,
)
from costboost.experiments.item import SUMMARY_COLUMNS, Conclusion, Item, Mode, Task, Verdict
from costboost.experiments.masnadi2007.methods import ADDED, ALGORITHMS, EARLIER, NEW, classifier
from costboost.plots import CostFactorDisplay

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

__all__ = ["Table2", "lower_medians"]

SETS = (
    "pima", "wdbc", "wpbc", "wbc", "liver", "sonar", "echocardiogram", "cleveland", "tic-tac-toe",
    "haberman",
)  # fmt: skip
FACTORS = (2, 5, 10)
ROUNDS = (5, 10, 20, 50)
REPORTED = (10, 50)
COSTS = {
    "full": (1.0, 1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0, 30.0),
    "quick": (1.0, 1.5, 5.0),
}
FOLDS, INNER_FOLDS = 5, 3
MEAN = "mean over f"  # the setting of the figures that the paper tabulates
# The metrics of the summary and what they mean.
PROTOCOLS = {
    "min ε, 50 rounds": "cost searched on the test folds, 50 rounds",
    "min ε, 10 rounds": "cost searched on the test folds, 10 rounds",
    "ε, inner search": "cost and rounds searched inside the training folds",
}
HEAD, *OTHERS = PROTOCOLS


class Table2(Item):
    """Average minimum ε of twelve algorithms on ten sets."""

    paper = "masnadi2007"
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
        "table; the printed counts are from its text. Positive (dear) classes are those that the "
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
        """Counts of the test fold by training cost, and ε of the inner search.

        ``fp@C@r`` and ``fn@C@r`` are false alarms and misses with training cost C after r rounds;
        ``ε@f``, ``Ĉ1@f`` and ``rounds@f`` are what the inner search comes to.
        """
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

        wide = _by_set(summary, HEAD)
        lines = {name: wide.loc[name].round(1).to_dict() for name in wide.index}
        for metric, words in PROTOCOLS.items():
            own = _by_set(summary, metric)
            lines[f"median ε: {words}"] = own.median().round(1).to_dict()
            lines[f"lowest of the paper's on so many sets: {words}"] = _tops(own).to_dict()
            lines[f"below all earlier on so many sets: {words}"] = _wins(own).to_dict()
        printed = self.printed().set_index("algorithm")["value"].astype(int)
        lines["lowest on so many of 10 sets: paper"] = printed.to_dict()
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
        wide = {metric: _by_set(summary, metric) for metric in PROTOCOLS}
        return [lower_medians(summary, NEW), _wins_over_all(wide), _best(wide), _left_out(wide)]


def lower_medians(summary: pd.DataFrame, names: Sequence[str]) -> Conclusion:
    """Whether these algorithms have lower median ε than all earlier ones.

    Parameters
    ----------
    summary : DataFrame
        Summary of `Table2`.
    names : sequence of str
        New algorithms.

    Returns
    -------
    Conclusion
        It holds if it does for all names and protocols, in part if for some.
    """
    below, evidence = [], []
    n = 0
    for metric, words in PROTOCOLS.items():
        frame = _by_set(summary, metric)
        n, median = len(frame), frame.median()
        rival = str(median[list(EARLIER)].idxmin())
        below += [bool(median[name] < median[rival]) for name in names]
        ours = ", ".join(f"{name} {median[name]:.1f}" for name in names)
        evidence.append(f"{words}: {ours}; lowest earlier {rival} {median[rival]:.1f}")
    return Conclusion(
        f"{', '.join(names)} have a lower median ε than all earlier algorithms.",
        _graded(below),
        f"Median over {n} sets of ε averaged over f, with {'; with '.join(evidence)}.",
        "On the small sets CS-AdaBoost and CS-RealBoost soon make no misses in training; the "
        "rounds after that remove false alarms alone, and pay with misses on test rows. Fewer "
        "rounds spare them, and lines of one feature, CS-LogitBoost's, do not fit so closely.",
    )


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


def _by_set(summary: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Mean ε over f: a row per set, a column per algorithm."""
    own = summary[
        (summary["metric"] == metric) & (summary["setting"] == MEAN) & (summary["dataset"] != "all")
    ]
    wide = own.pivot(index="dataset", columns="algorithm", values="value")
    return wide.loc[
        [name for name in SETS if name in wide.index],
        [name for name in ALGORITHMS if name in wide.columns],
    ]


def _tops(wide: pd.DataFrame) -> pd.Series:
    """On how many sets each of the paper's algorithms has the lowest ε of them; ties count."""
    own = wide[[*NEW, *EARLIER]]
    return own.eq(own.min(axis=1), axis=0).sum()


def _wins(wide: pd.DataFrame) -> pd.Series:
    """On how many sets an algorithm that is not an earlier one is below all earlier ones."""
    names = [*NEW, *ADDED]
    return wide[names].lt(wide[list(EARLIER)].min(axis=1), axis=0).sum()


def _wins_over_all(wide: dict[str, pd.DataFrame]) -> Conclusion:
    wins = {metric: _wins(frame) for metric, frame in wide.items()}
    n = len(wide[HEAD])
    evidence = ". ".join(
        f"{PROTOCOLS[metric]}: " + ", ".join(f"{name} {count[name]}" for name in NEW)
        for metric, count in wins.items()
    )
    enough = [bool(count[name] >= 0.6 * n) for count in wins.values() for name in NEW]
    return Conclusion(
        "Each new algorithm is below all earlier ones on 60 to 90 % of the sets.",
        _graded(enough),
        f"Sets out of {n}. {evidence}.",
        "Seven rivals are beaten at once only if the best of them is, and the least of seven "
        "noisy figures is low: most sets have fewer than 400 rows.",
    )


def _best(wide: dict[str, pd.DataFrame]) -> Conclusion:
    tops = {metric: _tops(frame) for metric, frame in wide.items()}
    lowest = [
        bool(frame.median()[[*NEW, *EARLIER]].idxmin() == "CS-RealBoost") for frame in wide.values()
    ]
    most = [bool(top["CS-RealBoost"] > top.drop("CS-RealBoost").max()) for top in tops.values()]
    evidence = ". ".join(
        f"{PROTOCOLS[metric]}: lowest median {wide[metric].median()[[*NEW, *EARLIER]].idxmin()}; "
        + ", ".join(f"{name} lowest on {top[name]}" for name in top.index if top[name])
        for metric, top in tops.items()
    )
    return Conclusion(
        "CS-RealBoost has the lowest median ε and is the best on 7 of 10 sets, CS-LogitBoost on "
        "the other 3.",
        _graded([*lowest, *most]),
        f"{evidence}.",
        "The report does not say how many bins its histograms have, how they are smoothed, or how "
        "many rounds were run, and on sets of this size CS-RealBoost depends on all three.",
    )


def _left_out(wide: dict[str, pd.DataFrame]) -> Conclusion:
    below, evidence = [], []
    for metric, frame in wide.items():
        median = frame.median()
        best = min(float(median[name]) for name in ADDED)
        below += [bool(median[name] < best) for name in NEW]
        evidence.append(
            f"{PROTOCOLS[metric]}: " + ", ".join(f"{name} {median[name]:.1f}" for name in ADDED)
        )
    return Conclusion(
        "The new algorithms are far superior to what was available (here against two that the "
        "paper leaves out: AsymBoost, and AdaBoost started from cost-proportional weights).",
        _graded(below),
        f"Median ε. {'. '.join(evidence)}.",
        "Cost-proportional initial weights also minimise a loss whose minimiser is the Bayes rule, "
        "with the same stumps and AdaBoost's own step.",
    )


def _graded(true: list[bool]) -> Verdict:
    return "holds" if all(true) else "holds in part" if any(true) else "does not hold"

"""Nikolaou et al. 2016, “Cost-sensitive boosting algorithms: do we really need them?”."""

from __future__ import annotations

from functools import cache, partial
from itertools import combinations, product
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
from matplotlib import pyplot
from matplotlib.figure import Figure
from scipy.io import loadmat
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.frozen import FrozenEstimator

from costboost import algorithms
from costboost._typing import Floats, Ints
from costboost_papers import grading
from costboost_papers.grading import WORTH, Conclusion, Part, rank_parts, t_half, wins
from costboost_papers.item import GROUP, Item, Mode, Task, aggregated, wide
from costboost_papers.protocol import capped, data_file, holdout, quiet

# --- methods -------------------------------------------------------------------------------------

SUPPORTED = ("AdaMEC", "CGAda", "AsymAda")  # by all of the theory, says the paper
BLIND = ("AdaBoost", "AdaMEC")  # trained without costs
METHODS: dict[str, Any] = {
    "AdaBoost": algorithms.AdaBoostCClassifier(),
    "AdaMEC": algorithms.AdaBoostCClassifier(),
    "CGAda": algorithms.AdaBoostCClassifier(),
    "AsymAda": algorithms.AsymmetricAdaBoostClassifier(),
    "AdaC1": algorithms.AdaC1Classifier(),
    "AdaC2": algorithms.AdaC2Classifier(),
    "AdaC3": algorithms.AdaC3Classifier(),
    "CSB0": algorithms.CSB0Classifier(),
    "CSB1": algorithms.CSB1Classifier(),
    "CSB2": algorithms.CSB2Classifier(),
    "AdaCost": algorithms.AdaCostClassifier(),
    "CSAda": algorithms.CSAdaBoostClassifier(),
}
OTHERS = tuple(name for name in METHODS if name not in (*SUPPORTED, "AdaBoost"))
PLAIN, CALIBRATED = "plain", "calibrated"
_HALF = (1.5, 2.0, 2.5, 3.0, 5.0, 10.0, 20.0, 25.0, 50.0, 100.0)
RATIOS = (*(round(1 / r, 3) for r in reversed(_HALF)), 1.0, *_HALF)  # of a miss to a false alarm
DATASETS = tuple(
    f"{name}.mat"
    for name in (
        "congress_orig", "german_credit", "heart_orig", "ionosphere", "krvskp", "landsatM", "liver",
        "mushroom", "musk2", "parkinsons", "pima", "semeion_orig", "sonar_orig", "spambase",
        "spliceM", "survival", "waveformM", "wdbc_orig",
    )
)  # fmt: skip


# Splits, cost ratios, rows for training at most, rounds.
EFFORTS: dict[Mode, SimpleNamespace] = {
    "quick": SimpleNamespace(splits=1, ratios=(0.1, 1.0, 10.0), rows=300, rounds=20),
    "full": SimpleNamespace(splits=4, ratios=RATIOS, rows=500, rounds=100),
}


@cache
def mat_data(name: str) -> tuple[Floats, Ints]:
    """A set of the authors: rows, and 1 where the label is 1."""
    path = data_file(f"nikolaou2016/{name}")
    if path is None:
        raise FileNotFoundError(
            f"nikolaou2016 reads the data sets of its authors, and {name} is not there. Put their "
            ".mat files into the folder nikolaou2016 of the benchmark files."
        )
    found = loadmat(path)
    return found["data"].astype(float), (found["labels"].ravel() == 1).astype(np.intp)


class Ranks(Item):
    """Mean cost and mean rank of the variants over sets and cost ratios."""

    paper = "nikolaou2016"
    name = "ranks"
    title = "mean cost (0 nothing wrong, 1 all wrong) and mean rank, over 18 sets and 21 ratios"
    minutes = 24.0
    over_sets = True
    notes = (
        "A reduced form: 4 stratified splits, half for training and half for the test, of the "
        "training half at most 500 rows; LightGBM stumps, 100 rounds. The 18 sets are the authors' "
        "files, class 1 against all others with the frequencies that they have there. A miss costs "
        "1/100 to 100 times a false alarm; which 21 ratios is our choice. Of the fifteen variants "
        "eleven are run, beside AdaBoost, which knows no costs; the paper's claim is about all "
        "fifteen. Which of our classes belong to them was not checked against the paper's list, "
        "which was not at hand. CSAda is `CSAdaBoostClassifier`, AsymAda "
        "`AsymmetricAdaBoostClassifier`, CGAda `AdaBoostCClassifier`, which is AdaBoost started "
        "from the costs. *Calibrated* fits the "
        "score on half of the training rows and Platt's sigmoid on the other half; each variant "
        "then takes the decision of least expected cost. *Plain* AdaMEC weighs its votes by the "
        "costs, the others decide by the sign. A cost is divided by that of deciding every row "
        "wrongly. Ranks are among all lines and both columns, for each set and ratio. What the "
        "paper derives from theory is not judged."
    )

    def tasks(self, mode: Mode) -> list[Task]:
        tasks = self.grid(DATASETS, METHODS, (PLAIN, CALIBRATED), EFFORTS[mode].splits)
        same = ("AdaBoost", CALIBRATED)  # that is AdaMEC
        return [task for task in tasks if (task.algorithm, task.setting) != same]

    def run(self, task: Task, mode: Mode) -> dict[str, float]:
        """The cost for each ratio (``cost@10``), as a share of the highest possible."""
        effort = EFFORTS[mode]
        X, y = mat_data(task.dataset)
        seed = Task(self.paper, self.name, task.dataset, "", "", task.split).seed
        train, test = holdout(y, 0.5, seed)
        train, kept = capped(y, train, effort.rows, seed), None
        if task.setting == CALIBRATED:
            train, kept = (train[part] for part in holdout(y[train], 0.5, seed))
        found, scores = {}, None
        for ratio in effort.ratios:
            if scores is None or task.algorithm not in BLIND:
                model = clone(METHODS[task.algorithm]).set_params(
                    n_estimators=self.rounds or effort.rounds,
                    cost_matrix=None if task.algorithm in BLIND else {"fn": ratio, "fp": 1.0},
                    max_leaves=2,
                    random_state=seed,
                    n_jobs=1,
                )
                with quiet():
                    scores = _scores(model.fit(X[train], y[train]), X, y, test, kept)
            # Of the positive class, from 0 to 1; plain scores that know the costs are cut at ½.
            aware = task.setting == CALIBRATED or task.algorithm == "AdaMEC"
            decided = scores * (ratio if aware else 1.0) > 1 - scores
            prices = np.where(y[test] == 1, ratio, 1.0)
            found[f"cost@{ratio:g}"] = float(prices[decided != y[test]].sum() / prices.sum())
        return found

    def summarise(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Mean cost of each set; over all sets the mean cost, that of each ratio, and the rank."""
        own = aggregated(rows.assign(metric="cost"), mean="mean")
        overall = aggregated(rows.assign(metric="cost", dataset="all"), mean="mean")
        curves = aggregated(rows.assign(dataset="all"), mean="mean")
        means = rows.groupby(GROUP, sort=False)["value"].mean().reset_index()
        ranks = means.groupby(["dataset", "metric"])["value"].rank()
        ranked = aggregated(means.assign(value=ranks, metric="rank", dataset="all"), mean="mean")
        return pd.concat([own, overall, curves, ranked], ignore_index=True)

    def table(self, summary: pd.DataFrame) -> pd.DataFrame:
        lines = {
            f"{metric}, {kind}": wide(summary, metric).T["all", kind].round(digits)
            for kind in (PLAIN, CALIBRATED)
            for metric, digits in (("cost", 4), ("rank", 1))
        }
        return pd.DataFrame(lines).reindex(list(METHODS)).rename_axis("variant").reset_index()

    def figure(self, summary: pd.DataFrame) -> Figure | None:
        rows = summary[summary["metric"].str.startswith("cost@")]
        names = rows["metric"].unique()
        ratios = [float(name.partition("@")[2]) for name in names]
        figure, panels = pyplot.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
        for ax, kind in zip(panels, (PLAIN, CALIBRATED), strict=True):
            own = rows[rows["setting"] == kind]
            curves = own.pivot(index="metric", columns="algorithm", values="value")
            for number, name in enumerate(METHODS):
                line = curves.reindex(index=names, columns=[name])[name]
                style = "-" if name in SUPPORTED else ":" if number < 10 else "--"
                ax.plot(ratios, line, style, color=f"C{number % 10}", label=name, lw=1.4)
            ax.set(title=kind, xscale="log", xlabel="cost of a miss, of a false alarm")
        panels[0].set_ylabel("mean cost")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=6, fontsize="small")
        return figure

    def conclusions(self, summary: pd.DataFrame) -> list[Conclusion]:
        costs = wide(summary[summary["dataset"] != "all"], "cost")
        plain, calibrated = (
            pd.DataFrame(costs.xs(kind, level="setting")) for kind in (PLAIN, CALIBRATED)
        )
        missing = [name for name in DATASETS if name not in calibrated.index]

        def alike(ours: str, rival: str) -> Part:
            gap, scale = calibrated[rival] - calibrated[ours], calibrated[ours].mean()
            half = t_half(gap.std(), len(gap)) / scale
            return Part.close(f"{ours} and {rival}", gap.mean() / scale, half, WORTH)

        claim, worth = partial(Conclusion, missing=missing), f"{100 * WORTH:.0f} % of the mean cost"
        return [
            claim(
                "Once calibrated, AdaMEC, CGAda and AsymAda perform alike.",
                f"a difference of more than {worth}",
                [alike(*pair) for pair in combinations(SUPPORTED, 2)],
                test=f"t over the data sets, room to a difference of {worth}",
                limit=grading.SAME,
            ),
            claim(
                "Once calibrated, AdaMEC, CGAda and AsymAda outperform the other variants "
                f"({', '.join(OTHERS)}).",
                "another calibrated variant that ranks before them, or as well as they do",
                rank_parts(calibrated.drop(columns="AdaBoost"), product(SUPPORTED, OTHERS)),
                test="Friedman and Nemenyi over the data sets, calibrated variants, ranks by mean "
                "cost",
                limit="an interval above 0 is for it, one below 1 rank against it",
            ),
            claim(
                "AdaMEC, CGAda and AsymAda need calibration for their best performance.",
                "a lower cost without calibration, on most sets",
                [Part.share(name, wins(calibrated[name], plain[name])) for name in SUPPORTED],
                "The score of a calibrated variant is fitted on half of the rows. The test counts "
                "sets, not by how much their costs differ: means may be lower all the same.",
                test="Sign test over the data sets, calibrated below plain",
                limit=grading.MOST,
            ),
        ]


def _scores(model: Any, X: Floats, y: Ints, test: Ints, kept: Ints | None) -> Floats:
    """Platt's probabilities, by rows that were kept from the fit, or else the share of the vote."""
    if kept is not None:
        platt = CalibratedClassifierCV(FrozenEstimator(model), method="sigmoid", ensemble=False)
        return np.asarray(platt.fit(X[kept], y[kept]).predict_proba(X[test])[:, 1])
    weights = np.abs(model.estimator_weights_).sum()
    return np.asarray(0.5 + 0.5 * model.decision_function(X[test]) / (weights or 1.0))


ITEMS: list[Item] = [Ranks()]

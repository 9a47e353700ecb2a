"""Nikolaou et al. 2016, “Cost-sensitive boosting algorithms: do we really need them?”."""

from __future__ import annotations

from functools import cache
from itertools import combinations, product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import clone

from costboost._typing import Floats, Ints
from costboost.algorithms import (
    AdaBoostCClassifier,
    AdaC1Classifier,
    AdaC2Classifier,
    AdaC3Classifier,
    AdaCostClassifier,
    AsymmetricAdaBoostClassifier,
    CSAdaBoostClassifier,
    CSB0Classifier,
    CSB1Classifier,
    CSB2Classifier,
)
from costboost.datasets.files import _folder
from costboost_papers.grading import (
    WORTH,
    Conclusion,
    close_part,
    rank_parts,
    share_part,
    t_half,
    wins,
)
from costboost_papers.item import SUMMARY_COLUMNS, Item, Mode, Task, aggregated, wide
from costboost_papers.protocol import capped, holdout, quiet

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure
else:
    from costboost_papers._lazy import pd


# --- methods -------------------------------------------------------------------------------------

SUPPORTED = ("AdaMEC", "CGAda", "AsymAda")  # by all of the theory, says the paper
BLIND = ("AdaBoost", "AdaMEC")  # trained without costs
METHODS: dict[str, Any] = {
    "AdaBoost": AdaBoostCClassifier(),
    "AdaMEC": AdaBoostCClassifier(),
    "CGAda": AdaBoostCClassifier(),
    "AsymAda": AsymmetricAdaBoostClassifier(),
    "AdaC1": AdaC1Classifier(),
    "AdaC2": AdaC2Classifier(),
    "AdaC3": AdaC3Classifier(),
    "CSB0": CSB0Classifier(),
    "CSB1": CSB1Classifier(),
    "CSB2": CSB2Classifier(),
    "AdaCost": AdaCostClassifier(),
    "CSAda": CSAdaBoostClassifier(),
}
OTHERS = tuple(name for name in METHODS if name not in (*SUPPORTED, "AdaBoost"))
PLAIN, CALIBRATED = "plain", "calibrated"
_HALF = (1.5, 2.0, 2.5, 3.0, 5.0, 10.0, 20.0, 25.0, 50.0, 100.0)
RATIOS = (*(round(1 / r, 3) for r in reversed(_HALF)), 1.0, *_HALF)  # of a miss to a false alarm
FOLDER = "nikolaou2016"
DATASETS = tuple(
    f"{name}.mat"
    for name in (
        "congress_orig", "german_credit", "heart_orig", "ionosphere", "krvskp", "landsatM", "liver",
        "mushroom", "musk2", "parkinsons", "pima", "semeion_orig", "sonar_orig", "spambase",
        "spliceM", "survival", "waveformM", "wdbc_orig",
    )
)  # fmt: skip


class Effort(NamedTuple):
    """How much of the protocol a mode runs."""

    splits: int
    ratios: tuple[float, ...]
    rows: int  # for training, at most
    rounds: int = 100


EFFORTS: dict[Mode, Effort] = {
    "quick": Effort(1, (0.1, 1.0, 10.0), 300, 20),
    "full": Effort(4, RATIOS, 500),
}


@cache
def mat_data(name: str) -> tuple[Floats, Ints]:
    """A set of the authors: rows, and 1 where the label is 1."""
    from scipy.io import loadmat

    path = _folder(None) / FOLDER / name
    if not path.is_file():
        raise FileNotFoundError(
            f"nikolaou2016 reads the data sets of its authors, and {path} is not there. Put their "
            f".mat files into the folder {FOLDER} of the benchmark files."
        )
    found = loadmat(path)
    return found["data"].astype(float), (found["labels"].ravel() == 1).astype(np.intp)


# --- verdicts ------------------------------------------------------------------------------------


def judge(summary: pd.DataFrame) -> list[Conclusion]:
    """Whether the three perform alike once calibrated, and better than all others."""
    costs = wide(summary[summary["dataset"] != "all"], "cost")
    plain, calibrated = (
        pd.DataFrame(costs.xs(kind, level="setting")) for kind in (PLAIN, CALIBRATED)
    )
    missing = tuple(name for name in DATASETS if name not in calibrated.index)
    alike = []
    for ours, rival in combinations(SUPPORTED, 2):
        gap = calibrated[rival] - calibrated[ours]
        scale = float(calibrated[ours].mean())
        mean, half = float(gap.mean()) / scale, t_half(float(gap.std()), len(gap)) / scale
        alike.append(close_part(f"{ours} and {rival}", mean, half, WORTH))
    return [
        Conclusion(
            "Once calibrated, AdaMEC, CGAda and AsymAda perform alike.",
            f"a difference of more than {100 * WORTH:.0f} % of the mean cost",
            f"t over the data sets, room to a difference of {100 * WORTH:.0f} % of the mean cost",
            tuple(alike),
            missing=missing,
        ),
        Conclusion(
            "Once calibrated, AdaMEC, CGAda and AsymAda outperform the other variants "
            f"({', '.join(OTHERS)}).",
            "another calibrated variant that ranks before them, or as well as they do",
            "Friedman and Nemenyi over the data sets, calibrated variants, ranks by mean cost",
            tuple(rank_parts(calibrated.drop(columns="AdaBoost"), product(SUPPORTED, OTHERS))),
            missing=missing,
        ),
        Conclusion(
            "AdaMEC, CGAda and AsymAda need calibration for their best performance.",
            "a lower cost without calibration, on most sets",
            "Sign test over the data sets, calibrated below plain",
            tuple(share_part(name, wins(calibrated[name], plain[name])) for name in SUPPORTED),
            "The score of a calibrated variant is fitted on half of the rows. The test counts "
            "sets, not by how much their costs differ: means may be lower all the same.",
            missing=missing,
        ),
    ]


# --- table ---------------------------------------------------------------------------------------


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
        splits = range(EFFORTS[mode].splits)
        return [
            Task(self.paper, self.name, dataset, algorithm, setting, split)
            for dataset, split, setting in product(DATASETS, splits, (PLAIN, CALIBRATED))
            for algorithm in METHODS
            if (algorithm, setting) != ("AdaBoost", CALIBRATED)  # that is AdaMEC
        ]

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
        cells = rows.groupby(["dataset", "algorithm", "setting", "metric"], sort=False)
        means = cells["value"].mean().reset_index()
        ranks = means.groupby(["dataset", "metric"])["value"].rank()
        ranked = aggregated(means.assign(value=ranks, metric="rank", dataset="all"), mean="mean")
        return pd.concat([own, overall, curves, ranked], ignore_index=True)[SUMMARY_COLUMNS]

    def table(self, summary: pd.DataFrame) -> pd.DataFrame:
        lines = {
            f"{metric}, {kind}": wide(summary, metric)
            .reindex([("all", kind)])
            .iloc[0]
            .round(digits)
            for kind in (PLAIN, CALIBRATED)
            for metric, digits in (("cost", 4), ("rank", 1))
        }
        table = pd.DataFrame(lines).reindex(list(METHODS)).rename_axis("variant")
        return table.reset_index()

    def figure(self, summary: pd.DataFrame) -> Figure | None:
        from matplotlib import pyplot

        rows = summary[summary["metric"].str.startswith("cost@")]
        names = rows["metric"].unique()
        ratios = [float(name.partition("@")[2]) for name in names]
        curves = {
            kind: part.pivot(index="metric", columns="algorithm", values="value").reindex(
                index=names, columns=list(METHODS)
            )
            for kind, part in rows.groupby("setting")
        }
        figure, panels = pyplot.subplots(1, 2, figsize=(9, 3.6), sharey=True, layout="constrained")
        for ax, kind in zip(panels, (PLAIN, CALIBRATED), strict=True):
            for number, (name, line) in enumerate(curves[kind].items()):
                style = "-" if name in SUPPORTED else ":" if number < 10 else "--"
                ax.plot(ratios, line, style, color=f"C{number % 10}", label=name, lw=1.4)
            ax.set(title=kind, xscale="log", xlabel="cost of a miss, of a false alarm")
        panels[0].set_ylabel("mean cost")
        handles, labels = panels[0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=6, fontsize="small")
        return figure

    def conclusions(self, summary: pd.DataFrame) -> list[Conclusion]:
        return judge(summary)


def _scores(model: Any, X: Floats, y: Ints, test: Ints, kept: Ints | None) -> Floats:
    """Platt's probabilities, by rows that were kept from the fit, or else the share of the vote."""
    from sklearn.calibration import CalibratedClassifierCV
    from sklearn.frozen import FrozenEstimator

    if kept is not None:
        platt = CalibratedClassifierCV(FrozenEstimator(model), method="sigmoid", ensemble=False)
        return np.asarray(platt.fit(X[kept], y[kept]).predict_proba(X[test])[:, 1])
    weights = np.abs(model.estimator_weights_).sum()
    return np.asarray(0.5 + 0.5 * model.decision_function(X[test]) / (weights or 1.0))


ITEMS: list[Item] = [Ranks()]

"""Figures 1 and 2: boundaries on two Gaussians in the plane. Figure 3: cost by round."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from costboost._typing import AnyArray, Floats
from costboost.datasets import bayes_decision, log_odds, make_gaussians_2d
from costboost.metrics import total_cost
from costboost_papers.cao2013.methods import (
    ALGORITHMS,
    FACTOR,
    FOLDS,
    PAPER,
    SHRUNK,
    Recipe,
)
from costboost_papers.cao2013.methods import ROUNDS as TABLE_ROUNDS
from costboost_papers.cao2013.tables import CURVE, CostTable
from costboost_papers.cao2013.verdicts import judge_boundaries, judge_curves
from costboost_papers.item import Conclusion, Item, Mode, Task
from costboost_papers.layout import compact
from costboost_papers.protocol import holdout, quiet

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure
else:
    from costboost_papers._lazy import pd

__all__ = ["FIGURE_1", "FIGURE_2", "CostByRound", "GaussianBoundaries"]

ROUNDS = 100
TREE_LEAVES = 8
# The boundary is kept as the heights at which the decision turns, column by column; turns nearer to
# each other than a step of the scan are not seen.
COLUMNS = np.linspace(-6.0, 6.0, 25)
SCAN = np.linspace(-6.0, 6.0, 25)
HEIGHTS = np.linspace(-6.0, 6.0, 121)  # of the picture

Entry = tuple[str, Recipe, float]  # algorithm, how it is run, cost factor


class GaussianBoundaries(Item):
    """How far algorithms are from the best decision, and where their boundaries run."""

    minutes = 0.3
    notes = (
        "linear perceptrons, 100 rounds, 1000 points per class, 70 % to train, as in the paper; "
        f"AsyBL has regression trees of {TREE_LEAVES} leaves, whose size the paper does not give. "
        "A vote that is not positive ends the boosting. "
        "Which class is the costly one is not printed; here it is the first, N([-1, 1], ...). The "
        "excess cost is measured on 40 000 fresh points, over 10 draws of the data (2 if quick); "
        "the picture shows the first draw."
    )

    def __init__(self, paper: str, name: str, title: str, entries: Sequence[Entry]) -> None:
        self.paper = paper
        self.name = name
        self.title = title
        self.entries = {(name, f"C1/C2={f:g}"): (recipe, f) for name, recipe, f in entries}

    def tasks(self, mode: Mode) -> list[Task]:
        """A task per algorithm, cost factor and draw of the data."""
        return [
            Task(self.paper, self.name, "gaussians", algorithm, setting, split)
            for split in range(2 if mode == "quick" else 10)
            for algorithm, setting in self.entries
        ]

    def run(self, task: Task, mode: Mode) -> dict[str, float]:
        """Fit on one draw and compare with the best decision on fresh points."""
        recipe, factor = self.entries[task.algorithm, task.setting]
        # Both figures and all cost factors see the same draws.
        seed = Task(task.paper, "gaussians", "gaussians", "", "", task.split).seed
        X, y = make_gaussians_2d(1000, random_state=seed)
        train, test = holdout(y, 0.3, seed)
        learner = "tree" if task.algorithm.startswith("AsyBL") else "perceptron"
        classifier = recipe.make(factor, ROUNDS, learner, TREE_LEAVES, task.seed)
        with quiet():
            classifier.fit(X[train], y[train])
        fresh, truth = make_gaussians_2d(20_000, random_state=1)
        decided, best = classifier.predict(fresh), bayes_decision(fresh, factor)
        cost, least = (_total(truth, choice, factor) / len(truth) for choice in (decided, best))
        metrics = {
            "excess cost": cost / least - 1.0,
            "disagreement": float((decided != best).mean()),
            "positive share": float((decided > 0).mean()),
            "bayes positive share": float((best > 0).mean()),
            "test cost": _total(y[test], classifier.predict(X[test]), factor),
            "rounds": float(classifier.n_iter_),
        }
        return metrics | (_flips(classifier) if task.split == 0 else {})

    def summarise(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Means, and how much the excess cost varies; the boundary is that of the first draw."""
        return compact(super().summarise(rows), spread_of="excess cost")

    def table(self, summary: pd.DataFrame) -> pd.DataFrame:
        """Distance from the best decision; the paper prints pictures only."""
        keys = ["algorithm", "setting", "metric", "statistic"]
        values = summary.set_index(keys)["value"].sort_index()
        lines = []
        for algorithm, setting in self.entries:
            found = values[algorithm, setting]
            excess, sd = (found["excess cost", statistic] for statistic in ("mean", "sd"))
            best = found["bayes positive share", "mean"]
            lines.append(
                {
                    "algorithm": algorithm,
                    "factor": setting.removeprefix("C1/C2="),
                    "cost above Bayes": f"{excess:.1%} ± {sd:.1%}",
                    "decided otherwise": f"{found['disagreement', 'mean']:.1%}",
                    "decided costly (Bayes)": f"{found['positive share', 'mean']:.1%} ({best:.1%})",
                    "test cost": f"{found['test cost', 'mean']:.0f}",
                    "rounds": f"{found['rounds', 'mean']:.0f}",
                }
            )
        return pd.DataFrame(lines)

    def figure(self, summary: pd.DataFrame) -> Figure:
        """A panel per algorithm and factor: the boundary and the Bayes boundary."""
        from matplotlib.figure import Figure

        from costboost_papers.plots import BoundaryDisplay

        across = 4 if len(self.entries) % 4 == 0 else 3
        down = -(-len(self.entries) // across)
        figure = Figure(figsize=(2.5 * across, 2.45 * down), layout="constrained")
        panels = figure.subplots(down, across, sharex=True, sharey=True).flat
        grid = np.column_stack([axis.ravel() for axis in np.meshgrid(COLUMNS, HEIGHTS)])
        odds = log_odds(grid).reshape(len(HEIGHTS), len(COLUMNS))
        for ax, ((algorithm, setting), (_, factor)) in zip(
            panels, self.entries.items(), strict=False
        ):
            own = summary[(summary["algorithm"] == algorithm) & (summary["setting"] == setting)]
            BoundaryDisplay(
                COLUMNS,
                HEIGHTS,
                {algorithm: _response(own)},
                bayes=odds + np.log(factor),
                names=("", ""),
            ).plot(ax)
            ax.get_legend().remove()
            ax.set_title(f"{algorithm}, {setting}", fontsize=10)
        caption = "amber: decided for the costly class; wide grey line: Bayes boundary"
        figure.supxlabel(caption, fontsize=9)
        return figure

    def conclusions(self, summary: pd.DataFrame) -> list[Conclusion]:
        """Who comes near the Bayes boundary."""
        return judge_boundaries(self.name, summary, list(self.entries))


def _total(truth: AnyArray, decided: AnyArray, factor: float) -> float:
    """What the decisions cost together."""
    return total_cost(truth, decided, cost_matrix={"fn": factor, "fp": 1.0})


def _flips(classifier: Any) -> dict[str, float]:
    """Heights at which the decision turns, from below, in every column."""
    # Below the picture the decision counts as negative, so a column that begins positive turns at
    # its lower end.
    grid = np.column_stack([axis.ravel() for axis in np.meshgrid(COLUMNS, SCAN)])
    positive = (classifier.predict(grid) > 0).reshape(len(SCAN), len(COLUMNS))
    j, i = np.nonzero((positive[1:] != positive[:-1]).T)  # columns, then heights
    low, high = SCAN[i], SCAN[i + 1]
    for _ in range(8 if len(j) else 0):  # bisection, all turns at once
        middle = 0.5 * (low + high)
        same = (classifier.predict(np.column_stack([COLUMNS[j], middle])) > 0) == positive[i, j]
        low, high = np.where(same, middle, low), np.where(same, high, middle)
    flips: dict[str, float] = {}
    for column in range(len(COLUMNS)):
        turns = [float(SCAN[0])] * bool(positive[0, column])
        turns += (0.5 * (low + high))[j == column].tolist()
        flips |= {f"flip@{COLUMNS[column]:g}#{k}": turn for k, turn in enumerate(turns)}
    return flips


def _response(summary: pd.DataFrame) -> Floats:
    """The signed distance to the nearest turn of the column, (heights, columns)."""
    flips = summary[summary["metric"].str.startswith("flip@")]
    columns = flips["metric"].str.extract(r"flip@([^#]+)#", expand=False).astype(float)
    response = np.full((len(HEIGHTS), len(COLUMNS)), -1.0)
    for column, group in flips.groupby(columns):
        turns = np.sort(group["value"].to_numpy(dtype=np.float64))
        j = int(np.abs(COLUMNS - float(str(column))).argmin())
        turned = (HEIGHTS[:, None] >= turns).sum(axis=1)
        inner = turns[turns > HEIGHTS[0]]
        distance = (
            np.abs(HEIGHTS[:, None] - inner).min(axis=1) if len(inner) else np.ones(len(HEIGHTS))
        )
        response[:, j] = np.where(turned % 2 == 1, 1.0, -1.0) * np.maximum(distance, 1e-3)
    return response


class CostByRound(CostTable):
    """Figure 3: cost by round on phoneme, from the fits of table 3."""

    shares_rows_with = "table3"
    tau_metric = None

    def __init__(self) -> None:
        super().__init__(3, "phoneme")
        self.name = "figure3"
        self.title = "Train and test cost by round on phoneme"
        self.notes = "as for table1; drawn at rounds 1 to 10 and at every fifth after."

    def summarise(self, rows: pd.DataFrame) -> pd.DataFrame:
        """The mean curves."""
        summary = Item.summarise(self, rows[rows["metric"].str.contains("@")])
        return summary[summary["statistic"] == "mean"]

    def table(self, summary: pd.DataFrame) -> pd.DataFrame:
        """Mean cost after some rounds; the paper prints a picture only."""
        shown = (1, 5, 10, 20, TABLE_ROUNDS)
        values = summary.set_index(["algorithm", "metric"])["value"]
        return pd.DataFrame(
            [
                {"algorithm": name}
                | {
                    f"{part} {number}": f"{values[name, f'{part} cost@{number}']:.0f}"
                    for part in ("train", "test")
                    for number in shown
                }
                for name in ALGORITHMS
            ]
        )

    def figure(self, summary: pd.DataFrame) -> Figure:
        """A panel per algorithm, train and test cost by round."""
        from matplotlib.figure import Figure

        from costboost.plots._shared import PALETTE, SMALL, tidy

        values = summary.set_index(["algorithm", "metric"])["value"]
        scale = {"train": FOLDS - 1.0, "test": 1.0}  # four folds train, one tests
        figure = Figure(figsize=(9, 6.2), layout="constrained")
        panels = figure.subplots(3, 4, sharex=True, sharey=True)
        for ax, name in zip(panels.flat, ALGORITHMS, strict=False):  # the paper's twelve
            tidy(ax)
            for (part, share), color in zip(scale.items(), PALETTE, strict=False):
                curve = [values[name, f"{part} cost@{number}"] / share for number in CURVE]
                ax.plot(CURVE, curve, color=color, label=part)
            ax.set_title(name, fontsize=10)
        panels.flat[0].legend(fontsize=SMALL, frameon=False)
        figure.supxlabel("round", fontsize=10)
        figure.supylabel("cost per fold", fontsize=10)
        return figure

    def conclusions(self, summary: pd.DataFrame) -> list[Conclusion]:
        """Where the cost falls with the rounds and where it rises."""
        return judge_curves(summary, TABLE_ROUNDS)


FIGURE_1 = GaussianBoundaries(
    PAPER,
    "figure1",
    "Boundaries of earlier algorithms on two Gaussians, against the Bayes boundary",
    [
        (name, ALGORITHMS[name], FACTOR)
        for name in ("AdaBoostC", "AdaCost", "AdaC1", "AdaC2", "AdaC3", "CSB0", "CSB1", "CSB2")
    ]
    # From equal weights, as in its theory: from the costs it counts them twice.
    + [("AsyBoosting", replace(ALGORITHMS["AsyBoosting"], init="uniform"), FACTOR)],
)
FIGURE_2 = GaussianBoundaries(
    PAPER,
    "figure2",
    "Boundaries of AsyB and AsyBL for four cost factors, against the Bayes boundary",
    [
        (name, ALGORITHMS[name], factor)
        for name in ("AsyB", "AsyBL", SHRUNK)
        for factor in (2.0, 5.0, 8.0, 10.0)
    ],
)

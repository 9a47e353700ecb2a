"""Figure 2: zero crossings over a wide range of costs."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from costboost.datasets import bayes_threshold, make_gaussians_1d
from costboost.experiments.item import Conclusion, Item, Mode, Task, Verdict
from costboost.experiments.masnadi2007.gaussians import (
    DATA,
    cost_of,
    cost_ratio,
    crossing,
    scores,
)
from costboost.experiments.masnadi2007.methods import NEW

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Figure2"]


class Figure2(Item):
    """Zero crossings of the new algorithms over a wide range of costs."""

    paper = "masnadi2007"
    name = "figure2"
    title = "Zero crossing against the Bayes rule by cost, two Gaussians"
    minutes = 0.2
    notes = (
        "10,000 rows per class, five rounds, C2 = 1, C1 from 1/50 to 50, five samples (the paper "
        "shows one and names no range of C1). Stumps for CS-AdaBoost, histograms for "
        "CS-RealBoost, lines for CS-LogitBoost, thresholds and bins at quantiles of the sample. "
        "x* is looked for in [-4, 4]; ±4 means that one class is decided everywhere. The figure's "
        "curves have no printed numbers; the Bayes line x* = -T/2 with T = log(C1/C2) is exact."
    )
    rows = 10_000  # per class
    rounds = 5
    costs = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)

    def tasks(self, mode: Mode) -> list[Task]:
        """Algorithms x costs x samples."""
        costs = self.costs if mode == "full" else (0.2, 1.0, 5.0, 20.0)
        return [
            Task(self.paper, self.name, DATA, algorithm, f"C1={C1:g}", split)
            for split in range(5 if mode == "full" else 1)
            for C1 in costs
            for algorithm in NEW
        ]

    def run(self, task: Task, mode: Mode) -> dict[str, float]:
        """``crossing``, its ``distance`` from the Bayes rule's, and ``cost ratio``."""
        C1 = cost_of(task.setting)
        X, y = make_gaussians_1d(self.rows, random_state=task.seed)
        positive = scores(task.algorithm, C1, self.rounds, X, y)[-1] >= 0
        found = crossing(positive)
        return {
            "crossing": found,
            "distance": abs(found - bayes_threshold(C1)),
            "cost ratio": cost_ratio(positive, C1),
        }

    def table(self, summary: pd.DataFrame) -> pd.DataFrame:
        """A row per cost: the Bayes crossing and the mean crossing of each algorithm."""
        wide = _wide(summary, "crossing", "mean")
        wide.insert(0, "Bayes", [bayes_threshold(C1) for C1 in wide.index])
        return wide.rename_axis(index="C1", columns=None).round(3).reset_index()

    def figure(self, summary: pd.DataFrame) -> Figure:
        """Panel a: C2/(C1 + C2) at x* against the true posterior. Panel b: -T/2 against x*."""
        from matplotlib.figure import Figure as Canvas

        figure = Canvas(figsize=(8.4, 3.8), layout="constrained")
        left, right = figure.subplots(1, 2)
        wide = _wide(summary, "crossing", "mean")
        line = np.linspace(-2.6, 2.6, 201)
        look = {"color": "#333333", "linewidth": 4.5, "alpha": 0.35, "label": "Bayes rule"}
        left.plot(line, 1.0 / (1.0 + np.exp(-2.0 * line)), **look)
        right.plot(line, line, **look)
        marks = dict(zip(NEW, ("#0072B2", "#D55E00", "#009E73"), strict=True))
        for (name, color), marker in zip(marks.items(), "osx", strict=True):
            at, C1 = wide[name].to_numpy(), wide.index.to_numpy(dtype=float)
            drawn = {"color": color, "marker": marker, "markersize": 5, "linewidth": 1.2}
            left.plot(at, 1.0 / (C1 + 1.0), label=name, **drawn)
            right.plot(at, -0.5 * np.log(C1), label=name, **drawn)
        for ax, words in ((left, "C2/(C1 + C2), Bayes: P(+1 | x)"), (right, "-T/2")):
            ax.set_xlabel("zero crossing x*")
            ax.set_ylabel(words)
            _quieten(ax)
        right.legend(frameon=False, fontsize=9)
        return figure

    def conclusions(self, summary: pd.DataFrame) -> list[Conclusion]:
        """Real and Logit are accurate, Ada less so."""
        mean = _wide(summary, "distance", "mean")
        ratio = _wide(summary, "cost ratio", "mean")
        figures = "; ".join(
            f"{name} {mean[name].mean():.3f} (largest {mean[name].max():.3f} at C1 = "
            f"{mean[name].idxmax():g}; cost {ratio[name].mean():.3f} x Bayes)"
            for name in NEW
        )
        ada, real, logit = (float(mean[name].mean()) for name in NEW)
        near = [real < 0.1, logit < 0.1]
        verdict: Verdict = "does not hold"
        if all(near) and max(real, logit) < ada:
            verdict = "holds"
        elif any(near) or min(real, logit) < ada:
            verdict = "holds in part"
        return [
            Conclusion(
                "After five rounds CS-RealBoost and CS-LogitBoost have accurate zero crossings "
                "over a wide range of costs; CS-AdaBoost has difficulties.",
                verdict,
                f"Mean distance |x* + T/2| over the costs: {figures}.",
                "A vote of five stumps takes few values, so its sign changes at one of a few "
                "thresholds. A histogram's crossing is as sharp as its bins, which are wide in "
                "the tails, where large cost ratios put the boundary; a line has no such limit, "
                "but needs more Newton steps when the costs are far apart.",
            )
        ]


def _wide(summary: pd.DataFrame, metric: str, statistic: str) -> pd.DataFrame:
    """A row per cost, a column per new algorithm."""
    own = summary[(summary["metric"] == metric) & (summary["statistic"] == statistic)]
    wide = own.assign(C1=own["setting"].map(cost_of)).pivot(
        index="C1", columns="algorithm", values="value"
    )
    return wide[[name for name in NEW if name in wide]]


def _quieten(ax: Axes) -> None:
    ax.grid(True, color="#E8E8E8", linewidth=0.8)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)

"""Figure 2: zero crossings over a wide range of costs. Figure 3: zero crossing by round."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from costboost.datasets import bayes_threshold, make_gaussians_1d
from costboost_papers.item import SUMMARY_COLUMNS, Conclusion, Item, Mode, Task
from costboost_papers.masnadi2007.gaussians import DATA, cost_ratio, crossing, scores
from costboost_papers.masnadi2007.methods import ALGORITHMS, NEW
from costboost_papers.masnadi2007.reading import by_algorithm, by_cost, cost_of
from costboost_papers.masnadi2007.verdicts import judge_figure2, judge_figure3
from costboost_papers.plots import ZeroCrossingDisplay

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["Figure2", "Figure3"]


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
        wide = by_cost(summary, "crossing", "mean")
        wide.insert(0, "Bayes", [bayes_threshold(C1) for C1 in wide.index])
        return wide.rename_axis(index="C1", columns=None).round(3).reset_index()

    def figure(self, summary: pd.DataFrame) -> Figure:
        """Panel a: C2/(C1 + C2) at x* against the true posterior. Panel b: -T/2 against x*."""
        from matplotlib.figure import Figure as Canvas

        figure = Canvas(figsize=(8.4, 3.8), layout="constrained")
        left, right = figure.subplots(1, 2)
        wide = by_cost(summary, "crossing", "mean")
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
        return judge_figure2(summary)


def _quieten(ax: Axes) -> None:
    ax.grid(True, color="#E8E8E8", linewidth=0.8)
    ax.set_axisbelow(True)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)


class Figure3(Item):
    """Zero crossing by round, with each algorithm's training cost searched."""

    paper = "masnadi2007"
    name = "figure3"
    title = "Zero crossing by round with the best training cost, two Gaussians"
    minutes = 1.0
    notes = (
        "10,000 rows per class, 50 rounds, C2 = 1. For every algorithm the training cost is "
        "searched over 32 values from 1 to 100, many of them close to 1, for the crossing nearest "
        "to the Bayes rule's after 50 rounds, as in the paper, which does not print its values. "
        "Figures are medians over three samples; the curves are of the first, at rounds 1 to 10 "
        "and every fifth from there. The paper draws CS-AdaBoost alone of the new algorithms; "
        "CS-RealBoost and CS-LogitBoost are added, and so are AsymBoost (Viola and Jones) and "
        "AdaBoostC (AdaBoost started from cost-proportional weights). Initial weights: equal for "
        "the new algorithms and AdaC, proportional to the costs for CSB and AdaCost, as these "
        "were published. x* is looked for in [-4, 4]; ±4 means that one class is decided "
        "everywhere; of several changes of sign the threshold that agrees best with all decisions "
        "is taken. Swing is the range of x* over rounds 26 to 50. A boosting that ends early, "
        "because a vote is not positive, keeps its last score."
    )
    rows = 10_000  # per class
    rounds = 50
    # Rounds of the curve that are kept.
    shown = (*range(1, 11), *range(15, 51, 5))
    search = (
        1.0, 1.02, 1.05, 1.08, 1.1, 1.15, 1.2, 1.25, 1.3, 1.4, 1.5, 1.65, 1.8, 2.0, 2.25, 2.5, 3.0,
        3.5, 4.0, 4.5, 4.7, 5.0, 6.0, 8.0, 10.0, 12.0, 15.0, 20.0, 25.0, 30.0, 50.0, 100.0,
    )  # fmt: skip

    def tasks(self, mode: Mode) -> list[Task]:
        """Algorithms x two costs x samples."""
        return [
            Task(self.paper, self.name, DATA, algorithm, setting, split)
            for split in range(3 if mode == "full" else 1)
            for setting in ("C1=5", "C1=20")
            for algorithm in ALGORITHMS
        ]

    def run(self, task: Task, mode: Mode) -> dict[str, float]:
        """Crossings by round (``x@1`` to ``x@50``) at the best training cost, and figures of it."""
        C1 = cost_of(task.setting)
        best = bayes_threshold(C1)
        X, y = make_gaussians_1d(self.rows, random_state=task.seed)
        search = self.search if mode == "full" else (1.0, 1.5, 2.0, 4.5, 5.0, 20.0, 50.0)
        by_cost = {cost: scores(task.algorithm, cost, self.rounds, X, y) for cost in search}
        ends = {cost: crossing(F[-1] >= 0) for cost, F in by_cost.items()}
        chosen = min(search, key=lambda cost: abs(ends[cost] - best))
        path = np.array([crossing(F >= 0) for F in by_cost[chosen]])
        late = path[self.rounds // 2 :]
        return {
            "crossing": ends[chosen],
            "distance": abs(ends[chosen] - best),
            "late distance": float(np.abs(late - best).mean()),
            "swing": float(np.ptp(late)),
            "training C1": chosen,
            "cost ratio": cost_ratio(by_cost[chosen][-1] >= 0, C1),
            "crossing at the true cost": ends[C1],
            **{f"x@{r}": float(path[r - 1]) for r in self.shown},
        }

    def summarise(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Medians of the figures, and the curve of the first sample."""
        import pandas as pd

        is_curve = rows["metric"].str.startswith("x@")
        figures = super().summarise(rows[~is_curve])
        curve = rows[is_curve & (rows["split"] == rows["split"].min())]
        kept: pd.DataFrame = pd.concat(
            [
                figures[figures["statistic"] == "median"],
                curve.assign(statistic="first", n=1)[SUMMARY_COLUMNS],
            ],
            ignore_index=True,
        )
        return kept

    def table(self, summary: pd.DataFrame) -> pd.DataFrame:
        """A row per cost and algorithm, with what the text of the paper states."""
        import pandas as pd

        printed = self.printed().set_index(["setting", "algorithm", "metric"])["value"]
        parts = []
        for setting in ("C1=5", "C1=20"):
            own = by_algorithm(summary, setting)
            frame = pd.DataFrame(
                {
                    "setting": setting,
                    "algorithm": [name for name in ALGORITHMS if name in own.index],
                }
            )
            names = frame["algorithm"]
            frame["x*, round 50"] = own["crossing"].reindex(names).to_numpy()
            frame["x*, Bayes"] = bayes_threshold(cost_of(setting))
            frame["x*, paper"] = [printed.get((setting, name, "crossing")) for name in names]
            frame["training C1"] = own["training C1"].reindex(names).to_numpy()
            frame["training C1, paper"] = [
                printed.get((setting, name, "training C1")) for name in names
            ]
            frame["swing"] = own["swing"].reindex(names).to_numpy()
            frame["cost / Bayes"] = own["cost ratio"].reindex(names).to_numpy()
            frame["x* at the true cost"] = (
                own["crossing at the true cost"].reindex(names).to_numpy()
            )
            parts.append(frame)
        return pd.concat(parts, ignore_index=True).round(3)

    def figure(self, summary: pd.DataFrame) -> Figure:
        """A panel per cost, a line per algorithm."""
        from matplotlib.figure import Figure as Canvas

        figure = Canvas(figsize=(9.2, 4.4), layout="constrained")
        curves = summary[summary["statistic"] == "first"]
        for ax, setting in zip(figure.subplots(1, 2), ("C1=5", "C1=20"), strict=True):
            own = curves[curves["setting"] == setting]
            wide = own.pivot(index="metric", columns="algorithm", values="value")
            wide.index = wide.index.str.removeprefix("x@").astype(int)
            # Rounds that were not kept repeat the last one before them.
            wide = wide.reindex(range(1, self.rounds + 1)).ffill()
            lines = {name: wide[name].to_numpy() for name in ALGORITHMS if name in wide}
            ZeroCrossingDisplay(lines, bayes=bayes_threshold(cost_of(setting))).plot(ax)
            ax.set_title(setting.replace("=", " = "), fontsize=10)
        return figure

    def conclusions(self, summary: pd.DataFrame) -> list[Conclusion]:
        """The classes of behaviour that the paper describes."""
        return judge_figure3(summary)

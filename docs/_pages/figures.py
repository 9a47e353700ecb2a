"""Pictures of the pages of docs/algorithms: decision boundaries, and losses or weights by margin.

Curves come from the library's own rules and losses, so that a picture cannot show another formula
than the one that is run.
"""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

import costboost
from algorithms import papers
from costboost.algorithms.cai2008 import OBJECTIVES
from costboost.boosting import VoteRule
from costboost.errors import CollapseWarning
from costboost.losses import LOSSES, PNorm

if TYPE_CHECKING:
    from matplotlib.axes import Axes

PICTURES = Path(__file__).parents[1] / "pictures"
PRICES = {"fn": 5, "fp": 1}
COSTS = np.array([5.0, 1.0])  # of a miss, which only positive rows can be, and of a false alarm
SIGNS = np.array([1.0, -1.0])
ROWS = ("positive row: an error costs 5", "negative row: an error costs 1")
ROUNDS = 3  # that say the same, for the second line of a picture of weights
MARGIN = np.linspace(-1.5, 1.5, 601)
BLUE, ORANGE = "#0072B2", "#D55E00"
WIDTHS = {BLUE: 3.2, ORANGE: 1.6}  # so that lines on top of each other are both seen
INK = "#333333"

# Rows, columns and inches of a picture, by the number of its panels.
SHAPES = {1: (1, 1, (4.6, 3.4)), 2: (1, 2, (6.8, 3.3)), 3: (2, 2, (6.8, 5.2))}

Panel = Callable[["Axes"], None]


def loss(name: str, costs: tuple[float, float] = (5.0, 1.0)) -> Panel:
    """A loss of two classes by its margin."""

    def draw(ax: Axes) -> None:
        for sign, colour, row in zip(SIGNS, (BLUE, ORANGE), ROWS, strict=True):
            value = LOSSES[name].value(np.full(MARGIN.shape, sign), sign * MARGIN, costs)
            ax.plot(MARGIN, value, color=colour, label=row, linewidth=WIDTHS[colour])
        ax.set(xlabel="margin  y F", ylabel="loss", ylim=(0, 12))

    return draw


def class_loss(name: str) -> Panel:
    """A loss of several classes, on two of them, by the lead of the right class."""

    def draw(ax: Axes) -> None:
        for cost, colour, row in zip(COSTS, (BLUE, ORANGE), ROWS, strict=True):
            scores = np.column_stack([MARGIN, -MARGIN]) / 2.0
            rows = np.tile([0.0, cost], (len(MARGIN), 1))
            value = LOSSES[name].value(np.zeros(len(MARGIN), dtype=int), scores, rows)
            ax.plot(MARGIN, value, color=colour, label=row, linewidth=WIDTHS[colour])
        ax.set(xlabel="lead of the right class", ylabel="loss", ylim=(0, 12))

    return draw


def weights(name: str, xlabel: str = "margin  y F") -> Panel:
    """What a row weighs after one round, and after several that say the same."""
    algorithm = getattr(costboost, name)
    rule = algorithm._rule
    init = getattr(algorithm, "_default_init", "cost")  # rules on pairs start by the costs
    c = COSTS / COSTS.max()
    if isinstance(rule, VoteRule):
        # The parameter of the class decides what costs are divided by, as in its fit.
        scale = getattr(algorithm, "cost_scale", rule.cost_scale)
        c = replace(rule, cost_scale=scale).scaled(COSTS)
    start = np.ones(2)
    if init == "cost":
        start = COSTS

    def after(rounds: int) -> Any:
        # (n, 2): each round has the same vote, and all of them together make the margin.
        columns = []
        for margin in MARGIN:
            wrong = np.full(2, float(margin < 0))
            factor = rule.factor(c, wrong, abs(margin) / rounds) ** rounds
            if getattr(rule, "before", None) is not None:
                factor = factor * rule.before(c, ROUNDS) ** rounds
            columns.append(start * factor)
        return np.array(columns)

    def draw(ax: Axes) -> None:
        once = after(1)
        often = after(ROUNDS)
        for i, (colour, row) in enumerate(zip((BLUE, ORANGE), ROWS, strict=True)):
            ax.plot(MARGIN, once[:, i], color=colour, label=row, linewidth=WIDTHS[colour])
        if not np.allclose(once, often):
            for i, colour in enumerate((BLUE, ORANGE)):
                ax.plot(MARGIN, often[:, i], color=colour, linestyle=(0, (4, 2)), linewidth=1.6)
            ax.plot([], [], color=INK, linewidth=2, label="after one round")
            ax.plot([], [], color=INK, linestyle=(0, (4, 2)), label="after three such rounds")
        ax.set(xlabel=xlabel, ylabel="weight", yscale="log", ylim=(1e-3, 2e3))

    return draw


def objective(name: str) -> Panel:
    """A member of Cai's family, after one round."""
    parts = OBJECTIVES[name]
    a, b = np.broadcast_arrays(*parts.coefficients(SIGNS, COSTS))
    start = np.ones(2)
    if parts.init == "cost":
        start = COSTS

    def draw(ax: Axes) -> None:
        for i, (colour, row) in enumerate(zip((BLUE, ORANGE), ROWS, strict=True)):
            rule = np.sign(MARGIN) * SIGNS[i]
            value = start[i] * np.exp(-np.abs(MARGIN) * (a[i] * rule + b[i]))
            ax.plot(MARGIN, value, color=colour, label=row, linewidth=WIDTHS[colour])
        ax.set(xlabel="margin  y F", ylabel="loss", yscale="log", ylim=(1e-3, 2e3))

    return draw


def p_norm(p: float) -> Panel:
    """The cost of the share that the wrong class has of H."""

    def draw(ax: Axes) -> None:
        share = np.linspace(0.0, 1.0, 201)
        H = np.column_stack([1.0 - share, share])
        for cost, colour, row in zip(COSTS, (BLUE, ORANGE), ROWS, strict=True):
            rows = np.tile([0.0, cost], (len(share), 1))
            value = PNorm(p).value(np.zeros(len(share), dtype=int), H, rows)
            ax.plot(share, value, color=colour, label=row, linewidth=WIDTHS[colour])
        ax.set(xlabel="share of the wrong class in H", ylabel="loss", ylim=(0, 5.2))

    return draw


def expected_cost(ax: Axes) -> None:
    """What the two decisions are expected to cost, by probability."""
    P = np.linspace(0.0, 1.0, 201)
    ax.plot(P, COSTS[0] * P, color=BLUE, linewidth=2)
    ax.plot(P, COSTS[1] * (1.0 - P), color=ORANGE, linewidth=2)
    ax.text(0.64, 2.5, "decide negative", color=BLUE)
    ax.text(0.99, 0.65, "decide positive", color=ORANGE, ha="right")
    ax.axvline(1 / 6, color=INK, linewidth=1, linestyle=":")
    ax.text(0.18, 4.6, "threshold 1/6", color=INK)
    ax.set(xlabel="probability of the positive class", ylabel="expected cost", ylim=(0, 5.2))


# What is drawn for each paper: titles and panels.
LOSS_PANELS: Mapping[str, Mapping[str, Panel]] = {
    "freund1996": {
        name.removesuffix("Classifier"): weights(name, "margin of a pair")
        for name in ("AdaBoostM2Classifier", "AdaCostM2Classifier", "CSB2M2Classifier")
    },
    "fan1999": {"AdaCost": weights("AdaCostClassifier")},
    "ting2000": {name: weights(f"{name}Classifier") for name in ("CSB0", "CSB1", "CSB2")},
    "joshi2001": {"RareBoost": loss("weighted_exponential")},
    "viola2002": {"AsymmetricAdaBoost": weights("AsymmetricAdaBoostClassifier")},
    "zadrozny2003": {"Costing": p_norm(1.0)},
    "abe2004": {"GBSE and DSE": p_norm(1.0)},
    "masnadi2007": {
        "CSAdaBoost, CSRealBoost": loss("cost_exponential"),
        "CSLogitBoost": loss("cost_logistic"),
    },
    "sun2007": {name: weights(f"{name}Classifier") for name in ("AdaC1", "AdaC2", "AdaC3")},
    "cai2008": {f'"{name}"': objective(name) for name in ("adacost", "adac1", "asymboost")},
    "lozano2008": {
        "p = 1 (AverageCost too)": p_norm(1.0),
        "p = 2": p_norm(2.0),
        "p = 4": p_norm(4.0),
    },
    "landesa2012": {"AdaBoostC": loss("weighted_exponential")},
    "cao2013": {"AsyB": loss("weighted_exponential"), "AsyBL": loss("asymmetric_logistic")},
    "beijbom2014": {name.upper(): class_loss(name) for name in ("mc", "gel", "gll")},
    "nikolaou2016": {
        "First, AdaBoost": loss("weighted_exponential", (1.0, 1.0)),
        "Then, the decision": expected_cost,
    },
    "so2021": {
        "SAMMEC2": weights("SAMMEC2Classifier", "votes: wrong classes left, the right one right")
    },
}


def draw_all() -> None:
    """Draw both pictures of every paper."""
    import matplotlib

    matplotlib.use("Agg")
    for paper, algorithms in papers().items():
        draw_boundaries(paper, algorithms)
        draw_losses(paper)


def draw_losses(paper: str) -> None:
    """A panel per loss and one legend: below, or in the free place of four."""
    from matplotlib import pyplot as plt

    from costboost.plots._shared import tidy
    from costboost_papers.pages import save_figure

    panels = LOSS_PANELS[paper]
    rows, columns, size = SHAPES[len(panels)]
    figure, grid = plt.subplots(rows, columns, figsize=size, layout="constrained", squeeze=False)
    figure.get_layout_engine().set(h_pad=0.1)
    lines = {}
    for ax, (title, panel) in zip(grid.flat, panels.items(), strict=False):
        panel(ax)
        tidy(ax)
        ax.set_title(title, fontsize=11)
        lines |= dict(zip(*reversed(ax.get_legend_handles_labels()), strict=True))
    if len(panels) < grid.size:
        grid.flat[-1].axis("off")
        grid.flat[-1].legend(lines.values(), lines.keys(), loc="center", frameon=False)
    else:
        figure.legend(
            lines.values(),
            lines.keys(),
            loc="outside lower center",
            ncols=columns,
            frameon=False,
            fontsize=9,
        )
    save_figure(figure, PICTURES / f"{paper}-loss.png")


def draw_boundaries(paper: str, algorithms: list[Any]) -> None:
    """Where the algorithms of a paper decide for either class, on two Gaussians."""
    from costboost.datasets import log_odds, make_gaussians_2d
    from costboost_papers.pages import save_figure
    from costboost_papers.plots import boundaries_of

    X, y = make_gaussians_2d(500, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", CollapseWarning)  # the picture shows it
        fitted = {
            algorithm.__name__.removesuffix("Classifier"): algorithm(
                PRICES, **_settings(algorithm)
            ).fit(X, y)
            for algorithm in algorithms
        }
    ax = boundaries_of(fitted, X, y, bayes=lambda x: log_odds(x) + np.log(5))
    save_figure(ax.figure, PICTURES / f"{paper}-boundary.png")


def _settings(algorithm: Any) -> dict[str, Any]:
    """Fifty rounds and small trees where the algorithm has them: the same for all."""
    parameters = inspect.signature(algorithm).parameters
    wanted = {"n_estimators": 50, "random_state": 0, "learning_rate": 1.0}
    if "Logit" in algorithm.__name__ or "BL" in algorithm.__name__:
        wanted["learning_rate"] = 0.1
    return {name: value for name, value in wanted.items() if name in parameters}

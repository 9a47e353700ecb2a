"""What all displays share: the look, marks and names, scores and costs of an estimator."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator, Sequence
from itertools import cycle, product
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from costboost.columns import need

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Okabe and Ito's colours, told apart by colour-blind readers too; without yellow, which is hard to
# see on white.
PALETTE = ("#0072B2", "#D55E00", "#009E73", "#CC79A7", "#E69F00", "#56B4E9", "#7F5539")
DASHES = ("solid", (0, (5, 2)), (0, (1.5, 1.5)))
INK = "#333333"
MUTED = "#767676"
GRID = "#E8E8E8"
SMALL = 9.0  # points: labels inside a picture


def axes(ax: Axes | None, figsize: tuple[float, float] = (6.4, 4.0)) -> Axes:
    """The given axes, or those of a new figure."""
    if ax is not None:
        return ax
    need("matplotlib", "plots", "costboost.plots")
    from matplotlib import pyplot as plt

    return plt.subplots(figsize=figsize, layout="constrained")[1]


def tidy(ax: Axes) -> None:
    """Two quiet spines and a light grid behind the data."""
    ax.set_axisbelow(True)
    ax.grid(True, color=GRID, linewidth=0.8)
    for side in ("top", "right"):
        ax.spines[side].set_visible(False)
    for side in ("left", "bottom"):
        ax.spines[side].set_color(MUTED)
    ax.tick_params(colors=INK, which="both")


class Display(ABC):
    """What all displays share: new or given axes, tidied, on which `_draw` draws."""

    _size: tuple[float, float] = (6.4, 4.0)
    ax_: Axes
    figure_: Any

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw it.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        self
            The display.
        """
        self.ax_ = axes(ax, self._size)
        self.figure_ = self.ax_.figure
        tidy(self.ax_)
        self._draw(self.ax_)
        return self

    @abstractmethod
    def _draw(self, ax: Axes) -> None: ...

    @classmethod
    def _check_has(cls, estimator: Any, method: str, remedy: str) -> None:
        """Refuse a classifier that lacks what is drawn."""
        if not hasattr(estimator, method):
            name = type(estimator).__name__
            raise TypeError(f"{cls.__name__} needs {method}, which {name} has not. {remedy}")

    def _mark(self, x: float, y: float, text: str, color: str, above: bool = False) -> None:
        """A point with words on the side where there is room: below it, or above."""
        low, high = self.ax_.get_xlim()
        on_left = x <= low + 0.6 * (high - low)
        (self.best_,) = self.ax_.plot(
            [x], [y], "o", color=color, markersize=7, markeredgecolor="white", clip_on=False,
            zorder=5,
        )  # fmt: skip
        self.best_label_ = self.ax_.annotate(
            text,
            (x, y),
            xytext=(6 if on_left else -6, 10 if above else -10),
            textcoords="offset points",
            ha="left" if on_left else "right",
            va="bottom" if above else "top",
            color=color,
            fontsize=SMALL,
            bbox={"facecolor": "white", "alpha": 0.8, "edgecolor": "none", "pad": 1.0},
            zorder=6,
        )


def name_rows(ax: Axes, names: Sequence[str]) -> None:
    """Names of horizontal bars beside them, the first on top."""
    ax.grid(False, axis="y")
    ax.set_yticks(np.arange(len(names)), names)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)


def check_one_of(value: str, known: Iterable[str], name: str, owner: str) -> None:
    """Refuse an option that a display does not know."""
    if value not in known:
        raise ValueError(
            f"The {name!r} parameter of {owner} must be one of {list(known)}, got {value!r}."
        )


def line_looks() -> Iterator[dict[str, Any]]:
    """Colour and dashes of one line after the other, without end."""
    for dash, color in cycle(product(DASHES, PALETTE)):
        yield {"color": color, "linestyle": dash}


def fitted_costs(estimator: Any, cost_matrix: Any, costs: Any, X: Any) -> dict[str, Any]:
    """Keywords of a metric: the costs given, else those of the estimator."""
    if cost_matrix is None:
        cost_matrix = getattr(estimator, "cost_matrix", None)
    return {"cost_matrix": cost_matrix, "costs": costs, "labels": estimator.classes_, "X": X}

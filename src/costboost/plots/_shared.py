"""What all displays share: the look, and names of lines and bars."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
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
    """The given axes, or those of a new figure, tidied."""
    if ax is None:
        need("matplotlib", "cli", "costboost.plots")
        from matplotlib import pyplot as plt

        ax = plt.subplots(figsize=figsize, layout="constrained")[1]
    tidy(ax)
    return ax


def tidy(ax: Axes) -> None:
    """Two quiet spines and a light grid behind the data."""
    ax.set_axisbelow(True)
    ax.grid(True, color=GRID, linewidth=0.8)
    ax.spines[["top", "right"]].set_visible(False)
    ax.spines[["left", "bottom"]].set_color(MUTED)
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
        self._draw(self.ax_)
        return self

    @abstractmethod
    def _draw(self, ax: Axes) -> None: ...


def name_rows(ax: Axes, names: Sequence[str]) -> None:
    """Names of horizontal bars beside them, the first on top."""
    ax.grid(False, axis="y")
    ax.set_yticks(np.arange(len(names)), names)
    ax.set_ylim(len(names) - 0.4, -0.6)
    ax.spines["left"].set_visible(False)
    ax.tick_params(axis="y", length=0)


def line_looks() -> Iterator[dict[str, Any]]:
    """Colour and dashes of one line after the other, without end."""
    for dash, color in cycle(product(DASHES, PALETTE)):
        yield {"color": color, "linestyle": dash}

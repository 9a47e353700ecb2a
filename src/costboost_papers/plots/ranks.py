"""Mean ranks of methods over data sets, with the critical difference of Nemenyi's test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from costboost._typing import Floats
from costboost.metrics import critical_difference, friedman_test, mean_ranks
from costboost.plots._shared import INK, MUTED, PALETTE, SMALL, axes, feature_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["RankDisplay"]

# Heights in rows of text, downwards from the axis at 0.
_RULER = 1.7  # the critical difference, above the axis
_BAR_GAP = 0.42
_FIRST_BAR = 0.55


class RankDisplay:
    """Mean ranks on an axis; bars join methods that do not differ significantly.

    Make it with `from_results`. The best method stands on the left. Two methods differ by
    Nemenyi's test if their mean ranks are at least the critical difference apart [1]_; Friedman's
    test, whose p-value is shown beside it, asks first whether any differ at all.

    Parameters
    ----------
    ranks : array of shape (k,)
        Mean rank of each method, 1 being the best.
    names : sequence of k str
        The methods.
    n_datasets : int
        Number of data sets over which the ranks are averaged.
    alpha : float, default=0.05
        Level of the test.
    p_value : float, optional
        p-value of Friedman's test.

    Attributes
    ----------
    critical_difference : float
        Least significant difference of mean ranks.
    groups : list of tuple of str
        The longest runs of methods, best first, that do not differ significantly.
    ax_, figure_
        Where it was drawn.
    marks_ : Line2D
        The ranks on the axis, best first.
    bars_ : list of Line2D
        A bar per group.
    labels_ : dict of str to Text
        The names, each with its rank.

    References
    ----------
    .. [1] J. Demsar, "Statistical comparisons of classifiers over multiple data sets", Journal of
       Machine Learning Research 7, 2006.

    Examples
    --------
    >>> from costboost_papers.plots import RankDisplay
    >>> shown = RankDisplay([1.2, 2.0, 3.8, 3.0], ["A", "B", "C", "D"], n_datasets=20)
    >>> round(shown.critical_difference, 3), shown.groups
    (1.049, [('A', 'B'), ('B', 'D'), ('D', 'C')])
    """

    def __init__(
        self,
        ranks: ArrayLike,
        names: Sequence[str],
        n_datasets: int,
        *,
        alpha: float = 0.05,
        p_value: float | None = None,
    ) -> None:
        self.ranks = np.asarray(ranks, dtype=np.float64)
        self.names = [str(name) for name in names]
        if self.ranks.shape != (len(self.names),):
            raise ValueError(
                f"The 'names' parameter of RankDisplay must have a name per rank, "
                f"{self.ranks.shape}; got {len(self.names)}."
            )
        self.n_datasets = n_datasets
        self.alpha = alpha
        self.p_value = p_value
        self.critical_difference = critical_difference(len(self.names), n_datasets, alpha)
        self._order = np.argsort(self.ranks, kind="stable")
        self._spans = _spans(self.ranks[self._order], self.critical_difference)
        self.groups = [
            tuple(self.names[i] for i in self._order[first : last + 1])
            for first, last in self._spans
        ]

    @classmethod
    def from_results(
        cls,
        table: Any,
        *,
        names: Sequence[str] | None = None,
        lower_is_better: bool = True,
        alpha: float = 0.05,
        ax: Axes | None = None,
    ) -> Self:
        """Rank the methods on each data set and draw the mean ranks.

        Parameters
        ----------
        table : frame or array of shape (n_datasets, k)
            A row per data set, a column per method; ties share the mean of their ranks.
        names : sequence of k str, optional
            The methods; by default the columns of a frame.
        lower_is_better : bool, default=True
            True for costs, False for savings.
        alpha : float, default=0.05
            Level of the test.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        RankDisplay
            The display, drawn.
        """
        ranks = mean_ranks(table, lower_is_better=lower_is_better)
        known = names or feature_names(table) or [f"method {j}" for j in range(len(ranks))]
        p_value = friedman_test(table) if len(ranks) > 2 else None
        return cls(ranks, known, len(np.asarray(table)), alpha=alpha, p_value=p_value).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw the axis, the names on both sides, the bars and the critical difference.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure, as high as the number of methods asks.

        Returns
        -------
        self
            The display.
        """
        ranks, gap = self.ranks[self._order], self.critical_difference
        k = len(ranks)
        levels = _levels(self._spans)
        first_row = _FIRST_BAR + _BAR_GAP * (max(levels, default=-1) + 1) + 0.75
        depth = first_row + (k - 1) // 2 + 0.6
        ax = axes(ax, (7.0, 0.25 * (depth + _RULER + 1.4) + 0.1))
        self.ax_, self.figure_ = ax, ax.figure
        low = float(np.floor(ranks[0]))
        high = max(float(np.ceil(ranks[-1])), low + gap, low + 1.0)
        ax.set_xlim(low, high)
        ax.set_ylim(depth, -_RULER - 1.2)
        ax.set_axis_off()
        self._draw_axis(low, high)
        for (first, last), level in zip(self._spans, levels, strict=True):
            y = _FIRST_BAR + _BAR_GAP * level
            reach = 0.008 * (high - low)
            self.bars_ += ax.plot(
                [ranks[first] - reach, ranks[last] + reach], [y, y], color=INK, linewidth=3.2,
                solid_capstyle="round", clip_on=False, zorder=3,
            )  # fmt: skip
        self.labels_ = {}
        half = (k + 1) // 2
        for place, i in enumerate(self._order):
            on_left = place < half
            y = first_row + (place if on_left else k - 1 - place)
            edge = low if on_left else high
            outside = edge + (-0.015 if on_left else 0.015) * (high - low)
            color = PALETTE[0] if place == 0 else INK
            ax.plot(
                [ranks[place], ranks[place], outside], [0.0, y, y], color=color if place == 0
                else MUTED, linewidth=0.9, clip_on=False, zorder=2,
            )  # fmt: skip
            name, rank = self.names[i], f"{ranks[place]:.2f}"
            self.labels_[name] = ax.text(
                outside + (-0.005 if on_left else 0.005) * (high - low),
                y,
                f"{name}  {rank}" if on_left else f"{rank}  {name}",
                ha="right" if on_left else "left",
                va="center",
                color=color,
                fontsize=SMALL,
                clip_on=False,
            )
        (self.marks_,) = ax.plot(
            ranks, np.zeros(k), "o", color=INK, markersize=4, clip_on=False, zorder=4
        )
        return self

    def _draw_axis(self, low: float, high: float) -> None:
        ax, gap = self.ax_, self.critical_difference
        self.bars_: list[Any] = []
        ax.plot([low, high], [0.0, 0.0], color=INK, linewidth=1.0, clip_on=False)
        last = min(int(np.floor(high)), len(self.names))
        for tick in range(int(low), last + 1):
            ax.plot([tick, tick], [-0.22, 0.0], color=INK, linewidth=1.0, clip_on=False)
            ax.text(tick, -0.35, f"{tick}", ha="center", va="bottom", fontsize=SMALL, color=INK)
        (self.ruler_,) = ax.plot(
            [low, low + gap], [-_RULER, -_RULER], color=INK, linewidth=1.6, marker="|",
            markersize=7, clip_on=False,
        )  # fmt: skip
        words = f"critical difference {gap:.2f}  (α = {self.alpha:g}, {self.n_datasets} data sets"
        if self.p_value is not None:
            words += f"; Friedman p = {self.p_value:.2g}"
        ax.text(
            low, -_RULER - 0.4, f"{words})", ha="left", va="bottom", fontsize=SMALL, color=MUTED
        )
        ax.text(
            high + 0.02 * (high - low),
            -0.1,
            "mean rank, 1 = best",
            ha="left",
            va="center",
            fontsize=SMALL,
            color=MUTED,
        )


def _spans(ranks: Floats, gap: float) -> list[tuple[int, int]]:
    """First and last of the longest runs of sorted ranks closer than the critical difference."""
    spans: list[tuple[int, int]] = []
    for first in range(len(ranks)):
        last = int(np.searchsorted(ranks, ranks[first] + gap, side="left")) - 1
        if last > first and (not spans or last > spans[-1][1]):
            spans.append((first, last))
    return spans


def _levels(spans: list[tuple[int, int]]) -> list[int]:
    """Height of each bar, such that bars of one height do not touch."""
    ends: list[int] = []  # where the last bar of each height ends
    levels: list[int] = []
    for first, last in spans:
        free = [level for level, end in enumerate(ends) if end < first]
        level = free[0] if free else len(ends)
        ends[level : level + 1] = [last]
        levels.append(level)
    return levels

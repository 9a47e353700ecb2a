"""Mean ranks of methods over data sets, with the critical difference of Nemenyi's test."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import friedmanchisquare, rankdata, studentized_range

from costboost._typing import Floats
from costboost.plots._shared import INK, MUTED, PALETTE, SMALL, axes, feature_names

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["RankDisplay", "critical_difference"]

# Heights in rows of text, downwards from the axis at 0.
_RULER = 1.7  # the critical difference, above the axis
_BAR_GAP = 0.42
_FIRST_BAR = 0.55


def critical_difference(k: int, n: int, alpha: float = 0.05) -> float:
    """Least difference of mean ranks that Nemenyi's test calls significant.

    ``q sqrt(k (k + 1) / (6 n))`` with q the quantile of the studentized range over the square root
    of 2 [1]_.

    Parameters
    ----------
    k : int
        Number of methods.
    n : int
        Number of data sets.
    alpha : float, default=0.05
        Chance of a false alarm among all pairs.

    Returns
    -------
    float
        The critical difference.

    References
    ----------
    .. [1] J. Demsar, "Statistical comparisons of classifiers over multiple data sets", Journal of
       Machine Learning Research 7, 2006.

    Examples
    --------
    >>> from costboost_papers.plots import critical_difference
    >>> round(critical_difference(4, 14, alpha=0.05), 2)
    1.25
    """
    if k < 2 or n < 1:
        raise ValueError(
            "critical_difference needs at least two methods and one data set; got "
            f"k={k!r}, n={n!r}."
        )
    if not 0.0 < alpha < 1.0:
        raise ValueError(
            f"The 'alpha' parameter of critical_difference must lie between 0 and 1; got {alpha!r}."
        )
    q = float(studentized_range.ppf(1.0 - alpha, k, np.inf)) / np.sqrt(2.0)
    return float(q * np.sqrt(k * (k + 1) / (6.0 * n)))


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
        values = np.asarray(table, dtype=np.float64)
        if values.ndim != 2 or values.shape[1] < 2 or not len(values):
            raise ValueError(
                "The 'table' parameter of RankDisplay.from_results must have shape (data sets, "
                f"methods) with at least one row and two columns; got {values.shape}."
            )
        gaps = np.flatnonzero(np.isnan(values).any(axis=1))
        if len(gaps):
            raise ValueError(
                "The 'table' parameter of RankDisplay.from_results must have a value of each "
                f"method on each data set; rows {gaps[:5].tolist()} have gaps. Drop those rows, or "
                "the methods that could not run."
            )
        ranked = rankdata(values if lower_is_better else -values, axis=1)
        known = names or feature_names(table) or [f"method {j}" for j in range(values.shape[1])]
        p_value = _friedman(ranked)
        return cls(ranked.mean(axis=0), known, len(values), alpha=alpha, p_value=p_value).plot(ax)

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


def _friedman(ranked: Floats) -> float | None:
    """p-value of Friedman's test; None for two methods, for which it is not defined."""
    if ranked.shape[1] < 3:
        return None
    if (ranked == ranked[:, :1]).all():
        return 1.0  # nothing but ties
    return float(friedmanchisquare(*ranked.T).pvalue)


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

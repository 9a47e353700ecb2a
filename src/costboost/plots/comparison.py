"""Pictures of `costboost.comparison.Comparison`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from costboost.plots._shared import INK, PALETTE, axes, name_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes


def ranks(means: Any, gap: float, n: int, p: float, ax: Axes | None = None) -> Axes:
    """Mean ranks with bars of the critical difference; methods whose bars overlap do not differ."""
    ax = axes(ax, (6.4, 0.8 + 0.3 * len(means)))
    y, best = np.arange(len(means)), means.iloc[0] + gap / 2
    colors = [PALETTE[0] if value - gap / 2 <= best else INK for value in means]
    ax.hlines(y, means - gap / 2, means + gap / 2, color=colors, linewidth=2)
    ax.scatter(means, y, color=colors, zorder=3)
    ax.axvline(best, color=PALETTE[0], linewidth=0.8, linestyle=":")
    name_rows(ax, list(means.index))
    ax.set_xlabel(
        f"mean rank over {n} data sets or splits, 1 = best\n"
        f"bars: critical difference {gap:.2f} (Nemenyi); Friedman p = {p:.2g}"
    )
    return ax


def standings(lines: Sequence[Any], ax: Axes | None = None) -> Axes:
    """Total costs, the cheapest on top, with the intervals of the differences from it."""
    ax = axes(ax, (8.0, 0.6 + 0.4 * len(lines)))
    colors = ["tab:green" if one.group == 1 else "tab:gray" for one in lines]
    half = [one.high - one.more for one in lines]
    ax.barh(range(len(lines)), [one.cost for one in lines], color=colors, xerr=half, ecolor=INK)
    name_rows(ax, [one.name for one in lines])
    ax.set_xlabel(
        "total cost on held-out rows; lines: 95 % interval of the difference from the cheapest",
        fontsize=8,
    )
    return ax

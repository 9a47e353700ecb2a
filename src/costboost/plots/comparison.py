"""Pictures of `costboost.comparison.Comparison`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from costboost.plots._shared import INK, PALETTE, axes, name_rows

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.axes import Axes


def ranks(means: pd.Series, n: int, ax: Axes | None = None) -> Axes:
    """Draw mean ranks, the best on top."""
    ax = axes(ax, (6.4, 0.8 + 0.3 * len(means)))
    ax.scatter(means, range(len(means)), color=PALETTE[0])
    name_rows(ax, list(means.index))
    ax.set_xlabel(f"mean rank over {n} data sets or splits, 1 = best")
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

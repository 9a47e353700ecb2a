"""How the figures of the papers are drawn; `costboost.plots` has the displays of the library."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from numpy.typing import ArrayLike

from costboost._typing import Floats
from costboost.plots._shared import INK, PALETTE, SMALL, axes, line_looks, name_rows, tidy


def label_ends(ax: Axes, ends: Sequence[tuple[float, float, str, Any]]) -> None:
    """Write ``(x, y, text, color)`` right of the axes at the height y, spread to avoid overlap."""
    # Call it last: the limits of the axes must be final.
    scale = ax.figure.dpi / 72.0  # pixels per point
    wanted = np.array([ax.transData.transform((x, y))[1] for x, y, _, _ in ends]) / scale
    look = {"arrowstyle": "-", "linewidth": 0.7, "alpha": 0.6, "shrinkA": 1.0, "shrinkB": 1.0}
    shifts = spread(wanted, 1.3 * SMALL) - wanted
    for (_, y, text, color), shift in zip(ends, shifts, strict=True):
        ax.annotate(
            text,
            (ax.get_xlim()[1], y),
            xytext=(12.0, float(shift)),
            textcoords="offset points",
            va="center",
            color=color,
            fontsize=SMALL,
            annotation_clip=False,
            arrowprops={**look, "color": color, "relpos": (0.0, 0.5)},
        )


def spread(wanted: Floats, gap: float) -> Floats:
    """Positions at least `gap` apart, in the order wanted and near it: pools share the shift."""
    order = np.argsort(wanted, kind="stable")
    pools: list[tuple[float, int]] = []  # centre and size
    for centre, size in ((float(value), 1) for value in wanted[order]):
        while pools and centre - pools[-1][0] < gap * (size + pools[-1][1]) / 2.0:
            before, number = pools.pop()
            centre = (centre * size + before * number) / (size + number)
            size += number
        pools.append((centre, size))
    result = np.empty_like(wanted)
    result[order] = np.concatenate(
        [centre + gap * (np.arange(size) - (size - 1) / 2.0) for centre, size in pools]
    )
    return result


# --- boundary ------------------------------------------------------------------------------------

# Of the classes: pale enough to lie under lines of the same palette.
_POINTS = ("#8C8C8C", "#E3A857")


def draw_boundaries(
    ax: Axes, x0: Floats, x1: Floats, responses: Mapping[str, Floats], bayes: Floats | None = None
) -> list[Line2D]:
    """Where scores on a grid cross zero; of a single one the sides are shaded. Returns a legend."""
    tidy(ax)
    ax.grid(False)
    if len(responses) == 1:
        (only,) = responses.values()
        sides, levels = np.where(only >= 0, 1.0, -1.0), [-2.0, 0.0, 2.0]
        ax.contourf(x0, x1, sides, levels=levels, colors=_POINTS, alpha=0.16, zorder=0)
    handles = []
    if bayes is not None:
        # Under the others and wide, so that a boundary which meets it is still seen.
        look = {"linewidth": 4.5, "alpha": 0.45, "color": INK, "linestyle": "solid"}
        handles.append(_zero_line(ax, (x0, x1, bayes), "Bayes boundary", 3, look))
    for look, (name, values) in zip(line_looks(), responses.items(), strict=False):
        look = {**look, "linewidth": 1.7, "alpha": None}
        handles.append(_zero_line(ax, (x0, x1, values), name, 4, look))
    ax.set_xlim(x0[0], x0[-1])
    ax.set_ylim(x1[0], x1[-1])
    return handles


def _zero_line(
    ax: Axes, grid: tuple[Floats, Floats, Floats], name: str, zorder: int, look: dict[str, Any]
) -> Line2D:
    """Draw the contour at 0; returns its line of a legend."""
    positive = grid[-1] >= 0
    if positive.all() or not positive.any():
        return Line2D([], [], label=f"{name} (one class everywhere)", **look)
    lists: Any = {f"{name}s": [look[name]] for name in ("color", "linestyle", "linewidth")}
    ax.contour(*grid, levels=[0.0], alpha=look["alpha"], zorder=zorder, **lists)
    return Line2D([], [], label=name, **look)


def boundaries_of(
    estimators: Mapping[str, Any], X: Floats, y: ArrayLike, bayes: Callable[[Floats], Floats]
) -> Axes:
    """The points and the boundaries of several fitted classifiers of two features and classes."""
    # ``bayes``, (n, 2) -> (n,), is 0 on the best boundary.
    low, high = X.min(axis=0), X.max(axis=0)
    margin = 0.04 * (high - low)
    x0, x1 = np.linspace(low - margin, high + margin, 200).T
    grid = np.column_stack([axis.ravel() for axis in np.meshgrid(x0, x1)])

    def response(estimator: Any) -> Floats:
        # Without scores `predict` draws the boundary: a cost-sensitive classifier does not
        # decide where its probability is one half.
        if hasattr(estimator, "decision_function"):
            return np.reshape(estimator.decision_function(grid), (len(x1), len(x0)))
        positive = estimator.predict(grid) == estimator.classes_[1]
        return np.where(positive, 1.0, -1.0).reshape(len(x1), len(x0))

    ax = axes(None, (6.4, 4.6))
    handles: list[Any] = []
    for label, color, marker in zip(np.unique(y).tolist(), _POINTS, "o^", strict=True):
        own = X[np.equal(y, label)]
        look: dict[str, Any] = {"s": 9, "alpha": 0.75, "linewidths": 0, "zorder": 1}
        name = f"class {label}"
        handles.append(ax.scatter(own[:, 0], own[:, 1], c=color, marker=marker, label=name, **look))
    responses = {name: response(estimator) for name, estimator in estimators.items()}
    best = np.reshape(bayes(grid), (len(x1), len(x0)))
    handles += draw_boundaries(ax, x0, x1, responses, best)
    ax.set_xlabel("feature 0")
    ax.set_ylabel("feature 1")
    place: dict[str, Any] = {"loc": "upper left", "bbox_to_anchor": (1.0, 1.0)}
    ax.legend(handles=handles, **place, frameon=False, fontsize=SMALL, markerscale=1.6)
    return ax


# --- lines with their names at the end -----------------------------------------------------------


def draw_crossings(ax: Axes, crossings: Mapping[str, Floats], bayes: float) -> None:
    """The zero crossing of boosted scores by round, against the best possible one."""
    tidy(ax)
    rounds = len(next(iter(crossings.values())))
    ax.axhline(bayes, zorder=1.5, color=INK, linewidth=4.5, alpha=0.35)
    label = f"Bayes ({bayes:.3g})".replace("-", "\N{MINUS SIGN}")
    ends: list[tuple[float, float, str, Any]] = [(rounds, bayes, label, INK)]
    for look, (name, values) in zip(line_looks(), crossings.items(), strict=False):
        ax.plot(np.arange(1, rounds + 1), values, linewidth=1.6, **look)
        ends.append((rounds, float(values[-1]), name, look["color"]))
    ax.set_xlim(1, max(rounds, 2))
    ax.locator_params(axis="x", integer=True)
    ax.set_xlabel("round")
    ax.set_ylabel("zero crossing of the score on x")
    label_ends(ax, ends)


def draw_factors(
    ax: Axes, factors: Sequence[float], values: Mapping[str, Sequence[float]], value_name: str
) -> None:
    """A line per method: what it costs as one kind of mistake costs more."""
    tidy(ax)
    ends: list[tuple[float, float, str, Any]] = []
    for look, (name, line) in zip(line_looks(), values.items(), strict=False):
        ax.plot(factors, line, marker="o", markersize=3.5, linewidth=1.6, zorder=3, **look)
        ends.append((factors[-1], line[-1], name, look["color"]))
    if 10 * min(factors) < max(factors):
        ax.set_xscale("log")
    ax.margins(x=0.02)
    ax.set_xticks(factors, [f"{factor:g}" for factor in factors])
    ax.set_xticks([], minor=True)
    ax.set_xlabel("cost factor f")
    ax.set_ylabel(value_name)
    label_ends(ax, ends)


def draw_ranks(means: Any, gap: float, n: int, p: float, ax: Axes | None = None) -> Axes:
    """Draw mean ranks with their critical difference; methods whose bars overlap do not differ."""
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

"""Figures of the papers, as scikit-learn's Display classes; `costboost.plots` has the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.lines import Line2D
from matplotlib.text import Annotation
from numpy.typing import ArrayLike

from costboost._typing import Floats
from costboost.metrics import critical_difference, friedman_test, mean_ranks
from costboost.plots._shared import INK, PALETTE, SMALL, Display, line_looks
from costboost.plots.comparison import ranks as draw_ranks

__all__ = [
    "BoundaryDisplay",
    "CostFactorDisplay",
    "RankDisplay",
    "ZeroCrossingDisplay",
    "zero_crossing",
]


def label_ends(ax: Axes, ends: Sequence[tuple[float, float, str, Any]]) -> dict[str, Annotation]:
    """Write ``(x, y, text, color)`` right of the axes at the height y, spread to avoid overlap."""
    # Call it last: the limits of the axes must be final.
    if not ends:
        return {}
    scale = ax.figure.dpi / 72.0  # pixels per point
    wanted = np.array([ax.transData.transform((x, y))[1] for x, y, _, _ in ends]) / scale
    look = {"arrowstyle": "-", "linewidth": 0.7, "alpha": 0.6, "shrinkA": 1.0, "shrinkB": 1.0}
    return {
        text: ax.annotate(
            text,
            (ax.get_xlim()[1], y),
            xytext=(12.0, float(height - own)),
            textcoords="offset points",
            va="center",
            color=color,
            fontsize=SMALL,
            annotation_clip=False,
            arrowprops={**look, "color": color, "relpos": (0.0, 0.5)},
        )
        for (_, y, text, color), own, height in zip(
            ends, wanted, spread(wanted, 1.3 * SMALL), strict=True
        )
    }


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


def _floats(columns: Mapping[str, ArrayLike]) -> dict[str, Floats]:
    return {name: np.asarray(column, dtype=np.float64) for name, column in columns.items()}


# --- boundary ------------------------------------------------------------------------------------

# Of the classes: pale enough to lie under lines of the same palette.
_POINTS = ("#8C8C8C", "#E3A857")
_MOST_POINTS = 1000


class BoundaryDisplay(Display):
    """Where classifiers of two features change their decision.

    Make it with `from_estimators`.

    Examples
    --------
    >>> import numpy as np
    >>> from costboost import AdaC2Classifier
    >>> from costboost.datasets import log_odds, make_gaussians_2d
    >>> from costboost_papers.plots import BoundaryDisplay
    >>> X, y = make_gaussians_2d(200, random_state=0)
    >>> clf = AdaC2Classifier({"fn": 3, "fp": 1}, n_estimators=5).fit(X, y)
    >>> def best(x):
    ...     return log_odds(x) + np.log(3)
    >>> from matplotlib.figure import Figure  # or leave ax out: pyplot makes a figure
    >>> ax = Figure().subplots()
    >>> sorted(BoundaryDisplay.from_estimators({"AdaC2": clf}, X, y, bayes=best, ax=ax).lines_)
    ['AdaC2']
    """

    _size = (6.4, 4.6)

    def __init__(
        self,
        x0: ArrayLike,
        x1: ArrayLike,
        responses: Mapping[str, ArrayLike],
        *,
        bayes: ArrayLike | None = None,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        names: Sequence[str] = ("feature 0", "feature 1"),
    ) -> None:
        self.x0 = np.asarray(x0, dtype=np.float64)
        self.x1 = np.asarray(x1, dtype=np.float64)
        self.responses = _floats(responses)
        self.bayes = None if bayes is None else np.asarray(bayes, dtype=np.float64)
        self.X = None if X is None else np.asarray(X, dtype=np.float64)
        self.y = None if y is None else np.asarray(y)
        self.names = names

    @classmethod
    def from_estimators(
        cls,
        estimators: Mapping[str, Any],
        X: ArrayLike,
        y: ArrayLike,
        *,
        bayes: Callable[[Floats], ArrayLike] | None = None,
        grid_resolution: int = 200,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the boundaries of several fitted classifiers in one picture."""
        # ``bayes``, (n, 2) -> (n,), is 0 on the best boundary.
        points = np.asarray(X, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != 2:
            raise ValueError(
                "The 'X' parameter of BoundaryDisplay must have shape (n, 2), because it draws in "
                f"the plane; got {points.shape}. Fit on two features."
            )
        low, high = points.min(axis=0), points.max(axis=0)
        margin = 0.04 * (high - low)
        x0, x1 = np.linspace(low - margin, high + margin, grid_resolution).T
        grid = np.column_stack([axis.ravel() for axis in np.meshgrid(x0, x1)])

        def response(estimator: Any) -> Floats:
            # Without scores `predict` draws the boundary: a cost-sensitive classifier does not
            # decide where its probability is one half.
            if hasattr(estimator, "decision_function"):
                return np.reshape(estimator.decision_function(grid), (len(x1), len(x0)))
            positive = estimator.predict(grid) == estimator.classes_[1]
            return np.where(positive, 1.0, -1.0).reshape(len(x1), len(x0))

        responses = {name: response(estimator) for name, estimator in estimators.items()}
        best = None if bayes is None else np.reshape(bayes(grid), (len(x1), len(x0)))
        return cls(x0, x1, responses, bayes=best, X=points, y=y).plot(ax)

    def _draw(self, ax: Axes) -> None:
        """Points and boundaries; a single classifier also has its two regions shaded."""
        ax.grid(False)
        self.points_ = self._draw_points(ax)
        handles: list[Any] = list(self.points_)
        if len(self.responses) == 1:
            (only,) = self.responses.values()
            sides = np.where(only >= 0, 1.0, -1.0)
            ax.contourf(
                self.x0, self.x1, sides, levels=[-2.0, 0.0, 2.0], colors=_POINTS, alpha=0.16,
                zorder=0,
            )  # fmt: skip
        self.bayes_line_ = None
        if self.bayes is not None:
            # Under the others and wide, so that a boundary which meets it is still seen.
            look = {"linewidth": 4.5, "alpha": 0.45, "color": INK, "linestyle": "solid"}
            self.bayes_line_, handle = self._zero_line("Bayes boundary", self.bayes, 3, look)
            handles.append(handle)
        self.lines_ = {}
        for look, (name, values) in zip(line_looks(), self.responses.items(), strict=False):
            look = {**look, "linewidth": 1.7, "alpha": None}
            self.lines_[name], handle = self._zero_line(name, values, 4, look)
            handles.append(handle)
        ax.set_xlim(self.x0[0], self.x0[-1])
        ax.set_ylim(self.x1[0], self.x1[-1])
        ax.set_xlabel(self.names[0])
        ax.set_ylabel(self.names[1])
        self.legend_ = ax.legend(
            handles=handles,
            loc="upper left",
            bbox_to_anchor=(1.0, 1.0),
            frameon=False,
            fontsize=SMALL,
            markerscale=1.6,
        )

    def _draw_points(self, ax: Axes) -> list[Any]:
        if self.X is None or self.y is None:
            return []
        step = -(-len(self.X) // _MOST_POINTS)
        X, y = self.X[::step], self.y[::step]
        look: dict[str, Any] = {"s": 9, "alpha": 0.75, "linewidths": 0, "zorder": 1}
        return [
            ax.scatter(
                X[y == label, 0],
                X[y == label, 1],
                c=_POINTS[code] if code < 2 else PALETTE[code % len(PALETTE)],
                marker="o^"[code % 2],
                label=f"class {label}",
                **look,
            )
            for code, label in enumerate(np.unique(self.y).tolist())
        ]

    def _zero_line(self, name: str, response: Floats, zorder: int, look: Any) -> tuple[Any, Line2D]:
        """The contour at 0, None if the score has one sign everywhere, and its line of a legend."""
        if (response >= 0).all() or (response < 0).all():
            return None, Line2D([], [], label=f"{name} (one class everywhere)", **look)
        line = self.ax_.contour(
            self.x0,
            self.x1,
            response,
            levels=[0.0],
            colors=[look["color"]],
            linestyles=[look["linestyle"]],
            linewidths=[look["linewidth"]],
            alpha=look["alpha"],
            zorder=zorder,
        )
        return line, Line2D([], [], label=name, **look)


# --- crossing ------------------------------------------------------------------------------------


def zero_crossing(x: ArrayLike, score: ArrayLike) -> float:
    """Where a score changes its sign, by linear interpolation.

    0 counts as positive, as in the decisions. Of several changes the middle one is returned, of an
    even number the lower of the two in the middle.

    Examples
    --------
    >>> from costboost_papers.plots import zero_crossing
    >>> zero_crossing([0.0, 1.0, 2.0], [-3.0, -1.0, 3.0])
    1.25
    """
    at, F = np.asarray(x, dtype=np.float64), np.asarray(score, dtype=np.float64)
    changes = np.flatnonzero(np.diff(F >= 0))
    if not len(changes):
        return float("nan")
    i = changes[(len(changes) - 1) // 2]
    return float(at[i] - F[i] * (at[i + 1] - at[i]) / (F[i + 1] - F[i]))


class ZeroCrossingDisplay(Display):
    """The zero crossing of boosted scores by round, against the best possible one.

    Make it with `from_estimators`. A dot and a dotted line mark a classifier that stopped boosting
    before the others; one whose score never crosses 0 is named under the axis.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from costboost import CSLogitBoostClassifier
    >>> from costboost.datasets import bayes_threshold, make_gaussians_1d
    >>> from costboost_papers.plots import ZeroCrossingDisplay
    >>> X, y = make_gaussians_1d(1000, random_state=0)
    >>> clf = CSLogitBoostClassifier({"fn": 5, "fp": 1}, n_estimators=10).fit(X, y)
    >>> shown = ZeroCrossingDisplay.from_estimators(
    ...     {"CSLogitBoost": clf}, X, bayes=bayes_threshold(5), ax=Figure().subplots()
    ... )
    >>> bool(abs(shown.crossings["CSLogitBoost"][-1] - bayes_threshold(5)) < 0.2)
    True
    """

    def __init__(self, crossings: Mapping[str, ArrayLike], *, bayes: float | None = None) -> None:
        self.crossings = _floats(crossings)
        self.bayes = bayes

    @classmethod
    def from_estimators(
        cls,
        estimators: Mapping[str, Any],
        X: ArrayLike,
        *,
        bayes: float | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the crossings of several boosted classifiers of one feature in one picture."""
        grid = np.linspace(np.min(X), np.max(X), 1001)
        crossings = {
            name: [
                zero_crossing(grid, F) for F in estimator.staged_decision_function(grid[:, None])
            ]
            for name, estimator in estimators.items()
        }
        return cls(crossings, bayes=bayes).plot(ax)

    def _draw(self, ax: Axes) -> None:
        """A line per classifier and the Bayes value."""
        self.bayes_line_ = None
        ends: list[tuple[float, float, str, Any]] = []
        never: list[str] = []
        longest = max(len(values) for values in self.crossings.values())
        if self.bayes is not None:
            self.bayes_line_ = ax.axhline(
                self.bayes, zorder=1.5, color=INK, linewidth=4.5, alpha=0.35
            )
            label = f"Bayes ({self.bayes:.3g})".replace("-", "\N{MINUS SIGN}")
            ends.append((longest, self.bayes, label, INK))
        self.lines_ = {}
        for look, (name, values) in zip(line_looks(), self.crossings.items(), strict=False):
            (self.lines_[name],) = ax.plot(
                np.arange(1, len(values) + 1), values, linewidth=1.6, **look
            )
            known = np.flatnonzero(np.isfinite(values))
            if not len(known):
                never.append(name)
                continue
            last = int(known[-1])
            ends.append((last + 1.0, float(values[last]), name, look["color"]))
            if last == len(values) - 1 < longest - 1:
                # Boosting stopped early; the score stays as it is.
                ax.plot(
                    [last + 1, longest],
                    [values[last]] * 2,
                    color=look["color"],
                    linestyle=":",
                    linewidth=1.0,
                    marker="o",
                    markersize=4.0,
                    markevery=[0],
                )
        ax.set_xlim(1, max(longest, 2))
        ax.locator_params(axis="x", integer=True)
        ax.set_xlabel("round" + (f"\nno crossing: {', '.join(never)}" if never else ""))
        ax.set_ylabel("zero crossing of the score on x")
        self.labels_ = label_ends(ax, ends)


# --- factor --------------------------------------------------------------------------------------


class CostFactorDisplay(Display):
    """A line per method: what it costs as one kind of mistake costs more.

    Make it with `from_rows` or from numbers; a band shows standard errors. Factors that span more
    than one order of magnitude get a logarithmic axis.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from costboost_papers.plots import CostFactorDisplay
    >>> shown = CostFactorDisplay([1, 5, 10], {"A": [0.2, 0.5, 0.7], "B": [0.2, 0.4, 0.5]})
    >>> shown.plot(Figure().subplots()).lines_["B"].get_ydata()
    array([0.2, 0.4, 0.5])
    """

    def __init__(
        self,
        factors: ArrayLike,
        values: Mapping[str, ArrayLike],
        errors: Mapping[str, ArrayLike] | None = None,
        value_name: str = "mean cost per row",
        factor_name: str = "cost factor",
    ) -> None:
        self.factors = np.asarray(factors, dtype=np.float64)
        self.values = _floats(values)
        self.errors = _floats(errors or {})
        self.value_name = value_name
        self.factor_name = factor_name

    @classmethod
    def from_rows(cls, frame: Any, *, ax: Axes | None = None, **names: str) -> Self:
        """Draw rows with the columns algorithm, factor and value: means and standard errors."""
        columns = ("algorithm", "factor", "value")
        rows = pd.DataFrame({name: np.asarray(frame[name]) for name in columns})
        cells = rows.groupby(list(columns[:2]), sort=False)["value"]
        factors = np.unique(rows["factor"])
        values, errors = (
            {str(name): part.loc[name].reindex(factors) for name in rows["algorithm"].unique()}
            for part in (cells.mean(), cells.sem())
        )
        return cls(factors, values, errors, **names).plot(ax)

    def _draw(self, ax: Axes) -> None:
        self.lines_, self.bands_ = {}, {}
        ends: list[tuple[float, float, str, Any]] = []
        for look, (name, values) in zip(line_looks(), self.values.items(), strict=False):
            known = np.isfinite(values)
            x, y = self.factors[known], values[known]
            if not len(x):
                continue
            (self.lines_[name],) = ax.plot(
                x, y, marker="o", markersize=3.5, linewidth=1.6, zorder=3, **look
            )
            if np.isfinite(self.errors.get(name, np.nan)).any():
                e = np.nan_to_num(self.errors[name][known])
                self.bands_[name] = ax.fill_between(
                    x, y - e, y + e, color=look["color"], alpha=0.15, linewidth=0, zorder=2
                )
            ends.append((float(x[-1]), float(y[-1]), name, look["color"]))
        if 0 < 10 * self.factors.min() < self.factors.max():
            ax.set_xscale("log")
        ax.margins(x=0.02)
        if len(self.factors) <= 10:  # ticks at the factors themselves
            ax.set_xticks(self.factors, [f"{factor:g}" for factor in self.factors])
            ax.set_xticks([], minor=True)
        ax.set_xlabel(self.factor_name)
        band = " (band: ± standard error)" if self.bands_ else ""
        ax.set_ylabel(f"{self.value_name}{band}")
        self.labels_ = label_ends(ax, ends)


# --- ranks ---------------------------------------------------------------------------------------


class RankDisplay:
    """Mean ranks with the critical difference: methods whose bars overlap do not differ.

    Make it with `from_results`. The best method stands on top. Two methods differ by
    Nemenyi's test if their mean ranks are at least the critical difference apart (Demšar 2006);
    Friedman's test, whose p-value is shown beside it, asks first whether any differ at all.

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
        self.ranks = pd.Series(np.asarray(ranks, dtype=np.float64), index=list(map(str, names)))
        self.n_datasets = n_datasets
        self.alpha = alpha
        self.p_value = p_value
        self.critical_difference = critical_difference(len(self.ranks), n_datasets, alpha)
        # The longest runs of sorted ranks that are closer than the critical difference.
        ordered = self.ranks.sort_values(kind="stable")
        self.groups: list[tuple[str, ...]] = []
        for first, rank in enumerate(ordered):
            last = int(np.searchsorted(ordered, rank + self.critical_difference, side="left"))
            group = tuple(ordered.index[first:last])
            if len(group) > 1 and not (self.groups and group[-1] in self.groups[-1]):
                self.groups.append(group)

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
        """Rank the methods on each data set and draw the mean ranks."""
        ranks = mean_ranks(table, lower_is_better=lower_is_better)
        known = names or list(getattr(table, "columns", map(str, range(len(ranks)))))
        p_value = friedman_test(table) if len(ranks) > 2 else None
        return cls(ranks, known, len(np.asarray(table)), alpha=alpha, p_value=p_value).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw a bar per method, as wide as the critical difference."""
        means = self.ranks.sort_values(kind="stable")
        self.ax_ = draw_ranks(means, self.critical_difference, self.n_datasets, np.nan, ax)
        self.figure_ = self.ax_.figure
        words = f"bars: critical difference {self.critical_difference:.2f} (α = {self.alpha:g})"
        if self.p_value is not None:
            words += f"; Friedman p = {self.p_value:.2g}"
        self.ax_.set_xlabel(f"mean rank over {self.n_datasets} data sets, 1 = best\n{words}")
        return self

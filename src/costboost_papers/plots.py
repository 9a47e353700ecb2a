"""Figures of the papers, as scikit-learn's Display classes; `costboost.plots` has the others."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from costboost._typing import AnyArray, Floats
from costboost.metrics import critical_difference, friedman_test, mean_ranks
from costboost.plots._shared import (
    INK,
    PALETTE,
    SMALL,
    ResponseMethod,
    axes,
    binary_response,
    line_looks,
    tidy,
)
from costboost.plots.comparison import ranks as draw_ranks

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.text import Annotation

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
    placed = spread(wanted, 1.3 * SMALL)
    x_end = ax.get_xlim()[1]
    return {
        text: ax.annotate(
            text,
            (x_end, y),
            xytext=(12.0, float(height - own)),
            textcoords="offset points",
            va="center",
            color=color,
            fontsize=SMALL,
            annotation_clip=False,
            arrowprops={
                "arrowstyle": "-",
                "color": color,
                "linewidth": 0.7,
                "alpha": 0.6,
                "shrinkA": 1.0,
                "shrinkB": 1.0,
                "relpos": (0.0, 0.5),
            },
        )
        for (_, y, text, color), own, height in zip(ends, wanted, placed, strict=True)
    }


def spread(wanted: Floats, gap: float) -> Floats:
    """Positions at least `gap` apart, in the order wanted and near it: pools share the shift."""
    order = np.argsort(wanted, kind="stable")
    pools: list[tuple[float, int]] = []  # centre and size
    for centre, size in ((float(value), 1) for value in wanted[order]):
        while pools:
            before, number = pools[-1]
            if centre - before >= gap * (size + number) / 2.0:
                break
            pools.pop()
            centre = (centre * size + before * number) / (size + number)
            size += number
        pools.append((centre, size))
    placed = np.concatenate(
        [centre + gap * (np.arange(size) - (size - 1) / 2.0) for centre, size in pools]
    )
    result = np.empty_like(placed)
    result[order] = placed
    return result


# --- boundary ------------------------------------------------------------------------------------

# Of the classes: pale enough to lie under lines of the same palette.
_POINTS = ("#8C8C8C", "#E3A857")
_MARKERS = ("o", "^")


class BoundaryDisplay:
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

    def __init__(
        self,
        x0: ArrayLike,
        x1: ArrayLike,
        responses: Mapping[str, ArrayLike],
        *,
        bayes: ArrayLike | None = None,
        X: ArrayLike | None = None,
        y: ArrayLike | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        self.x0 = np.asarray(x0, dtype=np.float64)
        self.x1 = np.asarray(x1, dtype=np.float64)
        self.responses = _floats(responses)
        self.bayes = None if bayes is None else np.asarray(bayes, dtype=np.float64)
        self.X = None if X is None else np.asarray(X, dtype=np.float64)
        self.y: AnyArray | None = None if y is None else np.asarray(y)
        self.names = names

    @classmethod
    def from_estimators(
        cls,
        estimators: Mapping[str, Any],
        X: Any,
        y: ArrayLike | None = None,
        *,
        bayes: Callable[[Floats], ArrayLike] | None = None,
        response_method: ResponseMethod = "auto",
        grid_resolution: int = 200,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the boundaries of several fitted classifiers in one picture."""
        # "auto" is ``decision_function`` if there is one, else ``predict``; a probability is drawn
        # where it is 1/2. ``bayes``, (n, 2) -> (n,), is 0 on the best boundary.
        points = np.asarray(X, dtype=np.float64)
        if points.ndim != 2 or points.shape[1] != 2:
            raise ValueError(
                "The 'X' parameter of BoundaryDisplay must have shape (n, 2), because it draws in "
                f"the plane; got {points.shape}. Fit on two features."
            )
        if grid_resolution < 2:
            raise ValueError(
                "The 'grid_resolution' parameter of BoundaryDisplay must be at least 2; got "
                f"{grid_resolution!r}."
            )
        low, high = points.min(axis=0), points.max(axis=0)
        margin = 0.04 * (high - low)
        x0, x1 = np.linspace(low - margin, high + margin, grid_resolution).T
        shape = (grid_resolution, grid_resolution)
        grid = np.column_stack([axis.ravel() for axis in np.meshgrid(x0, x1)])
        rows = _like(X, grid)
        responses = {
            name: _excess(estimator, rows, response_method).reshape(shape)
            for name, estimator in estimators.items()
        }
        best = None if bayes is None else np.asarray(bayes(grid), dtype=np.float64).reshape(shape)
        display = cls(x0, x1, responses, bayes=best, X=points, y=y, names=_feature_names(X))
        return display.plot(ax)

    def plot(self, ax: Axes | None = None, *, max_points: int = 1000) -> Self:
        """Draw the points and the boundaries.

        A single classifier also has its two regions shaded.
        """
        ax = axes(ax, (6.4, 4.6))
        from matplotlib.lines import Line2D

        self.ax_, self.figure_ = ax, ax.figure
        tidy(ax)
        ax.grid(False)
        handles: list[Any] = self._draw_points(max_points)
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
            look: dict[str, Any] = {"linewidth": 4.5, "alpha": 0.45, "color": INK}
            self.bayes_line_ = self._zero_line(self.bayes, zorder=3, **look)
            handles.append(Line2D([], [], label=_label("Bayes boundary", self.bayes_line_), **look))
        self.lines_ = {}
        for look, (name, response) in zip(line_looks(), self.responses.items(), strict=False):
            look = {**look, "linewidth": 1.7}
            self.lines_[name] = self._zero_line(response, zorder=4, **look)
            handles.append(Line2D([], [], label=_label(name, self.lines_[name]), **look))
        ax.set_xlim(self.x0[0], self.x0[-1])
        ax.set_ylim(self.x1[0], self.x1[-1])
        names = self.names or ("feature 0", "feature 1")
        ax.set_xlabel(names[0])
        ax.set_ylabel(names[1])
        self.legend_ = ax.legend(
            handles=handles,
            loc="upper left",
            bbox_to_anchor=(1.0, 1.0),
            frameon=False,
            fontsize=SMALL,
            markerscale=1.6,
        )
        return self

    def _draw_points(self, max_points: int) -> list[Any]:
        self.points_: list[Any] = []
        if self.X is None or max_points <= 0:
            return []
        step = -(-len(self.X) // max_points)
        X = self.X[::step]
        if self.y is None:
            look: dict[str, Any] = {"s": 9, "c": _POINTS[0], "linewidths": 0, "zorder": 1}
            self.points_ = [self.ax_.scatter(X[:, 0], X[:, 1], **look)]
            return []
        shown = self.y[::step]
        for code, label in enumerate(np.unique(self.y).tolist()):
            color = _POINTS[code] if code < 2 else PALETTE[code % len(PALETTE)]
            of_class = X[shown == label]
            self.points_.append(
                self.ax_.scatter(
                    of_class[:, 0],
                    of_class[:, 1],
                    s=9,
                    c=color,
                    marker=_MARKERS[code % 2],
                    alpha=0.75,
                    linewidths=0,
                    label=f"class {label}",
                    zorder=1,
                )
            )
        return list(self.points_)

    def _zero_line(self, response: Floats, *, zorder: int, **look: Any) -> Any:
        """The contour at 0; None if the score has one sign everywhere."""
        if (response >= 0).all() or (response < 0).all():
            return None
        return self.ax_.contour(
            self.x0,
            self.x1,
            response,
            levels=[0.0],
            colors=[look["color"]],
            linestyles=[look.get("linestyle", "solid")],
            linewidths=[look["linewidth"]],
            alpha=look.get("alpha"),
            zorder=zorder,
        )


def _label(name: str, line: Any) -> str:
    return name if line is not None else f"{name} (one class everywhere)"


def _excess(estimator: Any, rows: Any, method: ResponseMethod) -> Floats:
    """Score less the value at which the decision changes."""
    # Without scores `predict` draws the boundary: a cost-sensitive classifier does not decide where
    # its probability is one half.
    score, used = binary_response(estimator, rows, method, "predict", "BoundaryDisplay")
    return score - 0.5 if used == "predict_proba" else score


def _like(X: Any, rows: Floats) -> Any:
    """The rows in the form of X: a frame with the same columns, or the array."""
    if not hasattr(X, "columns"):
        return rows
    return type(X)(dict(zip(X.columns, rows.T, strict=True)))


def _feature_names(X: Any) -> list[str] | None:
    """Names of the columns, if X is a frame."""
    return [str(name) for name in X.columns] if hasattr(X, "columns") else None


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


class ZeroCrossingDisplay:
    """The zero crossing of boosted scores by round, against the best possible one.

    Make it with `from_estimators`.

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

    def __init__(
        self,
        crossings: Mapping[str, ArrayLike],
        *,
        bayes: float | None = None,
        feature: str = "x",
    ) -> None:
        self.crossings = _floats(crossings)
        self.bayes = bayes
        self.feature = feature

    @classmethod
    def from_estimators(
        cls,
        estimators: Mapping[str, Any],
        X: Any,
        *,
        bayes: float | None = None,
        grid_resolution: int | None = 1001,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the crossings of several fitted classifiers in one picture."""
        values = np.asarray(X, dtype=np.float64)
        if values.ndim == 1:
            values = values[:, None]
        if values.shape[1] != 1:
            raise ValueError(
                f"The 'X' parameter of {cls.__name__} must have one column, because a score of "
                f"several features has no single crossing; got shape {values.shape}."
            )
        if grid_resolution is None:
            grid = np.unique(values)
        else:
            grid = np.linspace(values.min(), values.max(), grid_resolution)
        rows = _like(X, grid[:, None])
        for estimator in estimators.values():
            if not hasattr(estimator, "staged_decision_function"):
                raise TypeError(
                    f"{cls.__name__} needs a boosted classifier with staged_decision_function, and "
                    f"{type(estimator).__name__} has none."
                )
        crossings = {
            name: [zero_crossing(grid, F) for F in estimator.staged_decision_function(rows)]
            for name, estimator in estimators.items()
        }
        names = _feature_names(X)
        return cls(crossings, bayes=bayes, feature=names[0] if names else "x").plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw a line per classifier and the Bayes value.

        A dot and a dotted line mark a classifier that stopped boosting before the others; one
        whose score never crosses 0 is named under the axis.
        """
        ax = axes(ax)
        self.ax_, self.figure_ = ax, ax.figure
        tidy(ax)
        self.bayes_line_ = None
        ends: list[tuple[float, float, str, Any]] = []
        never: list[str] = []
        longest = max(len(values) for values in self.crossings.values())
        if self.bayes is not None:
            look: dict[str, Any] = {"color": INK, "linewidth": 4.5, "alpha": 0.35}
            self.bayes_line_ = ax.axhline(self.bayes, zorder=1.5, **look)
            label = f"Bayes ({self.bayes:.3g})".replace("-", "\N{MINUS SIGN}")
            ends.append((longest, self.bayes, label, INK))
        self.lines_ = {}
        for look, (name, values) in zip(line_looks(), self.crossings.items(), strict=False):
            rounds = np.arange(1, len(values) + 1)
            (self.lines_[name],) = ax.plot(rounds, values, linewidth=1.6, **look)
            known = np.flatnonzero(np.isfinite(values))
            if len(known):
                last = int(known[-1])
                ends.append((float(rounds[last]), float(values[last]), name, look["color"]))
                if last == len(values) - 1 < longest - 1:
                    # Boosting stopped early; the score stays as it is.
                    ax.plot(
                        [rounds[last], longest],
                        [values[last]] * 2,
                        color=look["color"],
                        linestyle=":",
                        linewidth=1.0,
                        marker="o",
                        markersize=4.0,
                        markevery=[0],
                    )
            else:
                never.append(name)
        ax.set_xlim(1, max(longest, 2))
        ax.locator_params(axis="x", integer=True)
        ax.set_xlabel(
            "\n".join(["round", *(["no crossing: " + ", ".join(never)] if never else [])])
        )
        ax.set_ylabel(f"zero crossing of the score on {self.feature}")
        self.labels_ = label_ends(ax, ends)
        return self


# --- factor --------------------------------------------------------------------------------------


class CostFactorDisplay:
    """A line per method: what it costs as one kind of mistake costs more.

    Make it with `from_rows` or from numbers.

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
        error_name: str = "standard error",
    ) -> None:
        self.factors = np.asarray(factors, dtype=np.float64)
        self.values = _floats(values)
        self.errors = None if errors is None else _floats(errors)
        self.value_name = value_name
        self.factor_name = factor_name
        self.error_name = error_name

    @classmethod
    def from_rows(cls, frame: Any, *, ax: Axes | None = None, **names: str) -> Self:
        """Draw rows with the columns algorithm, factor and value: means and standard errors."""
        import pandas as pd

        columns = ("algorithm", "factor", "value")
        rows = pd.DataFrame({name: np.asarray(frame[name]) for name in columns})
        cells = rows.groupby(list(columns[:2]), sort=False)["value"]
        factors = np.unique(rows["factor"])
        values, errors = (
            {str(name): part.loc[name].reindex(factors) for name in rows["algorithm"].unique()}
            for part in (cells.mean(), cells.sem())
        )
        return cls(factors, values, errors, **names).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw a line per method, with its band.

        Factors that span more than one order of magnitude get a logarithmic axis.
        """
        ax = axes(ax)
        self.ax_, self.figure_ = ax, ax.figure
        tidy(ax)
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
            if self.errors is not None and np.isfinite(self.errors[name]).any():
                e = np.nan_to_num(self.errors[name][known])
                self.bands_[name] = ax.fill_between(
                    x, y - e, y + e, color=look["color"], alpha=0.15, linewidth=0, zorder=2
                )
            ends.append((float(x[-1]), float(y[-1]), name, look["color"]))
        self._scale(ax)
        ax.set_xlabel(self.factor_name)
        band = f" (band: ± {self.error_name})" if self.bands_ else ""
        ax.set_ylabel(f"{self.value_name}{band}")
        self.labels_ = label_ends(ax, ends)
        return self

    def _scale(self, ax: Axes) -> None:
        """Ticks at the factors themselves, if they are few."""
        low, high = float(self.factors.min()), float(self.factors.max())
        if low > 0 and high / low > 10:
            ax.set_xscale("log")
        ax.margins(x=0.02)
        if len(self.factors) <= 10:
            ax.set_xticks(self.factors, [f"{factor:g}" for factor in self.factors])
            ax.set_xticks([], minor=True)


def _floats(columns: Mapping[str, ArrayLike]) -> dict[str, Floats]:
    return {name: np.asarray(column, dtype=np.float64) for name, column in columns.items()}


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
        """Rank the methods on each data set and draw the mean ranks."""
        ranks = mean_ranks(table, lower_is_better=lower_is_better)
        known = names or _feature_names(table) or [f"method {j}" for j in range(len(ranks))]
        p_value = friedman_test(table) if len(ranks) > 2 else None
        return cls(ranks, known, len(np.asarray(table)), alpha=alpha, p_value=p_value).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw a bar per method, as wide as the critical difference."""
        import pandas as pd

        means = pd.Series(self.ranks, index=self.names).iloc[self._order]
        self.ax_ = draw_ranks(means, self.critical_difference, self.n_datasets, np.nan, ax)
        self.figure_ = self.ax_.figure
        words = f"bars: critical difference {self.critical_difference:.2f} (α = {self.alpha:g})"
        if self.p_value is not None:
            words += f"; Friedman p = {self.p_value:.2g}"
        self.ax_.set_xlabel(f"mean rank over {self.n_datasets} data sets, 1 = best\n{words}")
        return self


def _spans(ranks: Floats, gap: float) -> list[tuple[int, int]]:
    """First and last of the longest runs of sorted ranks closer than the critical difference."""
    spans: list[tuple[int, int]] = []
    for first in range(len(ranks)):
        last = int(np.searchsorted(ranks, ranks[first] + gap, side="left")) - 1
        if last > first and (not spans or last > spans[-1][1]):
            spans.append((first, last))
    return spans

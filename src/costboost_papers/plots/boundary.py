"""Decision boundaries in the plane, against the Bayes boundary."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from costboost._typing import AnyArray, Floats
from costboost.plots._shared import (
    INK,
    PALETTE,
    SMALL,
    ResponseMethod,
    axes,
    binary_response,
    feature_names,
    like,
    line_looks,
    named,
    tidy,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["BoundaryDisplay"]

# Of the classes: pale enough to lie under lines of the same palette.
_POINTS = ("#8C8C8C", "#E3A857")
_MARKERS = ("o", "^")


class BoundaryDisplay:
    """Where classifiers of two features change their decision.

    Make it with `from_estimator` (one boundary) or `from_estimators` (several).

    Parameters
    ----------
    x0, x1 : array of shape (m,)
        The grid along each feature.
    responses : mapping of str to array of shape (m, m)
        Score of each classifier on the grid, rows along `x1`; the boundary is its zero line.
    bayes : array of shape (m, m), optional
        Score of the best decision.
    X : array of shape (n, 2), optional
        Points to show.
    y : array of shape (n,), optional
        Their classes.
    names : sequence of two str, optional
        Names of the features.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    lines_ : dict of str to QuadContourSet or None
        The boundaries, by name; None if one class is decided everywhere, which the legend says.
    bayes_line_ : QuadContourSet or None
        The Bayes boundary.
    points_ : list of PathCollection
        The points, a collection per class.

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
    >>> sorted(BoundaryDisplay.from_estimator(clf, X, y, bayes=best, ax=ax).lines_)
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
        self.responses: dict[str, Floats] = {
            name: np.asarray(response, dtype=np.float64) for name, response in responses.items()
        }
        self.bayes = None if bayes is None else np.asarray(bayes, dtype=np.float64)
        self.X = None if X is None else np.asarray(X, dtype=np.float64)
        self.y: AnyArray | None = None if y is None else np.asarray(y)
        self.names = names

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike | None = None,
        *,
        bayes: Callable[[Floats], ArrayLike] | None = None,
        response_method: ResponseMethod = "auto",
        grid_resolution: int = 200,
        name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the boundary of one fitted classifier.

        Parameters
        ----------
        estimator : classifier
            Fitted on the two features of X and two classes.
        X : table of shape (n, 2)
            Points; they are shown, and the grid covers them.
        y : array of shape (n,), optional
            Their classes.
        bayes : callable, optional
            Score of points, (n, 2) -> (n,), whose zero line is the best boundary.
        response_method : {"auto", "decision_function", "predict_proba", "predict"}
            What to draw the boundary of. "auto" is ``decision_function`` if there is one, else
            ``predict``; "predict_proba" is drawn where the probability is 1/2.
        grid_resolution : int, default=200
            Points of the grid along each feature.
        name : str, optional
            What to call the classifier; by default its class.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        BoundaryDisplay
            The display, drawn.
        """
        return cls.from_estimators(
            {named(estimator, name): estimator},
            X,
            y,
            bayes=bayes,
            response_method=response_method,
            grid_resolution=grid_resolution,
            ax=ax,
        )

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
        """Draw the boundaries of several fitted classifiers in one picture.

        Parameters
        ----------
        estimators : mapping of str to classifier
            The classifiers and their names.
        X, y, bayes, response_method, grid_resolution, ax
            As in `from_estimator`.

        Returns
        -------
        BoundaryDisplay
            The display, drawn.
        """
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
        rows = like(X, grid)
        responses = {
            name: _excess(estimator, rows, response_method).reshape(shape)
            for name, estimator in estimators.items()
        }
        best = None if bayes is None else np.asarray(bayes(grid), dtype=np.float64).reshape(shape)
        display = cls(x0, x1, responses, bayes=best, X=points, y=y, names=feature_names(X))
        return display.plot(ax)

    def plot(self, ax: Axes | None = None, *, max_points: int = 1000) -> Self:
        """Draw the points and the boundaries.

        A single classifier also has its two regions shaded.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        max_points : int, default=1000
            Show about this many points if there are more; 0 shows none.

        Returns
        -------
        self
            The display.
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

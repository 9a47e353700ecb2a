"""Where a score of one feature changes its sign, round by round."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from costboost._typing import Floats
from costboost.plots._shared import (
    INK,
    axes,
    feature_names,
    label_ends,
    like,
    line_looks,
    named,
    number,
    staged,
    tidy,
)

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ZeroCrossingDisplay", "zero_crossing"]


def zero_crossing(x: ArrayLike, score: ArrayLike) -> float:
    """Where a score changes its sign, by linear interpolation.

    0 counts as positive, as in the decisions. Of several changes the middle one is returned, of an
    even number the lower of the two in the middle.

    Parameters
    ----------
    x : array of shape (m,)
        Values of the feature, increasing.
    score : array of shape (m,)
        The score there.

    Returns
    -------
    float
        The crossing; NaN if the score has one sign everywhere.

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

    Make it with `from_estimator` or `from_estimators`.

    Parameters
    ----------
    crossings : mapping of str to array of shape (rounds,)
        Where each classifier's score is 0 after rounds 1, 2, ...; NaN if nowhere.
    bayes : float, optional
        Where the best decision changes.
    feature : str, default="x"
        Name of the feature.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    lines_ : dict of str to Line2D
        The lines, by name.
    bayes_line_ : Line2D or None
        The horizontal line at the Bayes value.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from costboost import CSLogitBoostClassifier
    >>> from costboost.datasets import bayes_threshold, make_gaussians_1d
    >>> from costboost_papers.plots import ZeroCrossingDisplay
    >>> X, y = make_gaussians_1d(1000, random_state=0)
    >>> clf = CSLogitBoostClassifier({"fn": 5, "fp": 1}, n_estimators=10).fit(X, y)
    >>> shown = ZeroCrossingDisplay.from_estimator(
    ...     clf, X, bayes=bayes_threshold(5), ax=Figure().subplots()
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
        self.crossings: dict[str, Floats] = {
            name: np.asarray(values, dtype=np.float64) for name, values in crossings.items()
        }
        self.bayes = bayes
        self.feature = feature

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        *,
        bayes: float | None = None,
        grid_resolution: int | None = 1001,
        name: str | None = None,
        ax: Axes | None = None,
    ) -> Self:
        """Draw the crossings of one fitted classifier.

        Parameters
        ----------
        estimator : classifier
            With ``staged_decision_function``, fitted on one feature and two classes.
        X : table of shape (n, 1)
            Rows; the crossing is looked for between their least and greatest value.
        bayes : float, optional
            Where the best decision changes.
        grid_resolution : int or None, default=1001
            Number of values, evenly spaced; None takes those of X.
        name : str, optional
            What to call the classifier; by default its class.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        ZeroCrossingDisplay
            The display, drawn.
        """
        return cls.from_estimators(
            {named(estimator, name): estimator},
            X,
            bayes=bayes,
            grid_resolution=grid_resolution,
            ax=ax,
        )

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
        """Draw the crossings of several fitted classifiers in one picture.

        Parameters
        ----------
        estimators : mapping of str to classifier
            The classifiers and their names.
        X, bayes, grid_resolution, ax
            As in `from_estimator`.

        Returns
        -------
        ZeroCrossingDisplay
            The display, drawn.
        """
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
        rows = like(X, grid[:, None])
        method = "staged_decision_function"
        crossings = {
            name: [zero_crossing(grid, F) for F in staged(estimator, method, rows, cls.__name__)]
            for name, estimator in estimators.items()
        }
        names = feature_names(X)
        return cls(crossings, bayes=bayes, feature=names[0] if names else "x").plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw a line per classifier and the Bayes value.

        A dot and a dotted line mark a classifier that stopped boosting before the others; one
        whose score never crosses 0 is named under the axis.

        Parameters
        ----------
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        self
            The display.
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
            ends.append((longest, self.bayes, f"Bayes ({number(self.bayes)})", INK))
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

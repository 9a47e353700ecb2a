"""What each threshold on a score costs."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from costboost._words import money, number
from costboost.metrics import cost_by_threshold
from costboost.metrics.money import evaluate_costs
from costboost.plots._shared import MUTED, PALETTE, SMALL, Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CostThresholdDisplay"]


@dataclass(eq=False, repr=False)
class CostThresholdDisplay(Display):
    """Cost of deciding "positive" at or above each threshold, with the cheapest one marked.

    Make it with `from_estimator` or `from_predictions`. A threshold that is chosen on the rows it
    is judged on is too optimistic: choose it on other rows.

    Parameters
    ----------
    thresholds : array of shape (m,)
        Increasing; the last may be infinite (never decide "positive").
    costs : array of shape (m,)
        Mean cost of a row if the decisions are ``score >= threshold``.
    score_name : str, default="score"
        What is compared with the threshold.
    in_use : float, optional
        The threshold that the classifier uses, for comparison.

    Attributes
    ----------
    best_threshold, best_cost : float
        The first of the cheapest thresholds and its cost.
    cost_in_use : float or None
        Cost of the threshold in use.
    ax_, figure_
        Where it was drawn.
    line_ : Line2D
        The cost, as steps.
    best_ : Line2D
        The mark of the cheapest threshold.
    in_use_ : Line2D or None
        The line at the threshold in use.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from costboost.plots import CostThresholdDisplay
    >>> shown = CostThresholdDisplay.from_predictions(
    ...     [0, 0, 1, 1],
    ...     [0.1, 0.4, 0.35, 0.8],
    ...     cost_matrix={"fn": 5, "fp": 1},
    ...     ax=Figure().subplots(),
    ... )
    >>> shown.best_threshold, shown.best_cost
    (0.35, 0.25)
    """

    thresholds: Any
    costs: Any
    _: KW_ONLY
    score_name: str = "score"
    in_use: float | None = None

    def __post_init__(self) -> None:
        self.thresholds, self.costs = np.array([self.thresholds, self.costs], dtype=np.float64)
        best = int(self.costs.argmin())
        self.best_threshold, self.best_cost = float(self.thresholds[best]), float(self.costs[best])
        self.cost_in_use: float | None = None
        if self.in_use is not None:
            # The cost of the first threshold not below: no score lies between the two.
            place = min(int(np.searchsorted(self.thresholds, self.in_use)), len(self.costs) - 1)
            self.cost_in_use = float(self.costs[place])

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        y: ArrayLike,
        *,
        cost_matrix: Any = None,
        costs: ArrayLike | None = None,
        response_method: Literal["auto", "decision_function", "predict_proba"] = "auto",
        ax: Axes | None = None,
    ) -> Self:
        """Draw the cost of thresholds on a fitted classifier's score.

        Parameters
        ----------
        estimator : classifier
            Fitted on two classes.
        X, y : table of shape (n, d), array of shape (n,)
            The rows that are decided, and their classes.
        cost_matrix : array, frame, mapping or callable, optional
            Costs where no costs of single rows are given; by default the classifier's own.
        costs : array, optional
            Costs of single rows, as in `costboost.metrics.total_cost`.
        response_method : {"auto", "decision_function", "predict_proba"}
            The score; "auto" is ``decision_function`` if there is one, else ``predict_proba``. A
            decision function is used at threshold 0, which is drawn too.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        CostThresholdDisplay
            The display, drawn.
        """
        owner, classes, method = cls.__name__, estimator.classes_.tolist(), response_method
        if len(classes) != 2:
            raise ValueError(f"{owner} is defined for two classes, got {classes[:10]}.")
        if method == "auto":
            has_scores = hasattr(estimator, "decision_function")
            method = "decision_function" if has_scores else "predict_proba"
        is_probability = method == "predict_proba"
        score = np.asarray(getattr(estimator, method)(X))
        positive = classes[1]
        # Priced before the class of the score is named: fn and fp may speak of the other one.
        if cost_matrix is None:
            cost_matrix = getattr(estimator, "cost_matrix", None)
        evaluation = evaluate_costs(
            y,
            y,
            cost_matrix=cost_matrix,
            costs=costs,
            labels=estimator.classes_,
            X=X,
            owner=owner,
        )
        return cls.from_predictions(
            y,
            score[:, 1] if is_probability else score,
            costs=evaluation.costs.prices,
            labels=estimator.classes_,
            positive=positive,
            score_name=f"probability of class {positive}" if is_probability else "decision score",
            in_use=None if is_probability else 0.0,
            ax=ax,
        )

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        y_score: ArrayLike,
        *,
        score_name: str = "score",
        in_use: float | None = None,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Draw the cost of thresholds on given scores.

        Parameters
        ----------
        y_true : array of shape (n,)
            True labels, two classes.
        y_score : array of shape (n,)
            Score of the positive class.
        score_name, in_use
            As in the constructor.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        **options
            The rest as in `costboost.metrics.cost_by_threshold`, such as ``cost_matrix``.

        Returns
        -------
        CostThresholdDisplay
            The display, drawn.
        """
        thresholds, totals = cost_by_threshold(y_true, y_score, **options)
        weights = options.get("sample_weight")
        means = totals / (np.size(y_score) if weights is None else np.sum(weights))
        return cls(thresholds, means, score_name=score_name, in_use=in_use).plot(ax)

    def _draw(self, ax: Axes) -> None:
        finite = self.thresholds[np.isfinite(self.thresholds)]
        room = 0.04 * float(np.ptp(finite)) or 0.5
        shown = finite if self.in_use is None else np.append(finite, self.in_use)
        low, high = float(shown.min()) - room, float(shown.max()) + room
        # Deciding at or above the threshold: a cost holds from just above the score before it.
        x = np.append(low, np.where(np.isfinite(self.thresholds), self.thresholds, high))
        y = np.append(self.costs[0], self.costs)
        (self.line_,) = ax.plot(x, y, drawstyle="steps-pre", color=PALETTE[0], linewidth=1.6)
        ax.set_xlim(low, high)
        ax.margins(y=0.14)
        self.in_use_ = None
        if self.in_use is not None and self.cost_in_use is not None:
            words = f"in use: {money(self.cost_in_use)} at {number(self.in_use)}"
            look: dict[str, Any] = {"color": MUTED, "linewidth": 1.1, "linestyle": "--"}
            self.in_use_ = ax.axvline(self.in_use, label=words, **look)
        t, is_set = self.best_threshold, bool(np.isfinite(self.best_threshold))
        where = f" at {number(t)}" if is_set else ", never deciding for the positive class"
        (self.best_,) = ax.plot(
            [t if is_set else high], [self.best_cost], "o", color=PALETTE[1], markersize=7,
            markeredgecolor="white", clip_on=False, zorder=5,
            label=f"cheapest: {money(self.best_cost)}{where}",
        )  # fmt: skip
        ax.legend(frameon=False, fontsize=SMALL)
        ax.set_xlabel(f"threshold on the {self.score_name}")
        ax.set_ylabel("mean cost per row")

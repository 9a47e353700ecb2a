"""What the decisions cost after each round of boosting."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal, Self

import numpy as np
from numpy.typing import ArrayLike

from costboost._typing import Floats
from costboost._words import money, percent
from costboost.metrics import avoidable_cost_score, mean_cost, savings_score, total_cost
from costboost.plots._shared import INK, Display, check_one_of, fitted_costs, line_looks

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CostByRoundDisplay"]

Measure = Literal["mean_cost", "total_cost", "savings", "avoidable_cost"]
_METRICS = {
    "mean_cost": mean_cost,
    "total_cost": total_cost,
    "savings": savings_score,
    "avoidable_cost": avoidable_cost_score,
}
_SHARES = ("savings", "avoidable_cost")  # greater is better
_AXIS_NAMES = {
    "mean_cost": "mean cost per row",
    "total_cost": "total cost",
    "savings": "savings over the best constant decision",
    "avoidable_cost": "share of the avoidable cost that is saved",
}


class CostByRoundDisplay(Display):
    """Cost, or a share of it that is saved, of the decisions by round, with the best round marked.

    Make it with `from_estimator` or `from_predictions`. A best round that is chosen on the test
    rows is too optimistic: choose the number of rounds on other rows.

    Parameters
    ----------
    curves : mapping of str to array of shape (rounds,)
        What is measured after rounds 1, 2, ..., by name. The best round is that of the last curve.
    measure : {"mean_cost", "total_cost", "savings", "avoidable_cost"}, default="mean_cost"
        What is measured.

    Attributes
    ----------
    best_round, best_value : int, float
        The first of the best rounds of the last curve, counted from 1, and its value.
    ax_, figure_
        Where it was drawn.
    lines_ : dict of str to Line2D
        The lines, by name.
    best_ : Line2D
        The mark of the best round.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from costboost.plots import CostByRoundDisplay
    >>> shown = CostByRoundDisplay.from_predictions(
    ...     [0, 1, 1, 0],
    ...     [[0, 0, 1, 0], [0, 1, 1, 0], [1, 1, 1, 0]],  # after rounds 1, 2 and 3
    ...     cost_matrix={"fn": 5, "fp": 1},
    ...     ax=Figure().subplots(),
    ... )
    >>> shown.curves["test"], shown.best_round
    (array([1.25, 0.  , 0.25]), 2)
    """

    def __init__(self, curves: Mapping[str, ArrayLike], *, measure: Measure = "mean_cost") -> None:
        check_one_of(measure, _METRICS, "measure", "CostByRoundDisplay")
        self.curves: dict[str, Floats] = {
            name: np.asarray(values, dtype=np.float64) for name, values in curves.items()
        }
        self.measure = measure
        decisive = list(self.curves.values())[-1]
        best = int(decisive.argmax() if measure in _SHARES else decisive.argmin())
        self.best_round = best + 1
        self.best_value = float(decisive[best])

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X_train: Any,
        y_train: ArrayLike,
        X_test: Any = None,
        y_test: ArrayLike | None = None,
        *,
        costs_train: ArrayLike | None = None,
        costs_test: ArrayLike | None = None,
        cost_matrix: Any = None,
        measure: Measure = "mean_cost",
        ax: Axes | None = None,
    ) -> Self:
        """Draw train and test cost of a fitted classifier.

        Parameters
        ----------
        estimator : classifier
            With ``staged_predict``.
        X_train, y_train : table of shape (n, d), array of shape (n,)
            The rows of the curve "train".
        X_test, y_test : table of shape (m, d), array of shape (m,), optional
            The rows of the curve "test".
        costs_train, costs_test : array, optional
            Costs of single rows, as in `costboost.metrics.total_cost`.
        cost_matrix : array, frame, mapping or callable, optional
            Costs where no costs of single rows are given; by default the classifier's own.
        measure : {"mean_cost", "total_cost", "savings", "avoidable_cost"}, default="mean_cost"
            What to measure.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        CostByRoundDisplay
            The display, drawn.
        """
        if not hasattr(estimator, "staged_predict"):
            raise TypeError(
                f"{cls.__name__} needs a boosted classifier with staged_predict, and "
                f"{type(estimator).__name__} has none."
            )
        if (X_test is None) != (y_test is None):
            raise ValueError(
                f"The 'X_test' and 'y_test' parameters of {cls.__name__} go together: pass both or "
                "neither."
            )
        parts = {"train": (X_train, y_train, costs_train), "test": (X_test, y_test, costs_test)}
        curves = {
            name: _curve(
                y,
                estimator.staged_predict(X),
                measure,
                fitted_costs(estimator, cost_matrix, costs, X),
            )
            for name, (X, y, costs) in parts.items()
            if X is not None and y is not None
        }
        return cls(curves, measure=measure).plot(ax)

    @classmethod
    def from_predictions(
        cls,
        y_true: ArrayLike,
        staged_predictions: Iterable[ArrayLike],
        *,
        cost_matrix: Any = None,
        costs: ArrayLike | None = None,
        labels: ArrayLike | None = None,
        measure: Measure = "mean_cost",
        name: str = "test",
        ax: Axes | None = None,
    ) -> Self:
        """Draw the cost of given decisions.

        Parameters
        ----------
        y_true : array of shape (n,)
            True labels.
        staged_predictions : iterable of arrays of shape (n,)
            The decisions after each round.
        cost_matrix, costs, labels
            As in `costboost.metrics.total_cost`.
        measure : {"mean_cost", "total_cost", "savings", "avoidable_cost"}, default="mean_cost"
            What to measure.
        name : str, default="test"
            Name of the curve.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        CostByRoundDisplay
            The display, drawn.
        """
        prices = {"cost_matrix": cost_matrix, "costs": costs, "labels": labels}
        curve = _curve(y_true, staged_predictions, measure, prices)
        return cls({name: curve}, measure=measure).plot(ax)

    def _draw(self, ax: Axes) -> None:
        self.lines_ = {}
        color: Any = INK
        for look, (name, values) in zip(line_looks(), self.curves.items(), strict=False):
            color = look["color"]
            rounds = np.arange(1, len(values) + 1)
            (self.lines_[name],) = ax.plot(rounds, values, linewidth=1.6, label=name, **look)
        longest = max(len(values) for values in self.curves.values())
        ax.set_xlim(1, max(longest, 2))
        ax.margins(y=0.12)
        ax.locator_params(axis="x", integer=True)
        ax.set_xlabel("round")
        ax.set_ylabel(_AXIS_NAMES[self.measure])
        is_share = self.measure in _SHARES
        value = percent(self.best_value) if is_share else money(self.best_value)
        best = f"best: round {self.best_round}, {value}"
        self._mark(self.best_round, self.best_value, best, color, above=is_share)
        ax.legend(frameon=False)


def _curve(
    y: ArrayLike,
    decisions: Iterable[ArrayLike],
    measure: Measure,
    prices: Mapping[str, Any],
) -> Floats:
    check_one_of(measure, _METRICS, "measure", "CostByRoundDisplay")
    metric = _METRICS[measure]
    values = np.array([metric(y, decided, **prices) for decided in decisions])
    if not len(values):
        raise ValueError(
            "The 'staged_predictions' parameter of CostByRoundDisplay must hold the decisions of "
            "at least one round, got none."
        )
    return values

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
# The metric, and the name of its axis; of shares, greater is better.
_MEASURES = {
    "mean_cost": (mean_cost, "mean cost per row"),
    "total_cost": (total_cost, "total cost"),
    "savings": (savings_score, "savings over the best constant decision"),
    "avoidable_cost": (avoidable_cost_score, "share of the avoidable cost that is saved"),
}
_SHARES = ("savings", "avoidable_cost")


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
        check_one_of(measure, _MEASURES, "measure", type(self).__name__)
        self.measure = measure
        self.curves: dict[str, Floats] = {
            name: np.asarray(values, dtype=np.float64) for name, values in curves.items()
        }
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
        cls._check_has(estimator, "staged_predict", "Use a boosted classifier.")
        if (X_test is None) != (y_test is None):
            raise ValueError(f"{cls.__name__} needs both 'X_test' and 'y_test', or neither.")
        curves = {}
        parts = {"train": (X_train, y_train, costs_train), "test": (X_test, y_test, costs_test)}
        for name, (X, y, costs) in parts.items():
            if X is not None:
                prices = fitted_costs(estimator, cost_matrix, costs, X)
                curves[name] = _curve(y, estimator.staged_predict(X), measure, prices)
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
        ax.set_xlim(1, max(2, *(len(values) for values in self.curves.values())))
        ax.margins(y=0.12)
        ax.locator_params(axis="x", integer=True)
        ax.set_xlabel("round")
        ax.set_ylabel(_MEASURES[self.measure][1])
        is_share = self.measure in _SHARES
        value = percent(self.best_value) if is_share else money(self.best_value)
        best = f"best: round {self.best_round}, {value}"
        self._mark(self.best_round, self.best_value, best, color, above=is_share)
        ax.legend(frameon=False)


def _curve(y: Any, decisions: Iterable[ArrayLike], measure: str, prices: dict[str, Any]) -> Floats:
    check_one_of(measure, _MEASURES, "measure", "CostByRoundDisplay")
    metric, _ = _MEASURES[measure]
    values = np.array([metric(y, decided, **prices) for decided in decisions])
    if not len(values):
        raise ValueError("CostByRoundDisplay needs the decisions of at least one round, got none.")
    return values

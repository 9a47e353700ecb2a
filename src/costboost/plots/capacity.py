"""What a limit on one decision costs, and what one more would save."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Self

from numpy.typing import ArrayLike

from costboost._words import count
from costboost.decisions import capacity_curve
from costboost.plots._shared import INK, MUTED, PALETTE, Display

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CapacityDisplay"]


@dataclass(eq=False, repr=False)
class CapacityDisplay(Display):
    """Total cost by how many rows may get one decision, with the price of one more.

    Make it with `from_estimator` or `from_predictions`. Pay for more capacity while it costs less
    than one more saves.

    Parameters
    ----------
    capacity : array of shape (m,)
        Numbers of rows that may get the decision, increasing.
    expected_cost : array of shape (m,)
        Expected cost of all rows within that limit.
    price : array of shape (m,)
        What one more row would save.
    cost : array of shape (m,), optional
        What the decisions really cost, if the truth is known.
    decision : label, optional
        The decision that is limited.

    Attributes
    ----------
    wanted : float
        Rows that get the decision if there is no limit.
    ax_, figure_, price_ax_
        Where it was drawn; the price has its own axis, on the right.
    expected_line_, cost_line_, price_line_ : Line2D
        The lines; the second is None if the truth is not known.

    See Also
    --------
    costboost.decisions.capacity_curve : The numbers.
    costboost.decisions.allocate : Decisions within several limits.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from costboost.plots import CapacityDisplay
    >>> expected = [[10, 4, 18], [2, 4, 20], [50, 4, 9], [30, 4, 12]]
    >>> shown = CapacityDisplay.from_predictions(
    ...     expected, "review", ["accept", "review", "block"], ax=Figure().subplots()
    ... )
    >>> shown.wanted, float(shown.price[1])
    (3.0, 6.0)
    """

    capacity: Any
    expected_cost: Any
    price: Any
    _: KW_ONLY
    cost: Any = None
    decision: Any = None

    @property
    def wanted(self) -> float:
        """Rows that get the decision if there is no limit."""
        return float(self.capacity[-1])

    @classmethod
    def from_estimator(
        cls,
        estimator: Any,
        X: Any,
        decision: Any,
        *,
        y: ArrayLike | None = None,
        costs: Any = None,
        **options: Any,
    ) -> Self:
        """Draw the curve of a fitted classifier.

        Parameters
        ----------
        estimator : classifier
            A fitted classifier of the library that has probabilities.
        X : table of shape (n, d)
            The rows of a batch.
        decision : label
            The decision that is limited.
        y : array of shape (n,), optional
            True classes; with them, what the decisions really cost is drawn, too.
        costs : array, frame or mapping, optional
            The costs to decide by, as in ``predict``; by default those of the fit, which may be
            learned.
        **options
            The rest as in `from_predictions`: ``sample_weight``, ``ax``.

        Returns
        -------
        CapacityDisplay
            The display, drawn.
        """
        if not hasattr(estimator, "predict_cost"):
            problem = f"needs predict_cost, which {type(estimator).__name__} has not"
            raise TypeError(f"{cls.__name__} {problem}. Wrap it in MinCostClassifier.")
        expected = estimator.predict_cost(X, costs=costs)
        prices = None if y is None else estimator.judged(X, y, costs=costs)[1].prices
        return cls.from_predictions(
            expected, decision, estimator.decisions_, prices=prices, **options
        )

    @classmethod
    def from_predictions(
        cls,
        expected: ArrayLike,
        decision: Any,
        decisions: ArrayLike | None = None,
        *,
        ax: Axes | None = None,
        **options: Any,
    ) -> Self:
        """Draw the curve of given expected costs.

        Parameters
        ----------
        expected, decision, decisions
            As in `costboost.decisions.capacity_curve`.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.
        **options
            Its ``prices`` and ``sample_weight``.

        Returns
        -------
        CapacityDisplay
            The display, drawn.
        """
        curve = capacity_curve(expected, decision, decisions, **options)
        return cls(**curve, decision=decision).plot(ax)

    def _draw(self, ax: Axes) -> None:
        look: dict[str, Any] = {"color": PALETTE[0], "linewidth": 1.6, "label": "expected"}
        (self.expected_line_,) = ax.plot(self.capacity, self.expected_cost, **look)
        self.cost_line_ = None
        if self.cost is not None:
            (self.cost_line_,) = ax.plot(
                self.capacity, self.cost, color=INK, linestyle=(0, (5, 2)), label="paid"
            )
            ax.legend(frameon=False)
        what = "the decision" if self.decision is None else f"“{self.decision}”"
        ax.set_xlabel(f"most rows that may get {what} ({count(self.wanted)} want it)")
        ax.set_ylabel("total cost", color=PALETTE[0])
        self.price_ax_ = ax.twinx()
        (self.price_line_,) = self.price_ax_.step(
            self.capacity, self.price, where="post", color=PALETTE[1], linewidth=1.2
        )
        self.price_ax_.set_ylabel("one more saves", color=PALETTE[1])
        self.price_ax_.set_ylim(bottom=0.0)
        self.price_ax_.spines["right"].set_color(MUTED)
        self.price_ax_.spines[["top", "left"]].set_visible(False)

"""What each feature adds to the saving of a decision, in money."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from costboost._words import money, number
from costboost.decisions.explain import Explanation
from costboost.plots._shared import INK, MUTED, PALETTE, SMALL, Display, name_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ExplanationDisplay"]

_GAIN, _LOSS = PALETTE[0], PALETTE[1]


@dataclass(eq=False, repr=False)
class ExplanationDisplay(Display):
    """Bars of money: one row step by step, or the mean size over many rows.

    Make it with `from_estimator`, `from_explanation` or from numbers.

    Parameters
    ----------
    parts : array of shape (f,)
        Money of each feature: the parts of one row, or their mean absolute values.
    names : list of str
        Names of the bars.
    base, saving : float or None
        Where the steps of one row begin and end; None for many rows.
    title : str, default=""
        The headline.
    max_features : int, default=10
        Features with the smallest parts beyond this number are drawn as one bar.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    bars_ : BarContainer
        The bars, from the top.
    names_ : list of str
        The names drawn, from the top.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from costboost.costs import Costs
    >>> from costboost.decisions import Decisions, explain
    >>> from costboost.plots import ExplanationDisplay
    >>> decided = Decisions.from_proba(np.array([[0.5, 0.5]]), Costs([[0, 1], [4, 0]], [0, 1]))
    >>> explanation = explain(decided, [[1.5, 0.5, -2.0]], names=["amount", "age"])
    >>> shown = ExplanationDisplay.from_explanation(explanation, row=0, ax=Figure().subplots())
    >>> shown.names_
    ['base rate', 'amount', 'age', 'saving']
    """

    parts: Any
    names: list[str]
    _: KW_ONLY
    base: float | None = None
    saving: float | None = None
    title: str = ""
    max_features: int = 10

    @classmethod
    def from_estimator(cls, estimator: Any, X: Any, *, costs: Any = None, **options: Any) -> Self:
        """Draw why a fitted classifier decides as it does.

        Parameters
        ----------
        estimator : CostBoostClassifier
            Fitted; any classifier with ``explain`` will do.
        X : table of shape (n, d)
            The rows.
        costs : array, frame or mapping, optional
            The costs to decide by, as in ``predict``.
        **options
            The rest as in `from_explanation`, such as ``row=3``.

        Returns
        -------
        ExplanationDisplay
            The display, drawn.
        """
        return cls.from_explanation(estimator.explain(X, costs=costs), **options)

    @classmethod
    def from_explanation(
        cls,
        explanation: Explanation,
        *,
        row: int | None = None,
        max_features: int = 10,
        ax: Axes | None = None,
    ) -> Self:
        """Draw one row of an explanation, or all of them together.

        Parameters
        ----------
        explanation : Explanation
            From ``explain`` of a classifier, or `costboost.decisions.explain`.
        row : int, optional
            The row to draw; None draws the mean absolute money of each feature over all rows.
        max_features : int, default=10
            Largest number of features drawn on their own.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        ExplanationDisplay
            The display, drawn.
        """
        names, n = explanation.feature_names, len(explanation.saving)
        if row is None:
            title = f"mean absolute part of the saving, {n} rows"
            shown = cls(explanation.mean_absolute, names, title=title, max_features=max_features)
            return shown.plot(ax)
        if not -n <= row < n:
            raise ValueError(f"row of {cls.__name__} must be one of {n} rows, got {row!r}.")
        ends = {key: float(getattr(explanation, key)[row]) for key in ("base", "saving")}
        title = f"{explanation.labels[row]} rather than {explanation.runner_up[row]}"
        if explanation.values is not None:
            values = explanation.values[row].tolist()
            names = [
                f"{name} = {number(value) if isinstance(value, float) else value}"
                for name, value in zip(names, values, strict=True)
            ]
        shown = cls(explanation.parts[row], names, title=title, max_features=max_features, **ends)
        return shown.plot(ax)

    @property
    def _size(self) -> tuple[float, float]:  # type: ignore[override]
        bars = min(len(self.parts), self.max_features + 1) + 2 * (self.base is not None)
        return 7.2, 1.1 + 0.34 * bars

    def _draw(self, ax: Axes) -> None:
        given = np.asarray(self.parts, dtype=np.float64)
        order = np.argsort(-np.abs(given), kind="stable")
        kept, rest = order[: self.max_features], order[self.max_features :]
        names, parts = [self.names[f] for f in kept], given[kept]
        if len(rest):
            names.append(f"{len(rest)} other features")
            parts = np.append(parts, given[rest].sum())
        if self.base is None or self.saving is None:
            self.names_ = names
            starts, widths, colors = np.zeros(len(parts)), parts, [_GAIN] * len(parts)
            texts = [money(part) for part in parts]
            ax.set_xlabel("mean absolute part, in money per row")
        else:  # step by step, from the base rate to the saving
            self.names_ = ["base rate", *names, "saving"]
            starts = np.concatenate([[0.0], self.base + np.cumsum([0.0, *parts[:-1]]), [0.0]])
            widths = np.array([self.base, *parts, self.saving])
            colors = [MUTED, *(_GAIN if part >= 0 else _LOSS for part in parts), INK]
            signs = [f"+{money(part)}" if part >= 0 else money(part) for part in parts]
            texts = [money(self.base), *signs, money(self.saving)]
            ax.set_xlabel("expected saving against the runner-up")
        places, ends = np.arange(len(widths)), starts + widths
        self.bars_ = ax.barh(places, widths, left=starts, color=colors, height=0.62, zorder=3)
        self.texts_ = ax.bar_label(self.bars_, texts, padding=4, color=INK, fontsize=SMALL)
        ax.margins(x=0.14)
        if self.base is not None:
            ax.use_sticky_edges = False  # room for texts on both sides
            for place, at in zip(places[:-1], ends[:-1], strict=True):  # lead the eye down
                ax.plot([at, at], [place + 0.31, place + 0.69], color=MUTED, linewidth=0.8)
            ax.axvline(0.0, color=MUTED, linewidth=0.8, zorder=1)
        name_rows(ax, self.names_)
        ax.set_title(self.title, loc="left", color=INK, fontsize=11)

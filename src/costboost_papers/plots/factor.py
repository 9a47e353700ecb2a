"""Cost against the cost factor, for several methods."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import ArrayLike

from costboost._typing import Floats
from costboost.plots._shared import axes, label_ends, line_looks, tidy

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["CostFactorDisplay"]


class CostFactorDisplay:
    """A line per method: what it costs as one kind of mistake costs more.

    Make it with `from_rows` or from numbers.

    Parameters
    ----------
    factors : array of shape (m,)
        The cost factors, increasing.
    values : mapping of str to array of shape (m,)
        What each method costs at each factor; NaN where it was not measured.
    errors : mapping of str to array of shape (m,), optional
        Half the width of the band around the line.
    value_name : str, default="mean cost per row"
        What the values are.
    factor_name : str, default="cost factor"
        What the factors are.
    error_name : str, default="standard error"
        What the errors are.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    lines_ : dict of str to Line2D
        The lines, by method.
    bands_ : dict of str to PolyCollection
        The bands, by method.

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
        *,
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
    def from_rows(
        cls,
        frame: Any,
        *,
        value_name: str = "mean cost per row",
        factor_name: str = "cost factor",
        error_name: str = "standard error",
        ax: Axes | None = None,
    ) -> Self:
        """Draw tidy rows.

        Parameters
        ----------
        frame : pandas or polars frame, or mapping of columns
            Columns ``algorithm``, ``factor`` and ``value``, and perhaps ``error``. Several rows of
            one algorithm and factor, such as one per split, are averaged, and without ``error`` the
            band is the standard error of that mean.
        value_name, factor_name, error_name : str
            Words for the axes.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        CostFactorDisplay
            The display, drawn; methods in the order of their first rows.
        """
        columns = list(getattr(frame, "columns", frame))
        missing = [name for name in ("algorithm", "factor", "value") if name not in columns]
        if missing:
            raise ValueError(
                f"The 'frame' parameter of CostFactorDisplay.from_rows lacks the columns "
                f"{missing}, got {columns}. Rename yours."
            )
        algorithm = np.asarray(frame["algorithm"]).astype(str)
        factor = np.asarray(frame["factor"], dtype=np.float64)
        value = np.asarray(frame["value"], dtype=np.float64)
        given = np.asarray(frame["error"], dtype=np.float64) if "error" in columns else None
        factors = np.unique(factor)
        values: dict[str, Floats] = {}
        errors: dict[str, Floats] = {}
        for name in dict.fromkeys(algorithm.tolist()):
            values[name] = np.full(len(factors), np.nan)
            errors[name] = np.full(len(factors), np.nan)
            for i, at in enumerate(factors):
                cell = np.flatnonzero((algorithm == name) & (factor == at))
                if given is not None and len(cell) > 1:
                    raise ValueError(
                        "The 'frame' parameter of CostFactorDisplay.from_rows has an error column "
                        f"and {len(cell)} rows of {name!r} at factor {at:g}, whose errors cannot "
                        "be averaged. Drop the column, or summarise the rows."
                    )
                if len(cell):
                    values[name][i] = value[cell].mean()
                    errors[name][i] = _error(value[cell]) if given is None else given[cell[0]]
        has_errors = any(np.isfinite(error).any() for error in errors.values())
        return cls(
            factors,
            values,
            errors if has_errors else None,
            value_name=value_name,
            factor_name=factor_name,
            error_name=error_name,
        ).plot(ax)

    def plot(self, ax: Axes | None = None) -> Self:
        """Draw a line per method, with its band.

        Factors that span more than one order of magnitude get a logarithmic axis.

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
            if self.errors is not None and name in self.errors:
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


def _error(values: Floats) -> float:
    """Standard error of the mean; NaN for a single value."""
    if len(values) < 2:
        return float("nan")
    return float(values.std(ddof=1) / np.sqrt(len(values)))

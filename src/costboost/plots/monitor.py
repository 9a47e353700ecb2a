"""What a monitor found: the strength of the evidence of each check."""

from __future__ import annotations

from typing import TYPE_CHECKING, Self

import numpy as np

from costboost._words import money, number
from costboost.monitor import Check, MonitorReport
from costboost.plots._shared import INK, MUTED, PALETTE, SMALL, Display, name_rows

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["MonitorDisplay"]

_FINE, _ALARM = PALETTE[0], PALETTE[1]
# Smaller p-values are drawn at the end of the axis.
_SMALLEST = 1e-12


class MonitorDisplay(Display):
    """A line per check: how far its p-value is beyond the false-alarm rate.

    Make it with `from_report` or from numbers.

    Parameters
    ----------
    checks : list of Check
        The checks, with adjusted p-values.
    false_alarm_rate : float
        Where an alarm begins.
    title : str, default=""
        The headline.
    max_checks : int, default=15
        At most this many are drawn, those with the smallest p-values.

    Attributes
    ----------
    ax_, figure_
        Where it was drawn.
    names_ : list of str
        The checks drawn, from the top.

    Examples
    --------
    >>> from matplotlib.figure import Figure
    >>> from costboost.monitor import Check
    >>> from costboost.plots import MonitorDisplay
    >>> checks = [
    ...     Check("amount", "feature", 31.0, 52.0, 1e-6, 2e-6, True),
    ...     Check("age", "feature", 40.0, 41.0, 0.4, 0.4),
    ... ]
    >>> MonitorDisplay(checks, 0.01).plot(Figure().subplots()).names_
    ['amount', 'age']
    """

    def __init__(
        self,
        checks: list[Check],
        false_alarm_rate: float,
        *,
        title: str = "",
        max_checks: int = 15,
    ) -> None:
        self.checks = list(checks)
        self.false_alarm_rate = false_alarm_rate
        self.title = title
        self.max_checks = max_checks

    @classmethod
    def from_report(
        cls, report: MonitorReport, *, max_checks: int = 15, ax: Axes | None = None
    ) -> Self:
        """Draw a report.

        Parameters
        ----------
        report : MonitorReport
            From `costboost.monitor.Monitor.check`.
        max_checks : int, default=15
            Largest number of checks drawn.
        ax : matplotlib Axes, optional
            Where to draw; by default a new figure.

        Returns
        -------
        MonitorDisplay
            The display, drawn.
        """
        realised = (
            "" if report.realised_cost is None else f", realised {money(report.realised_cost)}"
        )
        title = (
            f"expected cost per row {money(report.expected_cost)} "
            f"({money(report.low)} to {money(report.high)}{realised}), "
            f"reference {money(report.reference_cost)}"
        )
        return cls(report.checks, report.false_alarm_rate, title=title, max_checks=max_checks).plot(
            ax
        )

    @property
    def _size(self) -> tuple[float, float]:  # type: ignore[override]
        return 7.2, 1.3 + 0.32 * min(len(self.checks), self.max_checks)

    def _draw(self, ax: Axes) -> None:
        # Equal adjusted p-values in the order of the plain ones.
        drawn = sorted(self.checks, key=lambda check: (check.adjusted, check.p_value))
        drawn = drawn[: self.max_checks]
        self.names_ = [check.name for check in drawn]
        places = np.arange(len(drawn))
        p = np.maximum([check.adjusted for check in drawn], _SMALLEST)
        colors = [_ALARM if check.alarm else _FINE for check in drawn]
        self.lines_ = ax.hlines(places, p, 1.0, color=colors, linewidth=1.6, zorder=2)
        self.points_ = ax.scatter(p, places, color=colors, s=28, zorder=3)
        ax.set_xscale("log")
        lowest = min(float(p.min(initial=1.0)), 0.1 * self.false_alarm_rate)
        ax.set_xlim(1.6, 0.3 * lowest)  # strong evidence to the right
        ax.axvline(self.false_alarm_rate, color=MUTED, linewidth=1.0, linestyle=(0, (4, 2)))
        ax.annotate(
            "alarm", (self.false_alarm_rate, 1.0), xycoords=("data", "axes fraction"),
            xytext=(4, 2), textcoords="offset points", color=MUTED, fontsize=SMALL,
        )  # fmt: skip
        labels = [
            f"{check.what}  {number(check.reference)} → {number(check.new)}" for check in drawn
        ]
        name_rows(ax, labels)
        ax.set_xlabel("p-value, adjusted for the number of checks")
        # From the right end: the names of the checks leave little room above the axis.
        ax.set_title(self.title, color=INK, fontsize=10, pad=16, loc="right")

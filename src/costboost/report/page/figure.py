"""What charts are made of: a figure with its text, traces and axes for plotly.

Colours are names with an "@", which ``report.js`` replaces by those of the light or dark style.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from html import escape
from typing import Any

import numpy as np

from costboost.report.page.words import Cell, Table, money

__all__ = ["Figure"]

SERIES = ("@accent", "@amber", "@violet", "@grey", "@green", "@rose")
Trace = dict[str, Any]


@dataclass(frozen=True, eq=False)
class Figure:
    """A chart with its text."""

    name: str
    title: str
    read: str
    traces: list[Trace]
    layout: dict[str, Any]
    table: Table | None = None
    wide: bool = field(default=False)

    def html(self) -> str:
        """Figure element; the page's script draws into it."""
        table = ""
        if self.table is not None:
            table = f"<details><summary>Numbers behind this chart</summary>{self.table.html()}"
            table += "</details>"
        kind = "chart wide" if self.wide else "chart"
        return (
            f'<figure class="{kind}" id="figure-{self.name}"><h3>{escape(self.title)}</h3>'
            f'<div class="plot" id="plot-{self.name}" data-figure="{self.name}" role="img" '
            f'aria-label="Chart: {escape(self.title)}. {escape(self.read)}"></div>'
            f"<figcaption>{escape(self.read)}</figcaption>{table}</figure>"
        )


def numbers(values: Any) -> list[float | None]:
    """Numbers with six digits, short in JSON; what is not finite becomes a gap."""
    array = np.asarray(values, dtype=np.float64)
    return [float(f"{v:.6g}") if np.isfinite(v) else None for v in array.tolist()]


def axis(title: str, **more: Any) -> dict[str, Any]:
    """An axis with a title."""
    return {"title": {"text": title}, **more}


def money_axis(title: str, unit: str) -> dict[str, Any]:
    """An axis of money, with the unit in its title."""
    return axis(f"{title} ({unit})" if unit else title)


def named_axis(labels: list[str], most: int = 18) -> dict[str, Any]:
    """An axis of the places 0, 1, 2, ... with a label each, slanted if they are long."""
    shown = [short(label, most) for label in labels]
    slanted = sum(len(label) for label in shown) > 30
    return {
        "tickvals": list(range(len(labels))),
        "ticktext": shown,
        "tickangle": -40 if slanted else 0,
        "automargin": True,
    }


def line(name: str, x: Any, y: Any, color: str, **more: Any) -> Trace:
    """A line of plotly."""
    style = {"color": color, "width": 2.5, **more.pop("line", {})}
    return {"type": "scatter", "mode": "lines", "name": name, "x": x, "y": y, "line": style, **more}


def point(name: str, x: float, y: float, color: str, symbol: str = "circle") -> Trace:
    """A point of plotly, ringed."""
    marker = {"color": color, "size": 12, "symbol": symbol, "line": {"color": "@card", "width": 2}}
    return {
        "type": "scatter",
        "mode": "markers",
        "name": name,
        "x": [float(x)],
        "y": [float(y)],
        "marker": marker,
    }


def money_cell(value: float, unit: str) -> Cell:
    """A cell of a table, to the cent."""
    return Cell(money(value, unit, cents=True), value)


def short(text: str, most: int = 18) -> str:
    """Text cut to a length."""
    return text if len(text) <= most else f"{text[: most - 1]}…"

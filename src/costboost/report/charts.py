"""What the page is made of: tables, charts and sections.

Colours are names with an "@", which ``report.js`` replaces by those of the light or dark style.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from html import escape
from importlib.resources import files
from string import Template
from typing import Any, NamedTuple

import numpy as np

from costboost._typing import Floats
from costboost._words import money, number

Trace = dict[str, Any]
# A text, or a number: what is shown, and what the table is sorted by.
Cell = str | tuple[str, float]


def filled(name: str, **texts: str) -> str:
    """A file of ``assets``, with texts in its gaps."""
    return Template(asset(name)).substitute(texts)


def asset(name: str) -> str:
    """A file of ``assets``."""
    return files("costboost.report").joinpath("assets", name).read_text("utf-8")


# -- tables -------------------------------------------------------------------------------------


def amounts(values: Any, unit: str) -> list[Cell]:
    """A column of money, with the decimals of its largest amount."""
    largest = float(np.abs(values).max(initial=0.0))
    return cells(values, lambda value: money(value, unit, largest))


def cells(values: Any, show: Callable[[float], str] = number) -> list[Cell]:
    """A column of numbers that are no money."""
    return [(show(v), v) for v in np.asarray(values).tolist()]


def table(caption: str, *columns: tuple[str, Sequence[Cell]], sortable: bool = False) -> str:
    """A table from its columns, in a frame that scrolls if the page is narrow."""

    def element(cell: Cell, tag: str, scope: str = "") -> str:
        if isinstance(cell, str):
            return f"<{tag}{scope}>{escape(cell)}</{tag}>"
        number = f' class="number" data-value="{cell[1]!r}"'
        return f"<{tag}{scope}{number}>{escape(cell[0])}</{tag}>"

    def heading(name: str, cells: Sequence[Cell]) -> str:
        number = ' class="number"' if cells and not isinstance(cells[0], str) else ""
        text, order = escape(name), ""
        if sortable:
            text, order = f'<button type="button">{text}</button>', ' aria-sort="none"'
        return f'<th scope="col"{number}{order}>{text}</th>'

    head = "".join(heading(*column) for column in columns)
    rows = [
        element(first, "th", ' scope="row"') + "".join(element(cell, "td") for cell in others)
        for first, *others in zip(*(cells for _, cells in columns), strict=True)
    ]
    kind = ' class="sortable"' if sortable else ""
    return (
        f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(caption)}">'
        f"<table{kind}><caption>{escape(caption)}</caption><thead><tr>{head}</tr></thead>"
        f"<tbody>{''.join(f'<tr>{row}</tr>' for row in rows)}</tbody></table></div>"
    )


# -- charts -------------------------------------------------------------------------------------


class Figure(NamedTuple):
    """A chart for plotly with its text, and the table of its numbers."""

    name: str
    title: str
    read: str
    data: list[Trace]
    layout: dict[str, Any]
    table: str | None = None  # None: what is drawn
    wide: bool = False

    def drawn_numbers(self) -> str:
        """The lines as columns of a table, at about thirty of their points."""
        x, axis = self.data[0]["x"], self.layout["xaxis"]
        some = slice(None, None, max(1, len(x) // 30))
        heading = axis.get("title", {"text": ""})["text"]
        return table(
            self.title,
            (heading, [v if isinstance(v, str) else number(v) for v in x[some]]),
            *((one["name"], cells(one["y"][some])) for one in self.data if one["x"] == x),
        )

    def html(self) -> str:
        """The element that the page's script draws into."""
        title, read = escape(self.title), escape(self.read)
        kind = "chart wide" if self.wide else "chart"
        behind = self.drawn_numbers() if self.table is None else self.table
        if behind:
            behind = f"<details><summary>Numbers behind this chart</summary>{behind}</details>"
        return (
            f'<figure class="{kind}" id="figure-{self.name}">'
            f'<h3>{title}</h3><div class="plot" id="plot-{self.name}" data-figure="{self.name}" '
            f'role="img" aria-label="Chart: {title}. {read}"></div><figcaption>{read}</figcaption>'
            f"{behind}</figure>"
        )


class Section(NamedTuple):
    """A part of the page with a heading."""

    name: str
    menu: str
    title: str
    figures: Sequence[Figure | None] = ()  # None: a chart that these rows do not have
    lead: str = ""
    before: str = ""
    after: str = ""

    @property
    def drawn(self) -> list[Figure]:
        """The charts that there are."""
        return [figure for figure in self.figures if figure is not None]

    def html(self) -> str:
        """The section as HTML."""
        charts = "".join(figure.html() for figure in self.drawn)
        return (
            f'<section id="{self.name}" aria-labelledby="{self.name}-title">'
            f'<h2 id="{self.name}-title">{escape(self.title)}</h2>'
            + (f'<p class="lead">{self.lead}</p>' if self.lead else "")
            + self.before
            + (f'<div class="charts">{charts}</div>' if charts else "")
            + f"{self.after}</section>"
        )


def numbers(values: Any) -> list[Any]:
    """Numbers with six digits, short in JSON; what is not finite becomes a gap. Texts stay."""
    array = np.asarray(values)
    if array.dtype.kind == "U":
        return list(values)
    return [float(f"{v:.6g}") if np.isfinite(v) else None for v in array.tolist()]


def axis(title: str, unit: str = "", **more: Any) -> dict[str, Any]:
    """An axis with a title, and the unit of money in it."""
    return {"title": {"text": f"{title} ({unit})" if unit else title}, **more}


def named_axis(title: str, labels: list[str], most: int = 14, **more: Any) -> dict[str, Any]:
    """An axis of the places 0, 1, 2, ... with a label each, slanted if they are long."""
    # By their places: two labels that are cut to the same text stay apart.
    shown = [x if len(x) <= most else f"{x[: most - 1]}…" for x in labels]
    angle = -40 if sum(len(label) for label in shown) > 30 else 0
    places = list(range(len(labels)))
    return axis(title, tickvals=places, ticktext=shown, tickangle=angle) | more


def row_axis(labels: list[str], most: int = 14, title: str = "") -> dict[str, Any]:
    """The same from top to bottom."""
    return named_axis(title, labels, most, tickangle=0, autorange="reversed")


def row_layout(labels: list[str], most: int, height: int, *money: str) -> dict[str, Any]:
    """Layout of `bars`: their names cut to so many letters, and what they measure."""
    return {"xaxis": axis(*money), "yaxis": row_axis(labels, most), "height": height}


def line(name: str, x: Any, y: Any, color: str, dash: str | None = None, **more: Any) -> Trace:
    """A line of plotly; a dashed one is thinner."""
    style = {"color": color, "width": 2.5} | ({"dash": dash, "width": 1.5} if dash else {})
    values = {"x": numbers(x), "y": numbers(y)}
    return {"type": "scatter", "mode": "lines", "name": name, **values, "line": style, **more}


def bars(labels: list[str], values: Any, color: Any, hover: str, **more: Any) -> Trace:
    """Horizontal bars of plotly, on a `row_axis`."""
    return {
        "type": "bar",
        "orientation": "h",
        "x": numbers(values),
        "y": list(range(len(labels))),
        "customdata": labels,
        "marker": {"color": color},
        "showlegend": False,
        "hovertemplate": f"%{{customdata}}<br>%{{x:{hover}}}<extra></extra>",
        **more,
    }


def whiskers(value: Floats, low: Floats, high: Floats, **more: Any) -> dict[str, Any]:
    """Error bars of plotly from an interval."""
    ends = {"array": numbers(high - value), "arrayminus": numbers(value - low)}
    return {"type": "data", "symmetric": False, "thickness": 1.2, **ends, **more}

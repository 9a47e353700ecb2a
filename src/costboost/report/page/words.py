"""Numbers and tables as the page shows them. ``report.js`` writes money in the same way."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape
from typing import Any

__all__ = ["Cell", "Row", "Table", "count", "money", "percent", "span"]


def money(value: float, unit: str, cents: bool | None = None) -> str:
    """An amount with its sign and separators; without cents from 10,000 on, unless asked for."""
    with_cents = abs(value) < 10_000 if cents is None else cents
    text = f"{abs(value):,.2f}" if with_cents else f"{abs(value):,.0f}"
    is_zero = not text.strip("0.,")
    gap = " " if len(unit) > 1 else ""
    return f"{'−' if value < 0 and not is_zero else ''}{unit}{gap}{text}"


def span(low: float, high: float, unit: str) -> str:
    """Two amounts, both with cents or both without."""
    cents = max(abs(low), abs(high)) < 10_000
    return f"{money(low, unit, cents)} to {money(high, unit, cents)}"


def count(value: float) -> str:
    """A number of rows; with a decimal only if it is not whole, as weights may make it."""
    return f"{value:,.0f}" if abs(value - round(value)) < 1e-9 else f"{value:,.1f}"


def percent(share: float) -> str:
    """A share in percent, with one decimal; below 0.1 % with two significant digits."""
    if 0 < abs(share) < 0.001:
        return f"{100 * share:.2g}\u00a0%"
    return f"{100 * share:.1f}\u00a0%"


@dataclass(frozen=True)
class Cell:
    """A cell of a table: what it shows and, for numbers, what it is sorted by."""

    text: str
    value: float | None = None


Row = list[Cell | str]


@dataclass(frozen=True)
class Table:
    """A table of the page."""

    caption: str
    head: Sequence[str]
    rows: Sequence[Sequence[Cell | str]]
    sortable: bool = False

    def html(self) -> str:
        """The table as HTML, in a frame that scrolls if the page is narrow."""
        head = "".join(self._heading(place, name) for place, name in enumerate(self.head))
        body = "".join(f"<tr>{self._row(row)}</tr>" for row in self.rows)
        kind = ' class="sortable"' if self.sortable else ""
        return (
            f'<div class="scroll" tabindex="0" role="region" aria-label="{escape(self.caption)}">'
            f"<table{kind}><caption>{escape(self.caption)}</caption>"
            f"<thead><tr>{head}</tr></thead><tbody>{body}</tbody></table></div>"
        )

    def _heading(self, place: int, name: str) -> str:
        number = bool(self.rows) and _is_number(self.rows[0][place])
        kind = ' class="number"' if number else ""
        if not self.sortable:
            return f'<th scope="col"{kind}>{escape(name)}</th>'
        return (
            f'<th scope="col"{kind} aria-sort="none"><button type="button">{escape(name)}'
            "</button></th>"
        )

    def _row(self, row: Sequence[Cell | str]) -> str:
        first, *others = row
        return f'<th scope="row"{_attributes(first)}>{_text(first)}</th>' + "".join(
            f"<td{_attributes(cell)}>{_text(cell)}</td>" for cell in others
        )


def _is_number(cell: Any) -> bool:
    return isinstance(cell, Cell) and cell.value is not None


def _text(cell: Cell | str) -> str:
    return escape(cell if isinstance(cell, str) else cell.text)


def _attributes(cell: Cell | str) -> str:
    if isinstance(cell, str) or cell.value is None:
        return ""
    return f' class="number" data-value="{cell.value!r}"'

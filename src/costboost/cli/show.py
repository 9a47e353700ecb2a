"""Tables for the terminal; they fit into 80 columns."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Mapping, Sequence
from dataclasses import is_dataclass
from typing import TYPE_CHECKING, Any

from rich import markup
from rich.console import Console
from rich.table import Table

from costboost._words import money, span
from costboost.cli.failure import printable

if TYPE_CHECKING:
    from costboost.columns import Columns
    from costboost.report.headline import Headline

MOST_COLUMNS = 40
"""A table of columns shows at most this many features; the others are counted."""


def escape(text: Any) -> str:
    """Text for the terminal: no markup, and no signs that a terminal would obey."""
    return markup.escape(printable(str(text)))


def print_json(values: Mapping[str, Any]) -> None:
    """Print one JSON object, for scripts."""

    def plain(value: Any) -> Any:
        if hasattr(value, "to_json"):
            return value.to_json()
        if is_dataclass(value):
            return vars(value)
        return value.tolist() if hasattr(value, "tolist") else str(value)

    json.dump(values, sys.stdout, indent=2, default=plain)
    sys.stdout.write("\n")


def note(console: Console, *texts: str) -> None:
    """What is worth knowing."""
    for text in texts:
        console.print(f"[cyan]Note:[/cyan] {escape(text)}", highlight=False)


def warn(console: Console, *texts: str) -> None:
    """What may be wrong."""
    for text in texts:
        console.print(f"[yellow]Warning:[/yellow] {escape(text)}", highlight=False)


def wrote(console: Console, path: Any, more: str = ".") -> None:
    """Name a file that was written."""
    console.print(f"Wrote [bold]{escape(str(path))}[/bold]{more}")


def grid(
    title: str = "", left: Sequence[str] = (), right: Sequence[str] = (), **more: Any
) -> Table:
    """A table without edges: columns of words, then columns of numbers."""
    more = {"show_edge": False, "pad_edge": False, "caption_justify": "left", **more}
    table = Table(title=title or None, title_justify="left", **more)
    for heading in left:
        table.add_column(heading, overflow="fold")
    for heading in right:
        table.add_column(heading, justify="right")
    return table


def columns_table(columns: Columns, priced: Collection[str] = ()) -> Table:
    """What becomes of each column and why; `priced` are named by the costs."""
    table = grid("Columns", ["column", "holds", "becomes", "reason"])
    shown = hidden = 0
    for column, (name, kind, becomes, note) in zip(columns, columns.rows(), strict=True):
        if name in priced:
            note = ", ".join(filter(None, (note, "in the costs")))
        shown += column.is_used
        if column.is_used and not note and shown > MOST_COLUMNS:
            hidden += 1
            continue
        style = None if column.is_used else "dim" if note.startswith("as you") else "yellow"
        holds = "true/false" if kind == "boolean" else kind
        table.add_row(escape(name), holds, becomes, escape(note), style=style)
    if hidden:
        table.add_row(f"... and {hidden} more", "", "features", "")
    table.add_row(escape(columns.target), "", "the target", "", style="bold")
    return table


def columns_json(columns: Columns) -> list[dict[str, Any]]:
    """What becomes of each column, for scripts."""
    return [
        {"name": name, "kind": kind, "becomes": becomes, "reason": note, "missing": column.missing}
        for column, (name, kind, becomes, note) in zip(columns, columns.rows(), strict=True)
    ]


def money_table(found: Headline, n: int) -> Table:
    """What each rule costs on held-out rows, and what the model saves against it."""
    table = grid(
        f"Total cost on {n:,} rows that the model has not seen",
        ["way to decide"], ["cost", "95 % interval", "the model saves"],
        caption=f"Intervals: 95 %, of sums by {found.unit}.",
    )  # fmt: skip
    # One number of decimals for the whole table, that of its largest amount.
    amounts = [x for rule in found.rules for part in (rule.cost, rule.saving) for x in part]
    for rule in found.rules:
        is_model = rule.key == "model"
        cost, saved = (money(one.value, "", *amounts) for one in (rule.cost, rule.saving))
        costs, saves = (span(one.low, one.high, "", *amounts) for one in (rule.cost, rule.saving))
        table.add_row(
            escape(rule.name), cost, costs, "" if is_model else f"{saved} ({saves})",
            style="bold green" if is_model else None,
        )  # fmt: skip
    return table

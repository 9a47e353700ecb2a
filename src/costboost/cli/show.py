"""Tables for the terminal; they fit into 80 columns."""

from __future__ import annotations

import json
import sys
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from rich import markup
from rich.console import Console
from rich.table import Table

from costboost._words import money, span
from costboost.cli.failure import printable

if TYPE_CHECKING:
    from costboost.columns import Columns
    from costboost.report.headline import Headline, RuleCost

MOST_COLUMNS = 40
"""A table of columns shows at most this many features; the others are counted."""
Rows = Iterable[tuple[str | None, Sequence[Any]]]


def escape(text: Any) -> str:
    """Text for the terminal: no markup, and no signs that a terminal would obey."""
    return markup.escape(printable(str(text)))


def print_json(values: Mapping[str, Any]) -> None:
    """Print one JSON object, for scripts."""

    def plain(value: Any) -> Any:
        return value.tolist() if hasattr(value, "tolist") else str(value)

    json.dump(values, sys.stdout, indent=2, default=plain)
    sys.stdout.write("\n")


def consoles(as_json: bool, quiet: bool = False) -> tuple[Console, Console]:
    """Where results are printed, and what leads to them: neither beside JSON."""
    return Console(stderr=as_json, quiet=as_json), Console(stderr=as_json, quiet=as_json or quiet)


def say(console: Console, *texts: Any, before: str = "") -> None:
    """Print texts as they are, after some words in markup."""
    for text in texts:
        console.print(before + escape(text), highlight=False)


def note(console: Console, *texts: str) -> None:
    """What is worth knowing."""
    say(console, *texts, before="[cyan]Note:[/cyan] ")


def warn(console: Console, *texts: str) -> None:
    """What may be wrong."""
    say(console, *texts, before="[yellow]Warning:[/yellow] ")


def wrote(console: Console, path: Any, more: str = ".") -> None:
    """Name a file that was written."""
    console.print(f"Wrote [bold]{escape(path)}[/bold]{more}")


def print_table(
    console: Console, title: str, headings: Sequence[str], rows: Rows, **more: Any
) -> None:
    """A table without edges; columns of numbers have a ">", and each row has a style or None."""
    more = {"show_edge": False, "pad_edge": False, "caption_justify": "left", **more}
    table = Table(title=title or None, title_justify="left", **more)
    for heading in headings:
        justify: Any = "right" if heading.startswith(">") else "left"
        table.add_column(heading.removeprefix(">"), justify=justify, overflow="fold")
    for style, cells in rows:
        table.add_row(*map(escape, cells), style=style)
    console.print(table)


def print_columns(console: Console, columns: Columns, priced: Collection[str] = ()) -> None:
    """What becomes of each column and why; `priced` are named by the costs."""
    rows: list[tuple[str | None, Sequence[Any]]] = []
    shown = hidden = 0
    for column, (name, kind, becomes, note) in zip(columns, columns.rows(), strict=True):
        if name in priced:
            note = ", ".join(filter(None, (note, "in the costs")))
        shown += column.is_used
        if column.is_used and not note and shown > MOST_COLUMNS:
            hidden += 1
            continue
        style = None if column.is_used else "dim" if note.startswith("as you") else "yellow"
        rows.append((style, (name, "true/false" if kind == "boolean" else kind, becomes, note)))
    if hidden:
        rows.append((None, (f"... and {hidden} more", "", "features", "")))
    rows.append(("bold", (columns.target, "", "the target", "")))
    print_table(console, "Columns", ["column", "holds", "becomes", "reason"], rows)


def columns_json(columns: Columns) -> list[dict[str, Any]]:
    """What becomes of each column, for scripts."""
    return [
        {"name": name, "kind": kind, "becomes": becomes, "reason": note, "missing": column.missing}
        for column, (name, kind, becomes, note) in zip(columns, columns.rows(), strict=True)
    ]


def rules_json(found: Headline) -> list[dict[str, Any]]:
    """What each rule costs, for scripts."""
    return [
        {**one._asdict(), "cost": one.cost._asdict(), "saving": one.saving._asdict()}
        for one in found.rules
    ]


def verdict_json(found: Headline | None) -> dict[str, Any]:
    """Return what each rule costs, and the verdict, for scripts."""
    if found is None:
        return {"ways_to_decide": []}
    verdict = found.verdict
    return {
        "ways_to_decide": rules_json(found),
        "answer": verdict.answer,
        "doubts": verdict.doubts,
        "verdict": str(verdict),
    }


def print_money(console: Console, found: Headline, rows: str) -> None:
    """What each rule costs on some rows, and what the model saves against it."""
    # One number of decimals for the whole table, that of its largest amount.
    amounts = [x for rule in found.rules for part in (rule.cost, rule.saving) for x in part]

    def row(rule: RuleCost) -> tuple[str | None, Sequence[str]]:
        cost, saved = (money(one.value, "", *amounts) for one in (rule.cost, rule.saving))
        costs, saves = (span(one.low, one.high, "", *amounts) for one in (rule.cost, rule.saving))
        if rule.key == "model":
            return "bold green", (rule.name, cost, costs, "")
        return None, (rule.name, cost, costs, f"{saved} ({saves})")

    print_table(
        console, f"Total cost on {rows}",
        ["way to decide", ">cost", ">95 % interval", ">the model saves"], map(row, found.rules),
        caption=f"Intervals: 95 %, with {found.unit}s taken for independent.",
    )  # fmt: skip

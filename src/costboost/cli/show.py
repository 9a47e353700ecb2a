"""Tables for the terminal; they fit into 80 columns."""

from __future__ import annotations

import json
import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from rich.console import Console
from rich.markup import escape
from rich.table import Table

if TYPE_CHECKING:
    from costboost.columns import TableRecipe
    from costboost.report.headline import Interval, Rule

__all__ = ["columns_table", "money", "money_table", "note", "print_json", "span", "warn"]

MOST_COLUMNS = 40
"""A table of columns shows at most this many features; the others are counted."""
_KINDS = {"number": "number", "boolean": "true/false", "category": "category", "date": "date"}


def print_json(values: Mapping[str, Any]) -> None:
    """Print one JSON object, for scripts."""
    json.dump(values, sys.stdout, indent=2, default=_plain, ensure_ascii=False)
    sys.stdout.write("\n")


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    return str(value)


def note(console: Console, text: str) -> None:
    """Something worth knowing."""
    console.print(f"[cyan]Note:[/cyan] {escape(text)}", highlight=False)


def warn(console: Console, text: str) -> None:
    """Something that may be wrong."""
    console.print(f"[yellow]Warning:[/yellow] {escape(text)}", highlight=False)


def money(value: float) -> str:
    """A sum of money: whole from 100 on, else with two decimals."""
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:,.2f}"


def span(interval: Interval) -> str:
    """An interval as ``low to high``."""
    return f"{money(interval.low)} to {money(interval.high)}"


def columns_table(recipe: TableRecipe) -> Table:
    """What each column is used as, with the reason."""
    table = Table(title="Columns", title_justify="left", show_edge=False, pad_edge=False)
    table.add_column("column", overflow="fold")
    table.add_column("holds")
    table.add_column("used as")
    table.add_column("reason", overflow="fold")
    features = 0
    hidden = 0
    for column in recipe.columns:
        is_plain = column.role == "feature" and not column.reason
        features += column.role == "feature"
        if is_plain and features > MOST_COLUMNS:
            hidden += 1
            continue
        style = {"skipped": "yellow", "excluded": "dim", "target": "bold"}.get(column.role)
        used = {"skipped": "skipped", "cost": "cost only"}.get(column.role, column.role)
        table.add_row(
            escape(column.name), _KINDS.get(column.kind, column.kind), used,
            escape(column.reason), style=style,
        )  # fmt: skip
    if hidden:
        table.add_row(f"... and {hidden} more", "", "feature", "")
    return table


def money_table(rules: Sequence[Rule], n: int, unit: str) -> Table:
    """What each rule costs on held-out rows, and what the model saves against it."""
    # ``unit`` is what the intervals resample, rows or days.
    table = Table(
        title=f"Total cost on {n:,} rows that the model has not seen",
        title_justify="left", show_edge=False, pad_edge=False,
        caption=f"Intervals: 95 %, from resampled {unit}s.", caption_justify="left",
    )  # fmt: skip
    table.add_column("way to decide", overflow="fold")
    for heading in ("cost", "95 % interval", "the model saves"):
        table.add_column(heading, justify="right")
    for rule in rules:
        is_model = rule.key == "model"
        saving = "" if is_model else f"{money(rule.saving.value)} ({span(rule.saving)})"
        table.add_row(
            escape(rule.name), money(rule.cost.value), span(rule.cost), saving,
            style="bold green" if is_model else None,
        )  # fmt: skip
    return table

"""Options that several commands share, said once."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, TypeAlias

import typer

__all__ = [
    "Algorithm", "AsJson", "Categories", "CostEntries", "CostMatrix", "Delimiter", "Encoding",
    "Exclude", "GroupColumn", "Model", "Positive", "Quiet", "Seed", "Settings", "Table", "Target",
    "Test", "TestSize", "TimeColumn", "WeightColumn",
]  # fmt: skip

_DATA, _COSTS, _MODEL, _TEST = "The table", "What mistakes cost", "The model", "Held-out rows"

Table: TypeAlias = Annotated[
    str,
    typer.Argument(
        metavar="FILE",
        help="CSV, TSV, Parquet, Arrow or JSON lines; also a folder, a pattern in quotes such as "
        "'2026-*.csv', or - for the standard input.",
        show_default=False,
    ),
]
Model: TypeAlias = Annotated[
    Path,
    typer.Argument(metavar="MODEL", help="A model file of `costboost fit`.", show_default=False),
]
Target: TypeAlias = Annotated[
    str,
    typer.Option(help="Column of the truth.", rich_help_panel=_DATA, show_default=False),
]
Exclude: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        help="Column that is not a feature; may be repeated, or given as a list with commas.",
        rich_help_panel=_DATA,
        show_default=False,
    ),
]
Categories: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--category",
        help="Column whose values are categories, although they look like numbers or ids.",
        rich_help_panel=_DATA,
        show_default=False,
    ),
]
WeightColumn: TypeAlias = Annotated[
    str | None,
    typer.Option(help="Column of row weights.", rich_help_panel=_DATA, show_default=False),
]
Delimiter: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Delimiter of CSV files; detected by default.",
        rich_help_panel=_DATA,
        show_default=False,
    ),
]
Encoding: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Encoding of CSV files; detected by default.",
        rich_help_panel=_DATA,
        show_default=False,
    ),
]
Positive: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="The class to find, of two: the p in fp and fn. Not needed for 0 and 1.",
        rich_help_panel=_COSTS,
        show_default=False,
    ),
]
CostEntries: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--cost",
        metavar="ENTRY=COST",
        help="fn, fp, tp or tn and what it costs: a number or arithmetic over columns, "
        '--cost "fn=amount+15" --cost fp=5. More classes or other decisions: '
        '"fraud:review=4" (truth:decision).',
        rich_help_panel=_COSTS,
        show_default=False,
    ),
]
CostMatrix: TypeAlias = Annotated[
    Path | None,
    typer.Option(
        metavar="FILE",
        help="Table of costs: first column the truth, one more column per decision.",
        rich_help_panel=_COSTS,
        show_default=False,
    ),
]
Algorithm: TypeAlias = Annotated[
    str,
    typer.Option(help="Any class of the library, such as AdaC2.", rich_help_panel=_MODEL),
]
Settings: TypeAlias = Annotated[
    list[str] | None,
    typer.Option(
        "--set",
        metavar="NAME=VALUE",
        help="Parameter of the algorithm, as in --set n_estimators=200; may be repeated.",
        rich_help_panel=_MODEL,
        show_default=False,
    ),
]
Seed: TypeAlias = Annotated[
    int, typer.Option(help="Seed of splits and of the model.", rich_help_panel=_MODEL)
]
TestSize: TypeAlias = Annotated[
    float,
    typer.Option(
        min=0.0, max=0.9, help="Share of the rows that is held out.", rich_help_panel=_TEST
    ),
]
Test: TypeAlias = Annotated[
    str | None,
    typer.Option(
        metavar="FILE",
        help="Measure on this file instead of held-out rows.",
        rich_help_panel=_TEST,
        show_default=False,
    ),
]
TimeColumn: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Column of times: the latest rows are held out.",
        rich_help_panel=_TEST,
        show_default=False,
    ),
]
GroupColumn: TypeAlias = Annotated[
    str | None,
    typer.Option(
        help="Column of groups, such as customers: whole groups are held out.",
        rich_help_panel=_TEST,
        show_default=False,
    ),
]
AsJson: TypeAlias = Annotated[
    bool, typer.Option("--json", help="Print one JSON object instead of text, for scripts.")
]
Quiet: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="Print only the result.")]

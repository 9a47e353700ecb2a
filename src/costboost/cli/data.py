"""The command ``costboost data``: benchmark sets, and files of your own before a fit."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from costboost.cli import arguments
from costboost.cli.failure import FOUND, tells_errors

__all__ = ["data"]

data = typer.Typer(
    name="data",
    help="Write an example file, describe or check a file, list benchmark sets.",
    no_args_is_help=True,
    add_completion=False,
)


@data.command("list")
@tells_errors
def list_sets(as_json: arguments.AsJson = False) -> None:
    """List the benchmark sets that can be loaded."""
    from costboost.cli.show import print_json

    names = _sets()
    if as_json:
        print_json({"sets": names})
        return
    console = Console()
    console.print(f"{len(names)} benchmark sets: {', '.join(names)}", highlight=False)
    if not _has_folder():
        console.print("They are downloaded from OpenML when they are used.")
    console.print("`costboost data describe NAME` says more about one.")


@data.command()
@tells_errors
def example(
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="FILE", help="File to write.")
    ] = Path("payments.csv"),
    rows: Annotated[int, typer.Option(min=100, help="Number of payments.")] = 8_000,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the values.")] = 0,
    start: Annotated[
        datetime, typer.Option(formats=["%Y-%m-%d"], help="The first of 90 days.")
    ] = datetime(2026, 1, 1),
) -> None:
    """Write synthetic card payments to try the commands on."""
    from costboost.cli.example import payments
    from costboost.columns import need, writer

    need("polars", "data", "Writing tables")
    with writer(output) as out:
        out.write(payments(rows, seed, start))
    Console().print(f"Wrote [bold]{escape(str(output))}[/bold]: {rows:,} card payments.")


@data.command()
@tells_errors
def describe(
    name: Annotated[
        str,
        typer.Argument(
            metavar="NAME|FILE",
            help="A set of `costboost data list`, or a file.",
            show_default=False,
        ),
    ],
    delimiter: arguments.Delimiter = None,
    encoding: arguments.Encoding = None,
    as_json: arguments.AsJson = False,
) -> None:
    """Say what a benchmark set or the columns of a file hold."""
    if not Path(name).exists() and name in _sets():
        _describe_set(name, as_json)
        return
    from costboost.cli.show import print_json
    from costboost.columns import infer_columns, open_source

    source = open_source(name, delimiter=delimiter, encoding=encoding)
    frame = source.read()
    columns = infer_columns(frame)
    rows: list[dict[str, Any]] = []
    for column in columns:
        values = frame[column.name]
        known = values.filter(~column.is_missing(values))
        rows.append(
            {
                "column": column.name,
                "holds": column.kind,
                "missing": values.len() - known.len(),
                "distinct": known.n_unique(),
                "examples": [str(one) for one in known.unique(maintain_order=True)[:3].to_list()],
                "remark": f"skipped: {column.reason}" if column.role == "skipped" else "",
            }
        )
    if as_json:
        print_json({"rows": frame.height, "format": source.in_words(), "columns": rows})
        return
    console = Console()
    console.print(f"{escape(name)}: {frame.height:,} rows ({source.in_words()})")
    table = Table(show_edge=False, pad_edge=False)
    table.add_column("column", overflow="fold")
    table.add_column("holds")
    table.add_column("missing", justify="right")
    table.add_column("distinct", justify="right")
    table.add_column("examples; remarks", overflow="fold")
    for row in rows:
        last = row["remark"] or ", ".join(row["examples"])
        table.add_row(
            escape(row["column"]), row["holds"], f"{row['missing']:,}", f"{row['distinct']:,}",
            escape(last), style="yellow" if row["remark"] else None,
        )  # fmt: skip
    console.print(table)


def _has_folder() -> bool:
    from costboost.datasets import available

    try:
        return bool(available())
    except FileNotFoundError:
        return False


def _sets() -> list[str]:
    """Sets of the folder of benchmark files; without one, those that OpenML has."""
    from costboost.datasets import available
    from costboost.datasets.openml import OPENML

    return list(available()) if _has_folder() else sorted(OPENML)


def _describe_set(name: str, as_json: bool) -> None:
    import numpy as np

    from costboost.cli.show import print_json
    from costboost.datasets import load

    found = load(name)
    labels, counts = np.unique(found.y, return_counts=True)
    values: dict[str, Any] = {
        "name": found.name,
        "rows": len(found.y),
        "features": found.X.shape[1],
        "classes": {str(label): int(n) for label, n in zip(labels, counts, strict=True)},
        "positive": found.positive,
        "costs": "of single rows" if found.costs is not None
        else "an official matrix" if found.cost_matrix is not None else "none",
        "split": found.split is not None,
        "description": found.description,
        "licence": found.licence,
    }  # fmt: skip
    if as_json:
        print_json(values)
        return
    table = Table(show_header=False, show_edge=False, pad_edge=False)
    for key, value in values.items():
        text = ", ".join(f"{k} {n:,}" for k, n in value.items()) if key == "classes" else str(value)
        table.add_row(key, escape(text))
    Console().print(table)


@data.command()
@tells_errors
def check(
    table: arguments.Table,
    target: arguments.Target,
    positive: arguments.Positive = None,
    cost: arguments.CostEntries = None,
    cost_matrix: arguments.CostMatrix = None,
    exclude: arguments.Exclude = None,
    category: arguments.Categories = None,
    delimiter: arguments.Delimiter = None,
    encoding: arguments.Encoding = None,
    as_json: arguments.AsJson = False,
) -> None:
    """Check a file before a fit: columns, classes, costs in words."""
    # The exit code is 3 if there are notes.
    import numpy as np

    from costboost.cli.problem import Wish, read_problem
    from costboost.cli.show import columns_table, note, print_json
    from costboost.costs import Costs

    problem = read_problem(
        Wish(
            table,
            target,
            positive,
            tuple(cost or ()),
            cost_matrix,
            tuple(exclude or ()),
            tuple(category or ()),
            delimiter=delimiter,
            encoding=encoding,
        )
    )
    labels, counts = np.unique(problem.rows.y, return_counts=True)
    resolved = Costs.resolve(
        problem.cost_matrix, classes=labels, n_samples=len(problem.rows), X=problem.rows.X,
        codes=np.searchsorted(labels, problem.rows.y), owner="costboost data check",
    )  # fmt: skip
    classes = {str(label): int(n) for label, n in zip(labels, counts, strict=True)}
    if as_json:
        print_json(
            {
                "rows": len(problem.rows),
                "classes": classes,
                "columns": [column.to_json() for column in problem.recipe.columns],
                "costs": str(resolved.summary),
                "notes": problem.notes,
            }
        )
    else:
        console = Console()
        console.print(f"{escape(table)}: {len(problem.rows):,} rows ({problem.source.in_words()})")
        console.print(columns_table(problem.recipe))
        shares = ", ".join(f"{k} {n:,} ({n / len(problem.rows):.1%})" for k, n in classes.items())
        console.print(f"\nClasses: {escape(shares)}", highlight=False)
        console.print(escape(str(resolved.summary)), highlight=False)
        for text in problem.notes:
            note(console, text)
        if not problem.notes:
            console.print("[green]Ready for `costboost fit`.[/green]")
    if problem.notes:
        raise typer.Exit(FOUND)

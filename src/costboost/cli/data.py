"""The command ``costboost data``: benchmark sets, and files of your own before a fit."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer
from rich.console import Console

from costboost.cli.failure import FOUND, collected_warnings
from costboost.cli.options import (
    AS_JSON,
    DELIMITER,
    ENCODING,
    FORCE,
    ProblemOptions,
    check_output,
    command,
    option,
)
from costboost.cli.show import columns_json, columns_table, escape, grid, note, print_json, wrote

if TYPE_CHECKING:
    import polars as pl

data = typer.Typer(
    name="data",
    help="Write an example file, describe or check a file, list benchmark sets.",
    no_args_is_help=True,
    add_completion=False,
)


@data.command("list")
@command
def list_sets(as_json: bool = AS_JSON) -> None:
    """List the benchmark sets that can be loaded."""
    names, from_folder = _sets()
    if as_json:
        print_json({"sets": names})
        return
    console = Console()
    console.print(f"{len(names)} benchmark sets: {', '.join(names)}", highlight=False)
    if not from_folder:
        console.print("They are downloaded from OpenML when they are used.")
    console.print("`costboost data describe NAME` says more about one.")


def _sets() -> tuple[list[str], bool]:
    """Sets of the folder of benchmark files; without one, those that OpenML has."""
    from costboost.datasets import available
    from costboost.datasets.files import OPENML

    try:
        found = list(available())
    except FileNotFoundError:
        found = []
    return found or sorted(OPENML), bool(found)


@data.command()
@command
def example(
    output: Path = option(Path("payments.csv"), "File to write.", "--output", "-o", metavar="FILE"),
    rows: int = option(8_000, "Number of payments.", min=100),
    seed: int = option(0, "Seed of the values.", min=0),
    start: datetime = option(datetime(2026, 1, 1), "The first of 90 days.", formats=["%Y-%m-%d"]),
    force: bool = FORCE,
) -> None:
    """Write synthetic card payments to try the commands on."""
    from costboost.columns import need, writer

    need("polars", "data", "Writing tables")
    check_output(output, force=force, table=True)
    with writer(output) as out:
        out.write(payments(rows, seed, start))
    wrote(Console(), output, f": {rows:,} card payments.")


def payments(rows: int, seed: int, start: datetime) -> pl.DataFrame:
    """Synthetic card payments as a shop would have them: an id, a time, words, the truth."""
    import numpy as np
    import polars as pl

    from costboost.datasets import make_fraud

    made = make_fraud(rows, random_state=seed)
    rng = np.random.default_rng(seed)
    features = dict(zip(made.feature_names, made.X.T, strict=True))
    hours, abroad = features.pop("hour").tolist(), features.pop("abroad") > 0
    days = np.sort(rng.integers(0, 90, rows)).tolist()
    when = [start + timedelta(days=d, hours=h) for d, h in zip(days, hours, strict=True)]
    home = rng.choice(["Basel", "Bern", "Zurich"], rows)
    return pl.DataFrame(
        {
            "payment_id": np.arange(1, rows + 1) + 10_000 * seed,
            "when": [f"{moment:%Y-%m-%d %H:%M}" for moment in when],
            "amount": np.round(features.pop("amount"), 2),
            **{name: np.round(column, 3) for name, column in features.items()},
            "city": np.where(abroad, "abroad", home),
            "currency": ["CHF"] * rows,
            "fraud": np.where(made.y == 1, "yes", "no"),
        }
    )


@data.command()
@command
def describe(
    name: str = typer.Argument(
        ..., metavar="NAME|FILE", help="A set of `costboost data list`, or a file."
    ),
    delimiter: str | None = DELIMITER,
    encoding: str | None = ENCODING,
    as_json: bool = AS_JSON,
) -> None:
    """Say what a benchmark set or the columns of a file hold."""
    from costboost.columns import open_source
    from costboost.columns.columns import look
    from costboost.columns.raw import as_texts, open_column

    if not Path(name).exists() and name in _sets()[0]:
        _describe_set(name, as_json)
        return
    source = open_source(name, delimiter=delimiter, encoding=encoding)
    frame = source.read()
    rows: list[dict[str, Any]] = []
    for seen in look(frame).values():
        column = seen.column()
        texts = as_texts(open_column(frame[column.name]))[1]
        distinct = [text for text in texts if text is not None]
        rows.append(
            {
                "column": column.name,
                "holds": column.kind,
                "missing": column.missing,
                "distinct": len(distinct),
                "examples": distinct[:3],
                "remark": "" if column.is_used else f"left out: {column.note}",
            }
        )
    if as_json:
        print_json({"rows": frame.height, "format": source.in_words(), "columns": rows})
        return
    console = Console()
    console.print(f"{escape(name)}: {frame.height:,} rows ({source.in_words()})")
    table = grid("", ["column", "holds"], ["missing", "distinct"])
    table.add_column("examples; remarks", overflow="fold")
    for row in rows:
        table.add_row(
            escape(row["column"]), row["holds"], f"{row['missing']:,}", f"{row['distinct']:,}",
            escape(row["remark"] or ", ".join(row["examples"])),
            style="yellow" if row["remark"] else None,
        )  # fmt: skip
    console.print(table)


def _describe_set(name: str, as_json: bool) -> None:
    import numpy as np

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
    for key, value in values.items():
        text = ", ".join(f"{k} {n:,}" for k, n in value.items()) if key == "classes" else str(value)
        Console().print(f"{key}: {escape(text)}", highlight=False)


@data.command()
@command
def check(asked: ProblemOptions, as_json: bool = AS_JSON) -> None:
    """Check a file before a fit: columns, classes, costs in words."""
    # The exit code is 3 if there are notes.
    import numpy as np

    from costboost.cli.problem import leaks
    from costboost.costs.forms import columns_of

    problem = asked.read()
    with collected_warnings() as remarks:
        costs = str(problem.costs("costboost data check").summary)
    notes, n = [*problem.notes, *leaks(problem), *remarks], len(problem.rows)
    labels, counts = np.unique(problem.rows.y, return_counts=True)
    classes = dict(zip(map(str, labels), counts.tolist(), strict=True))
    if as_json:
        print_json(
            {
                "rows": n,
                "classes": classes,
                "columns": columns_json(problem.columns),
                "costs": costs,
                "notes": notes,
            }
        )
    else:
        console = Console()
        console.print(f"{escape(asked.table)}: {n:,} rows ({problem.source.in_words()})")
        console.print(columns_table(problem.columns, columns_of(problem.cost_matrix)))
        shares = ", ".join(f"{k} {count:,} ({count / n:.1%})" for k, count in classes.items())
        console.print(f"\nClasses: {escape(shares)}", highlight=False)
        console.print(escape(costs), highlight=False)
        note(console, *notes)
        if not notes:
            console.print("[green]Ready for `costboost fit`.[/green]")
    if notes:
        raise typer.Exit(FOUND)

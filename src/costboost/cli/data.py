"""The command ``costboost data``: an example file, and files of your own before a fit."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console

from costboost.cli.failure import FOUND, collected_warnings
from costboost.cli.options import AS_JSON, FORCE, ProblemOptions, check_output, command, option
from costboost.cli.show import columns_json, columns_table, escape, note, print_json, wrote

if TYPE_CHECKING:
    import polars as pl

data = typer.Typer(
    name="data",
    help="Write an example file, or check a file before a fit.",
    no_args_is_help=True,
    add_completion=False,
)


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
    with writer(output) as write:
        write(payments(rows, seed, start))
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

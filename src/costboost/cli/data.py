"""The command ``costboost data``: an example file, and files of your own before a fit."""

from __future__ import annotations

from datetime import datetime, timedelta
from pathlib import Path
from typing import TYPE_CHECKING

import typer
from rich.console import Console

from costboost.cli import show
from costboost.cli.failure import FOUND, collected_warnings
from costboost.cli.options import AS_JSON, FORCE, ProblemOptions, check_output, command, option

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

    need("polars", "cli", "Writing tables")
    check_output(output, force=force, table=True)
    with writer(output) as write:
        write(payments(rows, seed, start))
    show.wrote(Console(), output, f": {rows:,} card payments.")


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

    from costboost.cli.problem import read_problem
    from costboost.costs import read_realized_costs, summarize
    from costboost.costs.spec import columns_of
    from costboost.gbm.leakage import find_target

    problem = read_problem(asked)
    columns, form, n = problem.columns, problem.settings["cost_matrix"], len(problem)
    labels, codes, counts = np.unique(problem.y, return_inverse=True, return_counts=True)
    names = [columns.columns[j].name for j in columns.sources]
    with collected_warnings() as remarks:
        X = columns.read(problem.X)
        costs = summarize(
            read_realized_costs(
                form, y_index=codes, classes=labels, X=X, owner="costboost data check"
            )
        )
    notes = [*problem.notes, *remarks]
    finding = find_target(X.inputs, codes, columns.categorical, names)
    if finding is not None:
        notes.append(finding.warning)
    classes = dict(zip(map(str, labels), counts.tolist(), strict=True))
    if as_json:
        show.print_json(
            {
                "rows": n,
                "classes": classes,
                "columns": show.columns_json(columns),
                "costs": str(costs),
                "notes": notes,
            }
        )
    else:
        out, _ = show.consoles(as_json)
        out.print(f"{show.escape(asked.table)}: {n:,} rows ({problem.source.in_words()})")
        show.print_columns(out, columns, columns_of(form))
        shares = ", ".join(f"{k} {count:,} ({count / n:.1%})" for k, count in classes.items())
        show.say(out, f"\nClasses: {shares}", costs)
        show.note(out, *notes)
        if not notes:
            out.print("[green]Ready for `costboost fit`.[/green]")
    if notes:
        raise typer.Exit(FOUND)

"""The command ``costboost report``: one page about what a model's decisions cost."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import numpy as np
import typer
from rich.console import Console
from rich.markup import escape

from costboost.cli import arguments
from costboost.cli.failure import tells_errors

__all__ = ["report"]

MOST_SEGMENT_VALUES = 20
"""Categories with at most this many values are shown as segments by default."""
MOST_SEGMENTS = 5


@tells_errors
def report(
    model: arguments.Model,
    table: arguments.Table,
    output: Annotated[
        Path, typer.Option("--output", "-o", metavar="PAGE", help="Page to write.")
    ] = Path("report.html"),
    segment: Annotated[
        list[str] | None,
        typer.Option(
            help="Column to break the costs down by; may be repeated. By default categories "
            "with few values.",
            show_default=False,
        ),
    ] = None,
    amount: Annotated[
        str | None,
        typer.Option(
            help="Column whose deciles are shown; the first that the costs name if left out.",
            show_default=False,
        ),
    ] = None,
    time_column: Annotated[
        str | None,
        typer.Option(help="Column of times, for costs by day.", show_default=False),
    ] = None,
    nothing: Annotated[
        str | None,
        typer.Option(
            help="Decision that means doing nothing; that of the fit if left out.",
            show_default=False,
        ),
    ] = None,
    title: Annotated[str | None, typer.Option(help="Heading.", show_default=False)] = None,
    unit: Annotated[str, typer.Option(help="Sign of the currency, such as €.")] = "",
    delimiter: arguments.Delimiter = None,
    encoding: arguments.Encoding = None,
    as_json: arguments.AsJson = False,
) -> None:
    """Write a page about what the decisions cost on rows the model was not trained on."""
    # The file must have the target: use the rows of `costboost fit --save-test FILE`.
    from costboost.cli.evaluation import (
        evaluation_case,
        idle_decision,
        money_rules,
        rules_as_json,
    )
    from costboost.cli.models import load_model
    from costboost.cli.problem import read_rows
    from costboost.cli.show import money_table, print_json
    from costboost.columns import TableError, check_output, need, open_source, unknown_column
    from costboost.report import report_data, write_report

    need("plotly", "report", "costboost report")
    check_output(output, kinds=False)
    fitted, recipe = load_model(model)
    if not hasattr(fitted, "predict_proba"):
        raise TableError(
            f"{type(fitted).__name__} has no probabilities, which the report needs. Use CostBoost."
        )
    source = open_source(table, delimiter=delimiter, encoding=encoding)
    frame = source.read()
    rows = read_rows(frame, recipe, source.name)
    moments = None
    if time_column is not None:
        moments = recipe.moments(frame, time_column, source.name).to_numpy()
        if moments.dtype.kind != "M":
            raise TableError(f"--time-column {time_column!r} must hold dates, not numbers.")
    elif rows.time is not None and rows.time.dtype.kind == "M":
        moments = rows.time
    columns = {}
    for name in segment or ():
        if name not in frame.columns:
            raise unknown_column(name, frame.columns, "--segment", source.name)
        columns[name] = np.asarray(frame[name].cast(_string()).fill_null("missing").to_list())
    if amount is not None and amount not in rows.X.columns:
        raise unknown_column(amount, rows.X.columns, "--amount", source.name)
    console = Console(stderr=as_json, quiet=as_json)
    with console.status("Computing the report"):
        case = evaluation_case(
            fitted, rows, recipe.positive, time=moments,
            amount=amount or _amount(fitted, rows.X), segments=columns or _segments(rows.X),
            nothing=idle_decision(fitted, nothing or recipe.nothing),
            title=title or f"Cost report: {recipe.target}", unit=unit,
        )  # fmt: skip
        page = write_report(report_data(case), output)
    rules, unit_of_rows = money_rules(fitted, case)
    if as_json:
        print_json({"page": str(page), "rows": len(rows), "ways_to_decide": rules_as_json(rules)})
        return
    console.print(money_table(rules, len(rows), unit_of_rows))
    size = page.stat().st_size / 1e6
    console.print(
        f"\nWrote [bold]{escape(str(page))}[/bold] ({size:.1f} MB). Open it in a browser."
    )


def _string() -> Any:
    import polars as pl

    return pl.String


def _segments(X: Any) -> list[str]:
    """Categories with few values."""
    few = [
        name
        for name in X.columns
        if str(X[name].dtype) == "category" and X[name].nunique() <= MOST_SEGMENT_VALUES
    ]
    return few[:MOST_SEGMENTS]


def _amount(model: Any, X: Any) -> str | None:
    """The first column of numbers that the costs name."""
    from costboost.costs.forms import columns_of

    return next((name for name in columns_of(model.cost_matrix) if X[name].dtype.kind == "f"), None)

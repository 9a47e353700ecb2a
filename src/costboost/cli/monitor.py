"""The command ``costboost monitor``: whether new rows are still those the model knows."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from costboost.cli import arguments
from costboost.cli.failure import FOUND, tells_errors

__all__ = ["monitor"]


@tells_errors
def monitor(
    model: arguments.Model,
    table: arguments.Table,
    reference: Annotated[
        str,
        typer.Option(
            metavar="FILE",
            help="Rows to compare with, on which the model was not trained: those of `costboost "
            "fit --save-test FILE`.",
            show_default=False,
        ),
    ],
    false_alarm_rate: Annotated[
        float,
        typer.Option(help="Chance of any alarm if nothing has changed."),
    ] = 0.01,
    plot: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Picture to write, .png or .svg.", show_default=False),
    ] = None,
    delimiter: arguments.Delimiter = None,
    encoding: arguments.Encoding = None,
    as_json: arguments.AsJson = False,
) -> None:
    """Compare new rows with a reference: what they will cost, and what has changed."""
    # The target may be missing from the new rows. The exit code is 3 if there is an alarm.
    from costboost.cli.models import load_model
    from costboost.cli.show import print_json
    from costboost.columns import TableError, check_output, need
    from costboost.monitor import Monitor

    if plot is not None:
        need("matplotlib", "plots", "--plot")
        check_output(plot, kinds=False)
    fitted, recipe = load_model(model)
    if not hasattr(fitted, "predict_proba"):
        raise TableError(
            f"{type(fitted).__name__} has no probabilities, so the cost of new rows cannot be "
            "predicted. Use CostBoost."
        )
    old = _snapshot(fitted, recipe, reference, delimiter, encoding)
    new = _snapshot(fitted, recipe, table, delimiter, encoding)
    found = Monitor(old, false_alarm_rate=false_alarm_rate).check(new)
    if plot is not None:
        _draw(found, plot)
    if as_json:
        print_json(found.to_dict())
    else:
        _show(Console(), found, plot)
    if found.alarms:
        raise typer.Exit(FOUND)


def _snapshot(
    model: Any, recipe: Any, table: str, delimiter: str | None, encoding: str | None
) -> Any:
    from costboost.cli.evaluation import decision_costs
    from costboost.columns import open_source, without_label
    from costboost.monitor import snapshot

    source = open_source(table, delimiter=delimiter, encoding=encoding)
    frame = source.read()
    truth = None
    if recipe.target in frame.columns and not without_label(frame[recipe.target]).any():
        truth = recipe.truth(frame, source.name)
    X = recipe.features(frame, source.name)
    places = {label: code for code, label in enumerate(model.decisions_.tolist())}
    return snapshot(
        X.drop(columns=recipe.date_parts),  # dates change by themselves
        model.predict_proba(X),
        decision_costs(model, X),
        truth,
        codes=[places[label] for label in model.predict(X).tolist()],
        classes=model.classes_,
        decisions=model.decisions_,
    )


def _draw(found: Any, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    from costboost.plots import MonitorDisplay

    figure: Any = MonitorDisplay.from_report(found).plot().figure_
    figure.savefig(path, bbox_inches="tight")


def _show(console: Console, found: Any, plot: Path | None) -> None:
    console.print(
        f"{found.n:,} new rows. Expected cost per row: [bold]{found.expected_cost:.4g}[/bold] "
        f"({found.confidence:.0%} interval: {found.low:.4g} to {found.high:.4g}); "
        f"in the reference {found.reference_cost:.4g}.",
        highlight=False,
    )
    if found.realised_cost is not None:
        console.print(f"Cost per row with the known truth: [bold]{found.realised_cost:.4g}[/bold].")
    table = Table(title="Checks", title_justify="left", show_edge=False, pad_edge=False)
    table.add_column("what", overflow="fold")
    for heading in ("reference", "new", "p-value"):
        table.add_column(heading, justify="right")
    table.add_column("")
    alarms = [check for check in found.checks if check.alarm]
    quiet = sorted((c for c in found.checks if not c.alarm), key=lambda check: check.adjusted)
    for check in [*alarms, *quiet[: max(0, 12 - len(alarms))]]:
        table.add_row(
            escape(check.name), f"{check.reference:.4g}", f"{check.new:.4g}",
            f"{check.adjusted:.2g}", "ALARM" if check.alarm else "",
            style="bold red" if check.alarm else None,
        )  # fmt: skip
    console.print(table)
    hidden = len(found.checks) - min(len(found.checks), max(12, len(alarms)))
    if hidden:
        console.print(f"... and {hidden} more without an alarm.")
    if found.alarms:
        word = "alarm" if len(found.alarms) == 1 else "alarms"
        console.print(
            f"[bold red]{len(found.alarms)} {word}[/bold red]. Look at these columns; if the "
            "change is real, train again with newer rows."
        )
    else:
        console.print(f"[green]No alarm[/green] in {len(found.checks)} checks.")
    if plot is not None:
        console.print(f"Wrote [bold]{escape(str(plot))}[/bold].")

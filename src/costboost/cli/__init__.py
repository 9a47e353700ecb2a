"""The command line: one file per command, loaded when the command is run.

`COMMANDS` is the whole list. A row names a command, the function that runs it and its line in
``costboost --help``; the help page is printed without loading any of them.
"""

from __future__ import annotations

from typing import Annotated

import typer

from costboost.cli.lazy import Command, LazyGroup

__all__ = ["COMMANDS", "app", "main"]

COMMANDS = (
    Command(
        "fit",
        "costboost.cli.fit:fit",
        "Train a model on a file, and show what its decisions cost on held-out rows.",
    ),
    Command(
        "predict",
        "costboost.cli.predict:predict",
        "Decide the rows of a file, and write the decisions beside them.",
    ),
    Command(
        "compare",
        "costboost.cli.compare:compare",
        "Compare ways to decide on a file, by cross-validation, in money.",
    ),
    Command(
        "tune",
        "costboost.cli.tune:tune",
        "Search for the settings that cost least; measure them on rows the search has not seen.",
    ),
    Command(
        "explain",
        "costboost.cli.explain:explain",
        "Explain the decision of a row: what each feature adds to the saving, in money.",
    ),
    Command(
        "report",
        "costboost.cli.report:report",
        "Write a page about what the decisions cost on rows the model was not trained on.",
    ),
    Command(
        "monitor",
        "costboost.cli.monitor:monitor",
        "Compare new rows with a reference: what they will cost, and what has changed.",
    ),
    Command(
        "inspect",
        "costboost.cli.inspect:inspect",
        "Show what is inside a model file, after checking that it is intact.",
    ),
    Command(
        "serve",
        "costboost.cli.serve:serve",
        "Answer HTTP requests with the decisions of a model.",
    ),
    Command(
        "data",
        "costboost.cli.data:data",
        "Write an example file, describe or check a file, list benchmark sets.",
    ),
    Command(
        "demo",
        "costboost.cli.demo:demo",
        "Compare costboost with the usual alternatives, in money, on built-in data.",
    ),
    Command(
        "reproduce",
        "costboost.cli.reproduce:reproduce",
        "Run a paper's table or figure again, and print our figures beside the paper's.",
    ),
)


class _Commands(LazyGroup):
    """The commands of ``costboost``."""

    table = COMMANDS


app = typer.Typer(
    name="costboost",
    cls=_Commands,
    help="Boosted classifiers whose decisions cost as little as possible.",
    no_args_is_help=True,
    add_completion=False,
)


def main() -> None:
    """Entry point of the ``costboost`` command."""
    app(prog_name="costboost")


def _print_version(wanted: bool) -> None:
    if wanted:
        from costboost import __version__

        typer.echo(f"costboost {__version__}")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_print_version, is_eager=True, help="Print the version."
        ),
    ] = False,
) -> None:
    """Boosted classifiers whose decisions cost as little as possible."""

"""The command line; a command is loaded when it is run.

`COMMANDS` is the whole list. A row names a command, the function that runs it and its line in
``costboost --help``; the help page is printed without loading any of them.
"""

from __future__ import annotations

from importlib import import_module
from typing import Any, NamedTuple

import typer
from typer.core import TyperCommand, TyperGroup

__all__ = ["COMMANDS", "app", "main"]


class Command(NamedTuple):
    """A row of `COMMANDS`."""

    name: str
    module: str
    help: str

    def load(self) -> Any:
        """Import the function of the same name, and make a command of it."""
        found = getattr(import_module(f"costboost.cli.{self.module}"), self.name)
        if isinstance(found, typer.Typer):
            return typer.main.get_command(found)
        alone = typer.Typer(add_completion=False)
        alone.command(self.name)(found)
        return typer.main.get_command(alone)


COMMANDS = (
    Command(
        "fit", "fit", "Train a model on a file, and show what its decisions cost on held-out rows."
    ),
    Command(
        "predict", "predict", "Decide the rows of a file, and write the decisions beside them."
    ),
    Command(
        "compare", "compare", "Compare ways to decide on a file, by cross-validation, in money."
    ),
    Command(
        "tune",
        "tune",
        "Search for the settings that cost least; measure them on rows the search has not seen.",
    ),
    Command(
        "explain",
        "predict",
        "Explain the decision of a row: what each feature adds to the saving, in money.",
    ),
    Command(
        "report",
        "report",
        "Write a page about what the decisions cost on rows the model was not trained on.",
    ),
    Command(
        "monitor",
        "report",
        "Compare new rows with a reference: what they will cost, and what has changed.",
    ),
    Command(
        "inspect", "report", "Show what is inside a model file, after checking that it is intact."
    ),
    Command("serve", "serve", "Answer HTTP requests with the decisions of a model."),
    Command(
        "data", "data", "Write an example file, describe or check a file, list benchmark sets."
    ),
    Command(
        "demo",
        "compare",
        "Compare costboost with the usual alternatives, in money, on built-in data.",
    ),
    Command(
        "reproduce",
        "reproduce",
        "Run a paper's table or figure again, and print our figures beside the paper's.",
    ),
)


class _Commands(TyperGroup):
    """A group that knows its commands by name and help, and loads the one that is run."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for row in COMMANDS:
            self.add_command(TyperCommand(row.name, callback=None, help=row.help))

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[Any, Any, list[str]]:
        """The command to run, loaded; an unknown name is an error that suggests a known one."""
        name, listed, rest = super().resolve_command(ctx, args)
        rows = {row.name: row for row in COMMANDS}
        return name, rows[name].load() if name in rows else listed, rest


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
def _options(
    version: bool = typer.Option(
        False, "--version", callback=_print_version, is_eager=True, help="Print the version."
    ),
) -> None:
    """Boosted classifiers whose decisions cost as little as possible."""

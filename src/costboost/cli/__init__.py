"""The command line; a command is loaded when it is run.

`COMMANDS` is the whole list, with the lines of ``costboost --help``: that page is printed without
loading any of them.
"""

from __future__ import annotations

import signal
import sys
from importlib import import_module
from typing import Any

import typer
from typer.core import TyperCommand, TyperGroup

__all__ = ["COMMANDS", "app", "load", "main"]


COMMANDS = {
    "fit": "Train a model on a file, and show what its decisions cost on held-out rows.",
    "predict": "Decide the rows of a file, and write the decisions beside them.",
    "compare": "Compare ways to decide on a file, by cross-validation, in money.",
    "explain": "Explain the decision of a row: what each feature adds to the saving, in money.",
    "report": "Write a page about what the decisions cost on rows the model was not trained on.",
    "monitor": "Put what new rows cost beside what rows of a reference cost.",
    "inspect": "Show what is inside a model file, after checking that it is intact.",
    "serve": "Answer HTTP requests with the decisions of a model.",
    "data": "Write an example file, or check a file before a fit.",
    "demo": "Compare costboost with the usual alternatives, in money, on built-in data.",
}
MODULES = {
    "monitor": "costboost.cli.report",
}
"""Where a command is, if not in the module of its name."""


def load(name: str) -> Any:
    """Import a command."""
    found = getattr(import_module(MODULES.get(name, f"costboost.cli.{name}")), name)
    if not isinstance(found, typer.Typer):
        alone = typer.Typer(add_completion=False)
        alone.command(name)(found)
        found = alone
    return typer.main.get_command(found)


class _Commands(TyperGroup):
    """A group that knows its commands by name and help, and loads the one that is run."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__(**attributes)
        for name, text in COMMANDS.items():
            self.add_command(TyperCommand(name, callback=None, help=text))

    def resolve_command(self, ctx: Any, args: list[str]) -> tuple[Any, Any, list[str]]:
        """The command to run, loaded; an unknown name is an error that suggests a known one."""
        name, listed, rest = super().resolve_command(ctx, args)
        return name, load(name) if name in COMMANDS else listed, rest


app = typer.Typer(
    name="costboost",
    cls=_Commands,
    help="Boosted classifiers whose decisions cost as little as possible.",
    no_args_is_help=True,
    add_completion=False,
)


def main() -> None:
    """Entry point of the ``costboost`` command."""
    # A command that is stopped cleans up behind itself: no half-written file stays.
    for name in ("SIGTERM", "SIGHUP"):
        number = getattr(signal, name, None)
        if number is not None and signal.getsignal(number) is signal.SIG_DFL:
            signal.signal(number, lambda number, _: sys.exit(128 + number))
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

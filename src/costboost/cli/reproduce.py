"""The command ``costboost reproduce``."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape

__all__ = ["reproduce"]


def reproduce(
    paper: Annotated[
        str | None, typer.Argument(metavar="PAPER", help="A paper of --list.", show_default=False)
    ] = None,
    item: Annotated[
        str | None,
        typer.Argument(
            metavar="ITEM", help="A table or figure; all if left out.", show_default=False
        ),
    ] = None,
    quick: Annotated[bool, typer.Option("--quick", help="Fewer splits and rounds.")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Every item of every paper.")] = False,
    listing: Annotated[bool, typer.Option("--list", help="Show what can be run.")] = False,
    pages: Annotated[
        bool,
        typer.Option(
            "--pages", help="Write the pages from the results, or from the kept summaries."
        ),
    ] = False,
    output: Annotated[Path, typer.Option(help="Results folder; a stopped run continues.")] = Path(
        "costboost-results"
    ),
    jobs: Annotated[int, typer.Option(help="Processes; -1 is one per core.")] = -1,
    data: Annotated[
        Path | None,
        typer.Option(
            help="Folder with the benchmark files.",
            exists=True,
            file_okay=False,
            show_default=False,
        ),
    ] = None,
    docs: Annotated[Path, typer.Option(help="Folder of the pages.")] = Path("docs/papers"),
) -> None:
    """Run a paper's table or figure again, and print our figures beside the paper's."""
    console = Console()
    try:
        from costboost_papers import command
        from costboost_papers.run import CannotRunError
    except ModuleNotFoundError as error:
        console.print(
            f"[red]costboost reproduce needs {error.name}, which is not installed: "
            'pip install "costboost\\[experiments]".[/red]'
        )
        raise typer.Exit(2) from error
    try:
        if listing:
            command.show_items(console)
            return
        command.check_extras()
        chosen = command.choose(paper, item, everything)
    except (ImportError, ValueError) as error:
        console.print(f"[red]{escape(str(error))}[/red]")
        raise typer.Exit(2) from error
    if not chosen and not pages:
        console.print(
            "[red]Name a PAPER (and an ITEM), or use --all, --list or --pages; "
            "`costboost reproduce --help` explains them.[/red]"
        )
        raise typer.Exit(2)
    if data is not None:
        from costboost.datasets.files import ENVIRONMENT_VARIABLE

        os.environ[ENVIRONMENT_VARIABLE] = str(data.resolve())
    mode: Any = "quick" if quick else "full"
    try:
        failed = command.run_and_show(console, chosen, mode, output, jobs)
        if pages:
            command.write_pages(console, docs, output, mode)
    except (CannotRunError, OSError) as error:
        console.print(f"[red]{escape(str(error))}[/red]")
        raise typer.Exit(1) from error
    if failed:
        raise typer.Exit(1)

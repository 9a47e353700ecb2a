"""The options of ``costboost reproduce``; what it does is in `costboost_papers.command`."""

from __future__ import annotations

import os
import sys
from importlib.util import find_spec
from pathlib import Path

import typer
from rich.console import Console

from costboost.cli.options import command, option
from costboost.cli.show import escape

# What the papers' modules import of the extra.
_EXTRAS = ("pandas", "matplotlib", *(f"matplotlib.{part}" for part in (
    "axes", "figure", "lines", "patches", "text",
)))  # fmt: skip


@command
def reproduce(
    paper: str | None = typer.Argument(None, metavar="PAPER", help="A paper of --list."),
    item: str | None = typer.Argument(
        None, metavar="ITEM", help="A table or figure; all if left out."
    ),
    quick: bool = option(False, "Fewer splits and rounds."),
    datasets: list[str] = option([], "Only this data set; may be repeated."),
    algorithms: list[str] = option([], "Only this method; may be repeated."),
    splits: int | None = option(None, "At most so many splits.", min=1),
    rounds: int | None = option(None, "Rounds of boosting, in place of the paper's.", min=1),
    estimator: str | None = option(None, "Only these trees, for instance c45."),
    seed: int = option(0, "Other splits for other seeds.", min=0),
    form: str | None = option(None, "The table alone, as latex, csv or markdown.", "--format"),
    everything: bool = option(False, "Every item of every paper.", "--all"),
    listing: bool = option(False, "Show what can be run.", "--list"),
    pages: bool = option(
        False, "Write the pages from the results, or from the kept summaries.", "--pages"
    ),
    output: Path = option(Path("costboost-results"), "Results folder; a stopped run continues."),
    fresh: bool = option(False, "Do not start from the rows kept beside the pages."),
    jobs: int = option(-1, "Processes; -1 is one per core."),
    data: Path | None = option(
        None, "Folder with the benchmark files.", exists=True, file_okay=False
    ),
    docs: Path = option(Path("docs/papers"), "Folder of the pages and of the rows kept there."),
) -> None:
    """Run a paper's table or figure again, and print our figures beside the paper's."""
    console = Console()
    if listing:  # tables and figures are imported and not used: the list needs nothing but us
        from unittest.mock import MagicMock

        missing = [name for name in _EXTRAS if find_spec(name.partition(".")[0]) is None]
        sys.modules.update({name: MagicMock(name=name) for name in missing})
    try:
        import matplotlib
        import pandas  # noqa: F401 (named by the message where it is missing)

        from costboost_papers import command as papers
        from costboost_papers.item import Options
    except ModuleNotFoundError as error:
        raise ImportError(
            f"costboost reproduce needs {error.name}, which is not installed: "
            'pip install "costboost[experiments]".'
        ) from error
    if listing:
        papers.show_items(console)
        return
    matplotlib.use("Agg")  # pictures go to files
    chosen = papers.choose(paper, item, everything)
    if not chosen and not pages:
        raise ValueError(
            "Name a PAPER (and an ITEM), or use --all, --list or --pages; "
            "`costboost reproduce --help` explains them."
        )
    if data is not None:
        from costboost.datasets.files import ENVIRONMENT_VARIABLE

        os.environ[ENVIRONMENT_VARIABLE] = str(data.resolve())
    options = Options(
        mode="quick" if quick else "full",
        datasets=tuple(datasets),
        algorithms=tuple(algorithms),
        splits=splits,
        rounds=rounds,
        estimator=estimator,
        seed=seed,
    )
    try:
        failed = papers.run_and_show(
            console, chosen, options, output, jobs, form, None if fresh else docs
        )
        if pages:
            papers.write_pages(console, docs, output, options)
    except OSError as error:
        console.print(f"[red]{escape(str(error))}[/red]")
        raise typer.Exit(1) from error
    if failed:
        raise typer.Exit(1)

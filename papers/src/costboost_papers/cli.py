"""The command ``costboost-papers``; what it does is in `costboost_papers.command`."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import matplotlib
import typer
from rich.console import Console
from rich.markup import escape
from typer.core import TyperGroup

from costboost_papers import command
from costboost_papers.cite import bibtex, class_of
from costboost_papers.datasets import ENVIRONMENT_VARIABLE
from costboost_papers.item import Options


class _Commands(TyperGroup):
    """Commands whose errors are messages: 2 if they were asked for something they cannot do."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except (ValueError, OSError) as error:
            Console(stderr=True).print(f"[red]Error:[/red] {escape(str(error))}", soft_wrap=True)
            raise typer.Exit(2 if isinstance(error, ValueError) else 1) from None


app = typer.Typer(
    name="costboost-papers",
    cls=_Commands,
    help="Run tables and figures of papers again, and judge what the papers claim.",
    no_args_is_help=True,
    add_completion=False,
)

PAGES = Path("docs/papers")
RESULTS = Path("costboost-results")


def main() -> None:
    """Run the command ``costboost-papers``."""
    matplotlib.use("Agg")  # pictures go to files
    app(prog_name="costboost-papers")


@app.command("list")
def list_items() -> None:
    """List the papers, and what of them can be run."""
    command.show_items(Console())


@app.command()
def run(
    paper: str | None = typer.Argument(None, help="A paper of `costboost-papers list`."),
    item: str | None = typer.Argument(None, help="A table or figure; all if left out."),
    everything: bool = typer.Option(False, "--all", help="Every item of every paper."),
    quick: bool = typer.Option(False, "--quick", help="Fewer splits and rounds."),
    datasets: list[str] = typer.Option([], help="Only this data set; may be repeated."),
    algorithms: list[str] = typer.Option([], help="Only this method; may be repeated."),
    splits: int | None = typer.Option(None, min=1, help="At most so many splits."),
    rounds: int | None = typer.Option(None, min=1, help="Rounds, in place of the paper's."),
    estimator: str | None = typer.Option(None, help="Only these trees, for instance c45."),
    seed: int = typer.Option(0, min=0, help="Other splits for other seeds."),
    form: str | None = typer.Option(
        None, "--format", help="The table alone, as latex, csv or markdown."
    ),
    output: Path = typer.Option(RESULTS, help="Results folder; a stopped run continues."),
    fresh: bool = typer.Option(False, "--fresh", help="Do not start from the kept rows."),
    jobs: int = typer.Option(-1, help="Processes; -1 is one per core."),
    data: Path | None = typer.Option(
        None, exists=True, file_okay=False, help="Folder with the benchmark files."
    ),
    docs: Path = typer.Option(PAGES, help="Folder of the pages and of the rows kept there."),
) -> None:
    """Run a paper's table or figure again, and print our figures beside the paper's."""
    if data is not None:
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
    failed = command.run_and_show(
        Console(),
        command.choose(paper, item, everything),
        options,
        output=output,
        jobs=jobs,
        form=form,
        docs=None if fresh else docs,
    )
    if failed:
        raise typer.Exit(1)


@app.command()
def show(
    paper: str = typer.Argument(help="A paper of `costboost-papers list`."),
    item: str | None = typer.Argument(None, help="A table or figure; all if left out."),
    form: str | None = typer.Option(
        None, "--format", help="The table alone, as latex, csv or markdown."
    ),
    docs: Path = typer.Option(PAGES, help="Folder of the pages, with the kept summaries."),
) -> None:
    """Print the kept table of an item and its verdicts; nothing is computed."""
    command.show_kept(Console(), command.choose(paper, item, everything=False), docs, form)


@app.command()
def cite(algorithm: str = typer.Argument(help="A class of costboost, such as AdaC2.")) -> None:
    """Print the references of an algorithm as BibTeX."""
    typer.echo(bibtex(class_of(algorithm)))


@app.command()
def pages(
    output: Path = typer.Option(RESULTS, help="Results folder, whose rows are added."),
    docs: Path = typer.Option(PAGES, help="Folder of the pages and of the rows kept there."),
) -> None:
    """Write the pages of the papers from new and kept rows."""
    command.write_pages(Console(), docs, output)

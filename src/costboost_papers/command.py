"""What the command ``costboost reproduce`` does."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING

from rich.console import Console
from rich.markup import escape
from rich.table import Table

from costboost_papers import registry
from costboost_papers.grading import Conclusion
from costboost_papers.item import Item, Mode
from costboost_papers.registry import owner
from costboost_papers.run import Store, Tally, failures_path, progress_bar, run_item

if TYPE_CHECKING:
    import pandas as pd


def write_pages(console: Console, docs: Path, output: Path, mode: Mode) -> None:
    from costboost_papers import pages

    results = output if output.is_dir() else None
    for page in pages.write_pages(
        docs, results, mode, say=lambda line: console.print(escape(line))
    ):
        console.print(f"wrote {page}")


def check_extras() -> None:
    os.environ.setdefault("MPLBACKEND", "Agg")  # pictures go to files
    for module in ("pandas", "matplotlib"):
        try:
            import_module(module)
        except ImportError as error:
            raise ImportError(
                f"costboost reproduce needs {module}, which is not installed: "
                'pip install "costboost[experiments]".'
            ) from error


def choose(paper: str | None, item: str | None, everything: bool) -> list[Item]:
    if everything:
        if paper is not None:
            raise ValueError(
                f"--all runs every paper; got the PAPER {paper!r} as well. Leave one of them out."
            )
        return registry.items()
    if paper is None:
        return []
    return registry.items(paper) if item is None else [registry.find(paper, item)]


def show_items(console: Console) -> None:
    table = Table(caption="Minutes: rough, of a full run on two cores.", caption_justify="left")
    for heading in ("paper", "item", "title"):
        table.add_column(heading, no_wrap=heading != "title")
    for heading in ("tasks", "quick", "minutes"):
        table.add_column(heading, justify="right")
    for item in registry.items():
        own = owner(item) is item
        counts = [str(len(item.tasks(mode))) for mode in ("full", "quick")]
        rest = [*counts, f"{item.minutes:g}"] if own else [f"of {item.shares_rows_with}", "", ""]
        table.add_row(item.paper, item.name, escape(item.title), *rest)
    console.print(table)


# --- run --------------------------------------------------------------------------------------


def run_and_show(
    console: Console, items: Sequence[Item], mode: Mode, output: Path, jobs: int
) -> bool:
    """Run the items and print what came out; returns whether a task failed."""
    if not items:
        return False
    owners = {(source.paper, source.name): source for source in map(owner, items)}
    tallies: dict[tuple[str, str], Tally] = {}
    total = sum(len(source.tasks(mode)) for source in owners.values())
    with progress_bar(total, console) as progress:
        for key, source in owners.items():
            tallies[key] = run_item(source, mode, output, n_jobs=jobs, progress=progress)
    summaries: dict[str, dict[str, pd.DataFrame]] = {}
    for item in items:
        source = owner(item)
        try:
            summary = _show(console, item, mode, output)
        except Exception as error:
            if not tallies[source.paper, source.name].failures:
                raise
            console.print(
                f"[red]{item.paper} {item.name}: no table without the failed tasks "
                f"({escape(repr(error))})[/red]"
            )
            continue
        if summary is not None:
            summaries.setdefault(item.paper, {})[item.name] = summary
    for name, found in summaries.items():
        if len(found) > 1:
            _print_verdicts(console, registry.paper(name).overall(found))
    for key, source in owners.items():
        tally = tallies[key]
        console.print(
            f"{' '.join(key)}: {tally.done} tasks done now, {tally.found} done earlier, "
            f"{len(tally.failures)} failed; {tally.seconds:.0f} s of computing"
        )
        for failure in tally.failures:
            console.print(
                f"  [red]failed[/red] {escape(failure.task.key)}: {escape(failure.error)}"
            )
        if tally.failures:
            where = failures_path(Store(output, source, mode).path)
            console.print(f"  traces in {where}; the same command tries them again")
    return any(tally.failures for tally in tallies.values())


def _print_verdicts(console: Console, conclusions: Sequence[Conclusion]) -> None:
    for found in conclusions:
        text = escape(f"{found.claim} {found.evidence} {found.why}".rstrip())
        console.print(f"[bold]{found.verdict}[/bold]: {text}")


def _show(console: Console, item: Item, mode: Mode, output: Path) -> pd.DataFrame | None:
    """Summarise one item's rows, keep summary and picture beside them, print table and verdicts."""
    from costboost_papers.pages import ordering, save_figure, summarise, tau_line, write_summary

    source = owner(item)
    rows = Store(output, source, mode).rows_of(source.tasks(mode))
    if rows.empty:
        console.print(f"[red]{item.paper} {item.name}: no task succeeded[/red]")
        return None
    folder = output / mode / "summaries"
    summary = summarise(item, rows)
    written = [write_summary(folder, item, summary)]
    figure = item.figure(summary)
    if figure is not None:
        written.append(output / mode / "figures" / f"{item.paper}-{item.name}.png")
        save_figure(figure, written[-1])
    frame = item.table(summary)
    table = Table(title=f"{item.paper} {item.name}: {escape(item.title)}", title_justify="left")
    for column in frame.columns:
        table.add_column(escape(str(column)), overflow="fold")
    for row in frame.itertuples(index=False, name=None):
        cells = [f"{value:.4g}" if isinstance(value, float) else str(value) for value in row]
        table.add_row(*map(escape, cells))
    console.print(table)
    _print_verdicts(console, item.conclusions(summary))
    taus = ordering(item, summary)
    if len(taus):
        console.print(tau_line(taus))
    console.print("wrote " + ", ".join(map(str, written)))
    console.print()
    return summary

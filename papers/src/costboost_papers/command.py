"""What the commands of ``costboost-papers`` do."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pandas as pd
from rich.console import Console
from rich.markup import escape
from rich.progress import MofNCompleteColumn, Progress, TimeElapsedColumn
from rich.table import Table

from costboost_papers import pages, registry
from costboost_papers.grading import Conclusion
from costboost_papers.item import Item, Options, mean_and_error, plus_minus
from costboost_papers.registry import owner
from costboost_papers.run import OnProgress, Store, failures_path, run_item

# Columns that say what a row is; they are repeated where a table is cut to the console's width.
LABELS = ("data set", "tree", "source", "algorithm", "method", "setting", "tested on", "rounds")


def write_pages(console: Console, docs: Path, output: Path) -> None:
    """Write the pages, and print which."""
    for page in pages.write_pages(docs, output, say=lambda line: console.print(escape(line))):
        console.print(f"wrote {page}")


def choose(paper: str | None, item: str | None, everything: bool) -> list[Item]:
    """Return the items that are asked for."""
    if everything and paper is not None:
        raise ValueError(
            f"--all runs every paper; got the PAPER {paper!r} as well. Leave one of them out."
        )
    if everything:
        return registry.items()
    if paper is None:
        raise ValueError("Name a PAPER (and an ITEM), or use --all; `list` shows what there is.")
    return registry.items(paper) if item is None else [registry.find(paper, item)]


def show_items(console: Console) -> None:
    """Print papers and items with their numbers of tasks."""
    table = Table(caption="Minutes: rough, of a full run on two cores.", caption_justify="left")
    table.add_column("paper and item", no_wrap=True)
    table.add_column("title")
    for heading in ("tasks", "quick", "minutes"):
        table.add_column(heading, justify="right")
    for paper in registry.PAPERS:
        table.add_section()
        table.add_row(f"[bold]{paper.name}[/bold]")
        for item in paper.items():
            rest = [f"of {item.shares_rows_with}", "", ""]
            if item.shares_rows_with is None:
                counts = [str(len(item.tasks(mode))) for mode in ("full", "quick")]
                rest = [*counts, f"{item.minutes:g}"]
            table.add_row(f"  {item.name}", escape(item.title), *rest)
    console.print(table)


# --- run --------------------------------------------------------------------------------------


@contextmanager
def progress_bar(total: int, console: Console) -> Iterator[OnProgress]:
    """A bar with the tasks done, the time passed and the time left."""
    columns = (*Progress.get_default_columns(), MofNCompleteColumn(), TimeElapsedColumn())
    with Progress(*columns, console=console, transient=True) as bar:
        task = bar.add_task("", total=total)
        yield lambda finished, name: bar.update(task, advance=finished, description=name)


def run_and_show(
    console: Console,
    items: Sequence[Item],
    options: Options,
    output: Path,
    jobs: int,
    form: str | None = None,
    docs: Path | None = None,
) -> bool:
    """Run the items and print what came out; returns whether a task failed."""
    _check_form(form)
    sources = list(dict.fromkeys(map(owner, items)))
    total = sum(len(source.planned(options)) for source in sources)
    with progress_bar(total, console) as progress:
        tallies = {
            source: run_item(source, options, output, docs=docs, n_jobs=jobs, progress=progress)
            for source in sources
        }
    summaries: dict[str, dict[str, pd.DataFrame]] = {}
    for item in items:
        try:
            summary = _show(console, item, options, output, form, docs)
        except Exception as error:
            if not tallies[owner(item)].failures:
                raise
            console.print(
                f"[red]{item.paper} {item.name}: no table without the failed tasks "
                f"({escape(repr(error))})[/red]"
            )
            continue
        if summary is not None:
            summaries.setdefault(item.paper, {})[item.name] = summary
    for name, found in summaries.items():
        if form is None and len(found) > 1:
            _print_verdicts(console, registry.paper(name).overall(found))
    for source, tally in tallies.items():
        if form is None or tally.failures:
            console.print(
                f"{source.paper} {source.name}: {tally.done} tasks done now, "
                f"{tally.found} done earlier, {len(tally.failures)} failed; "
                f"{tally.seconds:.0f} s of computing"
            )
        for failure in tally.failures:
            console.print(
                f"  [red]failed[/red] {escape(failure.task.key)}: {escape(failure.error)}"
            )
        if tally.failures:
            where = failures_path(Store(output, source, options).path)
            console.print(f"  traces in {where}; the same command tries them again")
    return any(tally.failures for tally in tallies.values())


def _print_verdicts(console: Console, conclusions: Sequence[Conclusion]) -> None:
    for found in conclusions:
        whose = "" if found.own else " (a question of ours)"
        text = escape(f"{found.claim}{whose} {found.evidence} {found.why}".rstrip())
        console.print(f"[bold]{found.verdict}[/bold]: {text}")


def _show(
    console: Console,
    item: Item,
    options: Options,
    output: Path,
    form: str | None,
    docs: Path | None,
) -> pd.DataFrame | None:
    """Print table and verdicts of an item; returns the summary, if the whole plan was run."""
    source, item = owner(item), item.with_rounds(options.rounds)
    rows = Store(output, source, options, docs).rows_of(source.planned(options))
    if rows.empty:
        console.print(f"[red]{item.paper} {item.name}: no task succeeded[/red]")
        return None
    summary = pages.summarise(item, rows) if options.whole else None
    frame = plain_table(item, rows) if summary is None else item.table(summary)
    _print_table(console, item, frame, form)
    if form is not None:
        return summary
    if summary is None:
        console.print("No verdicts: they need all data sets and methods of the item.\n")
        return None
    folder = output / options.folder
    written = [pages.write_summary(folder / "summaries", item, summary)]
    figure = item.figure(summary)
    if figure is not None:
        drawn = folder / "figures" / f"{item.paper}-{item.name}"
        written += [drawn.with_suffix(".png"), drawn.with_suffix(".pdf")]
        pages.save_figure(figure, *written[1:])
    _print_judgement(console, item, summary)
    console.print(f"wrote {', '.join(map(str, written))}\n")
    return summary


def show_kept(console: Console, items: Sequence[Item], docs: Path, form: str | None) -> None:
    """Print tables and verdicts from the summaries that are kept beside the pages."""
    _check_form(form)
    for item in items:
        summary = pages.read_summary(docs / "summaries", item)
        if summary is None:
            raise ValueError(
                f"No figures of {item.paper} {item.name} are kept in {docs}. Compute them: "
                f"costboost-papers run {item.paper} {item.name}."
            )
        _print_table(console, item, item.table(summary), form)
        if form is None:
            _print_judgement(console, item, summary)


def _check_form(form: str | None) -> None:
    if form not in (None, *WRITERS):
        raise ValueError(f"--format must be one of {', '.join(WRITERS)}; got {form!r}.")


def _print_table(console: Console, item: Item, frame: pd.DataFrame, form: str | None) -> None:
    if form is not None:
        console.print(WRITERS[form](frame), markup=False, highlight=False, soft_wrap=True)
        return
    for block in console_blocks(frame, console.width):
        table = Table(title=f"{item.paper} {item.name}: {escape(item.title)}", title_justify="left")
        for column in block.columns:
            table.add_column(escape(str(column)), overflow="fold")
        for row in block.itertuples(index=False, name=None):
            table.add_row(*map(escape, map(_text, row)))
        console.print(table)


def _print_judgement(console: Console, item: Item, summary: pd.DataFrame) -> None:
    _print_verdicts(console, item.conclusions(summary))
    taus = pages.ordering(item, summary)
    if len(taus):
        console.print(pages.tau_line(taus))


def _text(value: object) -> str:
    return f"{value:.4g}" if isinstance(value, float) else str(value)


def plain_table(item: Item, rows: pd.DataFrame) -> pd.DataFrame:
    """Mean and standard error of the item's main metric, for parts of a plan."""
    metrics = [name for name in rows["metric"].unique() if "@" not in name and ": " not in name]
    metrics = metrics or [str(rows["metric"].iloc[0])]
    shown = item.tau_metric if item.tau_metric in metrics else metrics[0]
    keys = ["dataset", "setting", "algorithm"]
    found = mean_and_error(rows, [str(shown)])
    wide = found.pivot(index=keys, columns="statistic", values="value").reset_index()
    values = [plus_minus(m, e, 2) for m, e in zip(wide["mean"], wide["se"], strict=True)]
    named = wide[keys].rename(columns={"dataset": "data set"})
    n = rows["split"].nunique()
    table: pd.DataFrame = named.assign(**{f"{shown} ({n} split{'s' * (n > 1)})": values})
    return table


def console_blocks(frame: pd.DataFrame, width: int) -> Iterator[pd.DataFrame]:
    """The table in pieces that fit the console, each with the columns that name the rows."""
    sizes = {name: 3 + max(map(len, map(_text, [name, *frame[name]]))) for name in frame.columns}
    labels = [name for name in frame.columns if name in LABELS] or list(frame.columns[:1])
    piece: list[Any] = []
    for name in frame.columns.drop(labels):
        if piece and sum(sizes[part] for part in (*labels, *piece, name)) + 1 > width:
            yield frame[[*labels, *piece]]
            piece = []
        piece.append(name)
    yield frame[[*labels, *piece]]


def latex_table(frame: pd.DataFrame) -> str:
    """A tabular for the package booktabs; † marks what is not told from the best."""
    signs = {
        "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "_": r"\_", "#": r"\#", "±": r"$\pm$",
        "†": r"$^\dagger$", "ε": r"$\varepsilon$", "α": r"$\alpha$", "τ": r"$\tau$",
        "Ĉ": r"$\hat C$", "√": r"$\surd$", "·": r"$\cdot$", "≥": r"$\ge$",
    }  # fmt: skip
    rows: list[Any] = [frame.columns, *frame.itertuples(index=False, name=None)]
    table = str.maketrans(signs)
    head, *body = (
        " & ".join(_text(cell).translate(table) for cell in row) + r" \\" for row in rows
    )
    begin = rf"\begin{{tabular}}{{{'l' * frame.shape[1]}}}"
    rules = (r"\toprule", r"\midrule", r"\bottomrule")
    return "\n".join([begin, rules[0], head, rules[1], *body, rules[2], r"\end{tabular}"])


WRITERS: dict[str, Callable[[pd.DataFrame], str]] = {
    "latex": latex_table,
    "csv": lambda frame: frame.to_csv(index=False).rstrip(),
    "markdown": pages.markdown_table,
}

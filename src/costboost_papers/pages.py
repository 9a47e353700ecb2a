"""The generated pages: a page per paper with ours beside the printed, and an index."""

from __future__ import annotations

import inspect
import io
import math
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from scipy.stats import kendalltau

from costboost_papers import coverage, grading, registry
from costboost_papers.grading import Conclusion
from costboost_papers.item import SUMMARY_COLUMNS, Item, Mode, Options
from costboost_papers.run import Store, checksum

if TYPE_CHECKING:
    from matplotlib.figure import Figure


# --- summary -------------------------------------------------------------------------------------

_DIGITS = 6
_RUNS = "runs.csv"


@dataclass(frozen=True)
class Run:
    """How the rows of an item came about."""

    paper: str
    item: str
    mode: Mode
    tasks: int  # done
    planned: int
    seconds: float  # computing, summed over processes
    versions: str
    commit: str  # of the source that ran; empty if it was not recorded
    data: str = ""  # checksums of the benchmark files


def summarise(item: Item, rows: pd.DataFrame) -> pd.DataFrame:
    """The item's compact table, its values rounded to 6 digits."""
    summary = item.summarise(rows)
    values = [_rounded(value) for value in summary["value"]]
    return summary[SUMMARY_COLUMNS].assign(value=values).reset_index(drop=True)


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}") if np.isfinite(value) else float(value)


def describe_run(item: Item, owner: Item, rows: pd.DataFrame, mode: Mode) -> Run:
    """The record of a run, from the raw rows of the item that owns them."""
    tasks = rows.drop_duplicates(["dataset", "algorithm", "setting", "split"])
    return Run(
        paper=item.paper,
        item=item.name,
        mode=mode,
        tasks=len(tasks),
        planned=len(owner.tasks(mode)),
        seconds=round(float(tasks["seconds"].sum()), 1),
        versions=" / ".join(sorted(set(tasks["versions"]))),
        commit=" / ".join(sorted(set(tasks["commit"]) - {""})),
        data=" ".join(
            f"{name}:{found}" for name in tasks["dataset"].unique() if (found := checksum(name))
        ),
    )


def summary_path(folder: Path, item: Item) -> Path:
    """Where the summary of an item is kept."""
    return folder / f"{item.paper}-{item.name}.csv"


def write_summary(folder: Path, item: Item, summary: pd.DataFrame) -> Path:
    """Keep a summary; returns where."""
    folder.mkdir(parents=True, exist_ok=True)
    path = summary_path(folder, item)
    summary.to_csv(path, index=False, lineterminator="\n", float_format=f"%.{_DIGITS}g")
    return path


def read_summary(folder: Path, item: Item) -> pd.DataFrame | None:
    """The summary that was kept, or None."""
    path = summary_path(folder, item)
    if not path.is_file():
        return None
    words = [column for column in SUMMARY_COLUMNS if column not in ("value", "n")]
    return pd.read_csv(
        path,
        dtype=dict.fromkeys(words, str),
        keep_default_na=False,
        na_values={"value": ["", "nan"]},
    )


def write_runs(folder: Path, runs: dict[tuple[str, str], Run]) -> None:
    """Keep the records of the runs, in the order of their names."""
    folder.mkdir(parents=True, exist_ok=True)
    frame = pd.DataFrame([vars(runs[key]) for key in sorted(runs)])
    frame.to_csv(folder / _RUNS, index=False, lineterminator="\n")


def read_runs(folder: Path) -> dict[tuple[str, str], Run]:
    """The records that were kept, by (paper, item)."""
    path = folder / _RUNS
    if not path.is_file():
        return {}
    frame = pd.read_csv(path, keep_default_na=False, dtype={"commit": str})
    names = [str(name) for name in frame.columns]
    lines = frame.itertuples(index=False, name=None)
    runs = [Run(**dict(zip(names, row, strict=True))) for row in lines]
    return {(run.paper, run.item): run for run in runs}


def ordering(item: Item, summary: pd.DataFrame) -> pd.DataFrame:
    """How far the algorithms stand in the paper's order: Kendall's tau."""
    # The metric is the item's ``tau_metric``, else the first printed one that the summary has too.
    columns = ["metric", "dataset", "setting", "tau", "n"]
    means = summary[summary["statistic"] == "mean"]
    printed = item.printed()
    common = [metric for metric in printed["metric"].unique() if metric in set(means["metric"])]
    metric = item.tau_metric or (common[0] if common else None)
    found = []
    if metric is not None:
        keys = ["dataset", "algorithm", "setting"]
        both = printed[printed["metric"] == metric].merge(
            means[means["metric"] == metric], on=keys, suffixes=("_printed", "_ours")
        )
        for (dataset, setting), group in both.groupby(["dataset", "setting"], sort=False):
            spread = group[["value_printed", "value_ours"]].nunique().min()
            if len(group) >= 3 and spread > 1:
                tau = kendalltau(group["value_printed"], group["value_ours"]).statistic
                found.append((metric, dataset, setting, float(tau), len(group)))
    return pd.DataFrame(found, columns=columns)


# --- pages ---------------------------------------------------------------------------------------

_LARGEST_PICTURE = 100_000  # bytes
_INDEX = "README.md"
_GENERATED = "<!-- Generated by `costboost reproduce --pages`; edits are overwritten. -->"


@dataclass(frozen=True)
class _Result:
    """All that a page says about an item."""

    item: Item
    summary: pd.DataFrame
    run: Run | None
    picture: str | None  # relative to the page
    conclusions: list[Conclusion]
    taus: pd.DataFrame


def write_pages(
    docs: Path,
    results: Path,
    mode: Mode = "full",
    papers: Sequence[registry.Paper] | None = None,
    say: Callable[[str], None] = lambda text: None,
) -> list[Path]:
    """Write the pages, and before that the rows to be kept, summaries and figures."""
    docs.mkdir(parents=True, exist_ok=True)
    runs = read_runs(docs / "summaries")
    pages = []
    index: list[tuple[registry.Paper, list[_Result], list[Conclusion]]] = []
    for paper in registry.PAPERS if papers is None else papers:
        items = paper.items()
        found = [_result(item, docs, results, mode, runs, say) for item in items]
        known = [result for result in found if result is not None]
        overall = paper.overall({result.item.name: result.summary for result in known})
        page = docs / f"{paper.name}.md"
        page.write_text(_paper_page(paper, items, known, overall), encoding="utf-8")
        pages.append(page)
        index.append((paper, known, overall))
    if runs:
        write_runs(docs / "summaries", runs)
    page = docs / "README.md"
    page.write_text(_index_page(index), encoding="utf-8")
    return [*pages, page]


def _result(
    item: Item,
    docs: Path,
    results: Path,
    mode: Mode,
    runs: dict[tuple[str, str], Run],
    say: Callable[[str], None],
) -> _Result | None:
    """The item's figures: from rows as far as there are any, else from the summary that is kept."""
    summary = read_summary(docs / "summaries", item)
    source = registry.owner(item)
    store, plan = Store(results, source, Options(mode), docs), source.tasks(mode)
    if source is item:
        store.keep(plan)
    rows = store.settled(plan, over_sets=source.over_sets)
    run = describe_run(item, source, rows, mode)
    if run.tasks:
        write_summary(docs / "summaries", item, _joined(summarise(item, rows), summary))
        summary = read_summary(docs / "summaries", item)
        runs[item.paper, item.name] = run
    if run.tasks < run.planned and source is item:
        say(
            f"{item.paper} {item.name}: {run.tasks} of {run.planned} tasks are in the page; "
            f"`costboost reproduce {item.paper} {item.name}` goes on."
        )
    if summary is None:
        return None
    picture = None
    figure = item.figure(summary)
    if figure is not None:
        picture = f"figures/{item.paper}-{item.name}.png"
        save_figure(figure, docs / picture)
    return _Result(
        item=item,
        summary=summary,
        run=runs.get((item.paper, item.name)),
        picture=picture,
        conclusions=item.conclusions(summary),
        taus=ordering(item, summary),
    )


def _joined(new: pd.DataFrame, old: pd.DataFrame | None) -> pd.DataFrame:
    """What is new, and of an earlier summary the data sets and settings that are not."""
    if old is None:
        return new
    places = [pd.MultiIndex.from_frame(part[["dataset", "setting"]]) for part in (new, old)]
    return pd.concat([new, old[~places[1].isin(places[0])]], ignore_index=True)


def save_figure(figure: Figure, path: Path, vector: Path | None = None) -> None:
    """Write a picture of 256 colours, below 100 kB if that can be, and a PDF; forget the figure."""
    from matplotlib import pyplot
    from PIL import Image

    path.parent.mkdir(parents=True, exist_ok=True)
    if vector is not None:
        figure.savefig(vector, metadata={"CreationDate": None})
    for dpi in (110, 80, 60):
        drawn = io.BytesIO()
        figure.savefig(drawn, dpi=dpi, format="png")
        with Image.open(drawn) as picture:
            picture.convert("RGB").quantize(256).save(path, optimize=True)
        if path.stat().st_size <= _LARGEST_PICTURE:
            break

    pyplot.close(figure)


# --- text -------------------------------------------------------------------------------------


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.4g}"
    return str(value).replace("|", "\\|").replace("\n", " ")


def markdown_table(frame: pd.DataFrame) -> str:
    """A frame as a Markdown table; numbers to the right, to four digits."""
    numeric = [pd.api.types.is_numeric_dtype(dtype) for dtype in frame.dtypes]
    lines = [
        "| " + " | ".join(_cell(column) for column in frame.columns) + " |",
        "|" + "|".join("---:" if right else "---" for right in numeric) + "|",
    ]
    for row in frame.itertuples(index=False, name=None):
        lines.append("| " + " | ".join(_cell(value) for value in row) + " |")
    return "\n".join(lines)


def _conclusion_lines(conclusions: Sequence[Conclusion]) -> list[str]:
    """Claim, evidence and verdict; the parts of a long claim in a table that opens."""
    lines: list[str] = []
    for found in conclusions:
        said, why = found.said if found.own else "", found.why
        limit = f" Limits: {found.limit}." if found.limit else ""
        lines += [
            f"- **{found.verdict.capitalize()}**: {found.claim}",
            *([f"    - The paper: {said}."] if said else []),
            f"    - What would refute it: {found.refuted_by}.{limit}",
            f"    - Test: {found.evidence}",
            *([f"    - Why: {why}"] if why else []),
        ]
        if len(found.parts) > 12:
            table = pd.DataFrame(
                {
                    "part": [part.name for part in found.parts],
                    "effect": [part.value for part in found.parts],
                    "from": [part.low for part in found.parts],
                    "to": [part.high for part in found.parts],
                    "": [part.outcome for part in found.parts],
                }
            )
            head = f"<summary>All {len(found.parts)} parts</summary>"
            rows = ["    " + line for line in markdown_table(table).splitlines()]
            lines += ["", f'    <details markdown="1">{head}', "", *rows, "", "    </details>", ""]
    return lines


def _claims(
    paper: registry.Paper, results: Sequence[_Result], overall: Sequence[Conclusion]
) -> list[dict[str, str]]:
    """The paper's own claims and how they were judged, by its own numbers too."""
    every = [("all", overall), *((one.item.name, one.conclusions) for one in results)]
    theirs = {
        (name, found.claim): found.verdict
        for name, part in paper.as_printed().items()
        for found in part
        if found.own
    }
    return [
        {
            "item": name,
            "the paper says": found.claim,
            "here": f"**{found.verdict}**",
            "parts": found.count,
            "by its own numbers": theirs.get((name, found.claim), ""),
        }
        for name, part in every
        for found in part
        if found.own
    ]


def run_line(run: Run) -> str:
    """What ran, in a sentence."""
    kind = "Full run" if run.mode == "full" else "Quick run"
    done = f"{run.tasks}" if run.tasks == run.planned else f"{run.tasks} of {run.planned}"
    source = f"source at commit {run.commit}" if run.commit else "commit not recorded"
    rest = (
        "" if run.tasks == run.planned else " Settings that are not among them are of earlier runs."
    )
    return f"{kind}: {done} tasks, {run.seconds:.0f} s of computing, {source}.{rest}"


def tau_line(taus: pd.DataFrame) -> str:
    """Kendall's tau per data set and its mean, in a sentence."""
    parts = []
    for row in taus.itertuples(index=False):
        place = " ".join(str(word) for word in (row.dataset, row.setting) if word)
        parts.append(f"{place} {row.tau:.2f}" if place else f"{row.tau:.2f}")
    mean = f"; mean {taus['tau'].mean():.2f}" if len(taus) > 1 else ""
    metric = taus["metric"].iloc[0]
    return f"Kendall's τ with the paper's ordering by {metric}: {', '.join(parts)}{mean}."


def _item_section(result: _Result) -> list[str]:
    """The text on an item."""
    item = result.item
    lines = [f"## {item.name}: {item.title}", "", f"`costboost reproduce {item.paper} {item.name}`"]
    if result.run is not None:
        lines += ["", run_line(result.run)]
    lines += ["", markdown_table(item.table(result.summary))]
    if result.picture is not None:
        lines += ["", f"![{item.paper} {item.name}]({result.picture})"]
    lines += _judged(result.conclusions)
    if len(result.taus):
        lines += ["", tau_line(result.taus)]
    if item.notes:
        lines += ["", f"Differences from the paper: {item.notes.strip()}"]
    return [*lines, ""]


def _judged(conclusions: Sequence[Conclusion]) -> list[str]:
    claims = [found for found in conclusions if found.own]
    questions = [found for found in conclusions if not found.own]
    lines = ["", *_conclusion_lines(claims)] if claims else []
    if questions:
        lines += ["", "Questions of ours, which are not claims of the paper and not counted:", ""]
        lines += _conclusion_lines(questions)
    return lines


def _paper_page(
    paper: registry.Paper,
    items: Sequence[Item],
    results: Sequence[_Result],
    overall: Sequence[Conclusion],
) -> str:
    lines = [
        _GENERATED,
        "",
        f"# {paper.name}",
        "",
        paper.citation,
        "",
        "## Claims and verdicts",
        "",
        markdown_table(pd.DataFrame(_claims(paper, results, overall))),
        "",
        f"How a claim is judged: [one rule for all]({_INDEX}#how-a-claim-is-judged). *By its own "
        "numbers*: the same rule put to what the paper prints. The page ends with "
        "[what to take from it](#what-to-take-from-it).",
        "",
        "## How to run it",
        "",
        f"`costboost reproduce {paper.name}` runs every item and goes on where it was stopped; add "
        "`--quick` for a short run, `--datasets`, `--algorithms`, `--splits`, `--rounds`, "
        "`--estimator` and `--seed` for a part or a variation of it, `--format latex` for the "
        "finished table. Figures in brackets or in columns named *paper* are the printed ones; † "
        "marks what a corrected t-test at 5 % does not tell from the best.",
        "",
    ]
    taus = pd.concat([result.taus for result in results]) if results else pd.DataFrame()
    if overall or len(taus) > 1:
        lines += ["## Over all items", *_judged(overall)]
        if len(taus) > 1:
            lines += [
                "",
                f"Kendall's τ with the paper's orderings: mean {taus['tau'].mean():.2f} over "
                f"{len(taus)} orderings, from {taus['tau'].min():.2f} to {taus['tau'].max():.2f}.",
            ]
        lines += [""]
    by_name = {result.item.name: result for result in results}
    for item in items:
        if item.name in by_name:
            lines += _item_section(by_name[item.name])
        else:
            command = f"`costboost reproduce {item.paper} {item.name}`"
            lines += [f"## {item.name}: {item.title}", "", f"Not run yet: {command}", ""]
    lines += ["## What to take from it", "", paper.takeaway, ""]
    ran = sorted({result.run.versions for result in results if result.run is not None})
    if ran:
        lines += [f"Run with {' / '.join(ran)}.", ""]
    return "\n".join(lines)


def _covered(row: coverage.Row, run: Run | None) -> dict[str, str]:
    """A line of the table of all items: nothing is whole before all of its tasks are run."""
    line = row._asdict()
    partial = run is not None and run.tasks < run.planned
    if partial and row.status == "whole":
        line["status"] = "reduced"
    return {**line, "tasks run": f"{run.tasks} of {run.planned}" if run is not None else ""}


def _index_page(
    index: Sequence[tuple[registry.Paper, Sequence[_Result], Sequence[Conclusion]]],
) -> str:
    rule = (inspect.getdoc(grading) or "").partition("\n\n")[2]
    lines = [
        _GENERATED,
        "",
        "# The papers' experiments, run again",
        "",
        '`pip install "costboost[experiments]"`, then `costboost reproduce --list` shows what can '
        "be run, `costboost reproduce PAPER ITEM` runs it, and `costboost reproduce --all` runs "
        "everything. A run that was stopped continues where it was. In a checkout it starts from "
        "the rows in `docs/papers/rows` and does what is missing; `--fresh` does all of it again, "
        "and `--pages` adds new rows to the old and writes these pages.",
        "",
        "The main claim of each paper, with one figure: [Papers at a glance](../reproduced.md). "
        "All claims with all figures are below.",
        "",
        *(f"- [{paper.name}]({paper.name}.md): {paper.citation}" for paper, _, _ in index),
        "",
        "## How a claim is judged",
        "",
        rule,
        "",
        "## Claims",
        "",
    ]
    verdicts = [
        {"paper": f"[{paper.name}]({paper.name}.md)", **claim}
        for paper, results, overall in index
        for claim in _claims(paper, results, overall)
    ]
    counts = Counter(claim["here"] for claim in verdicts)
    if counts:
        told = ", ".join(f"{number} {verdict}" for verdict, number in counts.most_common())
        lines += [f"{len(verdicts)} claims: {told}.", ""]
    lines += [markdown_table(pd.DataFrame(verdicts)) if verdicts else "None yet.", ""]
    changed = [
        {
            "paper": change.paper,
            "claim": claim["the paper says"],
            "before": change.before,
            "now": claim["here"],
            "why": change.why,
        }
        for change in coverage.CHANGES
        for paper, results, overall in index
        for claim in _claims(paper, results, overall)
        if paper.name == change.paper and change.claim in claim["the paper says"]
    ]
    if changed:
        frame = pd.DataFrame(changed).drop_duplicates(["paper", "claim"])
        lines += ["## Verdicts before and now", "", markdown_table(frame), ""]
    names = {paper.name for paper, _, _ in index}
    runs = {(one.item.paper, one.item.name): one.run for _, found, _ in index for one in found}
    covered = [
        _covered(row, runs.get((row.paper, row.item)))
        for row in coverage.ROWS
        if row.paper in names
    ]
    if covered:
        frame = pd.DataFrame(covered)
        lines += ["## All items of the papers", "", coverage.LEGEND, "", markdown_table(frame), ""]
    taus = [
        {
            "paper": result.item.paper,
            "item": result.item.name,
            "metric": result.taus["metric"].iloc[0],
            "orderings": len(result.taus),
            "mean τ": f"{result.taus['tau'].mean():.2f}",
            "lowest": f"{result.taus['tau'].min():.2f}",
            "highest": f"{result.taus['tau'].max():.2f}",
        }
        for _, results, _ in index
        for result in results
        if len(result.taus)
    ]
    if taus:
        lines += [
            "## Orderings",
            "",
            "Kendall's τ between the algorithms' order here and in the paper, per data set and "
            "setting: 1 is the same order, 0 no relation, -1 the reverse.",
            "",
            markdown_table(pd.DataFrame(taus)),
            "",
        ]
    return "\n".join(lines)

"""The generated pages: a page per paper with ours beside the printed, and an index."""

from __future__ import annotations

import inspect
import io
import math
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from textwrap import indent
from typing import Any, NamedTuple

import pandas as pd
from matplotlib import pyplot
from matplotlib.figure import Figure
from PIL import Image
from scipy.stats import kendalltau

from costboost_papers import coverage, grading, registry
from costboost_papers.grading import Conclusion
from costboost_papers.item import SUMMARY_COLUMNS, Item, Mode, Options
from costboost_papers.run import Store, checksum

# --- summary -------------------------------------------------------------------------------------


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


def describe_run(
    item: Item, owner: Item, rows: pd.DataFrame, mode: Mode, earlier: Run | None = None
) -> Run:
    """Return the record of a run, from the raw rows of the item that owns them."""
    tasks = rows.drop_duplicates(["dataset", "algorithm", "setting", "split"])
    # Rows are kept where the data are not: then the checksums of the earlier record stay.
    recorded = dict(entry.split(":") for entry in earlier.data.split()) if earlier else {}
    sums = {name: checksum(name) or recorded.get(name) for name in tasks["dataset"].unique()}
    return Run(
        paper=item.paper,
        item=item.name,
        mode=mode,
        tasks=len(tasks),
        planned=len(owner.tasks(mode)),
        seconds=round(float(tasks["seconds"].sum()), 1),
        versions=" / ".join(sorted(set(tasks["versions"]))),
        commit=" / ".join(sorted(set(tasks["commit"]) - {""})),
        data=" ".join(f"{name}:{found}" for name, found in sums.items() if found),
    )


def write_runs(folder: Path, runs: Mapping[tuple[str, str], Run]) -> None:
    """Keep the records of the runs, in the order of their names."""
    folder.mkdir(parents=True, exist_ok=True)
    frame = pd.DataFrame([asdict(runs[key]) for key in sorted(runs)])
    frame.to_csv(folder / "runs.csv", index=False, lineterminator="\n")


def read_runs(folder: Path) -> dict[tuple[str, str], Run]:
    """The records that were kept, by (paper, item)."""
    path = folder / "runs.csv"
    if not path.is_file():
        return {}
    frame = pd.read_csv(path, keep_default_na=False, dtype={"commit": str})
    runs = [Run(*row) for row in frame.itertuples(index=False, name=None)]
    return {(run.paper, run.item): run for run in runs}


def summarise(item: Item, rows: pd.DataFrame) -> pd.DataFrame:
    """The item's compact table, its values rounded to 6 digits."""
    summary = item.summarise(rows)[SUMMARY_COLUMNS].reset_index(drop=True)
    return summary.assign(value=[float(f"{value:.6g}") for value in summary["value"]])


def write_summary(folder: Path, item: Item, summary: pd.DataFrame) -> Path:
    """Keep a summary; returns where."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{item.paper}-{item.name}.csv"
    summary.to_csv(path, index=False, lineterminator="\n", float_format="%.6g")
    return path


def read_summary(folder: Path, item: Item) -> pd.DataFrame | None:
    """The summary that was kept, or None."""
    path = folder / f"{item.paper}-{item.name}.csv"
    if not path.is_file():
        return None
    words, empty = dict.fromkeys(SUMMARY_COLUMNS[:5], str), {"value": ["", "nan"]}
    return pd.read_csv(path, dtype=words, keep_default_na=False, na_values=empty)


def ordering(item: Item, summary: pd.DataFrame) -> pd.DataFrame:
    """How far the algorithms stand in the paper's order: Kendall's tau."""
    # The metric is the item's ``tau_metric``, else the first printed one that the summary has too.
    means, printed = summary[summary["statistic"] == "mean"], item.printed()
    common = [metric for metric in printed["metric"].unique() if metric in set(means["metric"])]
    metric = item.tau_metric or next(iter(common), None)
    both = printed[printed["metric"] == metric].merge(
        means[means["metric"] == metric],
        on=["dataset", "algorithm", "setting"],
        suffixes=("_printed", "_ours"),
    )
    found = []
    for (dataset, setting), group in both.groupby(["dataset", "setting"], sort=False):
        values = group[["value_printed", "value_ours"]]
        if len(group) >= 3 and values.nunique().min() > 1:
            tau = kendalltau(*values.to_numpy().T).statistic
            found.append((metric, dataset, setting, float(tau), len(group)))
    return pd.DataFrame(found, columns=["metric", "dataset", "setting", "tau", "n"])


# --- pages ---------------------------------------------------------------------------------------

_LARGEST_PICTURE = 100_000  # bytes
_GENERATED = "<!-- Generated by `costboost-papers pages`; edits are overwritten. -->"


class _Result(NamedTuple):
    """All that a page says about an item."""

    item: Item
    summary: pd.DataFrame
    run: Run | None
    picture: str | None  # relative to the page
    conclusions: list[Conclusion]
    taus: pd.DataFrame


class _Judged(NamedTuple):
    """All that a page says about a paper; the claims are those of the paper."""

    paper: registry.Paper
    results: list[_Result]
    overall: list[Conclusion]
    claims: list[dict[str, str]]


def write_pages(
    docs: Path,
    results: Path,
    say: Callable[[str], None] = lambda text: None,
) -> list[Path]:
    """Write the pages, and before that the rows to be kept, summaries and figures."""
    docs.mkdir(parents=True, exist_ok=True)
    runs = read_runs(docs / "summaries")
    index, texts = [], {}
    for paper in registry.PAPERS:
        found = [_result(item, docs, results, runs, say) for item in paper.items()]
        known = [result for result in found if result is not None]
        overall = paper.overall({result.item.name: result.summary for result in known})
        index.append(_Judged(paper, known, overall, _claims(paper, known, overall)))
        texts[docs / f"{paper.name}.md"] = _paper_page(index[-1])
    if runs:
        write_runs(docs / "summaries", runs)
    texts[docs / "README.md"] = _index_page(index)
    for page, text in texts.items():
        page.write_text(text, encoding="utf-8")
    return list(texts)


def _result(
    item: Item,
    docs: Path,
    results: Path,
    runs: dict[tuple[str, str], Run],
    say: Callable[[str], None],
) -> _Result | None:
    """The item's figures: from rows as far as there are any, else from the summary that is kept."""
    summary = read_summary(docs / "summaries", item)
    source = registry.owner(item)
    store = Store(results, source, Options(), docs)
    plan = source.tasks("full")
    if source is item:
        store.keep(plan)
    rows = store.settled(plan, over_sets=source.over_sets)
    run = describe_run(item, source, rows, "full", runs.get((item.paper, item.name)))
    if run.tasks:
        write_summary(docs / "summaries", item, _joined(summarise(item, rows), summary))
        summary = read_summary(docs / "summaries", item)
        runs[item.paper, item.name] = run
    if run.tasks < run.planned and source is item:
        say(
            f"{item.paper} {item.name}: {run.tasks} of {run.planned} tasks are in the page; "
            f"`costboost-papers run {item.paper} {item.name}` goes on."
        )
    if summary is None:
        return None
    picture, figure = None, item.figure(summary)
    if figure is not None:
        picture = f"figures/{item.paper}-{item.name}.png"
        save_figure(figure, docs / picture)
    known = runs.get((item.paper, item.name))
    taus = ordering(item, summary)
    return _Result(item, summary, known, picture, item.conclusions(summary), taus)


def _joined(new: pd.DataFrame, old: pd.DataFrame | None) -> pd.DataFrame:
    """What is new, and of an earlier summary the data sets and settings that are not."""
    if old is None:
        return new
    places = [pd.MultiIndex.from_frame(part[["dataset", "setting"]]) for part in (new, old)]
    return pd.concat([new, old[~places[1].isin(places[0])]], ignore_index=True)


def save_figure(figure: Figure, path: Path, vector: Path | None = None) -> None:
    """Write a picture of 256 colours, below 100 kB if that can be, and a PDF; forget the figure."""
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


# --- text ----------------------------------------------------------------------------------------


def _cell(value: object) -> str:
    if isinstance(value, float):
        return "" if math.isnan(value) else f"{value:.4g}"
    return str(value).replace("|", "\\|").replace("\n", " ")


def markdown_table(frame: pd.DataFrame) -> str:
    """A frame as a Markdown table; numbers to the right, to four digits."""
    numeric = [pd.api.types.is_numeric_dtype(dtype) for dtype in frame.dtypes]
    rows: list[Any] = [frame.columns, *frame.itertuples(index=False, name=None)]
    lines = ["| " + " | ".join(map(_cell, row)) + " |" for row in rows]
    lines.insert(1, "|" + "|".join("---:" if right else "---" for right in numeric) + "|")
    return "\n".join(lines)


def _judged(conclusions: Sequence[Conclusion]) -> list[str]:
    """The paper's claims, and questions of ours."""
    claims, questions = (
        [_verdict(found) for found in conclusions if found.own == own] for own in (True, False)
    )
    words = "Questions of ours, which are not claims of the paper and not counted:"
    asked = [words, "\n".join(questions)] if questions else []
    return ["\n".join(claims), *asked] if claims else asked


def _verdict(found: Conclusion) -> str:
    """Claim, evidence and verdict; the parts of a long claim in a table that opens."""
    limit = f" Limits: {found.limit}." if found.limit else ""
    lines = [
        f"- **{found.verdict.capitalize()}**: {found.claim}",
        f"    - The paper: {found.said}." if found.said and found.own else "",
        f"    - What would refute it: {found.refuted_by}.{limit}",
        f"    - Test: {found.evidence}",
        f"    - Why: {found.why}" if found.why else "",
    ]
    text = "\n".join(filter(None, lines))
    if len(found.parts) <= 12:
        return text
    parts = [(part.name, part.value, part.low, part.high, part.outcome) for part in found.parts]
    table = markdown_table(pd.DataFrame(parts, columns=["part", "effect", "from", "to", ""]))
    head = f'<details markdown="1"><summary>All {len(parts)} parts</summary>'
    opened = "\n\n".join([head, table, "</details>"])
    return f"{text}\n\n{indent(opened, '    ')}\n"


def _claims(
    paper: registry.Paper, results: Sequence[_Result], overall: Sequence[Conclusion]
) -> list[dict[str, str]]:
    """The paper's own claims and how they were judged, by its own numbers too."""
    every = {"all": overall, **{one.item.name: one.conclusions for one in results}}
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
        for name, part in every.items()
        for found in part
        if found.own
    ]


def run_line(run: Run) -> str:
    """What ran, in a sentence."""
    done, rest = f"{run.tasks}", ""
    if run.tasks < run.planned:
        done += f" of {run.planned}"
        rest = " Settings that are not among them are of earlier runs."
    source = f"source at commit {run.commit}" if run.commit else "commit not recorded"
    kind = run.mode.capitalize()
    return f"{kind} run: {done} tasks, {run.seconds:.0f} s of computing, {source}.{rest}"


def tau_line(taus: pd.DataFrame) -> str:
    """Kendall's tau per data set and its mean, in a sentence."""
    parts = [
        " ".join(filter(None, (dataset, setting, f"{tau:.2f}")))
        for _, dataset, setting, tau, _ in taus.itertuples(index=False, name=None)
    ]
    mean = f"; mean {taus['tau'].mean():.2f}" if len(taus) > 1 else ""
    metric = taus["metric"].iloc[0]
    return f"Kendall's τ with the paper's ordering by {metric}: {', '.join(parts)}{mean}."


def _item_section(item: Item, result: _Result | None) -> list[str]:
    """The text on an item."""
    heading = f"## {item.name}: {item.title}"
    command = f"`costboost-papers run {item.paper} {item.name}`"
    if result is None:
        return [heading, f"Not run yet: {command}"]
    picture = f"![{item.paper} {item.name}]({result.picture})" if result.picture else ""
    blocks = [
        heading,
        command,
        run_line(result.run) if result.run is not None else "",
        markdown_table(item.table(result.summary)),
        picture,
        *_judged(result.conclusions),
        tau_line(result.taus) if len(result.taus) else "",
        f"Differences from the paper: {item.notes.strip()}" if item.notes else "",
    ]
    return [block for block in blocks if block]


def _paper_page(judged: _Judged) -> str:
    paper, results = judged.paper, judged.results
    blocks = [
        _GENERATED,
        f"# {paper.name}",
        paper.citation,
        "## Claims and verdicts",
        markdown_table(pd.DataFrame(judged.claims)),
        "How a claim is judged: [one rule for all](README.md#how-a-claim-is-judged). *By its own "
        "numbers*: the same rule put to what the paper prints. The page ends with "
        "[what to take from it](#what-to-take-from-it).",
        "## How to run it",
        f"`costboost-papers run {paper.name}` runs every item and goes on where it was stopped; "
        "add `--quick` for a short run, `--datasets`, `--algorithms`, `--splits`, `--rounds`, "
        "`--estimator` and `--seed` for a part or a variation of it, `--format latex` for the "
        "finished table. Figures in brackets or in rows or columns named *paper* are the printed "
        "ones; † marks what a corrected t-test at 5 % has not told from the best of the methods "
        "that it compares, the paper's if nothing else is said.",
    ]
    tau = [value for result in results for value in result.taus["tau"]]
    if judged.overall or len(tau) > 1:
        blocks += ["## Over all items", *_judged(judged.overall)]
    if len(tau) > 1:
        blocks.append(
            f"Kendall's τ with the paper's orderings: mean {sum(tau) / len(tau):.2f} over "
            f"{len(tau)} orderings, from {min(tau):.2f} to {max(tau):.2f}."
        )
    by_name = {result.item.name: result for result in results}
    for item in paper.items():
        blocks += _item_section(item, by_name.get(item.name))
    blocks += ["## What to take from it", paper.takeaway]
    ran = sorted({result.run.versions for result in results if result.run is not None})
    return _page([*blocks, f"Run with {' / '.join(ran)}."] if ran else blocks)


def _page(blocks: Sequence[str]) -> str:
    return "\n\n".join(blocks) + "\n"


def _covered(row: coverage.Row, run: Run | None) -> dict[str, str]:
    """A line of the table of all items: nothing is whole before all of its tasks are run."""
    line = row._asdict()
    if run is not None and run.tasks < run.planned and row.status == "whole":
        line["status"] = "reduced"
    return {**line, "tasks run": f"{run.tasks} of {run.planned}" if run is not None else ""}


def _index_page(index: Sequence[_Judged]) -> str:
    rule = (inspect.getdoc(grading) or "").partition("\n\n")[2]
    verdicts = [
        {"paper": f"[{one.paper.name}]({one.paper.name}.md)", **claim}
        for one in index
        for claim in one.claims
    ]
    counts = Counter(claim["here"] for claim in verdicts).most_common()
    told = ", ".join(f"{number} {verdict}" for verdict, number in counts)
    changed = [
        (change.paper, claim["the paper says"], change.before, claim["here"], change.why)
        for change in coverage.CHANGES
        for one in index
        for claim in one.claims
        if one.paper.name == change.paper and change.claim in claim["the paper says"]
    ]
    changes = pd.DataFrame(changed, columns=["paper", "claim", "before", "now", "why"])
    results = [one for judged in index for one in judged.results]
    runs = {(one.item.paper, one.item.name): one.run for one in results}
    names = {one.paper.name for one in index}
    covered = [
        _covered(row, runs.get((row.paper, row.item)))
        for row in coverage.ROWS
        if row.paper in names
    ]
    orderings = [
        {
            "paper": one.item.paper,
            "item": one.item.name,
            "metric": one.taus["metric"].iloc[0],
            "orderings": len(one.taus),
            "mean τ": f"{one.taus['tau'].mean():.2f}",
            "lowest": f"{one.taus['tau'].min():.2f}",
            "highest": f"{one.taus['tau'].max():.2f}",
        }
        for one in results
        if len(one.taus)
    ]
    blocks = [
        _GENERATED,
        "# The papers' experiments, run again",
        "`pip install . ./papers`, then `costboost-papers list` shows what can be run, "
        "`costboost-papers run PAPER ITEM` runs it, and `costboost-papers run --all` runs "
        "everything. A run that was stopped continues where it was. In a checkout it starts from "
        "the rows in `docs/papers/rows` and does what is missing; `--fresh` does all of it again. "
        "`costboost-papers show PAPER ITEM` prints a table that is kept, and `costboost-papers "
        "pages` adds new rows to the old and writes these pages.",
        "The main claim of each paper and its verdict: [Papers at a glance](../reproduced.md). "
        "All claims with all figures are below.",
        "\n".join(
            f"- [{one.paper.name}]({one.paper.name}.md): {one.paper.citation}" for one in index
        ),
        "## How a claim is judged",
        rule,
    ]
    for heading, words, table in (
        ("## Claims", f"{len(verdicts)} claims: {told}.", pd.DataFrame(verdicts)),
        ("## Verdicts before and now", "", changes.drop_duplicates(["paper", "claim"])),
        ("## All items of the papers", coverage.LEGEND, pd.DataFrame(covered)),
        (
            "## Orderings",
            "Kendall's τ between the algorithms' order here and in the paper, per data set and "
            "setting: 1 is the same order, 0 no relation, -1 the reverse.",
            pd.DataFrame(orderings),
        ),
    ):
        if len(table):
            blocks += filter(None, (heading, words, markdown_table(table)))
    return _page(blocks)

"""Pages of the documentation: their code run, what it prints compared with what they show."""

from __future__ import annotations

import contextlib
import io
import os
import re
from collections.abc import Callable, Iterator
from importlib.util import find_spec
from pathlib import Path
from typing import NamedTuple

import numpy as np

__all__ = [
    "BLOCK",
    "PAGES",
    "PREPARED",
    "RECIPES",
    "ROOT",
    "Block",
    "notebook",
    "run_blocks",
    "same_output",
    "sections",
]

ROOT = Path(__file__).resolve().parents[2]
# A block of Python, and the text block right after it, which is what it prints.
BLOCK = re.compile(
    r"^```python\n(.*?)^```$(?:\n\n^```text\n(.*?)^```$)?", flags=re.DOTALL | re.MULTILINE
)
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"))
    if BLOCK.search(path.read_text("utf-8"))
)
# Its sections stand alone: each has names of its own, and may need a library that is not here.
RECIPES = "docs/recipes.md"
_SECTION = re.compile(r"^## (.*?)\n(.*?)(?=^## |\Z)", flags=re.DOTALL | re.MULTILINE)
_NEEDS = re.compile(r"^<!-- needs (.*) -->$", flags=re.MULTILINE)
_NUMBER = re.compile(r"-?\d[\d,]*(?:\.\d+)?")


class Block(NamedTuple):
    """A block of Python on a page: where it is, what the page shows below it, what it prints."""

    match: re.Match[str]
    line: int
    shown: str
    printed: str


def same_output(shown: str, printed: str) -> bool:
    """Whether words are the same, and numbers but for a hundredth or one in the last digit.

    Numbers may differ a little between machines and versions of the libraries that grow the trees.
    """
    if _NUMBER.sub("#", shown).split() != _NUMBER.sub("#", printed).split():
        return False
    pairs = zip(_NUMBER.findall(shown), _NUMBER.findall(printed), strict=True)
    return all(_close(*pair) for pair in pairs)


def _close(shown: str, printed: str) -> bool:
    decimals = len(shown.partition(".")[2])
    a, b = (float(text.replace(",", "")) for text in (shown, printed))
    return abs(a - b) <= 1.001 * max(0.01 * abs(b), 10.0**-decimals)


def notebook(page: str) -> dict[str, object]:
    """Return a page as a Jupyter notebook: its prose, its blocks of Python, and what they print."""
    text = (ROOT / page).read_text("utf-8")
    cells: list[dict[str, object]] = []

    def add(kind: str, source: str, **more: object) -> None:
        lines = source.strip().splitlines(keepends=True)
        cell = {"cell_type": kind, "id": f"cell-{len(cells)}", "metadata": {}, "source": lines}
        cells.append(cell | more)

    end = 0
    for number, match in enumerate(BLOCK.finditer(text), start=1):
        add("markdown", text[end : match.start()])
        outputs = []
        if match[2]:
            printed = match[2].splitlines(keepends=True)
            outputs.append({"name": "stdout", "output_type": "stream", "text": printed})
        add("code", match[1], execution_count=number, outputs=outputs)
        end = match.end()
    add("markdown", text[end:])
    kernel = {"display_name": "Python 3", "language": "python", "name": "python3"}
    metadata = {"kernelspec": kernel, "language_info": {"name": "python"}}
    return {"cells": cells, "metadata": metadata, "nbformat": 4, "nbformat_minor": 5}


def sections(page: str) -> dict[str, list[str]]:
    """Find the sections of a page that have Python, and the libraries that each says it needs."""
    text = (ROOT / page).read_text("utf-8")
    return {
        title: " ".join(_NEEDS.findall(body)).split()
        for title, body in _SECTION.findall(text)
        if BLOCK.search(body)
    }


def run_blocks(page: str, folder: Path, section: str | None = None) -> Iterator[Block]:
    """Run the blocks of a page in their order; they share their names, and write into a folder.

    With a section, only its blocks run. Of the recipes, sections that need a library that is not
    installed are left out.
    """
    text = (ROOT / page).read_text("utf-8")
    names: dict[str, object] = {"__name__": "page"}
    here = Path.cwd()
    os.chdir(folder)
    left_out = []
    for match in _SECTION.finditer(text):
        needed = " ".join(_NEEDS.findall(match[2])).split()
        is_missing = any(find_spec(library) is None for library in needed)
        if is_missing or section not in (None, match[1]):
            left_out.append(range(*match.span()))
    try:
        PREPARED.get(page, lambda: None)()
        for match in BLOCK.finditer(text):
            if any(match.start() in span for span in left_out):
                continue
            line = text.count("\n", 0, match.start(1))
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile("\n" * line + match[1], page, "exec"), names)
            yield Block(match, line, match[2] or "", out.getvalue())
    finally:
        os.chdir(here)
        _close_all(names)


def _close_all(names: dict[str, object]) -> None:
    """Close what a page left open: figures, and a cluster with its client."""
    from matplotlib import pyplot

    pyplot.close("all")
    for name in ("client", "cluster"):
        if name in names:
            names[name].close()  # type: ignore[attr-defined]


def _payments_in_parquet() -> None:
    """The reader's own files: ``folder`` with payments, ``new`` with some to decide on."""
    import pandas as pd

    from costboost.datasets import make_fraud

    data = make_fraud(1500, random_state=0)
    table = pd.DataFrame(data.X, columns=data.feature_names).assign(
        id=np.arange(1500),
        country=np.where(data.X[:, -1] > 0.2, "at", "de"),
        loss=np.where(data.y == 1, data.amount, 5.0),
        fraud=data.y == 1,
    )
    for folder, parts in (("folder", 2), ("new", 1)):
        Path(folder).mkdir()
        for i in range(parts):
            table[i::parts].to_parquet(f"{folder}/{i}.parquet")


# What the reader of a page is expected to have.
PREPARED: dict[str, Callable[[], None]] = {
    "docs/dask.md": _payments_in_parquet,
    "docs/scale.md": _payments_in_parquet,
}

"""Every Python block of the README and the docs runs, page by page and in the order of the page.

A text block right after a Python block is what that block prints.
"""

from __future__ import annotations

import contextlib
import io
import re
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

from helpers.pages import same_output

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(
    r"^```python\n(.*?)^```$(?:\n\n^```text\n(.*?)^```$)?", flags=re.DOTALL | re.MULTILINE
)
PAGES = sorted(
    path.relative_to(ROOT).as_posix()
    for path in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md"))
    if BLOCK.search(path.read_text("utf-8"))
)


def payments_in_parquet() -> None:
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
    "docs/dask.md": payments_in_parquet,
    "docs/scale.md": payments_in_parquet,
}


def test_there_is_something_to_run() -> None:
    assert "README.md" in PAGES
    assert set(PREPARED) <= set(PAGES)


# In one process of the test run with the tests of Dask, so that one cluster is up at a time.
MARKS = {"docs/dask.md": pytest.mark.xdist_group("dask")}


@pytest.mark.parametrize("page", [pytest.param(page, marks=MARKS.get(page, ())) for page in PAGES])
def test_page_runs(
    page: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The blocks share their names; files that they write go to a folder of their own."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    PREPARED.get(page, lambda: None)()
    names: dict[str, object] = {"__name__": "page"}
    text = (ROOT / page).read_text("utf-8")
    printed = ""
    try:
        for block in BLOCK.finditer(text):
            line = text.count("\n", 0, block.start(1))
            out = io.StringIO()
            with contextlib.redirect_stdout(out):
                exec(compile("\n" * line + block[1], page, "exec"), names)
            printed += out.getvalue()
            if block[2] is not None:
                assert same_output(block[2], out.getvalue()), (line, out.getvalue())
    finally:
        close(names)
    for percent in re.findall(r"(?:saved|score) (-?\d+)%", printed):
        assert 0 < int(percent) <= 100


def close(names: dict[str, object]) -> None:
    """Close what a page left open: figures, and a cluster with its client."""
    from matplotlib import pyplot

    pyplot.close("all")
    for name in ("client", "cluster"):
        if name in names:
            names[name].close()  # type: ignore[attr-defined]

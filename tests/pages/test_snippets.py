"""Every Python block of the README and the docs runs, and what it prints stands below it."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from helpers.pages import BLOCK, PAGES, PREPARED, ROOT, run_blocks, same_output

# In one process of the test run with the tests of Dask, so that one cluster is up at a time.
MARKS = {"docs/dask.md": pytest.mark.xdist_group("dask")}
FENCED = re.compile(r"^ *```(\S*)[^\n]*\n(.*?)^ *```$", flags=re.DOTALL | re.MULTILINE)
# Compared by tests of their own: the commands of the page, and the scripts of examples/.
COMPARED = ("docs/cli.md", "docs/gallery/")


def test_there_is_something_to_run() -> None:
    assert "README.md" in PAGES
    assert set(PREPARED) <= set(PAGES)


@pytest.mark.parametrize("page", [pytest.param(page, marks=MARKS.get(page, ())) for page in PAGES])
def test_page_prints_what_it_shows(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MPLBACKEND", "Agg")
    remedy = "python docs/build.py outputs writes the outputs anew"
    for block in run_blocks(page, tmp_path):
        assert same_output(block.shown, block.printed), (block.line, block.printed, remedy)


@pytest.mark.parametrize("path", [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))])
def test_no_output_is_shown_that_nothing_compares(path: Path) -> None:
    """Text stands below the Python block that prints it; commands are shown without an output."""
    page = path.relative_to(ROOT).as_posix()
    if page.startswith(COMPARED):
        return
    left = BLOCK.sub("", path.read_text("utf-8"))
    for language, content in FENCED.findall(left):
        assert language == "console", f"{page}: a block of {language or 'no language'}"
        for line in content.replace("\\\n", "").splitlines():
            assert line.lstrip().startswith(("$ ", "#")), (page, line)


def test_what_is_the_same_output() -> None:
    assert same_output("cost 1,496 in 0.83", "cost  1,500 in 0.84")
    for other in ("cost 1,640 in 0.83", "cost 1,496 in 0.85", "costs 1,496 in 0.83", "cost 1,496"):
        assert not same_output("cost 1,496 in 0.83", other)

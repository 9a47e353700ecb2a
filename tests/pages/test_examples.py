"""Code of pages, scripts of examples/ and the notebook run, and print what is shown of them."""

import json
import re
import runpy
import sys
import warnings

import pytest

from helpers.examples import EXAMPLES
from helpers.pages import (
    BLOCK,
    PAGES,
    PREPARED,
    RECIPES,
    ROOT,
    notebook,
    run_blocks,
    same_output,
    sections,
)

pytestmark = pytest.mark.slow

NOTEBOOK = "docs/gallery/first_model.md"
# Which have a cluster, and so run in one process of the test run with the others that have.
CLUSTER = dict.fromkeys(("dask_cluster", "docs/dask.md"), pytest.mark.xdist_group("dask"))
FENCED = re.compile(r"^ *```(\S*)[^\n]*\n(.*?)^ *```$", flags=re.DOTALL | re.MULTILINE)
# Compared by tests of their own: the commands of the page, and the scripts of examples/.
COMPARED = ("docs/cli.md", "docs/gallery/")


@pytest.mark.parametrize(
    "example",
    [pytest.param(e, marks=CLUSTER.get(e.name, ()), id=e.name) for e in EXAMPLES],
)
def test_example(example, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setattr(sys, "argv", [example.script.name, *example.arguments])
    runpy.run_path(str(example.script), run_name="__main__")
    printed = capsys.readouterr().out
    assert same_output(example.shown_output(), printed), printed
    assert {path.name for path in tmp_path.glob("*.png")} == example.shown_pictures()


def test_every_example_has_a_page_and_a_place_in_the_gallery():
    names = {path.stem for path in (ROOT / "examples").glob("*.py")}
    assert names == {example.name for example in EXAMPLES}
    index = (ROOT / "docs" / "gallery" / "index.md").read_text("utf-8")
    for example in EXAMPLES:
        assert f"({example.name}.md) | `examples/{example.name}.py` |" in index
        assert f'--8<-- "examples/{example.name}.py"' in example.page.read_text("utf-8")


def test_notebook():
    """It is its page of the gallery, whose code is run with those of the other pages."""
    written = json.loads((ROOT / "examples" / "first_model.ipynb").read_text("utf-8"))
    assert written == notebook(NOTEBOOK)


@pytest.mark.parametrize(
    "page",
    [pytest.param(page, marks=CLUSTER.get(page, ())) for page in PAGES if page != RECIPES],
)
def test_page_prints_what_it_shows(page, tmp_path, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    remedy = "python docs/build.py outputs writes the outputs anew"
    for block in run_blocks(page, tmp_path):
        assert same_output(block.shown, block.printed), (block.line, block.printed, remedy)


@pytest.mark.parametrize("section", sections(RECIPES))
def test_recipe(section, tmp_path, monkeypatch):
    monkeypatch.setenv("MPLBACKEND", "Agg")
    with warnings.catch_warnings():
        needed = sections(RECIPES)[section]
        if needed:
            warnings.simplefilter("ignore")  # of the other library
        for library in needed:
            pytest.importorskip(library)
        for block in run_blocks(RECIPES, tmp_path, section):
            assert same_output(block.shown, block.printed), (block.line, block.printed)


def test_no_output_is_shown_that_nothing_compares():
    """Text stands below the Python block that prints it; commands are shown without an output."""
    assert "README.md" in PAGES and set(PREPARED) <= set(PAGES)
    for path in (ROOT / "README.md", *(ROOT / "docs").rglob("*.md")):
        page = path.relative_to(ROOT).as_posix()
        left = "" if page.startswith(COMPARED) else BLOCK.sub("", path.read_text("utf-8"))
        for language, content in FENCED.findall(left):
            assert language == "console", f"{page}: a block of {language or 'no language'}"
            for line in content.replace("\\\n", "").splitlines():
                assert line.lstrip().startswith(("$ ", "#")), (page, line)
    assert same_output("cost 1,496 in 0.83", "cost  1,500 in 0.84")
    for other in ("cost 1,640 in 0.83", "cost 1,496 in 0.85", "costs 1,496 in 0.83", "cost 1,496"):
        assert not same_output("cost 1,496 in 0.83", other)

"""Every script of examples/ runs without a warning and prints what its page shows."""

from __future__ import annotations

import re
import runpy
import sys
import warnings
from pathlib import Path

import pytest

from helpers.pages import same_output

ROOT = Path(__file__).resolve().parents[2]
NOTEBOOK = runpy.run_path(str(ROOT / "docs" / "_pages" / "notebook.py"))
GALLERY = runpy.run_path(str(ROOT / "docs" / "_pages" / "gallery.py"))
# Which have a cluster, and so run in one process of the test run with the others that have.
CLUSTER = {"dask_cluster": pytest.mark.xdist_group("dask")}


def has_files() -> bool:
    from costboost.datasets import available

    try:
        return {"bankmarketing", "kddcup99"} <= set(available())
    except FileNotFoundError:
        return False


@pytest.mark.parametrize(
    "example",
    [pytest.param(e, marks=CLUSTER.get(e.name, ()), id=e.name) for e in GALLERY["examples"]()],
)
def test_example(example, tmp_path, monkeypatch, capsys):
    if example.needs_files and not has_files():
        pytest.skip("the benchmark files are not here; see costboost.datasets.load")
    if example.warns:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            pytest.importorskip(example.warns)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("MPLBACKEND", "Agg")
    monkeypatch.setattr(sys, "argv", [example.path.name, *example.arguments])
    with warnings.catch_warnings():
        if example.warns:
            warnings.simplefilter("ignore")
        runpy.run_path(str(example.path), run_name="__main__")
    printed = capsys.readouterr().out
    page = (ROOT / "docs" / "gallery" / f"{example.name}.md").read_text("utf-8")
    if example.prints:
        assert same_output(GALLERY["shown"](example)[0], printed), printed
    drawn = {path.name for path in tmp_path.glob("*.png")}
    assert drawn == set(re.findall(r"\(\.\./pictures/([^)]+)\)", page))


def test_notebook():
    """It prints what it shows; the page is compared with it elsewhere."""
    code = [cell for cell in NOTEBOOK["cells"]() if cell["cell_type"] == "code"]
    for cell, printed in zip(code, NOTEBOOK["printed"](), strict=True):
        assert same_output(NOTEBOOK["shown"](cell), printed), printed

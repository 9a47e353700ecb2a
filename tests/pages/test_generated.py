"""Pages and tables that follow from code or measurements are what their generators write."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

import costboost

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
MONEY = runpy.run_path(str(DOCS / "_pages" / "money.py"))
CHOOSING = runpy.run_path(str(DOCS / "_pages" / "choosing.py"))
PAPERS = runpy.run_path(str(DOCS / "_pages" / "papers.py"))
DRAWN = runpy.run_path(str(DOCS / "_pages" / "pictures.py"))
GALLERY = runpy.run_path(str(DOCS / "_pages" / "gallery.py"))


@pytest.mark.parametrize("page", MONEY["PAGES"], ids=lambda page: page.name)
def test_money_is_up_to_date(page):
    text = page.read_text("utf-8")
    assert text == MONEY["filled"](text, MONEY["PAGES"][page]), "run python docs/build.py money"


def test_money_follows_from_the_rows(tmp_path, monkeypatch):
    """Figures of one's own: constants from costs and scores, means over splits."""
    header = "data,costs,group,split,method,score,mean_cost,commit"
    rows = [
        f"{data},row costs,per row,0,{method},{saved},{cost},abc"
        for data in MONEY["CASES"]
        for method, saved, cost in (
            ("LightGBM", 0.0, 2.0),
            ("LightGBM calibrated + Bayes", 0.5, 1.0),
            ("CostBoost", 0.75, 0.5),
            ("CostBoost", 0.65, 0.7),
        )
    ]
    path = tmp_path / "held_out_cost.csv"
    path.write_text("\n".join([header, *rows]) + "\n", encoding="utf-8")
    monkeypatch.setitem(MONEY["read"].__globals__, "RESULTS", path)
    block = MONEY["block"]("")
    assert "| **600 €** | 1,000 € | 2,000 € | 2,000 € |" in block
    assert "70% (costboost), 50% (calibrated LightGBM, costs applied), 0% (LightGBM)" in block
    assert "which costs more on all of them" in block
    path.write_text(path.read_text("utf-8").replace("0.5,1.0,abc", "0.9,0.2,abc"), encoding="utf-8")
    assert "which costs less on: card payments, bank marketing" in MONEY["block"]("")


def test_choosing_is_up_to_date():
    page = (DOCS / "choosing.md").read_text("utf-8")
    assert page == CHOOSING["page"](), "run python docs/build.py choosing"


def test_choosing_names_every_class():
    page = (DOCS / "choosing.md").read_text("utf-8")
    for name in costboost.__all__:
        if name.endswith("Classifier"):
            assert f"`{name}" in page, name


@pytest.mark.parametrize("path", PAPERS["pages"](), ids=lambda path: path.name)
def test_pages_of_papers_are_up_to_date(path):
    text = PAPERS["pages"]()[path]
    assert path.read_text("utf-8") == text, "run python docs/build.py papers --keep"
    for picture in re.findall(r"\((\.\./pictures/[^)]+)\)", text):
        assert (path.parent / picture).exists(), "run python docs/build.py papers"


@pytest.mark.parametrize("paper", PAPERS["papers"]())
def test_page_of_a_paper_has_its_parts(paper):
    text = (DOCS / "algorithms" / f"{paper}.md").read_text("utf-8")
    assert f"(../pictures/{paper}-loss.png)" in text
    assert f"(../pictures/{paper}-boundary.png)" in text
    for part in ("## Our verdict", "## What differs from the paper", "## Pictures", "## Classes"):
        assert part in text
    assert DRAWN["LOSS_PANELS"][paper]


@pytest.mark.parametrize(("name", "lines"), [("AdaC1", 2), ("AdaC2", 4), ("CSB2", 4)])
def test_weights_that_follow_from_a_loss_have_one_line_per_row(name, lines):
    """AdaC1's weights depend on the margin alone; the others' on the number of rounds, too."""
    plt = pytest.importorskip("matplotlib.pyplot")
    figure, ax = plt.subplots()
    DRAWN["weights"](f"{name}Classifier")(ax)
    assert sum(len(line.get_xdata()) > 0 for line in ax.lines) == lines
    plt.close(figure)


def test_no_page_of_a_paper_is_left_over():
    written = {path for path in PAPERS["pages"]() if path.parent.name == "algorithms"}
    assert set((DOCS / "algorithms").glob("*.md")) == written


@pytest.mark.parametrize("example", GALLERY["examples"](), ids=lambda example: example.name)
def test_pages_of_examples_are_up_to_date(example):
    """The code is the file's; what it prints is compared by test_examples.py."""
    page = (DOCS / "gallery" / f"{example.name}.md").read_text("utf-8")
    stale = "run python docs/build.py gallery --keep"
    assert page == GALLERY["page"](example, *GALLERY["shown"](example)), stale


def test_gallery_lists_every_example():
    names = {path.stem for path in (ROOT / "examples").glob("*.py")}
    assert names == {example.name for example in GALLERY["examples"]()}
    assert (DOCS / "gallery" / "index.md").read_text("utf-8") == GALLERY["index"]()


def test_cost_of_a_constant_decision_with_costs_of_right_decisions():
    """Savings count what is paid beyond the cheapest decision: 2 here, beside 10 for a constant."""
    rows = [
        {"score": str(saved), "mean_cost": str(2.0 + (1.0 - saved) * 8.0)}
        for saved in (0.9, 0.25, -0.5)
    ]
    assert abs(MONEY["constant"](rows) - 10.0) < 1e-9

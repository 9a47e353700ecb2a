"""Pages and tables that follow from code or measurements are what their generators write."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

import costboost

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
GAIN = runpy.run_path(str(DOCS / "_pages" / "gain.py"))
MEASURED = {
    name: runpy.run_path(str(DOCS / "_pages" / f"{name}.py")) for name in ("effort", "walk")
}
CHOOSING = runpy.run_path(str(DOCS / "_pages" / "choosing.py"))
PAPERS = runpy.run_path(str(DOCS / "_pages" / "papers.py"))
DRAWN = runpy.run_path(str(DOCS / "_pages" / "pictures.py"))
GALLERY = runpy.run_path(str(DOCS / "_pages" / "gallery.py"))


def test_gain_is_up_to_date():
    """The page, and its summary on the first pages."""
    assert GAIN["PAGE"].read_text("utf-8") == GAIN["page"](), "run python docs/build.py gain"
    for path, where in GAIN["SUMMARIES"].items():
        text = path.read_text("utf-8")
        assert text == GAIN["filled"](text, where), "run python docs/build.py gain"


def test_gain_follows_from_the_rows(tmp_path, monkeypatch):
    """Figures of one's own: constants from costs and scores, means over splits, medians."""
    header = "data,costs,group,development,split,method,score,mean_cost,fit_seconds,n_train,"
    rows = [
        f"{data},row costs,per row,0,0,{method},{score},{cost},1.0,{size},{estimated},abc"
        for data, size in zip(GAIN["CASES"], (900, 900, 2000, 2000), strict=True)
        for method, score, cost, estimated in (
            ("LightGBM", 0.0, 2.0, ""),
            ("LightGBM calibrated + Bayes", 0.5, 1.0, ""),
            ("CostBoost", 0.75, 0.5, 0.8),
            ("CostBoost", 0.65, 0.7, 0.8),
        )
    ]
    text = "\n".join([f"{header}estimated,commit", *rows]) + "\n"
    (tmp_path / "held_out_cost.csv").write_text(text, encoding="utf-8")
    hidden = "data,mean costs,learned costs,(costs told),commit\nmade,0.25,0.5,0.75,def\n"
    (tmp_path / "hidden_costs.csv").write_text(hidden, encoding="utf-8")
    monkeypatch.setitem(GAIN["read"].__globals__, "RESULTS", tmp_path)
    page = GAIN["page"]()
    assert "| **600 €** | 1,000 € | 2,000 € | 2,000 € |" in page
    assert "| up to 1,000 | 2 | +0.200 | +0.200 | 2 | 0 |" in page
    assert "likeliest class cost 2.0 times as much" in page
    assert "| made | 0.250 | 0.500 | +0.250 | 0.750 |" in page
    assert "was +0.100 in the median" in page
    assert "where costs are known only afterwards (25.0 points" in GAIN["summary"]("gain.md")


@pytest.mark.parametrize("name", MEASURED)
def test_measurements_are_up_to_date(name):
    text = MEASURED[name]["PAGE"].read_text("utf-8")
    assert text == MEASURED[name]["filled"](text), f"run python docs/build.py {name}"


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
    assert abs(GAIN["constant"](rows) - 10.0) < 1e-9

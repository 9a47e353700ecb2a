"""Tables and pages that follow from code or measurements are what they would be written today."""

import re

import figures
import pandas as pd
import pytest
import tables

import algorithms
import costboost
from helpers.pages import ROOT

DOCS = ROOT / "docs"
FILLED = [ROOT / "README.md", *sorted(DOCS.rglob("*.md"))]
MADE = algorithms.TABLES | tables.TABLES


def test_every_table_has_one_place():
    places = [
        place[2] for page in FILLED for place in tables.PLACE.finditer(page.read_text("utf-8"))
    ]
    assert sorted(places) == sorted(MADE)


@pytest.mark.slow
@pytest.mark.parametrize(
    "page",
    [page for page in FILLED if tables.PLACE.search(page.read_text("utf-8"))],
    ids=lambda page: page.stem,
)
def test_tables_are_up_to_date(page):
    text = page.read_text("utf-8")
    assert text == tables.fill(text, MADE), "run python docs/build.py tables"


@pytest.fixture
def results(tmp_path, monkeypatch):
    """Write rows of a benchmark in place of the measured ones."""
    monkeypatch.setattr(tables, "RESULTS", tmp_path)

    def write(name, rows):
        pd.DataFrame(rows).to_csv(tmp_path / f"{name}.csv", index=False)

    write("sources", [{"source": 1, "commit": "abc"}])
    return write


def test_the_first_pages_quote_the_table():
    median, upper = re.findall(r"([\d.]+) times \|", tables.gain_threshold())[1:]
    for page in (ROOT / "README.md", DOCS / "index.md"):
        text = page.read_text("utf-8")
        assert f"costs {median} times as much" in text and f"at least {upper} times" in text


def held_out_rows():
    """Two splits of four sets, on which our scores are known."""
    others = {
        "LightGBM": (0.0, 2.0),
        "LightGBM + Bayes": (0.6, 0.8),
        "LightGBM calibrated + Bayes": (0.5, 1.0),
        "AutoGluon + Bayes": (0.8, 0.4),
    }
    for data, size in zip(tables.MONEY, (900, 900, 2000, 6000), strict=True):
        for split, ours in enumerate([(0.75, 0.5), (0.65, 0.7)]):
            for method, (score, cost) in {**others, "CostBoost": ours}.items():
                yield {
                    "data": data,
                    "costs": "row costs",
                    "group": "per row",
                    "development": 0,
                    "split": split,
                    "method": method,
                    "score": score,
                    "mean_cost": cost,
                    "fit_seconds": 1.0,
                    "n_train": size,
                    "estimated": 0.8,
                    "source": 1,
                }


def test_tables_of_gain_follow_from_the_rows(results):
    """Constants follow from costs and scores; means are over splits, medians over problems."""
    results("held_out_cost", held_out_rows())
    assert "| **600 €** | 1,000 € | 2,000 € | 2,000 € |" in tables.gain_money()
    assert "Mean of 2 splits." in tables.gain_money()
    assert "| up to 1,000 | 2 | +0.200 | +0.200 | 2 | 0 |" in tables.gain_differences()
    assert "| 1,001 to 5,000 | 1 | +0.200" in tables.gain_differences()
    assert "| 4 | 2.5 times | 2.5 times | 2.5 times |" in tables.gain_threshold()
    assert "| 8 | +0.050 | +0.100 | +0.150 | +0.100 |" in tables.gain_estimates()
    assert "| `CostBoostClassifier` | 4 | 0.700 |" in tables.choosing_held_out()
    row = {"data": "made", "split": 0, "source": 1}
    results(
        "hidden_costs", [row | {"mean costs": 0.25, "learned costs": 0.5, "(costs told)": 0.75}]
    )
    assert "| made | 0.250 | 0.500 | +0.250 | 0.750 |" in tables.gain_hidden()
    # Scores count what is paid beyond the cheapest decision: 2 here, beside 10 for a constant.
    scores = pd.Series([0.9, 0.25, -0.5])
    rows = pd.DataFrame({"score": scores, "mean_cost": 2 + (1 - scores) * 8})
    assert tables.constant_cost(rows) == pytest.approx(10)


def test_tables_of_published_algorithms_follow_from_the_rows(results):
    """Medians, differences, ideas, and problems where an algorithm wins."""
    names = " ".join(tables.IDEAS.values()).split()
    assert sorted(f"{name}Classifier" for name in names) == sorted(costboost.algorithms.__all__)
    assert set(tables.LOSSES) <= set(names)
    scores = {name: 0.1 for name in names} | {f"{name}, tuned": 0.4 for name in names}
    scores |= {"CostBoost": 0.5, "AsyBL, tuned": 0.7} | dict.fromkeys(tables.RIVALS, 0.45)
    scores |= {f"CostBoost, loss={loss}": 0.3 for loss in tables.LOSSES.values()}
    fixed = {"costs": "ratio 5", "fit_seconds": 1.0, "source": 1}
    results(
        "fair",
        [
            {"data": data, "method": method, "score": score - 0.1 * number, **fixed}
            for number, data in enumerate("abcdef")
            for method, score in scores.items()
        ],
    )
    line = "| `AsyBL` | 6 | −0.150 | 0.450 | 0.050 | 0.250 | +0.200 ± 0.000 | 0.031 | 6, 0 | 1.0 |"
    assert line in tables.fair_algorithms()
    assert "| a, ratio 5 | 1 of 27 | AsyBL | 0.700 | 0.500 |" in tables.fair_beaten()
    assert "6 of 6 problems." in tables.fair_beaten()
    assert "| `gll` | 6 | −0.200 | 0 |" in tables.fair_losses()
    assert "| `AsyBL` 0.450 |" in tables.fair_ideas()


@pytest.mark.parametrize(("name", "lines"), [("AdaC1", 2), ("AdaC2", 4), ("CSB2", 4)])
def test_weights_that_follow_from_a_loss_have_one_line_per_row(name, lines):
    """AdaC1's weights depend on the margin alone; the others' on the number of rounds, too."""
    plt = pytest.importorskip("matplotlib.pyplot")
    figure, ax = plt.subplots()
    figures.weights(f"{name}Classifier")(ax)
    assert sum(len(line.get_xdata()) > 0 for line in ax.lines) == lines
    plt.close(figure)


def test_weights_are_drawn_on_the_scale_of_the_class():
    """CSB0 divides costs by the smallest: a wrong costly row gains weight, a cheap one keeps it."""
    plt = pytest.importorskip("matplotlib.pyplot")
    figure, ax = plt.subplots()
    figures.weights("CSB0Classifier")(ax)
    costly, cheap = (line.get_ydata() for line in ax.lines[:2])
    assert (costly[0], costly[-1]) == (25.0, 5.0)
    assert (cheap[0], cheap[-1]) == (1.0, 1.0)
    plt.close(figure)


def test_every_class_has_its_place_on_the_page_of_its_paper():
    by_paper = algorithms.papers()
    names = {path.stem for path in (DOCS / "algorithms").glob("*.md")}
    assert names == {*by_paper, "index"}
    assert set(figures.LOSS_PANELS) == set(by_paper)
    for paper, classes in by_paper.items():
        page = (DOCS / "algorithms" / f"{paper}.md").read_text("utf-8")
        places = re.findall(r"^::: costboost\.algorithms\.(\w+)\.(\w+)$", page, flags=re.MULTILINE)
        assert places == [(paper, one.__name__) for one in classes]
    page = (DOCS / "choosing.md").read_text("utf-8")
    assert all(f"`{name}" in page for name in costboost.__all__ if name.endswith("Classifier"))


def test_tables_show_the_last_run_of_make_trust():
    from trust.__main__ import PARTS

    page = (DOCS / "promises.md").read_text("utf-8")
    assert set(re.findall(r"^- \*\*(\w+)\*\*: ", page, flags=re.MULTILINE)) == set(PARTS)

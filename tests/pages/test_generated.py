"""Pages and tables that follow from code or measurements are what their generators write."""

import runpy
import shutil
from pathlib import Path

import pandas as pd
import pytest
import results

import costboost
from costboost_papers import pages, registry

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
NAMES = (
    *("choosing", "effort", "gain", "gallery", "notebook", "papers", "pictures", "promises"),
    *("scale", "service", "walk"),
)
MADE = {name: runpy.run_path(str(DOCS / "_pages" / f"{name}.py")) for name in NAMES}
GAIN, PAPERS, DRAWN, GALLERY = (MADE[one] for one in ("gain", "papers", "pictures", "gallery"))


@pytest.mark.parametrize("name", [name for name in NAMES if name != "pictures"])
def test_pages_are_up_to_date(name):
    """What examples and notebooks print is compared by test_examples.py."""
    for path, text in MADE[name]["pages"]().items():
        stale = f"{path.name} is stale: run python docs/build.py {name} --keep"
        assert path.read_text("utf-8") == text, stale


def test_pages_of_papers_follow_from_the_kept_rows(tmp_path, monkeypatch):
    monkeypatch.setattr(pages, "save_figure", lambda figure, path: None)
    docs = DOCS / "papers"
    for folder in ("rows", "summaries"):
        shutil.copytree(docs / folder, tmp_path / folder)
    written = pages.write_pages(tmp_path, tmp_path / "nothing new")
    for path in (*written, *(tmp_path / "summaries").iterdir()):
        old = (docs / path.relative_to(tmp_path)).read_text("utf-8")
        assert old == path.read_text("utf-8"), f"{path.name}: run costboost-papers pages"
    names = {"README", *(paper.name for paper in registry.PAPERS)}
    assert {path.stem for path in docs.glob("*.md")} == names
    assert 0 < max(path.stat().st_size for path in (docs / "rows").iterdir()) < 800_000


def test_gain_follows_from_the_rows(tmp_path, monkeypatch):
    """Figures of one's own: constants from costs and scores, means over splits, medians."""
    header = "data,costs,group,development,split,method,score,mean_cost,fit_seconds,n_train,"
    rows = [
        f"{data},row costs,per row,0,{split},{method},{score},{cost},{seconds},{size},{known},abc"
        for data, size in zip(GAIN["CASES"], (900, 900, 2000, 6000), strict=True)
        for split, ours in enumerate(("0.75,0.5", "0.65,0.7"))
        for method, score, cost, seconds, known in (
            ("LightGBM", 0.0, 2.0, 1, ""),
            ("LightGBM + Bayes", 0.6, 0.8, 1, ""),
            ("LightGBM calibrated + Bayes", 0.5, 1.0, 1, ""),
            ("AutoGluon + Bayes", 0.8, 0.4, 12, ""),
            ("CostBoost", *ours.split(","), 1, 0.8),
        )
    ]
    text = "\n".join([f"{header}estimated,commit", *rows]) + "\n"
    (tmp_path / "held_out_cost.csv").write_text(text, encoding="utf-8")
    hidden = "data,split,mean costs,learned costs,(costs told),commit\nmade,0,0.25,0.5,0.75,def\n"
    (tmp_path / "hidden_costs.csv").write_text(hidden, encoding="utf-8")
    monkeypatch.setattr(results, "RESULTS", tmp_path)
    page = GAIN["page"]()
    assert "| **600 €** | 1,000 € | 2,000 € | 2,000 € |" in page
    assert "| up to 1,000 | 2 | +0.200 | +0.200 | 2 | 0 |" in page
    assert "| 1,001 to 5,000 | 1 | +0.200" in page and "| more than 5,000 | 1 | +0.200" in page
    assert "likeliest class cost 2.5 times as much" in page and "in 12 times the time" in page
    assert "Mean of 2 splits." in page
    assert "| made | 0.250 | 0.500 | +0.250 | 0.750 |" in page
    assert "was +0.100 in the median and +0.100 in the mean" in page
    assert "where costs are known only afterwards (25.0 points" in GAIN["summary"]("gain.md")
    # Savings count what is paid beyond the cheapest decision: 2 here, beside 10 for a constant.
    rows = [{"score": str(s), "mean_cost": str(2 + (1 - s) * 8)} for s in (0.9, 0.25, -0.5)]
    assert GAIN["constant"](rows) == pytest.approx(10)


@pytest.mark.parametrize(("name", "lines"), [("AdaC1", 2), ("AdaC2", 4), ("CSB2", 4)])
def test_weights_that_follow_from_a_loss_have_one_line_per_row(name, lines):
    """AdaC1's weights depend on the margin alone; the others' on the number of rounds, too."""
    plt = pytest.importorskip("matplotlib.pyplot")
    figure, ax = plt.subplots()
    DRAWN["weights"](f"{name}Classifier")(ax)
    assert sum(len(line.get_xdata()) > 0 for line in ax.lines) == lines
    plt.close(figure)


def test_no_page_is_left_over_and_every_class_and_example_has_one():
    written = {path for path in PAPERS["pages"]() if path.parent.name == "algorithms"}
    assert set((DOCS / "algorithms").glob("*.md")) == written
    assert set(DRAWN["LOSS_PANELS"]) == set(PAPERS["papers"]())
    page = (DOCS / "choosing.md").read_text("utf-8")
    assert all(f"`{name}" in page for name in costboost.__all__ if name.endswith("Classifier"))
    names = {path.stem for path in (ROOT / "examples").glob("*.py")}
    assert names == {example.name for example in GALLERY["examples"]()}


def test_the_fair_table_follows_from_the_rows(tmp_path, monkeypatch):
    """A part of a run too: medians, differences, ideas, and problems where an algorithm wins."""
    import fair

    monkeypatch.setattr(results, "RESULTS", tmp_path)
    assert "Not measured yet: run `python -m benchmarks.fair`" in fair.section()
    names = [name for names in fair.IDEAS.values() for name in names]
    assert sorted(f"{name}Classifier" for name in names) == sorted(costboost.algorithms.__all__)
    assert set(fair.LOSSES) <= set(names)
    scores = {name: 0.1 for name in names} | {f"{name}, tuned": 0.4 for name in names}
    scores |= {fair.OURS: 0.5, "AsyBL, tuned": 0.7} | dict.fromkeys(fair.RIVALS, 0.45)
    scores |= {f"CostBoost, loss={loss}": 0.3 for loss in fair.LOSSES.values()}
    lines = [
        f'{data},ratio 5,0,"{method}",{score - 0.1 * number},1.0,900,{number % 2},abc,'
        for number, data in enumerate("abcdef")
        for method, score in scores.items()
    ]
    header = "data,costs,split,method,score,fit_seconds,n_train,development,commit,error"
    (tmp_path / "fair.csv").write_text("\n".join([header, *lines]) + "\n", encoding="utf-8")
    page = fair.section()
    assert "27 published algorithms on 6 problems, one of each of 6 of the 39 sets" in page
    assert "(3 of 6) the median algorithm differs from CostBoost by −0.100" in page
    assert "| `AsyBL` | 6 | −0.150 | 0.450 | 0.050 | 0.250 | +0.200 ± 0.000 | 6, 0 | 1.0 |" in page
    assert "26 of 27 are worse" in page and "better: AsyBL." in page
    assert "| a, ratio 5 | 1 of 27 | AsyBL | 0.700 | 0.500 |" in page
    assert "`gll` −0.200 (cheaper on 0 of 6)" in page and "Half of them or more" not in page


def test_the_page_on_large_tables_shows_what_was_measured(tmp_path, monkeypatch):
    monkeypatch.setattr(results, "RESULTS", tmp_path)
    page = MADE["scale"]["page"]
    assert page().count("Not measured yet: run `make bench-scale`.") == 6
    sizes = (("fit_parquet", 1, 500), ("fit", 1, 700), ("fit", 2, 1200), ("fit_parquet", 11, 900))
    machine = {"cores": 2, "commit": "abc", "load": 0.5}
    measured = {"features": 20, "trees": 50, "seconds": 40, "start_mb": 200, "savings": 0.45}
    pd.DataFrame(
        {"method": method, "rows": n * 10**6, **measured, "peak_mb": peak,
         "anonymous_mb": peak - 100, "mapped_mb": 100, **machine}
        for method, n, peak in sizes
    ).to_csv(tmp_path / "out_of_core.csv", index=False)  # fmt: skip
    row = {"what": "rows on Dask", "ours": 6, "rival": "theirs", "theirs": 5, "ratio": 1.2}
    pd.DataFrame([row | machine]).to_csv(tmp_path / "dask_speed.csv", index=False)
    for words in (
        "| rows on Dask | 6 | theirs | 5 | 1.2 |",
        "`fit_parquet` takes 42 bytes and `fit` takes 524 bytes",
        "| 11,000,000 | `fit_parquet` | 40 | 900 |",
        "| memory of `fit_parquet`, 42 bytes per row | | 42 GB | 42 GB |",
        "would take 1.0 hours for 50 trees on 2 cores",
    ):
        assert words in page()

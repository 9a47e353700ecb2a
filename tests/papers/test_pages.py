"""Summaries, orderings and the generated pages."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from costboost_papers.pages import (
    markdown_table,
    ordering,
    read_summary,
    summarise,
    write_pages,
    write_summary,
)
from costboost_papers.run import Store, run_item
from helpers.toy_paper import install


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """The toy module, and a registry that has nothing else."""
    return install(tmp_path, monkeypatch)


def test_summary_survives_the_disk(toy, tmp_path):
    item = toy.ITEMS[0]
    run_item(item, "full", tmp_path, n_jobs=1)
    summary = summarise(item, Store(tmp_path, item, "full").rows())
    assert len(summary) == 2 * 3 * 2 * 3 * 3  # sets, algorithms, settings, metrics, statistics
    assert set(summary.loc[summary["metric"] == "cost", "n"]) == {4}
    write_summary(tmp_path, item, summary)
    pd.testing.assert_frame_equal(read_summary(tmp_path, item), summary, check_dtype=False)
    mean = summary.query("metric == 'cost' and statistic == 'mean'")["value"]
    assert mean.map(lambda value: float(f"{value:.6g}") == value).all()


def test_ordering_is_kendalls_tau_per_set(toy, tmp_path):
    item = toy.ITEMS[0]
    run_item(item, "quick", tmp_path, n_jobs=1)
    taus = ordering(item, summarise(item, Store(tmp_path, item, "quick").rows()))
    (row,) = taus.to_dict("records")  # the paper prints data set a without a setting only
    assert (row["dataset"], row["setting"], row["n"]) == ("a", "", 3)
    assert row["tau"] == pytest.approx(1 / 3)  # one of three pairs is the other way round


def test_pages_come_from_rows_or_from_summaries(toy, tmp_path):
    item = toy.ITEMS[0]
    docs = tmp_path / "docs"
    write_pages(docs)
    assert "Not run yet: `costboost reproduce toy table1`" in (docs / "toy.md").read_text()
    run_item(item, "full", tmp_path / "results", n_jobs=1)
    pages = write_pages(docs, tmp_path / "results")
    assert [page.name for page in pages] == ["toy.md", "README.md"]
    first = [page.read_text() for page in pages]
    assert "Full run: 48 tasks" in first[0]
    assert "**Holds**: One is best. 1 < 2." in first[0]
    assert "**Holds in part**: All is well. 2 items." in first[0]
    assert "Differences from the paper: as for table1." in first[0]
    assert "ordering by cost: a 0.33." in first[0]
    assert "| **holds** | 1 < 2. |" in first[1]
    for picture in ("toy-table1.png", "toy-figure1.png"):
        assert 0 < (docs / "figures" / picture).stat().st_size < 100_000
        assert f"figures/{picture}" in first[0]
    again = [page.read_text() for page in write_pages(docs)]  # without the rows
    assert again == first


def test_markdown_tables_escape():
    frame = pd.DataFrame({"a|b": ["x|y"], "n": [0.123456], "none": [np.nan]})
    assert markdown_table(frame).splitlines()[0] == "| a\\|b | n | none |"
    assert markdown_table(frame).splitlines()[2] == "| x\\|y | 0.1235 |  |"


def test_pages_leave_out_a_run_that_is_not_whole(toy, tmp_path, monkeypatch):
    monkeypatch.setenv("TOY_FAILS", "toy/table1/a/two//0")
    run_item(toy.ITEMS[0], "full", tmp_path / "results", n_jobs=1)
    lines = []
    write_pages(tmp_path / "docs", tmp_path / "results", say=lines.append)
    assert lines[0].startswith("toy table1: 47 of 48 tasks are done")
    assert "Not run yet" in (tmp_path / "docs" / "toy.md").read_text()

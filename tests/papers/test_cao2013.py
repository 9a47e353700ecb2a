"""Cao et al. (2013): the printed tables, the items on tiny settings, and the verdicts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from costboost.datasets import bayes_decision
from costboost_papers import cao2013
from costboost_papers.item import Task
from costboost_papers.pages import ordering, summarise
from costboost_papers.protocol import BinaryData, binary_data
from data import rows_of_tasks

ITEMS = {item.name: item for item in cao2013.ITEMS}
TABLES = [f"table{k}" for k in range(1, 6)]


@pytest.mark.parametrize("name", TABLES)
def test_printed_tables_are_whole_and_consistent(name):
    printed = ITEMS[name].printed()
    wide = printed.pivot(index="algorithm", columns="metric", values="value")
    assert set(wide.index) == set(cao2013.ALGORITHMS) - {cao2013.SHRUNK}
    assert wide.notna().all(axis=None)
    # F is that of precision and recall, up to rounding and averaging over the folds.
    f = 2 * wide["precision"] * wide["recall"] / (wide["precision"] + wide["recall"])
    assert (f - wide["f"]).abs().max() < 0.13
    assert wide["cost"].idxmin() == "AsyB"


def test_the_printed_g_mean_has_counts():
    """On crx 296 of 653 rows are positive: sqrt(TP TN) / n of the printed precision and recall."""
    wide = ITEMS["table1"].printed().pivot(index="algorithm", columns="metric", values="value")
    hits = wide["recall"] * 296 / 653
    alarms = hits * (1 / wide["precision"] - 1)
    g = np.sqrt(hits * np.maximum(357 / 653 - alarms, 0))
    assert (g - wide["g-mean (paper)"])[wide["g-mean (paper)"] > 0.1].abs().max() < 0.02


def test_crx_has_the_rows_of_the_paper(data_dir):
    data = cao2013._data("crx", None)
    assert len(data.y) == 653 and (data.y == 0).sum() / 5 == 71.4  # what one decision costs there
    assert not data.X.isna().any(axis=None)


def test_a_table_from_fit_to_page(data_dir):
    item = ITEMS["table4"]
    tasks = [task for task in item.tasks("quick") if task.split == 0]
    rows = rows_of_tasks(item, tasks)
    for setting in (cao2013.C45, cao2013.SETTING):
        own = rows[rows["setting"] == setting].set_index("algorithm")
        last, cost = (own[own["metric"] == name]["value"] for name in ("test cost@50", "cost"))
        pd.testing.assert_series_equal(last, cost)  # the curve ends where the table is
    summary = summarise(item, rows)
    table = item.table(summary)
    assert list(table["algorithm"]) == list(cao2013.ALGORITHMS)
    assert "[92.0 ± 8.9]" in table.loc[0, "cost"]
    assert "[" not in table.iloc[-1]["cost"]  # the added one is not in the paper
    assert {"cost, 8 leaves", "cost, 32 leaves"} <= set(table.columns)
    (tau,) = ordering(item, summary[summary["setting"] == cao2013.SETTING])["tau"]
    assert -1 <= tau <= 1


def test_all_algorithms_and_trees_see_the_same_rows(data_dir):
    item = ITEMS["table4"]
    found = [
        item.run(Task("cao2013", "table4", "pima", algorithm, setting, 1), "quick")
        for algorithm in ("AdaC1", "AsyBL")
        for setting in cao2013.LEARNERS
    ]
    assert {round(one["fn"] / (1 - one["recall"])) for one in found if one["recall"] < 1} <= {
        53,
        54,
    }
    # AsyBL fits real-valued responses, with regression trees where the others have C4.5.
    assert found[3]["cost"] == found[4]["cost"] and found[0]["cost"] != found[1]["cost"]


def test_figure3_reads_the_rows_of_table3(data_dir, monkeypatch):
    figure3, table3 = ITEMS["figure3"], ITEMS["table3"]
    assert figure3.shares_rows_with == table3.name
    data = binary_data("phoneme")
    small = BinaryData(data.X.iloc[::6], data.y[::6])
    monkeypatch.setattr(cao2013, "_data", lambda name, positive: small)
    tasks = [t for t in table3.tasks("quick") if t.split == 0 and t.setting == cao2013.SETTING]
    rows = rows_of_tasks(table3, tasks)
    summary = summarise(figure3, rows)
    assert {"train fall", "test fall"} <= set(summary["metric"])
    assert not summarise(table3, rows)["metric"].str.contains("@").any()
    assert len(figure3.table(summary)) == len(cao2013.ALGORITHMS)
    figure = figure3.figure(summary)
    assert len(figure.axes) == 12
    assert len(figure3.conclusions(summary)) == 4


def test_boundaries_are_kept_and_drawn(monkeypatch):
    monkeypatch.setattr(cao2013, "ROUNDS", 5)
    for name in ("figure1", "figure2"):
        item = ITEMS[name]
        rows = rows_of_tasks(item, [task for task in item.tasks("quick") if task.split == 0])
        summary = summarise(item, rows)
        assert len(summary) < 900
        assert len(item.table(summary)) == len(item.entries)
        figure = item.figure(summary)
        assert sum(bool(ax.get_title()) for ax in figure.axes) == len(item.entries)
        assert all("Bayes" in found.test for found in item.conclusions(summary))


def test_a_boundary_survives_the_summary():
    class Best:
        def predict(self, X):
            return bayes_decision(X, 5.0)

    flips = cao2013._flips(Best())
    summary = pd.DataFrame({"metric": list(flips), "value": list(flips.values())})
    response = cao2013._response(summary)
    columns, heights = cao2013.COLUMNS, cao2013.HEIGHTS
    grid = np.column_stack([axis.ravel() for axis in np.meshgrid(columns, heights)])
    truth = bayes_decision(grid, 5.0).reshape(response.shape)
    assert (np.sign(response) == truth).mean() > 0.995


def test_a_collapsed_classifier_has_no_boundary():
    class Always:
        def predict(self, X):
            return np.ones(len(X))

    flips = cao2013._flips(Always())
    assert set(flips.values()) == {-6.0}
    summary = pd.DataFrame({"metric": list(flips), "value": list(flips.values())})
    assert (cao2013._response(summary) > 0).all()

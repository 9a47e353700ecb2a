"""Lozano and Abe (2008): tasks run on a tiny set, conclusions follow from hand-made rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

from costboost.costs import Costs
from costboost_papers import lozano2008
from costboost_papers.item import SUMMARY_COLUMNS, wide
from costboost_papers.lozano2008 import ITEMS
from costboost_papers.pages import summarise
from data import blobs, rows_of_values

FIGURE1, TABLE1, TABLE2 = ITEMS


def test_the_columns_that_both_tables_print_agree():
    tables = [wide(item.printed().assign(statistic="mean"), "cost") for item in (TABLE1, TABLE2)]
    assert tables[0].shape == (24, 5) and tables[1].shape == (24, 5)  # 8 sets, three trees
    for name in ("p=1", "p=2"):
        np.testing.assert_array_equal(tables[0][name], tables[1][name])


@pytest.fixture
def tiny_lozano(monkeypatch):
    monkeypatch.setattr(lozano2008, "dataset", lambda name: blobs())
    effort = replace(lozano2008.EFFORTS["full"], rounds=2, most_rows=60)
    monkeypatch.setattr(lozano2008, "EFFORTS", {"quick": effort, "full": effort})


def test_every_algorithm_runs(tiny_lozano):
    tasks = [t for t in TABLE1.tasks("full") if t.dataset == "splice" and t.split == 0]
    algorithms = {task.algorithm for task in tasks}
    assert {*lozano2008.ESTIMATORS, "constant"} == algorithms
    for task in tasks:
        found = TABLE1.run(task, "full")
        assert found["cost"] >= 0 and found["rounds"] <= 2
    assert TABLE1.run(tasks[0], "full") == TABLE1.run(tasks[0], "full")


def test_the_constant_decision_is_the_cheapest_on_the_training_rows():
    costs = Costs(np.array(["a", "b", "c"]), np.array([[0, 9, 1], [1, 0, 1], [9, 9, 0]]))
    decided = lozano2008._cheapest_constant(costs, np.array(["a", "b", "b", "c"]), 3)
    assert decided.tolist() == ["c"] * 3


def test_tree_sizes_see_the_same_rows_and_costs(tiny_lozano):
    """A constant does not depend on the tree."""
    task = next(t for t in TABLE1.tasks("full") if t.algorithm == "constant")
    assert TABLE1.run(task, "full") == TABLE1.run(replace(task, setting="grown"), "full")


def test_flare_is_told_by_its_c_class_flares(data_dir):
    X, y = lozano2008.dataset("flare")
    assert sorted(set(y.tolist())) == list(range(7))
    assert not [column for column in X.columns if "flares_production" in column]
    assert "zurich_class" in X.columns


def lozano_rows(cost_of):
    """Rows of the full plan with costs by algorithm; two splits that differ by 2."""
    values = {}
    for task in TABLE1.tasks("full"):
        if task.split < 2:
            key = (task.dataset, task.algorithm, task.setting, task.split)
            values[(*key, "cost")] = cost_of(task.algorithm) + 2 * task.split
            values[(*key, "rounds")] = 30.0
    return rows_of_values(TABLE1, values)


ORDERED = {"constant": 500.0, "AdaBoost.M2": 40.0, "AdaCost": 60.0, "CSB2": 50.0, "p=1": 30.0}


def as_in_the_paper(name):
    return ORDERED.get(name, 20.0 - float(name[2]) if name.startswith("p=") else 25.0)


def test_table_has_ours_above_the_printed():
    summary = summarise(TABLE1, lozano_rows(as_in_the_paper))
    assert list(summary.columns) == SUMMARY_COLUMNS
    table = TABLE1.table(summary)
    assert table["tree"].tolist() == ["C4.5", "16 leaves", "grown", "paper"] * 8
    first = table.iloc[0]
    assert first["data set"] == "splice"
    assert first["AdaBoost.M2"] == "41.0 ± 1.0"
    assert table.iloc[3]["p=2"] == "31.3 ± 1.9"
    assert "p=3" not in table.columns
    assert list(TABLE2.table(summarise(TABLE2, lozano_rows(as_in_the_paper))).columns)[2:7] == list(
        lozano2008.NORMS
    )


# --- Figure 1: one tree over pairs ----------------------------------------------------------


def test_figure1_runs(monkeypatch):
    monkeypatch.setattr(lozano2008, "dataset", lambda name: blobs())
    monkeypatch.setattr(lozano2008, "FIGURE_EFFORTS", {"full": (2, 1)})
    tasks = [t for t in FIGURE1.tasks("full") if t.dataset == "vehicle"]
    assert {t.setting for t in tasks} == set(lozano2008.LEARNERS)
    found = {task: FIGURE1.run(task, "full") for task in tasks}
    assert all(row["cost"] >= 0 and row["rounds"] <= 2 for row in found.values())
    assert FIGURE1.run(tasks[-1], "full") == found[tasks[-1]]

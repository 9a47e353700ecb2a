"""Lozano and Abe (2008): tasks run on a tiny set, tables follow from hand-made rows."""

from __future__ import annotations

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from costboost.costs import Costs
from costboost_papers import lozano2008
from costboost_papers.item import wide
from costboost_papers.pages import summarise
from data import blobs, rows_of_values

FIGURE1, TABLE1, TABLE2 = lozano2008.ITEMS


@pytest.fixture
def tiny(monkeypatch):
    monkeypatch.setattr(lozano2008, "dataset", lambda name: blobs())
    effort = SimpleNamespace(**vars(lozano2008.EFFORTS["full"]) | {"rounds": 2, "most_rows": 60})
    monkeypatch.setattr(lozano2008, "EFFORTS", {"full": effort})
    monkeypatch.setattr(lozano2008, "FIGURE_EFFORTS", {"full": (2, 1)})


def test_the_columns_that_both_tables_print_agree():
    tables = [wide(item.printed_summary(), "cost") for item in (TABLE1, TABLE2)]
    assert tables[0].shape == (24, 5) and tables[1].shape == (24, 5)  # 8 sets, three trees
    for name in ("p=1", "p=2"):
        np.testing.assert_array_equal(tables[0][name], tables[1][name])


def test_every_algorithm_runs(tiny):
    tasks = [t for t in TABLE1.tasks("full") if t.dataset == "splice" and t.split == 0]
    assert {*lozano2008.ESTIMATORS, "constant"} == {task.algorithm for task in tasks}
    others = [t for t in FIGURE1.tasks("full") if t.dataset == "vehicle"]
    assert {task.setting for task in others} == set(lozano2008.LEARNERS)
    for item, plan in ((TABLE1, tasks), (FIGURE1, others)):
        for task in plan:
            found = item.run(task, "full")
            assert found["cost"] >= 0 and found["rounds"] <= 2
        assert item.run(task, "full") == found
    # Tree sizes see the same rows and costs: a constant does not depend on the tree.
    task = next(t for t in tasks if t.algorithm == "constant")
    assert TABLE1.run(task, "full") == TABLE1.run(replace(task, setting="grown"), "full")


def test_the_constant_decision_is_the_cheapest_on_the_training_rows():
    costs = Costs(np.array(["a", "b", "c"]), np.array([[0, 9, 1], [1, 0, 1], [9, 9, 0]]))
    decided = lozano2008.cheapest_constant(costs, np.array(["a", "b", "b", "c"]), 3)
    assert decided.tolist() == ["c"] * 3


def test_flare_is_told_by_its_c_class_flares(data_dir):
    X, y = lozano2008.dataset("flare")
    assert sorted(set(y.tolist())) == list(range(7))
    assert not [column for column in X.columns if "flares_production" in column]
    assert "zurich_class" in X.columns


def test_tables_have_ours_above_the_printed():
    ordered = {"constant": 500.0, "AdaBoost.M2": 40.0, "AdaCost": 60.0, "CSB2": 50.0, "p=1": 30.0}
    values = {}
    for task in TABLE1.tasks("full"):
        if task.split < 2:
            key = (task.dataset, task.algorithm, task.setting, task.split)
            values[(*key, "cost")] = ordered.get(task.algorithm, 20.0) + 2 * task.split
            values[(*key, "rounds")] = 30.0
    rows = rows_of_values(TABLE1, values)
    table = TABLE1.table(summarise(TABLE1, rows))
    assert table["tree"].tolist() == ["C4.5", "16 leaves", "grown", "paper"] * 8
    assert table.iloc[0]["data set"] == "splice"
    assert table.iloc[0]["AdaBoost.M2"] == "41.0 ± 1.0"
    assert table.iloc[3]["p=2"] == "31.3 ± 1.9"
    assert "p=3" not in table.columns
    second = TABLE2.table(summarise(TABLE2, rows))
    assert list(second.columns)[2:7] == list(lozano2008.NORMS)

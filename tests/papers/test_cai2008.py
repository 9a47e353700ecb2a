"""Cai et al. (2008): the sweep of costs on a tiny set; tables and conclusions of made rows."""

from __future__ import annotations

import itertools
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from matplotlib import pyplot

from costboost_papers import cai2008
from costboost_papers.item import wide
from costboost_papers.pages import summarise
from costboost_papers.protocol import BinaryData, holdout
from data import rows_of_values

(TABLE3,) = cai2008.ITEMS


@pytest.fixture
def tiny(monkeypatch):
    rng = np.random.default_rng(0)
    y = np.repeat([0, 1], [80, 40])
    data = BinaryData(pd.DataFrame({"u": y + rng.normal(size=120), "v": rng.normal(size=120)}), y)
    monkeypatch.setattr(cai2008, "binary_data", lambda name: data)
    effort = SimpleNamespace(splits=2, costs=(0.1, 0.9), trees=("C4.5",), rounds=2)
    monkeypatch.setattr(cai2008, "EFFORTS", {"quick": effort, "full": effort})


def test_plan_and_printed():
    assert len(TABLE3.tasks("full")) == 4 * 20 * 3 * 6
    printed = wide(TABLE3.printed_summary(), "best f")
    assert printed.shape == (12, 4) and printed.loc[("pima", "grown"), "Gradient"] == 69.84


def test_every_algorithm_runs(tiny):
    for task in TABLE3.tasks("full")[:6]:
        found = TABLE3.run(task, "full")
        assert all(0 <= value <= 100 for value in found.values())
        swept = {"f@0.1", "f@0.9"} | ({"nested f"} if task.algorithm in cai2008.NESTED else set())
        assert set(found) == ({"f"} if task.algorithm in cai2008.BLIND else swept)
        if "nested f" in found:
            assert found["nested f"] in (found["f@0.1"], found["f@0.9"])
    assert found == TABLE3.run(task, "full")


def test_tree_sizes_and_costs_see_the_same_rows(tiny, monkeypatch):
    seen = []

    def record(y, share, seed):
        seen.append((share, seed))
        return holdout(y, share, seed)

    monkeypatch.setattr(cai2008, "holdout", record)
    task = next(task for task in TABLE3.tasks("full") if task.algorithm == "AdaC1")
    for setting in cai2008.LEARNERS:
        TABLE3.run(replace(task, setting=setting), "full")
    assert len(seen) == 3 and len(set(seen)) == 1


@pytest.fixture(scope="module")
def summary():
    """Of all data sets and trees, F as in the paper's order and best with the cost 0.2."""
    level = {"C4.5": 40.0, "AdaBoost": 45.0, "AdaCost": 55.0, "Gradient": 56.0}
    values = {}
    for *place, split in itertools.product(cai2008.DATASETS, cai2008.LEARNERS, range(4)):
        for algorithm in (*cai2008.BLIND, *cai2008.SWEPT):
            f = level.get(algorithm, 50.0) + split
            found = {f"f@{c}": f - 10 * abs(c - 0.2) for c in cai2008.COSTS}
            if algorithm in cai2008.NESTED:
                found["nested f"] = found["f@0.3"]
            for metric, value in ({"f": f} if algorithm in cai2008.BLIND else found).items():
                values[place[0], algorithm, place[1], split, metric] = value
    return summarise(TABLE3, rows_of_values(TABLE3, values))


def test_the_best_cost_is_that_of_the_highest_mean(summary):
    place = ("pima", "8 leaves")
    assert wide(summary, "best f").loc[place, "Gradient"] == pytest.approx(57.5)
    assert wide(summary, "best f").loc[place, "C4.5"] == pytest.approx(41.5)
    assert wide(summary, "best cost", "value").loc[place, "Gradient"] == 0.2
    assert wide(summary, "nested f").loc[place, "Gradient"] == pytest.approx(56.5)
    assert wide(summary, "best f", "more than AdaCost").loc[place, "Gradient"] == pytest.approx(1)


def test_table_and_figure(summary):
    table = TABLE3.table(summary)
    assert table["tree"].tolist() == ["C4.5", "8 leaves", "grown", "paper"] * 4
    assert list(table.columns[2:6]) == list(cai2008.PRINTED)
    assert table.iloc[3]["Gradient"] == "53.68"
    assert table.iloc[0]["Gradient, nested"].startswith("56.5 ±")
    assert table.iloc[3]["Gradient, nested"] == ""
    figure = TABLE3.figure(summary)
    assert [ax.get_title() for ax in figure.axes] == list(cai2008.DATASETS)
    assert len(figure.axes[0].lines) == 12
    pyplot.close(figure)

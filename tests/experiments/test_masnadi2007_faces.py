"""Figure 4 of masnadi2007: its measures by hand, its tasks on tiny settings."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from costboost.experiments.item import SUMMARY_COLUMNS, Task
from costboost.experiments.masnadi2007 import faces
from costboost.experiments.registry import find

pytest.importorskip("skimage", reason='needs scikit-image: pip install "costboost[experiments]"')

ITEM = faces.Figure4()


@pytest.fixture(scope="module", autouse=True)
def tiny():
    """Few features, rounds and windows."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(faces.FEATURES, "quick", 30)
        patch.setitem(faces.ROUNDS, "quick", (2, 5))
        patch.setattr(faces, "N_CUT", 60)
        faces._data.cache_clear()
        yield
        faces._data.cache_clear()


def test_it_is_registered():
    assert isinstance(find("masnadi2007", "figure4"), faces.Figure4)


def test_tasks_pair_the_methods():
    for mode in ("quick", "full"):
        tasks = ITEM.tasks(mode)
        assert len({task.key for task in tasks}) == len(tasks)
        assert {task.algorithm for task in tasks} == set(faces.METHODS)
        seeds = {(task.split, task.seed) for task in tasks}
        assert len(seeds) == faces.SPLITS[mode]


def test_costs_by_hand():
    truth, scores = [1, 1, 0, 0], [0.9, 0.2, 0.5, 0.1]
    at = faces.costs_by_threshold(truth, scores, [0.0, 0.15, 0.3, 0.7, 1.0], 10)
    assert at.tolist() == [2.0, 1.0, 11.0, 10.0, 20.0]
    assert faces.best_cost(truth, [scores], 10) == 1.0
    assert faces.best_cost(truth, [scores, truth], 10) == 0.0
    assert faces.best_cost(truth, [[0.0] * 4], 10) == 2.0  # one decision for all


def test_the_honest_cost_is_not_below_the_searched_one():
    rng = np.random.default_rng(0)
    truth = rng.integers(0, 2, 80)
    scores = truth + rng.normal(size=(5, 80))
    for f in faces.FACTORS:
        honest = faces.halves_cost(truth, scores, f, seed=1)
        assert honest >= faces.best_cost(truth, scores, f)


def test_halves_choose_on_one_half_and_measure_on_the_other():
    """A detector that is right on all rows wins over one that is never right."""
    truth = np.array([0, 1] * 20)
    assert faces.halves_cost(truth, [-truth, truth - 0.5], 50, seed=0) == 0.0
    assert faces.halves_cost(truth, [0.0 * truth], 50, seed=0) == 20.0  # flags everything


@pytest.fixture(scope="module")
def summary(tiny):
    rows = []
    for task in ITEM.tasks("quick"):
        for metric, value in ITEM.run(task, "quick").items():
            shared = {"dataset": task.dataset, "algorithm": task.algorithm, "setting": ""}
            rows.append({**shared, "split": task.split, "metric": metric, "value": value})
    return ITEM.summarise(pd.DataFrame(rows))


def test_summary(summary):
    assert list(summary.columns) == SUMMARY_COLUMNS
    assert len(summary) < 600
    assert not summary["value"].isna().any()
    excess = summary[summary["statistic"] == faces.EXCESS]
    assert set(excess["algorithm"]) == set(faces.METHODS) - {faces.OURS}
    value = faces.lookup(summary)
    metric = faces.minimum(20, 5)
    difference = value("CSB2", metric) - value(faces.OURS, metric)
    assert value("CSB2", metric, faces.EXCESS) == pytest.approx(difference)


def test_table_has_every_method_and_factor(summary):
    table = ITEM.table(summary)
    assert len(table) == 2 * len(faces.METHODS)
    assert table["rounds"].unique().tolist() == [2, 5]
    assert table.shape[1] == 2 + 2 * len(faces.FACTORS)
    assert (table != "").all(axis=None)


def test_figure_has_a_line_per_cost_and_per_method(summary):
    left, right = ITEM.figure(summary).axes
    assert len(left.lines) == len(faces.COSTS["quick"])
    assert len(right.lines) == len(faces.METHODS)


def test_conclusions_state_figures(summary):
    found = ITEM.conclusions(summary)
    assert len(found) == 5
    for conclusion in found:
        assert any(letter.isdigit() for letter in conclusion.evidence)
        assert conclusion.why
        assert "nan" not in conclusion.evidence


def test_nothing_is_printed():
    assert ITEM.printed().empty


def test_same_task_same_figures():
    task = Task("masnadi2007", "figure4", faces.DATA, "AdaBoost")
    assert ITEM.run(task, "quick") == ITEM.run(task, "quick")

"""Every paper has items, and every item a plan; what their protocols share."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from costboost_papers import registry
from costboost_papers.item import PRINTED_COLUMNS
from costboost_papers.protocol import capped, encode, fold, g_mean, holdout


def test_folds_partition_and_repeat_differently():
    y = np.repeat([0, 1], [40, 10])
    tests = [fold(y, 5, number, seed=3)[1] for number in range(10)]
    for start in (0, 5):
        np.testing.assert_array_equal(np.sort(np.concatenate(tests[start : start + 5])), range(50))
    assert all(y[test].sum() == 2 for test in tests)
    assert not np.array_equal(tests[0], tests[5])
    train, test = holdout(y, 0.2, seed=3)
    assert len(test) == 10 and not set(train) & set(test)


def test_drawn_training_rows_keep_small_classes():
    y, train = np.repeat([0, 1, 2], [900, 95, 5]), np.arange(1000)
    kept = capped(y, train, 100, seed=1)
    assert np.bincount(y[kept]).tolist() == [90, 10, 5]
    assert len(np.unique(kept)) == len(kept)
    assert capped(y, train, 1000, seed=1) is train


def test_encoding_learns_from_the_training_part():
    train = pd.DataFrame({"x": [1.0, np.nan, 3.0, 3.0], "c": pd.Categorical(["a", "b", "a", None])})
    test = pd.DataFrame({"x": [np.nan, 5.0], "c": pd.Categorical(["new", "b"])})
    coded, other = encode(train, test)
    np.testing.assert_array_equal(coded, [[1, 0], [3, 1], [3, 0], [3, 0]])
    np.testing.assert_array_equal(other, [[3, -1], [5, 1]])
    hot, unseen = encode(train, test, one_hot=True, scale=True)
    np.testing.assert_allclose(hot.mean(axis=0), 0, atol=1e-12)
    assert unseen.shape == (2, 3)


def test_every_item_has_a_plan():
    assert [len(paper.items()) for paper in registry.PAPERS] == [3, 1, 5, 3, 8, 1]
    for item in registry.items():
        assert item.title and item.notes and item.minutes >= 0
        source, printed = registry.owner(item), item.printed()
        for tasks in (source.tasks("quick"), source.tasks("full")):
            assert 0 < len(set(tasks)) == len(tasks) <= len(source.tasks("full"))
            assert {(task.paper, task.item) for task in tasks} == {(source.paper, source.name)}
        assert list(printed.columns) == PRINTED_COLUMNS and printed["value"].notna().all()
    task = registry.find("cai2008", "table3").tasks("full")[0]  # renamed: it keeps its seeds
    assert task.seed == replace(task, paper="cai").seed != replace(task, paper="cao2013").seed


def test_g_mean():
    truth = np.array([0, 0, 0, 1, 1])
    decided = np.array([0, 1, 1, 0, 1])  # two false alarms, one miss
    assert g_mean(truth, decided) == pytest.approx(np.sqrt(1 / 3 * 1 / 2))
    assert g_mean([0, 0], [0, 1]) == 0.5  # over the classes that are there
    assert g_mean([0, 0, 1, 1, 2, 2], [0, 0, 1, 0, 2, 1]) == pytest.approx(0.25 ** (1 / 3))

"""Every paper has items, and every item a plan; what their protocols share."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from costboost_papers import registry
from costboost_papers.protocol import binary_metrics, encode, fold, holdout


def test_folds_partition_and_repeat_differently():
    y = np.repeat([0, 1], [40, 10])
    tests = [fold(y, 5, number, seed=3)[1] for number in range(10)]
    for start in (0, 5):
        np.testing.assert_array_equal(np.sort(np.concatenate(tests[start : start + 5])), range(50))
    assert all(y[test].sum() == 2 for test in tests)
    assert not np.array_equal(tests[0], tests[5])
    train, test = holdout(y, 0.2, seed=3)
    assert len(test) == 10 and not set(train) & set(test)


def test_encoding_learns_from_the_training_part():
    train = pd.DataFrame({"x": [1.0, np.nan, 3.0, 3.0], "c": pd.Categorical(["a", "b", "a", None])})
    test = pd.DataFrame({"x": [np.nan, 5.0], "c": pd.Categorical(["new", "b"])})
    coded, other = encode(train, test)
    np.testing.assert_array_equal(coded, [[1, 0], [3, 1], [3, 0], [3, 0]])
    np.testing.assert_array_equal(other, [[3, -1], [5, 1]])
    hot, unseen = encode(train, test, one_hot=True, scale=True)
    np.testing.assert_allclose(hot.mean(axis=0), 0, atol=1e-12)
    assert unseen.shape == (2, 3)


def test_metrics_price_misses_and_false_alarms():
    found = binary_metrics([1, 1, 1, 0, 0], [1, 1, 0, 1, 0], [3, 2, 0, 1, -1], C1=5, C2=2)
    assert found["cost"] == 7
    assert (found["fn"], found["fp"], found["error"]) == (1, 1, 0.4)
    assert found["auc"] == pytest.approx(5 / 6)


def test_every_paper_has_items_with_plans():
    names = {paper.name: [item.name for item in paper.items()] for paper in registry.PAPERS}
    source_papers = {
        "lozano2008": ["figure1", "table1", "table2"],
        "cai2008": ["table3"],
        "masnadi2007": ["figure2", "figure3", "table1", "table2", "figure4"],
        "beijbom2014": ["figure3", "table2", "taxonomy"],
        "cao2013": [
            "figure1", "figure2", "table1", "table2", "table3", "table4", "table5", "figure3",
        ],
    }  # fmt: skip
    assert names.items() >= source_papers.items()
    for name in source_papers:
        assert any(len(item.printed()) for item in registry.items(name)), name
    for item in registry.items():
        assert item.title and item.notes and item.minutes >= 0
        source = registry.owner(item)
        assert source.shares_rows_with is None
        quick, full = source.tasks("quick"), source.tasks("full")
        assert 0 < len(quick) <= len(full)
        for tasks in (quick, full):
            assert len(set(tasks)) == len(tasks)
            assert {(task.paper, task.item) for task in tasks} == {(source.paper, source.name)}
        printed = item.printed()
        assert list(printed.columns) == ["dataset", "algorithm", "setting", "metric", "value"]
        assert printed["value"].notna().all()


def test_a_renamed_paper_keeps_its_name_and_its_seeds():
    assert registry.paper("cai") is registry.paper("cai2008")
    assert registry.find("cai", "table3").paper == "cai2008"
    task = registry.find("cai2008", "table3").tasks("full")[0]
    assert task.seed == replace(task, paper="cai").seed
    assert task.key.startswith("cai2008/")
    assert replace(task, paper="cao2013").seed != task.seed

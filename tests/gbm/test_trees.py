"""Scores of many rows: those of LightGBM, to the last bit."""

from __future__ import annotations

import pickle

import lightgbm as lgb
import numpy as np
import pytest

from costboost import _threads
from costboost.gbm.engines import trees
from costboost.gbm.engines.trees import ZERO, Trees, trees_for
from costboost.gbm.models import LightGBMModel


def table(n=600):
    rng = np.random.RandomState(0)
    X = rng.randn(n, 5)
    X[:, 0] = rng.randint(0, 70, n)  # categories, more than a word of bits holds
    X[:, 1] = rng.randint(0, 4, n)
    X[rng.rand(n, 5) < 0.1] = np.nan
    y = (np.nan_to_num(X[:, 0]) % 3 + np.nan_to_num(X[:, 2]) + rng.randn(n) > 1).astype(int)
    return X, y + (np.nan_to_num(X[:, 3]) > 1)


def booster(objective="binary", categories=(0, 1), rounds=15, **parameters):
    X, y = table()
    if objective == "multiclass":
        parameters["num_class"] = 3
    else:
        y = np.minimum(y, 1)
    chosen = {"objective": objective, "verbosity": -1, "num_threads": 1, "min_data_in_leaf": 5}
    rows = lgb.Dataset(X, y, categorical_feature=list(categories))
    return lgb.train({**chosen, **parameters}, rows, rounds)


def strange_rows():
    X = table()[0]
    edges = [
        np.nan,
        np.inf,
        -np.inf,
        0.0,
        -0.0,
        1e-36,
        -ZERO,
        ZERO,
        -0.5,
        31.0,
        32.0,
        63.9,
        64.0,
        1e9,
        -1e9,
    ]
    return np.vstack([X, -X, np.repeat(np.array(edges)[:, None], X.shape[1], axis=1)])


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"categories": ()},
        {"objective": "multiclass"},
        {"max_cat_to_onehot": 100},
        {"max_cat_to_onehot": 1, "min_data_per_group": 2, "cat_smooth": 1.0},
        {"use_missing": False},
        {"extra_trees": True, "bagging_fraction": 0.5, "bagging_freq": 1},
        {"min_data_in_leaf": 10_000},  # constants
        {"objective": "multiclass", "min_gain_to_split": 5.0},  # some trees are
    ],
    ids=str,
)
@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_scores_are_those_of_lightgbm_to_the_last_bit(options, dtype, monkeypatch):
    monkeypatch.setattr(trees, "_CHUNK_ROWS", 100)
    found = booster(**options)
    rows = strange_rows().astype(dtype)
    shape = Trees.of(found, found.current_iteration())
    expected = found.predict(rows, raw_score=True)
    np.testing.assert_array_equal(shape.scores(rows), expected)
    np.testing.assert_array_equal(shape.scores(rows[::2], threads=3), expected[::2])


def test_only_the_rounds_that_count():
    found, rows = booster(), strange_rows()
    expected = found.predict(rows, raw_score=True, num_iteration=4)
    np.testing.assert_array_equal(Trees.of(found, 4).scores(rows), expected)


@pytest.mark.parametrize(
    "options",
    [
        {"linear_tree": True, "categories": ()},
        {"zero_as_missing": True},
        {"boosting": "rf", "bagging_fraction": 0.5, "bagging_freq": 1},
    ],
    ids=str,
)
def test_other_trees_are_left_to_lightgbm(options, monkeypatch):
    monkeypatch.setattr(trees, "_ROWS", 1)
    monkeypatch.setattr(trees, "_WORK", 1)
    found, rows = booster(**options), strange_rows()
    assert Trees.of(found, 15) is None
    assert trees_for(found, 15, len(rows)) is None
    np.testing.assert_array_equal(
        LightGBMModel(found).scores(rows), found.predict(rows, raw_score=True)
    )


def test_few_rows_are_left_to_lightgbm(monkeypatch):
    found = booster()
    assert trees_for(found, 15, 10_000) is None  # there is little to do
    monkeypatch.setattr(trees, "_WORK", 15 * 100)
    assert trees_for(found, 15, 4999) is None  # reading the trees would take longer
    shape = trees_for(found, 15, 5000)
    assert shape is not None
    assert trees_for(found, 15, 100) is shape  # they have been read
    assert trees_for(found, 15, 99) is None
    assert trees_for(found, 14, 5000) is not shape


def test_a_model_uses_them_and_stores_nothing(monkeypatch):
    monkeypatch.setattr(trees, "_ROWS", 1)
    monkeypatch.setattr(trees, "_WORK", 1)
    asked = []
    scores = Trees.scores
    monkeypatch.setattr(
        Trees, "scores", lambda self, X, threads: asked.append(threads) or scores(self, X, threads)
    )
    monkeypatch.setattr(_threads, "cpu_count", lambda: 6)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    model, rows = LightGBMModel(booster()), strange_rows()
    before = pickle.dumps(model)
    expected = model.booster.predict(rows, raw_score=True)
    np.testing.assert_array_equal(model.scores(rows), expected)
    assert pickle.dumps(model) == before
    del model.booster.params["num_threads"]
    np.testing.assert_array_equal(model.scores(rows), expected)
    assert asked == [1, 6]  # as many threads as LightGBM would use

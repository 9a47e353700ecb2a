"""Sparse rows are the same rows: a fit or an answer never depends on how zeros are stored."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.tree import DecisionTreeClassifier

import costboost
from costboost import CostBoostClassifier
from costboost.boosting.classifiers import BoostingClassifier

pytestmark = pytest.mark.filterwarnings("ignore::costboost.CollapseWarning")

COSTS = {2: {"fn": 5, "fp": 1}, 3: np.array([[0.0, 2, 9], [1, 0, 3], [4, 1, 0]])}
FORMATS = (sparse.csr_matrix, sparse.csc_matrix, sparse.coo_matrix, sparse.csr_array)
ALGORITHMS = {
    name: C
    for name in costboost.algorithms.__all__
    if issubclass(C := getattr(costboost, name), BoostingClassifier)
}
MULTICLASS = [name for name, C in ALGORITHMS.items() if not hasattr(C(), "init")]


def rows(k=2, n=400, missing=0.03, seed=0):
    """Mostly zeros, some of them told apart from missing values by the label."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 6)) * (rng.random((n, 6)) < 0.4)
    score = X[:, 0] + 0.8 * (X[:, 1] == 0) + 0.4 * rng.normal(size=n)
    X[rng.random(X.shape) < missing] = np.nan
    return X, np.digitize(score, [0.5] if k == 2 else [0.1, 0.8])


def make(k, **options):
    small = {"n_estimators": 15, "cv": 2, "effort": "fast", "n_jobs": 1, "random_state": 0}
    return CostBoostClassifier(COSTS[k], **{**small, **options})


@pytest.mark.parametrize(
    ("k", "kind"),
    [*((2, kind) for kind in FORMATS), (3, FORMATS[1])],
)
def test_fit_and_answers_are_those_of_the_array(k, kind):
    (X, y), rng, half = rows(k), np.random.default_rng(3), np.arange(400) < 200
    costs = rng.uniform(1, 20, (400, 1, 1)) * (1 - np.eye(k))
    S, weights, cv = kind(X), rng.integers(0, 3, 400), [(half, ~half), (~half, half)]
    model, thin = (make(k, cv=cv).fit(T, y, weights, costs=costs) for T in (X, S))
    assert thin.cost_model_ is not None and model.cost_model_ is not None
    np.testing.assert_array_equal(thin.decision_function(X), model.decision_function(X))
    assert thin.estimated_score_ == model.estimated_score_
    assert thin.score(S, y, costs=costs) == model.score(X, y, costs=costs)
    for name in ("predict", "predict_proba", "predict_cost", "contributions"):
        np.testing.assert_array_equal(getattr(model, name)(S), getattr(model, name)(X), name)
    for name in ("staged_predict", "staged_decision_function"):
        pairs = zip(getattr(model, name)(S), getattr(model, name)(X), strict=True)
        assert all(np.array_equal(a, b) for a, b in pairs), name
    a, b = model.explain(S.tocsr()[:20]), model.explain(X[:20])
    np.testing.assert_array_equal(a.parts, b.parts)
    np.testing.assert_array_equal(a.values, b.values)


@pytest.mark.filterwarnings("ignore:Column 0 of X tells the class")
def test_an_absent_entry_is_no_missing_value():
    """The label says whether the first column is zero; NaN is the other case."""
    X = np.zeros((400, 2))
    X[::2, 0] = np.nan
    X[:, 1] = np.random.default_rng(0).normal(size=400)
    y = np.isnan(X[:, 0]).astype(int)
    S, options = sparse.csr_matrix(X), {"cv": "auto", "early_stopping": False}
    model = make(2, learning_rate=0.5, **options).fit(S, y)
    for table in (S, X):
        np.testing.assert_array_equal(model.predict(table), y)


def test_a_sparse_frame():
    X, y = rows(missing=0.0)
    frame = pd.DataFrame(X).add_prefix("x")
    thin = frame.astype(pd.SparseDtype(float, 0.0))
    scores = (make(2).fit(table, y).decision_function(table) for table in (thin, frame))
    np.testing.assert_array_equal(*scores)


@pytest.mark.parametrize(
    ("name", "k"), [(name, 2) for name in ALGORITHMS] + [(name, 3) for name in MULTICLASS]
)
def test_trees_of_every_algorithm(name, k):
    X, y = rows(k, missing=0.0)
    own = name == "DSEClassifier" or "Costing" in name
    tree = DecisionTreeClassifier(max_leaf_nodes=8) if own else "tree"
    thin = sparse.csc_array(X)
    dense, model = (
        ALGORITHMS[name](COSTS[k], n_estimators=4, estimator=tree, random_state=0).fit(rows, y)
        for rows in (X, thin)
    )
    scores = dense.decision_function(X)
    for table in (X, thin):
        np.testing.assert_array_equal(model.decision_function(table), scores)
    np.testing.assert_array_equal(model.predict(thin), dense.predict(X))
    staged = model.staged_decision_function(thin), dense.staged_decision_function(X)
    assert all(np.array_equal(a, b) for a, b in zip(*staged, strict=True))
    weights = np.arange(len(y)) % 2
    model.fit(thin, y, weights)
    np.testing.assert_array_equal(model.predict(X), dense.fit(X, y, weights).predict(X))

"""Cases that broke a law once; each is kept."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from costboost import CostBoostClassifier, MinCostClassifier, RareBoostClassifier

# Models of small tables may collapse.
pytestmark = pytest.mark.filterwarnings("ignore::costboost.errors.CollapseWarning")

X = np.random.default_rng(0).normal(size=(40, 2))
Y = X[:, 0] > 0


def test_categories_that_are_booleans_stay_booleans() -> None:
    model = RareBoostClassifier(n_estimators=2).fit(X, pd.Series(pd.Categorical(Y)))
    assert model.classes_.dtype == bool
    assert model.predict(X).dtype == bool


@pytest.mark.parametrize("kind", [sparse.csr_array, sparse.coo_array, sparse.csc_matrix])
def test_sparse_arrays_give_no_warning_of_lightgbm(kind) -> None:
    rows = kind(X)
    right = MinCostClassifier().fit(sparse.csr_matrix(X), Y).predict_proba(X)
    model = MinCostClassifier().fit(rows, Y)
    assert np.array_equal(model.predict_proba(rows), right)


@pytest.mark.parametrize("kind", [np.asarray, sparse.csr_matrix])
def test_xgboost_takes_numbers_beyond_single_precision(kind) -> None:
    rows = X.copy()
    rows[3, 0], rows[5, 0] = 1e300, -1e300
    small = np.clip(rows, -3.4e38, 3.4e38)
    model = CostBoostClassifier(engine="xgboost", n_estimators=4, ensemble=2, random_state=0)
    right = model.fit(kind(small), Y).predict_proba(kind(small))
    found = model.fit(kind(rows), Y).predict_proba(kind(rows))
    assert np.array_equal(found, right)

"""Cases that broke a law once; each is kept."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from scipy import sparse

from costboost import MinCostClassifier, RareBoostClassifier
from costboost.metrics import cost_by, cost_by_threshold

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


# -- metrics ---------------------------------------------------------------------------------------

TRUTH, DECIDED = np.array([0, 0, 1, 1, 1, 0]), np.array([0, 1, 1, 0, 1, 1])
GROUPS, SCORES = np.array(list("aababb")), np.array([0.1, 0.6, 0.7, 0.3, 0.9, 0.4])


def test_a_segment_without_weight_has_no_mean() -> None:
    found = cost_by(GROUPS, TRUTH, DECIDED, sample_weight=(GROUPS == "a") * 1.0)
    assert found["rows"].tolist() == [3.0, 0.0]
    assert np.isnan(found["mean_cost"]).tolist() == [False, True]


def test_thresholds_need_two_classes() -> None:
    with pytest.raises(ValueError, match=r"two classes, found 1: \[0\]"):
        cost_by_threshold([0, 0], [0.1, 0.2], labels=[0], positive=0)

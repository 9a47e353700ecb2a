"""AdaMECClassifier: AdaBoost, calibrated, then the Bayes decision."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.special import expit
from sklearn.calibration import CalibratedClassifierCV

from costboost import AdaBoostCClassifier, AdaMECClassifier
from costboost.datasets import make_gaussians_2d


@pytest.fixture(scope="module")
def gaussians():
    return make_gaussians_2d(300, random_state=0)


def test_it_is_calibrated_adaboost_and_the_bayes_decision(gaussians):
    X, y = gaussians
    matrix = np.array([[0.0, 1.0], [5.0, 0.0]])
    clf = AdaMECClassifier(matrix, n_estimators=10, max_leaves=4, random_state=0).fit(X, y)
    adaboost = AdaBoostCClassifier(n_estimators=10, max_leaves=4, init="uniform", random_state=0)
    by_hand = CalibratedClassifierCV(adaboost, method="sigmoid", cv=5).fit(X, y)
    p = by_hand.predict_proba(X)
    np.testing.assert_allclose(clf.predict_proba(X), p, rtol=0, atol=1e-12)
    np.testing.assert_array_equal(clf.predict(X), np.where(p[:, 1] * 5 >= p[:, 0], 1, -1))


def test_without_calibration_the_link_of_adaboost(gaussians):
    X, y = gaussians
    clf = AdaMECClassifier(n_estimators=5, calibration=None, random_state=0).fit(X, y)
    F = clf.estimator_.decision_function(X)
    np.testing.assert_allclose(clf.predict_proba(X)[:, 1], expit(2 * F), atol=1e-12)
    np.testing.assert_array_equal(clf.predict(X), np.where(F >= 0, 1, -1))


def test_scores_are_cost_blind(gaussians):
    X, y = gaussians
    few, many = (
        AdaMECClassifier({"fn": r, "fp": 1}, 10, random_state=0).fit(X, y) for r in (0.2, 5)
    )
    np.testing.assert_array_equal(few.predict_proba(X), many.predict_proba(X))
    assert (many.predict(X) > 0).sum() > (few.predict(X) > 0).sum()

"""Wrappers route metadata to what they wrap: scikit-learn's own tests of metaestimators."""

from __future__ import annotations

import pytest
from sklearn.tests import test_metaestimators_metadata_routing as routing

from costboost import MinCostClassifier, TargetRateClassifier

# Weights are the wrapper's own, which hands them on to every estimator that takes them.
COMMON = {
    "estimator_name": "estimator",
    "estimator": "classifier",
    "X": routing.X,
    "y": routing.y,
    "estimator_routing_methods": [("fit", ["metadata"])],
}
CASES = {
    "MinCost": {"metaestimator": MinCostClassifier},
    "MinCost, calibrated": {
        "metaestimator": MinCostClassifier,
        "init_args": {"calibration": "sigmoid", "cv": 2},
        "preserves_metadata": "subset",
    },
    "TargetRate": {
        "metaestimator": TargetRateClassifier,
        "init_args": {"delta": 0.5, "detection_rate": 0.5},
        "y": routing.y % 2,
        "preserves_metadata": "subset",
    },
}
TESTS = [
    "test_default_request",
    "test_error_on_missing_requests_for_sub_estimator",
    "test_setting_request_on_sub_estimator_removes_error",
    "test_non_consuming_estimator_works",
]


@pytest.mark.filterwarnings("ignore::costboost.CollapseWarning")
@pytest.mark.parametrize("test", TESTS)
@pytest.mark.parametrize("name", CASES)
def test_routing_is_that_of_scikit_learn(name, test):
    getattr(routing, test)({**COMMON, **CASES[name]})

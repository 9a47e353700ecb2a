"""The algorithms that the paper compares, and two that it leaves out."""

from __future__ import annotations

from typing import Any

from costboost.algorithms import (
    AdaBoostCClassifier,
    AdaC1Classifier,
    AdaC2Classifier,
    AdaC3Classifier,
    AdaCostClassifier,
    AsymmetricAdaBoostClassifier,
    CSAdaBoostClassifier,
    CSB0Classifier,
    CSB1Classifier,
    CSB2Classifier,
    CSLogitBoostClassifier,
    CSRealBoostClassifier,
)

__all__ = ["ADDED", "ALGORITHMS", "EARLIER", "NEW", "classifier"]

# As in the paper: stumps, histograms and lines of a single feature; equal class totals at the start
# of its Algorithms 1 and 2, the defaults of the class elsewhere.
_STUMP = {"estimator": "stump"}
_RECIPES: dict[str, tuple[type[Any], dict[str, str]]] = {
    "CS-AdaBoost": (CSAdaBoostClassifier, {**_STUMP, "init": "balanced"}),
    "CS-RealBoost": (CSRealBoostClassifier, {"estimator": "histogram", "init": "balanced"}),
    "CS-LogitBoost": (CSLogitBoostClassifier, {"estimator": "line"}),
    "CSB0": (CSB0Classifier, _STUMP),
    "CSB1": (CSB1Classifier, _STUMP),
    "CSB2": (CSB2Classifier, _STUMP),
    "AdaC1": (AdaC1Classifier, _STUMP),
    "AdaC2": (AdaC2Classifier, _STUMP),
    "AdaC3": (AdaC3Classifier, _STUMP),
    "AdaCost": (AdaCostClassifier, _STUMP),
    "AsymBoost": (AsymmetricAdaBoostClassifier, _STUMP),
    "AdaBoostC": (AdaBoostCClassifier, _STUMP),
}
ALGORITHMS = tuple(_RECIPES)
NEW = ALGORITHMS[:3]
EARLIER = ALGORITHMS[3:10]
ADDED = ALGORITHMS[10:]  # not in the paper


def classifier(algorithm: str, C1: float, rounds: int) -> Any:
    """An unfitted classifier: a miss costs C1, a false alarm 1."""
    recipe, options = _RECIPES[algorithm]
    return recipe({"fn": C1, "fp": 1.0}, n_estimators=rounds, n_jobs=1, **options)

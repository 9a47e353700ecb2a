"""Add a boosting algorithm in twenty lines.

python examples/add_an_algorithm.py
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np

from costboost import AdaBoostCClassifier, AdaC2Classifier, load
from costboost.boosting import (
    BoostingClassifier,
    Recipe,
    VoteRule,
    adaboost_factor,
    half_log_ratio,
    register_algorithm,
)
from costboost.datasets import make_gaussians_2d
from costboost.metrics import mean_cost

PRICES = {"fn": 5, "fp": 1}


def vote(weights: np.ndarray, c: np.ndarray, wrong: np.ndarray) -> float:
    """Half the log-odds of being right, rows counted by the root of their cost."""
    counted = np.sqrt(c) * weights
    return half_log_ratio(float(counted @ (1 - wrong)), float(counted @ wrong))


def factor(c: np.ndarray, wrong: np.ndarray, alpha: float) -> np.ndarray:
    """AdaBoost's factor times the root of the cost."""
    return np.sqrt(c) * adaboost_factor(c, wrong, alpha)


@register_algorithm
class RootCostClassifier(BoostingClassifier):
    """AdaC2 with the square root of the cost."""

    _recipe = Recipe(idea="the root of the cost in front of the exponent", source="this page")
    _rule = VoteRule(vote=vote, factor=factor)


def main() -> None:
    """Check a law that it must obey, then compare it."""
    X, y = make_gaussians_2d(500, random_state=0)
    ours, parent = (
        algorithm(n_estimators=8, random_state=0).fit(X, y)
        for algorithm in (RootCostClassifier, AdaBoostCClassifier)
    )
    same = np.allclose(ours.estimator_weights_, parent.estimator_weights_)
    print("with equal costs it is AdaBoost:", same)
    X_new, y_new = make_gaussians_2d(5_000, random_state=1)
    for algorithm in (AdaC2Classifier, RootCostClassifier, AdaBoostCClassifier):
        model = algorithm(PRICES, n_estimators=8, random_state=0).fit(X, y)
        cost = mean_cost(y_new, model.predict(X_new), cost_matrix=PRICES)
        print(f"{algorithm.__name__:<20} mean cost {cost:.3f}")
    with tempfile.TemporaryDirectory() as folder:
        again = load(ours.save(Path(folder) / "root.costboost"))
    print("saved and loaded:", bool((again.predict(X_new) == ours.predict(X_new)).all()))


if __name__ == "__main__":
    main()

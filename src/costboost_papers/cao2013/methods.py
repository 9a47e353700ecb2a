"""The algorithms that Cao et al. compare, as the paper runs them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from costboost.algorithms import (
    AdaBoostCClassifier,
    AdaC1Classifier,
    AdaC2Classifier,
    AdaC3Classifier,
    AdaCostClassifier,
    AsyBClassifier,
    AsyBLClassifier,
    CSAdaBoostClassifier,
    CSB0Classifier,
    CSB1Classifier,
    CSB2Classifier,
    CSLogitBoostClassifier,
)

__all__ = [
    "ALGORITHMS",
    "COLLAPSING",
    "FACTOR",
    "FOLDS",
    "HEURISTIC",
    "LARGE",
    "LEAVES",
    "NEW",
    "PAPER",
    "ROUNDS",
    "SETTING",
    "SHRUNK",
    "Recipe",
]

PAPER = "cao2013"
SETTING = "C1/C2=5"
FACTOR = 5.0
ROUNDS = 50
FOLDS = 5
# Leaves of a tree by setting: the library's default, and a larger tree for comparison.
LARGE = f"{SETTING}, 32 leaves"
LEAVES = {SETTING: 8, LARGE: 32}

NEW = ("AsyB", "AsyBL")
SHRUNK = "AsyBL (rate 0.1)"
HEURISTIC = ("AdaCost", "AdaC1", "AdaC2", "AdaC3", "CSB0", "CSB1", "CSB2")
COLLAPSING = ("AdaC2", "AdaC3", "CSB0", "CSB1", "CSB2")


@dataclass(frozen=True)
class Recipe:
    """An algorithm as the paper runs it."""

    kind: type[Any]
    init: str | None = "cost"
    options: tuple[tuple[str, Any], ...] = ()

    def make(self, factor: float, rounds: int, learner: str, leaves: int, seed: int) -> Any:
        """The unfitted classifier for a miss that costs ``factor`` false alarms."""
        return self.kind(
            {"fn": factor, "fp": 1.0},
            n_estimators=rounds,
            estimator=learner,
            max_leaves=leaves,
            init=self.init,
            random_state=seed,
            n_jobs=1,
            **dict(self.options),
        )


# In the order of the tables, and one that the paper has not. "AsyBoosting" and "AsyLogitBoost" are
# the paper's names. Newton methods compute their weights anew in every round.
ALGORITHMS: dict[str, Recipe] = {
    "AdaBoostC": Recipe(AdaBoostCClassifier),
    "AdaCost": Recipe(AdaCostClassifier),
    "AdaC1": Recipe(AdaC1Classifier),
    "AdaC2": Recipe(AdaC2Classifier),
    "AdaC3": Recipe(AdaC3Classifier),
    "CSB0": Recipe(CSB0Classifier),
    "CSB1": Recipe(CSB1Classifier),
    "CSB2": Recipe(CSB2Classifier),
    "AsyBoosting": Recipe(CSAdaBoostClassifier),
    "AsyLogitBoost": Recipe(CSLogitBoostClassifier, init=None),
    "AsyB": Recipe(AsyBClassifier),
    "AsyBL": Recipe(AsyBLClassifier, init=None),
    SHRUNK: Recipe(AsyBLClassifier, init=None, options=(("learning_rate", 0.1),)),
}

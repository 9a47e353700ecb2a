"""The algorithms that Cai, Song and Zhang compare, and how much of the protocol is run."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from costboost.algorithms import (
    AdaBoostCClassifier,
    AdaC1Classifier,
    AdaCostClassifier,
    GradientCSBClassifier,
)
from costboost_papers.item import Mode

TEST_SHARE = 0.1
INNER_SHARE = 0.2  # of the training rows, on which the nested choice of a cost is made
LEAVES = {"8 leaves": 8, "grown": 1000}
COSTS = tuple(round(0.1 * step, 1) for step in range(1, 10))  # of a false alarm; a miss costs 1
BLIND: dict[str, Any] = {
    "C4.5": AdaBoostCClassifier(n_estimators=1),
    "AdaBoost": AdaBoostCClassifier(),
}
SWEPT: dict[str, Any] = {
    "AdaCost": AdaCostClassifier(),
    "Gradient": GradientCSBClassifier(objective="adacost"),
    "Gradient, AsymBoost": GradientCSBClassifier(objective="asymboost"),
    "AdaC1": AdaC1Classifier(),
}
PRINTED = ("C4.5", "AdaBoost", "AdaCost", "Gradient")
NESTED = ("AdaCost", "Gradient")
DATASETS = ("breast-cancer", "hepatitis", "pima", "sick-euthyroid")


@dataclass(frozen=True)
class Effort:
    """How much of the protocol a mode runs."""

    splits: int
    costs: tuple[float, ...]
    leaves: tuple[str, ...]
    rounds: int = 20


EFFORTS: dict[Mode, Effort] = {
    "quick": Effort(4, (0.1, 0.5, 0.9), ("grown",)),
    "full": Effort(20, COSTS, tuple(LEAVES)),
}

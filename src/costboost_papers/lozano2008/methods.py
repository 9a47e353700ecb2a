"""The algorithms that Lozano and Abe compare, their data sets, and how much of it is run."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np
from sklearn.base import clone

from costboost._typing import AnyArray, Ints
from costboost.algorithms import (
    AdaBoostM2Classifier,
    AdaCostM2Classifier,
    CSB2M2Classifier,
    LpCSBClassifier,
)
from costboost.costs import Costs
from costboost.datasets import load
from costboost.metrics import mean_cost
from costboost_papers.costs import class_frequency
from costboost_papers.item import Mode, Task
from costboost_papers.protocol import holdout, quiet

if TYPE_CHECKING:
    import pandas as pd
else:
    from costboost_papers._lazy import pd

NORMS = ("p=1", "p=2", "p=3", "p=4", "p=5")
SAMPLED = tuple(f"{name} sampled" for name in NORMS[1:])
SQUARES = [NORMS[1], SAMPLED[0]]
HIGHER = [*NORMS[2:], *SAMPLED[1:]]
RIVALS = ("AdaBoost.M2", "AdaCost", "CSB2")
CONSTANT = "constant"  # the cheapest single decision for all rows

TEST_SHARE = 1 / 3
LEAVES = {"16 leaves": 16, "grown": 1000}  # of the tree of each class, and their names
DIRECT = "A p=2"  # its trees take no categories

ESTIMATORS: dict[str, Any] = {
    "AdaBoost.M2": AdaBoostM2Classifier(),
    "AdaCost": AdaCostM2Classifier(),
    "CSB2": CSB2M2Classifier(),
    **{f"p={p}": LpCSBClassifier(p=p) for p in range(1, 6)},
    **{f"p={p} sampled": LpCSBClassifier(p=p, resample=True) for p in range(2, 6)},
    "PA p=2 sampled": LpCSBClassifier(p=2, variant="adjusted", resample=True),
    DIRECT: LpCSBClassifier(p=2, variant="direct"),
}
PRINTED = (*RIVALS, *NORMS)
PLANS = {
    "16 leaves": (*ESTIMATORS, CONSTANT),
    "grown": (*PRINTED, *SAMPLED),
}


@dataclass(frozen=True)
class Effort:
    """How much of the protocol a mode runs."""

    rounds: int
    most_rows: int  # of each split, training and test together
    splits: int
    splits_of: dict[str, int]  # exceptions
    plans: dict[str, tuple[str, ...]]


EFFORTS: dict[Mode, Effort] = {
    "quick": Effort(10, 1500, 2, {"letter": 1}, {"16 leaves": (*PRINTED, "p=2 sampled")}),
    "full": Effort(30, 20_000, 20, {"letter": 10}, PLANS),
}
DATASETS = (
    "splice", "anneal", "satimage", "flare", "letter", "pendigits", "segment", "thyroid"
)  # fmt: skip
FLARE_TARGET = "C-class_flares_production_by_this_region"
FLARE_OTHERS = [
    "M-class_flares_production_by_this_region",
    "X-class_flares_production_by_this_region",
]


@lru_cache(maxsize=2)
def dataset(name: str) -> tuple[pd.DataFrame, AnyArray]:
    """Features and labels; flare's label is its number of C-class flares, 6 and more together."""
    data = load(name)
    if name != "flare":
        return data.X, data.y
    X = data.X.assign(zurich_class=pd.Categorical(data.y))
    y = np.minimum(X[FLARE_TARGET].astype(int).to_numpy(), 6)
    return X.drop(columns=[FLARE_TARGET, *FLARE_OTHERS]), y


@dataclass(frozen=True, eq=False)
class Problem:
    """One split of a data set, with costs of its own."""

    X: pd.DataFrame
    y: AnyArray
    train: Ints
    test: Ints
    costs: Costs
    seed: int

    @classmethod
    def of(cls, task: Task, most_rows: int | None = None) -> Problem:
        """The split of a task, of at most so many rows."""
        X, y = dataset(task.dataset)
        seed = replace(task, setting="").seed
        rows = np.arange(len(y))
        if most_rows is not None and len(y) > most_rows:
            _, rows = holdout(y, most_rows / len(y), seed)
        train, test = (rows[part] for part in holdout(y[rows], TEST_SHARE, seed))
        return cls(X, y, train, test, Costs(np.unique(y), class_frequency(y, seed)), seed)

    def run(self, algorithm: str, **parameters: Any) -> dict[str, float]:
        """Mean test cost and rounds of one fit."""
        model = clone(ESTIMATORS[algorithm]).set_params(
            cost_matrix=self.costs, random_state=self.seed, n_jobs=1, **parameters
        )
        X = pd.get_dummies(self.X, dtype=float) if algorithm == DIRECT else self.X
        with quiet():
            model.fit(X.iloc[self.train], self.y[self.train])
            decided = model.predict(X.iloc[self.test])
        return {"cost": self.cost(decided), "rounds": float(model.n_iter_)}

    def cost(self, decided: AnyArray) -> float:
        """Mean cost of decisions about the test rows."""
        return mean_cost(self.y[self.test], decided, cost_matrix=self.costs)

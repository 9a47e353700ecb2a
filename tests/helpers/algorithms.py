"""The algorithms of the library by kind, with the options that change how they learn; made data."""

from __future__ import annotations

import itertools

import numpy as np
from sklearn.utils import get_tags

import costboost
from costboost.algorithms.lozano2008 import VARIANTS
from costboost.boosting import BoostingClassifier
from costboost.learners import BUILT_IN
from reference import multiclass

ALGORITHMS = {name: getattr(costboost, name) for name in costboost.algorithms.__all__}
BOOSTERS = {name: C for name, C in ALGORITHMS.items() if issubclass(C, BoostingClassifier)}
TWO = {name: C for name, C in BOOSTERS.items() if not get_tags(C()).classifier_tags.multi_class}
MANY = {name: C for name, C in BOOSTERS.items() if name not in TWO}
# With the binary algorithms that are not boosting alone (AdaMEC).
BINARY = {name: C for name, C in ALGORITHMS.items() if name not in MANY}

REGRESSIONS = ("AsyBLClassifier", "CSLogitBoostClassifier")  # fit real-valued responses
REAL_VALUED = (*REGRESSIONS, "CSRealBoostClassifier")
# Binary boosters with every weak learner; the perceptron votes and nothing else.
PAIRS = [
    (name, learner)
    for name, learner in itertools.product(TWO, BUILT_IN)
    if not (learner == "perceptron" and name in REAL_VALUED)
]

# Every class for several classes once, and the options that change how it learns or decides.
OPTIONS: dict[str, tuple[str, dict]] = {name: (name, {}) for name in MANY}
OPTIONS |= {f"LpCSB {v}": ("LpCSBClassifier", {"variant": v}) for v in VARIANTS}
OPTIONS |= {
    "LpCSB bound": ("LpCSBClassifier", {"step": "bound", "variant": "adjusted"}),
    "LpCSB p=1": ("LpCSBClassifier", {"p": 1}),
    "M2 uniform": ("AdaBoostM2Classifier", {"init": "uniform"}),
    "P-MCBoost": ("MCBoostClassifier", {"loss": "mc", "decision": "bayes"}),
    "MCBoost tree": ("MCBoostClassifier", {"estimator": "tree"}),
}
OPTIONS |= {f"MCBoost {loss}": ("MCBoostClassifier", {"loss": loss}) for loss in multiclass.LOSSES}
# All of them, with the binary ones.
CASES = {name: (name, {}) for name in BINARY} | OPTIONS

# Rows are drawn, so equal weights do not mean equal samples.
DRAWS = {"AverageCostClassifier", "CostingClassifier", "DSEClassifier", "LpCSB p=1"}
# Without trees of LightGBM by default; in the others categories and missing values are welcome.
OTHER_LEARNERS = {
    *("CostingClassifier", "DSEClassifier", "LpCSB direct", "SAMMEC2Classifier", "P-MCBoost"),
    *("MCBoostClassifier", *(f"MCBoost {loss}" for loss in multiclass.LOSSES)),
}
TREES = set(OPTIONS) - OTHER_LEARNERS
BLIND = ("MCBoost mc", "M2 uniform")  # no costs in their equations


def classes_of(case: str) -> int:
    """How many classes the data of a case have."""
    return 2 if CASES[case][0] in BINARY else 3


def make(case: str, cost_matrix=None, **options):
    """A small classifier; the options of a case, then those given."""
    name, special = CASES[case]
    defaults = {"n_estimators": 5, "random_state": 0, "max_leaves": 8}
    return ALGORITHMS[name](cost_matrix, **(defaults | special | options))


def rows(k=3, n=90, seed=0, noise=0.6):
    """Overlapping classes 0 ... k - 1, each equally often, on three features."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % k)
    X = rng.normal(scale=noise, size=(n, 3))
    X[:, 0] += y
    X[:, 1] -= y % 2
    return X, y, rng


def matrix_of(k, seed=0):
    """A cost matrix without ties."""
    return np.random.default_rng(seed).uniform(1.0, 9.0, size=(k, k)) * (1.0 - np.eye(k))

"""The boosting loop, the parts it runs, and the base of the algorithms.

An algorithm of your own is a subclass of `BoostingClassifier` with a `VoteRule`, or with a `Scheme`
of its own; ``examples/add_an_algorithm.py`` shows one.
"""

from costboost.boosting.classifiers import BoostingClassifier
from costboost.boosting.loop import Scheme, Step
from costboost.boosting.recipes import Recipe, register_algorithm
from costboost.boosting.rounds import Round, StopBoosting
from costboost.boosting.votes import (
    Init,
    SidedVoteScheme,
    VoteRule,
    VoteScheme,
    adaboost_factor,
    adaboost_vote,
    half_log_ratio,
)

__all__ = [
    "BoostingClassifier",
    "Init",
    "Recipe",
    "Round",
    "Scheme",
    "SidedVoteScheme",
    "Step",
    "StopBoosting",
    "VoteRule",
    "VoteScheme",
    "adaboost_factor",
    "adaboost_vote",
    "half_log_ratio",
    "register_algorithm",
]

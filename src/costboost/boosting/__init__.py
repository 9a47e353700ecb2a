"""The boosting loop, the parts it runs, and the bases of the algorithms.

An algorithm of your own is a subclass of `BinaryBoostingClassifier` with a `VoteRule`, or with a
`Scheme` of its own; ``examples/add_an_algorithm.py`` shows one.
"""

from costboost.boosting.classifiers import (
    BinaryBoostingClassifier,
    BoostingClassifier,
    PairVoteClassifier,
    SampledClassifier,
)
from costboost.boosting.descent import ExponentialDescent, NewtonDescent
from costboost.boosting.loop import History, Scheme, Step, boost
from costboost.boosting.multiclass import MulticlassProblem
from costboost.boosting.recipes import Recipe, bibtex, register_algorithm
from costboost.boosting.rounds import Round, StopBoosting
from costboost.boosting.votes import (
    BinaryProblem,
    CostScale,
    Init,
    SidedVoteScheme,
    VoteRule,
    VoteScheme,
    adaboost_factor,
    adaboost_vote,
    cost_ratio_vote,
    half_log_ratio,
    margins,
    two_valued,
)

__all__ = [
    "BinaryBoostingClassifier",
    "BinaryProblem",
    "BoostingClassifier",
    "CostScale",
    "ExponentialDescent",
    "History",
    "Init",
    "MulticlassProblem",
    "NewtonDescent",
    "PairVoteClassifier",
    "Recipe",
    "Round",
    "SampledClassifier",
    "Scheme",
    "SidedVoteScheme",
    "Step",
    "StopBoosting",
    "VoteRule",
    "VoteScheme",
    "adaboost_factor",
    "adaboost_vote",
    "bibtex",
    "boost",
    "cost_ratio_vote",
    "half_log_ratio",
    "margins",
    "register_algorithm",
    "two_valued",
]

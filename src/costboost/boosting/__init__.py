"""The boosting loop and the parts it runs: vote rules, descents, line search."""

from costboost.boosting.descent import ExponentialDescent, NewtonDescent
from costboost.boosting.loop import History, boost
from costboost.boosting.problem import BinaryProblem
from costboost.boosting.scheme import Scheme, Step
from costboost.boosting.votes import SidedVoteScheme, VoteRule, VoteScheme

__all__ = [
    "BinaryProblem",
    "ExponentialDescent",
    "History",
    "NewtonDescent",
    "Scheme",
    "SidedVoteScheme",
    "Step",
    "VoteRule",
    "VoteScheme",
    "boost",
]

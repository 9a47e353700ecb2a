"""The boosting loop and the parts it runs: vote rules, descents, line search."""

from costboost.boosting.descent import ExponentialDescent, NewtonDescent
from costboost.boosting.loop import History, Scheme, Step, boost
from costboost.boosting.rounds import Round, StopBoosting
from costboost.boosting.votes import BinaryProblem, SidedVoteScheme, VoteRule, VoteScheme

__all__ = [
    "BinaryProblem",
    "ExponentialDescent",
    "History",
    "NewtonDescent",
    "Round",
    "Scheme",
    "SidedVoteScheme",
    "Step",
    "StopBoosting",
    "VoteRule",
    "VoteScheme",
    "boost",
]

"""A scheme: how an algorithm aims its weak learner, sizes its step and moves its weights."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from typing import Any, NamedTuple

import numpy as np

from costboost._typing import Floats
from costboost.learners.base import Aim, BoundLearner, Ensemble

__all__ = ["PERFECT_VOTE", "Scheme", "SidedVote", "Step"]

# The vote of a rule that makes no mistake: ½ ln((1-ε)/ε) at ε = machine epsilon.
PERFECT_VOTE = float(0.5 * np.log(1.0 / np.finfo(np.float64).eps))


class SidedVote(NamedTuple):
    """A vote for each predicted sign: α- where the rule says -1, α+ where it says +1."""

    negative: float
    positive: float

    def __format__(self, spec: str) -> str:
        return f"{self.negative:{spec}} for -, {self.positive:{spec}} for +"


class Step(NamedTuple):
    """How far to go along a rule. A step that is not useful ends boosting, unless skipped."""

    alpha: float | SidedVote
    is_last: bool = False  # nothing is left to correct after this round
    is_skipped: bool = False  # the rule is dropped, but boosting goes on

    @property
    def is_useful(self) -> bool:
        """Whether the rule is better than chance: no negative vote, and a finite positive one."""
        votes = self.alpha if isinstance(self.alpha, SidedVote) else (self.alpha,)
        return min(votes) >= 0.0 < max(votes) < math.inf


class Scheme(ABC):
    """The state of one algorithm on one training set; the loop calls its methods in turn.

    ``F`` holds the training scores so far, (n,) or (n, k). A round is ``steps_per_round`` rules.
    """

    F: Floats
    steps_per_round: int = 1

    @abstractmethod
    def aim(self) -> Aim | None:
        """What the weak learner should fit next; None if nothing is left to fit."""

    @abstractmethod
    def step(self, outputs: Floats) -> Step:
        """The vote of a rule with these training outputs."""

    @abstractmethod
    def move(self, outputs: Floats, alpha: Any) -> None:
        """Take the step: update the scores and the weights of the rows."""

    def ensemble(self, learner: BoundLearner, rules: list[Any], votes: Floats) -> Ensemble:
        """How the rules are put together; a weighted sum unless the scheme says otherwise."""
        return learner.ensemble(rules, votes)

    @property
    def loss(self) -> float | None:
        """The training loss now, where the algorithm minimises one."""
        return None

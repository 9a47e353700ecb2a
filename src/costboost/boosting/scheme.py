"""A scheme: how an algorithm aims its weak learner, sizes its step and moves its weights."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import NamedTuple

import numpy as np

from costboost._typing import Floats
from costboost.learners.base import Aim

__all__ = ["PERFECT_VOTE", "Scheme", "Step"]

# The vote of a rule that makes no mistake: ½ ln((1-ε)/ε) at ε = machine epsilon.
PERFECT_VOTE = float(0.5 * np.log(1.0 / np.finfo(np.float64).eps))


class Step(NamedTuple):
    """How far to go along a rule. A step that is not positive ends the boosting, unless skipped."""

    alpha: float
    is_last: bool = False  # nothing is left to correct after this round
    is_skipped: bool = False  # the rule is dropped, but the boosting goes on


class Scheme(ABC):
    """The state of one algorithm on one training set; the loop calls its methods in turn.

    ``F`` holds the training scores so far, (n,) or (n, k).
    """

    F: Floats

    @abstractmethod
    def aim(self) -> Aim | None:
        """What the weak learner should fit next; None if nothing is left to fit."""

    @abstractmethod
    def step(self, outputs: Floats) -> Step:
        """The vote of a rule with these training outputs."""

    @abstractmethod
    def move(self, outputs: Floats, alpha: float) -> None:
        """Take the step: update the scores and the weights of the rows."""

    @property
    def loss(self) -> float | None:
        """The training loss now, where the algorithm minimises one."""
        return None

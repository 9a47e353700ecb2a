"""The loop: aim, fit, step, move. Every algorithm of the library runs through it."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from costboost.boosting.scheme import Scheme
from costboost.learners.base import BoundLearner

__all__ = ["History", "Progress", "boost"]

# Called after every round that counts: (round, rounds asked for, vote, loss or None).
Progress = Callable[[int, int, float, "float | None"], None]


@dataclass
class History:
    """What the loop did."""

    rules: list[Any] = field(default_factory=list)
    votes: list[float] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    stop: str = "all rounds were run"


def boost(
    scheme: Scheme,
    learner: BoundLearner,
    *,
    n_rounds: int,
    rng: np.random.RandomState,
    progress: Progress | None = None,
) -> History:
    """Run ``scheme`` for at most ``n_rounds`` rounds.

    It ends early when nothing is left to fit, when a rule's step is not positive (the rule is
    dropped) and after a rule without mistakes (the rule is kept).
    """
    history = History()
    for t in range(n_rounds):
        aim = scheme.aim()
        if aim is None:
            history.stop = "every row is fitted"
            break
        rule, outputs = learner.fit(aim, int(rng.randint(np.iinfo(np.int32).max)))
        alpha, is_last, is_skipped = scheme.step(outputs)
        if is_skipped:
            continue
        if not 0 < alpha < math.inf:
            history.stop = f"the rule of round {t + 1} has the vote {alpha:.3g}: no use"
            break
        scheme.move(outputs, alpha)
        history.rules.append(rule)
        history.votes.append(alpha)
        loss = scheme.loss
        if loss is not None:
            history.losses.append(loss)
        if progress is not None:
            progress(t + 1, n_rounds, alpha, loss)
        if is_last:
            history.stop = f"the rule of round {t + 1} makes no mistake"
            break
    return history

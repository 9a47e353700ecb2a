"""The loop: aim, fit, step, move. Every algorithm of the library runs through it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from costboost.boosting.scheme import Scheme
from costboost.learners.base import BoundLearner, Fitted

__all__ = ["History", "Progress", "advance", "boost"]

# Called after every rule that is kept: (round, rounds asked for, vote, loss or None).
Progress = Callable[[int, int, Any, "float | None"], None]


@dataclass
class History:
    """What the loop did."""

    rules: list[Any] = field(default_factory=list)
    votes: list[Any] = field(default_factory=list)
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

    It ends early when nothing is left to fit, when a rule is no better than chance (the rule is
    dropped), or after a rule without mistakes (the rule is kept).
    """
    history = History()
    steps = scheme.steps_per_round
    for t in range(n_rounds * steps):
        number = t // steps + 1
        aim = scheme.aim()
        if aim is None:
            history.stop = "every row is fitted"
            break
        fitted = learner.fit(aim, int(rng.randint(np.iinfo(np.int32).max)))
        before = len(history.rules)
        goes_on = advance(scheme, fitted, history, number)
        if progress is not None and len(history.rules) > before:
            progress(number, n_rounds, history.votes[-1], scheme.loss)
        if not goes_on:
            break
    return history


def advance(scheme: Scheme, fitted: Fitted, history: History, number: int) -> bool:
    """Take the step along a rule, if it is useful; return whether boosting goes on."""
    rule, outputs = fitted
    step = scheme.step(outputs)
    if step.is_skipped:
        return True
    if not step.is_useful:
        history.stop = (
            f"boosting stopped at round {number}: the weak rule was no better than chance "
            f"(weight {step.alpha:.3g})"
        )
        return False
    scheme.move(outputs, step.alpha)
    history.rules.append(rule)
    history.votes.append(step.alpha)
    loss = scheme.loss
    if loss is not None:
        history.losses.append(loss)
    if step.is_last:
        history.stop = f"boosting stopped at round {number}: the weak rule made no mistake"
    return not step.is_last

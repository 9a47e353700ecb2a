"""The loop and its parts: aim, fit, step, move. Every algorithm of the library runs through it."""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from costboost._typing import AnyArray, Floats
from costboost.learners.base import Aim, Ensemble, Fitted, Learner, voted

# -- A scheme: how an algorithm aims its weak learner, sizes its step and moves its weights ------


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

    def move(self, outputs: Floats, alpha: Any) -> None:
        """Take the step: update the scores, and the weights of the rows if there are any."""
        self.add(self.F, outputs, alpha)

    def add(self, F: Floats, outputs: Floats, alpha: Any) -> None:
        """Add a rule with its vote to the scores of some rows, in place."""
        F += voted(alpha, outputs)

    def ensemble(self, learner: Learner, rules: list[Any], votes: Floats) -> Ensemble:
        """How the rules are put together; a weighted sum unless the scheme says otherwise."""
        return learner.ensemble(rules, votes)

    @property
    def loss(self) -> float | None:
        """The training loss now, where the algorithm minimises one."""
        return None


# -- Rows that are watched: what the decisions cost on them, round by round -----------------------


@dataclass
class Watched:
    """Rows that no rule is fitted to: what the decisions cost on them, round by round."""

    X: AnyArray
    cost: Callable[[Floats], float]  # of the decisions by these scores
    patience: int | None  # None: all rounds are run and kept
    F: Floats = field(init=False)  # their scores
    costs: list[float] = field(default_factory=list)  # after each round
    n_best: int | None = None  # rules of the best round, the first of several

    def end_round(self, n_rules: int) -> bool:
        """What the decisions cost now; whether they have not become cheaper for too long."""
        self.costs.append(self.cost(self.F))
        if self.patience is None:
            return False
        waited = len(self.costs) - 1 - int(np.argmin(self.costs))
        if waited == 0:
            self.n_best = n_rules
        return waited >= self.patience


# -- The loop: aim, fit, step, move. Every algorithm of the library runs through it --------------


@dataclass
class History:
    """What the loop did."""

    rules: list[Any] = field(default_factory=list)
    votes: list[Any] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    stop: str = "all rounds were run"


def boost(
    scheme: Scheme,
    learner: Learner,
    n_rounds: int,
    rng: np.random.RandomState,
    watched: Watched | None = None,
    # Called after every round: (round, vote, loss, cost of the watched rows) -> whether to end.
    listener: Callable[[int, Any, float | None, float | None], bool] | None = None,
) -> History:
    """Run ``scheme`` for at most ``n_rounds`` rounds."""
    # It ends early when nothing is left to fit, when a rule is no better than chance (the rule is
    # dropped), after a rule without mistakes (the rule is kept), or when the decisions on watched
    # rows no longer become cheaper (the rules after the best round are dropped).
    history = History()
    steps = scheme.steps_per_round
    if watched is not None:
        watched.F = np.repeat(scheme.F[:1], watched.X.shape[0], axis=0)
    n_before = 0  # rules before this round
    for t in range(n_rounds * steps):
        number = t // steps + 1
        aim = scheme.aim()
        if aim is None:
            history.stop = "every row is fitted"
            break
        fitted = learner.fit(aim, int(rng.randint(np.iinfo(np.int32).max)))
        before = len(history.rules)
        is_over = not advance(scheme, fitted, history, number)
        if watched is not None and len(history.rules) > before:
            scheme.add(watched.F, fitted.rule.predict(watched.X), history.votes[-1])
        if (is_over or (t + 1) % steps == 0) and len(history.rules) > n_before:
            n_before = len(history.rules)
            if watched is not None and watched.end_round(n_before):
                history.stop = f"boosting stopped at round {number}: held-out costs no longer fell"
                is_over = True
            if listener is not None:
                loss = history.losses[-1] if history.losses else None
                cost = watched.costs[-1] if watched is not None else None
                is_over |= listener(number, history.votes[-1], loss, cost)
        if is_over:
            break
    if watched is not None and watched.n_best is not None:
        for values in (history.rules, history.votes, history.losses):
            del values[watched.n_best :]
    return history


def advance(scheme: Scheme, fitted: Fitted, history: History, number: int) -> bool:
    """Take the step along a rule, if it is useful; return whether boosting goes on."""
    rule, outputs = fitted.rule, fitted.outputs
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

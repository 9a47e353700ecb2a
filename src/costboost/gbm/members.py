"""What a head is made of: the kinds of models that are tried, and how much each one counts."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from costboost._typing import Floats
from costboost.gbm.engines.base import Growth

__all__ = ["Member", "Members", "Recipe", "blend", "mixed"]

# Steps of the greedy search: weights are multiples of its inverse, or of that of fewer steps.
_STEPS = 20
# A member is dropped if leaving it out raises the loss by less than this share.
_PAYS = 5e-4


@dataclass(frozen=True)
class Recipe:
    """A kind of model."""

    name: str
    engine: str
    growth: Growth


class Member(NamedTuple):
    """A kind of model that was trained, and what became of it."""

    name: str
    engine: str
    weight: float
    loss: float
    rounds: float
    seconds: float
    note: str = ""


class Members(tuple[Member, ...]):
    """The members of a head, those that were tried and not used included; prints as a table."""

    __slots__ = ()

    def __str__(self) -> str:
        head = ("member", "engine", "weight", "loss", "rounds", "seconds")
        rows = [
            (m.name, m.engine, f"{m.weight:.2f}", f"{m.loss:.4f}", f"{m.rounds:.0f}",
             f"{m.seconds:.1f}{'  ' + m.note if m.note else ''}")
            for m in self
        ]  # fmt: skip
        widths = [max(len(row[j]) for row in (head, *rows)) for j in range(5)]
        return "\n".join(
            "  ".join(
                [
                    f"{row[0]:<{widths[0]}}",
                    f"{row[1]:<{widths[1]}}",
                    *(f"{row[j]:>{widths[j]}}" for j in (2, 3, 4)),
                    row[5],
                ]
            )
            for row in (head, *rows)
        )


def blend(scores: Sequence[Floats], loss: Callable[[Floats], float]) -> Floats:
    """Weights of members by which their mean held-out score has a small loss."""
    # Greedy selection with replacement (Caruana et al. 2004): in each step the member that lowers
    # the loss of the mean most is counted once more. Then members that hardly pay are left out,
    # since each one makes every decision slower.
    if len(scores) == 1:
        return np.ones(1)
    weights = _greedy(scores, loss, list(range(len(scores))))
    while np.count_nonzero(weights) > 1:
        best = loss(mixed(scores, weights))
        used = np.flatnonzero(weights)
        trials = []
        for left_out in used:
            rest = [int(j) for j in used if j != left_out]
            fewer = _greedy(scores, loss, rest)
            trials.append((loss(mixed(scores, fewer)), fewer))
        least, fewer = min(trials, key=lambda trial: trial[0])
        if least > best + _PAYS * abs(best):
            break
        weights = fewer
    return weights


def _greedy(
    scores: Sequence[Floats], loss: Callable[[Floats], float], allowed: list[int]
) -> Floats:
    """Counts of the best prefix of the greedy steps, as weights."""
    counts, best, least = np.zeros(len(scores)), np.zeros(len(scores)), np.inf
    total = np.zeros_like(scores[0])
    for step in range(1, _STEPS + 1):
        losses = [loss((total + scores[j]) / step) for j in allowed]
        chosen = int(np.argmin(losses))
        total = total + scores[allowed[chosen]]
        counts[allowed[chosen]] += 1
        if losses[chosen] < least:
            least, best = losses[chosen], counts / step
    return best


def mixed(scores: Sequence[Floats], weights: Floats) -> Floats:
    """The weighted sum of scores."""
    parts = [w * s for w, s in zip(weights, scores, strict=True) if w > 0]
    return np.asarray(sum(parts))

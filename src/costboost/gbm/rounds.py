"""What is known after each boosting round: recorded, told to callbacks, shown as progress."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from costboost._typing import Floats

if TYPE_CHECKING:
    from costboost.gbm.blocks import Block
    from costboost.gbm.engines.base import Seen
    from costboost.gbm.heads import Head

__all__ = [
    "Callback",
    "Evals",
    "Round",
    "RoundLog",
    "StopBoosting",
    "check_callbacks",
    "costs_of",
    "first_rounds",
]

# Values by round: set of rows -> "loss" or "cost" -> array; one mapping per booster.
Evals: TypeAlias = "dict[str, dict[str, Floats]]"


class StopBoosting(Exception):  # noqa: N818 - like StopIteration, it is no error
    """Raised by a callback to end the booster that is being trained; the next one goes on."""


@dataclass(frozen=True)
class Round:
    """A finished round of one booster, as callbacks see it.

    Losses are what the boosters are trained for. Costs are the mean costs of a row when this
    booster alone decides, before calibration. They are None for rows that are not watched.

    Attributes
    ----------
    head : str
        ``"probability"`` or ``"decision"``: the set of boosters.
    booster, n_boosters : int
        Number of the booster among those of its kind, from 1, and how many there are.
    round, n_rounds : int
        Number of the round, from 1, and how many were asked for.
    held_out_loss, held_out_cost : float or None
        On the rows that this booster holds out.
    eval_loss, eval_cost : float or None
        On the rows of ``eval_set``.
    train_loss, train_cost : float or None
        On its training rows, with ``eval_train=True``.
    member : str
        The kind of booster, such as "15 leaves".
    """

    head: str
    booster: int
    n_boosters: int
    round: int
    n_rounds: int
    held_out_loss: float | None = None
    held_out_cost: float | None = None
    eval_loss: float | None = None
    eval_cost: float | None = None
    train_loss: float | None = None
    train_cost: float | None = None
    member: str = ""


# Hears of each round. Returning True, or raising StopBoosting, ends the booster.
Callback: TypeAlias = Callable[[Round], Any]

_FIELDS = {"held_out": "held_out", "eval_set": "eval", "train": "train"}


class RoundLog:
    """The rounds of one booster."""

    def __init__(
        self,
        head: str,
        place: tuple[int, int],
        n_rounds: int,
        costs: Mapping[str, Callable[[Floats], float]],
        callbacks: Sequence[Callback],
        earlier: Evals | None = None,
        member: str = "",
    ) -> None:
        self.head = head
        self.place = place
        self.n_rounds = n_rounds
        self.costs = costs
        self.callbacks = callbacks
        self.member = member
        self._values: dict[str, dict[str, list[float]]] = {
            rows: {name: values.tolist() for name, values in measures.items()}
            for rows, measures in (earlier or {}).items()
        }

    def __call__(self, seen: Seen) -> bool:
        """Record a round and tell it; whether a callback ends the booster."""
        known: dict[str, Any] = {}
        for rows, loss in seen.losses.items():
            measures = {"loss": loss}
            if rows in self.costs and rows in seen.scores:
                measures["cost"] = self.costs[rows](seen.scores[rows])
            for name, value in measures.items():
                self._values.setdefault(rows, {}).setdefault(name, []).append(value)
                known[f"{_FIELDS[rows]}_{name}"] = value
        told = Round(self.head, *self.place, seen.round, self.n_rounds, **known, member=self.member)
        # All of them hear of the round, also if the first one ends it.
        return any([_ends(callback, told) for callback in self.callbacks])

    def recall(self, evals: Evals) -> None:
        """Take over the values of a booster that an earlier run has finished."""
        self._values = {
            rows: {name: values.tolist() for name, values in measures.items()}
            for rows, measures in evals.items()
        }

    @property
    def evals(self) -> Evals:
        """Values by round, of all rounds that were trained."""
        return {
            rows: {name: np.array(values) for name, values in measures.items()}
            for rows, measures in self._values.items()
        }


def _ends(callback: Callback, told: Round) -> bool:
    try:
        return callback(told) is True
    except StopBoosting:
        return True


def costs_of(head: Head, sets: Mapping[str, Block]) -> dict[str, Callable[[Floats], float]]:
    """Mean cost of the rows of each set, as a function of their scores."""

    def cost_of(rows: Block) -> Callable[[Floats], float]:
        costs, weights = rows.costs, rows.weights / rows.weights.sum()
        return lambda scores: float(weights @ costs.paid(head.decide(scores, costs)))

    return {name: cost_of(rows) for name, rows in sets.items()}


def check_callbacks(callbacks: Iterable[Callback] | Callback | None, owner: str) -> list[Callback]:
    """The callbacks as a list; a single one will do."""
    if callbacks is None:
        return []
    found = [callbacks] if callable(callbacks) else list(callbacks)
    for callback in found:
        if not callable(callback):
            raise TypeError(
                f"The 'callbacks' argument of {owner}.fit must be callables of one argument, a "
                f"costboost.gbm.Round; got {callback!r}."
            )
    return found


def first_rounds(evals: Evals, n_rounds: int) -> Evals:
    """The values of the first rounds: what a continued booster starts from."""
    return {
        rows: {name: values[:n_rounds] for name, values in measures.items()}
        for rows, measures in evals.items()
    }

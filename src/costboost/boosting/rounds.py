"""What is told after each round of boosting, and to whom."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias


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
        ``"probability"``, or ``"decision"`` with a loss of the library.
    booster, n_boosters : int
        Number of the booster among those of its kind, from 1, and how many there are.
    round, n_rounds : int
        Number of the round, from 1, and how many were asked for.
    held_out_loss, held_out_cost : float or None
        On the rows that this booster holds out.
    eval_loss, eval_cost : float or None
        On the rows of ``eval_set``.
    train_loss : float or None
        On its training rows, of algorithms that know it.
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
    member: str = ""


# Hears of each round. Returning True, or raising StopBoosting, ends the booster.
Callback: TypeAlias = Callable[[Round], Any]


def tell(callbacks: Sequence[Callback], told: Round) -> bool:
    """Tell all of them of a round, whichever of them ends boosting; whether one does."""
    is_ended = False
    for callback in callbacks:
        try:
            is_ended |= callback(told) is True
        except StopBoosting:
            is_ended = True
    return is_ended


def check_callbacks(callbacks: Iterable[Callback] | Callback | None, owner: str) -> list[Callback]:
    """The callbacks as a list; a single one will do."""
    if callbacks is None:
        return []
    found = [callbacks] if callable(callbacks) else list(callbacks)
    for callback in found:
        if not callable(callback):
            raise TypeError(
                f"The 'callbacks' argument of {owner}.fit must be callables of one argument, a "
                f"costboost.boosting.Round; got {callback!r}."
            )
    return found

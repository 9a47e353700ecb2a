"""What is known after each boosting round: recorded, told to callbacks, shown as progress."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np

from costboost._typing import AnyArray, Floats
from costboost._utils import RoundLine, progress_bar
from costboost.gbm.rows import PricedRows
from costboost.gbm.targets import Target

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

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

# Sets of rows -> what `Round` calls them, and what progress does.
_SETS = {
    "held_out": ("held_out", "held-out"),
    "eval_set": ("eval", "eval_set"),
    "train": ("train", "training"),
}


class Rounds:
    """The rounds of one booster: losses and costs so far, the best round, and when to stop."""

    def __init__(
        self,
        n_rounds: int,
        patience: int,
        seed: int,
        target: Target,
        sets: Mapping[str, PricedRows],
        decide: Callable[..., AnyArray] | None = None,
        callbacks: Sequence[Callback] = (),
        **place: Any,
    ) -> None:
        self.n_rounds = n_rounds
        self.patience = patience
        self.seed = seed
        self.sets = sets
        targets = {name: target.on(rows.costs, rows.weights) for name, rows in sets.items()}
        self.targets = {name: known for name, known in targets.items() if known.weight > 0}
        others = [name for name in self.targets if name != "train"]
        self.stop_by = others[0] if others and patience else None
        self.decide = decide
        self.callbacks = callbacks
        self.place = place
        self.round = self.best_round = 0
        self.best_loss = np.inf
        self.best_scores: Floats | None = None
        self._losses: dict[str, float] = {}
        self._scores: dict[str, Floats] = {}
        self._values: dict[str, dict[str, list[float]]] = {}

    def see(self, name: str, outputs: AnyArray, *, is_probability: bool = False) -> float:
        """The loss of a set's outputs in the present round."""
        scores = to_scores(outputs) if is_probability else np.asarray(outputs, dtype=np.float64)
        self._scores[name] = scores
        self._losses[name] = loss = self.targets[name].loss(scores)
        return loss

    def end_round(self) -> bool:
        """Report the round; whether the training is to end."""
        if self.stop_by is None:
            self.best_round = self.round + 1
        elif (loss := self._losses[self.stop_by]) < self.best_loss:
            self.best_loss, self.best_round = loss, self.round + 1
            self.best_scores = self._scores[self.stop_by].copy()
        is_ended = self.tell(self._losses, self._scores)
        waited = self.round - self.best_round
        return is_ended or (self.stop_by is not None and waited >= self.patience)

    def tell(self, losses: Mapping[str, float], scores: Mapping[str, Floats] | None = None) -> bool:
        """Record a round and tell it; whether a callback ends the booster."""
        self.round += 1
        known: dict[str, Any] = {}
        for name, loss in losses.items():
            measures = {"loss": loss}
            if self.decide is not None and scores and name in scores:
                costs, weights = self.sets[name].costs, self.sets[name].weights
                paid = costs.paid(self.decide(scores[name], costs))
                measures["cost"] = float((weights / weights.sum()) @ paid)
            for measure, value in measures.items():
                self._values.setdefault(name, {}).setdefault(measure, []).append(value)
                known[f"{_SETS[name][0]}_{measure}"] = value
        told = Round(**self.place, round=self.round, n_rounds=self.n_rounds, **known)
        is_ended = False
        for callback in self.callbacks:  # all hear of the round, also if the first one ends it
            try:
                is_ended |= callback(told) is True
            except StopBoosting:
                is_ended = True
        return is_ended

    @property
    def evals(self) -> Evals:
        """Values by round, of all rounds that were trained."""
        return {
            name: {measure: np.array(values) for measure, values in measures.items()}
            for name, measures in self._values.items()
        }


def to_scores(proba: AnyArray) -> Floats:
    """Probabilities as scores: log-odds of (n,), logarithms of (n, k)."""
    p = np.clip(np.asarray(proba, dtype=np.float64), 1e-15, 1.0 - 1e-15)
    logs: Floats = np.log(p)
    if p.ndim == 1:
        logs -= np.log1p(-p)
    return logs


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


_NAMES = {"probability": "probabilities", "decision": "decisions"}


class BoosterProgress:
    """A line per booster, named by its set: "probabilities 2/5"."""

    def __init__(self, bar: Bar, owner: str, verbose: int) -> None:
        self.bar = bar
        self.owner = owner
        self.verbose = verbose
        self.line: RoundLine | None = None

    def __call__(self, told: Round) -> None:
        """Show a round; the first one of a booster begins its line."""
        if self.line is None:
            kind = f", {told.member}" if told.member else ""
            name = f"{_NAMES[told.head]}{kind} {told.booster}/{told.n_boosters}"
            self.line = RoundLine(self.bar, name, told.n_rounds, self.verbose, self.owner)
        costs = {shown: getattr(told, f"{field}_cost") for field, shown in _SETS.values()}
        self.line.tell(told.round, _first_cost(costs))

    def end(self, n_kept: int, evals: Evals) -> None:
        """Show that a booster is trained, and what it costs with the rounds that it keeps."""
        if self.line is None:  # a model without rounds
            return
        costs = {
            shown: float(evals[name]["cost"][n_kept - 1])
            for name, (_, shown) in _SETS.items()
            if "cost" in evals.get(name, {}) and n_kept
        }
        kept = f"kept {n_kept}" if n_kept < self.line.done else ""
        self.line.end(", ".join(filter(None, [_first_cost(costs), kept])))
        self.line = None


def _first_cost(costs: Mapping[str, float | None]) -> str:
    """The cost of the first set that is watched, in words."""
    return next((f"{name} cost {c:.5g}" for name, c in costs.items() if c is not None), "")


@contextmanager
def booster_progress(owner: str, verbose: int) -> Iterator[BoosterProgress | None]:
    """Progress of boosters: silent at 0, a bar each at 1, a line per round above."""
    if not verbose:
        yield None
        return
    with progress_bar() as bar:
        yield BoosterProgress(bar, owner, verbose)

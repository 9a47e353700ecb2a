"""Progress of boosters in the terminal, by rich."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from costboost._progress import RoundLine, progress_bar
from costboost.gbm.rounds import Evals, Round

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

__all__ = ["BoosterProgress", "booster_progress"]

_NAMES = {"probability": "probabilities", "decision": "decisions"}
# What is shown: the cost of the first of these sets that is watched.
_SHOWN = (("held_out", "held-out"), ("eval_set", "eval_set"), ("train", "training"))


class BoosterProgress:
    """A line per booster, named by its set: "probabilities 2/5"."""

    def __init__(self, bar: Bar | None, owner: str, verbose: int) -> None:
        self.bar = bar
        self.owner = owner
        self.verbose = verbose
        self.line: RoundLine | None = None

    def __call__(self, told: Round) -> None:
        """Show a round; the first one of a booster begins its line."""
        if self.bar is None:
            return
        if self.line is None:
            kind = f", {told.member}" if told.member else ""
            name = f"{_NAMES[told.head]}{kind} {told.booster}/{told.n_boosters}"
            self.line = RoundLine(self.bar, name, told.n_rounds, self.verbose, self.owner)
        known = (
            ("held-out", told.held_out_cost),
            ("eval_set", told.eval_cost),
            ("training", told.train_cost),
        )
        state = next((_cost(name, cost) for name, cost in known if cost is not None), "")
        self.line.tell(told.round, state)

    def end(self, n_kept: int, evals: Evals) -> None:
        """Show that a booster is trained, and what it costs with the rounds that it keeps."""
        if self.line is None:
            return
        shown = [
            _cost(name, float(evals[rows]["cost"][n_kept - 1]))
            for rows, name in _SHOWN
            if "cost" in evals.get(rows, {}) and n_kept
        ][:1]
        if n_kept < self.line.done:
            shown.append(f"kept {n_kept}")
        self.line.end(", ".join(shown))
        self.line = None


def _cost(name: str, cost: float) -> str:
    return f"{name} cost {cost:.5g}"


@contextmanager
def booster_progress(owner: str, verbose: int) -> Iterator[BoosterProgress]:
    """Progress of boosters: silent at 0, a bar each at 1, a line per round above."""
    if not verbose:
        yield BoosterProgress(None, owner, verbose)
        return
    with progress_bar() as bar:
        yield BoosterProgress(bar, owner, verbose)

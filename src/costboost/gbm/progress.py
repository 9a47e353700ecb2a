"""Progress of boosters in the terminal, by rich."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import TypeAlias

from costboost._progress import progress_bar
from costboost._typing import Floats
from costboost.gbm.engines.base import AfterRound

__all__ = ["HeldOutCost", "booster_progress"]

HeldOutCost: TypeAlias = Callable[[Floats], float]


@contextmanager
def booster_progress(
    title: str, n_boosters: int, n_rounds: int, verbose: int
) -> Iterator[Callable[[HeldOutCost | None], AfterRound | None]]:
    """Makes a callback for each booster: silent at 0, a bar at 1, a line per round above."""
    if not verbose:
        yield lambda cost: None
        return
    with progress_bar() as bar:
        begun = iter(range(1, n_boosters + 1))

        def next_booster(cost: HeldOutCost | None) -> AfterRound:
            number = next(begun)
            name = f"{title} booster {number}/{n_boosters}"
            task = bar.add_task(name, total=n_rounds, state="", start=False)

            def after_round(rounds: int, scores: Floats | None) -> None:
                bar.start_task(task)
                known = (
                    "" if cost is None or scores is None else f"held-out cost {cost(scores):.6g}"
                )
                bar.update(task, completed=rounds, state=known)
                if verbose > 1:
                    bar.console.print(f"{name} round {rounds}/{n_rounds}: {known}")

            return after_round

        yield next_booster

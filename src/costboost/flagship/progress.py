"""Progress of the flagship in the terminal, by rich."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager

from costboost._progress import progress_bar
from costboost._typing import Floats
from costboost.flagship.engine import Report

__all__ = ["booster_progress"]

Bill = Callable[[Floats], float]


@contextmanager
def booster_progress(
    title: str, n_boosters: int, n_rounds: int, verbose: int
) -> Iterator[Callable[[Bill | None], Report | None]]:
    """Hands out the reports of boosters: silent at 0, a bar at 1, a line per round above."""
    if not verbose:
        yield lambda bill: None
        return
    with progress_bar() as bar:
        begun = iter(range(1, n_boosters + 1))

        def report_for(bill: Bill | None) -> Report:
            number = next(begun)
            name = f"{title} booster {number}/{n_boosters}"
            task = bar.add_task(name, total=n_rounds, state="", start=False)

            def report(rounds: int, scores: Floats | None) -> None:
                bar.start_task(task)
                known = (
                    "" if bill is None or scores is None else f"held-out bill {bill(scores):.6g}"
                )
                bar.update(task, completed=rounds, state=known)
                if verbose > 1:
                    bar.console.print(f"{name} round {rounds}/{n_rounds}: {known}")

            return report

        yield report_for

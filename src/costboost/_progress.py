"""Progress of a fit in the terminal, by rich."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

from costboost.boosting.loop import Progress

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

__all__ = ["progress_bar", "round_progress"]


@contextmanager
def round_progress(title: str, verbose: int) -> Iterator[Progress | None]:
    """A callback for the boosting loop: silent at 0, a bar at 1, a line per round above."""
    if verbose == 0:
        yield None
        return
    with progress_bar() as bar:
        task = bar.add_task(title, state="")

        def show(t: int, n_rounds: int, alpha: float, loss: float | None) -> None:
            state = f"vote {alpha:.4g}" + ("" if loss is None else f"  loss {loss:.6g}")
            bar.update(task, completed=t, total=n_rounds, state=state)
            if verbose > 1:
                bar.console.print(f"{title} round {t}/{n_rounds}: {state}")

        yield show


def progress_bar() -> Bar:
    """A bar with counts, the time left and a field ``state``."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    return Bar(
        TextColumn("{task.description}"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeRemainingColumn(),
        TextColumn("{task.fields[state]}"),
    )

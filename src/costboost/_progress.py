"""Progress of a fit: a bar in a terminal, plain lines elsewhere, by rich."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from costboost.boosting.loop import Progress

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

__all__ = ["progress_bar", "round_progress"]

# Where there is no terminal, a fit prints so many lines.
_PLAIN_LINES = 10


@contextmanager
def round_progress(title: str, n_rounds: int, verbose: int) -> Iterator[Progress | None]:
    """A callback for the boosting loop: silent at 0, a bar at 1, a line per round above.

    Without a terminal, 1 prints about ten lines instead of a bar.
    """
    if verbose == 0:
        yield None
        return
    with progress_bar() as bar:
        in_terminal = bar.console.is_terminal
        task = bar.add_task(title, total=n_rounds, state="", visible=in_terminal)
        every = 1 if verbose > 1 else max(1, n_rounds // _PLAIN_LINES)
        done = 0

        def show(t: int, n_rounds: int, alpha: Any, loss: float | None) -> None:
            nonlocal done
            done = t
            state = f"vote {alpha:.3g}" + ("" if loss is None else f" loss {loss:.4g}")
            bar.update(task, completed=t, state=state)
            if verbose > 1 or (not in_terminal and t % every == 0):
                bar.console.print(f"{title} round {t}/{n_rounds}: {state}", soft_wrap=True)

        yield show
        if done < n_rounds:  # boosting has stopped early: that is all there is
            bar.update(task, completed=done, total=done)
            if not in_terminal or verbose > 1:
                bar.console.print(f"{title}: boosting stopped after {done} of {n_rounds} rounds")


def progress_bar() -> Bar:
    """A bar with counts, the time left and a field ``state``, no wider than 80 columns."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    return Bar(
        TextColumn("{task.description}"),
        BarColumn(bar_width=10),
        MofNCompleteColumn(),
        TimeRemainingColumn(compact=True),
        TextColumn("{task.fields[state]}"),
    )

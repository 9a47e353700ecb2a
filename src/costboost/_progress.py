"""Progress of a fit: a bar in a terminal, plain lines elsewhere, by rich."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from costboost.boosting.loop import Progress

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

__all__ = ["RoundLine", "progress_bar", "round_progress"]

# Where there is no terminal, a fit prints so many lines.
_PLAIN_LINES = 10


class RoundLine:
    """The line of one training: a bar in a terminal, plain lines elsewhere."""

    def __init__(self, bar: Bar, name: str, n_rounds: int, verbose: int, owner: str = "") -> None:
        self.bar = bar
        self.name = f"{owner} {name}".lstrip()
        self.n_rounds = n_rounds
        self.is_plain = not bar.console.is_terminal
        self.task = bar.add_task(name, total=n_rounds, state="", visible=not self.is_plain)
        self.verbose = verbose
        self.every = max(1, n_rounds // _PLAIN_LINES)
        self.done = 0

    def tell(self, done: int, state: str) -> None:
        """Show a finished round."""
        self.done = done
        self.bar.update(self.task, completed=done, state=state)
        if self.verbose > 1 or (self.is_plain and done % self.every == 0):
            self._print(f"{self.name} round {done}/{self.n_rounds}: {state}".removesuffix(": "))

    def end(self, state: str | None = None) -> None:
        """Show that the training is over: the bar ends at 100 %, also after fewer rounds."""
        if state is not None:
            self.bar.update(self.task, state=state)
        self.bar.update(self.task, completed=self.done, total=max(self.done, 1))
        if self.done < self.n_rounds and (self.is_plain or self.verbose > 1):
            after = f"{self.name}: stopped after {self.done} of {self.n_rounds} rounds"
            self._print(after if state is None else f"{after}, {state}")

    def _print(self, text: str) -> None:
        self.bar.console.print(text, soft_wrap=True, highlight=False)


@contextmanager
def round_progress(title: str, n_rounds: int, verbose: int) -> Iterator[Progress | None]:
    """A callback for the boosting loop: silent at 0, a bar at 1, a line per round above."""
    # Without a terminal, 1 prints about ten lines instead of a bar.
    if verbose == 0:
        yield None
        return
    with progress_bar() as bar:
        line = RoundLine(bar, title, n_rounds, verbose)

        def show(t: int, n_rounds: int, alpha: Any, loss: float | None) -> None:
            line.tell(t, f"vote {alpha:.3g}" + ("" if loss is None else f" loss {loss:.4g}"))

        yield show
        line.end()


def progress_bar() -> Bar:
    """A bar with counts, the time left and a field ``state``, no wider than 80 columns."""
    from rich.progress import BarColumn, MofNCompleteColumn, TextColumn, TimeRemainingColumn
    from rich.progress import Progress as Bar

    bar = Bar(
        TextColumn("{task.description}"),
        BarColumn(bar_width=8),
        MofNCompleteColumn(),
        TimeRemainingColumn(compact=True, elapsed_when_finished=True),
        TextColumn("{task.fields[state]}"),
    )
    bar.disable = not bar.console.is_terminal  # plain lines only, and no empty one at the end
    return bar

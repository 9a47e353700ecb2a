"""Errors as the command line tells them: what is wrong and what to do, no traceback."""

from __future__ import annotations

import functools
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import ParamSpec, TypeVar

import typer

__all__ = ["FOUND", "WRONG", "collected_warnings", "fail", "tells_errors"]

FOUND = 3
"""Exit code of a command that ran and found something: an alarm, a faulty file."""
WRONG = 2
"""Exit code of a command that was asked for something it cannot do."""

TRACEBACK = "COSTBOOST_TRACEBACK"
"""Environment variable: if set, errors keep their traceback."""

P = ParamSpec("P")
R = TypeVar("R")


def fail(message: str) -> typer.Exit:
    """Print an error to the standard error; returns what to raise."""
    from rich.console import Console
    from rich.text import Text

    Console(stderr=True).print(
        Text.assemble(("Error: ", "bold red"), message), soft_wrap=True, highlight=False
    )
    return typer.Exit(WRONG)


def tells_errors(command: Callable[P, R]) -> Callable[P, R]:
    """A command whose errors are messages with exit code 2."""
    # Set the environment variable ``COSTBOOST_TRACEBACK`` to see where an error came from.

    @functools.wraps(command)
    def run(*args: P.args, **kwargs: P.kwargs) -> R:
        try:
            return command(*args, **kwargs)
        except (ValueError, TypeError, ImportError, OSError, MemoryError) as error:
            said = isinstance(error, OSError) and "Broken pipe" in str(error)  # by polars
            if said or isinstance(error, BrokenPipeError):  # `| head` has read enough
                sys.stdout = open(os.devnull, "w")  # noqa: SIM115 (until the process ends)
                raise typer.Exit from None
            if os.environ.get(TRACEBACK):
                raise
            raise fail(str(error) or type(error).__name__) from None

    return run


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Collect warnings as texts, each once, to show them where a reader looks."""
    found: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield found
    kinds = (DeprecationWarning, PendingDeprecationWarning, ResourceWarning)
    found += dict.fromkeys(
        str(one.message) for one in caught if not issubclass(one.category, kinds)
    )

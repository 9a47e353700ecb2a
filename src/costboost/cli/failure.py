"""Errors as the command line tells them: what is wrong and what to do, no traceback."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from costboost.errors import ColumnWarning

FOUND = 3
"""Exit code of a command that ran and found something: a remark on a file."""
WRONG = 2
"""Exit code of a command that was asked for something it cannot do."""


def printable(text: str) -> str:
    """Text without the signs that a terminal would obey: a header may hold escape sequences."""
    return "".join(sign if sign.isprintable() or sign == "\n" else "?" for sign in text)


@contextmanager
def told_errors() -> Iterator[None]:
    """Print errors as messages to the standard error; the exit code is 2."""
    # Set the environment variable ``COSTBOOST_TRACEBACK`` to see where an error came from.
    try:
        yield
    except (ValueError, TypeError, ImportError, OSError, MemoryError) as error:
        broken = isinstance(error, OSError) and "Broken pipe" in str(error)  # by polars
        if broken or isinstance(error, BrokenPipeError):  # `| head` has read enough
            sys.stdout = open(os.devnull, "w")  # noqa: SIM115 (until the process ends)
            raise typer.Exit from None
        if os.environ.get("COSTBOOST_TRACEBACK"):
            raise
        from rich.console import Console
        from rich.text import Text

        said = printable(str(error)) or type(error).__name__
        message = Text.assemble(("Error: ", "bold red"), said)
        Console(stderr=True).print(message, soft_wrap=True, highlight=False)
        raise typer.Exit(WRONG) from None


@contextmanager
def collected_warnings() -> Iterator[list[str]]:
    """Collect warnings as texts, each once, to show them where a reader looks."""
    found: list[str] = []
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        yield found
    # What becomes of columns is shown anyway.
    kinds = (DeprecationWarning, PendingDeprecationWarning, ResourceWarning, ColumnWarning)
    found += dict.fromkeys(
        str(one.message) for one in caught if not issubclass(one.category, kinds)
    )

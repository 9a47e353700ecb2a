"""Errors as the command line tells them: what is wrong and what to do, no traceback."""

from __future__ import annotations

import os
import re
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


# What the library says in words of Python, and what that is on the command line.
PYTHON_WORDS = (
    (r"The 'columns' parameter(?: of \w+)?", "--column"),
    (r"the 'columns' parameter", "--column"),
    (r"columns=\{'([^']*)': '([^']*)'\}", r"--column \1=\2"),
    (r"Say what they are by 'columns'", "Say what they are by --column"),
    (r"The 'cost_matrix' parameter(?: of \w+)?", "--cost"),
    (r" Look at cost_matrix_\.", " `costboost inspect` shows the costs of a model."),
    (r"Give the weak learner more room", "Use --set for stronger learners, or another --algorithm"),
)


def in_command_words(text: str) -> str:
    """Return a message of the library in words of the command line."""
    for pattern, words in PYTHON_WORDS:
        text = re.sub(pattern, words, text)
    return text


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

        said = printable(in_command_words(str(error))) or type(error).__name__
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
        in_command_words(str(one.message)) for one in caught if not issubclass(one.category, kinds)
    )

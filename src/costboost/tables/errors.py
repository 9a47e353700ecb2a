"""One kind of error for everything that can be wrong with a file of rows."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["TableError", "need", "unknown_column"]


class TableError(ValueError):
    """A file, or a column of it, is not what was asked for; the message says what to do."""


def unknown_column(name: str, known: Iterable[str], what: str, where: str) -> TableError:
    """The error for a column that a file does not have, with the nearest names.

    Parameters
    ----------
    name : str
        The column that was asked for.
    known : iterable of str
        The columns of the file.
    what : str
        What the column is for, such as ``"--target"``.
    where : str
        The file.

    Returns
    -------
    TableError
        The error, to be raised.
    """
    names = list(known)
    folded = {other.lower(): other for other in names}
    near = [folded[x] for x in get_close_matches(name.lower(), folded, n=3, cutoff=0.5)]
    hint = f" The nearest names: {', '.join(map(repr, near))}." if near else ""
    shown = ", ".join(names[:12]) + (f", ... ({len(names)} in all)" if len(names) > 12 else "")
    return TableError(f"{where} has no column {name!r} ({what}).{hint} Its columns: {shown}.")


def need(module: str, extra: str, what: str) -> None:
    """Raise an ImportError that names the install command if a package is missing.

    Parameters
    ----------
    module : str
        The package.
    extra : str
        The extra of costboost that installs it.
    what : str
        What needs it, for the message.
    """
    from importlib.util import find_spec

    if find_spec(module) is None:
        raise ImportError(
            f'{what} needs {module}, which is not installed: pip install "costboost[{extra}]".'
        )

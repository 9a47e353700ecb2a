"""Which source was measured: the commit that goes into every file of results."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import costboost

__all__ = ["source_commit"]


def source_commit(folder: str | os.PathLike[str] | None = None) -> str:
    """The last commit that changed the source, with ``-dirty`` if the source differs from it."""
    # Commits and edits elsewhere do not count: writing results, which are tracked too, leaves the
    # answer as it was.
    source = Path(costboost.__file__).parent if folder is None else Path(folder)
    commit = _git(source, "log", "-1", "--format=%h", "--abbrev=10", "--", ".")
    if not commit:
        return ""
    return f"{commit}-dirty" if _git(source, "status", "--porcelain", "--", ".") else commit


def _git(folder: Path, *arguments: str) -> str:
    """What Git prints; empty if it cannot answer."""
    command = ["git", "-C", str(folder), *arguments]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:  # Git is not installed
        return ""
    return done.stdout.strip() if done.returncode == 0 else ""

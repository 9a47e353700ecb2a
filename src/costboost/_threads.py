"""How many threads a fit uses."""

from __future__ import annotations

import os

__all__ = ["n_threads"]

# Below this many rows a second thread costs more than it brings.
_ROWS_PER_THREAD = 10_000


def n_threads(n_jobs: int | None, n_rows: int) -> int:
    """Threads for so many rows: ``n_jobs``, counted from the cores if negative; None decides."""
    cores = os.cpu_count() or 1
    if n_jobs is None:
        return 1 if n_rows < _ROWS_PER_THREAD else cores
    return n_jobs if n_jobs > 0 else max(1, cores + 1 + n_jobs)

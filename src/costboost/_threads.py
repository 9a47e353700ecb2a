"""How many threads a fit uses.

A child made by ``fork`` has none of its parent's OpenMP threads, but OpenMP believes that it has:
if LightGBM or XGBoost has used several threads in the parent, they wait in the child for ever. So
they get one thread there, which needs no others. XGBoost copies labels by as many threads as OpenMP
likes, whatever it is told; so OpenMP itself is limited too. (Processes of joblib, and those that
``multiprocessing`` spawns, start afresh and are not concerned.)
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Condition, get_ident

import numpy as np
from joblib import cpu_count
from threadpoolctl import ThreadpoolController, threadpool_limits

__all__ = ["blas_threads", "n_threads", "prediction_threads", "same_threads"]

# Below this many rows a second thread costs more than it brings.
_ROWS_PER_THREAD = 10_000


_forked = False


# Python threads in which LightGBM works, and the number of threads that it uses there.
_turns = Condition()
_running: dict[int, int] = {}
# Seconds that a training waits for others.
_PATIENCE = 600.0


def _note_fork() -> None:
    global _forked, _turns
    _forked = True
    _turns = Condition()
    _running.clear()  # those of the parent do not run here


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_note_fork)


def n_threads(n_jobs: int | None, n_rows: float = np.inf) -> int:
    """Threads for so many rows: ``n_jobs``, counted from the cores if negative; None decides."""
    # None takes one thread for few rows. For many it takes the cores that the process may use (CPU
    # affinity and the limits of its container), and no more than ``OMP_NUM_THREADS`` (its first
    # number, if there is one per level). A forked process gets one.
    if _forked:
        # Of OpenMP too, where this Python thread calls it.
        threadpool_limits(1, user_api="openmp")
        return 1
    if n_jobs is not None and n_jobs > 0:
        return n_jobs
    if n_jobs is None and n_rows < _ROWS_PER_THREAD:
        return 1
    cores: int = cpu_count()
    if n_jobs is not None:
        return max(1, cores + 1 + n_jobs)
    first = os.environ.get("OMP_NUM_THREADS", "").split(",")[0].strip()
    return min(cores, int(first)) if first.isdigit() and int(first) > 0 else cores


@contextmanager
def same_threads(number: int) -> Iterator[None]:
    """Wait until no LightGBM training of this process uses another number of threads."""
    # The number is OpenMP's, of the process: trainings with different ones at a time may crash it.
    with _turns:
        # A callback may train, too: it must not wait for itself.
        if get_ident() not in _running:
            _turns.wait_for(lambda: {*_running.values()} <= {number}, _PATIENCE)
        outer = _start_running(number)
    try:
        yield
    finally:
        _stop_running(outer)


@contextmanager
def prediction_threads(number: int) -> Iterator[int]:
    """Give the number of threads that a prediction of LightGBM may use now."""
    # It never waits: it takes the number of what runs already, or its own if nothing does.
    with _turns:
        number = next(iter(_running.values()), number)
        outer = _start_running(number)
    try:
        yield number
    finally:
        _stop_running(outer)


def _start_running(number: int) -> int | None:
    outer = _running.get(get_ident())
    _running[get_ident()] = number
    return outer


def _stop_running(outer: int | None) -> None:
    with _turns:
        _running.pop(get_ident())
        if outer is not None:
            _running[get_ident()] = outer
        _turns.notify_all()


@contextmanager
def blas_threads(number: int) -> Iterator[None]:
    """Let matrix products use so many threads, or fewer if that is the limit already."""
    # The limit is that of the process, so it is set by the thread that leads a training.
    libraries = ThreadpoolController().select(user_api="blas")
    limit = min([number, *(found.num_threads for found in libraries.lib_controllers)])
    with libraries.limit(limits=limit):
        yield

"""Workers of a Dask cluster are killed, stopped and filled; fits repeat on any number of workers.

    PYTHONPATH=src:tests python -m trust.clusters

In every phase of a fit (reading y, reading rows, training) a worker is killed, stopped (SIGSTOP) or
fills its memory. The outcome must be a fit, or a `WorkerLostError`, within the stated time; never a
hang. A worker that is killed while rows are scored is replaced, and the scores are the right ones.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
import warnings

import dask.array as da
import numpy as np
from distributed import Client, LocalCluster

from costboost.costs import per_row
from costboost.dask import DaskCostBoostClassifier, WorkerLostError
from costboost.datasets import make_fraud
from trust.part import main

# Seconds that a worker may be silent here, and within which every fit must end after a fault.
TIMEOUT = 6
STATED = 90
DATA = make_fraud(2000, random_state=0)
COSTS = per_row(fn=DATA.amount, fp=5)


def cluster(n_workers, *, processes=True):
    return LocalCluster(
        n_workers=n_workers, threads_per_worker=1, processes=processes,
        memory_limit="600MiB" if processes else 0, dashboard_address=":0",
    )  # fmt: skip


def collections(action=None, chunk=500, of="rows"):
    """The rows as collections; every partition of X, or of y, goes through a function."""
    X, y, costs = (da.from_array(a, chunks=(chunk, *a.shape[1:])) for a in (DATA.X, DATA.y, COSTS))
    if action is not None and of == "y":
        y = y.map_blocks(action, dtype=y.dtype, meta=np.empty(0, y.dtype))
    elif action is not None:
        X = X.map_blocks(action, dtype=X.dtype, meta=np.empty((0, 0)))
    return X, y, costs


def slow(block):
    """A partition that takes a while to be made."""
    if len(block):
        time.sleep(1.0)
    return block


def greedy(block):
    """A partition that takes more memory than a worker has."""
    if len(block):
        kept = [np.ones(2**24) for _ in range(12)]  # 128 MiB each
        time.sleep(3)
        return block + block.dtype.type(0 * kept[0][0])
    return block


def hoard():
    """On a worker, beside its tasks: take more memory than it has."""

    def fill():
        kept = [np.ones(2**24) for _ in range(12)]
        time.sleep(STATED + len(kept))

    threading.Thread(target=fill, daemon=True).start()


def fault(client, what, phase):
    """Wait for a phase of a fit, then harm one worker; returns how to undo it."""
    wanted = ("fn-",) if phase == "training" else ("slow", "_split")
    end = time.monotonic() + 120
    while time.monotonic() < end:
        busy = [
            address
            for address, keys in client.processing().items()
            if any(str(key).strip("('\"").startswith(wanted) for key in keys)
        ]
        if busy:
            break
        time.sleep(0.05)
    else:
        return None
    time.sleep(0.3)
    if what == "memory":
        client.run(hoard, workers=busy[:1])
        return lambda: None
    pid = client.run(os.getpid, workers=busy[:1])[busy[0]]
    os.kill(pid, signal.SIGKILL if what == "kill" else signal.SIGSTOP)
    return (lambda: None) if what == "kill" else lambda: os.kill(pid, signal.SIGCONT)


def faulty_fit(what, phase, violations):
    """One fit with one fault; returns what came of it, and the seconds it took after the fault."""
    with cluster(2) as workers, Client(workers) as client:
        outcome = []
        is_greedy = what == "memory" and phase != "training"
        action = None if phase == "training" else greedy if is_greedy else slow
        model = DaskCostBoostClassifier(
            n_estimators=3 if phase != "training" else 100_000, early_stopping=False,
            random_state=0, worker_timeout=TIMEOUT, client=client,
        )  # fmt: skip

        def fit():
            try:
                model.fit(*collections(action, of=phase.split()[-1])[:2])
                outcome.append("a fit")
            except WorkerLostError:
                outcome.append("WorkerLostError")
            except BaseException as error:
                outcome.append(f"{type(error).__name__}: {error}")

        thread = threading.Thread(target=fit, daemon=True)
        thread.start()
        undo = (lambda: None) if is_greedy else fault(client, what, phase)
        start = time.monotonic()
        thread.join(STATED)
        seconds = time.monotonic() - start
        if undo is None:
            violations.append(f"{what}, {phase}: the phase was not seen: {outcome}")
        else:
            undo()
        if thread.is_alive():
            violations.append(f"{what}, {phase}: no end within {STATED} s")
            return "HANG", seconds
        if outcome[0] not in ("a fit", "WorkerLostError"):
            violations.append(f"{what}, {phase}: {outcome[0]}")
        return outcome[0], seconds


def faulty_scores(violations):
    """A worker is killed while rows are scored; the scores must be right."""
    with cluster(2) as workers, Client(workers) as client:
        model = DaskCostBoostClassifier(n_estimators=3, random_state=0, client=client)
        model.fit(*collections()[:2])
        right = model.to_local().predict_proba(DATA.X)
        found = []

        def score():
            found.append(model.predict_proba(collections(slow)[0]).compute())

        thread = threading.Thread(target=score, daemon=True)
        thread.start()
        if fault(client, "kill", "scoring") is None:
            violations.append("kill, scoring: the phase was not seen")
        start = time.monotonic()
        thread.join(STATED)
        if not found or not np.array_equal(found[0], right):
            violations.append(f"kill, scoring: {'other scores' if found else 'no end'}")
        return "right scores" if found else "HANG", time.monotonic() - start


def repeated(sizes, violations):
    """Fits of one seed on several numbers of workers and partitions: how much they differ."""
    # Columns of few values have the same bins everywhere; what is left is the order of sums, which
    # decides between splits of nearly equal gain.
    found = []
    for n_workers, chunk in sizes:
        with cluster(n_workers, processes=False) as workers, Client(workers) as client:
            X, y, costs = collections(chunk=chunk)
            X = X.round()
            model = DaskCostBoostClassifier(
                n_estimators=40, n_iter_no_change=5, random_state=0, client=client
            ).fit(X, y, costs=costs)
            found.append(model.to_local().predict_proba(np.round(DATA.X)))
    differ = max(np.abs(proba - found[0]).mean() for proba in found)
    if differ > 1e-3:
        violations.append(f"probabilities of one seed differ by {differ:.2g} on {sizes}")
    return f"{differ:.1g}"


def run(seed, quick=False):
    """Counts and violations."""
    warnings.simplefilter("ignore")
    counts, violations = {}, []
    sizes = [(1, 800), (2, 800), (2, 500), (3, 300)]
    counts["mean difference of probabilities, one seed on 1, 2, 2 and 3 workers"] = repeated(
        sizes[:2] if quick else sizes, violations
    )
    phases = ("reading rows", "training") if quick else ("reading y", "reading rows", "training")
    for what in ("kill",) if quick else ("kill", "stop", "memory"):
        for phase in phases:
            outcome, seconds = faulty_fit(what, phase, violations)
            counts[f"{what} while {phase}"] = f"{outcome}, {seconds:.0f} s"
    if not quick:
        outcome, seconds = faulty_scores(violations)
        counts["kill while scoring"] = f"{outcome}, {seconds:.0f} s"
    counts["stated time, s"] = STATED
    return counts, violations


if __name__ == "__main__":
    main("dask", run, quick="quick" in sys.argv)

"""Many fits and predictions do not grow; threads, forks and spawned processes answer the same.

PYTHONPATH=src:tests python -m trust.load 1000 10000
"""

from __future__ import annotations

import gc
import multiprocessing
import os
import pickle
import sys
import tempfile
import threading
import time
import warnings
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import psutil
from threadpoolctl import threadpool_info

from costboost.datasets import make_fraud
from files.models import CASES, ESTIMATORS, MULTICLASS, fitted, make, rows
from trust.part import Child, main

# After the warm-up, in so many parts of the run, memory may grow by this much in all.
MOST_MEGABYTES = 24
# Seconds without computing after which a forked process counts as hanging; seconds for an answer.
PATIENCE = 20
ANSWER = 600


def state():
    """Resident megabytes, threads and open files of this process."""
    gc.collect()
    me = psutil.Process()
    return me.memory_info().rss / 2**20, me.num_threads(), me.num_fds()


def cases(names):
    """Classes for two and for four classes."""
    found = [(name, 2) for name in names]
    found += [(name, 4) for name in names if name in MULTICLASS]
    return found


def fresh(name, k):
    more = {}
    if name == "TargetRateClassifier":
        more = {"estimator": make("CSB2Classifier", n_estimators=2), "n_trials": 2, "cv": 2}
    X, y = rows(k)
    return make(name, n_estimators=2, n_jobs=1, **more).fit(X, y)


def growth(n_fits, n_predicts, names, violations):
    """Fit and predict again and again; memory, threads and files must stay."""
    X, _ = rows(2)
    plan = [(name, 2) for name in names]
    models = [fresh(*one) for one in plan]
    for model in models:
        model.predict(X)
    table = []
    for what, total in (("fits", n_fits), ("predictions", n_predicts)):
        if not total:
            continue
        warm = max(total // 5, len(plan))
        before = None
        for number in range(warm + total):
            if number == warm:
                before = state()
            one = number % len(plan)
            if what == "fits":
                fresh(*plan[one])
            else:
                models[one].predict(X)
        after = state()
        grown = [b - a for a, b in zip(before, after, strict=True)]
        table.append([what, total, *(round(value, 1) for value in grown)])
        if grown[0] > MOST_MEGABYTES or grown[1] > 0 or grown[2] > 0:
            violations.append(f"{total} {what} grew by {grown} (MB, threads, files)")
    return table


def in_threads(names, violations, n_threads=16, times=3):
    """Sixteen threads ask one model at the same time; each answer is that of one thread alone."""
    n = 0
    for name, k in cases(names):
        case = name if k == 2 else f"{name}, {k} classes"
        model, X = fitted(case) if case in CASES else (fresh(name, k), rows(k)[0])
        asked = [m for m in ("predict", "predict_proba", "decision_function") if hasattr(model, m)]
        right = {m: np.asarray(getattr(model, m)(X)) for m in asked}
        ready = threading.Barrier(n_threads)

        def ask(number, model=model, X=X, asked=asked, right=right, ready=ready):
            ready.wait()
            method = asked[number % len(asked)]
            return all(
                np.array_equal(getattr(model, method)(X), right[method]) for _ in range(times)
            )

        with ThreadPoolExecutor(n_threads) as pool:
            answers = list(pool.map(ask, range(n_threads)))
        n += n_threads * times
        if not all(answers):
            violations.append(f"{case}: {answers.count(False)} of {n_threads} threads differ")
    return n


def _answer(path):
    """In a spawned process: what a pickled model predicts."""
    warnings.simplefilter("ignore")
    model, X = pickle.loads(Path(path).read_bytes())
    return np.asarray(model.predict(X))


def in_processes(names, violations):
    """Forked and spawned children answer as the parent, which has used several threads before."""
    openmp = [pool["num_threads"] for pool in threadpool_info() if pool["user_api"] == "openmp"]
    counts = {"threads of OpenMP": max(openmp), "forks": 0, "spawns": 0}
    data = make_fraud(12_000, random_state=0)
    with tempfile.TemporaryDirectory() as folder:
        models = []
        model = make("CostBoostClassifier", n_jobs=2, n_estimators=3).fit(data.X, data.y)
        models.append(("CostBoost", model, data.X))
        model.predict(data.X)  # by several threads
        for name in names:
            if name != "CostBoostClassifier":
                model, X = fitted(name)
                models.append((name, model, X))
        for what, model, X in models:
            right, told = np.asarray(model.predict(X)), Path(folder) / "answer.npy"

            def ask(model=model, X=X, told=told):
                np.save(told, np.asarray(model.predict(X)))

            child = Child(ask, Path(folder) / "log")
            code = child.wait(PATIENCE)
            counts["forks"] += 1
            if code != 0 or not np.array_equal(np.load(told), right):
                violations.append(f"{what}: fork gave {code}: {child.words}")
        context = multiprocessing.get_context("spawn")
        with context.Pool(1) as pool:
            for what, model, X in models:
                path = Path(folder) / "model"
                path.write_bytes(pickle.dumps((model, X)))
                found = pool.apply_async(_answer, (path,)).get(ANSWER)
                counts["spawns"] += 1
                if not np.array_equal(found, np.asarray(model.predict(X))):
                    violations.append(f"{what}: a spawned process answers differently")

        def fit_again():
            model = make("CostBoostClassifier", n_jobs=2, n_estimators=3)
            model.fit(data.X, data.y).predict(data.X)

        child = Child(fit_again, Path(folder) / "log")
        counts["fits in a fork"] = 1
        code = child.wait(PATIENCE)
        if code != 0:
            violations.append(f"a fit in a fork gave {code}: {child.words}")
    return counts


def run(seed, n_fits=1000, n_predicts=10_000, names=tuple(ESTIMATORS)):
    """Counts, the table of growth, and violations."""
    warnings.simplefilter("ignore")
    violations = []
    start = time.monotonic()
    counts = in_processes(names, violations)  # first: few threads are alive
    counts["predictions by 16 threads"] = in_threads(names, violations)
    table = growth(n_fits, n_predicts, names, violations)
    for what, total, megabytes, threads, files in table:
        counts[what] = total
        counts[f"{what}: growth in MB"] = megabytes
        counts[f"{what}: growth in threads"] = int(threads)
        counts[f"{what}: growth in open files"] = int(files)
    print(f"  {time.monotonic() - start:.0f} s", os.getloadavg())
    return counts, violations


if __name__ == "__main__":
    sizes = [int(one) for one in sys.argv[1:]] or [1000, 10_000]
    main("load", run, n_fits=sizes[0], n_predicts=sizes[1])

"""Check every law on every public class, objective and metric, on many drawn cases.

    PYTHONPATH=src:tests python -m trust.properties 20000

The seed is printed and can be given (`--seed`). The counts are kept in `build/trust`: a run that
was stopped goes on where it was. The last file, `build/trust/properties.json`, has the totals.
"""

from __future__ import annotations

import argparse
import contextlib
import hashlib
import json
import math
import multiprocessing
import os
import pkgutil
import sys
import time
import zlib
from collections import Counter
from concurrent.futures import ProcessPoolExecutor, as_completed
from importlib import import_module

import costboost
from trust.part import FOLDER, report

for _variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

# Cases per class whose answers must be the same bits in two processes.
PROCESS_CASES = 4


def units():
    """All pairs of a subject and a law, with their share of the cases."""
    from trust.subjects import subjects

    return [(subject.name, law, subject.share) for subject in subjects() for law in subject.laws]


def subject_named(name):
    from trust.subjects import subjects

    return next(subject for subject in subjects() if subject.name == name)


def seed_of(seed, *names):
    """A seed of its own for every unit, whatever is run before it."""
    return zlib.crc32("/".join([str(seed), *names]).encode())


# Cases of each law in the test suite. The first two ask the most of a class; changed units need a
# few, until extreme ones are drawn; another symmetry is the same code for every case.
SAMPLE = {
    "answers_or_refuses": 3,
    "answers_soundly": 3,
    "has_finite_derivatives": 15,
    "ignores_unit_of_costs": 2,
    "ignores_unit_of_weights": 2,
}


def sample(subject, law, seed=5, shrink=True):
    """Check a law on the few cases of the test suite."""
    from laws import LAWS
    from laws.checking import run_law

    n = SAMPLE.get(law, 1 if law in LAWS else 10)
    run_law(
        subject.laws[law],
        subject.what,
        subject.strategy(law),
        max_examples=n,
        seed=seed_of(seed, subject.name, law),
        shrink=shrink,
    )


def run(name, law, n, seed):
    """Check one law on one subject: counts, seconds, and the first violation."""
    from laws.checking import run_law

    subject = subject_named(name)
    start = time.process_time()
    row = {"subject": name, "law": law, "answered": 0, "refused": 0, "broken": ""}
    try:
        row |= run_law(
            subject.laws[law],
            subject.what,
            subject.strategy(law),
            max_examples=n,
            seed=seed_of(seed, name, law),
        )
    except Exception as error:  # a violation, or a fault of the harness: both count
        row["broken"] = f"{type(error).__name__}: {error}"[:3000]
    return row | {"seconds": round(time.process_time() - start, 2)}


def digest(name, seed):
    """A hash of the answers to a few cases, to compare processes."""
    from laws import outcome
    from laws.checking import run_law

    # Hypothesis draws constants of the modules that are loaded: both processes load all of them.
    for module in pkgutil.walk_packages(costboost.__path__, "costboost."):
        with contextlib.suppress(ImportError):
            import_module(module.name)
    subject = subject_named(name)
    found = hashlib.sha256()

    def add(estimator, case):
        answer = outcome(estimator, case)
        for part in (answer.decisions, answer.proba, answer.scores):
            found.update(repr(None if part is None else part.tolist()).encode())
        return answer

    strategy = subject.strategy("answers_soundly")
    run_law(add, subject.what, strategy, max_examples=PROCESS_CASES, seed=seed_of(seed, name))
    return name, found.hexdigest()


def compare_processes(seed):
    """Classes whose answers differ between two processes, and how many were compared."""
    from trust.subjects import classifiers

    names = list(classifiers())
    context = multiprocessing.get_context("spawn")
    with (
        ProcessPoolExecutor(1, mp_context=context) as one,
        ProcessPoolExecutor(1, mp_context=context) as other,
    ):
        first = [one.submit(digest, name, seed) for name in names]
        second = [other.submit(digest, name, seed) for name in reversed(names)]
        there = dict(task.result() for task in second)
        here = dict(task.result() for task in first)
    return [name for name in names if here[name] != there[name]], len(names)


def finished(path, head):
    """Rows of a run with the same head that was stopped."""
    if not path.exists():
        return []
    lines = path.read_text("utf-8").splitlines()
    try:
        rows = [json.loads(line) for line in lines]
    except json.JSONDecodeError:  # stopped within a line
        rows = [json.loads(line) for line in lines[:-1]]
    return rows[1:] if rows and rows[0] == head else []


def totals(rows):
    """The counts of a run."""
    counts = Counter()
    by_law = Counter()
    for row in rows:
        inputs = row["answered"] + row["refused"]
        counts.update(inputs=inputs, answered=row["answered"], refused=row["refused"])
        by_law[row["law"]] += inputs
    return {
        **counts,
        "classes, objectives and metrics": len({row["subject"] for row in rows}),
        "laws": len(by_law),
        "pairs of subject and law": len(rows),
        **{f"inputs of {law}": n for law, n in sorted(by_law.items())},
    }


def main(arguments=None):
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("inputs", type=int, nargs="?", default=20_000)
    parser.add_argument("--seed", type=int, default=17)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--so-far", action="store_true", help="report what a stopped run has done")
    parser.add_argument("--only", default="", help="part of the names of subjects")
    options = parser.parse_args(arguments)
    print(f"properties: {options.inputs} inputs, seed {options.seed}", flush=True)

    todo = [unit for unit in units() if options.only in unit[0]]
    whole = sum(share for _, _, share in todo)
    plan = {
        (name, law): max(math.ceil(options.inputs * share / whole), 1) for name, law, share in todo
    }
    head = {"inputs": options.inputs, "seed": options.seed, "only": options.only}
    FOLDER.mkdir(parents=True, exist_ok=True)
    path = FOLDER / "properties.jsonl"
    rows = [row for row in finished(path, head) if (row["subject"], row["law"]) in plan]
    if options.so_far:
        planned = {"pairs that were planned": len(plan), "inputs that were planned": options.inputs}
        return summary(options.seed, rows, planned)
    path.write_text("".join(json.dumps(line) + "\n" for line in (head, *rows)), "utf-8")
    done = {(row["subject"], row["law"]) for row in rows}
    if done:
        print(f"{len(done)} of {len(plan)} pairs were done before", flush=True)

    context = multiprocessing.get_context("spawn")
    with ProcessPoolExecutor(options.jobs, mp_context=context) as pool, path.open("a") as log:
        tasks = [
            pool.submit(run, name, law, n, options.seed)
            for (name, law), n in plan.items()
            if (name, law) not in done
        ]
        for number, task in enumerate(as_completed(tasks), len(done) + 1):
            row = task.result()
            rows.append(row)
            log.write(json.dumps(row) + "\n")
            log.flush()
            if row["broken"]:
                print(f"BROKEN {row['subject']}, {row['law']}: {row['broken']}", flush=True)
            if number % 50 == 0:
                inputs = sum(row["answered"] + row["refused"] for row in rows)
                print(f"{number} of {len(plan)} pairs, {inputs} inputs", flush=True)

    differ, compared = compare_processes(options.seed)
    path.unlink()
    more = {"classes compared between two processes": compared}
    return summary(options.seed, rows, more, differ)


def summary(seed, rows, more, differ=()):
    """Write and print the report; returns the exit code."""
    counts = totals(rows) | more
    violations = [
        f"{row['subject']}, {row['law']}: {row['broken']}" for row in rows if row["broken"]
    ]
    violations += [f"{name} gives other answers in another process" for name in differ]
    seconds = sum(row["seconds"] for row in rows)
    report("properties", seed, counts, violations, seconds)
    print(json.dumps(counts, indent=1))
    print(f"{len(violations)} violations, {seconds:.0f} seconds of processor time", flush=True)
    return 1 if violations else 0


if __name__ == "__main__":
    sys.exit(main())

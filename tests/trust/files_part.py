"""Damaged and hostile model files, as a part of `make trust`.

    PYTHONPATH=src:tests python -m trust.files_part 2000

A run that was stopped goes on where it was.
"""

from __future__ import annotations

import json
import sys
from collections import Counter

from files.mutations import run as mutate
from trust.part import FOLDER, main

# Files in one go; what is done is kept after each.
STEP = 500
WORDS = {
    "refused": "refused",
    "the": "the same model",
    "another": "another sound model",
    "unusable": "a model that refuses to answer",
}


def finished(seed, n):
    """Steps of a run of the same sizes that was stopped."""
    path = FOLDER / "files.jsonl"
    lines = path.read_text("utf-8").splitlines() if path.exists() else []
    rows = [json.loads(line) for line in lines]
    return rows[1:] if rows and rows[0] == {"seed": seed, "n": n} else []


def steps(seed, n):
    """Counts by outcome, and failures, of each step; those of a run that was stopped are read."""
    FOLDER.mkdir(parents=True, exist_ok=True)
    path, head, done = FOLDER / "files.jsonl", {"seed": seed, "n": n}, finished(seed, n)
    path.write_text("".join(json.dumps(row) + "\n" for row in (head, *done)), "utf-8")
    yield from done
    for first in range(STEP * len(done), n, STEP):
        outcomes, failures = mutate(min(STEP, n - first), start=seed * 1_000_000 + first)
        by_outcome = Counter()
        for (_, outcome), times in outcomes.items():
            by_outcome[outcome] += times
        row = {"outcomes": by_outcome, "failures": [str(failure) for failure in failures]}
        with path.open("a", encoding="utf-8") as log:
            log.write(json.dumps(row) + "\n")
        yield row
    path.unlink()


def run(seed, n=2000, so_far=False):
    """Files of the numbers seed * 1,000,000 and up; counts by outcome, and failures.

    With ``so_far`` only those that a stopped run has done.
    """
    by_outcome, failures = Counter(), []
    for row in finished(seed, n) if so_far else steps(seed, n):
        by_outcome.update(row["outcomes"])
        failures += row["failures"]
    counts = {"damaged and hostile files": sum(by_outcome.values())}
    for outcome, times in sorted(by_outcome.items()):
        counts[f"files: {WORDS.get(outcome, outcome)}"] = times
    if so_far:
        counts["files that were planned"] = n
    return counts, failures


if __name__ == "__main__":
    number = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    main("files", run, n=number, so_far="--so-far" in sys.argv)

"""Damaged and hostile model files, as a part of `make trust`.

PYTHONPATH=src:tests python -m trust.files_part 20000
"""

from __future__ import annotations

import sys
from collections import Counter

from files.mutations import run as mutate
from trust.part import main


def run(seed, n=20_000):
    """Files of the numbers seed * 1,000,000 and up; counts by outcome, and failures."""
    outcomes, failures = mutate(n, start=seed * 1_000_000)
    counts = {"damaged and hostile files": sum(outcomes.values())}
    by_outcome = Counter()
    for (_, outcome), times in outcomes.items():
        by_outcome[outcome] += times
    words = {"refused": "refused", "the": "the same model", "another": "another sound model",
             "unusable": "a model that refuses to answer"}  # fmt: skip
    for outcome, times in sorted(by_outcome.items()):
        counts[f"files: {words.get(outcome, outcome)}"] = times
    return counts, failures


if __name__ == "__main__":
    main("files", run, n=int(sys.argv[1]) if len(sys.argv) > 1 else 20_000)

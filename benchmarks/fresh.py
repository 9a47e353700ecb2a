"""Whether results are as new as the code: what they were measured with, and what changed since.

Rows are refused if they lack commit, versions or load, if their source was edited, if their commit
is not part of the history, or if a **Numbers** entry of the changelog that concerns them is
younger.
"""

from __future__ import annotations

import csv
import re
import subprocess
from collections.abc import Mapping, Sequence
from functools import cache
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
RESULTS = ROOT / "benchmarks" / "results"
NEEDED = ("seed", "commit", "versions", "load")
Words = str | Mapping[str, str] | None

# Which Numbers entries change what a file holds, by words in them, or by how the names of methods
# begin; timings change by none.
COSTS = r"CostBoostClassifier|[Ss]avings|cost_matrix_"
CONCERNED = {
    "held_out_cost": COSTS,
    "classifier_choices": COSTS,
    "member_choices": COSTS,
    "stopping": r"early_stopping|vote",
    "hidden_costs": r"not told the costs",
    "fair": {"CostBoost": r"CostBoostClassifier|estimated_score_", "": r"early_stopping|vote"},
}

# No benchmark fits `CostBoostClassifier` with weights of rows, so such entries concern none.
WEIGHTS_ONLY = "Fits without weights are the same"

# The same for the items of papers; those from outside are about CostBoostClassifier.
PAPERS = r"of all classes|early_stopping|vote|cost_scale"
OUTSIDE = ("bahnsen2015", "hoppner2022", "vanderschraelen2025")


def git(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False
    )


@cache
def numbers_entries() -> list[tuple[str, str]]:
    """Commit and text of each Numbers entry of the changelog."""
    blamed = git("blame", "-s", "-l", "HEAD", "--", "CHANGELOG.md").stdout.splitlines()
    lines = [re.match(r"\^?(\w+) .*?\d+\) ?(.*)", line).groups() for line in blamed]  # type: ignore[union-attr]
    entries: list[tuple[str, str]] = []
    for commit, text in lines:
        if text.startswith("- "):
            entries.append((commit, text))
        elif text.startswith("  ") and entries:
            entries[-1] = (entries[-1][0], f"{entries[-1][1]} {text.strip()}")
    return [(commit, text) for commit, text in entries if "**Numbers**" in text]


@cache
def is_ancestor(one: str, other: str) -> bool:
    return git("merge-base", "--is-ancestor", one.lstrip("^"), other).returncode == 0


@cache
def commit_faults(commit: str, words: str, only: str = "") -> tuple[str, ...]:
    """Why a commit is too old for what `words` are about, or no commit at all, or not `only`."""
    if only and commit != only:
        return (f"measured at {commit}",)
    if commit.endswith("-dirty"):
        return (f"edited source at {commit}",)
    if not is_ancestor(commit, "HEAD"):
        return (f"{commit!r} is not part of the history",)
    return tuple(
        f"older than: {text[:90]}"
        for entry, text in numbers_entries()
        if words
        and re.search(words, text)
        and WEIGHTS_ONLY not in text
        and not is_ancestor(entry, commit)
    )


def words_for(concerned: Words, method: str) -> str:
    """Which entries concern a row: by the first letters of its method, or one for all."""
    if isinstance(concerned, Mapping):
        return next(words for start, words in concerned.items() if method.startswith(start))
    return concerned or ""


def row_faults(row: Mapping[str, str], concerned: Words, only: str = "") -> list[str]:
    """Why a row is refused."""
    found = [f"no {name}" for name in NEEDED if not row.get(name)]
    words = words_for(concerned, row.get("method") or "")
    return [*found, *commit_faults(row.get("commit") or "", words, only)]


def faults(rows: Sequence[Mapping[str, str]], concerned: Words, only: str = "") -> list[str]:
    """Why rows are refused, each reason once; with `only`, all that another commit measured."""
    return list(dict.fromkeys(why for row in rows for why in row_faults(row, concerned, only)))


def read(name: str) -> list[dict[str, str]]:
    """The rows of a results file; none if there is no file."""
    path = RESULTS / f"{name}.csv"
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))

"""Every results file says what it was measured with, and is not older than what it claims.

A file is refused if a row lacks commit, versions or load, if its source was edited, if its commit
is not part of the history, or if a **Numbers** entry of the changelog that concerns it is younger.
`OLD` lists the files that are still to be measured again: take a line out when a file is new.
"""

from __future__ import annotations

import csv
import re
import subprocess
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
RESULTS = ROOT / "benchmarks" / "results"
NEEDED = ("seed", "commit", "versions", "load")

# Which Numbers entries change what a file holds, by words in them, or by how the names of methods
# begin; timings change by none.
COSTS = r"CostBoostClassifier|[Ss]avings|cost_matrix_"
CONCERNED = {
    "held_out_cost": COSTS,
    "effort/held_out_cost": COSTS,
    "full/held_out_cost": COSTS,
    "classifier_choices": COSTS,
    "member_choices": COSTS,
    "hidden_costs": r"not told the costs",
    "fair": {"CostBoost": r"CostBoostClassifier|estimated_score_", "": r"early_stopping|vote"},
    "decisions_promises": r"Monitor|mean_cost_bound",
}

OLD = {
    "classifier_choices": "measured by 0.1.0 with edited source",
    "classifier_speed": "no load",
    "dask_speed": "measured by 0.1.0 with edited source",
    "decisions_promises": "measured by 0.1.0, no load",
    "decisions_speed": "measured by 0.1.0, no load",
    "effort/held_out_cost": "no versions and no load; CostBoostClassifier has changed since",
    "full/held_out_cost": "no versions and no load; CostBoostClassifier has changed since",
    "gbm_speed": "measured by 0.1.0 with edited source",
    "held_out_cost": "four commits, some with edited source; no versions and no load",
    "member_choices": "no load; it has a linear member that is gone",
    "multiclass_speed": "measured by 0.1.0 with edited source",
    "out_of_core": "measured by 0.1.0 with edited source",
    "scale": "measured by 0.1.0 with edited source",
    "speed": "measured by 0.1.0, no load",
    "speed_cpu": "no load",
}

FILES = sorted(
    path.relative_to(RESULTS).with_suffix("").as_posix() for path in RESULTS.rglob("*.csv")
)


def git(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        ["git", "-C", str(ROOT), *arguments], capture_output=True, text=True, check=False
    )


if git("rev-parse", "--is-shallow-repository").stdout.strip() != "false":
    pytest.skip("the history is not here", allow_module_level=True)


@cache
def numbers_entries() -> list[tuple[str, str]]:
    """Commit and text of each Numbers entry of the changelog."""
    blamed = git("blame", "-s", "-l", "HEAD", "--", "CHANGELOG.md").stdout.splitlines()
    lines = [re.match(r"\^?(\w+) .*?\d+\) ?(.*)", line).groups() for line in blamed]
    entries: list[tuple[str, str]] = []
    for commit, text in lines:
        if text.startswith("- "):
            entries.append((commit, text))
        elif text.startswith("  ") and entries:
            entries[-1] = (entries[-1][0], f"{entries[-1][1]} {text.strip()}")
    return [(commit, text) for commit, text in entries if "**Numbers**" in text]


def is_ancestor(one: str, other: str) -> bool:
    return git("merge-base", "--is-ancestor", one.lstrip("^"), other).returncode == 0


def words_for(concerned: str | dict[str, str] | None, method: str) -> str:
    if isinstance(concerned, dict):
        return next(words for start, words in concerned.items() if method.startswith(start))
    return concerned or ""


def faults(rows: list[dict[str, str]], concerned: str | dict[str, str] | None) -> list[str]:
    """Why rows are refused."""
    found = [f"no {name}" for name in NEEDED if any(not row.get(name) for row in rows)]
    kinds = {
        (row.get("commit") or "", words_for(concerned, row.get("method") or "")) for row in rows
    }
    for commit, words in sorted(kinds):
        if commit.endswith("-dirty"):
            found.append(f"edited source at {commit}")
        elif not is_ancestor(commit, "HEAD"):
            found.append(f"{commit!r} is not part of the history")
        elif words:
            found += [
                f"older than: {text[:90]}"
                for entry, text in numbers_entries()
                if re.search(words, text) and not is_ancestor(entry, commit)
            ]
    return found


def read(name: str) -> list[dict[str, str]]:
    with (RESULTS / f"{name}.csv").open(newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("name", FILES)
def test_results_are_as_new_as_the_code(name):
    found = faults(read(name), CONCERNED.get(name))
    if name in OLD:
        assert found, f"{name} is new: take it off the list of old files"
    else:
        assert not found, f"{name}: {found}. Measure it again, or name it in OLD with the reason."


def test_the_list_of_old_files_is_true():
    assert set(OLD) <= set(FILES)


def test_what_is_refused():
    commit = git("rev-parse", "--short=10", "HEAD").stdout.strip()
    row = {"seed": "0", "commit": commit, "versions": "costboost==0.2.0", "load": "0.1"}
    assert not faults([row], None)
    assert faults([row, {**row, "load": ""}], None) == ["no load"]
    assert faults([{**row, "commit": f"{commit}-dirty"}], None)[0].startswith("edited source")
    assert "not part of the history" in faults([{**row, "commit": "0123456789"}], None)[0]
    first = git("rev-list", "--max-parents=0", "HEAD").stdout.split()[0]
    assert faults([{**row, "commit": first}], "CostBoostClassifier")[0].startswith("older than")

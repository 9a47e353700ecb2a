"""Every results file says what it was measured with, and is not older than what it claims."""

from __future__ import annotations

import pytest
from benchmarks.fresh import CONCERNED, RESULTS, ROOT, commit_faults, faults, git, read

from costboost_papers.pages import read_runs

FILES = sorted(
    path.relative_to(RESULTS).with_suffix("").as_posix() for path in RESULTS.rglob("*.csv")
)

if git("rev-parse", "--is-shallow-repository").stdout.strip() != "false":
    pytest.skip("the history is not here", allow_module_level=True)


@pytest.mark.parametrize("name", FILES)
def test_results_are_as_new_as_the_code(name):
    found = faults(read(name), CONCERNED.get(name))
    assert not found, f"{name}: {found}. Measure it again."


def test_what_is_refused():
    commit = git("rev-parse", "--short=10", "HEAD").stdout.strip()
    row = {"seed": "0", "commit": commit, "versions": "costboost==0.2.0", "load": "0.1"}
    assert not faults([row], None)
    assert faults([row, {**row, "load": ""}], None) == ["no load"]
    assert faults([{**row, "commit": f"{commit}-dirty"}], None)[0].startswith("edited source")
    assert "not part of the history" in faults([{**row, "commit": "0123456789"}], None)[0]
    first = git("rev-list", "--max-parents=0", "HEAD").stdout.split()[0]
    assert faults([{**row, "commit": first}], "CostBoostClassifier")[0].startswith("older than")


def test_the_runs_of_papers_name_commits_of_the_history():
    folder = ROOT / "docs" / "papers" / "summaries"
    wrong = {
        name: found
        for name, run in read_runs(folder).items()
        for commit in run.commit.split(" / ")
        if (found := commit_faults(commit, ""))
    }
    assert not wrong

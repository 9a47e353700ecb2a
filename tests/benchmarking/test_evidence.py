"""Results are as new as the code, and one command measures what is not."""

import shlex
from pathlib import Path

import pytest
from benchmarks import evidence
from benchmarks.evidence import Step, listed, run, steps
from benchmarks.fresh import CONCERNED, RESULTS, commit_faults, faults, git, read
from benchmarks.harness import append_rows
from benchmarks.held_out_cost.methods import METHODS
from rich.console import Console

from costboost_papers.pages import read_runs

ROOT = Path(evidence.__file__).parents[1]
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
    runs = read_runs(ROOT / "docs" / "papers" / "summaries").values()
    commits = {one for run in runs for one in run.commit.split(" / ")}
    assert not [one for one in commits if commit_faults(one, "")]


def test_every_results_file_has_a_step_and_every_step_a_command():
    # Steps that write several files are named by the first.
    others = {"multiclass_speed", "gbm_speed", "effort_speed", "scale", "dask_speed", "out_of_core"}
    names = [step.name for step in steps()]
    assert set(FILES) <= {*names, *others} and len(set(names)) == len(names)
    assert set(CONCERNED) <= set(names)
    makefile = (ROOT / "Makefile").read_text()
    for step in steps():
        for command in step.commands:
            if command[0] == "make":
                assert f"\n{command[1]}:" in makefile, command
            elif command[1] != "-m":
                assert (ROOT / command[1]).is_file(), command
    assert all((ROOT / f"docs/_pages/{name}.py").is_file() for name in evidence.PAGES)
    minutes = [step.minutes for step in steps()]
    assert minutes == sorted(minutes)
    words = shlex.split(evidence.FULL)
    assert set(words[words.index("--methods") + 1].split(";")) <= set(METHODS)


def made(tmp_path, name, old, **kind):
    command = ("sh", "-c", f"touch {tmp_path / name}")
    return Step(name, 1.0, (command,), lambda: old, **kind)


def test_only_what_is_old_runs(tmp_path, monkeypatch):
    monkeypatch.setattr("os.getloadavg", lambda: (3.0, 3.0, 3.0))
    todo = [
        made(tmp_path, "new", []),
        made(tmp_path, "old", ["no load"]),
        made(tmp_path, "timed", ["no load"], timed=True),
        Step("broken", 1.0, (("false",),), lambda: ["no load"]),
    ]
    console = Console(record=True, width=100)
    run(todo, console)
    text = console.export_text()
    assert [path.name for path in tmp_path.iterdir()] == ["old"]
    assert "left out: timed (needs an idle machine; the load is 3.0)" in text
    assert "left out: broken (failed)" in text and "new: new" in text
    monkeypatch.setattr("os.getloadavg", lambda: (0.1, 0.1, 0.1))
    run(todo[2:3], console)
    assert (tmp_path / "timed").exists()
    console.print(listed(todo))
    assert "no load; needs an idle machine" in console.export_text()


def test_old_rows_of_a_file_that_grows_are_dropped(tmp_path, monkeypatch):
    monkeypatch.setattr("benchmarks.fresh.RESULTS", tmp_path)
    monkeypatch.setattr("benchmarks.evidence.RESULTS", tmp_path)
    head = git("rev-parse", "--short=10", "HEAD").stdout.strip()
    row = {"method": "CostBoost", "commit": head, "seed": "0", "versions": "x", "load": "0.1"}
    rows = [row, {**row, "commit": f"{head}-dirty"}, {**row, "load": ""}]
    append_rows(tmp_path / "fair.csv", rows, list(row))
    (fair,) = [step for step in steps() if step.name == "fair"]
    assert fair.grows and fair.state()
    fair.prepare()
    assert len((tmp_path / "fair.csv").read_text().splitlines()) == 2 and not fair.state()

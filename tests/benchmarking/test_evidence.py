"""Results are as new as the code, and one command measures what is not."""

import shlex
from pathlib import Path

import pytest
from benchmarks import evidence
from benchmarks.evidence import Step, listed, run, steps
from benchmarks.fresh import CONCERNED, RESULTS, commit_faults, faults, git, read
from benchmarks.harness import append_rows
from benchmarks.held_out_cost.methods import METHODS
from benchmarks.held_out_cost.problems import FULL, SETS
from rich.console import Console

from costboost_papers import registry
from costboost_papers.item import Options
from costboost_papers.pages import read_runs
from costboost_papers.run import Store

KEPT = ("beijbom2014", "figure3")
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
    minutes = [step.minutes for step in steps()]
    assert minutes == sorted(minutes)
    for asked in evidence.RIVAL_RUNS:
        words = shlex.split(asked)
        assert set(words[words.index("--methods") + 1].split(";")) <= set(METHODS)
        if "--sets" in words:
            assert set(words[words.index("--sets") + 1].split(",")) <= {*SETS, *FULL}


def made(tmp_path, name, old, **kind):
    command = ("sh", "-c", f"touch {tmp_path / name}")
    return Step(name, 1.0, (command,), lambda: old, **kind)


def test_only_what_is_old_runs(tmp_path, monkeypatch):
    monkeypatch.setattr("os.getloadavg", lambda: (3.0, 3.0, 3.0))
    monkeypatch.setattr(evidence, "PATIENCE", 0)
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


def test_a_step_does_not_get_the_arguments_of_make_evidence(tmp_path, monkeypatch):
    monkeypatch.setenv("ARGS", "--one-commit")
    monkeypatch.setenv("MAKEFLAGS", " -- ARGS=--one-commit")
    (tmp_path / "Makefile").write_text(f"bench:\n\techo got $(ARGS) > {tmp_path}/told\n")
    command = ("make", "-f", str(tmp_path / "Makefile"), "bench")
    run([Step("bench", 1.0, (command,), lambda: ["old"])], Console(record=True))
    assert (tmp_path / "told").read_text() == "got\n"


HEAD = git("rev-parse", "--short=10", "HEAD").stdout.strip()
ROW = {
    "data": "pima", "costs": "ratio 5", "split": "0", "method": "CostBoost", "commit": HEAD,
    "seed": "0", "versions": "x", "load": "0.1",
}  # fmt: skip


@pytest.fixture
def fair_of(tmp_path, monkeypatch):
    """The step of a results file with these rows; its state, and what the file has."""
    monkeypatch.setattr("benchmarks.fresh.RESULTS", tmp_path)
    monkeypatch.setattr("benchmarks.evidence.RESULTS", tmp_path)

    def made_of(rows, only=""):
        append_rows(tmp_path / "fair.csv", rows, list(ROW))
        (step,) = [step for step in steps(only) if step.name == "fair"]
        return step

    return made_of


def test_old_rows_of_a_file_that_grows_are_dropped(fair_of):
    fair = fair_of([ROW, {**ROW, "commit": f"{HEAD}-dirty"}, {**ROW, "load": ""}])
    assert fair.grows and fair.state()
    with fair.around():
        assert read("fair") == [ROW]
    assert read("fair") == [ROW] and not fair.state()


def test_rows_of_another_commit_stay_until_they_are_measured_again(fair_of, tmp_path):
    before = git("rev-parse", "--short=10", "HEAD~1").stdout.strip()
    old = [{**ROW, "commit": before, "split": str(split), "method": "AdaC2"} for split in (0, 1)]
    assert not fair_of([ROW, *old]).state()
    fair = fair_of([], only=HEAD)
    assert fair.state() == [f"measured at {before}"]
    new = {**old[0], "commit": HEAD}
    with pytest.raises(KeyboardInterrupt), fair.around():  # stopped in the middle
        assert read("fair") == [ROW]
        append_rows(tmp_path / "fair.csv", [new], list(ROW))
        raise KeyboardInterrupt
    assert read("fair") == [ROW, new, old[1]]


def test_an_item_starts_with_the_kept_rows_of_the_commit(tmp_path, monkeypatch):
    (item,) = [item for item in registry.items() if (item.paper, item.name) == KEPT]
    monkeypatch.setattr("benchmarks.evidence.PAPER_PAGES", tmp_path / "pages")
    store = Store(tmp_path / "pages", item, Options(), tmp_path / "pages")
    store.repair()
    for task, commit in zip(item.tasks("full"), ("one", "one", "other"), strict=True):
        store.commit = commit
        store.append(task, {"value": float("nan"), "loss": 0.1}, 1.5)
    store.keep(item.tasks("full"))
    with evidence.kept_rows(item, tmp_path / "build", "one"):
        run = Store(tmp_path / "build", item, Options())
        assert run.done() == set(item.tasks("full")[:2])
        assert set(run.rows()["commit"]) == {"one"} and set(run.rows()["seconds"]) == {1.5}
    (step,) = [step for step in steps("one") if step.name == " ".join(KEPT)]
    assert "--fresh" in step.commands[0] and step.state() == ["not measured"]

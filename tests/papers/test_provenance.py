"""Results name the commit of the source that made them, and nothing else makes them dirty."""

from __future__ import annotations

import subprocess

import pandas as pd
import pytest

from costboost_papers import run
from costboost_papers.pages import describe_run, read_runs, write_runs
from costboost_papers.run import source_commit
from helpers.toy_paper import install


def git(folder, *arguments):
    identity = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
    command = ["git", "-C", str(folder), *identity, *arguments]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


@pytest.fixture
def repository(tmp_path):
    """A repository with a source and a file of results, both tracked."""
    for name in ("src/package/code.py", "results/rows.csv"):
        path = tmp_path / name
        path.parent.mkdir(parents=True)
        path.write_text("1\n")
    git(tmp_path, "init", "-q")
    git(tmp_path, "add", ".")
    git(tmp_path, "commit", "-qm", "first")
    return tmp_path


def test_results_do_not_make_the_source_dirty(repository):
    source = repository / "src" / "package"
    first = git(repository, "rev-parse", "--short=10", "HEAD")
    assert source_commit(source) == first
    (repository / "results" / "rows.csv").write_text("2\n")
    assert source_commit(source) == first
    git(repository, "commit", "-qam", "results")
    assert source_commit(source) == first  # HEAD has moved, the source has not


@pytest.mark.parametrize("name", ["code.py", "new.py"])
def test_an_edited_source_is_dirty(repository, name):
    source = repository / "src" / "package"
    clean = source_commit(source)
    (source / name).write_text("2\n")
    assert source_commit(source) == f"{clean}-dirty"
    git(repository, "add", ".")
    git(repository, "commit", "-qm", "edit")
    assert source_commit(source) == git(repository, "rev-parse", "--short=10", "HEAD") != clean


def test_a_source_without_git_has_no_commit(tmp_path, monkeypatch):
    assert source_commit(tmp_path) == ""
    monkeypatch.setenv("PATH", "")
    assert run._git(tmp_path, "log") == ""


def test_rows_and_runs_store_the_commit(tmp_path, monkeypatch):
    toy = install(tmp_path, monkeypatch)
    item = toy.ITEMS[0]
    commits = iter(["aaa", "bbb-dirty"])
    monkeypatch.setattr(run, "source_commit", lambda: next(commits))
    monkeypatch.setenv("TOY_FAILS", "/two/")
    run.run_item(item, "quick", tmp_path, n_jobs=1)
    monkeypatch.delenv("TOY_FAILS")
    run.run_item(item, "quick", tmp_path, n_jobs=1)
    rows = run.Store(tmp_path, item, "quick").rows()
    by_algorithm = rows.groupby("algorithm")["commit"].unique().map(list).to_dict()
    assert by_algorithm == {"one": ["aaa"], "three": ["aaa"], "two": ["bbb-dirty"]}
    found = describe_run(item, item, rows, "quick")
    assert found.commit == "aaa / bbb-dirty"
    write_runs(tmp_path, {("toy", "table1"): found})
    assert read_runs(tmp_path) == {("toy", "table1"): found}


def test_a_file_without_commits_is_named(tmp_path, monkeypatch):
    item = install(tmp_path, monkeypatch).ITEMS[0]
    kept = run.Store(tmp_path, item, "quick")
    kept.repair()
    pd.DataFrame(columns=run.COLUMNS[:-1]).to_csv(kept.path, index=False)
    with pytest.raises(
        run.CannotRunError, match=r"toy-table1\.csv must begin with the columns.*--output"
    ):
        run.run_item(item, "quick", tmp_path, n_jobs=1)


def test_a_damaged_file_is_named(tmp_path, monkeypatch):
    item = install(tmp_path, monkeypatch).ITEMS[0]
    run.run_item(item, "quick", tmp_path, n_jobs=1)
    path = run.Store(tmp_path, item, "quick").path
    path.write_text(path.read_text() + "a,b,c\n" + "x," * 30 + "\n")
    with pytest.raises(run.CannotRunError, match=r"toy-table1\.csv is damaged.*Delete it"):
        run.run_item(item, "quick", tmp_path, n_jobs=1)

"""Runs of tasks and their pages: rows on disk, torn and failed runs, the commit of the source."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest

from costboost_papers import run
from costboost_papers.item import Options
from costboost_papers.pages import markdown_table, read_summary, write_pages
from costboost_papers.run import COLUMNS, Store, failures_path, run_item, source_commit
from toy import install

FULL, QUICK = Options(), Options("quick")


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """The toy module, and a registry that has nothing else."""
    return install(tmp_path, monkeypatch)


@pytest.fixture
def item(toy):
    return toy.ITEMS[0]


def rows_of(folder, item, mode=FULL):
    """Run an item; its rows but for the seconds, which differ from run to run."""
    run_item(item, mode, folder, n_jobs=1)
    return Store(folder, item, mode).rows().drop(columns="seconds")


# --- runs -------------------------------------------------------------------------------------


def test_a_run_is_complete_and_a_second_one_finds_it(item, tmp_path):
    told = []
    first = run_item(item, FULL, tmp_path, n_jobs=1, progress=lambda n, name: told.append(n))
    assert (first.found, first.done, first.failures, sum(told)) == (0, 48, [], 48)
    store = Store(tmp_path, item, FULL)
    before, rows = store.path.read_bytes(), store.rows()
    second = run_item(item, FULL, tmp_path, n_jobs=1)
    assert (second.found, second.done) == (48, 0) and store.path.read_bytes() == before
    assert list(rows.columns) == COLUMNS and len(rows) == 3 * 48
    assert rows["setting"].isin(["", "x=1, y"]).all()
    assert rows.loc[rows["metric"] == "void", "value"].isna().all()
    assert rows["versions"].str.contains("costboost .*numpy").all()
    assert run_item(item, QUICK, tmp_path, n_jobs=1).done == 12  # kept apart from the full run
    planned = store.rows_of(item.tasks("quick"))  # what is no longer planned does not count
    assert set(planned["split"]) == {0} and len(planned) == 3 * 12


def test_order_and_processes_do_not_matter(toy, item, tmp_path, monkeypatch):
    plain = rows_of(tmp_path / "plain", item)
    monkeypatch.setenv("TOY_REVERSED", "1")
    pd.testing.assert_frame_equal(plain, rows_of(tmp_path / "reversed", item))
    command = [sys.executable, str(toy.path), str(tmp_path / "parallel"), "2"]
    subprocess.run(command, check=True, timeout=120)
    parallel = Store(tmp_path / "parallel", item, FULL).rows().drop(columns="seconds")
    pd.testing.assert_frame_equal(plain, parallel)


@pytest.mark.parametrize("lost", [1, 20, 150, 350])
def test_a_torn_end_is_dropped_and_done_again(item, tmp_path, lost):
    """Whether within a line or between the lines of one task."""
    whole = rows_of(tmp_path, item)
    store = Store(tmp_path, item, FULL)
    store.path.write_bytes(store.path.read_bytes()[:-lost])
    assert len(store.done()) in (46, 47)
    report = run_item(item, FULL, tmp_path, n_jobs=1)
    assert 1 <= report.done == 48 - report.found
    pd.testing.assert_frame_equal(rows_of(tmp_path, item), whole)


def test_a_failed_task_is_reported_and_the_others_go_on(item, tmp_path, monkeypatch):
    key = "toy/table1/a/two//3"
    monkeypatch.setenv("TOY_FAILS", key)
    report = run_item(item, FULL, tmp_path, n_jobs=1)
    (failure,) = report.failures
    assert (report.done, failure.task.key) == (47, key)
    assert failure.error == "RuntimeError: the toy is broken"
    where = failures_path(Store(tmp_path, item, FULL).path)
    assert key in where.read_text() and "Traceback" in where.read_text()
    monkeypatch.delenv("TOY_FAILS")
    assert run_item(item, FULL, tmp_path, n_jobs=1).done == 1
    assert not where.exists()


def test_a_run_starts_from_the_rows_that_are_kept(item, tmp_path, monkeypatch):
    """They are kept bit by bit, rows of a later run win, and other plans do not touch them."""
    docs, first, second = tmp_path / "docs", tmp_path / "first", tmp_path / "second"
    plan = item.tasks("full")
    monkeypatch.setenv("TOY_FAILS", "/two/")
    run_item(item, FULL, first, n_jobs=1)
    run_item(item, Options(seed=1), first, n_jobs=1)  # not of the plan: not kept
    store = Store(first, item, FULL, docs)
    store.keep(plan)
    kept = store.kept.read_bytes()
    monkeypatch.delenv("TOY_FAILS")
    report = run_item(item, FULL, second, n_jobs=1, docs=docs)
    assert (report.found, report.done) == (32, 16)
    for options in (QUICK, Options(rounds=3)):
        assert run_item(item, options, second, n_jobs=1, docs=docs).found == 0
    together = Store(second, item, FULL, docs)
    whole = rows_of(tmp_path / "fresh", item)
    pd.testing.assert_frame_equal(together.rows().drop(columns="seconds"), whole, check_exact=True)
    store.keep(plan)
    assert store.kept.read_bytes() == kept  # nothing new, nothing to commit
    monkeypatch.setattr(run, "source_commit", lambda: "later")
    run_item(item, FULL, tmp_path / "later", n_jobs=1)
    Store(tmp_path / "later", item, FULL, docs).keep(plan)
    found = Store(tmp_path / "nowhere", item, FULL, docs)
    assert len(found.done()) == 48 and set(found.rows()["commit"]) == {"later"}


def test_a_file_that_cannot_be_read_is_named(item, tmp_path):
    kept = Store(tmp_path, item, QUICK)
    kept.repair()
    head = kept.path.read_text()
    for text, words in (
        (head.replace(",commit", ""), "must begin with the columns.*--output"),
        (f"{head}a,b,c\n{'x,' * 30}\n", "is damaged.*Delete it"),
    ):
        kept.path.write_text(text)
        with pytest.raises(OSError, match=rf"toy-table1\.csv {words}"):
            run_item(item, QUICK, tmp_path, n_jobs=1)


# --- the commit of the source -------------------------------------------------------------------


def test_the_commit_is_that_of_the_source(tmp_path, monkeypatch):
    """Results beside it do not count; an edit does, until it is committed."""

    def git(*arguments):
        identity = ["-c", "user.name=x", "-c", "user.email=x@example.org"]
        command = ["git", "-C", str(tmp_path), *identity, *arguments]
        return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()

    def commit():
        git("add", ".")
        git("commit", "-qm", "edit")
        return git("rev-parse", "--short=10", "HEAD")

    source, results = tmp_path / "src" / "code.py", tmp_path / "results" / "rows.csv"
    for path in (source, results):
        path.parent.mkdir()
        path.write_text("1\n")
    assert source_commit(source.parent) == ""  # no repository
    git("init", "-q")
    first = commit()
    assert source_commit(source.parent) == first
    results.write_text("2\n")
    assert commit() != source_commit(source.parent) == first  # the source has not moved
    for name in ("code.py", "new.py"):
        source.with_name(name).write_text("2\n")
        assert source_commit(source.parent) == f"{first}-dirty"
        first = commit()
        assert source_commit(source.parent) == first
    monkeypatch.setenv("PATH", "")
    assert source_commit(source.parent) == ""  # no Git


# --- pages --------------------------------------------------------------------------------------


def test_pages_come_from_rows_or_from_summaries(item, tmp_path):
    docs = tmp_path / "docs"
    write_pages(docs, tmp_path / "none")
    assert "Not run yet: `costboost-papers run toy table1`" in (docs / "toy.md").read_text()
    run_item(item, FULL, tmp_path / "results", n_jobs=1)
    pages = write_pages(docs, tmp_path / "results")
    assert [page.name for page in pages] == ["toy.md", "README.md"]
    first = [page.read_text() for page in pages]
    for words in (
        "Full run: 48 tasks",
        "- **Holds**: One is best.\n    - What would refute it: another.",
        "    - Test: 1 < 2. For 1 of 1: one 1 [1, 1].",
        "**Cannot be told**: All is well.",
        "ordering by cost: a 0.33.",
    ):
        assert words in first[0]
    assert first[0].count("Differences from the paper: none.") == 2
    assert "not claims of the paper" not in first[0]
    assert "| **holds** | 1 for |  |" in first[1]
    for picture in ("toy-table1.png", "toy-figure1.png"):
        assert 0 < (docs / "figures" / picture).stat().st_size < 100_000
        assert f"figures/{picture}" in first[0]
    assert [page.read_text() for page in write_pages(docs, tmp_path / "none")] == first
    (docs / "rows" / "toy-table1.csv.gz").unlink()  # from the summaries, then
    assert [page.read_text() for page in write_pages(docs, tmp_path / "none")] == first


def test_markdown_tables_escape():
    frame = pd.DataFrame({"a|b": ["x|y"], "n": [0.123456], "none": [np.nan]})
    head, _, row = markdown_table(frame).splitlines()
    assert (head, row) == ("| a\\|b | n | none |", "| x\\|y | 0.1235 |  |")


def test_pages_take_the_splits_that_are_whole(item, tmp_path, monkeypatch):
    """And of an earlier run what the new one has not."""
    monkeypatch.setenv("TOY_FAILS", "toy/table1/a/two//0")
    docs, results, lines = tmp_path / "docs", tmp_path / "results", []
    run_item(item, FULL, results, n_jobs=1)
    write_pages(docs, results, say=lines.append)
    assert lines == [
        "toy table1: 45 of 48 tasks are in the page; `costboost-papers run toy table1` goes on."
    ]
    assert "Full run: 45 of 48 tasks" in (docs / "toy.md").read_text()
    before = read_summary(docs / "summaries", item)
    n = before[before["metric"] == "cost"].set_index(["dataset", "setting"])["n"].to_dict()
    assert n == {("a", ""): 3, ("b", ""): 4, ("a", "x=1, y"): 4, ("b", "x=1, y"): 4}
    monkeypatch.setenv("TOY_FAILS", "/b/")  # no table of the one setting without data set b
    for path in (Store(results, item, FULL).path, docs / "rows" / "toy-table1.csv.gz"):
        path.unlink()
    tasks = [task for task in item.tasks("full") if task.setting]
    monkeypatch.setattr(type(item), "tasks", lambda self, mode: tasks)
    monkeypatch.setattr(type(item), "over_sets", True)
    run_item(item, FULL, results, n_jobs=1)
    write_pages(docs, results)
    pd.testing.assert_frame_equal(read_summary(docs / "summaries", item), before)

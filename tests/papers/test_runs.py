"""Runs of tasks: plans, rows on disk, killed and failed runs."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import pandas as pd
import pytest

from costboost_papers import Conclusion, Task
from costboost_papers.protocol import split_seed
from costboost_papers.run import COLUMNS, Store, failures_path, run_item
from helpers.toy_paper import install


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """The toy module, and a registry that has nothing else."""
    return install(tmp_path, monkeypatch)


def values(folder, item, mode="full"):
    """All but the seconds, which differ from run to run."""
    return Store(folder, item, mode).rows().drop(columns="seconds")


# --- tasks ------------------------------------------------------------------------------------


def test_seed_is_shared_by_algorithms_only():
    task = Task("p", "i", "d", "one", "s", 1)
    assert task.seed == Task("p", "i", "d", "two", "s", 1).seed
    others = [
        Task("q", "i", "d", "one", "s", 1),
        Task("p", "j", "d", "one", "s", 1),
        Task("p", "i", "e", "one", "s", 1),
        Task("p", "i", "d", "one", "t", 1),
        Task("p", "i", "d", "one", "s", 2),
    ]
    assert len({task.seed, *(other.seed for other in others)}) == 6
    assert 0 <= task.seed < 2**31
    assert split_seed(task) == split_seed(others[-1])


def test_verdicts_are_a_closed_list():
    with pytest.raises(ValueError, match=r"verdict must be one of 'holds'.*'maybe'"):
        Conclusion("x", "maybe", "y")


# --- runs -------------------------------------------------------------------------------------


def test_a_run_is_complete_and_a_second_one_finds_it(toy, tmp_path):
    item = toy.ITEMS[0]
    told = []
    first = run_item(item, "full", tmp_path, n_jobs=1, progress=lambda n, name: told.append(n))
    assert (first.planned, first.found, first.done, first.failures) == (48, 0, 48, [])
    assert sum(told) == 48
    before = Store(tmp_path, item, "full").path.read_bytes()
    second = run_item(item, "full", tmp_path, n_jobs=1)
    assert (second.found, second.done) == (48, 0)
    assert Store(tmp_path, item, "full").path.read_bytes() == before
    rows = Store(tmp_path, item, "full").rows()
    assert list(rows.columns) == COLUMNS
    assert len(rows) == 3 * 48
    assert rows["setting"].isin(["", "x=1, y"]).all()
    assert rows.loc[rows["metric"] == "void", "value"].isna().all()
    assert rows["versions"].str.contains("costboost .*numpy").all()
    quick = run_item(item, "quick", tmp_path, n_jobs=1)
    assert quick.done == 12  # kept apart from the full run


def test_order_and_processes_do_not_matter(toy, tmp_path, monkeypatch):
    item = toy.ITEMS[0]
    run_item(item, "full", tmp_path / "plain", n_jobs=1)
    monkeypatch.setenv("TOY_REVERSED", "1")
    run_item(item, "full", tmp_path / "reversed", n_jobs=1)
    command = [sys.executable, str(toy.path), str(tmp_path / "parallel"), "2"]
    subprocess.run(command, check=True, timeout=120)
    plain = values(tmp_path / "plain", item)
    pd.testing.assert_frame_equal(plain, values(tmp_path / "reversed", item))
    pd.testing.assert_frame_equal(plain, values(tmp_path / "parallel", item))


@pytest.mark.skipif(not hasattr(signal, "SIGKILL"), reason="this system has no SIGKILL")
def test_a_killed_run_goes_on(toy, tmp_path):
    item = toy.ITEMS[0]
    store = Store(tmp_path / "killed", item, "full")
    command = [sys.executable, str(toy.path), str(tmp_path / "killed"), "1"]
    process = subprocess.Popen(command, env={**os.environ, "TOY_SLEEP": "0.1"})
    deadline = time.monotonic() + 60
    while len(store.rows()) < 3 * 5 and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(signal.SIGKILL)
    process.wait()
    survived = len(store.done())
    assert 5 <= survived < 48
    kept = store.rows()
    report = run_item(item, "full", tmp_path / "killed", n_jobs=1)
    assert (report.found, report.done) == (survived, 48 - survived)
    run_item(item, "full", tmp_path / "whole", n_jobs=1)
    found = values(tmp_path / "killed", item)
    pd.testing.assert_frame_equal(found, values(tmp_path / "whole", item))
    merged = kept.merge(store.rows(), how="left", indicator=True)
    assert (merged["_merge"] == "both").all()  # what had been done was not done again


@pytest.mark.parametrize("lost", [1, 20, 150, 350])
def test_a_torn_end_is_dropped_and_done_again(toy, tmp_path, lost):
    """Whether within a line or between the lines of one task."""
    item = toy.ITEMS[0]
    run_item(item, "full", tmp_path, n_jobs=1)
    store = Store(tmp_path, item, "full")
    whole = values(tmp_path, item)
    content = store.path.read_bytes()
    store.path.write_bytes(content[:-lost])
    assert len(store.done()) in (46, 47)
    report = run_item(item, "full", tmp_path, n_jobs=1)
    assert report.done == 48 - report.found
    assert report.done >= 1
    pd.testing.assert_frame_equal(values(tmp_path, item), whole)


def test_a_failed_task_is_reported_and_the_others_go_on(toy, tmp_path, monkeypatch):
    item = toy.ITEMS[0]
    key = "toy/table1/a/two//3"
    monkeypatch.setenv("TOY_FAILS", key)
    report = run_item(item, "full", tmp_path, n_jobs=1)
    assert report.done == 47
    assert [failure.task.key for failure in report.failures] == [key]
    assert report.failures[0].error == "RuntimeError: the toy is broken"
    where = failures_path(Store(tmp_path, item, "full").path)
    assert key in where.read_text() and "Traceback" in where.read_text()
    monkeypatch.delenv("TOY_FAILS")
    assert run_item(item, "full", tmp_path, n_jobs=1).done == 1
    assert not where.exists()


def test_rows_of_tasks_that_are_no_longer_planned_do_not_count(toy, tmp_path):
    item = toy.ITEMS[0]
    run_item(item, "full", tmp_path, n_jobs=1)
    rows = Store(tmp_path, item, "full").rows_of(item.tasks("quick"))
    assert set(rows["split"]) == {0} and len(rows) == 3 * 12


def test_plans_are_checked(toy, tmp_path, monkeypatch):
    item, shared = toy.ITEMS
    with pytest.raises(ValueError, match="'figure1' reads those of 'table1'"):
        run_item(shared, "full", tmp_path)
    monkeypatch.setattr(toy.Toy, "tasks", lambda self, mode: [Task("toy", "other", "a", "b")])
    with pytest.raises(ValueError, match=r"must carry its names.*toy/other"):
        run_item(item, "full", tmp_path)
    monkeypatch.setattr(toy.Toy, "tasks", lambda self, mode: [Task("toy", "table1", "a", "b")] * 2)
    with pytest.raises(ValueError, match="planned twice"):
        run_item(item, "full", tmp_path)

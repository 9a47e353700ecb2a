"""The machinery of the experiments: plans, rows, killed runs, summaries, pages, the command."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from costboost.cli import app
from costboost.experiments import Conclusion, Item, Task, registry
from costboost.experiments._protocol import binary_metrics, encode, fold, holdout, split_seed
from costboost.experiments.pages import markdown_table, write_pages
from costboost.experiments.run import failures_path, run_item
from costboost.experiments.store import COLUMNS, Store
from costboost.experiments.summary import ordering, read_summary, summarise, write_summary

# In a module of its own, so that other processes can import it.
TOY = """
import os, time
import numpy as np
import pandas as pd
from costboost.experiments import Conclusion, Item, Task


class Toy(Item):
    paper, name, title = "toy", "table1", "A toy | table"
    notes = "none."
    tau_metric = "cost"

    def tasks(self, mode):
        tasks = [
            Task("toy", "table1", dataset, algorithm, setting, split)
            for dataset in ("a", "b")
            for algorithm in ("one", "two", "three")
            for setting in ("", "x=1, y")
            for split in range(1 if mode == "quick" else 4)
        ]
        return tasks[::-1] if "TOY_REVERSED" in os.environ else tasks

    def run(self, task, mode):
        time.sleep(float(os.environ.get("TOY_SLEEP", 0)))
        if os.environ.get("TOY_FAILS", "nothing") in task.key:
            raise RuntimeError("the toy is broken")
        base = {"one": 1.0, "two": 2.0, "three": 3.0}[task.algorithm]
        noise = np.random.default_rng(task.seed).random()
        return {"cost": base + 0.1 * noise, "noise": noise, "void": float("nan")}

    def printed(self):
        costs = [("one", 10.0), ("two", 30.0), ("three", 20.0)]
        columns = ["dataset", "algorithm", "setting", "metric", "value"]
        rows = [("a", name, "", "cost", cost) for name, cost in costs]
        return pd.DataFrame(rows, columns=columns)

    def table(self, summary):
        means = summary[(summary["statistic"] == "mean") & (summary["metric"] == "cost")]
        assert "three" in set(means["algorithm"])
        return means[["dataset", "algorithm", "setting", "value"]]

    def figure(self, summary):
        from matplotlib.figure import Figure

        figure = Figure(figsize=(2, 2))
        figure.subplots().plot([1, 2, 3])
        return figure

    def conclusions(self, summary):
        return [Conclusion("One is best.", "holds", "1 < 2.")]


class Shared(Toy):
    name, title, shares_rows_with = "figure1", "The same rows", "table1"

    def conclusions(self, summary):
        return []


if __name__ == "__main__":
    import sys
    from costboost.experiments.run import run_item

    run_item(Toy(), "full", sys.argv[1], n_jobs=int(sys.argv[2]))
"""


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """The toy module, and a registry that has nothing else."""
    (tmp_path / "toy_paper.py").write_text(TOY)
    namespace: dict = {"__name__": "toy_paper"}
    exec(TOY, namespace)  # a fresh copy each time; no trace in sys.modules
    module = SimpleNamespace(
        Toy=namespace["Toy"],
        ITEMS=[namespace["Toy"](), namespace["Shared"]()],
        overall=lambda summaries: [
            Conclusion("All is well.", "holds in part", f"{len(summaries)} items.")
        ],
        path=tmp_path / "toy_paper.py",
    )

    class ToyPaper(registry.Paper):
        def _imported(self):
            return [module]

    monkeypatch.setattr(registry, "PAPERS", (ToyPaper("toy", "A. Toy, 2026.", ()),))
    return module


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


# --- summaries and pages ----------------------------------------------------------------------


def test_summary_survives_the_disk(toy, tmp_path):
    item = toy.ITEMS[0]
    run_item(item, "full", tmp_path, n_jobs=1)
    summary = summarise(item, Store(tmp_path, item, "full").rows())
    assert len(summary) == 2 * 3 * 2 * 3 * 3  # sets, algorithms, settings, metrics, statistics
    assert set(summary.loc[summary["metric"] == "cost", "n"]) == {4}
    write_summary(tmp_path, item, summary)
    pd.testing.assert_frame_equal(read_summary(tmp_path, item), summary, check_dtype=False)
    mean = summary.query("metric == 'cost' and statistic == 'mean'")["value"]
    assert mean.map(lambda value: float(f"{value:.6g}") == value).all()


def test_ordering_is_kendalls_tau_per_set(toy, tmp_path):
    item = toy.ITEMS[0]
    run_item(item, "quick", tmp_path, n_jobs=1)
    taus = ordering(item, summarise(item, Store(tmp_path, item, "quick").rows()))
    (row,) = taus.to_dict("records")  # the paper prints data set a without a setting only
    assert (row["dataset"], row["setting"], row["n"]) == ("a", "", 3)
    assert row["tau"] == pytest.approx(1 / 3)  # one of three pairs is the other way round


def test_pages_come_from_rows_or_from_summaries(toy, tmp_path):
    item = toy.ITEMS[0]
    docs = tmp_path / "docs"
    write_pages(docs)
    assert "Not run yet: `costboost reproduce toy table1`" in (docs / "toy.md").read_text()
    run_item(item, "full", tmp_path / "results", n_jobs=1)
    pages = write_pages(docs, tmp_path / "results")
    assert [page.name for page in pages] == ["toy.md", "README.md"]
    first = [page.read_text() for page in pages]
    assert "Full run: 48 tasks" in first[0]
    assert "**Holds**: One is best. 1 < 2." in first[0]
    assert "**Holds in part**: All is well. 2 items." in first[0]
    assert "Differences from the paper: as for table1." in first[0]
    assert "ordering by cost: a 0.33." in first[0]
    assert "| **holds** | 1 < 2. |" in first[1]
    for picture in ("toy-table1.png", "toy-figure1.png"):
        assert 0 < (docs / "figures" / picture).stat().st_size < 100_000
        assert f"figures/{picture}" in first[0]
    again = [page.read_text() for page in write_pages(docs)]  # without the rows
    assert again == first


def test_markdown_tables_escape():
    frame = pd.DataFrame({"a|b": ["x|y"], "n": [0.123456], "none": [np.nan]})
    assert markdown_table(frame).splitlines()[0] == "| a\\|b | n | none |"
    assert markdown_table(frame).splitlines()[2] == "| x\\|y | 0.1235 |  |"


# --- the command ------------------------------------------------------------------------------


def command(*arguments):
    return CliRunner().invoke(app, ["reproduce", *map(str, arguments)])


def test_command_runs_an_item_and_its_sharer(toy, tmp_path):
    result = command("toy", "--quick", "--output", tmp_path, "--jobs", 1)
    assert result.exit_code == 0, result.output
    assert "toy table1: 12 tasks done, 0 found, 0 failed" in result.output
    assert "holds: One is best. 1 < 2." in result.output
    assert "All is well" in result.output
    assert (tmp_path / "quick" / "figures" / "toy-figure1.png").is_file()
    again = command("toy", "figure1", "--quick", "--output", tmp_path, "--jobs", 1)
    assert "toy table1: 0 tasks done, 12 found" in again.output


def test_command_lists_and_writes_pages(toy, tmp_path):
    listed = command("--list")
    assert listed.exit_code == 0
    assert "A toy | table" in listed.output and "of table1" in listed.output
    assert "48" in listed.output
    pages = command(
        "--all", "--pages", "--quick", "--output", tmp_path / "r", "--docs", tmp_path / "d",
        "--jobs", 1,
    )  # fmt: skip
    assert pages.exit_code == 0, pages.output
    assert "Quick run: 12 tasks" in (tmp_path / "d" / "toy.md").read_text()


def test_command_fails_with_a_failed_task(toy, tmp_path, monkeypatch):
    monkeypatch.setenv("TOY_FAILS", "toy/table1/a/two//0")
    result = command("toy", "table1", "--quick", "--output", tmp_path, "--jobs", 1)
    assert result.exit_code == 1
    assert "failed toy/table1/a/two//0: RuntimeError: the toy is broken" in result.output
    assert "11 tasks done" in result.output


def test_command_reports_an_algorithm_that_fails_everywhere(toy, tmp_path, monkeypatch):
    monkeypatch.setenv("TOY_FAILS", "/three/")
    result = command("toy", "table1", "--quick", "--output", tmp_path, "--jobs", 1)
    assert result.exit_code == 1
    assert "no table without the failed tasks" in result.output
    assert "8 tasks done, 0 found, 4 failed" in result.output


def test_pages_leave_out_a_run_that_is_not_whole(toy, tmp_path, monkeypatch):
    monkeypatch.setenv("TOY_FAILS", "toy/table1/a/two//0")
    run_item(toy.ITEMS[0], "full", tmp_path / "results", n_jobs=1)
    lines = []
    write_pages(tmp_path / "docs", tmp_path / "results", tell=lines.append)
    assert lines[0].startswith("toy table1: 47 of 48 tasks are done")
    assert "Not run yet" in (tmp_path / "docs" / "toy.md").read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Name a PAPER"),
        (["nobody"], "PAPER must be one of toy; got 'nobody'"),
        (["toy", "table9"], "ITEM of toy must be one of table1, figure1; got 'table9'"),
        (["toy", "--all"], "Leave one of them out"),
    ],
)
def test_command_explains_itself(toy, arguments, message):
    result = command(*arguments)
    assert result.exit_code == 2
    assert message in " ".join(result.output.split())


def test_a_missing_extra_names_the_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    result = command("--list")
    assert result.exit_code == 2
    assert 'pip install "costboost[experiments]"' in " ".join(result.output.split())


# --- the registry -----------------------------------------------------------------------------


def test_every_paper_has_items_with_plans():
    names = {paper.name: [item.name for item in paper.items()] for paper in registry.PAPERS}
    assert names == {
        "lozano2008": ["table1", "table2"],
        "cai": ["table3"],
        "masnadi2007": ["figure2", "figure3", "table2", "figure4"],
        "beijbom2014": ["table2", "taxonomy"],
        "cao2013": [
            "figure1", "figure2", "table1", "table2", "table3", "table4", "table5", "figure3",
        ],
    }  # fmt: skip
    for item in registry.items():
        assert item.title and item.notes and item.minutes >= 0
        source = registry.owner(item)
        assert source.shares_rows_with is None
        quick, full = source.tasks("quick"), source.tasks("full")
        assert 0 < len(quick) <= len(full)
        for tasks in (quick, full):
            assert len(set(tasks)) == len(tasks)
            assert {(task.paper, task.item) for task in tasks} == {(source.paper, source.name)}
        printed = item.printed()
        assert list(printed.columns) == ["dataset", "algorithm", "setting", "metric", "value"]
        assert printed["value"].notna().all()


# --- protocol helpers -------------------------------------------------------------------------


def test_folds_partition_and_repeat_differently():
    y = np.repeat([0, 1], [40, 10])
    tests = [fold(y, 5, number, seed=3)[1] for number in range(10)]
    for start in (0, 5):
        np.testing.assert_array_equal(np.sort(np.concatenate(tests[start : start + 5])), range(50))
    assert all(y[test].sum() == 2 for test in tests)
    assert not np.array_equal(tests[0], tests[5])
    train, test = holdout(y, 0.2, seed=3)
    assert len(test) == 10 and not set(train) & set(test)


def test_encoding_learns_from_the_training_part():
    train = pd.DataFrame({"x": [1.0, np.nan, 3.0, 3.0], "c": pd.Categorical(["a", "b", "a", None])})
    test = pd.DataFrame({"x": [np.nan, 5.0], "c": pd.Categorical(["new", "b"])})
    coded, other = encode(train, test)
    np.testing.assert_array_equal(coded, [[1, 0], [3, 1], [3, 0], [3, 0]])
    np.testing.assert_array_equal(other, [[3, -1], [5, 1]])
    hot, unseen = encode(train, test, one_hot=True, scale=True)
    np.testing.assert_allclose(hot.mean(axis=0), 0, atol=1e-12)
    assert unseen.shape == (2, 3)


def test_metrics_price_misses_and_false_alarms():
    found = binary_metrics([1, 1, 1, 0, 0], [1, 1, 0, 1, 0], [3, 2, 0, 1, -1], C1=5, C2=2)
    assert found["cost"] == 7
    assert (found["fn"], found["fp"], found["error"]) == (1, 1, 0.4)
    assert found["auc"] == pytest.approx(5 / 6)


def test_items_are_abstract():
    with pytest.raises(TypeError, match="abstract"):
        Item()


def test_results_stay_where_they_are_told(toy, tmp_path):
    run_item(toy.ITEMS[0], "quick", tmp_path / "deep" / "er", n_jobs=1)
    assert Store(tmp_path / "deep" / "er", toy.ITEMS[0], "quick").path == Path(
        tmp_path / "deep" / "er" / "quick" / "toy-table1.csv"
    )

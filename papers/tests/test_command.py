"""The command ``costboost-papers``."""

import hashlib
import json
from pathlib import Path
from urllib.error import URLError

import pandas as pd
import pytest
from typer.testing import CliRunner

from costboost_papers import command as papers
from costboost_papers import datasets
from costboost_papers.cli import app
from toy import install

DOCS = Path(__file__).parents[2] / "docs" / "papers"


@pytest.fixture
def toy(tmp_path, monkeypatch):
    return install(tmp_path, monkeypatch)


def command(*arguments, code=0):
    """What is printed, on one line."""
    result = CliRunner().invoke(app, [str(one) for one in arguments])
    assert result.exit_code == code, result.output
    return " ".join(result.output.split())


def test_command_runs_an_item_and_its_sharer(toy, tmp_path):
    words = command("run", "toy", "--quick", "--output", tmp_path, "--jobs", 1)
    assert "toy table1: 12 tasks done now, 0 done earlier, 0 failed" in words
    assert "holds: One is best. 1 < 2. For 1 of 1" in words and "All is well" in words
    for kind in ("png", "pdf"):
        assert (tmp_path / "quick" / "figures" / f"toy-figure1.{kind}").is_file()
    again = command("run", "toy", "figure1", "--quick", "--output", tmp_path, "--jobs", 1)
    assert "toy table1: 0 tasks done now, 12 done earlier" in again


def test_pages_and_the_rows_that_are_kept_beside_them(toy, tmp_path):
    listed = command("list")
    assert "A toy | table" in listed and "of table1" in listed and "48" in listed
    docs = ("--docs", tmp_path / "docs", "--jobs", 1)
    first = command("run", "--all", "--output", tmp_path / "first", *docs)
    first += command("pages", "--output", tmp_path / "first", *docs[:2])
    assert "48 tasks done now" in first and (tmp_path / "docs" / "toy.md").is_file()
    later = command("run", "toy", "table1", "--output", tmp_path / "later", *docs)
    assert "toy table1: 0 tasks done now, 48 done earlier" in later
    fresh = command("run", "toy", "table1", "--fresh", "--output", tmp_path / "fresh", *docs)
    assert "toy table1: 48 tasks done now, 0 done earlier" in fresh


def test_parts_and_variations_of_a_plan(toy, tmp_path):
    here = ("--output", tmp_path, "--jobs", 1)
    part = command(
        "run", "toy", "table1", "--datasets", "a", "--algorithms", "two", "--splits", 2, *here
    )
    assert "toy table1: 4 tasks done now" in part and "No verdicts" in part
    assert "cost (2 splits)" in part and "three" not in part
    for more in (("--seed", 1), (), ("--rounds", 3)):  # other splits, or other rounds
        assert "12 tasks done now, 0 done" in command(
            "run", "toy", "table1", "--quick", *more, *here
        )
    assert (tmp_path / "quick-3-rounds" / "toy-table1.csv").is_file()
    for name in ("--datasets", "--algorithms", "--estimator"):
        wrong = command("run", "toy", "table1", name, "nobody", *here, code=2)
        assert f"{name} of toy table1 must be among" in wrong


def test_finished_tables_as_text(toy, tmp_path):
    starts = {
        "latex": r"\begin{tabular}{llll}", "csv": "dataset,algorithm,setting,value a,one,",
        "markdown": "| dataset | algorithm | setting | value |",
    }  # fmt: skip
    table = ("run", "toy", "table1", "--quick", "--output", tmp_path, "--jobs", 1, "--format")
    for form, start in starts.items():
        assert command(*table, form).startswith(start)
    assert "--format must be one of latex, csv, markdown" in command(*table, "word", code=2)


def test_wide_tables_are_cut_to_the_console():
    names = ["data set", "tree", *(f"method {k}" for k in range(12))]
    frame = pd.DataFrame([["pima", "C4.5", *["123.4 ± 5.6 †"] * 12]], columns=names)
    blocks = list(papers.console_blocks(frame, 80))
    assert all(list(block.columns[:2]) == names[:2] for block in blocks)
    assert [name for block in blocks for name in block.columns[2:]] == names[2:]
    assert all(sum(16 for _ in block.columns[2:]) <= 80 - 16 for block in blocks)
    assert r"$\pm$ 5.6 $^\dagger$" in papers.latex_table(frame)


def test_every_run_stores_commit_versions_and_checksums(tmp_path, data_dir):
    part = ("--estimator", "c45", "--algorithms", "AdaC2", "--splits", 1)
    command("run", "cao2013", "table4", "--quick", *part, "--output", tmp_path, "--jobs", 1)
    (line,) = (tmp_path / "quick" / "cao2013-table4.runs.jsonl").read_text().splitlines()
    record = json.loads(line)
    assert record["versions"].startswith("costboost ") and record["started"].endswith("Z")
    whole = hashlib.sha256((data_dir / "pima.csv.gz").read_bytes()).hexdigest()
    assert record["data"] == {"pima": whole[:12]} and "commit" in record


def test_failed_tasks_and_folders_fail_the_command(toy, tmp_path, monkeypatch):
    monkeypatch.setenv("TOY_FAILS", "/three/")
    words = command("run", "toy", "table1", "--quick", "--output", tmp_path, "--jobs", 1, code=1)
    assert "three//0: RuntimeError: the toy is broken" in words
    assert "no table without the failed tasks" in words
    assert "8 tasks done now, 0 done earlier, 4 failed" in words
    taken = tmp_path / "taken"
    taken.write_text("a file, not a folder")
    words = command("run", "toy", "--quick", "--output", taken, "--jobs", 1, code=1)
    assert "cannot be written" in words and "--output" in words
    assert "taken/quick/toy-table1.csv" in words.replace(" ", "")
    words = command("pages", "--output", tmp_path / "no", "--docs", taken, code=1)
    assert "taken" in words.replace(" ", "")


def test_what_is_unknown_or_not_planned_is_refused(tmp_path):
    for asked, message in {
        "lozano2008 table1 --estimator c45 --algorithms constant": "has no such combination",
        "": "Name a PAPER",
        "nobody": "PAPER must be one of",
        "cao2013 table9": "ITEM of cao2013 must be one of",
        "cao2013 --all": "Leave one of them out",
        "cao2013 --data nowhere": "nowhere",
    }.items():
        assert message in command("run", *asked.split(), "--output", tmp_path, code=2)
    assert "Use one of: adaboostc" in command("cite", "nobody", code=2)
    assert "are kept in" in command("show", "cao2013", "table1", "--docs", tmp_path, code=2)


def test_what_is_kept_is_shown():
    shown = command("show", "cao2013", "table1", "--docs", DOCS)
    assert "cao2013 table1: " in shown and "Kendall's τ with the paper's ordering" in shown
    kept = command("show", "cao2013", "--docs", DOCS, "--format", "csv")
    assert kept.startswith("data set,") or kept.count(",") > 100
    assert command("cite", "AdaC2").startswith("@article{sun2007,")


def test_offline_it_fails_once_and_names_the_remedy(tmp_path, monkeypatch):
    """One download is tried, not one per task."""
    tried = []

    def offline(**arguments):
        tried.append(arguments["data_id"])
        raise URLError("no network")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", offline)
    monkeypatch.setattr(datasets, "find_folder", lambda data_dir, missing_ok=False: None)
    words = command(
        "run", "cao2013", "table1", "--quick", "--output", tmp_path, "--jobs", 1, code=1
    )
    assert words.startswith("Error: cao2013 table1: The data set 'crx' is not on this machine")
    assert "no network" in words and "--data of costboost-papers run" in words
    assert len(tried) == 1 and "failed cao2013" not in words

"""The command ``costboost reproduce``."""

from __future__ import annotations

import subprocess
import sys
from urllib.error import URLError

import pytest

from cli.conftest import run
from costboost.datasets import files
from helpers.toy_paper import install


@pytest.fixture
def toy(tmp_path, monkeypatch):
    """The toy module, and a registry that has nothing else."""
    return install(tmp_path, monkeypatch)


def said(*arguments, code=0):
    return " ".join(run("reproduce", *arguments, code=code).output.split())


def quick(folder, *arguments, code=0):
    return said("toy", *arguments, "--quick", "--output", folder, "--jobs", 1, code=code)


def test_an_item_and_its_sharer(toy, tmp_path):
    words = quick(tmp_path)
    assert "toy table1: 12 tasks done now, 0 done earlier, 0 failed" in words
    assert "holds: One is best. 1 < 2." in words and "All is well" in words
    assert (tmp_path / "quick" / "figures" / "toy-figure1.png").is_file()
    assert "toy table1: 0 tasks done now, 12 done earlier" in quick(tmp_path, "figure1")


def test_the_list_and_the_pages(toy, tmp_path):
    listed = said("--list")
    assert "A toy | table" in listed and "of table1" in listed and "48" in listed
    said("--all", "--pages", "--quick", "--output", tmp_path / "r", "--docs", tmp_path / "d",
         "--jobs", 1)  # fmt: skip
    assert "Quick run: 12 tasks" in (tmp_path / "d" / "toy.md").read_text()


@pytest.mark.parametrize(
    ("failing", "words"),
    [
        ("toy/table1/a/two//0", ["failed toy/table1/a/two//0: RuntimeError", "11 tasks done now"]),
        ("/three/", ["no table without the failed tasks", "8 tasks done now, 0 done earlier"]),
    ],
)
def test_failed_tasks(toy, tmp_path, monkeypatch, failing, words):
    monkeypatch.setenv("TOY_FAILS", failing)
    found = quick(tmp_path, "table1", code=1)
    assert all(word in found for word in words)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ([], "Name a PAPER"),
        (["nobody"], "PAPER must be one of toy; got 'nobody'"),
        (["toy", "table9"], "ITEM of toy must be one of table1, figure1; got 'table9'"),
        (["toy", "--all"], "Leave one of them out"),
        (["toy", "--data", "/nowhere"], "nowhere"),
    ],
)
def test_what_cannot_be_run(toy, arguments, message):
    assert message in said(*arguments, code=2)


def test_a_missing_extra_names_the_install(monkeypatch):
    for missing in ("matplotlib", "costboost_papers"):
        with monkeypatch.context() as patch:
            patch.setitem(sys.modules, missing, None)
            words = said("cao2013", code=2)
        assert f"needs {missing}" in words and 'pip install "costboost[experiments]"' in words


def test_the_list_needs_the_library_alone():
    code = (
        "import sys\n"
        "for name in ('pandas', 'polars', 'pyarrow', 'matplotlib'): sys.modules[name] = None\n"
        "from costboost.cli import app\n"
        "app(['reproduce', '--list'])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert "lozano2008" in done.stdout and "cao2013" in done.stdout


def test_offline_it_fails_once_and_names_the_remedy(tmp_path, monkeypatch):
    """One download is tried, not one per task."""
    tried = []

    def offline(**arguments):
        tried.append(arguments["data_id"])
        raise URLError("no network")

    monkeypatch.setattr("sklearn.datasets.fetch_openml", offline)
    monkeypatch.setattr(files, "_folder", lambda data_dir, missing_ok=False: None)
    words = said("cao2013", "table1", "--quick", "--output", tmp_path, "--jobs", 1, code=1)
    assert words.startswith("cao2013 table1: The data set 'crx' is not on this machine")
    assert "no network" in words and "--data of costboost reproduce" in words
    assert len(tried) == 1 and "failed cao2013" not in words


def test_folders_that_cannot_be_written_are_named(toy, tmp_path):
    taken = tmp_path / "taken"
    taken.write_text("a file, not a folder")
    words = quick(taken, code=1)
    assert "cannot be written" in words and "--output" in words
    assert "taken/quick/toy-table1.csv" in words.replace(" ", "")
    assert "taken" in said("--pages", "--output", tmp_path / "none", "--docs", taken, code=1)

"""The rows that are kept: each names what measured it, and together they stay small."""

import csv
from pathlib import Path

import pytest
from benchmarks.harness import RESULTS, SOURCE_FIELDS, SOURCES, read_csv, source_number

FILES = sorted(path.name for path in RESULTS.glob("*.csv") if path.name != SOURCES)


@pytest.mark.parametrize("name", FILES)
def test_every_row_names_its_source(name):
    known = {line["source"] for line in read_csv(RESULTS / SOURCES)}
    rows = read_csv(RESULTS / name)
    assert rows
    assert {row["source"] for row in rows} <= known


def test_every_source_has_a_commit_and_versions():
    for line in read_csv(RESULTS / SOURCES):
        assert tuple(line) == SOURCE_FIELDS
        assert all(line.values())
        assert not line["commit"].endswith("-dirty")


def test_results_stay_below_a_megabyte():
    assert sum(path.stat().st_size for path in RESULTS.rglob("*")) <= 1_000_000


def test_a_source_gets_one_line(tmp_path: Path):
    first = source_number(tmp_path)
    assert source_number(tmp_path) == first == "1"
    with (tmp_path / SOURCES).open(newline="") as file:
        lines = list(csv.DictReader(file))
    assert len(lines) == 1
    assert "numpy==" in lines[0]["versions"]

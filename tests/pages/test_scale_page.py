"""The page on large tables is what its generator writes from the benchmarks' rows."""

from __future__ import annotations

import runpy
from pathlib import Path

import pytest
import results as results_of_benchmarks

ROOT = Path(__file__).resolve().parents[2]
SCALE = runpy.run_path(str(ROOT / "docs" / "_pages" / "scale.py"))
PAGE = SCALE["page"]
COMMON = {"cores": "2", "commit": "abc", "load": "0.5"}


@pytest.fixture
def results(tmp_path, monkeypatch):
    """A folder of results of one's own."""
    monkeypatch.setattr(results_of_benchmarks, "RESULTS", tmp_path)
    return tmp_path


def write(folder, name, rows):
    lines = [",".join(rows[0]), *(",".join(row.values()) for row in rows)]
    (folder / f"{name}.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")


def comparison(what):
    return {"what": what, "ours": "6", "rival": "theirs", "theirs": "5", "ratio": "1.2"} | COMMON


def measured(method, rows, peak):
    row = {"method": method, "rows": str(rows), "features": "20", "trees": "50", "seconds": "40"}
    row |= {"peak_mb": str(peak), "anonymous_mb": str(peak - 100), "mapped_mb": "100"}
    return row | {"start_mb": "200", "savings": "0.45"} | COMMON


def test_says_what_is_missing(results):
    assert PAGE().count("Not measured yet: run `make bench-scale`.") == 6


def test_shows_what_was_measured(results):
    for name in ("dask_speed", "gbm_speed", "classifier_speed"):
        write(results, name, [comparison(f"rows of {name}")])
    write(
        results,
        "out_of_core",
        [
            measured("fit_parquet", 1_000_000, 500),
            measured("fit", 1_000_000, 700),
            measured("fit", 2_000_000, 1200),
            measured("fit_parquet", 11_000_000, 900),
        ],
    )
    page = PAGE()
    for name in ("dask_speed", "gbm_speed", "classifier_speed"):
        assert f"| rows of {name} | 6 | theirs | 5 | 1.2 |" in page
    assert "`fit_parquet` takes 42 bytes and `fit` takes 524 bytes" in page
    assert "| 11,000,000 | `fit_parquet` | 40 | 900 |" in page
    assert "| memory of `fit_parquet`, 42 bytes per row | | 42 GB | 42 GB |" in page
    assert "would take 1.0 hours for 50 trees on 2 cores" in page


def test_one_size_gives_no_growth(results):
    write(results, "out_of_core", [measured("fit_parquet", 1_000_000, 500)])
    assert "| 1,000,000 | `fit_parquet` |" in PAGE()
    assert "For every row more" not in PAGE()

"""Shared by all tests: one thread for numerics, the fast lane, the folder of benchmark files."""

from __future__ import annotations

import os
from pathlib import Path

# Before numpy, LightGBM or numba are imported: the fits here are too small to share out.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
os.environ.setdefault("MPLBACKEND", "Agg")

import pytest

from helpers import slow


def pytest_configure(config: pytest.Config) -> None:
    """Declare the markers."""
    config.addinivalue_line("markers", "slow: left out by `make test-fast` (tests/helpers/slow.py)")
    config.addinivalue_line("markers", "data: needs the benchmark files (fixture data_dir)")
    config.addinivalue_line("markers", "trust: run by `make trust` only (tests/helpers/slow.py)")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark the slow tests, and those that need the benchmark files."""
    slow.mark(items)
    for item in items:
        if "data_dir" in getattr(item, "fixturenames", ()):
            item.add_marker("data")


@pytest.fixture(scope="session")
def data_dir() -> Path:
    """Folder of the benchmark files; tests that need it are skipped where there is none."""
    from costboost_papers import datasets

    try:
        return datasets.find_folder(None)
    except FileNotFoundError:
        pytest.skip(
            f"needs the benchmark files: set {datasets.ENVIRONMENT_VARIABLE} to their folder"
        )

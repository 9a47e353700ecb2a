"""Shared by the tests of the papers: one thread for numerics, the folder of benchmark files."""

from __future__ import annotations

import os
from pathlib import Path

# Before numpy, LightGBM or numba are imported: the fits here are too small to share out.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
os.environ.setdefault("MPLBACKEND", "Agg")

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what needs the benchmark files."""
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

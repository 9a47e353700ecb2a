"""Shared by all tests: one thread for numerics, marks, the folder of benchmark files."""

from __future__ import annotations

import os
from collections import Counter
from pathlib import Path

# Before numpy, LightGBM or numba are imported: the fits here are too small to share out.
for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(variable, "1")
os.environ.setdefault("MPLBACKEND", "Agg")

import pytest

# In these folders every case fits models: `make test-fast` runs every twelfth of each test.
SAMPLED_FOLDERS = {"algorithms", "decisions", "gbm", "laws"}
SAMPLED_EVERY = 12


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Mark what is slow or needs data, and skip what only `make trust` runs."""
    n_cases: Counter[str] = Counter()
    for item in items:
        if "data_dir" in getattr(item, "fixturenames", ()):
            item.add_marker("data")
        if item.get_closest_marker("trust") and "COSTBOOST_TRUST" not in os.environ:
            item.add_marker(pytest.mark.skip(reason="runs in `make trust`"))
        if item.path.parent.name in SAMPLED_FOLDERS:
            test = item.nodeid.partition("[")[0]
            if n_cases[test] % SAMPLED_EVERY:
                item.add_marker("slow")
            n_cases[test] += 1


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

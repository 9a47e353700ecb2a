"""numba's cache on the disk: where it fails, kernels are compiled, and nobody hears of it."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

import costboost

CALL = """
import numpy as np
from costboost._numba import jit
from costboost.learners._kernels import histogram
out = np.zeros((2, 2))
histogram(np.array([0, 1, 1], np.uint8), np.arange(3.0), np.ones(3), out)
print(out.tolist())
print(jit(lambda x: x + 1)(1))  # a function without a source file
"""


def call(**environment):
    source = str(Path(costboost.__file__).parents[1])
    found = subprocess.run(
        [sys.executable, "-W", "error", "-c", CALL],
        env={**os.environ, "PYTHONPATH": source, **environment},
        capture_output=True,
        text=True,
    )
    assert (found.stdout, found.stderr) == ("[[0.0, 1.0], [3.0, 2.0]]\n2\n", "")


@pytest.mark.slow
def test_a_truncated_cache_is_made_anew(tmp_path):
    call(NUMBA_CACHE_DIR=str(tmp_path))
    files = sorted(file for file in tmp_path.rglob("*.nb?"))
    sizes = [file.stat().st_size for file in files]
    assert {file.suffix for file in files} == {".nbi", ".nbc"}
    for file in files[::2]:  # of some kernels the index, of some the code
        file.write_bytes(file.read_bytes()[: file.stat().st_size // 2])
    call(NUMBA_CACHE_DIR=str(tmp_path))
    again = sorted(file for file in tmp_path.rglob("*.nb?"))
    assert [file.stat().st_size for file in again] == sizes  # written again


def test_without_a_folder_for_the_cache(monkeypatch):
    caching = pytest.importorskip("numba.core.caching")
    # As in an installation that is read-only, without a home that may be written to.
    monkeypatch.setattr(caching.CacheImpl, "_locator_classes", [])
    from costboost._numba import jit

    assert jit(_twice)(21) == 42


def _twice(x):
    return 2 * x

"""Files of older versions keep loading, and decide as they did."""

from __future__ import annotations

import numpy as np
import pytest

from costboost.errors import ModelFileError
from costboost.files import FORMAT, inspect, load
from files.golden import FOLDER, GOLDEN, file_name, golden_answers
from files.models import CASES, ESTIMATORS

FORMATS = sorted(path.name for path in FOLDER.iterdir()) if FOLDER.exists() else []
OLD = FOLDER.parent / "old"


def test_every_format_has_golden_files():
    assert [f"format_{number}" for number in range(2, FORMAT + 1)] == FORMATS


def test_format_1_is_refused_with_the_remedy():
    for read in (load, inspect):
        with pytest.raises(ModelFileError, match=r"format 1, .* Fit the model again"):
            read(OLD / "format_1.costboost")


@pytest.mark.parametrize("version", FORMATS)
@pytest.mark.parametrize("case", GOLDEN)
def test_golden_files_decide_as_they_did(case, version):
    model = load(FOLDER / version / f"{file_name(case)}.costboost")
    with np.load(FOLDER / version / f"{file_name(case)}.npz", allow_pickle=False) as old:
        stored = {key: old[key] for key in old.files}
    found = golden_answers(model, CASES[case]()[1])
    assert stored.keys() == found.keys()
    assert np.array_equal(stored.pop("predict"), found["predict"])
    for key, value in stored.items():
        # The same bits on one machine; exp and BLAS differ by rounding between machines.
        np.testing.assert_allclose(found[key], value, rtol=1e-12, atol=1e-14)


def test_every_class_and_engine_has_a_golden_file():
    names = {path.stem for path in (FOLDER / f"format_{FORMAT}").iterdir()}
    assert names == {file_name(case) for case in GOLDEN}
    assert set(ESTIMATORS) <= names
    assert any(name.startswith("xgboost") for name in names)

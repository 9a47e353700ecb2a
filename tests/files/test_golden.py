"""Files of older versions keep loading, and decide as they did.

    PYTHONPATH=src:tests python -m files.test_golden

writes those of the current format into ``tests/files/golden/format_N``, with what the models
answered. Run it once per format, when the format is released, and never again: files of users do
not change either.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np
import pytest

from costboost.errors import ModelFileError
from costboost.files import FORMAT, inspect, load, save
from files.models import CASES, ESTIMATORS, answers, fitted

# Every class, and the forms of state that are not those of a class alone.
GOLDEN = [
    case
    for case in CASES
    if case in ESTIMATORS
    or case.startswith(("lightgbm, c", "LpCSB", "MCBoost", "a "))
    or case in ("two heads", "text labels", "sigmoid", "isotonic")
    or case in ("SAMMEC2, classifier", "CostingClassifier, 4 classes", "loss gll")
]
FOLDER = Path(__file__).parent / "golden"
FORMATS = [f"format_{number}" for number in range(2, FORMAT + 1)]


def golden_answers(model, X):
    """Decisions, probabilities, costs and scores of the first rows."""
    kept = ("predict", "predict_proba", "predict_cost", "decision_function")
    return {
        key: value.astype(str) if value.dtype == object else value
        for key, value in answers(model, X[:30]).items()
        if key in kept and value.ndim  # an error has no axis
    }


def stem(case):
    return "".join(c if c.isalnum() else "_" for c in case)


@pytest.mark.parametrize("version", FORMATS)
@pytest.mark.parametrize("case", GOLDEN)
def test_golden_files_decide_as_they_did(case, version):
    found = golden_answers(load(FOLDER / version / f"{stem(case)}.costboost"), CASES[case]()[1])
    with np.load(FOLDER / version / f"{stem(case)}.npz", allow_pickle=False) as old:
        stored = {key: old[key] for key in old.files}
    assert stored.keys() == found.keys()
    assert np.array_equal(stored.pop("predict"), found["predict"])
    for key, value in stored.items():
        # The same bits on one machine; exp and BLAS differ by rounding between machines.
        np.testing.assert_allclose(found[key], value, rtol=1e-12, atol=1e-14)


def test_every_file_is_read_and_format_1_is_refused():
    for version in FORMATS:
        assert {path.stem for path in (FOLDER / version).iterdir()} == set(map(stem, GOLDEN))
    for read in (load, inspect):
        with pytest.raises(ModelFileError, match=r"format 1, .* Fit the model again"):
            read(FOLDER.parent / "old" / "format_1.costboost")


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    folder = FOLDER / f"format_{FORMAT}"
    folder.mkdir(parents=True, exist_ok=True)
    for case in GOLDEN:
        model, X = fitted(case)
        save(model, folder / f"{stem(case)}.costboost")
        np.savez_compressed(folder / f"{stem(case)}.npz", **golden_answers(model, X))

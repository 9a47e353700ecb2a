"""Golden files: models as an older costboost wrote them, with what it answered.

    PYTHONPATH=src:tests python -m files.golden

writes those of the current format into ``tests/files/golden/format_N``. Run it once per format,
when the format is released, and never again: files of users do not change either.
"""

from __future__ import annotations

import warnings
from pathlib import Path

import numpy as np

from costboost.files import FORMAT, save
from files.models import CASES, fitted

FOLDER = Path(__file__).parent / "golden"
# Rows that are asked about.
N = 40


def golden_answers(model, X):
    """Decisions, probabilities and scores of the first rows."""
    found = {"predict": model.predict(X[:N])}
    for method in ("predict_proba", "decision_function"):
        if hasattr(model, method):
            found[method] = getattr(model, method)(X[:N])
    return {
        key: value.astype(str) if value.dtype == object else value for key, value in found.items()
    }


def file_name(case):
    return "".join(c if c.isalnum() else "_" for c in case)


def main():
    folder = FOLDER / f"format_{FORMAT}"
    folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    for case in CASES:
        model, X = fitted(case)
        save(model, folder / f"{file_name(case)}.costboost")
        np.savez_compressed(folder / f"{file_name(case)}.npz", **golden_answers(model, X))


if __name__ == "__main__":
    main()

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
from files.models import CASES, ESTIMATORS, answers, fitted

# Every class, and the forms of state that are not those of a class alone.
GOLDEN = [
    case
    for case in CASES
    if case in ESTIMATORS
    or case.startswith(("lightgbm, c", "xgboost, c", "LpCSB", "MCBoost", "a "))
    or case in ("two heads", "uncertain costs", "samples", "text labels", "sigmoid", "isotonic")
    or case in ("SAMMEC2, classifier", "CostingClassifier, 4 classes", "loss gll")
]
FOLDER = Path(__file__).parent / "golden"
# Rows that are asked about.
N = 30


def golden_answers(model, X):
    """Decisions, probabilities, costs and scores of the first rows."""
    kept = ("predict", "predict_proba", "predict_cost", "decision_function")
    return {
        key: value.astype(str) if value.dtype == object else value
        for key, value in answers(model, X[:N]).items()
        if key in kept and value.ndim  # an error has no axis
    }


def file_name(case):
    return "".join(c if c.isalnum() else "_" for c in case)


def main():
    folder = FOLDER / f"format_{FORMAT}"
    folder.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    for case in GOLDEN:
        model, X = fitted(case)
        save(model, folder / f"{file_name(case)}.costboost")
        np.savez_compressed(folder / f"{file_name(case)}.npz", **golden_answers(model, X))


if __name__ == "__main__":
    main()

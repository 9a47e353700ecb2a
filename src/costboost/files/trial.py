"""Let a loaded model decide one row before it is used.

Every part of a file may be valid and the model still be wrong: a rule about the tenth column of
four, a vote for a class that does not exist. One decision on a row of zeros finds that while
loading.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from costboost.costs.forms import varies
from costboost.costs.table import same_labels
from costboost.errors import ModelFileError

__all__ = ["check_answers"]

_MAX_FEATURES = 10_000_000


def check_answers(model: Any) -> None:
    """Raise a `ModelFileError` if a model cannot decide on a row of its own kind."""
    classes = getattr(model, "classes_", None)
    n = getattr(model, "n_features_in_", None)
    if not isinstance(classes, np.ndarray) or classes.ndim != 1 or len(classes) < 2:
        raise ModelFileError("The model must have two classes or more.")
    reads_tables = hasattr(model, "_frame")  # wrappers hand rows on to an estimator
    if reads_tables and not (type(n) is int and 0 < n <= _MAX_FEATURES):
        raise ModelFileError(f"The model must have a number of features, got {n!r:.40}.")
    matrix = getattr(model, "cost_matrix_", None)
    shape = (len(classes), len(getattr(model, "decisions_", classes)))
    if matrix is not None and not _is_matrix(matrix, shape):
        raise ModelFileError(f"The model must have costs of the shape {shape}.")
    if not reads_tables:
        return  # the row goes to an estimator, which may want any kind of table
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            row = _row(model, model.n_features_in_)
            if row is None:
                return
            for method in _methods(model):
                answer = getattr(model, method)(row)
                if len(answer) != 1:
                    raise ValueError(f"{method} gives {len(answer)} answers for one row")
    except Exception as error:  # whatever parts that do not fit make of it
        raise ModelFileError(
            f"The model cannot decide on a row of zeros: {error!r:.300}"
        ) from error


def _methods(model: Any) -> list[str]:
    """What to ask: if columns tell the costs, only what needs no costs."""
    # Votes for decisions tell no probabilities of classes.
    knows_classes = hasattr(model, "heads_") or same_labels(model.decisions_, model.classes_)
    proba = ["predict_proba"] if knows_classes and hasattr(model, "predict_proba") else []
    if varies(model.cost_matrix):
        return proba or ["decision_function"]
    return ["predict", *proba, "decision_function"]


def _is_matrix(value: Any, shape: tuple[int, int]) -> bool:
    fine = isinstance(value, np.ndarray) and value.dtype == np.float64 and value.shape == shape
    return fine and bool(np.isfinite(value).all())


def _row(model: Any, n: int) -> Any:
    """A row of zeros, in a frame if the model knows categories; None without pandas."""
    frame = model._frame
    row = np.zeros((1, n))
    if frame is None:
        return row
    try:
        import pandas as pd
    except ImportError:
        return None
    names = getattr(model, "feature_names_in_", range(n))
    columns: dict[Any, Any] = {name: row[:, j] for j, name in enumerate(names)}
    for place, values in zip(frame.categorical, frame.categories, strict=True):
        columns[list(columns)[place]] = np.array(values[:1], dtype=object)
    return pd.DataFrame(columns)

"""Rules for the arguments that only the flagship has, or reads in its own way."""

from __future__ import annotations

from typing import Any

from costboost._validation import (
    LEARNING_RATE,
    N_JOBS,
    VERBOSE,
    Constraint,
    integer,
    is_integer,
    is_real,
    one_of,
)

__all__ = ["FLAGSHIP"]


def _share(low_open: bool) -> Constraint:
    words = "a number in (0, 1)" if low_open else "a number in (0, 1]"
    return Constraint(words, lambda v: (is_real(v) and 0 < v < 1) or (not low_open and v == 1))


def _is_folds(value: Any) -> bool:
    return value is None or hasattr(value, "split") or hasattr(value, "__iter__")


FLAGSHIP: dict[str, Constraint] = {
    "n_estimators": integer(1),
    "max_leaves": integer(2),
    "learning_rate": LEARNING_RATE,
    "n_jobs": N_JOBS,
    "verbose": VERBOSE,
    "engine": one_of("lightgbm", "xgboost"),
    "decision": one_of("auto", "bayes", "learned"),
    "risk": one_of("expected", "worst"),
    "min_samples_leaf": Constraint(
        "an integer >= 1 or 'auto'", lambda v: v == "auto" or (is_integer(v) and v >= 1)
    ),
    "reg_lambda": Constraint("a number >= 0", lambda v: is_real(v) and v >= 0),
    "subsample": _share(low_open=False),
    "colsample": _share(low_open=False),
    "early_stopping": Constraint("a boolean", lambda v: isinstance(v, bool)),
    "patience": integer(1),
    "ensemble": integer(1),
    "cv": Constraint(
        "None, a splitter or an iterable of (rows, held-out rows); for a number of folds use "
        "ensemble",
        lambda v: _is_folds(v) and not isinstance(v, str),
    ),
    "validation_fraction": _share(low_open=True),
    "calibration": one_of("temperature", None),
    "engine_params": Constraint("None or a dict", lambda v: v is None or isinstance(v, dict)),
    "device": Constraint("a string", lambda v: isinstance(v, str)),
    "warm_start": Constraint("a boolean", lambda v: isinstance(v, bool)),
}

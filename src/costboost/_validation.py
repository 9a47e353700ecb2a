"""Rules for constructor arguments, as data: one row per argument, checked at the start of fit."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from numbers import Integral, Real
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from costboost._typing import Floats

__all__ = ["PARAMETERS", "Constraint", "check_parameters", "check_weights"]

_SHARE = "a number in (0, 1)"


@dataclass(frozen=True)
class Constraint:
    """A rule in words and as a test."""

    words: str
    holds: Callable[[Any], bool]


def is_integer(value: Any) -> bool:
    """An integer that is no boolean."""
    return isinstance(value, Integral) and not isinstance(value, bool)


def is_real(value: Any) -> bool:
    """A finite number that is no boolean."""
    if isinstance(value, bool) or not isinstance(value, Real):
        return False
    return math.isfinite(value)


def _is_splits(value: Any) -> bool:
    return hasattr(value, "split") or isinstance(value, Iterable)


def integer(low: int) -> Constraint:
    """An integer of at least ``low``."""
    return Constraint(f"an integer >= {low}", lambda v: is_integer(v) and v >= low)


def one_of(*options: Any) -> Constraint:
    """One of a few names."""
    words = "one of " + ", ".join(repr(option) for option in options)
    return Constraint(words, lambda v: (v is None or isinstance(v, str)) and v in options)


def optional_share() -> Constraint:
    """None or a number strictly between 0 and 1."""
    return Constraint(f"None or {_SHARE}", lambda v: v is None or (is_real(v) and 0 < v < 1))


PARAMETERS: dict[str, Constraint] = {
    "n_estimators": integer(1),
    "max_leaves": integer(2),
    "learning_rate": Constraint("a number in (0, 1]", lambda v: is_real(v) and 0 < v <= 1),
    "init": one_of(None, "uniform", "balanced", "cost"),
    "weighting": one_of("boundary", "newton"),
    "p": Constraint("a number >= 1", lambda v: is_real(v) and v >= 1),
    "variant": one_of("relational", "adjusted", "direct"),
    "step": one_of("harmonic", "bound"),
    "resample": Constraint("a boolean or 'auto'", lambda v: isinstance(v, bool) or v == "auto"),
    "decision": one_of("argmax", "bayes"),
    "n_jobs": Constraint(
        "None or a non-zero integer", lambda v: v is None or (is_integer(v) and v != 0)
    ),
    "calibration": one_of(None, "sigmoid", "isotonic"),
    "cv": Constraint(
        "an integer >= 2, a splitter or an iterable of splits",
        lambda v: v >= 2 if is_integer(v) else not isinstance(v, str) and _is_splits(v),
    ),
    "ensemble": Constraint("a boolean", lambda v: isinstance(v, (bool, np.bool_))),
    "detection_rate": optional_share(),
    "false_alarm_rate": optional_share(),
    "delta": optional_share(),
    "held_out": Constraint(_SHARE, lambda v: is_real(v) and 0 < v < 1),
    "n_trials": integer(1),
    "tol": Constraint("a number >= 0", lambda v: is_real(v) and v >= 0),
    "verbose": Constraint(
        "an integer >= 0 or a boolean", lambda v: isinstance(v, bool) or (is_integer(v) and v >= 0)
    ),
}


def check_parameters(estimator: Any, rules: Mapping[str, Constraint] = PARAMETERS) -> None:
    """Raise a ValueError for the first constructor argument that breaks its rule."""
    for name, value in estimator.get_params(deep=False).items():
        constraint = rules.get(name)
        if constraint is not None and not constraint.holds(value):
            raise ValueError(
                f"The {name!r} parameter of {type(estimator).__name__} must be "
                f"{constraint.words}. Got {value!r} instead."
            )


def check_weights(sample_weight: ArrayLike | None, n: int, owner: str) -> Floats:
    """Sample weights as (n,) floats: finite, not negative, not all zero."""
    if sample_weight is None:
        return np.ones(n)
    weights = np.asarray(sample_weight, dtype=np.float64)
    if weights.ndim == 0:
        weights = np.full(n, float(weights))
    if weights.ndim != 1:
        # scikit-learn's wording, which its checks look for.
        raise ValueError("Sample weights must be 1D array or scalar")
    if weights.shape != (n,):
        raise ValueError(f"sample_weight.shape == {weights.shape}, expected {(n,)}!")
    if not np.isfinite(weights).all() or (weights < 0).any() or not weights.any():
        raise ValueError(
            f"sample_weight of {owner} must be finite, not negative and not all zero; got values "
            f"from {weights.min()} to {weights.max()}. Drop the rows you do not want instead."
        )
    return weights

"""What LightGBM and XGBoost pass to an objective or a metric, checked."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any, Literal, TypeAlias

import numpy as np
from numpy.typing import ArrayLike

from costboost._typing import AnyArray, Ints

__all__ = ["API", "EngineName", "adapter_for", "checked_codes", "checked_weights"]

EngineName: TypeAlias = Literal["lightgbm", "xgboost"]
API: TypeAlias = Literal["native", "sklearn"]


def adapter_for(table: dict[tuple[str, str], Any], engine: str, api: str, owner: str) -> Any:
    """The entry of a table of adapters; the engine must be installed."""
    for name, value, place in (("engine", engine, 0), ("api", api, 1)):
        options = sorted({key[place] for key in table})
        if value not in options:
            raise ValueError(
                f"The {name!r} parameter of {owner} must be one of {options}. Got {value!r} "
                "instead."
            )
    if find_spec(engine) is None:
        raise ImportError(
            f"{owner} with engine={engine!r} needs {engine}, which is not installed: "
            'pip install "costboost[gbm]"'
        )
    return table[engine, api]


def checked_codes(labels: ArrayLike, k: int, n: int, owner: str) -> Ints:
    """Class codes 0..k-1 of n rows."""
    y = np.asarray(labels)
    if y.shape != (n,):
        raise ValueError(
            f"{owner} needs one label per row, shape ({n},), got shape {y.shape}. Give the data "
            "its label."
        )
    codes = y.astype(np.intp)
    if (codes != y).any() or codes.min(initial=0) < 0 or codes.max(initial=0) >= k:
        raise ValueError(
            f"{owner} needs class codes 0 to {k - 1} as labels, got values from {y.min():g} to "
            f"{y.max():g}. Encode them, for example by sklearn.preprocessing.LabelEncoder, and "
            "check num_class."
        )
    return codes


# Smallest of the largest weights of a table; the inverse is the largest.
_LEAST_WEIGHT = 1e-25


def checked_weights(weights: ArrayLike | None) -> AnyArray | None:
    """Weights of the rows, or None: without weights XGBoost passes an empty array."""
    if weights is None:
        return None
    w = np.asarray(weights)
    if not w.size:
        return None
    if not (np.isfinite(w).all() and w.min() >= 0 and w.max() > 0):
        raise ValueError(
            f"The weights of the rows must be finite, not negative and not all zero; got values "
            f"from {w.min()} to {w.max()}. Drop the rows you do not want instead."
        )
    if not _LEAST_WEIGHT < w.max() < 1.0 / _LEAST_WEIGHT:
        raise ValueError(
            f"The largest weight of a row must be between {_LEAST_WEIGHT:g} and "
            f"{1.0 / _LEAST_WEIGHT:g}, because the engines sum in single precision; got "
            f"{w.max():g}. Divide all weights by {w.max():g}: only their ratios matter."
        )
    return w

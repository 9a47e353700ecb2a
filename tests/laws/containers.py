"""The same numbers in the containers that people pass: arrays of every layout, frames, sparse."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import sparse

from helpers.arrays import AnyArray, Floats

__all__ = ["CONTAINERS", "FRAMES", "LABEL_CONTAINERS", "column_names"]


def column_names(d: int) -> list[str]:
    """Names of the columns of frames: ``x0``, ``x1``, and so on."""
    return [f"x{j}" for j in range(d)]


def _read_only(values: AnyArray) -> AnyArray:
    copy = values.copy()
    copy.flags.writeable = False
    return copy


def _memory_mapped(values: AnyArray) -> AnyArray:
    """A read-only map of a file that has no name any more: it goes when the array goes."""
    handle, path = tempfile.mkstemp(suffix=".npy")
    try:
        with os.fdopen(handle, "wb") as file:
            np.save(file, values)
        return np.asanyarray(np.load(path, mmap_mode="r"))
    finally:
        os.unlink(path)


def _strided(values: AnyArray) -> AnyArray:
    """Every second row and column of a larger array."""
    large = np.full((2 * values.shape[0], 2 * values.shape[1]), 7.0)
    large[::2, ::2] = values
    return large[::2, ::2]


def _whole(values: Floats) -> AnyArray:
    """Integers: what is not finite or too large is cut."""
    finite = np.nan_to_num(values, nan=0.0, posinf=9.0, neginf=-9.0)
    return np.clip(np.round(finite), -(2.0**40), 2.0**40).astype(np.int64)


def _float32(values: Floats) -> AnyArray:
    with np.errstate(over="ignore"):
        return values.astype(np.float32)


def _frame(values: Floats) -> Any:
    import pandas as pd

    return pd.DataFrame(values, columns=column_names(values.shape[1]))


def _nullable(values: Floats) -> Any:
    return _frame(values).astype("Float64")


def _arrow(values: Floats) -> Any:
    return _frame(values).astype("double[pyarrow]")


def _mixed_frame(values: Floats) -> Any:
    """A frame with a category, a boolean and a nullable integer among its columns."""
    import pandas as pd

    frame = _frame(values)
    last = frame.columns[-1]
    frame[last] = pd.Categorical(np.where(frame[last] > 0, "high", "low"))
    if values.shape[1] > 1:
        first = frame.columns[0]
        if values.shape[1] > 2:
            frame[frame.columns[1]] = (frame[frame.columns[1]] > 0).to_numpy()
        frame[first] = pd.array(_whole(values[:, 0]), dtype="Int64")
    return frame


def _polars(values: Floats) -> Any:
    import polars as pl

    return pl.DataFrame(values, schema=column_names(values.shape[1]), orient="row")


CONTAINERS: dict[str, Callable[[Floats], Any]] = {
    "array": lambda values: values.copy(),
    "float32": _float32,
    "integers": _whole,
    "booleans": lambda values: values > 0,
    "fortran": np.asfortranarray,
    "read only": _read_only,
    "memory map": _memory_mapped,
    "strided": _strided,
    "reversed": lambda values: values[::-1].copy()[::-1],
    "big endian": lambda values: values.astype(">f8"),
    "objects": lambda values: values.astype(object),
    "lists": lambda values: values.tolist(),
    "frame": _frame,
    "nullable frame": _nullable,
    "Arrow frame": _arrow,
    "mixed frame": _mixed_frame,
    "polars": _polars,
    "csr": sparse.csr_matrix,
    "csc": sparse.csc_matrix,
    "sparse array": sparse.csr_array,
    "sparse coordinates": sparse.coo_array,
}
"""From a float array (n, d) to a table that holds the same numbers, as far as it can."""

FRAMES = ("frame", "nullable frame", "Arrow frame", "polars")
"""Containers whose columns have names and numbers."""


def _series(values: AnyArray) -> Any:
    import pandas as pd

    return pd.Series(values)


def _categorical(values: AnyArray) -> Any:
    import pandas as pd

    return pd.Series(pd.Categorical(values.tolist()))


LABEL_CONTAINERS: dict[str, Callable[[AnyArray], Any]] = {
    "array": lambda values: values.copy(),
    "list": lambda values: values.tolist(),
    "objects": lambda values: values.astype(object),
    "series": _series,
    "categories": _categorical,
    "read only": _read_only,
}
"""From an array of labels (n,) to what holds them."""

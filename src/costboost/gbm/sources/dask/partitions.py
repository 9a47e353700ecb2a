# mypy: disable-error-code="no-untyped-call"
"""Dask collections as lists of partitions that belong together."""

from __future__ import annotations

from typing import Any, TypeAlias

import dask.array as da
import dask.dataframe as dd
import numpy as np
import pandas as pd

from costboost._frames import categorical_columns

__all__ = ["Parts", "aligned", "as_table", "example_rows", "like"]

# One delayed object per partition.
Parts: TypeAlias = list[Any]


def as_table(X: Any, owner: str) -> Any:
    """The rows as a Dask array of one column block or a Dask frame, columns checked."""
    if isinstance(X, dd.DataFrame):
        _check_columns(X)
        return X
    if isinstance(X, da.Array) and X.ndim == 2:
        return X if X.numblocks[1] == 1 else X.rechunk({1: -1})
    given = f"{X.ndim}-D dask array" if isinstance(X, da.Array) else type(X).__name__
    raise TypeError(
        f"X of {owner} must be a 2-D dask array or a dask DataFrame, got a {given}. Use "
        "dask.array.from_array(X, chunks=(rows, -1)) or dask.dataframe.from_pandas(X, "
        "npartitions=...), or CostBoostClassifier (after fit: to_local()) for data in memory."
    )


def _check_columns(X: Any) -> None:
    """Columns that are not numbers must have categories that all partitions know."""
    names = [X.columns[j] for j in categorical_columns(X._meta)]
    kinds = {name: isinstance(X._meta[name].dtype, pd.CategoricalDtype) for name in names}
    unknown = [name for name in names if not kinds[name] or not X[name].cat.known]
    if unknown:
        raise ValueError(
            f"The columns {unknown} of X hold text, or categories that differ from partition to "
            f"partition. Use X = X.categorize(columns={unknown}), which finds the categories of "
            "all rows."
        )


def example_rows(X: Any) -> Any:
    """A small table in memory with the columns, types and all categories of X."""
    if isinstance(X, da.Array):
        return np.zeros((2, X.shape[1]))
    meta = X._meta
    sets = {meta.columns[j]: meta.iloc[:, j].cat.categories for j in categorical_columns(meta)}
    n = max([2, *map(len, sets.values())])
    columns = {
        name: pd.Series(np.resize(sets[name], n) if len(sets[name]) else [None] * n, dtype=dtype)
        if name in sets
        else pd.Series(np.zeros(n)).astype(dtype)
        for name, dtype in meta.dtypes.items()
    }
    return pd.DataFrame(columns)


def aligned(X: Any, owner: str, **others: Any) -> list[Parts]:
    """Partitions of the rows and of what belongs to them."""
    rows = _delayed(X)
    return [rows, *(_aligned(X, len(rows), name, other, owner) for name, other in others.items())]


def _aligned(X: Any, n_parts: int, name: str, other: Any, owner: str) -> Parts:
    if other is None:
        return [None] * n_parts
    sizes = X.chunks[0] if isinstance(X, da.Array) else (np.nan,)
    known = not np.isnan(sum(sizes))
    if not isinstance(other, da.Array | dd.DataFrame | dd.Series):
        if not known:
            raise TypeError(
                f"{name} of {owner} must be a dask collection with the partitions of X, because "
                f"the sizes of those are unknown; got {type(other).__name__}. Use "
                "X.compute_chunk_sizes() on an array, or make it a column of the frame."
            )
        other = da.from_array(np.asarray(other))
    if known and isinstance(other, da.Array) and not np.isnan(other.shape[0]):
        if other.shape[0] != sum(sizes):
            raise ValueError(
                f"{name} of {owner} must have an entry for each of the {sum(sizes)} rows of X; got "
                f"{other.shape[0]}."
            )
        other = other.rechunk((sizes, *(-1,) * (other.ndim - 1)))
    elif isinstance(other, da.Array) and other.ndim > 1:
        other = other.rechunk({axis: -1 for axis in range(1, other.ndim)})
    parts = _delayed(other)
    if len(parts) != n_parts:
        raise ValueError(
            f"{name} of {owner} must have the partitions of X, {n_parts}, because their sizes are "
            f"unknown; got {len(parts)}. Make it a column of the same frame, repartition both "
            "alike, or use compute_chunk_sizes() on arrays."
        )
    return parts


def _delayed(table: Any) -> Parts:
    return list(np.ravel(table.to_delayed()))


def like(X: Any, parts: Parts, columns: Any, dtype: Any) -> Any:
    """Results of the partitions of X as a collection of its kind."""
    if isinstance(X, da.Array):
        width = () if columns is None else (len(columns),)
        arrays = [
            da.from_delayed(part, shape=(size, *width), dtype=dtype)
            for part, size in zip(parts, X.chunks[0], strict=True)
        ]
        return da.concatenate(arrays, axis=0, allow_unknown_chunksizes=True)
    index = X._meta.index
    if columns is None:
        meta: Any = pd.Series(np.empty(0, dtype), index=index[:0])
    else:
        meta = pd.DataFrame(np.empty((0, len(columns)), dtype), index=index[:0], columns=columns)
    return dd.from_delayed(parts, meta=meta, divisions=X.divisions, verify_meta=False)

"""A fit at once or not at all, and where a model comes from."""

from __future__ import annotations

import hashlib
from collections.abc import Iterator
from copy import copy
from datetime import UTC, datetime
from typing import Any, TypeVar

import numpy as np

from costboost._typing import AnyArray

__all__ = ["fingerprint", "fit_at_once", "now", "unfitted"]

# Rows that are hashed at a time, where an array must be copied for it.
_BLOCK = 65_536

EstimatorT = TypeVar("EstimatorT")


def unfitted(estimator: EstimatorT) -> EstimatorT:
    """A copy without what an earlier fit has left."""
    blank = copy(estimator)
    for name in [name for name in vars(estimator) if name.endswith("_") and name[0] != "_"]:
        delattr(blank, name)
    return blank


def fit_at_once(estimator: EstimatorT, X: Any, y: Any, *others: Any) -> EstimatorT:
    """Fit a copy by ``_fit(X, y, *others)``, then take over its state."""
    # An error or an interrupt leaves the estimator as it was.
    blank: Any = unfitted(estimator)
    blank._fit(X, y, *others)
    blank.trained_at_, blank.data_fingerprint_ = now(), fingerprint(X, y)
    estimator.__dict__ = blank.__dict__
    return estimator


def now() -> str:
    """The time of a training: UTC, to the second."""
    return datetime.now(UTC).isoformat(timespec="seconds")


def fingerprint(X: Any, y: Any) -> str:
    """A hash of all training rows: names, types, values and labels."""
    found = hashlib.sha256()
    for name, values in _pieces(X, y):
        found.update(f"{name} {values.dtype} {values.shape};".encode("utf-8", "surrogatepass"))
        if values.dtype.kind in "OT":  # objects and texts of any length
            words = "\x1f".join(map(str, values.ravel().tolist()))
            found.update(words.encode("utf-8", "surrogatepass"))
            continue
        rows = np.atleast_1d(values)
        if rows.dtype.kind in "mM":  # times, which have no buffer of their own
            rows = np.ascontiguousarray(rows).view(np.int64)
        for start in range(0, len(rows), _BLOCK):
            found.update(np.ascontiguousarray(rows[start : start + _BLOCK]).data.cast("B"))
    return found.hexdigest()


def _pieces(X: Any, y: Any) -> Iterator[tuple[str, AnyArray]]:
    """The arrays that a table is made of, with their names."""
    if hasattr(X, "columns") and hasattr(X, "dtypes"):
        for name in X.columns:
            yield str(name), np.asarray(X[name])
    elif hasattr(X, "tocsr"):
        rows = X.tocsr()
        for name in ("data", "indices", "indptr"):
            yield name, getattr(rows, name)
    else:
        yield "X", np.asarray(X)
    yield "y", np.asarray(y)

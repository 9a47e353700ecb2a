"""What a command that goes on where it stopped must compare: the same rows, the same versions."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from costboost.cli.problem import Rows

__all__ = ["hash_of", "versions_in_words"]


def hash_of(rows: Rows) -> str:
    """A hash of rows: features, classes, weights, times and groups."""
    import pandas as pd

    features = pd.util.hash_pandas_object(rows.X, index=False).to_numpy()
    digest = hashlib.sha256(" ".join(map(str, rows.X.columns)).encode("utf-8", "surrogatepass"))
    digest.update(features.tobytes())
    for values in (rows.y, rows.weights, rows.time, rows.groups):
        digest.update(b"none" if values is None else np.asarray(values).astype(str).tobytes())
    return digest.hexdigest()[:16]


def versions_in_words() -> str:
    """Versions of the packages that results depend on."""
    from costboost.files.checkpoint import versions

    return ", ".join(f"{name} {number}" for name, number in versions().items())

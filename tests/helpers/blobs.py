"""A small data set with three classes."""

from __future__ import annotations

import numpy as np
import pandas as pd


def blobs(n=90, seed=0):
    """Three classes, one of them rarer; two numbers and a category."""
    rng = np.random.default_rng(seed)
    y = np.repeat(["a", "b", "c"], [n // 2, n // 3, n - n // 2 - n // 3])
    centre = np.array([{"a": 0.0, "b": 2.0, "c": 4.0}[label] for label in y])
    X = pd.DataFrame({"u": centre + rng.normal(size=n), "v": rng.normal(size=n)})
    X["w"] = pd.Categorical(np.where(centre > 3, "high", "low"))
    return X, y

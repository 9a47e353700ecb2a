"""Data frames with categorical columns, turned into a float matrix the same way every time."""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.preprocessing import OrdinalEncoder

from costboost._typing import AnyArray, Floats

__all__ = ["FrameEncoder", "categorical_columns"]

# How pandas and polars spell the types of columns that hold categories or text.
_CATEGORY_TYPES = ("category", "object", "str", "string", "Categorical", "Enum", "String")


def categorical_columns(X: Any) -> list[int]:
    """Positions of the columns of a pandas or polars frame that are not numbers."""
    if not (hasattr(X, "columns") and hasattr(X, "dtypes")):
        return []
    # "large_string[pyarrow]", "Enum(categories=...)": the name before the bracket tells.
    names = [str(dtype).split("(")[0].split("[")[0] for dtype in X.dtypes]
    return [j for j, name in enumerate(names) if name in _CATEGORY_TYPES]


class FrameEncoder:
    """Numbers stay, categories become their codes, missing and unseen ones NaN."""

    def __init__(self, X: Any, categorical: list[int]) -> None:
        self.categorical = categorical
        self._codes = OrdinalEncoder(
            handle_unknown="use_encoded_value", unknown_value=np.nan, encoded_missing_value=np.nan
        ).fit(self._categories(X))

    def _categories(self, X: Any) -> AnyArray:
        columns = [np.asarray(X[X.columns[j]], dtype=object) for j in self.categorical]
        matrix = np.column_stack(columns)
        matrix[matrix == None] = np.nan  # noqa: E711 - elementwise
        return matrix

    def transform(self, X: Any) -> Floats:
        """The frame as a float matrix, (n, d)."""
        encoded = np.empty(X.shape, dtype=np.float64)
        numeric = [j for j in range(X.shape[1]) if j not in self.categorical]
        for j in numeric:
            encoded[:, j] = np.asarray(X[X.columns[j]], dtype=np.float64)
        encoded[:, self.categorical] = self._codes.transform(self._categories(X))
        return encoded

"""Results as pandas frames, imported only when asked for, and missing values."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["as_frame", "is_missing"]


def as_frame(columns: Mapping[str, Any], owner: str) -> pd.DataFrame:
    """Columns as a pandas frame."""
    try:
        import pandas as pd
    except ImportError as error:
        raise ImportError(
            f'{owner} returns a pandas frame: pip install "costboost[data]".'
        ) from error
    return pd.DataFrame(dict(columns))


def is_missing(value: Any) -> bool:
    """Whether a value is None, NaN, NaT or pandas' NA, which is not even equal to itself."""
    return value is None or type(value).__name__ == "NAType" or bool(value != value)

"""What is used of pyarrow and pandas, which must be installed."""

from __future__ import annotations

try:
    import pandas
    import pyarrow  # type: ignore[import-untyped]
    import pyarrow.compute as compute  # type: ignore[import-untyped]
    import pyarrow.parquet as parquet  # type: ignore[import-untyped]
except ImportError as error:
    raise ImportError(
        "fit_parquet and predict_parquet read Parquet files with pyarrow and pandas, of which one "
        'is not installed: pip install "costboost[data]"'
    ) from error

__all__ = ["compute", "pandas", "parquet", "pyarrow"]

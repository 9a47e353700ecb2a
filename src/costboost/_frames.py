"""Moved to `costboost.columns.frames`; here until every room imports it from there."""

from costboost.columns.frames import (
    FrameEncoder,
    as_csr,
    categorical_columns,
    check_table,
    is_sparse,
    numbers,
    odd_columns,
    warn_of,
)

__all__ = [
    "FrameEncoder", "as_csr", "categorical_columns", "check_table", "is_sparse", "numbers",
    "odd_columns", "warn_of",
]  # fmt: skip

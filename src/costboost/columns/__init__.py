"""Columns of files and frames: what they hold, and what becomes of each.

Two ideas. *Reading*: `open_source` finds files (CSV, TSV, Parquet, Arrow, JSON lines) and how they
are written; `costboost.columns.raw` opens tables of any library. *Encoding*: `Columns` says what
each column holds and what a model makes of it; it is learned in `fit` and part of the model.
"""

from __future__ import annotations

from costboost.columns.columns import Column, ColumnError, Columns, TypedRows
from costboost.columns.files import (
    Source,
    TableError,
    need,
    open_source,
    unknown_column,
    writer,
)

__all__ = [
    "Column", "ColumnError", "Columns", "Source", "TableError", "TypedRows", "need", "open_source",
    "unknown_column", "writer",
]  # fmt: skip

"""Columns of files and frames: what they hold, and what becomes of each.

Two ideas. *Reading*: `open_source` finds files (CSV, TSV, Parquet, Arrow, JSON lines) and how they
are written, `infer_columns` what each column holds. *Encoding*: a `TableRecipe` builds the table
that a model sees, the same way each time; frames that are given to estimators are turned into
numbers by `costboost.columns.raw`.
"""

from __future__ import annotations

from costboost.columns.columns import ColumnError, Columns, TypedRows
from costboost.columns.files import (
    Source,
    TableError,
    Writer,
    check_output,
    need,
    open_source,
    unknown_column,
    writer,
)
from costboost.columns.recipe import (
    Column,
    TableRecipe,
    infer_column,
    infer_columns,
    label_kind,
    labels,
    tells_target,
    without_label,
)

__all__ = [
    "Column", "ColumnError", "Columns", "Source", "TableError", "TableRecipe", "TypedRows",
    "Writer", "check_output", "infer_column",
    "infer_columns", "label_kind", "labels", "need", "open_source", "tells_target",
    "unknown_column", "without_label", "writer",
]  # fmt: skip

"""Columns of files and tables: what they hold, and what becomes of each.

`costboost.columns.table` opens tables of any library, `costboost.columns.inference` finds out what
a column holds, and `Columns`, learned in `fit`, says what a model makes of it.
"""

from __future__ import annotations

from costboost.columns.columns import Columns, Rows
from costboost.columns.files import Source, need, open_source, writer
from costboost.columns.inference import Column, Exclusion, Notation
from costboost.columns.table import ColumnError, TableError, unknown_column

__all__ = [
    "Column",
    "ColumnError",
    "Columns",
    "Exclusion",
    "Notation",
    "Rows",
    "Source",
    "TableError",
    "need",
    "open_source",
    "unknown_column",
    "writer",
]

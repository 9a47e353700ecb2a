"""Tables from files: CSV, TSV, Parquet, Arrow and JSON lines, and what their columns hold.

The command line reads files with this package; so can you. `open_source` finds the files and how
they are written, `infer_columns` what each column holds, and a `TableRecipe` builds the table
that a model sees, the same way each time.
"""

from __future__ import annotations

from costboost.tables.columns import Column, infer_column, infer_columns, tells_target
from costboost.tables.errors import TableError, need, unknown_column
from costboost.tables.output import Writer, check_output, writer
from costboost.tables.recipe import TableRecipe, label_kind, labels, without_label
from costboost.tables.source import Source, open_source

__all__ = [
    "Column",
    "Source",
    "TableError",
    "TableRecipe",
    "Writer",
    "check_output",
    "infer_column",
    "infer_columns",
    "label_kind",
    "labels",
    "need",
    "open_source",
    "tells_target",
    "unknown_column",
    "without_label",
    "writer",
]

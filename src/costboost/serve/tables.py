"""The body of ``POST /decide`` as an Arrow stream or file, or as Parquet.

Nothing is read before the number of rows and the types of the columns are known. Arrow data is
validated in full before it is used.
"""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as pq  # type: ignore[import-untyped]

from costboost._typing import AnyArray, Floats
from costboost.serve.columns import Column, Columns, Table
from costboost.serve.errors import RequestError
from costboost.serve.prices import Prices
from costboost.serve.requests import Query, parse_json, read_capacity

__all__ = ["ARROW", "PARQUET", "read_table"]

ARROW = ("application/vnd.apache.arrow.stream", "application/vnd.apache.arrow.file")
PARQUET = ("application/vnd.apache.parquet", "application/x-parquet")

# What a compressed table may unfold to, as a multiple of the limit on bodies.
_UNFOLDING = 20


def read_table(
    body: bytes,
    content_type: str,
    options: Mapping[str, str],
    columns: Columns,
    prices: Prices,
    max_rows: int,
    max_bytes: int,
) -> Query:
    """A request from a table; the other parts are in the query of its address."""
    names = _Names(columns, prices, options.get("per"))
    capacity_text = options.get("capacity")
    per = options.get("per")
    limits = None
    if capacity_text is not None:
        limits = _capacity(capacity_text, prices, has_groups=per is not None)
    try:
        found = (
            _from_parquet(body, names, max_rows, max_bytes * _UNFOLDING)
            if content_type in PARQUET
            else _from_arrow(body, names, content_type == ARROW[1], max_rows)
        )
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        raise RequestError(
            400, f"The body cannot be read as a table ({type(error).__name__})."
        ) from None
    n = found.num_rows
    if not n:
        raise RequestError(422, "The table has no rows.")
    values = {
        column.name: _values(found.column(column.name), column)
        if column.name in found.column_names
        else np.full(n, np.nan)
        for column in columns.columns
    }
    cells = {name: _floats(found.column(name)) for name in names.costs(found.column_names)}
    groups = None
    if per is not None:
        groups = np.array([str(value) for value in found.column(per).to_pylist()])
    given = prices.from_columns(cells, n, lambda name, row: f"rows[{row}].{name}")
    explain = _flag(options.get("explain", "false"))
    return Query(Table(columns, values, n, groups), given, limits, explain)


def _flag(text: str) -> bool:
    if text.lower() not in ("true", "false", "1", "0"):
        raise RequestError(422, "explain must be true or false.", "explain")
    return text.lower() in ("true", "1")


def _capacity(text: str, prices: Prices, *, has_groups: bool) -> dict[Any, Any] | None:
    try:
        document = parse_json(b'{"capacity":' + text.encode() + b"}")
    except RequestError:
        raise RequestError(
            422, 'capacity must be a JSON object, such as {"review": 20}.', "capacity"
        ) from None
    return read_capacity(document.get("capacity"), prices, has_groups=has_groups)


class _Names:
    """Which columns a table may have."""

    def __init__(self, columns: Columns, prices: Prices, per: str | None) -> None:
        self.columns = columns
        self.per = per
        self._costs = set(prices.column_names())

    def costs(self, given: list[str]) -> list[str]:
        """Columns of costs; a feature of the same name is a feature."""
        return [name for name in given if name in self._costs and name not in self.columns.names]

    def check(self, schema: pa.Schema) -> None:
        """Refuse unknown, repeated and missing columns, and columns of odd types."""
        if len(set(schema.names)) < len(schema.names):
            raise RequestError(422, "No column may appear twice.", "columns")
        others = {*self.costs(schema.names), *([self.per] if self.per is not None else [])}
        self.columns.check_names(
            [name for name in schema.names if name not in others or name in self.columns.names],
            "columns",
        )
        if self.per is not None and self.per not in schema.names:
            raise RequestError(422, f"The table has no column {self.per[:100]!r}.", "per")
        kinds = {column.name: column for column in self.columns.columns}
        for field in schema:
            column = kinds.get(field.name, Column(field.name, "number"))
            if field.name == self.per and field.name not in kinds:
                column = Column(field.name, "any")
            if not _fits(field.type, column):
                raise RequestError(
                    422, f"{field.name!r} must be {column.words}; got {field.type}.",
                    f"columns.{field.name}",
                )  # fmt: skip


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _fits(kind: pa.DataType, column: Column) -> bool:
    if pa.types.is_dictionary(kind):
        return _is_text(kind.value_type) and column.kind != "number"
    if pa.types.is_null(kind):
        return True
    if _is_text(kind):
        return column.kind != "number"
    number = pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_boolean(kind)
    return bool(number and float in column.allowed)


def _from_arrow(body: bytes, names: _Names, is_file: bool, max_rows: int) -> pa.Table:
    """An Arrow table, batch by batch, until it has too many rows."""
    source = pa.BufferReader(body)
    reader = pa.ipc.open_file(source) if is_file else pa.ipc.open_stream(source)
    names.check(reader.schema)
    batches, n = [], 0
    found = map(reader.get_batch, range(reader.num_record_batches)) if is_file else reader
    for batch in found:
        n += batch.num_rows
        if n > max_rows:
            raise RequestError(
                413, f"A request may have at most {max_rows} rows. Send several requests.", "rows"
            )
        batch.validate(full=True)  # offsets and indices within their buffers
        batches.append(batch)
    return pa.Table.from_batches(batches, reader.schema)


def _from_parquet(body: bytes, names: _Names, max_rows: int, max_bytes: int) -> pa.Table:
    """A Parquet table; texts stay dictionaries, so repeated ones take no memory."""
    file = pq.ParquetFile(io.BytesIO(body))
    about = file.metadata
    if about.num_rows > max_rows:
        raise RequestError(
            413,
            f"A request may have at most {max_rows} rows; got {about.num_rows}. Send several "
            "requests.",
            "rows",
        )
    unfolded = sum(about.row_group(g).total_byte_size for g in range(about.num_row_groups))
    if unfolded > max_bytes:
        raise RequestError(413, f"A table may expand to at most {max_bytes} bytes. Send several.")
    schema = file.schema_arrow
    names.check(schema)
    texts = [field.name for field in schema if _is_text(field.type)]
    if texts:
        file = pq.ParquetFile(io.BytesIO(body), read_dictionary=texts)
    found = file.read(use_threads=False)
    found.validate(full=True)
    return found


def _floats(values: pa.ChunkedArray) -> Floats:
    """Numbers; null is NaN."""
    numbers = values.cast(pa.float64(), safe=False)
    return np.asarray(numbers.to_numpy(), dtype=np.float64)


def _values(values: pa.ChunkedArray, column: Column) -> AnyArray:
    kind = values.type
    if pa.types.is_dictionary(kind):
        return np.concatenate([_decoded(chunk) for chunk in values.chunks])
    if column.kind == "category" or _is_text(kind):
        objects = np.empty(len(values), dtype=object)
        objects[:] = values.to_pylist()
        return objects
    return column.finite(_floats(values), lambda row: f"rows[{row}].{column.name}")


def _decoded(chunk: pa.DictionaryArray) -> AnyArray:
    """Texts of a dictionary, each text held once."""
    known = np.empty(len(chunk.dictionary) + 1, dtype=object)
    known[:-1] = chunk.dictionary.to_pylist()
    return np.asarray(known[chunk.indices.fill_null(len(known) - 1).cast(pa.int64()).to_numpy()])

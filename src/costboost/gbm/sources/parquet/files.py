"""Parquet files as one long table, read in batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cached_property
from glob import glob, has_magic
from pathlib import Path
from typing import Any

from costboost.costs.labels import parameter
from costboost.gbm.sources.parquet._arrow import parquet
from costboost.gbm.sources.parquet._arrow import pyarrow as pa

__all__ = ["ParquetFiles", "find_files", "kind_of"]

# Bytes of a column that are read at once.
_BUFFER = 2**20


def find_files(paths: Any, owner: str) -> list[Path]:
    """The files that a pattern, a folder, a file or a sequence of them means."""
    several = isinstance(paths, Sequence) and not isinstance(paths, (str, bytes))
    given = list(paths) if several else [paths]
    rule = f"{parameter('paths', owner)} must be a pattern, a folder, a file or a list of them"
    found: list[Path] = []
    for entry in given:
        if not isinstance(entry, (str, Path)):
            raise TypeError(f"{rule}, got {entry!r}. Pass 'folder/*.parquet'.")
        path = Path(entry).expanduser()
        if path.is_dir():
            files = sorted(path.glob("*.parquet"))
        elif path.exists():
            files = [path]
        elif has_magic(str(path)):
            files = [Path(name) for name in sorted(glob(str(path), recursive=True))]
        else:
            raise FileNotFoundError(f"{rule}, and there is no {str(path)!r}. Check the path.")
        if not files:
            raise FileNotFoundError(
                f"{rule}, and nothing matches {str(entry)!r}. Check the folder and the ending."
            )
        found += files
    if not found:
        raise ValueError(f"{rule}, got an empty list. Name at least one file.")
    return found


def kind_of(kind: Any) -> str:
    """What the values of an Arrow type are to a booster."""
    types = pa.types
    if types.is_null(kind):
        return "nothing"
    if types.is_dictionary(kind) or types.is_string(kind) or types.is_large_string(kind):
        return "category"
    numbers = (types.is_integer, types.is_floating, types.is_boolean, types.is_decimal)
    return "number" if any(is_kind(kind) for is_kind in numbers) else "other"


class ParquetFiles:
    """Parquet files as one table."""

    def __init__(self, paths: Any, owner: str) -> None:
        self.owner = owner
        found = [(path, *self._opened(path)) for path in find_files(paths, owner)]
        self.paths = [path for path, n, _ in found if n]
        self.n_rows = sum(n for _, n, _ in found)
        self._schemas = [schema for _, n, schema in found if n]
        if not self.n_rows:
            names = [str(path) for path, _, _ in found[:5]]
            raise ValueError(f"The files of {owner} have no rows: {names}. Check what wrote them.")

    def _opened(self, path: Path) -> tuple[int, Any]:
        """Number of rows and schema of a file."""
        try:
            with parquet.ParquetFile(path) as file:
                return int(file.metadata.num_rows), file.schema_arrow
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise ValueError(
                f"{str(path)!r}, one of the files of {self.owner}, is no readable Parquet file: "
                f"{error} Remove or repair it."
            ) from error

    @cached_property
    def columns(self) -> list[str]:
        """Columns of the first file; the others must have the same, in any order."""
        first = self._schemas[0].names
        for path, schema in zip(self.paths[1:], self._schemas[1:], strict=True):
            differ = sorted(set(first) ^ set(schema.names))
            if differ:
                raise ValueError(
                    f"The files of {self.owner} must have the same columns; {differ} are in only "
                    f"one of {str(self.paths[0])!r} and {str(path)!r}. Name the columns to use by "
                    "features=, or make the files alike."
                )
        return list(first)

    def types(self, columns: Sequence[str]) -> dict[str, Any]:
        """One type per column that serves all files."""
        return {name: self._shared_type(name) for name in columns}

    def _shared_type(self, name: str) -> Any:
        known: dict[Any, Path] = {}
        for path, schema in zip(self.paths, self._schemas, strict=True):
            if name not in schema.names:
                raise ValueError(
                    f"{self.owner} needs the column {name!r}, which {str(path)!r} lacks; it has "
                    f"{schema.names}. Correct the name, or leave the file out."
                )
            kind = schema.field(name).type
            if kind_of(kind) != "nothing":
                known.setdefault(kind.value_type if pa.types.is_dictionary(kind) else kind, path)
        if len(known) < 2:
            return next(iter(known), pa.float64())
        if all(pa.types.is_integer(kind) for kind in known):
            return pa.int64()
        if {kind_of(kind) for kind in known} == {"number"}:
            return pa.float64()
        if {kind_of(kind) for kind in known} == {"category"}:
            return pa.large_string()
        told = "; ".join(f"{kind} in {str(path)!r}" for kind, path in known.items())
        raise ValueError(
            f"The files of {self.owner} must agree on what the column {name!r} holds, and it is "
            f"{told}. Convert it to one type."
        )

    def batches(self, columns: Sequence[str], n_rows: int) -> Iterator[tuple[int, Any]]:
        """The rows of all files, in order."""
        schema = pa.schema(list(self.types(columns).items()))
        start, pending = 0, schema.empty_table()
        for path in self.paths:
            # Read as it is needed: buffering ahead would hold a whole file in memory.
            with parquet.ParquetFile(path, pre_buffer=False, buffer_size=_BUFFER) as file:
                for piece in file.iter_batches(n_rows, columns=schema.names, use_threads=False):
                    rows = pa.Table.from_batches([piece]).select(schema.names)
                    pending = pa.concat_tables([pending, rows.cast(schema)])  # copies nothing
                    if pending.num_rows >= n_rows:
                        yield start, pending.slice(0, n_rows)
                        start, pending = start + n_rows, pending.slice(n_rows)
        if pending.num_rows:
            yield start, pending

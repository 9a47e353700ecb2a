"""Write tables so that a file appears only when it is complete."""

from __future__ import annotations

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from costboost.tables.errors import TableError

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Writer", "check_output", "writer"]

_FORMATS = {
    ".csv": "csv", ".tsv": "tsv", ".txt": "csv", ".parquet": "parquet", ".pq": "parquet",
    ".arrow": "arrow", ".feather": "arrow", ".jsonl": "jsonl", ".ndjson": "jsonl",
}  # fmt: skip


class Writer:
    """Writes batches of rows to one file; made by `writer`.

    Parameters
    ----------
    file : binary file
        Where to write.
    kind : str
        The format: the ending of a file name.
    """

    def __init__(self, file: IO[bytes], kind: str) -> None:
        self._file = file
        self._kind = kind
        self._arrow: Any = None
        self._begun = False

    def write(self, frame: pl.DataFrame) -> None:
        """Append rows."""
        if self._kind in ("csv", "tsv"):
            frame.write_csv(
                self._file,
                include_header=not self._begun,
                separator="\t" if self._kind == "tsv" else ",",
            )
        elif self._kind == "jsonl":
            frame.write_ndjson(self._file)
        else:
            table = frame.to_arrow()
            if self._arrow is None:
                self._arrow = self._opened(table.schema)
            self._arrow.write_table(table.cast(self._arrow_schema))
        self._begun = True

    def _opened(self, schema: Any) -> Any:
        from importlib import import_module

        pa, pq = import_module("pyarrow"), import_module("pyarrow.parquet")

        self._arrow_schema = schema
        if self._kind == "parquet":
            return pq.ParquetWriter(self._file, schema)
        return pa.ipc.new_file(self._file, schema)

    def close(self) -> None:
        """Write what is left."""
        if self._arrow is not None:
            self._arrow.close()


def check_output(path: str | os.PathLike[str], kinds: bool = True) -> None:
    """Raise a `TableError` if a file cannot be written there, before any work is done.

    Parameters
    ----------
    path : str or path
        The file to write; ``"-"`` is the standard output.
    kinds : bool, default=True
        Whether its ending must be that of a table.
    """
    name = os.fspath(path)
    if name == "-":
        return
    target = Path(name)
    if not target.parent.is_dir():
        raise TableError(f"The folder {target.parent} of {name} does not exist. Make it first.")
    if target.is_dir():
        raise TableError(f"{name} is a folder. Name a file in it.")
    if kinds and target.suffix.lower() not in _FORMATS:
        raise TableError(
            f"The ending of {name} must say how to write it: {', '.join(sorted(_FORMATS))}."
        )


@contextmanager
def writer(path: str | os.PathLike[str]) -> Iterator[Writer]:
    """Open a table to write; the file appears when the block ends without an error.

    Parameters
    ----------
    path : str or path
        Its ending says the format; ``"-"`` writes CSV to the standard output.

    Yields
    ------
    Writer
        Takes batches of rows.
    """
    check_output(path)
    name = os.fspath(path)
    if name == "-":
        sys.stdout.flush()
        out = Writer(sys.stdout.buffer, "csv")
        yield out
        out.close()
        sys.stdout.buffer.flush()
        return
    target = Path(name)
    handle, temporary = tempfile.mkstemp(
        prefix=f".{target.name}.", suffix=".tmp", dir=target.parent
    )
    try:
        with os.fdopen(handle, "wb") as file:
            out = Writer(file, _FORMATS[target.suffix.lower()])
            yield out
            out.close()
        umask = os.umask(0)
        os.umask(umask)
        os.chmod(temporary, 0o666 & ~umask)
        os.replace(temporary, target)
    except BaseException:
        os.unlink(temporary)
        raise

"""Files of rows: which there are, how they were written, and a lazy polars frame of them."""

from __future__ import annotations

import atexit
import gzip
import os
import shutil
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from glob import glob, has_magic
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any, cast

from costboost.tables.errors import TableError, need
from costboost.tables.sniff import delimiter_of, encoding_of

if TYPE_CHECKING:
    import polars as pl

__all__ = ["Source", "open_source"]

_HEAD = 1 << 20
_ENDINGS = {
    "csv": "csv", "tsv": "csv", "txt": "csv", "tab": "csv", "dat": "csv",
    "parquet": "parquet", "pq": "parquet",
    "arrow": "arrow", "feather": "arrow", "ipc": "arrow",
    "jsonl": "jsonl", "ndjson": "jsonl", "json": "jsonl",
}  # fmt: skip
_SHOWN = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}


@dataclass(frozen=True)
class Source:
    """Files of one kind that are read as one table; made by `open_source`.

    Attributes
    ----------
    name : str
        What the user wrote.
    paths : tuple of Path
        The files.
    format : {"csv", "parquet", "arrow", "jsonl"}
        How they are written.
    delimiter, encoding : str
        Of text files; empty for others.
    size : int
        Bytes of the files, as they are on the disk.
    """

    name: str
    paths: tuple[Path, ...]
    format: str
    delimiter: str = ""
    encoding: str = ""
    size: int = 0

    @property
    def is_text(self) -> bool:
        """Whether every value is written as text, so that types must be found out."""
        return self.format == "csv"

    def in_words(self) -> str:
        """How the files were read, in one line."""
        files = "" if len(self.paths) == 1 else f"{len(self.paths)} files, "
        if not self.is_text:
            return (
                files + {"parquet": "Parquet", "arrow": "Arrow", "jsonl": "JSON lines"}[self.format]
            )
        encoding = {"utf-8-sig": "UTF-8", "utf-8": "UTF-8", "cp1252": "Windows-1252"}.get(
            self.encoding, self.encoding.upper()
        )
        return f"{files}CSV, delimiter {_SHOWN.get(self.delimiter, self.delimiter)}, {encoding}"

    def scan(self) -> pl.LazyFrame:
        """The rows as a lazy frame; every column of a CSV file is text."""
        import polars as pl

        parts = [self._scan_file(path) for path in self.paths]
        if len(parts) == 1:
            return parts[0]
        names = [part.collect_schema().names() for part in parts]
        for path, other in zip(self.paths, names, strict=True):
            odd = sorted(set(names[0]) ^ set(other))
            if odd:
                raise TableError(
                    f"{self.paths[0]} and {path} differ in the columns "
                    f"{', '.join(map(repr, odd[:8]))}. Files that are read together need the same "
                    "columns."
                )
        return pl.concat([part.select(names[0]) for part in parts], how="vertical_relaxed")

    def _scan_file(self, path: Path) -> pl.LazyFrame:
        import polars as pl

        if self.format == "parquet":
            return pl.scan_parquet(path)
        if self.format == "arrow":
            return pl.scan_ipc(path)
        if self.format == "jsonl":
            return pl.scan_ndjson(path, infer_schema_length=None)
        return pl.scan_csv(
            _as_utf8(path, self.encoding),
            separator=self.delimiter,
            infer_schema=False,
        )

    def columns(self) -> list[str]:
        """Names of the columns."""
        with reading(self.name):
            return self.scan().collect_schema().names()

    def read(self) -> pl.DataFrame:
        """All rows, in memory.

        Returns
        -------
        polars.DataFrame
            The rows.
        """
        with reading(self.name):
            frame = self.scan().collect()
        if not frame.height:
            raise TableError(
                f"{self.name} has column names but no rows: {', '.join(frame.columns[:12])}. "
                "Check that it is the right file."
            )
        return frame

    def batches(self, rows: int) -> Iterator[pl.DataFrame]:
        """The rows in their order, batch by batch.

        Parameters
        ----------
        rows : int
            Largest number of rows in a batch.

        Yields
        ------
        polars.DataFrame
            The next rows.
        """
        with reading(self.name):
            for frame in self.scan().collect_batches(chunk_size=rows, maintain_order=True):
                if frame.height:
                    yield frame


class reading:  # noqa: N801 (used like a function: with reading(name))
    """Turns what polars says of a bad file into a `TableError` that names the file."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __enter__(self) -> None:
        return None

    def __exit__(self, kind: Any, error: Any, trace: Any) -> None:
        if kind is None:
            return
        import polars as pl

        if issubclass(kind, pl.exceptions.NoDataError):
            raise TableError(f"{self.name} is empty. Check that it is the right file.") from error
        if issubclass(kind, pl.exceptions.PolarsError):
            first = str(error).strip().splitlines()[0]
            raise TableError(
                f"{self.name} cannot be read as a table: {first}. Check the file, or say how it "
                "is written with --delimiter and --encoding."
            ) from error


def open_source(
    spec: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    stdin: IO[bytes] | None = None,
) -> Source:
    r"""Find the files that a user means, and how they are written.

    Parameters
    ----------
    spec : str or path
        A file, a folder, a pattern such as ``"2026-*.csv"``, or ``"-"`` for the standard input.
    delimiter, encoding : str, optional
        How CSV files are written; detected by default.
    stdin : binary file, optional
        In place of the standard input.

    Returns
    -------
    Source
        The files.

    Raises
    ------
    TableError
        If there is no such file, or if it is empty.

    Examples
    --------
    >>> import pathlib, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = pathlib.Path(folder, "rows.csv")
    ...     _ = path.write_text("amount;fraud\n1,5;no\n20;yes\n")
    ...     source = open_source(path)
    ...     source.in_words(), source.columns()
    ('CSV, delimiter semicolon, UTF-8', ['amount', 'fraud'])
    """
    need("polars", "data", "Reading tables")
    name = os.fspath(spec)
    paths = (_spooled(stdin or sys.stdin.buffer),) if name == "-" else _found(name)
    name = "standard input" if name == "-" else name
    size = sum(path.stat().st_size for path in paths)
    if not size:
        raise TableError(f"{name} is empty. Check that it is the right file.")
    kinds = {path: _format(path) for path in paths}
    if len(set(kinds.values())) > 1:
        listed = ", ".join(f"{path.name} ({kind})" for path, kind in list(kinds.items())[:5])
        raise TableError(
            f"{name} has files of several kinds: {listed}. Name files of one kind, for example "
            "with a pattern such as 'folder/*.csv'."
        )
    kind = kinds[paths[0]]
    if kind != "csv":
        return Source(name, paths, kind, size=size)
    head = _head(paths[0], _HEAD)
    if not head.strip():
        raise TableError(f"{name} is empty. Check that it is the right file.")
    encoding = encoding or _encoding(paths[0], head)
    text = _decoded(head, encoding, name)
    delimiter = {"tab": "\t", "\\t": "\t"}.get(delimiter or "", delimiter)
    if delimiter is not None and len(delimiter) != 1:
        raise TableError(f"--delimiter must be one character or 'tab', got {delimiter!r}.")
    found = delimiter_of(text)
    if delimiter is not None and delimiter != found and delimiter not in text.partition("\n")[0]:
        raise TableError(
            f"{name} has no {_SHOWN.get(delimiter, repr(delimiter))} in its first line, so it is "
            f"not the delimiter. It looks like {_SHOWN[found]}: leave --delimiter out."
        )
    return Source(name, paths, kind, delimiter or found, encoding, size)


def _found(name: str) -> tuple[Path, ...]:
    path = Path(name)
    if path.is_dir():
        paths = sorted(p for p in path.iterdir() if _ending(p) in _ENDINGS)
        if not paths:
            raise TableError(f"The folder {name} has no CSV, Parquet, Arrow or JSON lines files.")
        return tuple(paths)
    if path.exists():
        return (path,)
    if has_magic(name):
        paths = sorted(Path(p) for p in glob(name, recursive=True) if Path(p).is_file())
        if not paths:
            raise TableError(f"No file matches {name}. Check the folder and the pattern.")
        return tuple(paths)
    folder = path.parent if path.parent.is_dir() else Path()
    from difflib import get_close_matches

    near = get_close_matches(path.name, [p.name for p in folder.iterdir()], n=1)
    hint = f" Did you mean {folder / near[0]}?" if near else ""
    raise TableError(f"There is no file {name}.{hint}")


def _ending(path: Path) -> str:
    name = path.name.lower()
    name = name.removesuffix(".gz").removesuffix(".zst")
    return name.rpartition(".")[2]


def _head(path: Path, size: int) -> bytes:
    with _opened(path) as file:
        return cast("bytes", file.read(size))


def _opened(path: Path) -> Any:
    return gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb")


def _format(path: Path) -> str:
    head = _head(path, 8)
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"ARROW1"):
        return "arrow"
    ending = _ENDINGS.get(_ending(path), "")
    if ending in ("parquet", "arrow") and head:
        raise TableError(
            f"{path} is named like a {ending.title()} file, but is not one. Export it again, or "
            "rename it."
        )
    return ending or ("jsonl" if head.lstrip().startswith(b"{") else "csv")


def _encoding(path: Path, head: bytes) -> str:
    found = encoding_of(head, is_whole=len(head) < _HEAD)
    if found != "utf-8" or len(head) < _HEAD:
        return found
    with _opened(path) as file:  # a letter with an accent may come late
        import codecs

        decoder = codecs.getincrementaldecoder("utf-8")()
        try:
            while block := file.read(_HEAD):
                decoder.decode(block)
        except UnicodeDecodeError:
            return "cp1252"
    return found


def _decoded(head: bytes, encoding: str, name: str) -> str:
    try:
        return head[: len(head) // 4 * 4].decode(encoding, errors="replace")
    except LookupError:
        raise TableError(
            f"--encoding must be one that Python knows, such as utf-8, cp1252 or utf-16, got "
            f"{encoding!r}. Leave it out to have it detected."
        ) from None


def _as_utf8(path: Path, encoding: str) -> Path:
    """The file itself if polars can read it, else a copy in UTF-8."""
    if encoding in ("utf-8", "utf-8-sig", "ascii"):
        return path
    return _converted(path, encoding)


@cache
def _converted(path: Path, encoding: str) -> Path:
    copy = _scratch() / f"{abs(hash(path))}.csv"
    with _opened(path) as raw, copy.open("w", encoding="utf-8", newline="") as out:
        import codecs

        reader = codecs.getreader(encoding)(raw, "strict")
        try:
            shutil.copyfileobj(reader, out)
        except UnicodeError as error:
            raise TableError(
                f"{path} is not written in {encoding}: {error}. Leave --encoding out to have it "
                "detected."
            ) from None
    return copy


def _spooled(stdin: IO[bytes]) -> Path:
    """The standard input as a file, so that it can be read twice."""
    handle, name = tempfile.mkstemp(dir=_scratch(), suffix="")
    with os.fdopen(handle, "wb") as file:
        shutil.copyfileobj(stdin, file)
    return Path(name)


@cache
def _scratch() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="costboost-"))
    atexit.register(shutil.rmtree, folder, ignore_errors=True)
    return folder

"""Files of rows: found, read as lazy polars frames, and written so that they appear only whole."""

from __future__ import annotations

import atexit
import codecs
import gzip
import os
import re
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from functools import cache
from glob import glob, has_magic
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from costboost._utils import replaced
from costboost.columns.inference import USUAL, Notation
from costboost.columns.table import TableError, nearest

if TYPE_CHECKING:
    import polars as pl

_HEAD = 1 << 20
_ENDINGS = {
    **dict.fromkeys(("csv", "tsv", "txt", "tab", "dat"), "csv"),
    **dict.fromkeys(("parquet", "pq"), "parquet"),
    **dict.fromkeys(("arrow", "feather", "ipc"), "arrow"),
    **dict.fromkeys(("jsonl", "ndjson", "json"), "jsonl"),
}
# Endings of tables that are written.
_WRITABLE = ("csv", "tsv", "txt", "parquet", "pq", "arrow", "feather", "jsonl", "ndjson")
WRITTEN = {f".{ending}": _ENDINGS[ending] for ending in _WRITABLE}
_DELIMITERS = {",": "comma", ";": "semicolon", "\t": "tab", "|": "vertical bar"}
_QUOTED = re.compile(r'(?:^|(?<=[,;\t|]))"(?:[^"]|"")*"', re.MULTILINE)
_BYTE_ORDER = {
    codecs.BOM_UTF8: "utf-8-sig", codecs.BOM_UTF16_LE: "utf-16", codecs.BOM_UTF16_BE: "utf-16",
}  # fmt: skip


def need(module: str, extra: str, what: str) -> None:
    """Raise an ImportError that names the install command if a package is missing.

    Parameters
    ----------
    module : str
        The package.
    extra : str
        The extra of costboost that installs it.
    what : str
        What needs it, for the message.
    """
    if find_spec(module) is None:
        raise ImportError(
            f'{what} needs {module}, which is not installed: pip install "costboost[{extra}]".'
        )


# --- reading -----------------------------------------------------------------------------------


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
    notation : Notation
        How the texts write numbers and missing values.
    """

    name: str
    paths: tuple[Path, ...]
    format: str
    delimiter: str = ""
    encoding: str = ""
    size: int = 0
    notation: Notation = USUAL

    @property
    def is_text(self) -> bool:
        """Whether every value is written as text, so that types must be found out."""
        return self.format == "csv"

    def in_words(self) -> str:
        """How the files were read, in one line."""
        files = "" if len(self.paths) == 1 else f"{len(self.paths)} files, "
        if not self.is_text:
            names = {"parquet": "Parquet", "arrow": "Arrow", "jsonl": "JSON lines"}
            return files + names[self.format]
        encoding = {"utf-8-sig": "UTF-8", "cp1252": "Windows-1252"}.get(self.encoding)
        delimiter = _DELIMITERS.get(self.delimiter, self.delimiter)
        return f"{files}CSV, delimiter {delimiter}, {encoding or self.encoding.upper()}"

    def scan(self) -> pl.LazyFrame:
        """The rows as a lazy frame; every column of a CSV file is text."""
        import polars as pl

        def scan_file(path: Path) -> pl.LazyFrame:
            if self.format == "parquet":
                return pl.scan_parquet(path)
            if self.format == "arrow":
                return pl.scan_ipc(path)
            if self.format == "jsonl":
                return pl.scan_ndjson(path, infer_schema_length=None)
            if self.encoding not in ("utf-8", "utf-8-sig", "ascii"):
                path = _as_utf8(path, self.encoding, path.stat().st_mtime_ns)
            missing = list(self.notation.na) or None
            return pl.scan_csv(
                path, separator=self.delimiter, infer_schema=False, null_values=missing
            )

        parts = [scan_file(path) for path in self.paths]
        if len(parts) == 1:
            return parts[0]
        names = [part.collect_schema().names() for part in parts]
        for path, other in zip(self.paths, names, strict=True):
            odd = sorted(set(names[0]) ^ set(other))
            if odd:
                raise TableError(
                    f"{self.paths[0]} and {path} differ in the columns "
                    f"{', '.join(map(repr, odd[:8]))}. Files that are read together must not."
                )
        return pl.concat([part.select(names[0]) for part in parts], how="vertical_relaxed")

    @property
    def first_row(self) -> int:
        """The number of the first row as a spreadsheet counts it: a header is row 1."""
        return 1 + int(self.is_text)

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
            raise TableError(f"{self.name} has column names but no rows. Is it the right file?")
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


@contextmanager
def reading(name: str) -> Iterator[None]:
    """Turn what polars says of a bad file into a `TableError` that names the file."""
    import polars as pl

    try:
        yield
    except pl.exceptions.NoDataError as error:
        raise TableError(f"{name} is empty. Is it the right file?") from error
    except pl.exceptions.PolarsError as error:
        first = str(error).strip().splitlines()[0]
        raise TableError(
            f"{name} cannot be read as a table: {first}. Check the file, or say how it is written "
            "with --separator and --encoding."
        ) from error


def open_source(
    spec: str | os.PathLike[str],
    *,
    delimiter: str | None = None,
    encoding: str | None = None,
    notation: Notation = USUAL,
) -> Source:
    r"""Find the files that a user means, and how they are written.

    Parameters
    ----------
    spec : str or path
        A file, a folder, a pattern such as ``"2026-*.csv"``, or ``"-"`` for the standard input.
    delimiter, encoding : str, optional
        How CSV files are written; detected by default.
    notation : Notation, optional
        How the texts of CSV files write numbers and missing values.

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
    need("polars", "cli", "Reading tables")
    name = os.fspath(spec)
    paths = (_spooled(sys.stdin.buffer),) if name == "-" else find_files(name)
    name = "standard input" if name == "-" else name
    size = sum(path.stat().st_size for path in paths)
    kinds = {path: _format(path) for path in paths}
    if len(set(kinds.values())) > 1:
        listed = ", ".join(f"{path.name} ({kind})" for path, kind in list(kinds.items())[:5])
        raise TableError(
            f"{name} has files of several kinds: {listed}. Name files of one kind: 'folder/*.csv'."
        )
    kind = kinds[paths[0]]
    head = _head(paths[0], _HEAD)
    if not size or (kind == "csv" and not head.strip()):
        raise TableError(f"{name} is empty. Is it the right file?")
    if kind != "csv":
        return Source(name, paths, kind, size=size)
    encoding = encoding or _encoding(paths[0])
    try:
        text = head[: len(head) // 4 * 4].decode(encoding, errors="replace")
    except LookupError:
        raise TableError(
            f"--encoding must be one that Python knows, such as utf-8 or cp1252, got {encoding!r}."
        ) from None
    delimiter = {"tab": "\t", "\\t": "\t"}.get(delimiter or "", delimiter)
    if delimiter is not None and len(delimiter) != 1:
        raise TableError(f"--separator must be one character or 'tab', got {delimiter!r}.")
    if "\r" in text and "\n" not in text:
        raise TableError(
            f"The lines of {name} end with a carriage return alone, as those of old Macintosh "
            "programs. Save it with line feeds; `tr '\\r' '\\n'` turns the one into the other."
        )
    source = Source(name, paths, kind, delimiter or delimiter_of(text), encoding, size, notation)
    # Nobody can say which of two columns of one name a cost or the target means. Columns without a
    # name, as spreadsheets leave them at the end, are meant by nobody.
    end = "_duplicated_0"  # how polars calls the second one
    twice = [one.removesuffix(end) for one in source.columns() if one.endswith(end)]
    shown = ", ".join(repr(one) for one in twice[:8] if one)
    if shown:
        raise TableError(f"{name} has more than one column named {shown}. Rename or remove them.")
    return source


def find_files(name: str) -> tuple[Path, ...]:
    """The files that a user means: one, those of a folder, or those of a pattern."""
    path = Path(name)
    if path.is_dir():
        paths = sorted(p for p in path.iterdir() if _ending(p) in _ENDINGS)
    elif path.exists():
        paths = [path]
    else:
        paths = sorted(Path(p) for p in glob(name, recursive=True) if Path(p).is_file())
    if paths:
        return tuple(paths)
    if path.is_dir() or has_magic(name):
        what = "CSV, Parquet, Arrow or JSON lines file" if path.is_dir() else "file"
        raise TableError(f"No {what} matches {name}. Check the folder and the pattern.")
    folder = path.parent if path.parent.is_dir() else Path()
    # Without their endings, which are alike in any folder of tables.
    tables = [file for file in folder.iterdir() if _ending(file) in _ENDINGS]
    stems = {file.name.partition(".")[0]: file for file in tables}
    near = nearest(path.name.partition(".")[0], stems, cutoff=0.75)
    hint = f" Did you mean {stems[near[0]]}?" if near else ""
    raise TableError(f"There is no file {name}.{hint}")


def _ending(path: Path) -> str:
    return path.name.lower().removesuffix(".gz").removesuffix(".zst").rpartition(".")[2]


def _opened(path: Path) -> Any:
    return gzip.open(path, "rb") if path.suffix.lower() == ".gz" else path.open("rb")


def _head(path: Path, size: int) -> bytes:
    with _opened(path) as file:
        return bytes(file.read(size))


def _format(path: Path) -> str:
    head = _head(path, 8)
    if head.startswith(b"PAR1"):
        return "parquet"
    if head.startswith(b"ARROW1"):
        return "arrow"
    ending = _ENDINGS.get(_ending(path), "")
    if ending in ("parquet", "arrow") and head:
        raise TableError(f"{path} is named like a {ending.title()} file, but is not one.")
    return ending or ("jsonl" if head.lstrip().startswith(b"{") else "csv")


def _encoding(path: Path) -> str:
    """By the byte order mark, else UTF-8 if the whole file is valid, else Windows-1252."""
    head = _head(path, 4)
    for mark, name in _BYTE_ORDER.items():
        if head.startswith(mark):
            return name
    decoder = codecs.getincrementaldecoder("utf-8")()
    with _opened(path) as file:  # a letter with an accent may come late
        try:
            while block := file.read(_HEAD):
                decoder.decode(block)
            decoder.decode(b"", final=True)
        except UnicodeDecodeError:
            return "cp1252"
    return "utf-8"


def delimiter_of(text: str) -> str:
    """The delimiter that cuts the lines into equally many pieces, the more the better."""
    lines = [line for line in _QUOTED.sub("", text).splitlines()[:200] if line.strip()]
    best, best_rank = ",", (0.0, 0)
    for delimiter in _DELIMITERS:
        widths = [line.count(delimiter) + 1 for line in lines] or [1]
        rank = (Counter(widths)[widths[0]] / len(widths), widths[0])
        if widths[0] > 1 and rank > best_rank:
            best, best_rank = delimiter, rank
    return best


@cache
def _as_utf8(path: Path, encoding: str, changed: int) -> Path:
    """A copy in UTF-8, which polars can read, of the file as it was when it was changed last."""
    copy = _scratch() / f"{abs(hash((path, encoding, changed)))}.csv"
    with _opened(path) as raw, copy.open("w", encoding="utf-8", newline="") as out:
        try:
            shutil.copyfileobj(codecs.getreader(encoding)(raw, "strict"), out)
        except UnicodeError as error:
            raise TableError(
                f"{path} is not written in {encoding}: {error}. Leave --encoding out."
            ) from None
    return copy


def _spooled(stdin: IO[bytes]) -> Path:
    """The standard input as a file, so that it can be read twice."""
    with tempfile.NamedTemporaryFile(dir=_scratch(), delete=False) as file:
        shutil.copyfileobj(stdin, file)
    return Path(file.name)


@cache
def _scratch() -> Path:
    folder = Path(tempfile.mkdtemp(prefix="costboost-"))
    atexit.register(_remove, folder, os.getpid())
    return folder


def _remove(folder: Path, owner: int) -> None:
    if os.getpid() == owner:  # and no process that was forked
        shutil.rmtree(folder, ignore_errors=True)


# --- writing -----------------------------------------------------------------------------------


# What a spreadsheet runs; negative numbers are none.
_FORMULA = r"(?s)^(?:[=@\t\r].*|[+-].*[^\d.,eE+-].*)$"
_CONTROL = r"[\p{Cc}--[\n\t]]"


def _changed(frame: pl.DataFrame, pattern: str, new: str) -> pl.DataFrame:
    """The frame with a pattern replaced in texts and names of columns."""
    import polars as pl

    texts = pl.col(pl.String, pl.Categorical, pl.Enum).cast(pl.String)
    frame = frame.with_columns(texts.str.replace_all(pattern, new))
    names = pl.Series(frame.columns, dtype=pl.String).str.replace_all(pattern, new)
    return frame.rename(dict(zip(frame.columns, names, strict=True)))


@contextmanager
def writer(
    path: str | os.PathLike[str],
    like: Source | None = None,
    *,
    decimal_comma: bool = False,
    safe_cells: bool = False,
) -> Iterator[Callable[[pl.DataFrame], None]]:
    """Open a table to write; the file appears when the block ends without an error.

    Parameters
    ----------
    path : str or path
        Its ending says the format; ``"-"`` writes CSV to the standard output.
    like : Source, optional
        Text is written as in these files: delimiter and encoding.
    decimal_comma : bool, default=False
        Whether numbers have a decimal comma in text.
    safe_cells : bool, default=False
        Whether text that a spreadsheet would take for a formula begins with an apostrophe.

    Yields
    ------
    function of a polars.DataFrame
        Writes a batch of rows.
    """
    is_output = os.fspath(path) == "-"
    ending = ".csv" if is_output else Path(path).suffix.lower()
    kind = WRITTEN[ending]
    text = like if like is not None and like.is_text else Source("", (), "csv", ",", "utf-8")
    encoder = codecs.getincrementalencoder(text.encoding)()
    separator = "\t" if ending == ".tsv" else text.delimiter
    arrow: Any = None
    schema: Any = None
    is_first = True

    def write(frame: pl.DataFrame) -> None:
        nonlocal arrow, schema, is_first
        if safe_cells:
            frame = _changed(frame, _FORMULA, "'${0}")
        if file.isatty():  # a terminal would obey escape sequences
            frame = _changed(frame, _CONTROL, "?")
        if kind == "csv":
            lines = frame.write_csv(
                include_header=is_first, separator=separator, decimal_comma=decimal_comma
            )
            try:
                file.write(encoder.encode(lines))
            except UnicodeEncodeError as error:
                raise TableError(
                    f"{lines[error.start]!r} cannot be written in {error.encoding}, the encoding "
                    "of the rows that were read. Name an output that ends with .parquet or .jsonl."
                ) from error
        elif kind == "jsonl":
            frame.write_ndjson(file)
        else:
            table = frame.to_arrow()
            if arrow is None:
                pyarrow = import_module("pyarrow.parquet" if kind == "parquet" else "pyarrow.ipc")
                make = pyarrow.ParquetWriter if kind == "parquet" else pyarrow.new_file
                schema = table.schema
                arrow = make(file, schema)
            arrow.write_table(table.cast(schema))
        is_first = False

    with nullcontext(sys.stdout.buffer) if is_output else replaced(Path(path)) as file:
        sys.stdout.flush()
        try:
            yield write
        finally:  # pyarrow complains if the file is closed first
            if arrow is not None:
                arrow.close()
        file.flush()

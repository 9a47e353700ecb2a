"""Tables (Arrow, Parquet, CSV) are unpacked in a process apart, with bounds on memory and time.

A few bytes of a compressed table may unfold to gigabytes, and say nothing of it before. The process
that unpacks them may take so much memory and no more; if it ends, another one takes its place.
"""

from __future__ import annotations

import atexit
import io
import multiprocessing
import signal
from collections.abc import Iterator
from multiprocessing.connection import Connection
from typing import Any

import pyarrow as pa  # type: ignore[import-untyped]

ARROW = ("application/vnd.apache.arrow.stream", "application/vnd.apache.arrow.file")
PARQUET = ("application/vnd.apache.parquet", "application/x-parquet")
CSV = ("text/csv",)
TABLES = (*ARROW, *PARQUET, *CSV)

# Memory for unpacking a table: a multiple of the limit on bodies, and at least so many bytes.
_UNFOLDING, _LEAST = 20, 64 * 2**20
_REFUSED = b"!"  # no Arrow stream begins so
_START = 60.0  # seconds that a new process may take to import what it needs


class RequestError(Exception):
    """A request that cannot be answered; the message goes to the client."""

    def __init__(self, status: int, message: str, field: str | None = None, **headers: str) -> None:
        super().__init__(message)
        self.status, self.field, self.headers = status, field, headers


def too_many(max_rows: int, field: str = "rows") -> RequestError:
    """The error for a request with too many rows."""
    message = f"A request may have at most {max_rows} rows. Send several requests."
    return RequestError(413, message, field)


class Unpacker:
    """The process that unpacks the tables of one thread; started when the first one comes."""

    def __init__(self, max_rows: int, max_bytes: int) -> None:
        self._limits = max_rows, max(max_bytes * _UNFOLDING, _LEAST)
        self._pipe: Connection | None = None
        self._process: Any = None

    def __call__(self, body: bytes, kind: str, seconds: float) -> pa.Table:
        """The table, with texts as dictionaries."""
        if self._pipe is None:
            self._start()
        assert self._pipe is not None
        try:
            self._pipe.send_bytes(kind.encode())
            self._pipe.send_bytes(body)
            if not self._pipe.poll(seconds):
                raise TimeoutError
            answer = self._pipe.recv_bytes()
        except BaseException as error:
            self.close()
            if not isinstance(error, EOFError | OSError) or isinstance(error, TimeoutError):
                raise
            raise RequestError(400, "The body cannot be read as a table.") from None
        if answer.startswith(_REFUSED):
            status, _, message = answer[len(_REFUSED) :].decode().partition(" ")
            raise RequestError(int(status), message, "rows" if "rows" in message else None)
        return pa.ipc.open_stream(answer).read_all()

    def _start(self) -> None:
        spawn = multiprocessing.get_context("spawn")
        self._pipe, other = spawn.Pipe()
        self._process = spawn.Process(target=_unpack, args=(other, *self._limits), daemon=True)
        self._process.start()
        other.close()
        atexit.register(self.close)
        if not self._pipe.poll(_START):
            self.close()
            raise TimeoutError
        self._pipe.recv_bytes()

    def close(self) -> None:
        """End the process."""
        if self._pipe is not None:
            atexit.unregister(self.close)
            self._pipe.close()
            self._process.kill()
            self._process.join()
            self._pipe = None


# -- in the other process -----------------------------------------------------------------------


def _unpack(pipe: Connection, max_rows: int, max_bytes: int) -> None:
    """Answer until the pipe is closed, which the end of the service does too."""
    for each in (signal.SIGINT, signal.SIGTERM):  # meant for the service, which may still drain
        signal.signal(each, signal.SIG_IGN)
    _bound_memory(max_bytes)
    pipe.send_bytes(b"ready")
    while True:
        try:
            kind, body = pipe.recv_bytes().decode(), pipe.recv_bytes()
        except EOFError:
            return
        pipe.send_bytes(_answer(body, kind, max_rows, max_bytes))


def _bound_memory(max_bytes: int) -> None:
    """Let allocations fail that go beyond what the process has now and so many bytes."""
    pa.set_memory_pool(pa.system_memory_pool())  # the others reserve addresses in advance
    try:
        import resource

        with open("/proc/self/statm") as file:
            pages = int(file.read().split()[0])
        most = pages * resource.getpagesize() + max_bytes
        resource.setrlimit(resource.RLIMIT_AS, (most, most))
    except (ImportError, OSError):  # not on Linux: only what tables say of themselves is checked
        return


def _answer(body: bytes, kind: str, max_rows: int, max_bytes: int) -> bytes:
    """The table as an Arrow stream, or what is wrong with it."""
    too_large = RequestError(413, f"A table may expand to at most {max_bytes} bytes. Send several.")
    try:
        batches, n = [], 0
        for batch in _batches(body, kind, max_bytes):
            n += batch.num_rows
            if n > max_rows:
                raise too_many(max_rows)
            batch.validate(full=True)  # offsets and indices within their buffers
            batches.append(batch)
        if not n:
            raise RequestError(422, "The table has no rows.")
        table = pa.Table.from_batches(batches)
        for place, field in enumerate(table.schema):
            if pa.types.is_string(field.type) or pa.types.is_large_string(field.type):
                codes = table.column(place).dictionary_encode()
                table = table.set_column(place, field.name, codes)
        sink = pa.BufferOutputStream()
        with pa.ipc.new_stream(sink, table.schema) as writer:
            writer.write_table(table.unify_dictionaries())
        return bytes(sink.getvalue().to_pybytes())
    except RequestError as error:
        found = error
    except (MemoryError, pa.ArrowMemoryError):
        found = too_large
    except (pa.ArrowException, OSError, ValueError, OverflowError) as error:
        message = f"The body cannot be read as a table ({type(error).__name__})."
        found = RequestError(400, message)
    return _REFUSED + f"{found.status} {found}".encode()


def _batches(body: bytes, kind: str, max_bytes: int) -> Iterator[pa.RecordBatch]:
    if kind in PARQUET:
        return _parquet(body, max_bytes)
    return _csv(body) if kind in CSV else _arrow(body, kind)


def _csv(body: bytes) -> Iterator[pa.RecordBatch]:
    """Cells as they are written: what they mean is known to the columns of the model."""
    from pyarrow import csv

    head = body.partition(b"\n")[0]
    delimiter = max(",;\t|", key=lambda sign: head.count(sign.encode()))
    form = csv.ParseOptions(delimiter=delimiter, newlines_in_values=True)
    plain = csv.ReadOptions(use_threads=False)
    names = csv.open_csv(io.BytesIO(body), plain, form).schema.names
    texts = csv.ConvertOptions(column_types=dict.fromkeys(names, pa.string()), null_values=[])
    yield from csv.read_csv(io.BytesIO(body), plain, form, texts).to_batches()


def _arrow(body: bytes, kind: str) -> Iterator[pa.RecordBatch]:
    source = pa.BufferReader(body)
    if kind == ARROW[0]:
        yield from pa.ipc.open_stream(source)
    else:
        reader = pa.ipc.open_file(source)
        yield from map(reader.get_batch, range(reader.num_record_batches))


def _parquet(body: bytes, max_bytes: int) -> Iterator[pa.RecordBatch]:
    """Texts stay dictionaries, so that repeated ones take no memory."""
    import pyarrow.parquet as pq  # type: ignore[import-untyped]

    file = pq.ParquetFile(io.BytesIO(body))
    about = file.metadata
    if sum(about.row_group(g).total_byte_size for g in range(about.num_row_groups)) > max_bytes:
        raise MemoryError
    texts = [
        field.name
        for field in file.schema_arrow
        if pa.types.is_string(field.type) or pa.types.is_large_string(field.type)
    ]
    file = pq.ParquetFile(io.BytesIO(body), read_dictionary=texts, pre_buffer=False)
    yield from file.iter_batches(use_threads=False)

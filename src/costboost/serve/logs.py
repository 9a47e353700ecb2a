"""What the service writes down: its own log, a line per request, and a line per decision."""

from __future__ import annotations

import json
import logging
import os
import threading
import time
from collections import Counter
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path

try:
    import fcntl
except ImportError:  # on Windows, where there is one process only
    fcntl = None  # type: ignore[assignment]

_LINES = 10  # of one kind, each minute
_OLDER = 4  # files of an audit log that are kept beside the current one


def stamp(seconds: float) -> str:
    """A time as logs have it, in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


class Sparse(logging.Filter):
    """A few lines a minute of each kind, whatever clients do."""

    def __init__(self) -> None:
        super().__init__()
        self._minute, self._lines = 0, Counter[tuple[str, int]]()

    def filter(self, record: logging.LogRecord) -> bool:
        """Whether to write a line; one kind comes from one place in the code."""
        minute = int(record.created // 60)
        if minute != self._minute:
            self._minute, self._lines = minute, Counter()
        place = record.pathname, record.lineno
        self._lines[place] += 1
        if self._lines[place] == _LINES:
            record.msg = f"{record.msg} (Further lines like this are left out for a minute.)"
        return self._lines[place] <= _LINES


class JsonFormatter(logging.Formatter):
    """A line of the log as an object."""

    def format(self, record: logging.LogRecord) -> str:
        """Time, level and message; of a failed request also its id and the traceback."""
        found = {"time": stamp(record.created), "level": record.levelname}
        found["message"] = record.getMessage()
        if record.exc_info:
            found["traceback"] = self.formatException(record.exc_info)
        if hasattr(record, "request"):
            found["request"] = record.request
        return json.dumps(found)


def write_log(as_json: bool) -> None:
    """Write the log to the standard error."""
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
    for handler in logging.getLogger().handlers:
        handler.addFilter(Sparse())
        if as_json:
            handler.setFormatter(JsonFormatter())


class AuditLog:
    """A file of lines that several processes append to; it and its predecessors are bounded."""

    def __init__(self, path: Path, max_bytes: int) -> None:
        self.path, self._max_bytes = path, max_bytes
        self._lock, self._file, self._looked = threading.Lock(), self._opened(), 0.0

    def _opened(self) -> int:
        return os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def _is_current(self) -> bool:
        """Whether the open file has not been renamed, by another process or by logrotate."""
        with suppress(FileNotFoundError):
            return os.path.samestat(os.stat(self.path), os.fstat(self._file))
        return False

    def write(self, lines: bytes) -> None:
        """Append lines, all of them or none that anybody would read."""
        with self._lock:
            now = time.monotonic()
            if now - self._looked > 1.0:  # a look takes as long as a line
                self._looked = now
                if not self._is_current():
                    self._reopen()
            if 0 < os.fstat(self._file).st_size > self._max_bytes - len(lines):
                self._rename()
            # One call, so that lines of several processes do not mix.
            if os.write(self._file, lines) < len(lines):
                raise OSError("The disk is full.")

    def _reopen(self) -> None:
        os.close(self._file)
        self._file = self._opened()

    def _rename(self) -> None:
        """Make room: audit.jsonl becomes audit.1.jsonl, that one audit.2.jsonl, ..."""
        older = [self.path.with_stem(f"{self.path.stem}.{k}") for k in range(1, _OLDER + 1)]
        if fcntl is not None:  # no other process renames it until this one has closed it
            fcntl.flock(self._file, fcntl.LOCK_EX)
        try:
            if self._is_current():
                for new, old in zip(older[::-1], [*older[-2::-1], self.path], strict=True):
                    with suppress(FileNotFoundError):
                        old.replace(new)
        finally:
            self._reopen()

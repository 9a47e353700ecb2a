"""What the service writes down: its own log, a line per request, and a line per decision."""

from __future__ import annotations

import os
import threading
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path


def stamp(seconds: float) -> str:
    """A time as logs have it, in UTC."""
    return datetime.fromtimestamp(seconds, UTC).isoformat(timespec="milliseconds")


class AuditLog:
    """A file of lines that several processes append to; logrotate may take it away."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock, self._file = threading.Lock(), self._opened()

    def _opened(self) -> int:
        return os.open(self.path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)

    def _is_current(self) -> bool:
        """Whether the open file has not been renamed."""
        with suppress(FileNotFoundError):
            return os.path.samestat(os.stat(self.path), os.fstat(self._file))
        return False

    def write(self, lines: bytes) -> None:
        """Append lines, all of them or none that anybody would read."""
        with self._lock:
            if not self._is_current():
                os.close(self._file)
                self._file = self._opened()
            # One call, so that lines of several processes do not mix.
            if os.write(self._file, lines) < len(lines):
                raise OSError("The disk is full.")

"""The audit log: a line of JSON per decision."""

from __future__ import annotations

import json
import logging
import logging.handlers
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

from pydantic import BaseModel

log = logging.getLogger("costboost.audit")


class JsonFormatter(logging.Formatter):
    """A record of the audit log as an object."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the time and the fields of the record."""
        time = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds")
        return json.dumps({"time": time, **record.__dict__["decided"]}, ensure_ascii=False)


class StrictFileHandler(logging.handlers.WatchedFileHandler):
    """A file whose failures are errors: no decision without its line."""

    def handleError(self, record: logging.LogRecord) -> None:  # noqa: N802
        """Raise the error that is being handled."""
        raise


def open_audit_log(path: Path) -> None:
    """Append to a file that only its owner reads; logrotate may move it."""
    path.touch(mode=0o600)
    handler = StrictFileHandler(path, encoding="utf-8")
    handler.setFormatter(JsonFormatter())
    log.handlers = [handler]
    log.setLevel(logging.INFO)
    log.propagate = False


def write_lines(
    rows: Sequence[BaseModel], records: Sequence[BaseModel] | None, **shared: str
) -> None:
    """Write a line for each decided row; with its cells, if there are records."""
    for number, row in enumerate(rows):
        decided = {**shared, "row": number, **row.model_dump(exclude_unset=True)}
        if records is not None:
            decided["record"] = records[number].model_dump(by_alias=True)
        log.info("decided", extra={"decided": decided})

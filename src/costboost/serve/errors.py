"""What a request can do wrong."""

from __future__ import annotations

from typing import Any

__all__ = ["RequestError"]


class RequestError(Exception):
    """A request that cannot be answered; the message goes to the client."""

    def __init__(self, status: int, message: str, field: str | None = None) -> None:
        super().__init__(message)
        self.status = status
        self.message = message
        self.field = field

    def content(self) -> dict[str, Any]:
        """The body of the answer."""
        return {"error": {"field": self.field, "message": self.message}}

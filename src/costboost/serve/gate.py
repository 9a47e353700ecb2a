"""What every request passes: host, token, headers, counting, and no trace in an answer."""

from __future__ import annotations

import hmac
import logging
import time
from typing import Any

from pydantic_core import to_json
from starlette.requests import Request

from costboost.serve.errors import RequestError
from costboost.serve.metrics import Metrics
from costboost.serve.service import Current
from costboost.serve.settings import Settings

__all__ = ["Gate"]

log = logging.getLogger("costboost.serve")

# Open to all: they tell nothing about the model.
_OPEN = frozenset({"/", "/health", "/ready"})
_PATHS = frozenset({*_OPEN, "/decide", "/schema", "/metrics", "/docs", "/openapi.json"})
_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
]


class Gate:
    """The outermost layer of the service, in plain ASGI because it meets every request."""

    def __init__(
        self, app: Any, settings: Settings, current: Current, metrics: Metrics, decide: Any
    ) -> None:
        self.app = app
        self.decide = decide
        self.current = current
        self.metrics = metrics
        self._hosts = frozenset(name.lower().encode() for name in settings.hosts)
        token = settings.token
        self._token = None if token is None else b"bearer " + token.encode()

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        begin = time.perf_counter()
        path = scope["path"]
        status = 0

        async def counted(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = [*message.get("headers", ()), *_HEADERS]
                if self.current.is_draining:
                    headers.append((b"connection", b"close"))
                message = {**message, "headers": headers}
            await send(message)

        try:
            try:
                self._check(scope, path)
            except RequestError as error:
                await _answer(error, counted)
            else:
                if path == "/decide" and scope["method"] == "POST":
                    answer = await self.decide(Request(scope, receive))
                    await answer(scope, receive, counted)
                else:
                    await self.app(scope, receive, counted)
        except Exception:
            log.exception("A request to %s failed.", path if path in _PATHS else "another path")
            if not status:
                await _answer(RequestError(500, "The service failed; its log says why."), counted)
        finally:
            seconds = time.perf_counter() - begin
            self.metrics.request(path if path in _PATHS else "other", status or 499, seconds)

    def _check(self, scope: Any, path: str) -> None:
        """Refuse foreign host names and wrong tokens."""
        if self._token is None and not self._hosts:
            return
        headers = dict(scope["headers"])
        if self._hosts:
            host = headers.get(b"host", b"").lower()
            name = host if host.endswith(b"]") else host.rpartition(b":")[0] or host
            if name not in self._hosts:
                raise RequestError(
                    421, "The service does not answer under this host name. Start it with "
                    "--allow-host NAME to allow one.", "Host",
                )  # fmt: skip
        if self._token is not None and path not in _OPEN:
            kind, _, value = headers.get(b"authorization", b"").partition(b" ")
            given = kind.lower() + b" " + value.strip()
            if not hmac.compare_digest(given, self._token):
                raise RequestError(
                    401, "Send the bearer token: Authorization: Bearer TOKEN.", "Authorization"
                )


async def _answer(error: RequestError, send: Any) -> None:
    """Send an error without any framework."""
    body = to_json(error.content())
    headers = [
        (b"content-type", b"application/json"),
        (b"content-length", str(len(body)).encode()),
    ]
    if error.status == 401:
        headers.append((b"www-authenticate", b"Bearer"))
    await send({"type": "http.response.start", "status": error.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})

"""What every request passes: the token, the limit of its body, and what is counted of it."""

from __future__ import annotations

import hmac
import time

from starlette.datastructures import Headers
from starlette.exceptions import HTTPException
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from costboost.serve import metrics

# Probes have no token; these paths tell nothing of the model but the start of its SHA-256.
OPEN_PATHS = frozenset({"/health", "/ready"})


class Gate:
    """Refuse requests without the token before their body is read, and bodies that are too large.

    Parameters
    ----------
    app : ASGI application
        What answers.
    token : str or None
        The bearer token.
    max_bytes : int
        Largest body.
    """

    def __init__(self, app: ASGIApp, token: str | None, max_bytes: int) -> None:
        self.app = app
        self.token = token
        self.max_bytes = max_bytes

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start = time.perf_counter()
        status = 500
        size = 0

        async def limited() -> Message:
            nonlocal size
            message = await receive()
            size += len(message.get("body", b""))
            if size > self.max_bytes:
                raise HTTPException(413, f"A body may have at most {self.max_bytes} bytes.")
            return message

        async def observed(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
            await send(message)

        try:
            if self._is_allowed(scope):
                await self.app(scope, limited, observed)
            else:
                detail = "Send the bearer token: Authorization: Bearer TOKEN."
                headers = {"www-authenticate": "Bearer"}
                refusal = JSONResponse({"detail": detail}, 401, headers)
                await refusal(scope, receive, observed)
        finally:
            # Only paths of the service have a label, or anybody could make new ones.
            path = getattr(scope.get("route"), "path", "other")
            metrics.requests.labels(path, str(status)).inc()
            metrics.request_seconds.labels(path).observe(time.perf_counter() - start)

    def _is_allowed(self, scope: Scope) -> bool:
        """Check the token, in a time that says nothing of it."""
        if self.token is None or scope["path"] in OPEN_PATHS:
            return True
        headers = Headers(scope=scope).getlist("authorization")
        # A proxy may check the first of two headers, and the service the second.
        if len(headers) != 1:
            return False
        scheme, _, token = headers[0].partition(" ")
        is_equal = hmac.compare_digest(token.strip().encode(), self.token.encode())
        return scheme.lower() == "bearer" and is_equal

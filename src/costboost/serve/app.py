"""The service as a FastAPI application."""

from __future__ import annotations

import asyncio
import logging
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import version
from typing import Any

from fastapi import FastAPI, Request
from fastapi.openapi.utils import get_openapi
from fastapi.responses import HTMLResponse, Response
from pydantic_core import to_json
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from costboost.serve.answers import as_arrow, as_json
from costboost.serve.errors import RequestError
from costboost.serve.gate import Gate
from costboost.serve.metrics import CONTENT_TYPE, Metrics
from costboost.serve.page import POLICY, docs_page, start_page
from costboost.serve.requests import Query, parse_json, read_json
from costboost.serve.schema import operations, record_schema
from costboost.serve.service import Current, Service
from costboost.serve.settings import Settings
from costboost.serve.tables import ARROW, PARQUET, read_table

__all__ = ["create_app"]

log = logging.getLogger("costboost.serve")

# Bodies up to this size are decided without a thread: changing threads takes longer.
_SMALL = 4096
# Requests that may wait for a thread.
_QUEUE = 64
_JSON = "application/json"


def create_app(settings: Settings, load: Callable[[], Service]) -> FastAPI:
    """Make the application."""
    current, metrics = Current(load(), load), Metrics()
    metrics.loaded.set(current.service.loaded_at)
    desk = _Desk(settings, current, metrics)
    app = FastAPI(
        title="costboost",
        summary="Decisions of least expected cost.",
        version=version("costboost"),
        docs_url=None,
        redoc_url=None,
    )
    app.state.current, app.state.metrics = current, metrics
    app.state.reload = desk.reload

    # The gate calls it directly; the route is for other methods, which are refused.
    app.add_route("/decide", desk.decide, methods=["POST"], include_in_schema=False)

    @app.get("/health", summary="Is the process alive?", tags=["operation"])
    async def health() -> dict[str, str]:
        """Always 200 while the process can answer."""
        return {"status": "ok"}

    @app.get(
        "/ready", summary="May requests be sent?", tags=["operation"],
        responses={503: {"description": "The service is stopping."}},
    )  # fmt: skip
    async def ready() -> Response:
        """503 from SIGTERM on: send new requests elsewhere."""
        if current.is_draining:
            return _json({"status": "draining"}, 503)
        return _json({"status": "ready", "model": current.service.fingerprint})

    @app.get("/schema", summary="The columns of the model", tags=["decisions"])
    async def schema() -> Response:
        """A JSON Schema of one row; ``x-costboost`` has classes, decisions and costs."""
        limits = {"max_rows": settings.max_rows, "max_bytes": settings.max_bytes}
        found = record_schema(current.service)
        found["x-costboost"] = {**found["x-costboost"], **limits}
        return _json(found, media_type="application/schema+json")

    @app.get("/metrics", summary="Counters for Prometheus", tags=["operation"])
    async def count() -> Response:
        """Requests, latency, decisions and expected cost, of all workers together."""
        return Response(metrics.text(), headers={"content-type": CONTENT_TYPE})

    @app.get("/", include_in_schema=False)
    async def page() -> HTMLResponse:
        return HTMLResponse(start_page(), headers={"content-security-policy": POLICY})

    @app.get("/docs", include_in_schema=False)
    async def docs() -> HTMLResponse:
        found = docs_page(app.openapi())
        return HTMLResponse(found, headers={"content-security-policy": POLICY})

    @app.exception_handler(HTTPException)
    async def refused(_: Request, error: HTTPException) -> Response:
        found = RequestError(error.status_code, str(error.detail))
        answer = _json(found.content(), error.status_code)
        answer.headers.update(error.headers or {})
        return answer

    app.openapi = lambda: _openapi(app, current.service, settings)  # type: ignore[method-assign]
    app.add_middleware(
        Gate, settings=settings, current=current, metrics=metrics, decide=desk.decide
    )
    return app


def _openapi(app: FastAPI, service: Service, settings: Settings) -> dict[str, Any]:
    """The OpenAPI document, with the schemas of the model that answers now."""
    found = get_openapi(
        title=app.title,
        version=app.version,
        summary=app.summary,
        routes=app.routes,
    )
    found["paths"] = {**operations(service, settings.max_rows), **found["paths"]}
    if settings.token is not None:
        scheme = {"type": "http", "scheme": "bearer"}
        found.setdefault("components", {})["securitySchemes"] = {"token": scheme}
        found["security"] = [{"token": []}]
    return found


def _json(content: Any, status: int = 200, media_type: str = _JSON) -> Response:
    return Response(to_json(content), status, media_type=media_type)


class _Desk:
    """Reads requests, has them decided, and writes the answers."""

    def __init__(self, settings: Settings, current: Current, metrics: Metrics) -> None:
        self.settings = settings
        self.current = current
        self.metrics = metrics
        self._threads = ThreadPoolExecutor(settings.threads, thread_name_prefix="decide")
        self._waiting = 0

    # -- reload ---------------------------------------------------------------------------------

    async def reload(self) -> bool:
        """Load the model file again; the old model answers until the new one is ready."""
        try:
            service = await asyncio.to_thread(self.current.reload)
        except Exception as error:
            self.metrics.reloads.labels("failed").inc()
            log.error("The model was not reloaded, the old one stays: %s", error)
            return False
        self.metrics.reloads.labels("done").inc()
        self.metrics.loaded.set(service.loaded_at)
        log.info("Process %d answers with model %s.", os.getpid(), service.fingerprint)
        return True

    # -- decide ---------------------------------------------------------------------------------

    async def decide(self, request: Request) -> Response:
        """Answer ``POST /decide``."""
        headers = dict(request.scope["headers"])
        body = None
        try:
            async with asyncio.timeout(self.settings.seconds):
                kind = _content_type(headers)
                body = await self._body(request, headers)
                content, media_type = await self._answer(request, headers, kind, body)
        except RequestError as error:
            return _json(error.content(), error.status)
        except TimeoutError:
            seconds = f"{self.settings.seconds:g} s"
            late = (
                RequestError(408, f"The body did not arrive within {seconds}.")
                if body is None
                else RequestError(503, f"The answer took longer than {seconds}. Send fewer rows.")
            )
            return _json(late.content(), late.status)
        except ClientDisconnect:
            return Response(status_code=400)
        return Response(content, media_type=media_type)

    async def _body(self, request: Request, headers: dict[bytes, bytes]) -> bytes:
        """The body, read no further than allowed."""
        limit = self.settings.max_bytes
        announced = headers.get(b"content-length", b"")
        parts, size = [], int(announced) if announced.isdigit() else 0
        if size <= limit:
            size = 0
            async for part in request.stream():
                size += len(part)
                if size > limit:
                    break
                parts.append(part)
        if size > limit:
            raise RequestError(
                413, f"A body may have at most {limit} bytes. Send several requests."
            )
        return parts[0] if len(parts) == 1 else b"".join(parts)

    async def _answer(
        self, request: Request, headers: dict[bytes, bytes], kind: str, body: bytes
    ) -> tuple[bytes, str]:
        service = self.current.service  # one model for the whole request
        wants_arrow = ARROW[0].encode() in headers.get(b"accept", b"")
        if kind != _JSON:
            options = dict(request.query_params)
            return await self._in_thread(
                lambda: self._finish(service, self._table(service, body, kind, options),
                                     wants_arrow)
            )  # fmt: skip
        if len(body) > _SMALL:
            return await self._in_thread(
                lambda: self._finish(service, self._read(service, parse_json(body)), wants_arrow)
            )
        query = self._read(service, parse_json(body))
        if query.explain or query.capacity is not None:
            return await self._in_thread(lambda: self._finish(service, query, wants_arrow))
        return self._finish(service, query, wants_arrow)

    def _read(self, service: Service, document: dict[str, Any]) -> Query:
        return read_json(document, service.columns, service.prices, self.settings.max_rows)

    def _table(self, service: Service, body: bytes, kind: str, options: dict[str, str]) -> Query:
        for name in options:
            if name not in ("explain", "capacity", "per"):
                raise RequestError(422, f"Unknown parameter {name[:100]!r}.", name[:100])
        limits = self.settings.max_rows, self.settings.max_bytes
        return read_table(body, kind, options, service.columns, service.prices, *limits)

    def _finish(self, service: Service, query: Query, wants_arrow: bool) -> tuple[bytes, str]:
        """Decide, count and write; in whatever thread this is."""
        try:
            answer = service.answer(query)
        except (ValueError, TypeError) as error:  # rules of the model, of costs and of limits
            field = "capacity" if "'capacity'" in str(error) else None
            raise RequestError(422, str(error)[:1000], field) from None
        self.metrics.answer(answer, service.labels)
        if wants_arrow:
            return as_arrow(answer, service.scorer, service.fingerprint), ARROW[0]
        return as_json(answer, service.scorer, query.table, service.fingerprint), _JSON

    async def _in_thread(self, work: Callable[[], tuple[bytes, str]]) -> tuple[bytes, str]:
        if self._waiting >= _QUEUE:
            raise RequestError(503, "The service is busy. Try again in a moment.")
        loop = asyncio.get_running_loop()
        self._waiting += 1
        job = self._threads.submit(work)
        # Counted until the thread is free, also if nobody waits for the answer any more.
        job.add_done_callback(lambda _: loop.call_soon_threadsafe(self._finished))
        return await asyncio.wrap_future(job)

    def _finished(self) -> None:
        self._waiting -= 1


def _content_type(headers: dict[bytes, bytes]) -> str:
    """The type of the body, one of those that are known."""
    given = headers.get(b"content-type", b"").decode("latin-1")
    kind = given.partition(";")[0].strip().lower()
    if kind not in (_JSON, *ARROW, *PARQUET):
        known = ", ".join((_JSON, *ARROW, *PARQUET))
        raise RequestError(415, f"The body must be one of {known}.", "Content-Type")
    if headers.get(b"content-encoding", b"identity") != b"identity":
        raise RequestError(415, "The body must not be compressed.", "Content-Encoding")
    return kind

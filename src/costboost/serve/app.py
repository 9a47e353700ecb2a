"""The service as an application: routes, what every request passes, and what is counted."""

from __future__ import annotations

import asyncio
import hmac
import logging
import os
import re
import secrets
import threading
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from importlib.metadata import version
from typing import Any

import numpy as np
from fastapi import FastAPI, Request
from fastapi.responses import HTMLResponse, Response
from prometheus_client import (
    CONTENT_TYPE_LATEST,
    CollectorRegistry,
    Counter,
    Gauge,
    Histogram,
    generate_latest,
)
from pydantic import BaseModel, Field
from pydantic_core import to_json
from starlette.exceptions import HTTPException
from starlette.requests import ClientDisconnect

from costboost.serve import Settings
from costboost.serve.logs import AuditLog, stamp
from costboost.serve.page import PAGE, POLICY
from costboost.serve.requests import Query, RequestError
from costboost.serve.scoring import Reply, Service

log = logging.getLogger("costboost.serve")

# Bodies up to this size are decided without a thread: changing threads takes longer.
_SMALL = 4096
# Requests that may wait for a thread.
_QUEUE = 64
# Bodies up to this size are always read; larger ones while all together are not too many bytes, a
# multiple of the largest one.
_LIGHT, _BODIES = 64 * 1024, 4
_JSON, _CSV = "application/json", "text/csv"
_ID = re.compile(rb"[!-~]{1,64}")  # of a request, as a client may name it
# Open to all. `/ready` tells the start of the model's SHA-256, and nothing else is told of it.
_OPEN = frozenset({"/", "/health", "/ready"})
_PATHS = frozenset({*_OPEN, "/decide", "/schema", "/metrics", "/openapi.json"})
_HEADERS = [
    (b"x-content-type-options", b"nosniff"),
    (b"cache-control", b"no-store"),
    (b"referrer-policy", b"no-referrer"),
    (b"x-frame-options", b"DENY"),
]


_DECIDE = (
    "Decide rows: JSON, or CSV with a header, which may have columns of costs: costs.fn and "
    "costs.fp, or costs.TRUTH.DECISION for every pair. Columns that the model does not use come "
    "back as given. For CSV, explain and capacity (as JSON) are in the query of the address."
)


class Failure(BaseModel):
    """The body of every error."""

    error: dict[str, str | None] = Field(description="field, the place in the request; message.")


class DecidedRow(BaseModel):
    """The decision of a row."""

    decision: Any
    probabilities: dict[str, float] = {}
    expected_costs: dict[str, float] = {}
    runner_up: Any = Field(None, description="The cheapest other decision.")
    saving: float = Field(0.0, description="Cost of the runner-up minus that of the decision.")
    explanation: dict[str, Any] = Field({}, description="Base and parts add up to the saving.")
    given: dict[str, Any] = Field({}, description="Columns that the model does not use.")


class Decided(BaseModel):
    """The answer to a request."""

    model: str = Field(description="Start of the SHA-256 of the model file.")
    rows: list[DecidedRow]
    expected_cost: float | None
    limits: list[dict[str, Any]] = []
    unseen_categories: dict[str, list[str]] = {}


def _pages(current: Application) -> FastAPI:
    """All that is asked for but decisions."""
    settings = current.settings
    app = FastAPI(
        title="costboost",
        summary="Decisions of least expected cost.",
        version=version("costboost"),
        docs_url=None,
        redoc_url=None,
    )

    # Other methods of /decide are refused here; the outermost layer answers POST itself.
    app.add_api_route(
        "/decide", current.decide, methods=["POST"], tags=["decisions"], operation_id="decide",
        summary="Decide rows", description=_DECIDE, response_description="A decision per row.",
        responses={200: {"model": Decided}, "4XX": {"model": Failure}, "5XX": {"model": Failure}},
    )  # fmt: skip

    @app.get("/health", summary="Is the process alive?", tags=["operation"])
    async def health() -> dict[str, str]:
        """Always 200 while the process can answer."""
        return {"status": "ok"}

    @app.get("/ready", summary="May requests be sent?", tags=["operation"])
    async def ready() -> Response:
        """503 from SIGTERM on: send new requests elsewhere."""
        if current.is_draining:
            return _json({"status": "draining"}, 503)
        return _json({"status": "ready", "model": current.service.fingerprint})

    @app.get("/schema", summary="The columns of the model", tags=["decisions"])
    async def schema() -> Response:
        """A JSON Schema of one row; ``x-costboost`` has classes, decisions and costs."""
        service = current.service
        limits = {"max_rows": settings.max_rows, "max_bytes": settings.max_bytes}
        found = {
            "$schema": "https://json-schema.org/draft/2020-12/schema",
            "title": f"A row for {service.title}",
            **service.requests.row_schema,
            "x-costboost": {**service.about(), **limits},
        }
        return _json(found, media_type="application/schema+json")

    @app.get("/metrics", summary="Counters for Prometheus", tags=["operation"])
    async def count() -> Response:
        """Requests, latency, decisions and expected cost, of all workers together."""
        return Response(current.metrics.text(), headers={"content-type": CONTENT_TYPE_LATEST})

    @app.get("/", include_in_schema=False)
    async def page() -> HTMLResponse:
        return HTMLResponse(PAGE, headers={"content-security-policy": POLICY})

    @app.exception_handler(HTTPException)
    async def refused(_: Request, error: HTTPException) -> Response:
        headers = dict(error.headers or {})
        return _refusal(RequestError(error.status_code, str(error.detail), **headers))

    app.openapi = lambda: _openapi(app, settings, current.service)  # type: ignore[method-assign]
    return app


def _json(content: Any, status: int = 200, media_type: str = _JSON, **headers: str) -> Response:
    return Response(to_json(content), status, headers, media_type)


def _refusal(error: RequestError) -> Response:
    content = {"error": {"field": error.field, "message": str(error)}}
    return _json(content, error.status, **error.headers)


# -- the OpenAPI document -----------------------------------------------------------------------


def _openapi(app: FastAPI, settings: Settings, service: Service) -> dict[str, Any]:
    """The OpenAPI document, with the body that the model takes that answers now."""
    found = FastAPI.openapi(app)  # the same object every time
    json_schema = service.requests.schema(settings.max_rows)
    body = {_JSON: {"schema": json_schema}, _CSV: {"schema": {"type": "string"}}}
    found["paths"]["/decide"]["post"]["requestBody"] = {"required": True, "content": body}
    if settings.token is not None:
        scheme = {"type": "http", "scheme": "bearer"}
        found["components"]["securitySchemes"] = {"token": scheme}
        found["security"] = [{"token": []}]
    return found


class Application:
    """Meets every request in plain ASGI: host, token, counting; decides rows, FastAPI the rest."""

    def __init__(self, settings: Settings, load: Callable[[], Service]) -> None:
        self.settings, audit = settings, settings.audit
        self.metrics = Metrics()
        self._load_file = load
        self.service = self._load()
        self._audit = None if audit is None else AuditLog(audit, settings.audit_bytes)
        self.is_draining = False
        self._loading = threading.Lock()
        self._threads = ThreadPoolExecutor(settings.threads, "decide")
        self._free = threading.Semaphore(_QUEUE)
        self._held = 0  # bytes of bodies
        self._hosts = frozenset(name.lower().encode() for name in settings.hosts)
        self._token = None if settings.token is None else b"bearer " + settings.token.encode()
        self._pages = _pages(self)

    def _load(self) -> Service:
        service = self._load_file()
        hidden = service.audited & service.requests.required.keys()
        if self.settings.audit_rows and hidden:
            raise ValueError(
                f"The model has columns that are called as fields of the audit log: "
                f"{', '.join(sorted(hidden))}. Leave --audit-rows out, or rename them."
            )
        self.metrics.loaded.set_to_current_time()
        return service

    # -- every request --------------------------------------------------------------------------

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        """Answer one request; no failure leaves a trace in the answer."""
        begin = time.perf_counter()
        path = scope["path"] if scope["path"] in _PATHS else "other"
        headers, status = dict(scope["headers"]), 0
        given = headers.get(b"x-request-id", b"")
        name = given.decode() if _ID.fullmatch(given) else secrets.token_hex(8)
        scope["request_id"] = name

        async def counted(message: Any) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                more = [*message.get("headers", ()), *_HEADERS, (b"x-request-id", name.encode())]
                if self.is_draining:
                    more.append((b"connection", b"close"))
                message = {**message, "headers": more}
            await send(message)

        try:
            try:
                self._check(scope["path"], headers)
                is_asked = path == "/decide" and scope["method"] == "POST"
                asked = self.decide(Request(scope, receive)) if is_asked else None
                answer: Any = self._pages if asked is None else await asked
            except RequestError as error:
                answer = _refusal(error)
            await answer(scope, receive, counted)
        except Exception:
            log.exception("Request %s to %s failed.", name, path, extra={"request": name})
            if not status:
                failed = _refusal(RequestError(500, "The service failed; its log says why."))
                await failed(scope, receive, counted)
        finally:
            seconds = time.perf_counter() - begin
            self.metrics.requests.labels(path, str(status or 499)).inc()
            self.metrics.seconds.labels(path).observe(seconds)
            if self.settings.access_log:
                line = {"time": stamp(time.time()), "request": name, "method": scope["method"]}
                line |= {"path": path, "status": status or 499, "seconds": round(seconds, 6)}
                print(to_json(line).decode(), flush=True)

    def _check(self, path: str, headers: dict[bytes, bytes]) -> None:
        """Refuse foreign host names and wrong tokens."""
        if b"content-length" in headers and b"transfer-encoding" in headers:
            # A proxy may read the one and this service the other, and disagree where it ends.
            message = "A request has a Content-Length or a Transfer-Encoding, not both."
            raise RequestError(400, message, "Content-Length", connection="close")
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
            if not hmac.compare_digest(kind.lower() + b" " + value.strip(), self._token):
                message = "Send the bearer token: Authorization: Bearer TOKEN."
                raise RequestError(401, message, "Authorization", **{"www-authenticate": "Bearer"})

    # -- POST /decide ---------------------------------------------------------------------------

    def reload(self) -> None:
        """Load the model file again; requests that have begun keep the old model."""
        try:
            with self._loading:
                self.service = service = self._load()
        except Exception as error:
            self.metrics.reloads.labels("failed").inc()
            log.error("The model was not reloaded, the old one stays: %s", error)
        else:
            self.metrics.reloads.labels("done").inc()
            log.info("Process %d answers with model %s.", os.getpid(), service.fingerprint)

    async def decide(self, request: Request) -> Response:
        """Answer a request."""
        parts: list[bytes] = []
        seconds, body = self.settings.seconds, None
        end = time.monotonic() + seconds
        try:
            async with asyncio.timeout(seconds):
                kind = _content_type(dict(request.scope["headers"]))
                body = await self._body(request, parts)
                return await self._answer(request, kind, body, end)
        except TimeoutError:
            if body is None:
                raise RequestError(408, f"The body did not arrive within {seconds:g} s.") from None
            message = f"The answer took longer than {seconds:g} s. Send fewer rows."
            raise RequestError(503, message) from None
        except ClientDisconnect:
            raise RequestError(400, "The client has gone.") from None
        finally:
            self._held -= sum(map(len, parts))

    async def _body(self, request: Request, parts: list[bytes]) -> bytes:
        """The body, read no further than allowed."""
        limit, size = self.settings.max_bytes, 0
        async for part in request.stream():
            size += len(part)
            if size > limit:
                message = f"A body may have at most {limit} bytes. Send several requests."
                raise RequestError(413, message)
            parts.append(part)
            self._held += len(part)
            if size > _LIGHT and self._held > _BODIES * limit:
                raise RequestError(503, "The service is busy. Try again in a moment.")
        return parts[0] if len(parts) == 1 else b"".join(parts)

    async def _answer(self, request: Request, kind: str, body: bytes, end: float) -> Response:
        service = self.service  # one model for the whole request

        def read() -> Query:
            if kind == _JSON:
                return service.requests.from_json(body, self.settings.max_rows)
            if not hasattr(service.model, "columns_"):
                message = "This model does not know how its columns are written: send no CSV."
                raise RequestError(415, message, "Content-Type")
            options = dict(request.query_params)
            return service.requests.from_csv(body, options, self.settings.max_rows)

        is_small = len(body) <= _SMALL
        query = read() if is_small else await self._in_thread(read)
        finish = partial(self._finish, service, query, request.scope["request_id"], end)
        is_quick = is_small and not query.explain and query.capacity is None
        return finish() if is_quick else await self._in_thread(finish)

    def _finish(self, service: Service, query: Query, name: str, end: float) -> Response:
        """Decide, count and write; in whatever thread this is."""
        try:
            passed = service.passed_on(query)
            answer = service.answer(query, end)
        except (ValueError, TypeError) as error:  # rules of the model, of costs and of limits
            field = "capacity" if "'capacity'" in str(error) else None
            raise RequestError(422, str(error)[:1000], field) from None
        if self._audit is not None:
            try:
                rows = self.settings.audit_rows
                self._audit.write(service.audit_lines(answer, query, name, rows))
            except OSError as error:  # no decision without its line
                log.error("The audit log cannot be written: %s", error)
                raise RequestError(503, "The audit log cannot be written.") from None
        self.metrics.answer(answer, service)
        return Response(service.as_json(answer, query, passed), media_type=_JSON)

    async def _in_thread(self, work: Callable[[], Any]) -> Any:
        if not self._free.acquire(blocking=False):
            raise RequestError(503, "The service is busy. Try again in a moment.")
        job = self._threads.submit(work)
        # Taken until the thread is free, also if nobody waits for the answer any more.
        job.add_done_callback(lambda _: self._free.release())
        return await asyncio.wrap_future(job)


def _content_type(headers: dict[bytes, bytes]) -> str:
    """The type of the body, one of those that are known."""
    given = headers.get(b"content-type", b"").decode("latin-1")
    kind = given.partition(";")[0].strip().lower()
    if kind not in (_JSON, _CSV):
        raise RequestError(415, f"The body must be {_JSON} or {_CSV}.", "Content-Type")
    if headers.get(b"content-encoding", b"identity") != b"identity":
        raise RequestError(415, "The body must not be compressed.", "Content-Encoding")
    return kind


# -- metrics ------------------------------------------------------------------------------------

_SECONDS = (0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0)


class Metrics:
    """What one process counts, for Prometheus."""

    # Several processes count into files of one folder (PROMETHEUS_MULTIPROC_DIR), and each of them
    # can add up all of them.

    def __init__(self) -> None:
        self.registry = CollectorRegistry()

        def made(kind: Any, name: str, text: str, *labels: str, **more: Any) -> Any:
            return kind(f"costboost_{name}", text, labels, registry=self.registry, **more)

        self.requests = made(Counter, "requests", "Requests answered.", "path", "status")
        text = "Time from the head of a request to the end of its answer."
        self.seconds = made(Histogram, "request_seconds", text, "path", buckets=_SECONDS)
        self.rows = made(Counter, "rows", "Rows decided.")
        self.decisions = made(Counter, "decisions", "Rows that got a decision.", "decision")
        # Profits are negative costs, so these sums may fall.
        text, summed = "Expected cost of the decisions, added up.", {"multiprocess_mode": "sum"}
        self.cost = made(Gauge, "expected_cost_sum", text, "decision", **summed)
        text = "Expected saving against the runner-up, added up."
        self.saving = made(Gauge, "saving_sum", text, **summed)
        text = "Rows with costs a million times those of the model; no sum has them."
        self.unusual = made(Counter, "unusual_rows", text)
        self.reloads = made(Counter, "reloads", "Reloads of the model file.", "result")
        text = "When the model was loaded, by the worker that did so last."
        latest = {"multiprocess_mode": "max"}
        self.loaded = made(Gauge, "model_loaded_timestamp_seconds", text, **latest)

    def answer(self, answer: Reply, service: Service) -> None:
        """Count the decisions of one request."""
        self.rows.inc(len(answer.codes))
        labels = [str(label) for label in service.decisions.tolist()]
        counts = np.bincount(answer.codes, minlength=len(labels))
        for code in np.flatnonzero(counts):
            self.decisions.labels(labels[code]).inc(float(counts[code]))
        if answer.expected is None:
            return
        # One absurd cost would drown all others in the sums, for ever.
        usual = np.abs(answer.expected).max(axis=1) <= service.largest_usual_cost
        self.unusual.inc(float(len(usual) - usual.sum()))
        sums = np.bincount(answer.codes[usual], answer.taken[usual], minlength=len(labels))
        for code in np.flatnonzero(counts):
            self.cost.labels(labels[code]).inc(float(sums[code]))
        self.saving.inc(float(answer.saving[usual].sum()))

    def text(self) -> bytes:
        """All metrics, of all processes."""
        folder = os.environ.get("PROMETHEUS_MULTIPROC_DIR")
        if folder is None:
            return bytes(generate_latest(self.registry))
        from prometheus_client.multiprocess import MultiProcessCollector

        together = CollectorRegistry()
        MultiProcessCollector(together, path=folder)  # type: ignore[no-untyped-call]
        return bytes(generate_latest(together))

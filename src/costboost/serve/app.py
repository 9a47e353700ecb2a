"""The service as a FastAPI application."""

import hashlib
import json
import logging
import os
import uuid
from dataclasses import dataclass
from importlib.metadata import version
from pathlib import Path
from typing import Annotated, Any

from fastapi import Body, FastAPI, Header, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.exceptions import RequestValidationError
from fastapi_offline import FastAPIOffline
from prometheus_client import CONTENT_TYPE_LATEST
from pydantic import BaseModel, ConfigDict, Field
from starlette.middleware.trustedhost import TrustedHostMiddleware

from costboost.columns import Column
from costboost.serve import audit, metrics
from costboost.serve.gate import Gate
from costboost.serve.schemas import (
    DecideRequest,
    DecideResponse,
    answer_rows,
    cost_schema,
    decide_request,
    example_row,
    needed_columns,
    read_capacity,
    read_costs,
    read_rows,
    row_schema,
)

log = logging.getLogger("costboost.serve")

SETTINGS_VARIABLE = "COSTBOOST_SERVICE"
# An explanation has a number per column and row.
MAX_EXPLAINED_ROWS = 1000
# Requests of so few rows are answered in the event loop.
MAX_INLINE_ROWS = 10

RequestId = Annotated[
    str | None,
    Header(pattern="^[!-~]{1,64}$", description="A name of the request, for the audit log."),
]


class Settings(BaseModel):
    """Settings of the service; uvicorn has those of addresses, processes and connections.

    Attributes
    ----------
    model : Path or None
        The model file, where uvicorn builds the service in processes of its own.
    trusted : tuple of str
        Types inside the model file that the user trusts, as in `costboost.load`.
    model_version : str
        The name of the model in answers and logs: the start of the SHA-256 of its file.
    token : str or None
        Bearer token that clients must send; None asks for none.
    hosts : tuple of str
        Names that a ``Host`` header may have; ``"*"`` allows all.
    max_bytes, max_rows : int
        Largest body and largest number of rows of a request.
    audit_log : Path or None
        File that gets a line of JSON per decision.
    audit_rows : bool
        Whether these lines have the cells of the row, too.
    """

    model_config = ConfigDict(frozen=True, protected_namespaces=())

    model: Path | None = None
    trusted: tuple[str, ...] = ()
    model_version: str = "unknown"
    token: str | None = Field(None, repr=False)
    hosts: tuple[str, ...] = ("*",)
    max_bytes: int = 16 * 1024 * 1024
    max_rows: int = 100_000
    audit_log: Path | None = None
    audit_rows: bool = False


def app_from_environment() -> FastAPI:
    """Build the service by the settings in the environment; uvicorn calls this in each process."""
    from costboost.files import load

    settings = Settings.model_validate_json(os.environ[SETTINGS_VARIABLE])
    assert settings.model is not None
    with settings.model.open("rb") as file:
        model_version = hashlib.file_digest(file, "sha256").hexdigest()[:16]
    model = load(settings.model, trusted=settings.trusted)
    return create_app(model, settings.model_copy(update={"model_version": model_version}))


def create_app(model: Any, settings: Settings) -> FastAPI:
    """Build the service around a loaded model; uvicorn runs it in as many processes as needed.

    Parameters
    ----------
    model : classifier
        A fitted classifier of the library.
    settings : Settings
        The settings.

    Returns
    -------
    FastAPI
        The application.
    """
    columns = needed_columns(model)
    service = Service(model, settings, columns)
    row_model = row_schema(columns)
    request_model = decide_request(row_model, cost_schema(model), settings.max_rows)
    if settings.audit_log is not None:
        audit.open_audit_log(settings.audit_log)

    # The page /docs loads nothing from other hosts.
    app = FastAPIOffline(
        title="costboost",
        summary="Decisions of least expected cost.",
        version=version("costboost"),
        redoc_url=None,
    )
    app.add_middleware(Gate, token=settings.token, max_bytes=settings.max_bytes)
    app.add_middleware(TrustedHostMiddleware, allowed_hosts=settings.hosts)

    @app.exception_handler(ValueError)
    async def refuse(request: Request, error: ValueError) -> Response:
        # What the library says of costs, limits and columns is meant for its users.
        return as_error(422, str(error))

    @app.exception_handler(RequestValidationError)
    async def refuse_body(request: Request, error: RequestValidationError) -> Response:
        return as_error(422, [describe_error(each, model) for each in error.errors()])

    @app.exception_handler(OSError)
    async def fail(request: Request, error: OSError) -> Response:
        log.error("The audit log cannot be written: %s", error)
        return as_error(503, "The audit log cannot be written.")

    @app.post("/decide", response_model_exclude_unset=True)
    async def decide(
        request: Annotated[request_model, Body(examples=[{"records": [example_row(columns)]}])],
        x_request_id: RequestId = None,
    ) -> DecideResponse:
        """Decide rows at the least expected cost, within limits if there are any."""
        request_id = x_request_id or uuid.uuid4().hex
        if len(request.records) <= MAX_INLINE_ROWS:
            # Changing threads takes longer than deciding a few rows.
            return service.answer(request, request_id)
        return await run_in_threadpool(service.answer, request, request_id)

    @app.get("/schema")
    async def schema() -> dict[str, Any]:
        """Describe the columns of a row, the decisions and what they cost."""
        about = {
            "model": settings.model_version,
            "class": type(model).__name__,
            "classes": model.classes_.tolist(),
            "decisions": model.decisions_.tolist(),
            "costs": str(model.costs_),
            "max_rows": settings.max_rows,
            "max_bytes": settings.max_bytes,
        }
        return {**row_model.model_json_schema(), "x-costboost": about}

    @app.get("/health")
    async def health() -> dict[str, str]:
        """Answer while the process is alive."""
        return {"status": "ok"}

    @app.get("/ready")
    async def ready() -> dict[str, str]:
        """Answer once the model is loaded."""
        return {"status": "ready", "model": settings.model_version}

    @app.get("/metrics")
    def read_metrics() -> Response:
        """Return counters for Prometheus."""
        return Response(metrics.as_text(), media_type=CONTENT_TYPE_LATEST)

    return app


@dataclass(frozen=True)
class Service:
    """What answering needs, whatever the transport."""

    model: Any
    settings: Settings
    columns: list[Column]

    def answer(self, request: DecideRequest, request_id: str) -> DecideResponse:
        """Decide the rows of a request, count the decisions and write them to the audit log."""
        model = self.model
        rows = read_rows(request.records, self.columns, model)
        costs = read_costs(request.costs, len(request.records))
        capacity = read_capacity(request.capacity, model)
        decided = model.decide(rows, costs=costs, capacity=capacity)
        explanation = None
        if request.explain:
            check_explainable(model, len(request.records))
            explanation = model.explain(rows, decisions=decided)

        decided_rows = answer_rows(decided, model.classes_, explanation)
        metrics.count_decisions(decided)
        version = self.settings.model_version
        if self.settings.audit_log is not None:
            cells = request.records if self.settings.audit_rows else None
            audit.write_lines(decided_rows, cells, request=request_id, model=version)
        expected_cost = None
        if decided.expected_cost is not None:
            expected_cost = float(decided.cost.sum())
        limit_prices = decided.limit_prices or {}
        return DecideResponse(
            model=version,
            request=request_id,
            expected_cost=expected_cost,
            limit_prices={str(label): price for label, price in limit_prices.items()},
            rows=decided_rows,
        )


def check_explainable(model: Any, n_rows: int) -> None:
    """Raise a ValueError if decisions of so many rows cannot be explained."""
    if not hasattr(model, "explain"):
        raise ValueError(f"A {type(model).__name__} cannot explain decisions. Leave explain out.")
    if n_rows > MAX_EXPLAINED_ROWS:
        raise ValueError(
            f"At most {MAX_EXPLAINED_ROWS} records can be explained at once, got {n_rows}. "
            "Send several requests."
        )


def describe_error(error: dict[str, Any], model: Any) -> dict[str, Any]:
    """Return where a body is wrong and why, without repeating the body."""
    place = error["loc"]
    message = error["msg"]
    is_column = place[1:2] == ("records",) and len(place) == 4
    if error["type"] == "missing" and is_column and hasattr(model, "columns_"):
        names = [str(name)[:100] for name in error["input"]]
        message = str(model.columns_.lacks(place[-1], names, "The record"))
    return {"loc": place, "msg": message, "type": error["type"]}


def as_error(status: int, detail: Any) -> Response:
    """Return an answer that says what is wrong, in ASCII: bodies may hold half characters."""
    return Response(json.dumps({"detail": detail}), status, media_type="application/json")

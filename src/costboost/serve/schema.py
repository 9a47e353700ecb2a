"""JSON Schemas of requests and answers, made from the model."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from costboost.serve.columns import Column
from costboost.serve.tables import ARROW, PARQUET

if TYPE_CHECKING:
    from costboost.serve.service import Service

__all__ = ["operations", "record_schema"]

_DIALECT = "https://json-schema.org/draft/2020-12/schema"
_COST = {"type": "number"}
_ERROR = {
    "type": "object",
    "required": ["error"],
    "properties": {
        "error": {
            "type": "object",
            "required": ["field", "message"],
            "properties": {
                "field": {"type": ["string", "null"], "description": "The place in the request."},
                "message": {"type": "string"},
            },
        }
    },
}
_STATUSES = {
    "400": "The body cannot be read.",
    "401": "The bearer token is missing or wrong.",
    "408": "The body did not arrive in time.",
    "413": "Too many bytes or rows.",
    "415": "The type of the body is not known.",
    "422": "A field is unknown, missing or of the wrong type; the answer names it.",
    "503": "The time limit was reached, or the service is stopping or busy.",
}


_DECIDE = (
    "Decide rows: JSON, an Arrow stream or file, or Parquet. A table in Arrow or Parquet may have "
    "columns of costs: costs.fn and costs.fp, or costs.TRUTH.DECISION for every pair. The header "
    "Accept: application/vnd.apache.arrow.stream asks for an answer in Arrow."
)
_OPTIONS = {
    "explain": "For tables: true explains the decisions.",
    "capacity": 'For tables: limits as JSON, such as {"review": 20}.',
    "per": "For tables: the column whose groups have limits of their own.",
}


def _property(column: Column) -> dict[str, Any]:
    if column.kind == "number":
        return {"type": ["number", "boolean", "null"]}
    if column.kind == "any":
        return {"type": ["number", "string", "boolean", "null"]}
    is_text = column.allowed == {str, type(None)}
    found: dict[str, Any] = {
        "type": ["string", "null"] if is_text else ["number", "string", "boolean", "null"],
        "description": "A value that training has not seen counts as missing.",
    }
    if len(column.categories) <= 200:
        found["examples"] = list(column.categories)
    return found


def record_schema(service: Service) -> dict[str, Any]:
    """The JSON Schema of one row, with what is known of the model under ``x-costboost``."""
    columns = service.columns
    return {
        "$schema": _DIALECT,
        "title": f"A row for {service.title}",
        "type": "object",
        "properties": {column.name: _property(column) for column in columns.columns},
        "required": [name for name in columns.names if name in columns.required],
        "additionalProperties": False,
        "x-costboost": service.about(),
    }


def _costs(service: Service) -> dict[str, Any]:
    """The schema of the costs of one row."""
    prices = service.prices
    k, d = prices.shape
    row = {"type": "array", "items": _COST, "minItems": d, "maxItems": d}
    decisions = list(prices.choices)
    labelled = {
        "type": "object",
        "properties": dict.fromkeys(decisions, _COST),
        "required": decisions,
        "additionalProperties": False,
    }
    forms: list[dict[str, Any]] = [
        {"type": "array", "items": row, "minItems": k, "maxItems": k},
        {
            "type": "object",
            "properties": dict.fromkeys(prices.truths, labelled),
            "required": list(prices.truths),
            "additionalProperties": False,
        },
    ]
    if prices.has_short:
        forms.append(
            {
                "type": "object",
                "properties": {
                    **dict.fromkeys(("fn", "fp", "tp", "tn"), _COST),
                    "positive": {"enum": service.scorer.classes.tolist()},
                },
                "required": ["fn", "fp", *([] if prices.knows_positive else ["positive"])],
                "additionalProperties": False,
            }
        )
    return {"anyOf": forms}


def _request(service: Service, max_rows: int) -> dict[str, Any]:
    record = {
        key: value
        for key, value in record_schema(service).items()
        if key not in ("$schema", "x-costboost")
    }
    names = service.columns.names
    by_position = {
        "type": "array",
        "prefixItems": [_property(column) for column in service.columns.columns],
        "minItems": len(names),
        "maxItems": len(names),
    }
    limit = {
        "anyOf": [
            {"type": "integer", "minimum": 0, "description": "a number of rows"},
            {"type": "number", "minimum": 0, "maximum": 1, "description": "a share of the rows"},
        ]
    }
    costs = _costs(service)
    shared = {
        "costs": {
            "description": "Costs of all rows, or a list with the costs (or null) of each row.",
            "anyOf": [
                *costs["anyOf"],
                {"type": "array", "items": {"anyOf": [*costs["anyOf"], {"type": "null"}]}},
            ],
        },
        "capacity": {
            "type": "object",
            "description": "How many rows of the request may get a decision.",
            "properties": dict.fromkeys(service.prices.choices, limit),
            "additionalProperties": False,
        },
        "per": {
            "description": "A column, or a group per row: limits hold in each group.",
            "anyOf": [{"enum": names}, {"type": "array", "items": {"type": "string"}}],
        },
        "explain": {"type": "boolean", "default": False},
    }
    rows = {"type": "array", "minItems": 1, "maxItems": max_rows}
    return {
        "anyOf": [
            {
                "type": "object",
                "properties": {"records": {**rows, "items": record}, **shared},
                "required": ["records"],
                "additionalProperties": False,
            },
            {
                "type": "object",
                "properties": {"rows": {**rows, "items": by_position}, **shared},
                "required": ["rows"],
                "additionalProperties": False,
            },
        ]
    }


def _answer(service: Service) -> dict[str, Any]:
    labels = service.scorer.decisions.tolist()
    number = {"type": "number"}
    row = {
        "type": "object",
        "properties": {
            "decision": {"enum": labels},
            "probabilities": {"type": "object", "additionalProperties": number},
            "expected_costs": {"type": "object", "additionalProperties": number},
            "runner_up": {"enum": labels, "description": "The cheapest other decision."},
            "saving": {
                "type": "number",
                "description": "Expected cost of the runner-up minus that of the decision.",
            },
            "explanation": {
                "type": "object",
                "description": "base + the sum of the parts = saving",
                "properties": {
                    "base": number,
                    "parts": {"type": "object", "additionalProperties": number},
                },
            },
        },
        "required": ["decision"],
    }
    return {
        "type": "object",
        "properties": {
            "model": {"type": "string", "description": "Start of the SHA-256 of the model file."},
            "rows": {"type": "array", "items": row},
            "expected_cost": {"type": ["number", "null"]},
            "limits": {"type": "array", "items": {"type": "object"}},
            "unseen_categories": {"type": "object"},
        },
        "required": ["model", "rows", "expected_cost"],
    }


def operations(service: Service, max_rows: int) -> dict[str, Any]:
    """The parts of the OpenAPI document that depend on the model: path, then method."""
    binary = {"schema": {"type": "string", "format": "binary"}}
    errors = {
        status: {"description": text, "content": {"application/json": {"schema": _ERROR}}}
        for status, text in _STATUSES.items()
    }
    decide = {
        "tags": ["decisions"],
        "summary": "Decide rows",
        "description": _DECIDE,
        "operationId": "decide",
        "parameters": [
            {"name": name, "in": "query", "schema": {"type": "string"}, "description": text}
            for name, text in _OPTIONS.items()
        ],
        "requestBody": {
            "required": True,
            "content": {
                "application/json": {"schema": _request(service, max_rows)},
                **dict.fromkeys((*ARROW, *PARQUET), binary),
            },
        },
        "responses": {
            "200": {
                "description": "A decision per row.",
                "content": {
                    "application/json": {"schema": _answer(service)},
                    ARROW[0]: binary,
                },
            },
            **errors,
        },
    }
    return {"/decide": {"post": decide}}

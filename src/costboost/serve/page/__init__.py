"""The pages of the service: each one file with its style and script inside."""

from __future__ import annotations

import base64
import hashlib
import json
from functools import cache
from html import escape
from importlib.resources import files
from string import Template
from typing import Any

__all__ = ["POLICY", "docs_page", "start_page"]


@cache
def _part(name: str) -> str:
    return files(__package__).joinpath(name).read_text(encoding="utf-8")


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


# Only these scripts and styles run, whatever a model or a file says; nothing is loaded elsewhere.
POLICY = (
    f"default-src 'none'; script-src {_hash(_part('page.js'))}; "
    f"style-src {_hash(_part('page.css'))}; connect-src 'self'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)


@cache
def start_page() -> str:
    """The page where a person decides one row or a file; it asks ``/schema`` for the columns."""
    return Template(_part("page.html")).substitute(style=_part("page.css"), script=_part("page.js"))


def docs_page(document: dict[str, Any]) -> str:
    """The OpenAPI document for people."""
    types = document["components"]["schemas"]
    operations = [
        _operation(method, path, operation)
        for path, methods in _inlined(document["paths"], types).items()
        for method, operation in methods.items()
    ]
    return Template(_part("docs.html")).substitute(
        style=_part("page.css"),
        version=escape(str(document["info"]["version"])),
        operations="".join(operations),
    )


def _inlined(part: Any, types: dict[str, Any]) -> Any:
    """A document without references."""
    if isinstance(part, list):
        return [_inlined(one, types) for one in part]
    if not isinstance(part, dict):
        return part
    if "$ref" in part:
        return _inlined(types[part["$ref"].rpartition("/")[2]], types)
    return {key: _inlined(one, types) for key, one in part.items()}


def _operation(method: str, path: str, operation: dict[str, Any]) -> str:
    text = escape(operation.get("description", "")).replace("``", "")
    blocks = [
        f"<details><summary>Request: {escape(kind)}</summary>{_schema(body)}</details>"
        for kind, body in operation.get("requestBody", {}).get("content", {}).items()
    ]
    for status, response in operation.get("responses", {}).items():
        label = f"{status} {response.get('description', '')}"
        schema = response.get("content", {}).get("application/json")
        inside = _schema(schema) if schema else "<p>No JSON body.</p>"
        blocks.append(f"<details><summary>{escape(label)}</summary>{inside}</details>")
    return (
        f'<section class="card"><h2><code>{escape(method.upper())} {escape(path)}</code></h2>'
        f"<p><strong>{escape(operation.get('summary', ''))}</strong></p><p>{text}</p>"
        f"{''.join(blocks)}</section>"
    )


def _schema(body: dict[str, Any]) -> str:
    text = escape(json.dumps(body.get("schema", {}), indent=1, ensure_ascii=False))
    return f'<pre tabindex="0">{text}</pre>'

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
    cards = []
    for path, methods in document["paths"].items():
        for method, operation in methods.items():
            about = escape(operation.get("description", "")).replace("``", "")
            details = json.dumps(operation, indent=1, ensure_ascii=False)
            cards.append(
                f'<section class="card"><h2><code>{method.upper()} {escape(path)}</code></h2>'
                f"<p><strong>{escape(operation['summary'])}</strong></p><p>{about}</p>"
                f"<details><summary>Requests and responses</summary>"
                f'<pre tabindex="0">{escape(details)}</pre></details></section>'
            )
    types = json.dumps(document["components"]["schemas"], indent=1, ensure_ascii=False)
    cards.append(f'<section class="card"><h2>Types</h2><pre>{escape(types)}</pre></section>')
    version, style = escape(document["info"]["version"]), _part("page.css")
    page = Template(_part("docs.html"))
    return page.substitute(style=style, version=version, operations="".join(cards))

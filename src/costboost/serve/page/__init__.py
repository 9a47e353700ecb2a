"""The page of the service: one file with its style and script inside."""

from __future__ import annotations

import base64
import hashlib
from functools import cache
from importlib.resources import files
from string import Template

__all__ = ["POLICY", "start_page"]


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

"""The page of the service: one file with its style and script inside."""

from __future__ import annotations

import base64
import hashlib
from importlib.resources import files
from string import Template

__all__ = ["PAGE", "POLICY"]

_folder = files(__package__)
_style, _script, _page = (
    _folder.joinpath(f"page.{kind}").read_text(encoding="utf-8") for kind in ("css", "js", "html")
)
# Where a person decides one row or a file; it asks ``/schema`` for the columns.
PAGE = Template(_page).substitute(style=_style, script=_script)


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


# Only these scripts and styles run, whatever a model or a file says; nothing is loaded elsewhere.
POLICY = (
    f"default-src 'none'; script-src {_hash(_script)}; "
    f"style-src {_hash(_style)}; connect-src 'self'; img-src data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)

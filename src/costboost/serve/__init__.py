"""The scoring service: a model file behind HTTP (``costboost serve``, ``docs/serve.md``).

Needs the extra ``serve``: ``pip install "costboost[serve]"``.
"""

from __future__ import annotations

from costboost.serve.app import Settings, create_app

__all__ = ["Settings", "create_app"]

"""The scoring service: a model file behind HTTP (``costboost serve``, ``docs/serve.md``).

Needs the extra ``serve``: ``pip install "costboost[serve]"``.
"""

from costboost.serve.settings import Settings

__all__ = ["Settings"]

"""The command ``costboost serve``: a scoring service."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Annotated

import typer

from costboost.cli import arguments
from costboost.cli.failure import tells_errors

__all__ = ["serve"]


@tells_errors
def serve(
    model: arguments.Model,
    host: Annotated[str, typer.Option(help="Address to listen on.")] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=1, max=65535, help="Port to listen on.")] = 8000,
) -> None:
    """Answer requests for decisions over HTTP."""
    missing = [name for name in ("fastapi", "uvicorn") if find_spec(name) is None]
    if missing or find_spec("costboost.serve") is None:
        what = " and ".join(missing) or "the scoring service"
        raise ImportError(
            f'costboost serve needs {what}, which is not installed: pip install "costboost[serve]".'
        )
    from importlib import import_module

    from costboost.cli.models import model_recipe

    model_recipe(model)  # the file exists and is a model
    import_module("costboost.serve").run(model, host=host, port=port)

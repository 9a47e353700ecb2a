"""The command ``costboost serve``: a model file behind HTTP."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from costboost.cli.options import command, option
from costboost.columns import need

TOKEN_VARIABLE = "COSTBOOST_TOKEN"


@command
def serve(
    model: Annotated[
        Path, typer.Argument(help="A model file, written by model.save or costboost fit.")
    ],
    host: Annotated[
        str, typer.Option(help="Address to listen at; the default is this machine alone.")
    ] = "127.0.0.1",
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port; 0 takes a free one.")] = 8000,
    workers: Annotated[int, typer.Option(min=1, max=256, help="Processes that answer.")] = 1,
    token_file: Annotated[
        Path | None,
        option(
            "File with the bearer token that clients must send. The environment variable "
            f"{TOKEN_VARIABLE} does the same."
        ),
    ] = None,
    without_token: Annotated[
        bool, typer.Option("--without-token", help="Serve other machines without a token.")
    ] = False,
    allow_host: Annotated[
        list[str] | None,
        option(
            "Name under which clients may call (Host header); repeatable. By default the "
            "names of this machine's loopback, or any name if the address is another one."
        ),
    ] = None,
    max_mb: Annotated[float, typer.Option(min=0.001, help="Largest body, in megabytes.")] = 16.0,
    max_rows: Annotated[
        int, typer.Option(min=1, help="Largest number of rows of a request.")
    ] = 100_000,
    seconds: Annotated[
        float, typer.Option(min=0.1, help="Longest time of a request, in seconds.")
    ] = 30.0,
    drain: Annotated[
        float,
        typer.Option(
            min=0.0, help="Seconds from SIGTERM, when /ready turns 503, to the end of listening."
        ),
    ] = 1.0,
    threads: Annotated[
        int, typer.Option(min=1, max=256, help="Threads of a process for batches.")
    ] = 2,
    trust: Annotated[
        list[str] | None, option("A type inside the file that you trust; repeatable.")
    ] = None,
) -> None:
    """Answer HTTP requests with the decisions of a model."""
    # SIGTERM drains and stops; SIGHUP reads the model file again without losing a request.
    for module in ("fastapi", "uvicorn", "prometheus_client", "pyarrow"):
        need(module, "serve", "costboost serve")
    from costboost.serve import LOOPBACK_NAMES, Settings, is_loopback
    from costboost.serve.workers import listen, run

    token = _token(token_file)
    if not is_loopback(host) and token is None and not without_token:
        raise ValueError(
            f"--host {host} can be reached from other machines, and there is no token. Set "
            f"{TOKEN_VARIABLE} or --token-file, or say --without-token."
        )
    names = tuple(allow_host or ())
    settings = Settings(
        model=model.resolve(), host=host, port=port, workers=workers, token=token,
        max_bytes=int(max_mb * 1024 * 1024), max_rows=max_rows, seconds=seconds, drain=drain,
        threads=threads, hosts=(*LOOPBACK_NAMES, *names) if is_loopback(host) else names,
        trusted=tuple(trust or ()),
    )  # fmt: skip
    _check_model(settings.model, settings.trusted)
    listener = listen(settings)
    at = listener.getsockname()[1]
    shown = f"[{host}]" if ":" in host and not host.startswith("[") else host
    Console(stderr=True).print(
        f"Serving {escape(model.name)} at http://{escape(shown)}:{at}/ (docs at /docs)"
    )
    status = run(settings, listener)
    if status:
        raise typer.Exit(status)


def _token(file: Path | None) -> str | None:
    """The token of the file or of the environment; visible characters only."""
    text = os.environ.get(TOKEN_VARIABLE) if file is None else file.read_text(encoding="utf-8")
    if text is None:
        return None
    token = text.strip()
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        source = TOKEN_VARIABLE if file is None else "--token-file"
        raise ValueError(
            f"{source} must hold a token of visible ASCII characters without spaces; it is empty "
            "or has others. `openssl rand -hex 32` makes one."
        )
    return token


def _check_model(path: Path, trusted: tuple[str, ...]) -> None:
    """Say what is wrong with the file before a process starts."""
    from costboost.serve.scoring import load_service

    if not path.is_file():
        raise ValueError(
            f"There is no model file {path.name!r} in {path.parent}. `costboost fit` or "
            "model.save writes one."
        )
    load_service(path, trusted)

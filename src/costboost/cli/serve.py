"""The command ``costboost serve``: a model file behind HTTP."""

from __future__ import annotations

import os
from pathlib import Path

import typer
from rich.console import Console

from costboost.cli.options import command, option
from costboost.cli.show import escape
from costboost.columns import need

TOKEN_VARIABLE = "COSTBOOST_TOKEN"


@command
def serve(
    model: Path = typer.Argument(..., help="A model file, written by model.save or costboost fit."),
    host: str = option("127.0.0.1", "Address to listen at; the default is this machine alone."),
    port: int = option(8000, "Port; 0 takes a free one.", min=0, max=65535),
    workers: int = option(1, "Processes that answer.", min=1, max=256),
    token_file: Path | None = option(
        None,
        "File with the bearer token that clients must send. The environment variable "
        f"{TOKEN_VARIABLE} does the same.",
    ),
    without_token: bool = option(False, "Serve other machines without a token."),
    allow_host: list[str] | None = option(
        None,
        "Name under which clients may call (Host header); repeatable. By default the "
        "names of this machine's loopback, or any name if the address is another one.",
    ),
    max_mb: float = option(16.0, "Largest body, in megabytes.", min=0.001),
    max_rows: int = option(100_000, "Largest number of rows of a request.", min=1),
    seconds: float = option(30.0, "Longest time of a request, in seconds.", min=0.1),
    drain: float = option(
        1.0, "Seconds from SIGTERM, when /ready turns 503, to the end of listening.", min=0.0
    ),
    threads: int = option(2, "Threads of a process for batches.", min=1, max=256),
    trust: list[str] | None = option(None, "A type inside the file that you trust; repeatable."),
    access_log: bool = option(False, "A line of JSON per request, on stdout."),
    log_json: bool = option(False, "The log of the service is in JSON."),
    audit_log: Path | None = option(
        None, "File that gets a line of JSON per decision.", metavar="FILE"
    ),
    audit_rows: bool = option(False, "The audit log has the cells of rows, too."),
    audit_mb: float = option(100.0, "Megabytes from which a new audit log is begun.", min=0.001),
) -> None:
    """Answer HTTP requests with the decisions of a model."""
    # SIGTERM drains and stops; SIGHUP reads the model file again without losing a request.
    for module in ("fastapi", "uvicorn", "prometheus_client"):
        need(module, "serve", "costboost serve")
    from costboost.serve import LOOPBACK_NAMES, Settings, is_loopback
    from costboost.serve.scoring import load_service
    from costboost.serve.workers import listen, run

    token = _token(token_file)
    if not is_loopback(host) and token is None and not without_token:
        raise ValueError(
            f"--host {host} can be reached from other machines, and there is no token. Set "
            f"{TOKEN_VARIABLE} or --token-file, or say --without-token."
        )
    names = tuple(allow_host or ())
    settings = Settings(
        model=model.absolute(), host=host, port=port, workers=workers, token=token,
        max_bytes=int(max_mb * 1024 * 1024), max_rows=max_rows, seconds=seconds, drain=drain,
        threads=threads, hosts=(*LOOPBACK_NAMES, *names) if is_loopback(host) else names,
        trusted=tuple(trust or ()), access_log=access_log, log_json=log_json,
        audit=audit_log and audit_log.absolute(), audit_rows=audit_rows,
        audit_bytes=int(audit_mb * 1024 * 1024),
    )  # fmt: skip
    if not settings.model.is_file():
        raise ValueError(
            f"There is no model file {model.name!r} in {settings.model.parent}. `costboost fit` "
            "or model.save writes one."
        )
    load_service(settings.model, settings.trusted)  # a faulty file is told before a process starts
    listener = listen(settings)
    at = listener.getsockname()[1]
    shown = f"[{host}]" if ":" in host and not host.startswith("[") else host
    Console(stderr=True).print(f"Serving {escape(model.name)} at http://{escape(shown)}:{at}/")
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

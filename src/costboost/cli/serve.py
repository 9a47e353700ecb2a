"""The command ``costboost serve``: a model file behind HTTP."""

from __future__ import annotations

import ipaddress
import os
import tempfile
from pathlib import Path

import typer

from costboost.cli.options import command, option
from costboost.columns import need

TOKEN_VARIABLE = "COSTBOOST_TOKEN"
MEGABYTE = 1024 * 1024
LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")
# Proxies hold idle connections; one that is closed too early costs a request.
KEEP_ALIVE_SECONDS = 75
STOP_SECONDS = 30


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
    max_connections: int = option(100, "Connections of a process; others get 503.", min=1),
    trust: list[str] | None = option(None, "A type inside the file that you trust; repeatable."),
    access_log: bool = option(False, "A line per request, on stdout."),
    audit_log: Path | None = option(
        None, "File that gets a line of JSON per decision.", metavar="FILE"
    ),
    audit_rows: bool = option(False, "The audit log has the cells of rows, too."),
) -> None:
    """Answer HTTP requests with the decisions of a model."""
    for module in ("fastapi", "fastapi_offline", "prometheus_client", "uvicorn"):
        need(module, "serve", "costboost serve")
    import uvicorn

    from costboost.files import load
    from costboost.serve import Settings
    from costboost.serve.app import SETTINGS_VARIABLE

    token = read_token(token_file)
    if not is_loopback(host) and token is None and not without_token:
        raise ValueError(
            f"--host {host} can be reached from other machines, and there is no token. Set "
            f"{TOKEN_VARIABLE} or --token-file, or say --without-token."
        )
    if not model.is_file():
        raise ValueError(
            f"There is no model file {model.name!r} in {model.absolute().parent}. `costboost fit` "
            "or model.save writes one."
        )
    load(model, trusted=tuple(trust or ()))  # a faulty file is refused before a process starts
    settings = Settings(
        model=model.absolute(),
        trusted=tuple(trust or ()),
        token=token,
        hosts=host_names(host, allow_host),
        max_bytes=int(max_mb * MEGABYTE),
        max_rows=max_rows,
        audit_log=audit_log and audit_log.absolute(),
        audit_rows=audit_rows,
    )
    os.environ[SETTINGS_VARIABLE] = settings.model_dump_json()
    with tempfile.TemporaryDirectory(prefix="costboost-") as folder:
        if workers > 1:
            # Processes add up what they count by files in this folder.
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
        uvicorn.run(
            "costboost.serve.app:app_from_environment",
            factory=True,
            host=host,
            port=port,
            workers=workers,
            access_log=access_log,
            limit_concurrency=max_connections,
            timeout_keep_alive=KEEP_ALIVE_SECONDS,
            timeout_graceful_shutdown=STOP_SECONDS,
            h11_max_incomplete_event_size=64 * 1024,
            ws="none",
            server_header=False,
        )


def is_loopback(host: str) -> bool:
    """Return True if an address can be reached from this machine alone."""
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:  # a name
        return host == "localhost"


def host_names(host: str, allowed: list[str] | None) -> tuple[str, ...]:
    """Return the names under which clients may call."""
    names = tuple(allowed or ())
    if is_loopback(host):
        # Pages of other sites cannot reach the service under their own names.
        return (*LOOPBACK_NAMES, *names)
    return names or ("*",)


def read_token(file: Path | None) -> str | None:
    """Return the token of the file or of the environment; visible characters only."""
    source = TOKEN_VARIABLE
    text = os.environ.get(TOKEN_VARIABLE)
    if file is not None:
        source = "--token-file"
        text = file.read_text(encoding="utf-8")
    if text is None:
        return None
    token = text.strip()
    if not token or not token.isascii() or not token.isprintable() or " " in token:
        raise ValueError(
            f"{source} must hold a token of visible ASCII characters without spaces; it is empty "
            "or has others. `openssl rand -hex 32` makes one."
        )
    return token

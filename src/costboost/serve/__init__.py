"""The scoring service: a model file behind HTTP (``costboost serve``, ``docs/serve.md``).

Needs the extra ``serve``: ``pip install "costboost[serve]"``.
"""

from __future__ import annotations

import ipaddress
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["Settings"]


LOOPBACK_NAMES = ("localhost", "127.0.0.1", "[::1]")


@dataclass(frozen=True)
class Settings:
    """The settings of a service.

    Attributes
    ----------
    model : Path
        The model file.
    host, port : str, int
        Where to listen. The default host is reachable from this machine alone.
    workers : int
        Processes that answer.
    token : str or None
        Bearer token that clients must send; None asks for none.
    max_bytes, max_rows : int
        Largest body and largest batch of a request.
    seconds : float
        Longest time for reading and answering a request.
    drain : float
        Seconds between SIGTERM and the end of listening. Meanwhile ``/ready`` says no, and every
        answer closes its connection.
    threads : int
        Threads of a process for batches; single rows need none.
    hosts : tuple of str
        Names that a ``Host`` header may have; empty allows all. Pages of other sites then cannot
        reach a service on loopback under their own host names.
    trusted : tuple of str
        Types inside the model file that the user trusts, as in `costboost.load`.
    access_log : bool
        Whether to write a line of JSON per request to the standard output.
    log_json : bool
        Whether the log of the service is in JSON, too.
    audit : Path or None
        File that gets a line of JSON per decision: time, request, model, decision, probabilities
        and expected costs, by the names that ``costboost predict`` gives them.
    audit_rows : bool
        Whether the cells of the row are in it, too.
    audit_bytes : int
        Size from which on a new file is begun; four older ones are kept.
    """

    model: Path
    host: str = "127.0.0.1"
    port: int = 8000
    workers: int = 1
    token: str | None = field(default=None, repr=False)
    max_bytes: int = 16 * 1024 * 1024
    max_rows: int = 100_000
    seconds: float = 30.0
    drain: float = 1.0
    threads: int = 2
    hosts: tuple[str, ...] = LOOPBACK_NAMES
    trusted: tuple[str, ...] = ()
    access_log: bool = False
    log_json: bool = False
    audit: Path | None = None
    audit_rows: bool = False
    audit_bytes: int = 100 * 1024 * 1024


def is_loopback(host: str) -> bool:
    """Whether an address is reachable from this machine alone."""
    with suppress(ValueError):  # a name
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    return host == "localhost"

"""Processes: one server that drains and reloads on signals, or several under a supervisor."""

from __future__ import annotations

import asyncio
import logging
import multiprocessing
import os
import signal
import socket
import tempfile
import time
from multiprocessing.context import SpawnProcess
from types import FrameType
from typing import Any

import uvicorn

from costboost.serve import Settings

log = logging.getLogger("costboost.serve")

_HANGUP = getattr(signal, "SIGHUP", None)
_STARTUP_FAILED = 3  # the exit status of a worker that cannot start


class DrainingServer(uvicorn.Server):
    """A server that announces its end before it stops listening, and reloads on SIGHUP."""

    # From SIGTERM on, ``/ready`` says no and every answer closes its connection; after ``drain``
    # seconds the server stops listening, and ends when all requests are answered. A second signal
    # skips the wait; a third one ends the server at once, even if requests are not yet answered.

    def __init__(
        self, config: uvicorn.Config, app: Any, drain: float, missed: list[int] | None = None
    ) -> None:
        super().__init__(config)
        self._missed = missed
        self._app = app
        self._drain = drain
        self._leave_at: float | None = None
        self._reloads: set[asyncio.Task[bool]] = set()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to drain; a second signal ends the drain, a third one ends everything."""
        if self._leave_at is None:
            self._app.state.current.is_draining = True
            self._leave_at = time.monotonic() + self._drain
        elif not self.should_exit:
            self.should_exit = True
        else:
            self.force_exit = True

    async def on_tick(self, counter: int) -> bool:
        """Stop when the drain is over; called ten times a second."""
        if self._leave_at is not None and time.monotonic() >= self._leave_at:
            self.should_exit = True
        return await super().on_tick(counter)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and listen to SIGHUP."""
        await super().startup(sockets)
        if _HANGUP is not None:
            asyncio.get_running_loop().add_signal_handler(_HANGUP, self._reload)
        if self._missed:
            self._reload()

    def _reload(self) -> None:
        task = asyncio.get_running_loop().create_task(self._app.state.reload())
        self._reloads.add(task)
        task.add_done_callback(self._reloads.discard)


def listen(settings: Settings) -> socket.socket:
    """The socket of the service."""
    host = settings.host.strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    # The protocol is named because asyncio sends answers without delay (TCP_NODELAY) only then.
    found = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    try:
        found.bind((host, settings.port))
        found.listen(1024)
    except OSError:
        found.close()
        raise
    found.set_inheritable(True)
    return found


def _serve(settings: Settings, listener: socket.socket) -> None:
    """Answer in this process until a signal ends it."""
    missed: list[int] = []
    if _HANGUP is not None:
        signal.signal(_HANGUP, lambda sig, _: missed.append(sig))
        signal.pthread_sigmask(signal.SIG_UNBLOCK, {_HANGUP})
    from costboost.serve.app import create_app
    from costboost.serve.scoring import load_service

    app = create_app(settings, lambda: load_service(settings.model, settings.trusted))
    config = uvicorn.Config(
        app,
        access_log=False,
        log_level="warning",
        server_header=False,
        lifespan="off",
        timeout_keep_alive=75,
        timeout_graceful_shutdown=int(settings.seconds) + 1,
        h11_max_incomplete_event_size=64 * 1024,
    )
    DrainingServer(config, app, settings.drain, missed).run([listener])


def _worker(settings: Settings, listener: socket.socket) -> None:
    """One of several processes."""
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
    try:
        _serve(settings, listener)
    except (ImportError, OSError, ValueError) as error:
        log.error("A worker could not start: %s", error)
        raise SystemExit(_STARTUP_FAILED) from None


def _started(settings: Settings, listener: socket.socket) -> SpawnProcess:
    spawn = multiprocessing.get_context("spawn")
    worker = spawn.Process(target=_worker, args=(settings, listener))
    # A new process inherits what is blocked: SIGHUP waits until it can handle it.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
    try:
        worker.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return worker


def _supervise(settings: Settings, listener: socket.socket) -> int:
    """Keep several processes alive and pass signals on to them; returns the exit status."""
    pending: list[int] = []
    for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(each, lambda sig, _: pending.append(sig))
    status, is_stopping = 0, False
    with tempfile.TemporaryDirectory(prefix="costboost-metrics-") as folder:
        os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
        workers = [_started(settings, listener) for _ in range(settings.workers)]
        while any(worker.is_alive() for worker in workers):
            time.sleep(0.05)
            while pending:
                sig = pending.pop(0)
                if sig != signal.SIGHUP and not is_stopping:
                    is_stopping = True
                    listener.close()  # the workers listen until they have drained
                for worker in workers:
                    if worker.is_alive() and worker.pid is not None:
                        os.kill(worker.pid, sig)
            dead = [place for place, worker in enumerate(workers) if not worker.is_alive()]
            if is_stopping or not dead:
                continue
            if any(workers[place].exitcode == _STARTUP_FAILED for place in dead):
                status = _STARTUP_FAILED  # another one could not start either
                pending.append(signal.SIGTERM)
                continue
            for place in dead:
                log.error("Worker %s ended with %s; another takes its place.", workers[place].pid,
                          workers[place].exitcode)  # fmt: skip
                workers[place] = _started(settings, listener)
    return status


def run(settings: Settings, listener: socket.socket | None = None) -> int:
    """Serve a model until a signal ends it."""
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
    own = listen(settings) if listener is None else listener
    if settings.workers > 1:
        return _supervise(settings, own)
    _serve(settings, own)
    return 0

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


class Supervisor:
    """Keeps several processes alive and passes signals on to them."""

    def __init__(self, settings: Settings, listener: socket.socket) -> None:
        self.settings = settings
        self.listener = listener
        self.is_stopping = False
        self._pending: list[int] = []
        self._spawn = multiprocessing.get_context("spawn")
        self._workers: list[SpawnProcess] = []

    def run(self) -> int:
        """Run until a signal; returns the exit status."""
        watched = [signal.SIGTERM, signal.SIGINT, *([] if _HANGUP is None else [_HANGUP])]
        for each in watched:
            signal.signal(each, lambda sig, _: self._pending.append(sig))
        with tempfile.TemporaryDirectory(prefix="costboost-metrics-") as folder:
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder
            self._workers = [self._started() for _ in range(self.settings.workers)]
            status = 0
            while any(worker.is_alive() for worker in self._workers):
                time.sleep(0.05)
                while self._pending:
                    self._pass_on(self._pending.pop(0))
                if not self.is_stopping:
                    status = self._replace_dead()
            return status

    def _started(self) -> SpawnProcess:
        worker = self._spawn.Process(target=_worker, args=(self.settings, self.listener))
        # A new process inherits what is blocked: SIGHUP waits until it can handle it.
        held = set() if _HANGUP is None else {_HANGUP}
        before = signal.pthread_sigmask(signal.SIG_BLOCK, held)
        try:
            worker.start()
        finally:
            signal.pthread_sigmask(signal.SIG_SETMASK, before)
        return worker

    def _pass_on(self, sig: int) -> None:
        if sig != _HANGUP and not self.is_stopping:
            self.is_stopping = True
            self.listener.close()  # the workers listen until they have drained
        for worker in self._workers:
            if worker.is_alive() and worker.pid is not None:
                os.kill(worker.pid, sig)

    def _replace_dead(self) -> int:
        """Start a process for each that died; give up if it could not start."""
        for place, worker in enumerate(self._workers):
            if worker.is_alive():
                continue
            if worker.exitcode == _STARTUP_FAILED:
                self._pass_on(signal.SIGTERM)
                return _STARTUP_FAILED
            log.error("Worker %s ended with %s; another takes its place.", worker.pid,
                      worker.exitcode)  # fmt: skip
            self._workers[place] = self._started()
        return 0


def run(settings: Settings, listener: socket.socket | None = None) -> int:
    """Serve a model until a signal ends it."""
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
    own = listen(settings) if listener is None else listener
    if settings.workers > 1:
        return Supervisor(settings, own).run()
    _serve(settings, own)
    return 0

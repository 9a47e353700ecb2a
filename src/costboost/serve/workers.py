"""Processes: one server that drains and reloads on signals, or several under a supervisor.

What uvicorn leaves open is bounded here: the time until the head of a request is complete.
"""

from __future__ import annotations

import asyncio
import ctypes
import logging
import math
import multiprocessing
import os
import signal
import socket
import struct
import sys
import tempfile
import threading
import time
from contextlib import suppress
from multiprocessing.context import SpawnProcess
from types import FrameType
from typing import Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from costboost.serve import Settings

log = logging.getLogger("costboost.serve")

_HANGUP = getattr(signal, "SIGHUP", None)
_STARTUP_FAILED = 3  # the exit status of a worker that cannot start
_HEAD_SECONDS = 10.0
# Connections that may wait to be accepted, and that are accepted in one turn of the loop.
_BACKLOG, _AT_ONCE = 1024, 32


class BoundedProtocol(H11Protocol):
    """HTTP with a bound on the time until the head of a request is complete."""

    _made_at = 0.0
    _head_by: float | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Wait for the first request."""
        super().connection_made(transport)
        self._made_at = self.loop.time()
        self._wait_for_head()

    def data_received(self, data: bytes) -> None:
        """Read; a head that is not complete in time ends the connection."""
        super().data_received(data)
        if self.conn.their_state is h11.IDLE:
            self._wait_for_head()
        else:
            self._head_by = None

    def _wait_for_head(self) -> None:
        if self._head_by is None:
            self._head_by = self.loop.time() + _HEAD_SECONDS
        self._unset_keepalive_if_required()
        end = self.timeout_keep_alive_handler
        self.timeout_keep_alive_task = self.loop.call_at(self._head_by, end)


class DrainingServer(uvicorn.Server):
    """A server that announces its end before it stops listening, and reloads on SIGHUP."""

    # From SIGTERM on, ``/ready`` says no and every answer closes its connection; after ``drain``
    # seconds the server stops listening, and ends when all requests are answered. A second signal
    # skips the wait; a third one ends the server at once, even if requests are not yet answered.

    def __init__(self, config: uvicorn.Config, app: Any, drain: float) -> None:
        super().__init__(config)
        self._app = app
        self._drain = drain
        self._drain_began = math.inf

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Begin to drain; a second signal ends the drain, a third one ends everything."""
        if self._drain_began == math.inf:
            self._app.is_draining = True
            self._drain_began = time.monotonic()
        elif not self.should_exit:
            self.should_exit = True
        else:
            self.force_exit = True

    async def on_tick(self, counter: int) -> bool:
        """Stop when the drain is over; called ten times a second."""
        if time.monotonic() >= self._drain_began + self._drain:
            self.should_exit = True
        return await super().on_tick(counter)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start, and listen to SIGHUP."""
        await super().startup(sockets)
        for listener in sockets or ():
            listener.listen(_BACKLOG)  # asyncio has set it to what it accepts at once
        if _HANGUP is not None:
            loop = asyncio.get_running_loop()
            loop.add_signal_handler(_HANGUP, loop.run_in_executor, None, self._app.reload)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {_HANGUP})  # one may have come already

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take the connections that the kernel has made already, and answer them; then end."""
        loop = asyncio.get_running_loop()
        waiting: list[socket.socket] = []
        for listener in sockets or ():
            _make_no_more(listener)
        await asyncio.sleep(0.02)  # until those in the making are made
        for listener in sockets or ():
            with suppress(BlockingIOError):
                while True:
                    waiting.append(listener.accept()[0])
        for server in self.servers:
            server.close()

        def protocol() -> asyncio.Protocol:
            return BoundedProtocol(self.config, self.server_state, self.lifespan.state, loop)

        for connection in waiting:
            await loop.connect_accepted_socket(protocol, connection)
        every: set[Any] = self.server_state.connections
        while not self.force_exit and any(
            one.cycle is None and one._made_at >= self._drain_began for one in every
        ):
            await asyncio.sleep(0.02)  # its first request is on its way, or its time ends
        await super().shutdown(sockets)


# A program for the kernel's packet filter: drop what asks for a connection (SYN is set), pass the
# rest. Code, jump if true, jump if false, operand.
_ATTACH_FILTER = 26 if sys.platform == "linux" else -1
_DROP_SYN = ((0x30, 0, 0, 13), (0x45, 0, 1, 2), (0x06, 0, 0, 0), (0x06, 0, 0, 0xFFFFFFFF))


def _make_no_more(listener: socket.socket) -> None:
    """Let the kernel make no new connections, while those that it has made can be accepted."""
    try:
        code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *x) for x in _DROP_SYN))
        program = struct.pack("HL", len(_DROP_SYN), ctypes.addressof(code))
        listener.setsockopt(socket.SOL_SOCKET, _ATTACH_FILTER, program)
    except OSError:  # not on Linux: one more at most
        listener.listen(0)


def listen(settings: Settings) -> socket.socket:
    """The socket of the service."""
    host = settings.host.strip("[]")
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    both = family == socket.AF_INET6 and socket.has_dualstack_ipv6()
    found = socket.create_server(
        (host, settings.port), family=family, backlog=_BACKLOG, dualstack_ipv6=both
    )
    # What its connections inherit: answers go out without delay, and clients that do not read them
    # are given up.
    found.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    if hasattr(socket, "TCP_USER_TIMEOUT"):
        milliseconds = int(1000 * settings.seconds)
        found.setsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT, milliseconds)
    return found


def _serve(settings: Settings, listener: socket.socket) -> None:
    """Answer in this process until a signal ends it."""
    if _HANGUP is not None:  # it waits until the server can handle it
        signal.pthread_sigmask(signal.SIG_BLOCK, {_HANGUP})
    from costboost.serve.app import create_app
    from costboost.serve.scoring import load_service

    app = create_app(settings, lambda: load_service(settings.model, settings.trusted))
    config = uvicorn.Config(
        app,
        http=BoundedProtocol,
        ws="none",
        backlog=_AT_ONCE,
        access_log=False,
        log_config=None,
        log_level="error",  # a warning for every bad request could fill a disk
        server_header=False,
        lifespan="off",
        timeout_keep_alive=75,
        timeout_graceful_shutdown=int(settings.seconds) + 1,
        h11_max_incomplete_event_size=64 * 1024,
    )
    DrainingServer(config, app, settings.drain).run([listener])


def _worker(settings: Settings, listener: socket.socket) -> None:
    """One of several processes."""
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
    supervisor = multiprocessing.parent_process()
    assert supervisor is not None

    def follow() -> None:
        supervisor.join()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=follow, daemon=True).start()
    try:
        _serve(settings, listener)
    except (ImportError, OSError, ValueError) as error:
        log.error("A worker could not start: %s", error)
        raise SystemExit(_STARTUP_FAILED) from None


def _started(settings: Settings, listener: socket.socket) -> SpawnProcess:
    worker = multiprocessing.get_context("spawn").Process(target=_worker, args=(settings, listener))
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
    is_stopping = False
    workers = [_started(settings, listener) for _ in range(settings.workers)]
    while any(worker.is_alive() for worker in workers):
        time.sleep(0.05)
        sig = pending.pop(0) if pending else None
        for worker in workers:
            if sig is not None and worker.is_alive() and worker.pid is not None:
                os.kill(worker.pid, sig)
        is_stopping |= sig in (signal.SIGTERM, signal.SIGINT)
        if is_stopping:
            listener.close()  # the workers listen until they have drained
            continue
        for place, worker in enumerate(workers):
            # One that could not start is tried again when the model file is said to be another.
            if worker.exitcode not in (None, _STARTUP_FAILED) or (
                sig == signal.SIGHUP and not worker.is_alive()
            ):
                log.error("Worker %s ended with %s; another takes its place.", worker.pid,
                          worker.exitcode)  # fmt: skip
                workers[place] = _started(settings, listener)
    return 0 if is_stopping else _STARTUP_FAILED


def run(settings: Settings, listener: socket.socket | None = None) -> int:
    """Serve a model until a signal ends it."""
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(message)s")
    own = listen(settings) if listener is None else listener
    if settings.workers > 1:
        with tempfile.TemporaryDirectory(prefix="costboost-") as folder:
            os.environ["PROMETHEUS_MULTIPROC_DIR"] = folder  # where workers count together
            return _supervise(settings, own)
    _serve(settings, own)
    return 0

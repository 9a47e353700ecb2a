"""Processes: one server that drains and reloads on signals, or several under a supervisor.

What uvicorn leaves open is bounded here: connections, the time until the head of a request is
complete, and lines of the log.
"""

from __future__ import annotations

import asyncio
import ctypes
import logging
import math
import multiprocessing
import os
import shutil
import signal
import socket
import struct
import sys
import tempfile
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from multiprocessing.context import SpawnProcess
from pathlib import Path
from types import FrameType
from typing import TYPE_CHECKING, Any

import h11
import uvicorn
from uvicorn.protocols.http.h11_impl import H11Protocol

from costboost.serve import Settings
from costboost.serve.logs import write_log

if TYPE_CHECKING:
    from costboost.serve.scoring import Service

log = logging.getLogger("costboost.serve")

_HANGUP = getattr(signal, "SIGHUP", None)
_STARTUP_FAILED = 3  # the exit status of a worker that cannot start
_HEAD_SECONDS = 10.0
# Connections that may wait to be accepted, and that are accepted in one turn of the loop; a few
# turns pass until one that is too many is closed.
_BACKLOG, _AT_ONCE = 1024, 32


def _most_connections() -> int:
    """So many that files remain for everything else."""
    try:
        import resource
    except ImportError:
        return 500
    files = resource.getrlimit(resource.RLIMIT_NOFILE)[0]
    return 1000 if files < 0 else max(8, min(1000, files - 4 * _AT_ONCE - 64))


class BoundedProtocol(H11Protocol):
    """HTTP with a bound on connections and on the time until the head of a request is complete."""

    most = _most_connections()
    _head_by: float | None = None
    _waits_since = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Make room for a connection: the one that has waited longest for a request is closed."""
        super().connection_made(transport)
        self._waits_since = self.loop.time()
        self._wait_for_head()
        if len(self.connections) > self.most:
            every: set[Any] = self.connections
            waiting = [one for one in every if one.cycle is None or one.cycle.response_complete]
            oldest = min(waiting, key=lambda one: one._waits_since)
            every.discard(oldest)
            oldest.transport.abort()

    def on_response_complete(self) -> None:
        """Wait for the next request."""
        self._waits_since = self.loop.time()
        super().on_response_complete()

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

    def __init__(self, config: uvicorn.Config, listener: socket.socket, drain: float) -> None:
        super().__init__(config)
        self._app: Any = config.app
        self._listener, self._drain, self._drain_began = listener, drain, math.inf

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
        self._listener.listen(_BACKLOG)  # asyncio has set it to what it accepts at once
        if _HANGUP is not None:
            loop = asyncio.get_running_loop()
            loop.add_signal_handler(_HANGUP, loop.run_in_executor, None, self._app.reload)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, {_HANGUP})  # one may have come already

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Take the connections that the kernel has made already, and answer them; then end."""
        loop = asyncio.get_running_loop()

        def protocol() -> asyncio.Protocol:
            return BoundedProtocol(self.config, self.server_state, self.lifespan.state, loop)

        _make_no_more(self._listener)
        await asyncio.sleep(0.02)  # until those in the making are made
        with suppress(BlockingIOError):
            while True:
                await loop.connect_accepted_socket(protocol, self._listener.accept()[0])
        for server in self.servers:
            server.close()
        every: set[Any] = self.server_state.connections
        while not self.force_exit and any(
            one.cycle is None and one._waits_since >= self._drain_began for one in every
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


def _loader(settings: Settings, folder: Path) -> Callable[[], Service]:
    """Loads the model file; a worker that starts while it is faulty takes the last good one."""
    from costboost.serve.scoring import load_service

    last_good, title = folder / "last_good", settings.model.stem
    may_take_last = True

    def load() -> Service:
        nonlocal may_take_last
        copy = folder / f"model-{os.getpid()}"  # nobody changes it while it is read
        try:
            shutil.copyfile(settings.model, copy)
            service = load_service(copy, settings.trusted, title)
        except (OSError, ValueError) as error:
            if not may_take_last or not last_good.exists():
                raise
            log.error("The model file is faulty, the last good one is taken: %s", error)
            service = load_service(last_good, settings.trusted, title)
        else:
            # Of a worker that was late, it may be older than what another has loaded meanwhile.
            if not last_good.exists() or copy.stat().st_mtime_ns > last_good.stat().st_mtime_ns:
                copy.replace(last_good)
        may_take_last = False
        return service

    return load


def _serve(settings: Settings, listener: socket.socket, folder: Path) -> None:
    """Answer in this process until a signal ends it."""
    if _HANGUP is not None:
        # It waits until the server can handle it: the main thread blocks it, and gets it again if a
        # thread of another library, which does not block it, was chosen.
        signal.pthread_sigmask(signal.SIG_BLOCK, {_HANGUP})
        signal.signal(_HANGUP, lambda sig, _: signal.raise_signal(sig))
    from costboost.serve.app import Application

    config = uvicorn.Config(
        Application(settings, _loader(settings, folder)),
        http=BoundedProtocol,
        ws="none",
        backlog=_AT_ONCE,
        access_log=False,
        log_config=None,
        log_level="warning",
        server_header=False,
        lifespan="off",
        timeout_keep_alive=75,
        timeout_graceful_shutdown=int(settings.seconds) + 1,
        h11_max_incomplete_event_size=64 * 1024,
    )
    DrainingServer(config, listener, settings.drain).run([listener])


def _worker(settings: Settings, listener: socket.socket, folder: Path) -> None:
    """One of several processes."""
    write_log(settings.log_json)
    supervisor = multiprocessing.parent_process()
    assert supervisor is not None

    def follow() -> None:
        supervisor.join()
        os.kill(os.getpid(), signal.SIGTERM)

    threading.Thread(target=follow, daemon=True).start()
    try:
        _serve(settings, listener, folder)
    except (ImportError, OSError, ValueError) as error:
        log.error("A worker could not start: %s", error)
        raise SystemExit(_STARTUP_FAILED) from None


def _started(*arguments: Any) -> SpawnProcess:
    worker = multiprocessing.get_context("spawn").Process(target=_worker, args=arguments)
    # A new process inherits what is blocked: SIGHUP waits until it can handle it.
    before = signal.pthread_sigmask(signal.SIG_BLOCK, {signal.SIGHUP})
    try:
        worker.start()
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)
    return worker


def _supervise(settings: Settings, listener: socket.socket, folder: Path) -> int:
    """Keep several processes alive and pass signals on to them; returns the exit status."""
    pending: list[int] = []
    for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(each, lambda sig, _: pending.append(sig))
    is_stopping = False
    os.environ["PROMETHEUS_MULTIPROC_DIR"] = str(folder)  # where workers count together
    workers = [_started(settings, listener, folder) for _ in range(settings.workers)]
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
                workers[place] = _started(settings, listener, folder)
    return 0 if is_stopping else _STARTUP_FAILED


def run(settings: Settings, listener: socket.socket | None = None) -> int:
    """Serve a model until a signal ends it."""
    write_log(settings.log_json)
    own = listen(settings) if listener is None else listener
    with tempfile.TemporaryDirectory(prefix="costboost-") as name:
        if settings.workers > 1:
            return _supervise(settings, own, Path(name))
        _serve(settings, own, Path(name))
    return 0

# mypy: disable-error-code="no-untyped-call"
"""Waiting for a cluster without hanging when a worker dies, stops answering or has no memory."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, TypeVar

from distributed import Client, KilledWorker, get_client

__all__ = ["SILENCE", "Crew", "Silence", "WorkerLostError", "client_for", "gather", "guarded"]

# Seconds between two looks at the workers, and how long a failed run waits for the news that a
# worker has died.
_LOOK = 0.5
_NEWS = 3.0

# Seconds that a worker may be silent.
SILENCE = 300.0

T = TypeVar("T")


class WorkerLostError(RuntimeError):
    """A worker of the cluster died or fell silent while it was needed; the fit was given up."""


class Silence:
    """How long workers have been silent, or have begun no work for want of memory."""

    # The clock is that of this process, so clocks of other machines do not matter.

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._heard: dict[str, tuple[Any, float]] = {}
        self._idle: dict[str, float] = {}

    def look(
        self, workers: Mapping[str, Mapping[str, Any]], needed: set[str], now: float
    ) -> dict[str, str]:
        """Workers that are silent or stuck for too long, and what is wrong with each."""
        # A worker whose memory is nearly full is paused: what it does goes on, but nothing begins.
        # It is stuck if it does nothing. One that is stuck holds up a training that needs it, and
        # all else only if the others are stuck too.
        stuck = set()
        for address, worker in workers.items():
            seen = worker.get("last_seen")
            if address not in self._heard or self._heard[address][0] != seen:
                self._heard[address] = seen, now
            if worker.get("status") != "paused" or _is_computing(worker):
                self._idle.pop(address, None)
            elif now - self._idle.setdefault(address, now) > self.seconds:
                stuck.add(address)
        if not stuck & needed and stuck != set(workers):
            stuck = set()
        return {
            **dict.fromkeys(stuck, "has no memory left to begin its work"),
            **{
                address: "does not answer"
                for address in workers
                if now - self._heard[address][1] > self.seconds
            },
        }


def _is_computing(worker: Mapping[str, Any]) -> bool:
    """Whether a worker says that a task is running."""
    counts = worker.get("metrics", {}).get("task_counts", {})
    return bool(counts.get("executing") or counts.get("long-running"))


class Crew:
    """The workers that a run cannot do without; none until it says so."""

    def __init__(self) -> None:
        self.addresses: set[str] = set()

    def needs(self, addresses: Iterable[str]) -> None:
        """From now on the run ends if one of these dies."""
        self.addresses = set(addresses)


def client_for(client: Client | None, owner: str) -> Client:
    """The client given, or the one in use."""
    if client is None:
        try:
            client = get_client()
        except ValueError:
            raise RuntimeError(
                f"{owner} found no Dask client. Start one, client = distributed.Client(...), or "
                "pass client=."
            ) from None
    if client.asynchronous:
        raise TypeError(
            f"The 'client' parameter of {owner} must be a client that waits for its results. Got "
            "an asynchronous one; use distributed.Client(..., asynchronous=False)."
        )
    return client


def guarded(
    client: Client,
    run: Callable[[Crew], Awaitable[T]],
    doing: str,
    owner: str,
    seconds: float = SILENCE,
) -> T:
    """Run a coroutine on the cluster; end it when a worker that it needs dies or falls silent."""
    # XGBoost's workers wait for each other in every round, so the loss of one ends a training: by
    # an error of the others in most cases, but by nothing at all if no worker is left to fail.

    def lost_error(lost: Iterable[str]) -> WorkerLostError:
        names = ", ".join(sorted(lost)) or "of the cluster"
        return WorkerLostError(
            f"{owner} lost the worker {names} while {doing}, and gave up: no model was made. Call "
            "fit again: it uses the workers that are left, or restarted. If the worker ran out of "
            "memory (see its log), give workers more memory or use more of them."
        )

    def silent_error(silent: Mapping[str, str]) -> WorkerLostError:
        words = ", ".join(f"{address} {what}" for address, what in sorted(silent.items()))
        return WorkerLostError(
            f"{owner} gave up while {doing}, and no model was made: for {seconds:g} seconds the "
            f"worker {words}. Restart it (client.restart()), give workers more memory, or "
            "raise worker_timeout, and call fit again."
        )

    async def told() -> dict[str, Any]:
        try:
            return await asyncio.wait_for(_told(client), max(seconds, _NEWS))
        except (TimeoutError, OSError) as error:
            why = f" ({error})" if str(error) else ""
            raise WorkerLostError(
                f"{owner} gave up while {doing}, and no model was made: the scheduler of the "
                f"cluster does not answer{why}. Start the cluster anew and call fit again."
            ) from error

    async def ended(task: asyncio.Future[T]) -> None:
        task.cancel()
        await asyncio.wait({task}, timeout=_NEWS)

    async def watch() -> T:
        crew, silence = Crew(), Silence(seconds)
        known = before = _folders(await told())
        task = asyncio.ensure_future(run(crew))
        while not (await asyncio.wait({task}, timeout=_LOOK))[0]:
            try:
                workers = await told()
            except WorkerLostError:
                await ended(task)
                raise
            now = _folders(workers)
            silent = silence.look(workers, crew.addresses, time.monotonic())
            if silent:
                await ended(task)
                raise silent_error(silent)
            known = {**now, **known} if crew.addresses else now
            # Dask repeats the work of a lost worker elsewhere, if there is an elsewhere.
            lost = _gone(crew.addresses, known, now) if now else set(crew.addresses or before)
            if lost:
                await ended(task)
                raise lost_error(lost)
        try:
            return task.result()
        except Exception as error:
            if isinstance(error, KilledWorker):
                raise lost_error([str(error.last_worker.address)]) from error
            # The others may fail before the scheduler hears of the loss. Dask itself makes up for
            # a loss, so an error outside a training has most likely another cause.
            for _ in range(round(_NEWS / _LOOK) if crew.addresses else 1):
                now = _folders(await told())
                lost = _gone(crew.addresses or set(before), {**before, **known}, now)
                if lost:
                    raise lost_error(lost) from error
                await asyncio.sleep(_LOOK if crew.addresses else 0.0)
            raise

    with client.as_current():
        return client.sync(watch)  # type: ignore[no-any-return]


def gather(
    client: Client, parts: list[Any], doing: str, owner: str, seconds: float = SILENCE
) -> list[Any]:
    """Results of delayed objects, or an error if the workers are gone."""

    async def run(_: Crew) -> list[Any]:
        return list(await client.gather(client.compute(parts)))

    return guarded(client, run, doing, owner, seconds)


def _gone(addresses: set[str], known: Mapping[str, str], now: Mapping[str, str]) -> set[str]:
    """Workers that have left, or that others of the same address have replaced."""
    return {a for a in addresses if a not in now or now[a] != known.get(a, now[a])}


async def _told(client: Any) -> dict[str, Any]:
    """What the scheduler knows of each worker, by address."""
    found: dict[str, Any] = (await client.scheduler.identity())["workers"]
    return found


def _folders(workers: Mapping[str, Any]) -> dict[str, str]:
    """Working folders by address: a process that is started anew has a new one."""
    return {address: str(worker["local_directory"]) for address, worker in workers.items()}

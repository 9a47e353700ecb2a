# mypy: disable-error-code="no-untyped-call"
"""Waiting for a cluster without hanging when a worker dies."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Mapping
from typing import Any, TypeVar

from distributed import Client, KilledWorker, get_client

__all__ = ["Crew", "WorkerLostError", "client_for", "gather", "guarded"]

# Seconds between two looks at the workers, and how long a failed run waits for the news that a
# worker has died.
_LOOK = 0.5
_NEWS = 3.0

T = TypeVar("T")


class WorkerLostError(RuntimeError):
    """A worker of the cluster died while it was needed, and the fit was given up."""


class Crew:
    """The workers that a run cannot do without; none until it says so."""

    def __init__(self) -> None:
        self.addresses: set[str] = set()

    def needs(self, addresses: Iterable[str]) -> None:
        """From now on the run ends if one of these dies."""
        self.addresses = set(addresses)


def client_for(client: Client | None, owner: str) -> Client:
    """The client given, or the one in use.

    Parameters
    ----------
    client : distributed.Client or None
        The argument.
    owner : str
        Class that errors name.

    Returns
    -------
    distributed.Client
        A client that waits, not an asynchronous one.
    """
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


def guarded(client: Client, run: Callable[[Crew], Awaitable[T]], doing: str, owner: str) -> T:
    """Run a coroutine on the cluster and end it when a worker that it needs dies.

    XGBoost's workers wait for each other in every round, so the loss of one ends a training: by an
    error of the others in most cases, but by nothing at all if no worker is left to fail.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    run : callable
        Makes the coroutine; it is given the crew, to name the workers it needs.
    doing : str
        What it does, for the error.
    owner : str
        Class that the error names.

    Returns
    -------
    object
        What the coroutine returns.

    Raises
    ------
    WorkerLostError
        If a worker was lost, and with it the result.
    """

    def lost_error(lost: Iterable[str]) -> WorkerLostError:
        names = ", ".join(sorted(lost)) or "of the cluster"
        return WorkerLostError(
            f"{owner} lost the worker {names} while {doing}, and gave up: no model was made. Call "
            "fit again: it uses the workers that are left, or restarted. If the worker ran out of "
            "memory (see its log), give workers more memory or use more of them."
        )

    async def watch() -> T:
        crew = Crew()
        known = before = await _workers(client)
        task = asyncio.ensure_future(run(crew))
        while not (await asyncio.wait({task}, timeout=_LOOK))[0]:
            now = await _workers(client)
            known = {**now, **known} if crew.addresses else now
            # Dask repeats the work of a lost worker elsewhere, if there is an elsewhere.
            lost = _gone(crew.addresses, known, now) if now else set(crew.addresses or before)
            if lost:
                task.cancel()
                await asyncio.wait({task}, timeout=_NEWS)
                raise lost_error(lost)
        try:
            return task.result()
        except Exception as error:
            if isinstance(error, KilledWorker):
                raise lost_error([str(error.last_worker.address)]) from error
            # The others may fail before the scheduler hears of the loss. Dask itself makes up for
            # a loss, so an error outside a training has most likely another cause.
            for _ in range(round(_NEWS / _LOOK) if crew.addresses else 1):
                now = await _workers(client)
                lost = _gone(crew.addresses or set(before), {**before, **known}, now)
                if lost:
                    raise lost_error(lost) from error
                await asyncio.sleep(_LOOK if crew.addresses else 0.0)
            raise

    with client.as_current():
        return client.sync(watch)  # type: ignore[no-any-return]


def gather(client: Client, parts: list[Any], doing: str, owner: str) -> list[Any]:
    """Results of delayed objects, or an error if the workers are gone.

    Parameters
    ----------
    client : distributed.Client
        The cluster.
    parts : list of delayed
        What to compute.
    doing, owner : str
        As in `guarded`.

    Returns
    -------
    list
        The results.
    """

    async def run(_: Crew) -> list[Any]:
        return list(await client.gather(client.compute(parts)))

    return guarded(client, run, doing, owner)


def _gone(addresses: set[str], known: Mapping[str, str], now: Mapping[str, str]) -> set[str]:
    """Workers that have left, or that others of the same address have replaced."""
    return {a for a in addresses if a not in now or now[a] != known.get(a, now[a])}


async def _workers(client: Any) -> dict[str, str]:
    """Working folders by address: a process that is started anew has a new one."""
    workers = (await client.scheduler.identity())["workers"]
    return {address: str(worker["local_directory"]) for address, worker in workers.items()}

"""Boosters on disk as they finish, so that a killed fit goes on where it stopped."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import fields
from typing import TYPE_CHECKING, Any

from costboost._threads import n_threads
from costboost._typing import Floats
from costboost.gbm.engines.base import Job
from costboost.gbm.models import Model
from costboost.gbm.rounds import RoundLog
from costboost.gbm.settings import Settings
from costboost.gbm.sources.base import Source, Trainer

if TYPE_CHECKING:
    from costboost.files.checkpoint import Checkpoint
    from costboost.gbm.casting import Start

__all__ = ["BoosterStore", "resumable"]

# What is told in another way (seeds and folds by the source, boosters to continue), or changes no
# number.
_NOT_COMPARED = frozenset({"owner", "random_state", "cv", "warm_start", "n_jobs", "verbose"})


class BoosterStore:
    """The finished boosters of one fit."""

    def __init__(self, checkpoint: Checkpoint) -> None:
        self._checkpoint = checkpoint

    def trainer(self, trainer: Trainer, kind: str) -> Trainer:
        """A trainer that recalls finished boosters and keeps new ones."""

        def train(number: int | None, job: Job) -> tuple[Model, Floats | None]:
            place = "all rows" if number is None else str(number)
            name, log = f"{kind}, {place}", job.after_round
            assert isinstance(log, RoundLog)
            if name in self._checkpoint.names():
                model, seen, evals = self._checkpoint.get(name)
                log.recall(evals)
                return model, seen
            model, seen = trainer(number, job)
            self._checkpoint.put(name, (model, seen, log.evals))
            return model, seen

        return train


@contextmanager
def resumable(
    path: str | os.PathLike[str] | None,
    source: Source,
    settings: Settings,
    start: Mapping[str, Start] | None = None,
) -> Iterator[BoosterStore | None]:
    """Boosters that an earlier, killed fit had finished; the file goes when the fit has ended."""
    if path is None:
        yield None
        return
    from costboost.files.checkpoint import Checkpoint, digest, versions

    if settings.random_state is None:
        raise ValueError(
            f"The 'checkpoint' argument of {settings.owner}.fit needs a seed, or a second fit "
            "could not be the same one: got random_state=None. Set random_state to a number."
        )
    parameters: dict[str, Any] = {
        field.name: getattr(settings, field.name)
        for field in fields(settings)
        if field.name not in _NOT_COMPARED
    }
    parameters["threads"] = n_threads(settings.n_jobs, source.totals.rows)
    boosters = {name: list(before.models) for name, before in (start or {}).items()}
    asked = {
        "parameters": digest(parameters, settings.owner),
        "seeds": digest([int(seed) for seed in source.seeds], "seeds"),
        "boosters to continue": digest(boosters, "boosters to continue"),
        "versions": ", ".join(f"{name} {number}" for name, number in versions().items()),
        **source.identity(),
    }
    checkpoint = Checkpoint(path, asked, settings.owner)
    yield BoosterStore(checkpoint)
    checkpoint.remove()

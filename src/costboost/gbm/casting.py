"""The models of one head: which kinds are trained, on which rows, and how much each counts."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, replace
from functools import partial
from threading import Event
from typing import TypeVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from costboost._threads import blas_threads
from costboost._typing import Floats
from costboost.errors import TimeLimitWarning
from costboost.gbm.checkpoint import BoosterStore
from costboost.gbm.engines.base import Engine, Job
from costboost.gbm.heads import Head
from costboost.gbm.members import Members, Recipe, blend, mixed
from costboost.gbm.models import Model
from costboost.gbm.portfolio import recipes_for
from costboost.gbm.rounds import Callback, Evals, Round, RoundLog, costs_of, first_rounds
from costboost.gbm.settings import Settings
from costboost.gbm.sources.base import Source, Trainer
from costboost.gbm.targets import Columns, Part, Target
from costboost.gbm.trials import Trained, Trial

__all__ = ["Cast", "Clock", "Start", "Task", "Training", "sampled"]

T = TypeVar("T")

# Held-out rows that choose the weights of members; more would not change them.
_BLEND_ROWS = 20_000
# Rounds of a booster that sees all rows, in those of boosters that saw a part of them.
_MORE_ROUNDS = 1.1
# Time that such a booster takes, in that of all boosters of the folds.
_REFIT_TIME = 0.4
# Held-out rows of the first fold from which they tell whether a kind is worth the other folds.
_RACE_ROWS = 500
# Share of their loss that it must save there; with a high effort, anything that pays.
_RACE_GAIN = 0.005


@dataclass(frozen=True, eq=False)
class Task:
    """A head to be trained."""

    target: Target
    head: Head


@dataclass(frozen=True, eq=False)
class Start:
    """Models of one head to continue."""

    models: Sequence[Model]
    members: Members
    evals: Sequence[Evals] = ()

    def of(self, recipe: Recipe, number: int, n_boosters: int) -> tuple[Model | None, Evals | None]:
        """The model of a kind on a fold, with what is known of its rounds; None if it is new."""
        used = [member.name for member in self.members if member.weight > 0]
        if (recipe.name not in used) or len(self.models) != len(used) * n_boosters:
            return None, None
        place = used.index(recipe.name) * n_boosters + number
        model = self.models[place]
        if not self.evals:
            return model, None
        return model, first_rounds(self.evals[place], model.n_rounds)


@dataclass(frozen=True, eq=False)
class Cast:
    """The models of one head."""

    models: list[Model]
    weights: list[float]
    scores: Floats | None
    evals: list[Evals]
    members: Members


class Clock:
    """Time that a training may take."""

    def __init__(self, limit: float | None) -> None:
        self.limit = limit
        self.start = time.monotonic()

    @property
    def left(self) -> float:
        """Seconds that are left."""
        return np.inf if self.limit is None else self.limit - (time.monotonic() - self.start)

    def part(self, share: float) -> Clock:
        """A clock for a share of the time that is left."""
        return Clock(None if self.limit is None else share * max(self.left, 0.0))

    def ends(self, told: Round) -> bool:
        """Whether the time is over, as a callback."""
        return self.left <= 0

    def warn(self, casts: Mapping[str, Cast], owner: str) -> None:
        """Say so if the time ended a training that was not over."""
        cut = [m.name for cast in casts.values() for m in cast.members if m.weight > 0 and m.note]
        if cut and self.limit is not None:
            warnings.warn(
                f"time_limit={self.limit:g} of {owner} ended the training of {', '.join(cut)} "
                "before the held-out loss had stopped falling, so more money can be saved. Give "
                "more time, or set effort='fast' for one booster; members_ has the details.",
                TimeLimitWarning,
                stacklevel=4,
            )


def sampled(target: Target, columns: Columns) -> tuple[Part, slice]:
    """A target on as many held-out rows as weights of scores are chosen by, and which they are."""
    some = slice(None, None, -(-len(columns.labels) // _BLEND_ROWS))
    return target.part(columns.take(some)), some


class Training:
    """Trains the models of one head."""

    def __init__(
        self,
        source: Source,
        settings: Settings,
        task: Task,
        callbacks: Sequence[Callback],
        ended: Callable[[int, Evals], None],
        store: BoosterStore | None = None,
        n_workers: int = 1,
    ) -> None:
        self.source = source
        self.settings = settings
        self.task = task
        self.callbacks = callbacks
        self.ended = ended
        self.store = store
        self.n_workers = n_workers
        self.is_over = Event()
        self.has_kinds = False

    def cast(self, start: Start | None, clock: Clock) -> Cast:
        """Train the kinds that the effort allows, and find their weights."""
        trials = [Trial(recipe) for recipe in self._recipes(start)]
        self.has_kinds = len(trials) > 1
        has_products = any(trial.recipe.engine in ("linear", "network") for trial in trials)
        with ExitStack() as stack:
            if has_products:  # these hold for the whole process, so threads must not set them
                # One thread, so that a seed gives the same model on any number of cores.
                stack.enter_context(blas_threads(1))
                stack.enter_context(warnings.catch_warnings())
                # The held-out loss chooses among fits, also those that did not converge.
                warnings.simplefilter("ignore", ConvergenceWarning)
            if self.n_workers > 1:
                self._train_together(trials, start)
            else:
                self._train_in_turn(trials, start, clock)
        trained = [trial for trial in trials if trial.models]
        losses, weights = self._weights(trained)
        told = dict(zip(map(id, trained), zip(weights, losses, strict=True), strict=True))
        used = [(t, w) for t, w in zip(trained, weights, strict=True) if w > 0]
        models, shares = self._final(used, clock)
        scores = [w * t.scores for t, w in used if t.scores is not None]
        return Cast(
            models,
            shares,
            np.asarray(sum(scores)) if scores else None,
            [evals for trial, _ in used for evals in trial.evals],
            Members(trial.member(*told.get(id(trial), (0.0, np.nan))) for trial in trials),
        )

    def _recipes(self, start: Start | None) -> list[Recipe]:
        found = recipes_for(self.settings, self.task.target, self.source.shape)
        if start is None:
            return found
        used = {member.name for member in start.members if member.weight > 0}
        return [recipe for recipe in found if recipe.name in used] or found[:1]

    def _train_in_turn(self, trials: Sequence[Trial], start: Start | None, clock: Clock) -> None:
        """Train model after model, as long as there is time."""
        n = len(self.source.seeds)
        for place, trial in enumerate(trials):
            rivals = [earlier for earlier in trials[:place] if earlier.models]
            if rivals and clock.left < np.mean([rival.seconds for rival in rivals]):
                trial.note = "no time"
                continue
            trainer = self._trainer(trial.recipe)
            for number in range(n):
                mine = clock.part(1 / (n - number))
                callbacks = [*self.callbacks, mine.ends]
                trained = self._trained(trainer, trial.recipe, number, start, callbacks)
                trial.add(trained)
                self.ended(trained.model.n_rounds, trained.evals)
                if mine.left <= 0:
                    trial.note = "ended by time_limit"
                if number == 0 and self._is_beaten(trial, rivals, start):
                    break

    def _train_together(self, trials: Sequence[Trial], start: Start | None) -> None:
        """Train several models at a time, each with its share of the threads."""
        trainers = [self._trainer(trial.recipe, self.n_workers) for trial in trials]

        def train(places: Sequence[int], numbers: Sequence[int]) -> None:
            asked = [(place, number) for place in places for number in numbers]
            calls = [
                partial(self._trained, trainers[i], trials[i].recipe, number, start, [self._ends])
                for i, number in asked
            ]
            for (place, _), trained in zip(asked, self._together(calls), strict=True):
                trials[place].add(trained)

        # The first fold of every kind, then the others of those that it does not rule out.
        n = len(self.source.seeds)
        first = 1 if len(trials) > 1 else n
        train(range(len(trials)), range(first))
        for place, trial in enumerate(trials):
            self._is_beaten(trial, [rival for rival in trials[:place] if rival.models], start)
        left = [place for place, trial in enumerate(trials) if trial.models]
        train(left, range(first, n))

    def _together(self, calls: Sequence[Callable[[], T]]) -> list[T]:
        """What the calls return, in their order; several are made at a time."""
        if self.n_workers == 1:
            return [call() for call in calls]
        with ThreadPoolExecutor(self.n_workers, "costboost") as pool:
            try:
                return [future.result() for future in [pool.submit(call) for call in calls]]
            except BaseException:  # also an interruption: nobody needs the others
                self.is_over.set()
                pool.shutdown(wait=False, cancel_futures=True)
                raise

    def _ends(self, told: Round) -> bool:
        """Whether the training has failed or was interrupted, as a callback."""
        return self.is_over.is_set()

    def _trained(
        self,
        trainer: Trainer,
        recipe: Recipe,
        number: int,
        start: Start | None,
        callbacks: Sequence[Callback],
    ) -> Trained:
        """Train a kind of model on one fold."""
        began = time.monotonic()
        n, rounds = len(self.source.seeds), self.settings.n_estimators
        before, earlier = (None, None) if start is None else start.of(recipe, number, n)
        log = RoundLog(
            self.task.target.name,
            (number + 1, n),
            rounds,
            costs_of(self.task.head, self.source.watched(number)),
            callbacks,
            earlier,
            recipe.name if self.has_kinds else "",
        )
        seed = self.source.seeds[number]
        job = Job(rounds, self.settings.stopping_patience, seed, before, log)
        model, scores = trainer(number, job)
        return Trained(model, scores, log.evals, time.monotonic() - began)

    def _is_beaten(self, trial: Trial, rivals: Sequence[Trial], start: Start | None) -> bool:
        """Whether the first of the folds shows that the rivals do not need it; if so, drop it."""
        # Kinds to be continued were chosen before.
        has_race = start is None and len(self.source.seeds) > 1
        if not has_race or not self._adds_nothing(trial, rivals):
            return False
        trial.give_up("adds nothing on the first fold")
        return True

    def _adds_nothing(self, trial: Trial, rivals: Sequence[Trial]) -> bool:
        """Whether the held-out rows of the first fold are many, and it hardly lowers their loss."""
        held_out = self.source.held_out(0)
        if not rivals or not trial.parts or held_out is None or len(held_out) < _RACE_ROWS:
            return False
        columns = self.task.target.columns(held_out.costs, held_out.weights)
        scores = [rival.parts[0] for rival in rivals if rival.parts]
        part, some = sampled(self.task.target, columns)
        if part.weight <= 0:
            return False
        found = [s[some] for s in (*scores, trial.parts[0])]
        weights = blend(found, part.loss)
        if weights[-1] == 0:
            return True
        before = part.loss(mixed(found[:-1], blend(found[:-1], part.loss)))
        least = _RACE_GAIN if self.settings.effort == "balanced" else 0.0
        return part.loss(mixed(found, weights)) > before - least * abs(before)

    def _trainer(self, recipe: Recipe, n_workers: int = 1) -> Trainer:
        trainer = self.source.trainer(self._engine(recipe, n_workers), self.task.target)
        if self.store is None:
            return trainer
        return self.store.trainer(
            trainer, f"{self.task.target.name}, {recipe.engine}, {recipe.name}"
        )

    def _engine(self, recipe: Recipe, n_workers: int = 1) -> Engine:
        """The engine of a kind, with its share of the threads if it works beside others."""
        engine = self.source.engine(self.settings, recipe)
        if n_workers == 1 or engine.threads is None:
            return engine
        share = max(self.source.threads(self.settings) // n_workers, 1)
        return replace(engine, threads=min(engine.threads, share))

    def _weights(self, trials: Sequence[Trial]) -> tuple[list[float], Floats]:
        """Held-out losses, and weights by them; without held-out rows the first kind counts."""
        scores = [trial.scores for trial in trials]
        held_out = self.source.held_out()
        known = [s for s in scores if s is not None]
        if held_out is None or len(known) < len(scores):
            return [np.nan] * len(trials), np.eye(len(trials))[0]
        target: Target = self.task.target
        columns = target.columns(held_out.costs, held_out.weights)
        whole = target.part(columns)
        if whole.weight <= 0:  # nothing is at stake on these rows
            return [np.nan] * len(trials), np.eye(len(trials))[0]
        losses = [whole.loss(s) for s in known]
        if len(trials) == 1:
            return losses, np.ones(1)
        part, some = sampled(self.task.target, columns)
        if part.weight <= 0:
            return losses, np.eye(len(trials))[0]
        return losses, blend([s[some] for s in known], part.loss)

    def _final(
        self, used: Sequence[tuple[Trial, float]], clock: Clock
    ) -> tuple[list[Model], list[float]]:
        """The models that count, with their weights: those of the folds, or one of all rows."""
        # Without time for it, the models of the folds are as good.
        again = [
            trial
            for trial, _ in used
            if self.source.refits(self.settings) and clock.left > _REFIT_TIME * trial.seconds
        ]
        workers = min(self.n_workers, len(again))
        calls = [partial(self._single, trial, workers) for trial in again]
        single = dict(zip(map(id, again), self._together(calls), strict=True))
        models: list[Model] = []
        weights: list[float] = []
        for trial, weight in used:
            found = [single[id(trial)]] if id(trial) in single else trial.models
            models += found
            weights += [weight / len(found)] * len(found)
        return models, weights

    def _single(self, trial: Trial, n_workers: int) -> Model:
        """One model in place of those of the folds: as their engine makes it, or of all rows."""
        engine = self._engine(trial.recipe)
        return engine.together(trial.models) or self._refitted(trial, n_workers)

    def _refitted(self, trial: Trial, n_workers: int) -> Model:
        """One booster of all rows, with about as many rounds as those of the folds needed."""
        rounds = _MORE_ROUNDS * float(np.mean([model.n_rounds for model in trial.models]))
        log = RoundLog(self.task.target.name, (1, 1), max(round(rounds), 1), {}, [self._ends])
        job = Job(log.n_rounds, 0, self.source.seeds[0], None, log)
        model, _ = self._trainer(trial.recipe, n_workers)(None, job)
        return model

"""The models of one head: which kinds are trained, on which rows, and how much each counts."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from costboost._typing import Floats
from costboost.errors import TimeLimitWarning
from costboost.gbm.checkpoint import BoosterStore
from costboost.gbm.engines.base import Engine, Job, Model
from costboost.gbm.heads import Head
from costboost.gbm.members import Member, Members, Recipe, blend
from costboost.gbm.portfolio import recipes_for
from costboost.gbm.rounds import Callback, Evals, Round, RoundLog, costs_of, first_rounds
from costboost.gbm.settings import Settings
from costboost.gbm.sources.base import Source, Trainer
from costboost.gbm.targets import Target

__all__ = ["Cast", "Clock", "Start", "Task", "Training"]

# Held-out rows that choose the weights of members; more would not change them.
_BLEND_ROWS = 20_000
# Rounds of a booster that sees all rows, in those of boosters that saw a part of them.
_MORE_ROUNDS = 1.1
# Time that such a booster takes, in that of all boosters of the folds.
_REFIT_TIME = 0.4
# Held-out rows of the first fold from which they tell whether a kind is worth the other folds.
_RACE_ROWS = 500


@dataclass(frozen=True, eq=False)
class Task:
    """A head to be trained.

    Attributes
    ----------
    target : Target
        What its boosters are trained for; its name is that of the head.
    head : Head
        The head, without boosters: it can decide by given scores already.
    """

    target: Target
    head: Head


@dataclass(frozen=True, eq=False)
class Start:
    """Models of one head to continue.

    Attributes
    ----------
    models : sequence of Model
        The models: all of one kind, then all of the next one.
    members : Members
        Their kinds.
    evals : sequence of Evals
        Losses and costs of their rounds; empty if they are not known.
    """

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
    """The models of one head.

    Attributes
    ----------
    models : list of Model
        The models that count, kind by kind.
    weights : list of float
        Their weights, which sum to 1.
    scores : array or None
        Their mean scores of the held-out rows, each by models that did not see it.
    evals : list of Evals
        Losses and costs by round, of the models of the kinds that count, fold by fold.
    members : Members
        All kinds that were tried.
    """

    models: list[Model]
    weights: list[float]
    scores: Floats | None
    evals: list[Evals]
    members: Members


@dataclass(eq=False)
class Trial:
    """One kind of model, trained on every fold."""

    recipe: Recipe
    models: list[Model] = field(default_factory=list)
    parts: list[Floats] = field(default_factory=list)
    evals: list[Evals] = field(default_factory=list)
    seconds: float = 0.0
    note: str = ""

    @property
    def scores(self) -> Floats | None:
        """Scores of the held-out rows, fold by fold."""
        return np.concatenate(self.parts) if self.parts else None

    def give_up(self, why: str) -> None:
        """Leave it out."""
        self.models, self.parts, self.evals, self.note = [], [], [], why

    def member(self, weight: float, loss: float) -> Member:
        """What became of it."""
        rounds = float(np.mean([model.n_rounds for model in self.models])) if self.models else 0.0
        recipe = self.recipe
        return Member(
            recipe.name, recipe.engine, float(weight), float(loss), rounds, self.seconds, self.note
        )


class Clock:
    """Time that a training may take.

    Parameters
    ----------
    limit : float or None
        Seconds from now; None is no limit.
    """

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


class Training:
    """Trains the models of one head.

    Parameters
    ----------
    source : Source
        The rows.
    settings : Settings
        The parameters.
    task : Task
        What to train for.
    callbacks : sequence of Callback
        Called after each round of each booster.
    ended : callable
        Called when a model is trained, with the rounds that it keeps and what is known of them.
    store : BoosterStore, optional
        Recalls finished models, and keeps new ones.
    """

    def __init__(
        self,
        source: Source,
        settings: Settings,
        task: Task,
        callbacks: Sequence[Callback],
        ended: Callable[[int, Evals], None],
        store: BoosterStore | None = None,
    ) -> None:
        self.source = source
        self.settings = settings
        self.task = task
        self.callbacks = callbacks
        self.ended = ended
        self.store = store
        self.has_kinds = False

    def cast(self, start: Start | None, clock: Clock) -> Cast:
        """Train the kinds that the effort allows, and find their weights.

        Parameters
        ----------
        start : Start or None
            Models to continue: only their kinds are trained.
        clock : Clock
            How long it may take.

        Returns
        -------
        Cast
            The models that count.
        """
        trials: list[Trial] = []
        recipes = self._recipes(start)
        self.has_kinds = len(recipes) > 1
        for recipe in recipes:
            trial = Trial(recipe)
            if trials and clock.left < np.mean([t.seconds for t in trials if t.models]):
                trial.note = "no time"
            else:
                # Kinds to be continued were chosen before.
                rivals = trials if start is None else []
                self._train(trial, start, clock, [t for t in rivals if t.models])
            trials.append(trial)
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

    def _train(
        self, trial: Trial, start: Start | None, clock: Clock, rivals: Sequence[Trial]
    ) -> None:
        """Train one kind of model on every fold, if the first shows that the rivals need it."""
        began = time.monotonic()
        seeds = self.source.seeds
        trainer = self._trainer(trial.recipe)
        for number, seed in enumerate(seeds):
            before, earlier = None, None
            if start is not None:
                before, earlier = start.of(trial.recipe, number, len(seeds))
            mine = clock.part(1 / (len(seeds) - number))
            log = RoundLog(
                self.task.target.name,
                (number + 1, len(seeds)),
                self.settings.n_estimators,
                costs_of(self.task.head, self.source.watched(number)),
                [*self.callbacks, mine.ends],
                earlier,
                trial.recipe.name if self.has_kinds else "",
            )
            patience = self.settings.stopping_patience
            job = Job(self.settings.n_estimators, patience, seed, before, log)
            model, seen = trainer(number, job)
            self.ended(model.n_rounds, log.evals)
            if mine.left <= 0:
                trial.note = "ended by time_limit"
            trial.evals.append(log.evals)
            trial.models.append(model)
            if seen is not None:
                trial.parts.append(seen)
            if number == 0 and len(seeds) > 1 and self._adds_nothing(trial, rivals):
                trial.give_up("adds nothing on the first fold")
                break
        trial.seconds = time.monotonic() - began

    def _adds_nothing(self, trial: Trial, rivals: Sequence[Trial]) -> bool:
        """Whether the held-out rows of the first fold are many, and give it no weight."""
        held_out = self.source.held_out(0)
        if not rivals or not trial.parts or held_out is None or len(held_out) < _RACE_ROWS:
            return False
        part = self.task.target.part(self.task.target.columns(held_out.costs, held_out.weights))
        if part.weight <= 0:
            return False
        scores = [rival.parts[0] for rival in rivals if rival.parts]
        return bool(blend([*scores, trial.parts[0]], part.loss)[-1] == 0)

    def _trainer(self, recipe: Recipe) -> Trainer:
        trainer = self.source.trainer(self._engine(recipe), self.task.target)
        if self.store is None:
            return trainer
        return self.store.trainer(
            trainer, f"{self.task.target.name}, {recipe.engine}, {recipe.name}"
        )

    def _engine(self, recipe: Recipe) -> Engine:
        return self.source.engine(self.settings, recipe)

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
        some = slice(None, None, -(-len(columns.labels) // _BLEND_ROWS))
        part = target.part(columns.take(some))
        if part.weight <= 0:
            return losses, np.eye(len(trials))[0]
        return losses, blend([s[some] for s in known], part.loss)

    def _final(
        self, used: Sequence[tuple[Trial, float]], clock: Clock
    ) -> tuple[list[Model], list[float]]:
        """The models that count, with their weights: those of the folds, or one of all rows."""
        models: list[Model] = []
        weights: list[float] = []
        for trial, weight in used:
            found = trial.models
            # Without time for it, the models of the folds are as good.
            if self.source.refits(self.settings) and clock.left > _REFIT_TIME * trial.seconds:
                found = [self._engine(trial.recipe).together(found) or self._refitted(trial)]
            models += found
            weights += [weight / len(found)] * len(found)
        return models, weights

    def _refitted(self, trial: Trial) -> Model:
        """One booster of all rows, with about as many rounds as those of the folds needed."""
        rounds = _MORE_ROUNDS * float(np.mean([model.n_rounds for model in trial.models]))
        log = RoundLog(self.task.target.name, (1, 1), max(round(rounds), 1), {}, ())
        job = Job(log.n_rounds, 0, self.source.seeds[0], None, log)
        model, _ = self._trainer(trial.recipe)(None, job)
        return model

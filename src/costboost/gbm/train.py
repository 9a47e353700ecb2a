"""One training, wherever the rows are: members, their rounds and weights, and what they become."""

from __future__ import annotations

import time
import warnings
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from threading import Event

import numpy as np

from costboost._threads import blas_threads
from costboost._typing import Floats, Ints
from costboost.boosting.rounds import Callback, Round, tell
from costboost.errors import TimeLimitWarning
from costboost.gbm.calibration import BLEND_ROWS, best_round, blend, mixed
from costboost.gbm.data import (
    Fold,
    StreamedFold,
    TrainingData,
    TrainingTable,
    held_out_data,
    sample_fold,
)
from costboost.gbm.members import Members, MemberSpec, TrainedMember, members_to_try
from costboost.gbm.models import Model, ModelEnsemble
from costboost.gbm.network import NetworkModel
from costboost.gbm.objectives import LogLoss, Target, TrainingObjective
from costboost.gbm.settings import DEFAULTS, TrainingSettings

# The function that trains a model of each engine on rows in memory, and its module.
TRAINERS = {
    "lightgbm": ("costboost.gbm.lightgbm", "fit_boosting"),
    "network": ("costboost.gbm.network", "fit_network"),
    "catboost": ("costboost.gbm.catboost", "fit_symmetric_trees"),
}


@dataclass(frozen=True, eq=False)
class HeldOut:
    """Held-out rows, and what the members that are used say of them."""

    data: TrainingData  # without inputs
    scores: list[Floats]  # of each member
    weights: Floats  # of the members
    parts: Ints | None  # the part of each row, if parts choose for each other
    n_folds: int


@dataclass(frozen=True, eq=False)
class TrainingResult:
    """What a training leaves behind."""

    ensemble: ModelEnsemble
    members: Members
    history: list[dict[str, dict[str, Floats]]]  # losses by round, of each model
    held_out: HeldOut | None


def train(
    table: TrainingTable,
    objective: TrainingObjective,
    settings: TrainingSettings,
    callbacks: Sequence[Callback] = (),
    *,
    specs: Sequence[MemberSpec] | None = None,
) -> TrainingResult:
    """Train members on every fold, and combine those that lower the held-out loss.

    Parameters
    ----------
    table : TrainingTable
    objective : TrainingObjective
        What models learn.
    settings : TrainingSettings
    callbacks : sequence of callable
    specs : sequence of MemberSpec, optional
        The kinds of models; by default those that suit the table.

    Returns
    -------
    TrainingResult
    """
    folds = table.folds
    if specs is None:
        specs = members_to_try(table, objective, settings)
    members = [TrainedMember(spec) for spec in specs]

    # One thread for products of matrices, so that a seed gives the same network on any number of
    # cores. It holds for the whole process, so threads must not set it.
    has_network = any(spec.engine == "network" for spec in specs)
    with blas_threads(1) if has_network else nullcontext():
        if len(members) > 1 and settings.n_rows >= DEFAULTS.race_rows:
            race_on_sample(members, folds, objective, settings)
        train_members(members, folds, objective, settings, callbacks)
    held_out = weigh(members, folds, objective)
    used = [member for member in members if member.weight > 0]
    if settings.refit:
        refit(used, folds, objective, settings)
    ensemble = ModelEnsemble()
    for member in used:
        for model in member.models:
            ensemble.add(model, member.weight / len(member.models))

    cut = ", ".join(member.spec.name for member in used if member.note)
    if cut:
        warnings.warn(
            f"time_limit={settings.time_limit:g} of {settings.owner} ended the training of {cut} "
            "before the held-out loss had stopped falling. Give more time, or set effort='fast' "
            "for one booster; members_ has the details.",
            TimeLimitWarning,
            stacklevel=4,
        )
    return TrainingResult(
        ensemble=ensemble,
        members=Members(member.summary() for member in members),
        history=[training.history for member in used for training in member.trainings],
        held_out=held_out,
    )


def race_on_sample(members, folds, objective, settings):
    """Give up the members without which the blend on a sample of the rows is hardly worse."""
    fold = sample_fold(folds[0], DEFAULTS.race_sample_rows)
    held_out = held_out_data([fold])
    if held_out is None or len(held_out) < DEFAULTS.race_held_out_rows:
        return
    quiet = replace(settings, verbose=0, end=np.inf)
    trainings = [ModelTraining(member.spec, fold, objective, quiet) for member in members]
    run(trainings, settings, n_at_once=len(folds))
    for member, training in zip(members, trainings, strict=True):
        member.seconds = training.seconds

    loss = partial(objective.loss, target=objective.target(held_out.costs, held_out.sample_weight))
    scores = [training.held_out_scores for training in trainings]
    # Members that differ from the first one, greedy trees, add the less the more rows there are: on
    # development sets about a third less with four times the rows. So on a sample they must add the
    # more, the more rows there are.
    gain = DEFAULTS.race_gain[settings.effort]
    gain *= (settings.n_rows / DEFAULTS.race_sample_rows) ** (1 / 3)
    weights = blend(scores, loss, gain)
    alone = loss(scores[0])
    if loss(mixed(scores, weights)) > alone - gain * abs(alone):
        weights[1:] = 0.0
    # The first member stays: it is the usual one.
    for member, weight in zip(members[1:], weights[1:], strict=True):
        if weight == 0:
            member.note = "adds nothing on a sample"


def train_members(members, folds, objective, settings, callbacks):
    """Train the members that have won the race on each fold, as long as there is time."""
    waiting = [member for member in members if not member.note]
    batches = [waiting]
    if settings.end < np.inf:
        batches = [[member] for member in waiting]
    for batch in batches:
        spent = [member.seconds for member in members if member.models]
        if spent and settings.seconds_left() < np.mean(spent):
            batch[0].note = "no time"
            continue
        for member in batch:
            for number, fold in enumerate(folds):
                training = ModelTraining(
                    member.spec, fold, objective, settings, number=number, n_folds=len(folds)
                )
                member.trainings.append(training)
        trainings = [training for member in batch for training in member.trainings]
        run(trainings, settings, callbacks, n_at_once=len(folds))
        for member in batch:
            take_models(member)


def take_models(member):
    """Take models and held-out scores from the trainings of a member.

    All held-out rows together choose the round of the model. Scores of a part of them, by which
    costs are estimated, are those after the round that the other parts choose.
    """
    trainings = member.trainings
    member.models = [training.model for training in trainings]
    member.held_out_scores = [training.held_out_scores for training in trainings]
    member.seconds += sum(training.seconds for training in trainings)
    if any(training.is_cut for training in trainings):
        member.note = "ended by time_limit"
    if trainings[0].chooses_by_parts:
        part_losses = [np.array(training.part_losses) for training in trainings]
        n_parts = part_losses[0].shape[1]
        round_of_part = [best_round(part_losses, without=part) for part in range(n_parts)]
        n_rounds = best_round(part_losses)
        member.held_out_scores = []
        for model, training in zip(member.models, trainings, strict=True):
            scores = scores_by_part(model, training.fold, round_of_part)
            member.held_out_scores.append(scores)
        member.models = [model.first_rounds(n_rounds) for model in member.models]
    member.n_rounds = float(np.mean([model.n_rounds for model in member.models]))


def scores_by_part(model, fold, round_of_part):
    """Return the scores of held-out rows, those of each part after a round of its own."""
    parts = np.unique(fold.parts)
    after = model.predict_after(fold.held_out.X, [round_of_part[part] for part in parts])
    scores = np.empty_like(after[round_of_part[parts[0]]])
    for part in parts:
        rows = fold.parts == part
        scores[rows] = after[round_of_part[part]][rows]
    return scores


def weigh(members, folds, objective):
    """Set loss and weight of each member by the held-out rows, and return what they say of them."""
    trained = [member for member in members if member.models]
    # Without held-out rows the first member, the usual one, decides alone.
    trained[0].weight = 1.0
    data = held_out_data(folds)
    if data is None:
        return None
    scores = [np.concatenate(member.held_out_scores) for member in trained]
    target = objective.target(data.costs, data.sample_weight)
    if target.total_weight > 0:  # else no error costs anything on these rows
        every = slice(None, None, -(-len(data) // BLEND_ROWS))
        some = data.take(every)
        loss = partial(objective.loss, target=objective.target(some.costs, some.sample_weight))
        weights = blend([member_scores[every] for member_scores in scores], loss)
        for member, member_scores, weight in zip(trained, scores, weights, strict=True):
            member.loss = objective.loss(member_scores, target)
            member.weight = float(weight)
    used = [i for i, member in enumerate(trained) if member.weight > 0]
    parts = None
    if folds[0].parts is not None:
        parts = np.concatenate([fold.parts for fold in folds])
    return HeldOut(
        data=data,
        scores=[scores[i] for i in used],
        weights=np.array([trained[i].weight for i in used]),
        parts=parts,
        n_folds=len(folds),
    )


def refit(members, folds, objective, settings):
    """Put one model of all rows in the place of those of the folds.

    It decides as well as they do together, and so many times faster.
    """
    fold = Fold(folds[0].seed, folds[0].source)
    seconds_left = settings.seconds_left()
    retrained = []
    trainings = []
    for member in members:
        if seconds_left <= DEFAULTS.refit_time * member.seconds:
            continue  # without time for it, the models of the folds are as good
        if member.spec.engine == "network":
            # The networks of all folds are one without any training.
            member.models = [NetworkModel.mean(member.models)]
            continue
        # With more rows a booster can take a few rounds more before it overfits.
        n_rounds = max(round(DEFAULTS.refit_rounds * member.n_rounds), 1)
        of_all_rows = replace(settings, n_estimators=n_rounds, n_iter_no_change=0, verbose=0)
        retrained.append(member)
        trainings.append(ModelTraining(member.spec, fold, objective, of_all_rows))
    run(trainings, settings, n_at_once=len(folds))
    for member, training in zip(retrained, trainings, strict=True):
        member.models = [training.model]


# --- models, several at a time --------------------------------------------------------------------


def run(trainings, settings, callbacks=(), *, n_at_once):
    """Train models, in threads."""
    n_at_once = min(n_at_once, len(trainings))
    n_workers, n_threads = settings.threads(n_at_once, is_single=bool(callbacks))
    # A training that has failed or was interrupted ends the others.
    is_over = Event()

    def start(training):
        training.run(n_threads, callbacks, is_over=is_over)

    if n_workers <= 1:
        for training in trainings:
            start(training)
        return
    with ThreadPoolExecutor(n_workers, "costboost") as pool:
        try:
            list(pool.map(start, trainings))
        except BaseException:  # also an interruption
            is_over.set()
            raise


def training_target(data, objective):
    """Return what is learned of the rows that a model trains on."""
    target = objective.target(data.costs, data.sample_weight)
    if target.total_weight > 0:
        return target
    # No error costs anything on these rows: learn by the sample weights alone.
    return replace(target, weight=data.sample_weight)


class ModelTraining:
    """The training of one model on a fold: its rounds, when to stop, and what comes of it.

    Engines read what is given, record the loss of held-out rows after each round, and ask whether
    the training is to end.
    """

    def __init__(
        self,
        spec: MemberSpec,
        fold: Fold,
        objective: TrainingObjective,
        settings: TrainingSettings,
        *,
        number: int = 0,
        n_folds: int = 1,
    ) -> None:
        self.spec = spec
        self.fold = fold
        self.objective = objective
        self.settings = settings
        self.number = number
        self.n_folds = n_folds
        self.callbacks: Sequence[Callback] = ()
        self.n_threads = 1
        self.end = np.inf
        self.is_over = Event()
        # Held-out rows and what is learned of them, while the training lasts; no target if there
        # are none, or none on which errors cost anything.
        self.held_out: TrainingData | None = None
        self.target: Target | None = None
        self.stops_early = False
        # Whether rounds are chosen once all folds are trained, by parts for each other.
        self.chooses_by_parts = False
        self.n_rounds = 0
        self.best_round = 0
        self.best_loss = np.inf
        self.losses: list[float] = []
        self.part_losses: list[Floats] = []  # sums, by round
        self.model: Model | None = None
        self.held_out_scores: Floats | None = None
        self.seconds = 0.0
        self.is_cut = False

    def run(self, n_threads=1, callbacks=(), *, is_over=None):
        """Train the model."""
        start = time.monotonic()
        # Each fold may take its share of the time that is left.
        seconds = max(self.settings.end - start, 0.0)
        self.end = start + seconds / (self.n_folds - self.number)
        self.n_threads = n_threads
        self.callbacks = callbacks
        if is_over is not None:
            self.is_over = is_over
        self.hold_out()
        if isinstance(self.fold, StreamedFold):
            self.model = self.fold.fit_model(self)
        else:
            module, function = TRAINERS[self.spec.engine]
            self.model = getattr(import_module(module), function)(self)
        if self.settings.verbose and self.n_rounds:
            print(self)
        if self.held_out is not None and not self.chooses_by_parts:
            self.held_out_scores = self.fold.predict_held_out(self.model, self.held_out)
        self.held_out = None  # lets go of the rows
        self.target = None
        self.seconds = time.monotonic() - start
        self.is_cut = self._is_late()

    def hold_out(self):
        """Take the held-out rows, and decide whether they end the training."""
        self.held_out = self.fold.held_out
        if self.held_out is not None:
            target = self.objective.target(self.held_out.costs, self.held_out.sample_weight)
            if target.total_weight > 0:
                self.target = target
        self.stops_early = self.target is not None and self.settings.n_iter_no_change > 0
        self.chooses_by_parts = self.stops_early and self.fold.parts is not None

    def record(self, outputs, *, are_proba=False):
        """Record the loss of the held-out rows by scores, or probabilities, after a round."""
        outputs = np.asarray(outputs, dtype=np.float64)
        if are_proba:
            assert isinstance(self.objective, LogLoss)
            losses = self.objective.row_losses_of_proba(outputs, self.target)
        else:
            losses = self.objective.row_losses(outputs, self.target)
        losses = self.target.weight * losses
        if self.chooses_by_parts:
            n_parts = max(self.n_folds, DEFAULTS.folds)
            sums = np.bincount(self.fold.parts, losses, minlength=n_parts)
            self.part_losses.append(sums.astype(np.float64))
        loss = float(losses.sum() / self.target.total_weight)
        self.losses.append(loss)
        return loss

    def end_round(self):
        """Note that a round is over, and return True if the training is to end."""
        self.n_rounds += 1
        is_ended = False
        if not self.stops_early:
            self.best_round = self.n_rounds
        else:
            if self.losses[-1] < self.best_loss:
                self.best_loss = self.losses[-1]
                self.best_round = self.n_rounds
            is_ended = self.n_rounds - self.best_round >= self.settings.n_iter_no_change
        if self.settings.verbose > 1:
            print(self)
        if self.callbacks:
            is_ended |= tell(self.callbacks, self._round())
        return is_ended or self.is_over.is_set() or self._is_late()

    def _is_late(self):
        return time.monotonic() >= self.end

    @property
    def kept_rounds(self) -> int:
        """The rounds that the model keeps for now."""
        if self.chooses_by_parts:
            return self.n_rounds
        return self.best_round

    @property
    def history(self) -> dict[str, dict[str, Floats]]:
        """What `evals_result_` has of the model."""
        if not self.losses:
            return {}
        return {self.fold.held_out_name: {"loss": np.array(self.losses)}}

    def _round(self):
        losses = {}
        if self.losses:
            name = self.fold.held_out_name.removesuffix("_set")
            losses[f"{name}_loss"] = self.losses[-1]
        return Round(
            head=self.objective.name,
            booster=self.number + 1,
            n_boosters=self.n_folds,
            round=self.n_rounds,
            n_rounds=self.settings.n_estimators,
            member=self.spec.name,
            **losses,
        )

    def __str__(self):
        text = f"{self.settings.owner}: {self.spec.name}"
        if self.n_folds > 1:
            text = f"{text} {self.number + 1}/{self.n_folds}"
        text = f"{text}: round {self.n_rounds}"
        if self.losses:
            text = f"{text}, held-out loss {self.losses[-1]:.5g}"
        return text

"""One training, wherever the rows are: members, their rounds and weights, and what they become."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from importlib import import_module
from threading import Event
from typing import NamedTuple

import numpy as np

from costboost._threads import blas_threads
from costboost._typing import AnyArray, Floats, Ints
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
from costboost.gbm.network import NetworkModel, NetworkPath
from costboost.gbm.objectives import LogLoss, Target, TrainingObjective
from costboost.gbm.settings import DEFAULTS, TrainingSettings

# The function that trains a model of each engine, by its module.
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
    for member in members:
        if member.part_losses:
            choose_rounds(member, folds)

    held_out = weigh(members, folds, objective)
    used = [member for member in members if member.weight > 0]
    ensemble = combine(used, folds, objective, settings)
    _warn_if_cut(used, settings)
    return TrainingResult(
        ensemble=ensemble,
        members=Members(member.summary() for member in members),
        history=[losses for member in used for losses in member.history],
        held_out=held_out,
    )


def race_on_sample(
    members: list[TrainedMember],
    folds: Sequence[Fold],
    objective: TrainingObjective,
    settings: TrainingSettings,
) -> None:
    """Give up the members without which the blend on a sample of the rows is hardly worse."""
    fold = sample_fold(folds[0], DEFAULTS.race_sample_rows)
    held_out = held_out_data([fold])
    if held_out is None or len(held_out) < DEFAULTS.race_held_out_rows:
        return
    quiet = replace(settings, verbose=0, end=np.inf)
    jobs = [Job(member.spec, fold, quiet) for member in members]
    fitted = fit_models(jobs, objective, settings, n_at_once=len(folds))
    for member, result in zip(members, fitted, strict=True):
        member.seconds += result.seconds

    loss = partial(objective.loss, target=objective.target(held_out.costs, held_out.sample_weight))
    scores = [result.held_out_scores for result in fitted]
    gain = settings.race_gain()
    weights = blend(scores, loss, gain)
    alone = loss(scores[0])
    if loss(mixed(scores, weights)) > alone - gain * abs(alone):
        weights[1:] = 0.0
    # The first member stays: it is the usual one.
    for member, weight in zip(members[1:], weights[1:], strict=True):
        if weight == 0:
            member.note = "adds nothing on a sample"


def train_members(
    members: list[TrainedMember],
    folds: Sequence[Fold],
    objective: TrainingObjective,
    settings: TrainingSettings,
    callbacks: Sequence[Callback],
) -> None:
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
        trained = []
        jobs = []
        for member in batch:
            for number, fold in enumerate(folds):
                trained.append(member)
                jobs.append(Job(member.spec, fold, settings, number, len(folds)))
        fitted = fit_models(jobs, objective, settings, callbacks, n_at_once=len(folds))
        for member, result in zip(trained, fitted, strict=True):
            member.add(result)


def choose_rounds(member: TrainedMember, folds: Sequence[Fold]) -> None:
    """Cut the models of all folds after the same round, and score the held-out rows.

    All held-out rows together choose the round of the model. Scores of a part of them, by which
    costs are estimated, are those after the round that the other parts choose.
    """
    n_parts = member.part_losses[0].shape[1]
    round_of_part = [best_round(member.part_losses, without=part) for part in range(n_parts)]
    for fold, model in zip(folds, member.models, strict=True):
        held_out = fold.held_out
        parts = np.unique(fold.parts)
        after = model.predict_after(held_out.X, [round_of_part[part] for part in parts])
        scores = np.empty_like(after[round_of_part[parts[0]]])
        for part in parts:
            rows = fold.parts == part
            scores[rows] = after[round_of_part[part]][rows]
        member.held_out_scores.append(scores)
    n_rounds = best_round(member.part_losses)
    member.models = [model.first_rounds(n_rounds) for model in member.models]


def weigh(
    members: list[TrainedMember], folds: Sequence[Fold], objective: TrainingObjective
) -> HeldOut | None:
    """Set loss and weight of each member by the held-out rows, and return what they say of them."""
    trained = [member for member in members if member.models]
    for member in trained:
        member.n_rounds = float(np.mean([model.n_rounds for model in member.models]))
    # Without held-out rows the first member, the usual one, decides alone.
    trained[0].weight = 1.0
    data = held_out_data(folds)
    if data is None or not all(member.held_out_scores for member in trained):
        return None
    scores = [np.concatenate(member.held_out_scores) for member in trained]
    target = objective.target(data.costs, data.sample_weight)
    if target.total_weight > 0:  # else no error costs anything on these rows
        every = slice(None, None, -(-len(data) // BLEND_ROWS))
        some = data.take(every)
        some_target = objective.target(some.costs, some.sample_weight)
        some_scores = [member_scores[every] for member_scores in scores]
        weights = blend(some_scores, partial(objective.loss, target=some_target))
        for member, member_scores, weight in zip(trained, scores, weights, strict=True):
            member.loss = objective.loss(member_scores, target)
            member.weight = float(weight)
    pairs = zip(trained, scores, strict=True)
    used = [(member.weight, member_scores) for member, member_scores in pairs if member.weight > 0]
    parts = None
    if folds[0].parts is not None:
        parts = np.concatenate([fold.parts for fold in folds])
    return HeldOut(
        data=data,
        scores=[member_scores for _, member_scores in used],
        weights=np.array([weight for weight, _ in used]),
        parts=parts,
        n_folds=len(folds),
    )


def combine(
    members: Sequence[TrainedMember],
    folds: Sequence[Fold],
    objective: TrainingObjective,
    settings: TrainingSettings,
) -> ModelEnsemble:
    """Put the members that have weight together: refitted on all rows, or those of the folds."""
    if settings.refit:
        refit(members, folds, objective, settings)
    ensemble = ModelEnsemble()
    for member in members:
        for model in member.models:
            ensemble.add(model, member.weight / len(member.models))
    return ensemble


def refit(
    members: Sequence[TrainedMember],
    folds: Sequence[Fold],
    objective: TrainingObjective,
    settings: TrainingSettings,
) -> None:
    """Put one model of all rows in the place of those of the folds.

    It decides as well as they do together, and so many times faster.
    """
    fold = Fold(folds[0].seed, folds[0].source)
    seconds_left = settings.seconds_left()
    retrained = []
    jobs = []
    for member in members:
        if seconds_left <= DEFAULTS.refit_time * member.seconds:
            continue  # without time for it, the models of the folds are as good
        if member.spec.engine == "network":
            # The networks of all folds are one without any training.
            member.models = [NetworkModel.mean(member.models)]
            continue
        retrained.append(member)
        jobs.append(Job(member.spec, fold, settings.of_all_rows(member.n_rounds)))
    fitted = fit_models(jobs, objective, settings, n_at_once=len(folds))
    for member, result in zip(retrained, fitted, strict=True):
        member.models = [result.model]


def _warn_if_cut(members: Sequence[TrainedMember], settings: TrainingSettings) -> None:
    """Warn of members whose training the time limit has ended."""
    cut = ", ".join(member.spec.name for member in members if member.note)
    if cut:
        warnings.warn(
            f"time_limit={settings.time_limit:g} of {settings.owner} ended the training of {cut} "
            "before the held-out loss had stopped falling. Give more time, or set effort='fast' "
            "for one booster; members_ has the details.",
            TimeLimitWarning,
            stacklevel=4,
        )


# --- models, several at a time --------------------------------------------------------------------


class Job(NamedTuple):
    """A model to train."""

    spec: MemberSpec
    fold: Fold
    settings: TrainingSettings
    number: int = 0  # of the fold
    n_folds: int = 1


class FittedModel(NamedTuple):
    """A trained model, and what held-out rows say of it."""

    model: Model | NetworkPath
    held_out_scores: Floats | None
    history: dict[str, dict[str, Floats]]
    part_losses: Floats | None
    seconds: float
    is_cut: bool  # whether the time limit ended the training


def fit_models(
    jobs: Sequence[Job],
    objective: TrainingObjective,
    settings: TrainingSettings,
    callbacks: Sequence[Callback] = (),
    *,
    n_at_once: int,
) -> list[FittedModel]:
    """Train models, in threads."""
    n_at_once = min(n_at_once, len(jobs))
    n_workers, n_threads = settings.threads(n_at_once, is_single=bool(callbacks))
    # A training that has failed or was interrupted ends the others.
    is_over = Event()

    def fit(job: Job) -> FittedModel:
        return fit_model(job, objective, callbacks, n_threads=n_threads, is_over=is_over.is_set)

    if n_workers <= 1:
        return [fit(job) for job in jobs]
    with ThreadPoolExecutor(n_workers, "costboost") as pool:
        try:
            return list(pool.map(fit, jobs))
        except BaseException:  # also an interruption
            is_over.set()
            raise


def fit_model(
    job: Job,
    objective: TrainingObjective,
    callbacks: Sequence[Callback],
    *,
    n_threads: int,
    is_over: Callable[[], bool],
) -> FittedModel:
    """Train one model on the rows of a fold."""
    start = time.monotonic()
    # Each fold may take its share of the time that is left.
    end = start + max(job.settings.end - start, 0.0) / max(job.n_folds - job.number, 1)
    log = TrainingLog(
        job, objective, callbacks, n_threads=n_threads, is_over=lambda: is_over() or is_late()
    )

    def is_late() -> bool:
        return time.monotonic() >= end

    if isinstance(job.fold, StreamedFold):
        fit = job.fold.fit_model
    else:
        module, function = TRAINERS[job.spec.engine]
        fit = partial(getattr(import_module(module), function), job.fold)
    model = fit(objective, job.spec, job.settings, log)
    if job.settings.verbose and log.n_rounds:
        print(log)
    held_out_scores = None
    part_losses = None
    if log.chooses_by_parts:
        part_losses = np.array(log.part_losses)
    else:
        held_out_scores = job.fold.predict_held_out(model)
    return FittedModel(
        model=model,
        held_out_scores=held_out_scores,
        history=log.history(),
        part_losses=part_losses,
        seconds=time.monotonic() - start,
        is_cut=is_late(),
    )


def training_target(data: TrainingData, objective: TrainingObjective) -> Target:
    """Return what is learned of the rows that a model trains on."""
    target = objective.target(data.costs, data.sample_weight)
    if target.total_weight > 0:
        return target
    # No error costs anything on these rows: learn by the sample weights alone.
    return replace(target, weight=data.sample_weight)


class TrainingLog:
    """The rounds of one model: losses of held-out rows, the best round, and when to stop."""

    def __init__(
        self,
        job: Job,
        objective: TrainingObjective,
        callbacks: Sequence[Callback] = (),
        *,
        n_threads: int = 1,
        is_over: Callable[[], bool] = lambda: False,
    ) -> None:
        self.job = job
        self.objective = objective
        self.callbacks = callbacks
        self.n_threads = n_threads
        self.is_over = is_over
        self.held_out = job.fold.held_out
        # None if no row is held out, or none on which errors cost anything.
        self.target: Target | None = None
        if self.held_out is not None:
            target = objective.target(self.held_out.costs, self.held_out.sample_weight)
            if target.total_weight > 0:
                self.target = target
        self.stops_early = self.target is not None and job.settings.stops_early
        # Whether rounds are chosen once all folds are trained, by parts for each other.
        self.chooses_by_parts = self.stops_early and job.fold.parts is not None
        self.n_rounds = 0
        self.best_round = 0
        self.best_loss = np.inf
        self.losses: list[float] = []
        self.part_losses: list[Floats] = []  # sums, by round

    def record(self, outputs: AnyArray, *, are_proba: bool = False) -> float:
        """Record the loss of the held-out rows by scores, or probabilities, after a round."""
        outputs = np.asarray(outputs, dtype=np.float64)
        if are_proba:
            assert isinstance(self.objective, LogLoss)
            losses = self.objective.row_losses_of_proba(outputs, self.target)
        else:
            losses = self.objective.row_losses(outputs, self.target)
        losses = self.target.weight * losses
        if self.chooses_by_parts:
            self.add_part_losses(losses)
        loss = float(losses.sum() / self.target.total_weight)
        self.losses.append(loss)
        return loss

    def add_part_losses(self, losses: Floats) -> None:
        """Record the weighted losses of the held-out rows after a round, summed by part."""
        parts = self.job.fold.parts
        n_parts = max(self.job.n_folds, DEFAULTS.folds)
        sums = np.bincount(parts, losses, minlength=n_parts)
        self.part_losses.append(sums.astype(np.float64))

    def end_round(self) -> bool:
        """Note that a round is over, and return True if the training is to end."""
        self.n_rounds += 1
        if not self.stops_early:
            self.best_round = self.n_rounds
        elif self.losses[-1] < self.best_loss:
            self.best_loss = self.losses[-1]
            self.best_round = self.n_rounds
        settings = self.job.settings
        is_ended = False
        if self.stops_early:
            is_ended = self.n_rounds - self.best_round >= settings.n_iter_no_change
        if settings.verbose > 1:
            print(self)
        if self.callbacks:
            is_ended |= tell(self.callbacks, self._round())
        return is_ended or self.is_over()

    @property
    def kept_rounds(self) -> int:
        """The rounds that the model keeps for now."""
        if self.chooses_by_parts:
            return self.n_rounds
        return self.best_round

    def history(self) -> dict[str, dict[str, Floats]]:
        """Return what `evals_result_` has of the model."""
        if not self.losses:
            return {}
        return {self.job.fold.held_out_name: {"loss": np.array(self.losses)}}

    def _round(self) -> Round:
        losses = {}
        if self.losses:
            name = self.job.fold.held_out_name.removesuffix("_set")
            losses[f"{name}_loss"] = self.losses[-1]
        return Round(
            head=self.objective.name,
            booster=self.job.number + 1,
            n_boosters=self.job.n_folds,
            round=self.n_rounds,
            n_rounds=self.job.settings.n_estimators,
            member=self.job.spec.name,
            **losses,
        )

    def __str__(self) -> str:
        text = f"{self.job.settings.owner}: {self.job.spec.name}"
        if self.job.n_folds > 1:
            text = f"{text} {self.job.number + 1}/{self.job.n_folds}"
        text = f"{text}: round {self.n_rounds}"
        if self.losses:
            text = f"{text}, held-out loss {self.losses[-1]:.5g}"
        return text

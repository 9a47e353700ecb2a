"""One training, wherever the rows are: members, blend, refit, calibration, estimates."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from threading import Event
from typing import Any, NamedTuple, TypeAlias

import numpy as np

from costboost._threads import blas_threads, n_threads
from costboost._typing import AnyArray, Floats, Ints
from costboost._utils import Framed, as_frame, now, progress_bar
from costboost.boosting.rounds import Callback, Round, check_callbacks, tell
from costboost.costs import Costs
from costboost.errors import CostWarning, TimeLimitWarning
from costboost.gbm.calibration import (
    BLEND_ROWS,
    SHRINKAGE_ROWS,
    Calibrator,
    best_round,
    blend,
    class_scores,
    mixed,
)
from costboost.gbm.estimates import WIDEN_FOLDS, WIDEN_SINGLE, estimate_savings
from costboost.gbm.models import (
    Head,
    LossHead,
    LossTarget,
    PriceHead,
    PriceTarget,
    ProbabilityHead,
    Target,
    to_scores,
)
from costboost.gbm.network import NETWORK_ROWS, NetworkModel
from costboost.gbm.parameters import CONSTRAINTS, resolved
from costboost.gbm.rows import PricedRows, TrainingRows, is_auto
from costboost.losses import named_loss
from costboost.metrics import Verdict

# Where the parameters are "auto".
_USUAL_LEAVES = 15
_USUAL_LEAF = 5
_USUAL_RATE = 0.05
# Inputs (columns times categories), and inputs times rows by effort, beyond which a network is left
# out.
_NETWORK_INPUTS = 500
_NETWORK_NUMBERS = {"balanced": 1_000_000, "high": 3_000_000}
# Scores beyond which symmetric trees are left out: CatBoost takes eight times as long as LightGBM.
_SYMMETRIC_SCORES = 3
# Rounds of a booster that sees all rows, in those of boosters that saw a part of them.
_MORE_ROUNDS = 1.1
# Time that such a booster takes, in that of all boosters of the folds.
_REFIT_TIME = 0.4
# Rows from which on one booster of all rows replaces those of the folds. With fewer, their average
# hedges: it spent less on seven small sets, and as much on sets of 1,600 to 5,000 rows.
_REFIT_ROWS = 2000
# Samples on which kinds race, one after the other: their rows, and how many a table must have.
_SAMPLES = (4_000, 10_000), (16_000, 160_000)
# Held-out rows of the first fold from which they tell whether a kind is worth the other folds.
_RACE_ROWS = 500
# Share of their loss that it must save there, by effort.
_RACE_GAIN = {"balanced": 0.005, "high": 0.002}
# Numbers of a table beyond which folds are trained one after the other: several copies would take
# too much memory, and a booster of so many rows has work for all threads.
_TOGETHER_NUMBERS = 2**25
# Boosters of prices: their share of the time of a fit, rounds at most, shrinkage, and rounds
# without a smaller loss. A price that is a function of the columns could be fitted ever closer; a
# few per cent off, it moves hardly any decision (`benchmarks/hidden_costs.py`).
_PRICE_TIME, _PRICE_ROUNDS, _PRICE_RATE, _PRICE_PATIENCE = 0.25, 150, 0.1, 10
# Entries of the cost matrix that get boosters, at most; held-out rows of a class that they need.
_MOST_PRICES, _PRICE_ROWS = 16, 10
# Prices follow from each other if a straight line leaves no more than this share of the variance.
_SAME_PRICE = 1e-9


def train(
    rows: TrainingRows, model: Any, callbacks: Iterable[Callback] | Callback | None = None
) -> None:
    """Train the heads of a classifier, and give it all that a fit finds."""
    heard = [] if callbacks is None else check_callbacks(callbacks, rows.owner)
    target, head = task_for(model, rows)
    kinds = candidates_for(model, target, rows)
    prices, without = price_targets(kinds[0], rows)
    summary = replace(rows.totals.summary, without=without)
    if model.verbose:
        print(summary)
    began, limit = time.monotonic(), np.inf if model.time_limit is None else model.time_limit
    mine = began + (1.0 - _PRICE_TIME if prices else 1.0) * limit
    # What a round costs is worked out where somebody listens.
    decide = head.decide if heard or model.verbose or rows.is_watched else None
    # A truth without rows costs what it does on the rows of others.
    mean = np.where(np.isnan(summary.mean), rows.totals.mean_costs, summary.mean)
    verbose = model.verbose if rows.is_local else 0
    with progress_bar(True) if verbose == 1 else nullcontext() as bar:
        if bar is not None:
            bar.add_task("fit", total=None)
        train_members(kinds, rows, mine, decide=decide, callbacks=heard, verbose=verbose, bar=bar)
        priced, expected = train_prices(prices, kinds[0], rows, mean, began + limit)
    used = [kind for kind in kinds if kind.weight > 0]
    cut = ", ".join(kind.name for kind in used if kind.note)
    if cut:
        warnings.warn(
            f"time_limit={limit:g} of {rows.owner} ended the training of {cut} before the held-out "
            "loss had stopped falling. Give more time, or set effort='fast' for one booster; "
            "members_ has the details.",
            TimeLimitWarning,
            stacklevel=3,
        )
    models = tuple(one for kind in used for one in kind.models)
    shares = tuple(kind.weight / len(kind.models) for kind in used for _ in kind.models)
    heads = {target.name: replace(head, models=models, weights=shares), **priced}
    names = [column.name for column in rows.columns.columns]
    if names and all(isinstance(name, str) for name in names):
        model.feature_names_in_ = np.array(names, dtype=object)
    vars(model).update(
        decisions_=summary.decisions,
        costs_=summary,
        cost_matrix_=mean,
        heads_=heads,
        n_iter_=max(one.n_rounds for one in models),
        n_features_in_=rows.columns.n_features,
        evals_result_={target.name: [evals for kind in used for evals in kind.evals]},
        members_=Members(Member(*(getattr(k, name) for name in Member._fields)) for k in kinds),
        trained_at_=now(),
        _fitted_costs=model.cost_matrix,
        _costs_source="rows" if rows.has_row_costs else "cost_matrix",
    )
    if used[0].scores:
        calibrate(model, rows, used, Costs(summary.classes, expected, summary.decisions))


def calibrate(model: Any, rows: TrainingRows, used: list[Candidate], learned: Costs) -> None:
    """Calibrate the first head on held-out rows, and add up what its decisions cost there."""
    held_out: Any = rows.held_out()  # there are such rows where they have scores
    head = model.heads_[used[0].target.name]
    scores = [np.concatenate(kind.scores) for kind in used]
    weights = np.array([kind.weight for kind in used])
    is_calibrated = model.calibration is not None and isinstance(head, ProbabilityHead)
    # What `predict` goes by when it is told all that `fit` knew, and when it is told nothing.
    is_told = held_out.costs.matrix is not None and model.costs_known is not False
    ways = {"": held_out.costs if is_told else learned}
    if rows.has_row_costs and model.loss == "auto":
        ways["without_costs_"] = learned
    if is_calibrated:
        target = used[0].target
        calibrator = Calibrator(
            scores=scores,
            held_out=held_out,
            costs=ways[""],
            target=target,
            head=head,
            weights=weights,
            class_scores=_class_scores_if_small(rows, target),
        )
        calibration = calibrator.of_all_rows()
        calibrated = calibrator.cross_fitted(rows.parts_of_held_out())
        model.heads_[target.name] = calibration.put_on(head)
        model.shrinkage_ = calibration.shrinkage
    else:
        calibrated = mixed(scores, weights)
    widen = WIDEN_FOLDS if len(rows.seeds) > 1 else WIDEN_SINGLE
    n_rows = np.arange(len(held_out))
    estimates: dict[str, Any] = {"_estimated_rows": float(held_out.weights.sum())}
    for name, costs in ways.items():
        decided = head.decide(calibrated, costs)
        score, savings = estimate_savings(
            decided, held_out, groups=rows.groups_of_held_out(), widen=widen
        )
        estimates[f"estimated_score_{name}"] = score
        if savings is not None:
            estimates[f"estimated_savings_{name}"] = savings
        if not name:
            taken = decided
            paid = held_out.costs.prices[n_rows, decided]
            estimates["estimated_cost_"] = float(np.average(paid, weights=held_out.weights))
    vars(model).update(estimates)
    if estimates["estimated_score_"].value < 0:
        verdict = Verdict.of(
            held_out.costs, taken, held_out.weights, groups=rows.groups_of_held_out()
        )
        # A gain of exactly 0 is a constant decision, which has a warning of its own, or no cost.
        if verdict.answer == "does not pay" and verdict.gain < 0:
            warnings.warn(
                f"Held-out rows of {type(model).__name__}: {verdict} Look for columns that say "
                f"more about the class, or decide {verdict.constant!r} for every row.",
                CostWarning,
                stacklevel=4,
            )
    model._warn_if_collapsed(taken, "give the boosters more rows or rounds", stacklevel=5)


def _class_scores_if_small(rows: TrainingRows, target: Target) -> Floats | float | None:
    """Return what scores may be drawn to; None if the table is large, or has no costs."""
    means = rows.totals.mean_costs
    if rows.totals.rows >= SHRINKAGE_ROWS or np.array_equal(means, 1.0 - np.eye(len(means))):
        return None  # who gives no costs may want the probabilities alone
    return class_scores(rows.totals.weight, target.n_scores)


def task_for(model: Any, rows: TrainingRows) -> tuple[Target, ProbabilityHead | LossHead]:
    """What to train for: the probabilities of the classes, or the decisions by a loss."""
    totals, owner = rows.totals, rows.owner
    if not totals.worst_cost > 0:
        raise ValueError(
            f"Every decision costs {owner} the same, so there is nothing to learn. Give "
            "cost_matrix or costs at least one entry that tells decisions apart."
        )
    matrix, classes = totals.mean_costs, totals.classes
    if model.loss == "auto":
        costs = Costs(classes, matrix, totals.decisions)
        return Target(totals), ProbabilityHead(costs=costs)
    loss = named_loss(model.loss, owner)
    if loss.is_binary and len(classes) > 2:
        raise ValueError(
            f"The 'loss' parameter of {owner}, {model.loss!r}, is for two classes, and there "
            f"are {len(classes)}. Use 'auto' or a multi-class loss, such as 'gll'."
        )
    if loss.has_probabilities:
        loss.check_costs(matrix, owner)
    target = LossTarget(loss, totals)
    return target, LossHead(loss=loss, matrix=matrix / target.unit)


# --- the kinds of models of a head ----------------------------------------------------------------


class Member(NamedTuple):
    """A kind of model that was trained, and what became of it."""

    name: str
    engine: str
    weight: float
    loss: float
    rounds: float
    seconds: float
    note: str = ""


class Members(Framed, tuple[Member, ...]):
    """The members of a head, those that were tried and not used included; prints as a table."""

    __slots__ = ()

    def __str__(self) -> str:
        width = max(len(member.name) for member in self)
        lines = [f"{'member':{width}}  engine    weight    loss  rounds  seconds"]
        for m in self:
            numbers = f"{m.weight:6.2f}  {m.loss:6.4f}  {m.rounds:6.0f}  {m.seconds:7.1f}"
            lines.append(f"{m.name:{width}}  {m.engine:8}  {numbers}  {m.note}".rstrip())
        return "\n".join([*lines, self.remark]).rstrip()

    @property
    def remark(self) -> str:
        """Whether a smaller effort would have done as well, in words."""
        if len(self) == 1 or self[0].weight < 1.0:
            return ""
        return "One kind of booster is used: effort='fast' would decide about as well."

    def to_frame(self) -> Any:
        """A row per member, as a pandas frame."""
        return as_frame([m._asdict() for m in self], "members_.to_frame")


@dataclass(eq=False)
class Candidate:
    """A kind of model: how it is grown, in words that the engines share, and its models so far."""

    name: str
    engine: str
    settings: Any  # the estimator, for what all kinds share
    target: Target
    n_rounds: int
    patience: int  # 0: no early stopping
    learning_rate: float
    max_leaves: int
    min_samples_leaf: int
    parameters: dict[str, Any]  # the user's own, which win
    random_splits: bool = False
    # A model, its rounds, and its scores of the rows that it held out, for every fold.
    models: list[Any] = field(default_factory=list)
    evals: list[Evals] = field(default_factory=list)
    scores: list[Floats] = field(default_factory=list)
    # Sums of held-out losses, a row per round and a column per part of the held-out rows.
    part_losses: list[Floats] = field(default_factory=list)
    seconds: float = 0.0
    note: str = ""
    # How much it counts, its loss on all held-out rows, and the mean rounds of its models.
    weight: float = 0.0
    loss: float = np.nan
    rounds: float = 0.0

    def untrained(self) -> Candidate:
        """Return the same kind without models."""
        return replace(self, models=[], evals=[], scores=[], part_losses=[])


def candidate(
    model: Any,
    target: Target,
    parameters: dict[str, Any] | None = None,
    *,
    engine: str = "lightgbm",
    leaves: int | None = None,
    random_splits: bool = False,
) -> Candidate:
    """A kind of model, where the user left it open as is usual."""
    if leaves is None:
        leaves = _USUAL_LEAVES if model.max_leaves == "auto" else int(model.max_leaves)
    # A round of several scores is as many trees: half as many rounds are hardly worse.
    usual = _USUAL_RATE if target.n_scores == 1 else 2 * _USUAL_RATE
    rate = usual if model.learning_rate == "auto" else float(model.learning_rate)
    name = f"{leaves} leaves{', random splits' if random_splits else ''}"
    name = f"symmetric trees, {name}" if engine == "catboost" else name
    leaf = model.min_samples_leaf
    return Candidate(
        "network" if engine == "network" else name,
        engine,
        model,
        target,
        model.n_estimators,
        model.n_iter_no_change if model.early_stopping else 0,
        # Trees that are not greedy overfit less, and take larger steps.
        min(4.0 * rate, 1.0) if random_splits else rate,
        leaves,
        _USUAL_LEAF if leaf == "auto" else int(leaf),
        parameters or {},
        random_splits,
    )


def candidates_for(model: Any, target: Target, rows: TrainingRows) -> list[Candidate]:
    """The kinds of models to try, the most promising first."""
    n = rows.totals.rows
    own: dict[str, Any] = {}
    if model.engine_params:
        own = resolved(model, rows.columns, rows.owner, rows.engine)
    if model.effort == "fast" or rows.n_inputs is None or model.loss != "auto":
        return [candidate(model, target, own, engine=rows.engine)]
    wanted: list[dict[str, Any]] = [{"leaves": 31}, {"leaves": 15, "random_splits": True}]
    # Models of other kinds would not keep to what the user demands of this one.
    is_free = target.is_log_loss and CONSTRAINTS.isdisjoint(own)
    is_small = rows.n_inputs <= _NETWORK_INPUTS
    numbers = min(n, NETWORK_ROWS) * rows.n_inputs
    if is_free and is_small and numbers <= _NETWORK_NUMBERS[model.effort]:
        wanted.append({"engine": "network"})
    if model.effort == "high":
        wanted += [{"leaves": 6}, {"leaves": 63}, {"leaves": 31, "random_splits": True}]
        has_catboost = find_spec("catboost") is not None
        if is_free and has_catboost and target.n_scores <= _SYMMETRIC_SCORES:
            wanted.append({"engine": "catboost", "leaves": 64})
    found: dict[str, Candidate] = {}
    for options in wanted:
        if "engine" in options:  # the user's own parameters are LightGBM's
            kind = candidate(model, target, **options)
        else:
            if model.max_leaves != "auto":
                options["leaves"] = None  # the size that the user chose: some are the same then
            kind = candidate(model, target, own, **options)
        found.setdefault(kind.name, kind)
    return list(found.values())


# --- the rounds of a booster: recorded, told to callbacks, shown as progress ----------------------


# Values by round: set of rows -> "loss" or "cost" -> array; one mapping per booster.
Evals: TypeAlias = "dict[str, dict[str, Floats]]"


@dataclass(eq=False)
class Rounds:
    """The rounds of one booster: losses and costs so far, the best round, and when to stop."""

    kind: Candidate
    seed: int
    threads: int
    sets: Mapping[str, PricedRows]
    decide: Callable[..., AnyArray] | None = None
    callbacks: Sequence[Callback] = ()
    is_over: Callable[[], bool] = lambda: False
    booster: int = 1
    n_boosters: int = 1
    # The part of each row that stops the training, where parts choose rounds for each other.
    parts: Ints | None = None
    n_parts: int = 0

    round: int = 0
    best_round: int = 0
    best_loss: float = np.inf
    best_outputs: Floats | None = None
    are_proba: bool = False  # what the engine tells: probabilities, or scores
    # Values by round of all rounds that were trained, lists until these are over.
    evals: dict[str, dict[str, Any]] = field(default_factory=dict)
    # Sums of the losses of each part by round.
    part_losses: list[Floats] = field(default_factory=list)
    _losses: dict[str, float] = field(default_factory=dict)
    _outputs: dict[str, Floats] = field(default_factory=dict)

    def __post_init__(self) -> None:
        target, sets = self.kind.target, self.sets.items()
        found = {name: target.on(rows.costs, rows.weights) for name, rows in sets}
        self.targets = {name: known for name, known in found.items() if known.weight > 0}
        others = [name for name in self.targets if name != "train"]
        self.stop_by = others[0] if others and self.kind.patience else None

    def see(self, name: str, outputs: AnyArray) -> float:
        """The loss of a set's outputs in the present round: scores, or probabilities."""
        self._outputs[name] = found = np.asarray(outputs, dtype=np.float64)
        known = self.targets[name]
        losses = known.row_losses_of_proba(found) if self.are_proba else known.row_losses(found)
        losses = known.weights * losses
        self._losses[name] = float(losses.sum() / known.weight)
        if self.chooses_by_parts and name == self.stop_by:
            self.add_part_losses(losses)
        return self._losses[name]

    def add_part_losses(self, losses: Floats) -> None:
        """Record the weighted losses of the held-out rows after a round, summed by part."""
        assert self.parts is not None
        sums = np.zeros(self.n_parts)
        np.add.at(sums, self.parts, losses)
        self.part_losses.append(sums)

    @property
    def chooses_by_parts(self) -> bool:
        """Whether the rounds are chosen once all folds are trained, by parts for each other."""
        return self.parts is not None and self.stop_by == "held_out"

    @property
    def kept_rounds(self) -> int:
        """The rounds that the model keeps for now."""
        return self.round if self.chooses_by_parts else self.best_round

    @property
    def best_scores(self) -> Floats | None:
        """Scores of the rows that stop the training, in the best round."""
        best = self.best_outputs
        return to_scores(best) if self.are_proba and best is not None else best

    def __str__(self) -> str:
        place = f" {self.booster}/{self.n_boosters}" if self.n_boosters > 1 else ""
        paid = {name: seen["cost"][-1] for name, seen in self.evals.items() if "cost" in seen}
        costs = [f", {name.replace('_', '-')} cost {cost:.5g}" for name, cost in paid.items()]
        return f"{self.kind.name}{place}: round {self.round}{''.join(costs)}"

    def end_round(self, losses: Mapping[str, float] | None = None) -> bool:
        """Record a round and tell it; whether the training is to end."""
        # The losses are those seen in the round, unless the engine tells its own.
        self.round += 1
        losses = self._losses if losses is None else losses
        if self.stop_by is None:
            self.best_round = self.round
        elif losses[self.stop_by] < self.best_loss:
            self.best_loss, self.best_round = losses[self.stop_by], self.round
            if self.stop_by in self._outputs:
                self.best_outputs = self._outputs[self.stop_by].copy()
        told: dict[str, Any] = {}
        for name, loss in losses.items():
            measures = {"loss": loss}
            if self.decide is not None and name in self._outputs:
                costs, weights = self.sets[name].costs, self.sets[name].weights
                seen = self._outputs[name]
                paid = costs.paid(self.decide(to_scores(seen) if self.are_proba else seen, costs))
                measures["cost"] = float((weights / weights.sum()) @ paid)
            for measure, value in measures.items():
                self.evals.setdefault(name, {}).setdefault(measure, []).append(value)
                told[f"{name.removesuffix('_set')}_{measure}"] = value
        is_ended = self.stop_by is not None and self.round - self.best_round >= self.kind.patience
        if self.callbacks:
            kind, place = self.kind, (self.booster, self.n_boosters, self.round)
            heard = Round(kind.target.name, *place, kind.n_rounds, **told, member=kind.name)
            is_ended |= tell(self.callbacks, heard)
        return is_ended or self.is_over()


# --- members --------------------------------------------------------------------------------------


def train_members(kinds: list[Candidate], rows: TrainingRows, end: float, **heard_by: Any) -> None:
    """Train kinds of models until the end of the time, and find how much each counts."""
    # One thread for products of matrices, so that a seed gives the same network on any number
    # of cores. It holds for the whole process, so threads must not set it.
    with blas_threads(1) if any(k.engine == "network" for k in kinds) else nullcontext():
        # Drop the kinds that add nothing on samples of the rows, if there are enough rows.
        for n, least in _SAMPLES:
            left = [kind for kind in kinds if not kind.note]
            if len(left) > 1 and rows.totals.rows >= least:
                sample = rows.sample(n)
                racing = [kind.untrained() for kind in left]
                _fit(racing, [0], sample)
                _drop(racing, sample, rows.totals.rows / n)
                for kind, raced in zip(left, racing, strict=True):
                    kind.seconds, kind.note = raced.seconds, raced.note
        _train_folds([kind for kind in kinds if not kind.note], rows, end, **heard_by)
        for kind in kinds:
            if kind.part_losses:
                _choose_rounds(kind, rows)
    _blend([kind for kind in kinds if kind.models], rows)
    _refit([kind for kind in kinds if kind.weight > 0], rows, end)


def _train_folds(
    kinds: list[Candidate], rows: TrainingRows, end: float, *, bar: Any = None, **heard_by: Any
) -> None:
    """Train kinds on all folds, but those that add nothing on the first one."""
    n = len(rows.seeds)
    first = 1 if len(kinds) > 1 else n
    # Where time is limited one kind after the other, as long as there is time.
    for some in [kinds] if end == np.inf else [[kind] for kind in kinds]:
        spent = [kind.seconds for kind in kinds if kind.models]
        if spent and end - time.monotonic() < np.mean(spent):
            some[0].note = "no time"
            continue
        for numbers in range(first), range(first, n):
            left = [kind for kind in some if kind.models or not numbers.start]
            if bar is not None:
                later = n * (len(kinds) - kinds.index(some[-1]) - 1)
                to_do = len(left) * (n - numbers.start) + later
                bar.update(0, total=bar.tasks[0].completed + to_do)
            _fit(left, numbers, rows, end, bar=bar, **heard_by)
            racing = [kind for kind in kinds if kind.models]
            if not numbers.start and first < n and len(racing) > 1:
                _drop(racing, rows)


def _choose_rounds(kind: Candidate, rows: TrainingRows) -> None:
    """Cut the models of all folds after the same round, and score the held-out rows.

    All held-out rows together choose the round of the model. Scores of a part of them, by which
    costs are estimated, are those after the round that the other parts choose.
    """
    round_of_part = [best_round(kind.part_losses, without=part) for part in range(rows.n_parts)]
    for fold, model in enumerate(kind.models):
        part_of_row, X = rows.held_out_in_parts(fold)
        parts = np.unique(part_of_row)
        after = model.scores_after(X, [round_of_part[part] for part in parts])
        scores = np.empty_like(kind.scores[fold])
        for part in parts:
            chosen = part_of_row == part
            scores[chosen] = after[round_of_part[part]][chosen]
        kind.scores[fold] = scores
    common = best_round(kind.part_losses)
    kind.models = [model.first_rounds(common) for model in kind.models]


def _drop(kinds: list[Candidate], rows: TrainingRows, more_rows: float = 1.0) -> None:
    """Drop the kinds without which the blend of held-out scores is hardly worse."""
    # Kinds that differ from the first one, greedy trees, add the less the more rows there are:
    # on development sets about a third less with four times the rows. So on a sample they must
    # add the more, the more rows there are. The first one stays. Few rows cannot tell.
    held_out = rows.held_out(0)
    scores = [kind.scores[0] for kind in kinds if kind.scores]
    if held_out is None or len(held_out) < _RACE_ROWS or len(scores) < len(kinds):
        return
    some = slice(None, None, -(-len(held_out) // BLEND_ROWS))
    seen = held_out.take(some)
    loss = kinds[0].target.on(seen.costs, seen.weights).loss
    least = more_rows ** (1 / 3) * _RACE_GAIN[kinds[0].settings.effort]
    scores = [own[some] for own in scores]
    weights, alone = blend(scores, loss, least), loss(scores[0])
    if loss(mixed(scores, weights)) > alone - least * abs(alone):
        weights[1:] = 0.0
    for kind, weight in zip(kinds[1:], weights[1:], strict=True):
        if not weight and len(kind.models) < 2:
            kind.models, kind.evals, kind.scores = [], [], []
            kind.note = f"adds nothing on {'the first fold' if more_rows == 1 else 'a sample'}"


def _fit(
    kinds: Sequence[Candidate],
    numbers: Sequence[int | None],
    rows: TrainingRows,
    end: float = np.inf,
    *,
    decide: Callable[..., Ints] | None = None,
    callbacks: Sequence[Callback] = (),
    verbose: int = 0,
    bar: Any = None,  # of rich: the models that are trained, where somebody looks
) -> None:
    """Train kinds of models on folds (None: on all rows), several at a time."""
    jobs = [(kind, number) for kind in kinds for number in numbers]
    if not jobs:
        return
    model, n, is_over = kinds[0].settings, len(rows.seeds), Event()
    # What hears of rounds or ends them in time goes model by model.
    on_device = kinds[0].parameters.get("device_type", "cpu") != "cpu"
    is_single = callbacks or model.verbose or model.time_limit is not None or on_device
    is_large = rows.totals.rows * rows.columns.n_features > _TOGETHER_NUMBERS
    cores, threads = n_threads(model.n_jobs), n_threads(model.n_jobs, rows.totals.rows)
    n_workers = 1 if is_single or is_large else min(cores, n, len(jobs))
    if n_workers > 1:
        threads = min(threads, max(cores // n_workers, 1))

    def fit(kind: Candidate, number: int | None) -> tuple[Any, ...]:
        began = time.monotonic()
        mine = began + max(end - began, 0.0) / (n - (number or 0))
        heard, done = list(callbacks), 0 if bar is None else bar.tasks[0].completed

        def show(told: Round) -> None:
            share = told.round / told.n_rounds
            bar.update(0, completed=done + share, description=str(rounds))

        if verbose > 1:
            heard.append(lambda _: print(f"{rows.owner}: {rounds}"))
        elif bar is not None:
            heard.append(show)
        rounds = Rounds(
            kind,
            rows.seeds[number or 0],
            threads if rows.is_local else 0,  # workers of a cluster have their own
            {} if number is None else rows.watched(number),
            decide,
            heard,
            # A training that has failed or was interrupted ends the others.
            lambda: is_over.is_set() or time.monotonic() >= mine,
            booster=(number or 0) + 1,
            n_boosters=n,
            parts=None if number is None else rows.parts_of_held_out(number),
            n_parts=rows.n_parts,
        )
        model, scores = rows.fit(kind, kind.target, number, rounds)
        if bar is not None:
            bar.update(0, completed=done + 1)
        if verbose and rounds.round and (bar is None or bar.disable):
            print(f"{rows.owner}: {rounds}")
        if (now := time.monotonic()) >= mine:
            kind.note = "ended by time_limit"
        evals = {
            name: {measure: np.array(values) for measure, values in measures.items()}
            for name, measures in rounds.evals.items()
        }
        part_losses = np.array(rounds.part_losses) if rounds.part_losses else None
        return model, scores, evals, part_losses, now - began

    if n_workers == 1:
        found = [fit(*job) for job in jobs]
    else:
        with ThreadPoolExecutor(n_workers, "costboost") as pool:
            try:
                found = list(pool.map(lambda job: fit(*job), jobs))
            except BaseException:  # also an interruption: nobody needs the others
                is_over.set()
                raise
    for (kind, _), (model, scores, evals, losses, seconds) in zip(jobs, found, strict=True):
        kind.models.append(model)
        kind.evals.append(evals)
        kind.part_losses += [] if losses is None else [losses]
        kind.scores += [] if scores is None else [scores]
        kind.seconds += seconds


def _blend(kinds: list[Candidate], rows: TrainingRows) -> None:
    """Loss of each kind on all held-out rows, and its weight by them."""
    for kind in kinds:
        kind.rounds = float(np.mean([model.n_rounds for model in kind.models]))
    held_out = rows.held_out()
    kinds[0].weight = 1.0  # without held-out rows the first kind counts alone
    if held_out is None or not all(kind.scores for kind in kinds):
        return
    target, some = kinds[0].target, slice(None, None, -(-len(held_out) // BLEND_ROWS))
    known = target.on(held_out.costs, held_out.weights)
    if known.weight <= 0:  # no error costs anything on these rows
        return
    scores, seen = [np.concatenate(kind.scores) for kind in kinds], held_out.take(some)
    weights = blend([own[some] for own in scores], target.on(seen.costs, seen.weights).loss)
    for kind, own, weight in zip(kinds, scores, weights, strict=True):
        kind.loss, kind.weight = known.loss(own), float(weight)


def _refit(used: list[Candidate], rows: TrainingRows, end: float) -> None:
    """Put one model of all rows in the place of those of the folds, where that is wanted."""
    model = used[0].settings
    wanted = model.refit
    is_ours = is_auto(model.cv) and model.effort != "fast"
    if wanted == "auto":  # who chose the folds wants to keep their boosters
        wanted = is_ours and rows.totals.rows >= _REFIT_ROWS
    has_parts = len(rows.seeds) > 1 or (is_ours and rows.has_folds)
    if not wanted or not has_parts or not model.early_stopping:
        return
    # Without time for it, the models of the folds are as good.
    left = end - time.monotonic()
    single: dict[int, Candidate] = {}
    for i, kind in enumerate(used):
        if left <= _REFIT_TIME * kind.seconds:
            continue
        # The networks of all folds are one without any training.
        if kind.engine == "network":
            kind.models = [NetworkModel.mean(kind.models)]
        else:
            single[i] = replace(kind.untrained(), patience=0)
            # With more rows a booster can take a few rounds more before it overfits.
            single[i].n_rounds = max(round(_MORE_ROUNDS * kind.rounds), 1)
    _fit(list(single.values()), [None], rows)
    for i, one in single.items():
        used[i].models = one.models


# --- prices ---------------------------------------------------------------------------------------


# Where `predict` is not told what decisions cost on a row, the expected cost of a decision d is
#
# .. math:: E[C_d \mid x] = \sum_y P(y \mid x) \, E[C_{yd} \mid y, x].
#
# Small boosters learn the entries (y, d) of the cost matrix that vary over the rows: one for all
# entries that follow from each other by a straight line. They are trained on all rows where these
# have whole matrices, and on the rows of the class where only the price of its decisions is known.


def price_targets(kind: Candidate, rows: TrainingRows) -> tuple[list[PriceTarget], str]:
    """Prices to learn, and what `predict` does where it is not told them, in words."""
    model = kind.settings
    held_out, totals = rows.held_out(), rows.totals
    varies = bool((totals.cost_low < totals.cost_high).any())
    if not rows.has_row_costs or model.loss != "auto" or not varies:
        return [], ""
    mean = "If predict is not told the costs of rows, it goes by these means: "
    if model.costs_known is True:
        return [], mean + "costs_known=True."
    if not CONSTRAINTS.isdisjoint(kind.parameters):
        return [], mean + "boosters of costs would not keep to the constraints of engine_params."
    if held_out is None:
        return [], mean + "no rows are held out to learn costs by."
    costs = held_out.take(slice(None, None, -(-len(held_out) // BLEND_ROWS))).costs
    counts = np.bincount(costs.codes, minlength=len(totals.classes))
    found: list[PriceTarget] = []
    spread = totals.weight[:, None] * (totals.cost_high - totals.cost_low)
    for place in np.argsort(-spread, axis=None, kind="stable"):  # those that matter most first
        j, d = np.unravel_index(place, spread.shape)
        own = slice(None) if costs.matrix is not None else costs.codes == j
        prices = costs.prices[own, d] if costs.matrix is None else costs.matrix[:, j, d]
        is_same = not spread[j, d] > 0 or np.ptp(prices) <= _SAME_PRICE * np.abs(prices).max()
        if counts[j] < _PRICE_ROWS or is_same:
            continue
        for target in found:
            if costs.matrix is not None or target.truth == j:
                known = target.on(costs, np.ones(len(costs))).labels[own]
                (var, cov), (_, total) = np.cov(known, prices)
                if cov**2 >= (1.0 - _SAME_PRICE) * var * total:
                    target.slopes[j, d] = cov / var
                    break
        else:
            if len(found) < _MOST_PRICES:
                found.append(PriceTarget(int(j), int(d), totals))
    if not found:
        return [], mean + "too few held-out rows to learn costs by."
    return found, (
        "If predict is not told the costs of rows, it expects them from the columns: "
        f"{len(found)} of them {'is' if len(found) == 1 else 'are'} learned."
    )


def train_prices(
    targets: list[PriceTarget], first: Candidate, rows: TrainingRows, mean: Floats, end: float
) -> tuple[dict[str, Head], Floats]:
    """Heads of prices, small and few, and the costs that they expect of held-out rows."""
    model, held_out = first.settings, rows.held_out()
    heads: dict[str, Head] = {}
    expected = mean
    for place, target in enumerate(targets):
        assert held_out is not None  # or there are no prices to learn
        kind = candidate(model, target, first.parameters, engine=rows.engine)
        kind.n_rounds = min(kind.n_rounds, _PRICE_ROUNDS)
        kind.patience = min(kind.patience, _PRICE_PATIENCE)
        if model.learning_rate == "auto":
            kind.learning_rate = _PRICE_RATE
        now = time.monotonic()
        mine = now + (end - now) / (len(targets) - place)
        train_members([kind], rows, mine)
        # Calibrated: held-out rows of a class pay what was expected.
        scores, slopes = np.concatenate(kind.scores), target.slopes
        known = target.on(held_out.costs, held_out.weights)
        guessed, paid = (
            np.bincount(held_out.costs.codes, known.weights * values, minlength=len(slopes))
            for values in (np.exp(scores), known.labels)
        )
        # A class that has no price here pays like the others.
        both = (guessed > 0) & (paid > 0)
        factors = np.where(both, paid / np.where(both, guessed, 1.0), paid.sum() / guessed.sum())
        base = np.where(slopes != 0, rows.totals.mean_entries - slopes - mean, 0.0)
        models, shares = tuple(kind.models), (1.0 / len(kind.models),) * len(kind.models)
        head = PriceHead(models, shares, base=base, slopes=slopes, factors=factors)
        heads[target.name] = head
        expected = expected + head.beyond(scores)
    return heads, expected

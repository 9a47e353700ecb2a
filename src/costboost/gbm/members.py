"""Members: the kinds of models that are tried, their rounds, and how much each one counts."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from typing import Any, NamedTuple, Self, TypeAlias

import numpy as np

from costboost._typing import AnyArray, Floats
from costboost._utils import progress_bar
from costboost._words import html_table
from costboost.boosting.rounds import Callback, Round, tell
from costboost.gbm.models import Model
from costboost.gbm.parameters import CONSTRAINTS, resolved
from costboost.gbm.rows import PricedRows, TrainingRows
from costboost.gbm.targets import LEAST_PROBA, Target

# -- What is known after each boosting round: recorded, told to callbacks, shown as progress -----


# Values by round: set of rows -> "loss" or "cost" -> array; one mapping per booster.
Evals: TypeAlias = "dict[str, dict[str, Floats]]"


# Sets of rows -> what `Round` calls them, and what progress does.
_SETS = {
    "held_out": ("held_out", "held-out"),
    "eval_set": ("eval", "eval_set"),
    "train": ("train", "training"),
}


@dataclass(eq=False)
class Rounds:
    """The rounds of one booster: losses and costs so far, the best round, and when to stop."""

    n_rounds: int
    patience: int  # 0: no early stopping
    seed: int
    threads: int
    target: Target
    sets: Mapping[str, PricedRows]
    decide: Callable[..., AnyArray] | None = None
    callbacks: Sequence[Callback] = ()
    is_over: Callable[[], bool] = lambda: False
    booster: int = 1
    n_boosters: int = 1
    member: str = ""

    round: int = 0
    best_round: int = 0
    best_loss: float = np.inf
    best_outputs: Floats | None = None
    are_proba: bool = False  # what the engine tells: probabilities, or scores
    # Values by round of all rounds that were trained, lists until these are over.
    evals: dict[str, dict[str, Any]] = field(default_factory=dict)
    _losses: dict[str, float] = field(default_factory=dict)
    _outputs: dict[str, Floats] = field(default_factory=dict)

    def __post_init__(self) -> None:
        found = {name: self.target.on(s.costs, s.weights) for name, s in self.sets.items()}
        self.targets = {name: known for name, known in found.items() if known.weight > 0}
        others = [name for name in self.targets if name != "train"]
        self.stop_by = others[0] if others and self.patience else None

    def see(self, name: str, outputs: AnyArray) -> float:
        """The loss of a set's outputs in the present round: scores, or probabilities."""
        self._outputs[name] = found = np.asarray(outputs, dtype=np.float64)
        known = self.targets[name]
        loss = known.loss_of_proba(found) if self.are_proba else known.loss(found)
        self._losses[name] = loss
        return loss

    @property
    def best_scores(self) -> Floats | None:
        """Scores of the rows that stop the training, in the best round."""
        best = self.best_outputs
        return to_scores(best) if self.are_proba and best is not None else best

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
                told[f"{_SETS[name][0]}_{measure}"] = value
        is_ended = self.stop_by is not None and self.round - self.best_round >= self.patience
        if self.callbacks:
            place = self.booster, self.n_boosters, self.round, self.n_rounds
            is_ended |= tell(
                self.callbacks, Round(self.target.name, *place, **told, member=self.member)
            )
        return is_ended or self.is_over()


def to_scores(proba: AnyArray) -> Floats:
    """Probabilities as scores: log-odds of (n,), logarithms of (n, k)."""
    p = np.clip(np.asarray(proba, dtype=np.float64), LEAST_PROBA, 1.0 - LEAST_PROBA)
    logs: Floats = np.log(p)
    if p.ndim == 1:
        logs -= np.log1p(-p)
    return logs


class BoosterProgress:
    """Progress of a fit: one bar at 1 (without a terminal a line per model), every round at 2."""

    def __init__(self, owner: str, verbose: int) -> None:
        self.bar, self.owner, self.verbose = progress_bar(), owner, verbose
        visible = self.bar.console.is_terminal
        self.task = self.bar.add_task("fit", total=None, state="", visible=visible)
        self.done, self.shown = 0, ""

    def __enter__(self) -> Self:
        self.bar.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.bar.stop()

    def expect(self, n: int) -> None:
        """So many models are still to be trained."""
        self.bar.update(self.task, total=self.done + n)

    def __call__(self, told: Round) -> None:
        """Show a round."""
        costs = {shown: getattr(told, f"{field}_cost") for field, shown in _SETS.values()}
        cost = next((f", {name} cost {c:.5g}" for name, c in costs.items() if c is not None), "")
        place = f" {told.booster}/{told.n_boosters}" if told.n_boosters > 1 else ""
        self.shown = f"{told.member}{place}: round {told.round}{cost}"
        part = min(told.round / told.n_rounds, 0.99)
        self.bar.update(self.task, completed=self.done + part, state=self.shown)
        if self.verbose > 1:
            self._print(self.shown)

    def end(self, n_kept: int) -> None:
        """Show that a model is trained, and how many rounds it keeps."""
        self.done += 1
        self.bar.update(self.task, completed=self.done)
        if self.shown and (self.verbose > 1 or not self.bar.console.is_terminal):
            self._print(f"{self.shown}, kept {n_kept}")
        self.shown = ""

    def _print(self, text: str) -> None:
        self.bar.console.print(f"{self.owner}: {text}", soft_wrap=True, highlight=False)


# -- The kinds of models of a head: which are tried, and how much each one counts ----------------


# Where the parameters are "auto".
_USUAL_LEAVES = 15
_USUAL_LEAF = 5
_USUAL_RATE = 0.05
# Steps of the greedy search: weights are multiples of its inverse, or of that of fewer steps.
_STEPS = 20
# A member is dropped if leaving it out raises the loss by less than this share.
_PAYS = 5e-4
# Inputs (columns times categories), rows that it is trained on at most, and inputs times rows
# by effort, beyond which a network is left out.
_NETWORK_INPUTS, NETWORK_ROWS = 500, 40_000
_NETWORK_NUMBERS = {"balanced": 1_000_000, "high": 3_000_000}
# Rows times scores beyond which a forest is left out: it takes long, and has a leaf for every few.
_FOREST_NUMBERS = 500_000
# Scores beyond which symmetric trees are left out: CatBoost takes eight times as long as LightGBM.
_SYMMETRIC_SCORES = 3
# Engine -> module, the function that trains, and the one that makes one model of those of the folds
# where that needs no training.
_ENGINES = {
    "lightgbm": ("lightgbm", "fit", None),
    "xgboost": ("xgboost", "fit", None),
    "catboost": ("catboost", "fit", None),
    "network": ("network", "fit", "merged"),
    "forest": ("lightgbm", "fit_forest", "merged_forest"),
}
_EXTRAS = {"lightgbm": "gbm", "xgboost": "gbm", "catboost": "catboost"}


class Member(NamedTuple):
    """A kind of model that was trained, and what became of it."""

    name: str
    engine: str
    weight: float
    loss: float
    rounds: float
    seconds: float
    note: str = ""


class Members(tuple[Member, ...]):
    """The members of a head, those that were tried and not used included; prints as a table."""

    __slots__ = ()

    def __str__(self) -> str:
        rows = [("member", "engine", "weight", "loss", "rounds", "seconds")]
        for m in self:
            seconds = f"{m.seconds:.1f}  {m.note}".rstrip()
            numbers = f"{m.weight:.2f}", f"{m.loss:.4f}", f"{m.rounds:.0f}"
            rows.append((m.name, m.engine, *numbers, seconds))
        w = [max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = [
            "  ".join([*map(str.ljust, row[:2], w), *map(str.rjust, row[2:5], w[2:]), row[5]])
            for row in rows
        ]
        return "\n".join([*lines, *filter(None, [self.remark])])

    @property
    def remark(self) -> str:
        """Whether a smaller effort would have done as well, in words."""
        if len(self) == 1 or self[0].weight < 1.0:
            return ""
        return "One kind of booster is used: effort='fast' would decide about as well."

    def _repr_html_(self) -> str:
        return html_table({name: [getattr(m, name) for m in self] for name in Member._fields})


@dataclass(eq=False)
class Candidate:
    """A kind of model: how it is grown, in words that the engines share, and its models so far."""

    name: str
    engine: str
    settings: Any  # the estimator, for what all kinds share
    device: str
    n_rounds: int
    patience: int  # 0: no early stopping
    learning_rate: float
    max_leaves: int
    min_samples_leaf: int
    parameters: dict[str, Any]  # the user's own, which win
    random_splits: bool = False
    # A model, its rounds, and its scores of the rows that it held out, for every fold.
    models: list[Model] = field(default_factory=list)
    evals: list[Evals] = field(default_factory=list)
    scores: list[Floats] = field(default_factory=list)
    seconds: float = 0.0
    note: str = ""
    # How much it counts, its loss on all held-out rows, and the mean rounds of its models.
    weight: float = 0.0
    loss: float = np.nan
    rounds: float = 0.0


def engine(name: str) -> tuple[Callable[..., Model], Callable[..., Model] | None]:
    """The function that trains models of an engine, and the one that merges those of folds."""
    file, fit, merged = _ENGINES[name]
    module = import_module(f"costboost.gbm.{file}")
    return getattr(module, fit), None if merged is None else getattr(module, merged)


def candidate(
    model: Any,
    n_scores: int,
    parameters: dict[str, Any] | None = None,
    *,
    name: str = "",
    engine: str | None = None,
    leaves: int | None = None,
    random_splits: bool = False,
) -> Candidate:
    """A kind of model, where the user left it open as is usual."""
    grower = engine or model.engine
    if leaves is None:
        leaves = _USUAL_LEAVES if model.max_leaves == "auto" else int(model.max_leaves)
    # A round of several scores is as many trees: half as many rounds are hardly worse.
    usual = _USUAL_RATE if n_scores == 1 else 2 * _USUAL_RATE
    rate = usual if model.learning_rate == "auto" else float(model.learning_rate)
    if not name:
        name = f"{'symmetric trees, ' if grower == 'catboost' else ''}{leaves} leaves"
        name += ", random splits" if random_splits else ""
    leaf = model.min_samples_leaf
    patience = model.patience if model.n_iter_no_change is None else model.n_iter_no_change
    return Candidate(
        name,
        grower,
        model,
        model.device,
        model.n_estimators,
        patience if model.early_stopping else 0,
        # Trees that are not greedy overfit less, and take larger steps.
        min(4.0 * rate, 1.0) if random_splits else rate,
        leaves,
        _USUAL_LEAF if leaf == "auto" else int(leaf),
        # The user's own parameters are for the engine that the user chose.
        parameters or {} if grower == model.engine else {},
        random_splits,
    )


def candidates_for(model: Any, target: Target, rows: TrainingRows) -> list[Candidate]:
    """The kinds of models to try, the most promising first."""
    chosen, n = model.engine, rows.totals.rows
    if find_spec(chosen) is None:
        raise ImportError(
            f"{rows.owner}(engine={chosen!r}) needs {chosen}, which is not installed: "
            f'pip install "costboost[{_EXTRAS[chosen]}]"'
        )
    own = resolved(model, rows.columns, rows.owner) if model.engine_params else {}
    made = partial(candidate, model, target.n_scores, own)
    is_single = model.effort == "fast" or (model.ensemble == 1 and model.cv is None)
    if is_single or rows.n_inputs is None or model.loss != "auto":
        return [made()]
    has_random = chosen == "lightgbm"
    second = {"leaves": 15, "random_splits": True} if has_random else {"leaves": 6}
    wanted: list[dict[str, Any]] = [{"leaves": 31}, second]
    # Models of other kinds would not keep to what the user demands of this one.
    is_free = target.is_log_loss and CONSTRAINTS.isdisjoint(model.engine_params or {})
    is_small = rows.n_inputs <= _NETWORK_INPUTS and not rows.is_sparse
    numbers = min(n, NETWORK_ROWS) * rows.n_inputs
    if is_free and is_small and numbers <= _NETWORK_NUMBERS[model.effort]:
        wanted.append({"name": "network", "engine": "network"})
    if is_free and chosen == "lightgbm" and n * target.n_scores <= _FOREST_NUMBERS:
        wanted.append({"name": "forest", "engine": "forest"})
    if model.effort == "high":
        wanted += [{"leaves": 6}, {"leaves": 63}]
        wanted += [{"leaves": 31, "random_splits": True}] if has_random else []
        has_catboost = chosen != "catboost" and find_spec("catboost") is not None
        if is_free and has_catboost and target.n_scores <= _SYMMETRIC_SCORES:
            wanted.append({"engine": "catboost", "leaves": 64})
    found: dict[tuple[str, str], Candidate] = {}
    for options in wanted:
        if model.max_leaves != "auto" and "engine" not in options:
            options["leaves"] = None  # the size that the user chose; some kinds are the same then
        kind = made(**options)
        found.setdefault((kind.name, kind.engine), kind)
    return list(found.values())


# --- how much each one counts ---------------------------------------------------------------------


def blend(scores: Sequence[Floats], loss: Callable[[Floats], float], pays: float = _PAYS) -> Floats:
    """Weights of members by which their mean held-out score has a small loss."""
    # Greedy selection with replacement (Caruana et al. 2004): in each step the member that lowers
    # the loss of the mean most is counted once more. Then members that hardly pay are left out,
    # since each one makes every decision slower.
    if len(scores) == 1:
        return np.ones(1)
    weights = _greedy(scores, loss, list(range(len(scores))))
    while np.count_nonzero(weights) > 1:
        best = loss(mixed(scores, weights))
        used = np.flatnonzero(weights)
        trials = []
        for left_out in used:
            rest = [int(j) for j in used if j != left_out]
            fewer = _greedy(scores, loss, rest)
            trials.append((loss(mixed(scores, fewer)), fewer))
        least, fewer = min(trials, key=lambda trial: trial[0])
        if least > best + pays * abs(best):
            break
        weights = fewer
    return weights


def _greedy(
    scores: Sequence[Floats], loss: Callable[[Floats], float], allowed: list[int]
) -> Floats:
    """Counts of the best prefix of the greedy steps, as weights."""
    counts, best, least = np.zeros(len(scores)), np.zeros(len(scores)), np.inf
    total = np.zeros_like(scores[0])
    for step in range(1, _STEPS + 1):
        losses = [loss((total + scores[j]) / step) for j in allowed]
        chosen = int(np.argmin(losses))
        total = total + scores[allowed[chosen]]
        counts[allowed[chosen]] += 1
        if losses[chosen] < least:
            least, best = losses[chosen], counts / step
    return best


def mixed(scores: Sequence[Floats], weights: Floats | Sequence[float]) -> Floats:
    """The weighted sum of scores."""
    parts = [w * s for w, s in zip(weights, scores, strict=True) if w > 0]
    return np.asarray(sum(parts))

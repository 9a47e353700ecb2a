"""One training, wherever the rows are: members, blend, refit, calibration, estimates."""

from __future__ import annotations

import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass, replace
from functools import partial
from threading import Event
from typing import Any, NamedTuple, TypeAlias, TypeVar

import numpy as np

from costboost._threads import blas_threads, n_threads
from costboost._typing import Floats, Ints
from costboost._utils import now
from costboost.boosting.rounds import Callback, Round
from costboost.costs import Costs
from costboost.errors import TimeLimitWarning
from costboost.gbm.checks import warn_of_no_gain
from costboost.gbm.members import (
    CONSTRAINTS,
    BoosterProgress,
    Candidate,
    Evals,
    Member,
    Members,
    Rounds,
    blend,
    booster_progress,
    candidate,
    candidates_for,
    engine,
    mixed,
)
from costboost.gbm.models import (
    DecisionHead,
    Head,
    LossHead,
    Model,
    ProbabilityHead,
    TreeModel,
    temperature,
)
from costboost.gbm.rows import PricedRows, TrainingRows
from costboost.gbm.targets import (
    DecisionTarget,
    LossTarget,
    PriceTarget,
    ProbabilityTarget,
    Target,
)
from costboost.losses import named_loss

T = TypeVar("T")

# Held-out rows that choose the weights of members; more would not change them.
_BLEND_ROWS = 20_000
# Rounds of a booster that sees all rows, in those of boosters that saw a part of them.
_MORE_ROUNDS = 1.1
# Time that such a booster takes, in that of all boosters of the folds.
_REFIT_TIME = 0.4
# Rows from which on one booster of all rows replaces those of the folds. With fewer, their average
# hedges: it spent less on seven small sets, and as much on sets of 1,600 to 5,000 rows.
_REFIT_ROWS = 2000
# Held-out rows of the first fold from which they tell whether a kind is worth the other folds.
_RACE_ROWS = 500
# Share of their loss that it must save there; with a high effort, anything that pays.
_RACE_GAIN = 0.005
# Numbers of a table beyond which folds are trained one after the other: several copies would take
# too much memory, and a booster of so many rows has work for all threads.
_TOGETHER_NUMBERS = 2**25
# Time for the boosters of prices of errors, in that of a head.
_PRICE_TIME = 0.5
# Their rounds, at most, and shrinkage. A price that is a function of the columns could be fitted
# ever closer; a few per cent off, it moves hardly any decision.
_PRICE_ROUNDS, _PRICE_RATE = 200, 0.2
_NORMAL_95 = 1.959963984540054


# A model, its scores of held-out rows, its rounds, and the seconds it took.
Fitted: TypeAlias = "tuple[Model, Floats | None, Evals, float]"


class Trained(NamedTuple):
    """The models of one target, with their weights, and what is known of them."""

    models: list[Model]
    weights: list[float]
    scores: Floats | None  # of the held-out rows
    evals: list[Evals]
    members: Members


def train(
    rows: TrainingRows, model: Any, callbacks: Sequence[Callback] = ()
) -> tuple[dict[str, Any], Ints]:
    """Train the heads of a classifier: its fitted attributes, and the held-out decisions."""
    if not rows.totals.worst_cost > 0:
        raise ValueError(
            f"Every decision costs {rows.owner} the same, so there is nothing to learn. Give "
            "cost_matrix or costs at least one entry that tells decisions apart."
        )
    tasks = tasks_for(model, rows)
    if model.verbose:
        print(rows.totals.summary)
    prices = price_targets(model, rows) if len(tasks) == 2 else []
    end = np.inf if model.time_limit is None else time.monotonic() + model.time_limit
    heads: dict[str, Head] = {}
    trained: dict[str, Trained] = {}
    with Training.of(rows, model, callbacks) as training:
        for place, (target, head) in enumerate(tasks):
            share = 1 / (len(tasks) - place + (_PRICE_TIME if prices else 0))
            kinds = candidates_for(model, target, rows)
            done = training.train_members(kinds, target, head.decide, _part(end, share))
            heads[target.name] = replace(
                head, models=tuple(done.models), weights=tuple(done.weights)
            )
            trained[target.name] = done
        priced = train_prices(prices, training, end)
    cut = [m.name for t in trained.values() for m in t.members if m.weight > 0 and m.note]
    if cut and model.time_limit is not None:
        warnings.warn(
            f"time_limit={model.time_limit:g} of {rows.owner} ended the training of "
            f"{', '.join(cut)} before the held-out loss had stopped falling, so more money can be "
            "saved. Give more time, or set effort='fast' for one booster; members_ has the "
            "details.",
            TimeLimitWarning,
            stacklevel=3,
        )
    scores = {name: found.scores for name, found in trained.items() if found.scores is not None}
    held_out = rows.held_out() if scores else None
    estimates: dict[str, Any] = {}
    decisions = np.empty(0, dtype=np.intp)
    if held_out is not None:
        if model.calibration is not None and isinstance(
            first := heads.get("probability"), ProbabilityHead
        ):
            codes, weights = held_out.costs.codes, held_out.weights
            factor = temperature(scores["probability"], codes, weights)
            heads["probability"] = replace(first, temperature=factor)
        if prices:
            # Scores that sum to the log-ratio of what the two decisions are expected to save.
            factor = prices[1].sign * heads["probability"].temperature
            base = float(np.dot([p.sign for p in prices], np.log([p.unit for p in prices])))
            others = [(trained["probability"], factor), *priced]
            found = with_prices(trained["decision"], others, base, tasks[-1][0], held_out)
            if found is not None:
                heads["decision"], scores["decision"] = found
        estimates, decisions = _estimated(heads, scores, held_out)
        warn_of_no_gain(held_out.costs, decisions, held_out.weights, type(model).__name__)
    for one in [m for head in heads.values() for m in head.models if m.engine == "forest"][:1]:
        assert isinstance(one, TreeModel)
        one.trees.warm(one.n_features)
    summary = rows.totals.summary
    attributes = {
        "classes_": rows.totals.classes,
        "decisions_": summary.decisions,
        "costs_": summary,
        "cost_matrix_": summary.mean,
        "heads_": heads,
        "n_iter_": max(head.n_rounds for head in heads.values()),
        "columns_": rows.columns,
        "n_features_in_": rows.columns.n_features,
        **rows.columns.names_in,
        **estimates,
        "evals_result_": {name: found.evals for name, found in trained.items()},
        "members_": next(iter(trained.values())).members,
        "trained_at_": now(),
        "_fitted_costs": model.cost_matrix,
        "_costs_source": "rows" if rows.has_row_costs else "cost_matrix",
    }
    return attributes, decisions


def tasks_for(model: Any, rows: TrainingRows) -> list[tuple[Target, Head]]:
    """What to train for: the probabilities of the classes, the decision, or both."""
    totals, owner = rows.totals, rows.owner
    matrix, classes = totals.mean_costs, totals.classes
    if model.loss != "auto":
        loss = named_loss(model.loss, owner)
        if loss.is_binary and len(classes) > 2:
            raise ValueError(
                f"The 'loss' parameter of {owner}, {model.loss!r}, is for two classes, and there "
                f"are {len(classes)}. Use 'auto' or a multi-class loss, such as 'gll'."
            )
        for known, matters in ((totals.matrix, True), (matrix, loss.has_probabilities)):
            if known is not None and matters:
                loss.check_costs(known, owner)
        target = LossTarget(loss, totals)
        return [(target, LossHead(loss=loss, matrix=matrix / target.unit))]
    tasks: list[tuple[Target, Head]] = []
    if model.decision != "learned":
        head = ProbabilityHead(costs=Costs(classes, matrix, totals.decisions))
        tasks.append((ProbabilityTarget(totals), head))
    if model.decision == "learned" or (model.decision == "auto" and rows.has_row_costs):
        tasks.append((DecisionTarget(totals), DecisionHead()))
    return tasks


def _part(end: float, share: float) -> float:
    """When a share of the time that is left until the end will be over."""
    now = time.monotonic()
    return now + share * max(end - now, 0.0)


def _is_late(end: float, told: Round) -> bool:
    """Whether a time is over, as a callback."""
    return time.monotonic() >= end


# --- members --------------------------------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Training:
    """Trains kinds of models on folds, several at a time where nobody listens to their rounds."""

    rows: TrainingRows
    model: Any
    callbacks: Sequence[Callback]
    progress: BoosterProgress | None
    n_workers: int
    is_over: Event

    @classmethod
    @contextmanager
    def of(
        cls, rows: TrainingRows, model: Any, callbacks: Sequence[Callback]
    ) -> Iterator[Training]:
        """The training of a classifier, with a progress bar if it is wanted."""
        verbose = model.verbose if rows.is_local else 0
        n_workers = 1
        # What hears of rounds or ends them in time goes model by model.
        if not (callbacks or verbose or model.time_limit is not None or model.device != "cpu"):
            is_large = rows.totals.rows * rows.columns.n_inputs > _TOGETHER_NUMBERS
            n_workers = 1 if is_large else min(n_threads(model.n_jobs), len(rows.seeds))
        with booster_progress(rows.owner, verbose) as progress:
            listeners: list[Callback] = [] if progress is None else [progress]
            listeners += callbacks
            yield cls(rows, model, listeners, progress, n_workers, Event())

    def train_members(
        self,
        kinds: list[Candidate],
        target: Target,
        decide: Callable[..., Ints] | None,
        end: float,
        n_rounds: int | None = None,
    ) -> Trained:
        """Train kinds of models for a target, and find how much each counts."""
        fit = partial(self._fit, target, decide, n_rounds or self.model.n_estimators, len(kinds))
        # One thread for products of matrices, so that a seed gives the same network on any number
        # of cores. It holds for the whole process, so threads must not set it.
        with blas_threads(1) if any(k.engine == "network" for k in kinds) else nullcontext():
            if self.n_workers > 1:
                self._train_together(kinds, target, fit)
            else:
                self._train_in_turn(kinds, target, fit, end)
        left = [kind for kind in kinds if kind.models]
        self._blend(left, target)
        used = [kind for kind in left if kind.weight > 0]
        members = Members(
            Member(
                k.name,
                k.engine,
                k.weight,
                k.loss,
                float(np.mean([model.n_rounds for model in k.models])) if k.models else 0.0,
                k.seconds,
                k.note,
            )
            for k in kinds
        )
        scores = [kind.weight * np.concatenate(kind.scores) for kind in used if kind.scores]
        self._refit(used, target, end)
        return Trained(
            [model for kind in used for model in kind.models],
            [kind.weight / len(kind.models) for kind in used for _ in kind.models],
            np.asarray(sum(scores)) if scores else None,
            [evals for kind in used for evals in kind.evals],
            members,
        )

    def _train_in_turn(
        self, kinds: list[Candidate], target: Target, fit: Callable[..., Fitted], end: float
    ) -> None:
        """Train model after model, as long as there is time."""
        n = len(self.rows.seeds)
        for place, kind in enumerate(kinds):
            rivals = [rival for rival in kinds[:place] if rival.models]
            if rivals and end - time.monotonic() < np.mean([rival.seconds for rival in rivals]):
                kind.note = "no time"
                continue
            for number in range(n):
                mine = _part(end, 1 / (n - number))
                kind.add(*fit(kind, number, [*self.callbacks, partial(_is_late, mine)]))
                if self.progress is not None:
                    self.progress.end(kind.models[-1].n_rounds, kind.evals[-1])
                if time.monotonic() >= mine:
                    kind.note = "ended by time_limit"
                if number == 0 and self._is_beaten(kind, rivals, target):
                    break

    def _train_together(
        self, kinds: list[Candidate], target: Target, fit: Callable[..., Fitted]
    ) -> None:
        """Train several models at a time, each with its share of the threads."""

        def train(kinds: list[Candidate], numbers: range) -> None:
            asked = [(kind, number) for kind in kinds for number in numbers]
            calls = [partial(fit, kind, number, [ends]) for kind, number in asked]
            for (kind, _), found in zip(asked, self._together(calls), strict=True):
                kind.add(*found)

        # A training that has failed or was interrupted ends the others.
        ends: Callback = lambda told: self.is_over.is_set()  # noqa: E731
        # The first fold of every kind, then the others of those that it does not rule out.
        n = len(self.rows.seeds)
        first = 1 if len(kinds) > 1 else n
        train(kinds, range(first))
        for place, kind in enumerate(kinds):
            self._is_beaten(kind, [rival for rival in kinds[:place] if rival.models], target)
        train([kind for kind in kinds if kind.models], range(first, n))

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

    def _threads(self, n_workers: int) -> int | None:
        """Threads of a model that is trained beside others; None where workers have their own."""
        if not self.rows.is_local:
            return None
        threads = n_threads(self.model.n_jobs, self.rows.totals.rows)
        if n_workers == 1:
            return threads
        return min(threads, max(n_threads(self.model.n_jobs) // n_workers, 1))

    def _fit(
        self,
        target: Target,
        decide: Callable[..., Ints] | None,
        n_rounds: int,
        n_kinds: int,
        kind: Candidate,
        number: int,
        callbacks: Sequence[Callback],
    ) -> Fitted:
        """Train a kind of model on one fold."""
        began = time.monotonic()
        rounds = Rounds(
            n_rounds,
            self.model.patience if self.model.early_stopping else 0,
            self.rows.seeds[number],
            target,
            self.rows.watched(number),
            decide,
            callbacks,
            head=target.name,
            booster=number + 1,
            n_boosters=len(self.rows.seeds),
            member=kind.name if n_kinds > 1 else "",
        )
        model, scores = self.rows.fit(kind, target, number, rounds, self._threads(self.n_workers))
        return model, scores, rounds.evals, time.monotonic() - began

    def _is_beaten(self, kind: Candidate, rivals: list[Candidate], target: Target) -> bool:
        """Whether the first fold shows that the rivals do not need a kind; if so, drop it."""
        # Members race: a kind that hardly lowers the loss of the first fold, blended with those
        # before it, would not pay for the time of the other folds. Few rows cannot tell.
        held_out = self.rows.held_out(0)
        scores = [rival.scores[0] for rival in (*rivals, kind) if rival.scores]
        has_race = len(self.rows.seeds) > 1 and rivals and kind.scores
        if not has_race or held_out is None or len(held_out) < _RACE_ROWS:
            return False
        known, some = _sampled(target, held_out)
        if known.weight <= 0:
            return False
        found = [s[some] for s in scores]
        weights = blend(found, known.loss)
        if weights[-1] > 0:
            before = known.loss(mixed(found[:-1], blend(found[:-1], known.loss)))
            least = _RACE_GAIN if self.model.effort == "balanced" else 0.0
            if known.loss(mixed(found, weights)) <= before - least * abs(before):
                return False
        kind.models, kind.evals, kind.scores = [], [], []
        kind.note = "adds nothing on the first fold"
        return True

    def _blend(self, kinds: list[Candidate], target: Target) -> None:
        """Loss of each kind on all held-out rows, and its weight by them."""
        held_out = self.rows.held_out()
        kinds[0].weight = 1.0  # without held-out rows the first kind counts alone
        if held_out is None or not all(kind.scores for kind in kinds):
            return
        whole = target.on(held_out.costs, held_out.weights)
        if whole.weight <= 0:  # no error costs anything on these rows
            return
        scores = [np.concatenate(kind.scores) for kind in kinds]
        for kind, own in zip(kinds, scores, strict=True):
            kind.loss = whole.loss(own)
        known, some = _sampled(target, held_out)
        if len(kinds) > 1 and known.weight > 0:
            weights = blend([own[some] for own in scores], known.loss)
            for kind, weight in zip(kinds, weights, strict=True):
                kind.weight = float(weight)

    def _refit(self, used: list[Candidate], target: Target, end: float) -> None:
        """Put one model of all rows in the place of those of the folds, where that is wanted."""
        model = self.model
        wanted = model.refit
        if wanted == "auto":  # who chose the folds wants to keep their boosters
            is_ours = model.ensemble == "auto" and model.cv is None and model.effort != "fast"
            wanted = is_ours and self.rows.totals.rows >= _REFIT_ROWS
        if not wanted or len(self.rows.seeds) == 1 or not model.early_stopping:
            return
        # Without time for it, the models of the folds are as good.
        left = end - time.monotonic()
        again = [kind for kind in used if left > _REFIT_TIME * kind.seconds]
        threads = self._threads(max(min(self.n_workers, len(again)), 1))

        def refit(kind: Candidate) -> Model:
            _, merged = engine(kind.engine)
            if merged is not None:  # the models of the folds are one without any training
                return merged(kind.models)
            # With more rows a booster can take a few rounds more before it overfits.
            n_rounds = max(round(_MORE_ROUNDS * np.mean([m.n_rounds for m in kind.models])), 1)
            place: dict[str, Any] = {"head": target.name, "booster": 1, "n_boosters": 1}
            seed, callbacks = self.rows.seeds[0], [lambda told: self.is_over.is_set()]
            rounds = Rounds(n_rounds, 0, seed, target, {}, None, callbacks, **place)
            return self.rows.fit(kind, target, None, rounds, threads)[0]

        found = self._together([partial(refit, kind) for kind in again])
        for kind, single in zip(again, found, strict=True):
            kind.models = [single]


def _sampled(target: Target, held_out: PricedRows) -> tuple[Target, slice]:
    """A target on as many held-out rows as choose weights, and which rows they are."""
    some = slice(None, None, -(-len(held_out) // _BLEND_ROWS))
    return target.on(held_out.costs, held_out.weights).take(some), some


# --- hidden costs ---------------------------------------------------------------------------------


# What an error costs often follows from the columns of a row, such as an amount. Where `predict` is
# not told it, two decisions on two classes go by the log-ratio of what each is expected to save,
#
# .. math:: F(x) = \log \frac{p_1(x)}{p_0(x)} + \log s_1(x) - \log s_0(x),
#
# where :math:`s_y(x)` is the expected price of an error on a row of class y. Boosters of their own
# learn :math:`\log s_y` (`PriceTarget`), so F is a sum of scores like any other: it has exact SHAP
# values, stages, and a place in files and ONNX graphs. `DecisionTarget` learns the same log-ratio
# directly, from the cheapest decisions. Held-out scores weigh the two.


def price_targets(model: Any, rows: TrainingRows) -> list[PriceTarget]:
    """What errors cost under each of two classes, where that can decide; else nothing."""
    is_free = model.engine != "catboost" and CONSTRAINTS.isdisjoint(model.engine_params or {})
    if rows.row_costs is None or not is_free or rows.held_out() is None:
        return []
    costs, weights = rows.row_costs
    if costs.matrix is None or costs.matrix.ndim != 3 or costs.matrix.shape[1:] != (2, 2):
        return []
    mean = np.average(costs.matrix, axis=0, weights=weights)
    saved = mean[:, 0] - mean[:, 1]  # by the second decision, under each class
    targets = [PriceTarget(y, int(saved[y] > 0), costs, weights) for y in (0, 1)]
    is_finite = np.isfinite([*saved, *(target.unit for target in targets)]).all()
    return targets if is_finite and np.sign(saved).prod() < 0 else []


def train_prices(
    targets: Sequence[PriceTarget], training: Training, end: float
) -> list[tuple[Trained, float]]:
    """Boosters of prices that differ, with their signs in the log-ratio; nobody hears of them."""
    quiet = replace(training, callbacks=[], progress=None)
    model, varied = training.model, [target for target in targets if target.varies]
    n_rounds, found = min(model.n_estimators, _PRICE_ROUNDS), []
    for place, target in enumerate(varied):
        kind = candidate(model, target.n_scores)
        if model.learning_rate == "auto":
            kind.learning_rate = _PRICE_RATE
        mine = _part(end, 1 / (len(varied) - place))
        found.append((quiet.train_members([kind], target, None, mine, n_rounds), target.sign))
    return found


def with_prices(
    learned: Trained,
    others: list[tuple[Trained, float]],
    base: float,
    target: Target,
    held_out: PricedRows,
) -> tuple[Head, Floats] | None:
    """The deciding head, of what was learned directly and what follows from prices."""
    direct: Any = learned.scores
    parts: list[Any] = [factor * found.scores for found, factor in others]  # type: ignore[operator]
    expected = base + np.sum(parts, axis=0)
    # The mean cost of the held-out decisions would be the plain measure, but a few costly rows near
    # the boundary make it too noisy to choose by. The loss of `target` is the cost averaged over
    # all thresholds, so every row has a say (`benchmarks/hidden_costs.py`).
    known, some = _sampled(target, held_out)
    if known.weight <= 0:
        return None
    share = float(blend([direct[some], expected[some]], known.loss)[1])
    if share == 0:
        return None
    terms = [
        (model, float(factor * weight))
        for found, factor in [(learned, 1.0 - share), *((f, share * s) for f, s in others)]
        for model, weight in zip(found.models, found.weights, strict=True)
        if factor
    ]
    models, weights = zip(*terms, strict=True)
    head = DecisionHead(models, weights, base=share * base)
    return head, (1.0 - share) * direct + share * expected


# --- estimates ------------------------------------------------------------------------------------


class Estimate(NamedTuple):
    """A value with its 95 % interval."""

    value: float
    low: float
    high: float

    def __str__(self) -> str:
        return f"{self.value:.3f} ({self.low:.3f} to {self.high:.3f})"


def _estimated(
    heads: dict[str, Head], scores: dict[str, Floats], held_out: PricedRows
) -> tuple[dict[str, Any], Ints]:
    """Costs of the decisions on held-out rows, as attributes, and the decisions."""
    costs, weights = held_out.costs, held_out.weights

    def decided(name: str) -> Ints:
        return heads[name].decide(heads[name].temperature * scores[name], costs)

    # What `predict` goes by when it is told all that `fit` knew.
    *_, last = heads
    decisions = decided(last if costs.matrix is None else next(iter(heads)))
    found: dict[str, Any] = {
        "estimated_cost_": float(np.average(costs.paid(decisions), weights=weights)),
        "_estimated_rows": float(np.square(weights.sum()) / np.square(weights).sum()),
    }
    ways = {"": decisions}
    if len(heads) == 2:
        ways["without_costs_"] = decided(last)
    for name, taken in ways.items():
        score = estimate_share(costs.regret(taken), costs.reduced, weights)
        if score is None:  # the best constant decision is perfect: no rows tell how sure that is
            score = Estimate(*[costs.avoidable_share(taken, weights)] * 3)
        found[f"estimated_score_{name}"] = score
        # Savings are not defined where the best constant decision costs nothing or earns.
        savings = estimate_share(costs.paid(taken), costs.prices, weights)
        if savings is not None:
            found[f"estimated_savings_{name}"] = savings
    return found, decisions


def estimate_share(paid: Floats, prices: Floats, weights: Floats) -> Estimate | None:
    """Share of the cost of the best constant decision that is saved; None if that costs nothing."""
    # With :math:`a_i` what row i paid and :math:`b_i` what the best constant decision pays,
    # the share is :math:`s = 1 - \sum w_i a_i / \sum w_i b_i`. A ratio of sums has, to first order,
    # the variance of the sum of :math:`w_i (a_i - (1 - s) b_i) / \sum_j w_j b_j`, which gives
    # the interval :math:`s \pm 1.96` standard errors.
    totals = weights @ prices
    constant = int(totals.argmin())
    if totals[constant] <= 1e-12 * float(weights @ np.abs(prices[:, constant])):
        return None  # nothing, but for rounding
    base = prices[:, constant]
    ratio = float(weights @ paid) / float(totals[constant])
    residual = weights * (paid - ratio * base) / totals[constant]
    # Over n - 1, as for the variance of any mean.
    n = max(len(paid), 2)
    error = float(np.sqrt(np.square(residual).sum() * n / (n - 1)))
    return Estimate(1.0 - ratio, 1.0 - ratio - _NORMAL_95 * error, 1.0 - ratio + _NORMAL_95 * error)


def of_future_rows(estimate: Estimate, n: float, m: float) -> Estimate:
    """What so many new rows will save, with an interval for them."""
    # The interval of `estimate_share` is about the mean of endlessly many rows. New rows vary
    # too: if :math:`\sigma` is the standard error of n rows, the difference to m other rows has the
    # standard error :math:`\sigma \sqrt{1 + n / m}`. The interval is symmetric on the scale
    # :math:`\log(1 - s)`, because the share of the cost that is left, 1 - s, cannot be negative and
    # has a long upper tail.
    left = 1.0 - estimate.value
    error = (estimate.high - estimate.value) * np.sqrt(1.0 + n / m)
    if left <= 0 or error <= 0:
        high = estimate.value + error
        high = high if estimate.value > 1 else min(high, 1.0)  # above 1: the decisions earn
        return Estimate(estimate.value, estimate.value - error, high)
    factor = float(np.exp(error / left))
    return Estimate(estimate.value, 1.0 - left * factor, 1.0 - left / factor)

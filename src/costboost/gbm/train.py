"""One training, whatever the source of the rows: heads, calibration, estimates."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np

from costboost._typing import AnyArray, Floats, Ints
from costboost.costs import Costs, CostSummary
from costboost.gbm.blocks import Block, Features
from costboost.gbm.casting import Cast, Clock, Start, Task, Training
from costboost.gbm.checkpoint import BoosterStore
from costboost.gbm.estimate import Estimate, estimate_savings
from costboost.gbm.heads import Head, LossHead, PriceHead, ProbabilityHead
from costboost.gbm.members import Members
from costboost.gbm.progress import booster_progress
from costboost.gbm.rounds import Callback, Evals
from costboost.gbm.settings import Settings
from costboost.gbm.sources.base import Source
from costboost.gbm.stakes import stakes_for
from costboost.gbm.targets import LossTarget, PriceTarget, ProbabilityTarget
from costboost.gbm.totals import Totals
from costboost.losses import named_loss

__all__ = ["Estimates", "Fitted", "Start", "Task", "tasks_for", "train"]

# Time for the boosters of what errors cost, in that of a head.
_STAKES_TIME = 0.5


@dataclass(frozen=True, eq=False)
class Estimates:
    """What the decisions on held-out rows cost and saved; None where no row tells."""

    savings: Estimate | None = None
    savings_without_costs: Estimate | None = None
    cost: float | None = None
    decisions: Ints = field(default_factory=lambda: np.empty(0, dtype=np.intp))
    rows: float = 0.0


@dataclass(frozen=True, eq=False)
class Fitted:
    """What a training found: all that a fitted classifier is made of."""

    classes: AnyArray
    features: Features
    costs: CostSummary
    has_row_costs: bool
    heads: dict[str, Head]
    estimates: Estimates
    evals: dict[str, list[Evals]] = field(default_factory=dict)
    members: dict[str, Members] = field(default_factory=dict)


def train(
    source: Source,
    settings: Settings,
    start: Mapping[str, Start] | None = None,
    callbacks: Sequence[Callback] = (),
    store: BoosterStore | None = None,
) -> Fitted:
    """Train the heads that the settings ask for."""
    totals = source.totals
    totals.check(settings.owner)
    tasks = tasks_for(settings, totals, source.classes, has_row_costs=source.has_row_costs)
    if settings.verbose:
        print(totals.summary)
    # Without the costs of a row, the deciding head can use what its columns tell about them.
    stakes = stakes_for(settings, source) if len(tasks) == 2 else None
    heads: dict[str, Head] = {}
    casts: dict[str, Cast] = {}
    verbose = settings.verbose if source.tells_rounds else 0
    clock = Clock(settings.time_limit)
    # What hears of rounds, keeps models or ends them in time goes model by model.
    is_free = not (callbacks or verbose or store is not None or settings.time_limit is not None)
    n_workers = source.n_workers(settings) if is_free else 1
    with booster_progress(settings.owner, verbose) as progress:
        told: list[Callback] = [progress, *callbacks]
        for place, task in enumerate(tasks):
            name = task.target.name
            training = Training(source, settings, task, told, progress.end, store, n_workers)
            share = 1 / (len(tasks) - place + (0 if stakes is None else _STAKES_TIME))
            cast = training.cast((start or {}).get(name), clock.part(share))
            heads[name], casts[name] = task.head.trained(cast.models, cast.weights), cast
    if stakes is not None:
        stakes = stakes.trained(source, clock, store, n_workers)
    clock.warn(casts, settings.owner)
    scores = {name: cast.scores for name, cast in casts.items() if cast.scores is not None}
    held_out = source.held_out() if scores else None
    if held_out is not None:
        if settings.calibration is not None:
            heads = _calibrated(heads, scores, held_out)
        if stakes is not None:
            heads["decision"], scores["decision"] = stakes.combined(
                heads, casts, tasks[-1].target, held_out
            )
        estimates = _estimated(heads, scores, held_out)
    else:
        estimates = Estimates()
    return Fitted(
        source.classes,
        source.features,
        totals.summary,
        source.has_row_costs,
        heads,
        estimates,
        {name: cast.evals for name, cast in casts.items()},
        {name: cast.members for name, cast in casts.items()},
    )


def tasks_for(
    settings: Settings, totals: Totals, classes: AnyArray, *, has_row_costs: bool
) -> list[Task]:
    """What to train for: the probabilities of the classes, the decision, or both."""
    matrix = totals.mean_costs
    if settings.loss != "auto":
        loss = named_loss(settings.loss, settings.owner)
        if loss.is_binary and len(classes) > 2:
            raise ValueError(
                f"The 'loss' parameter of {settings.owner}, {settings.loss!r}, is for two classes, "
                f"and there are {len(classes)}. Use 'auto' or a multi-class loss, such as 'gll'."
            )
        for known, matters in ((totals.matrix, True), (matrix, loss.has_probabilities)):
            if known is not None and matters:
                loss.check_costs(known, settings.owner)
        target = LossTarget(loss, totals, classes)
        return [Task(target, LossHead(loss=loss, matrix=matrix / target.unit))]
    tasks = []
    if settings.decision != "learned":
        head = ProbabilityHead(costs=Costs(classes, matrix, totals.decisions))
        tasks.append(Task(ProbabilityTarget(totals), head))
    if settings.decision == "learned" or (settings.decision == "auto" and has_row_costs):
        tasks.append(Task(PriceTarget(totals), PriceHead()))
    return tasks


def _calibrated(
    heads: dict[str, Head], scores: dict[str, Floats], held_out: Block
) -> dict[str, Head]:
    """Every head with the temperature that suits its held-out scores."""
    codes = held_out.costs.codes
    return {
        name: head.calibrated(scores[name], codes, held_out.weights) for name, head in heads.items()
    }


def _estimated(heads: dict[str, Head], scores: dict[str, Floats], held_out: Block) -> Estimates:
    """Costs and savings of the decisions on held-out rows."""
    costs, weights = held_out.costs, held_out.weights
    # What `predict` goes by when it is told all that `fit` knew.
    names = list(heads)
    told = names[-1] if costs.matrix is None else names[0]

    def decided(name: str) -> Ints:
        return heads[name].decide(heads[name].temperature * scores[name], costs)

    def savings(decisions: Ints) -> Estimate:
        return estimate_savings(costs.regret(decisions), costs.reduced, weights)

    decisions = decided(told)
    return Estimates(
        savings(decisions),
        savings(decided(names[-1])) if len(heads) == 2 else None,
        float(np.average(costs.paid(decisions), weights=weights)),
        decisions,
        float(np.square(weights.sum()) / np.square(weights).sum()),
    )

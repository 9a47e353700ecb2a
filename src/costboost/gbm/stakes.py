r"""Deciding without the costs of a row: they are guessed from its columns.

What an error costs often follows from the columns of a row, such as an amount. Two decisions on
two classes go by the log-ratio of what each is expected to save,

.. math:: F(x) = \log \frac{p_1(x)}{p_0(x)} + \log s_1(x) - \log s_0(x),

where :math:`s_y(x)` is the expected price of an error on a row of class y, the *stakes*. Boosters
of their own learn :math:`\log s_y`, so F is a sum of scores like any other: it has exact SHAP
values, stages, and a place in files and ONNX graphs. `costboost.gbm.targets.PriceTarget` learns
the same log-ratio directly, from the cheapest decisions. Their held-out scores say how much each
counts.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np

from costboost._typing import AnyArray, Floats, Ints
from costboost.costs import KnownCosts
from costboost.gbm.blocks import Block
from costboost.gbm.casting import Cast, Clock, Task, Training, sampled
from costboost.gbm.checkpoint import BoosterStore
from costboost.gbm.heads import Head, JointHead, PriceHead
from costboost.gbm.members import blend
from costboost.gbm.objectives import Derivatives
from costboost.gbm.portfolio import DEMANDS
from costboost.gbm.rounds import Evals
from costboost.gbm.settings import Settings
from costboost.gbm.sources.base import Source
from costboost.gbm.targets import Columns, Part, Target
from costboost.gbm.totals import Totals

__all__ = ["StakeHead", "StakePart", "StakeTarget", "Stakes", "stakes_for"]

# Rounds of boosters of the stakes, at most, and their shrinkage. A price that is a function of the
# columns could be fitted ever closer; a few per cent off, it moves hardly any decision.
_ROUNDS = 200
_RATE = 0.2
# Prices of errors that differ by less than this share of their mean are the same.
_SAME = 1e-9


class StakePart(Part):
    """Poisson loss of prices, :math:`e^F - s F`, whose minimiser is the log of their mean."""

    def __init__(self, prices: AnyArray, weights: AnyArray) -> None:
        self.prices = prices
        self.weights = weights
        self.weight = float(weights.sum()) if prices.any() else 0.0

    def loss(self, scores: Floats) -> float:
        """Mean loss."""
        return float(np.average(np.exp(scores) - self.prices * scores, weights=self.weights))

    def derivatives(self, scores: AnyArray) -> Derivatives:
        """Gradient ``w (e^F - s)``, and for Hessian its bound ``w max(e^F, s)``."""
        # With it the step of a leaf is at most 1, however much its prices differ from their guess;
        # Newton's own would be 99 for a price of 100 times the mean.
        means = np.exp(np.asarray(scores, dtype=np.float64))
        gradient = self.weights * (means - self.prices)
        hessian = self.weights * np.maximum(means, self.prices)
        return gradient.astype(np.float32), np.maximum(hessian, 1e-16).astype(np.float32)


class StakeTarget(Target):
    """What an error costs on a row if its class were this one, whatever it is."""

    is_log_loss = False
    n_scores = 1

    def __init__(self, truth: int, cheaper: int, unit: float, totals: Totals) -> None:
        self.name = f"stakes of class {truth}"
        self.truth = truth
        self.cheaper = cheaper
        self.unit = unit
        self.masses = totals.weight

    def columns(self, costs: KnownCosts, weights: Floats) -> Columns:
        """Prices of errors as gains."""
        prices = error_prices(costs, self.truth, self.cheaper) / self.unit
        return Columns(costs.codes, weights, prices)

    def part(self, columns: Columns) -> StakePart:
        """Poisson loss of the prices."""
        assert columns.gains is not None
        return StakePart(columns.gains, columns.weights)


@dataclass(frozen=True, eq=False)
class StakeHead(PriceHead):
    """Decides by the stakes of one class alone; all else is as in the mean of all rows."""

    # It only says what each round of their training costs, and is no part of a fitted classifier.

    sign: float = field(kw_only=True)
    base: float = field(kw_only=True)

    def decide(self, scores: Floats, costs: KnownCosts | None = None) -> Ints:
        """The second decision if it is expected to save more."""
        return super().decide(self.sign * scores + self.base, costs)


@dataclass(frozen=True, eq=False)
class Stakes:
    """What errors cost under each of two classes, and how it is learned."""

    signs: tuple[float, float]
    units: tuple[float, float]
    tasks: dict[int, Task]
    settings: Settings
    casts: dict[int, Cast] = field(default_factory=dict)

    @property
    def base(self) -> float:
        """Log-ratio of the mean prices."""
        return float(np.dot(self.signs, np.log(self.units)))

    def trained(
        self, source: Source, clock: Clock, store: BoosterStore | None = None, n_workers: int = 1
    ) -> Stakes:
        """Train the boosters; callbacks do not hear of them."""
        casts = {}
        for place, (truth, task) in enumerate(self.tasks.items()):
            training = Training(source, self.settings, task, [], _tell_nobody, store, n_workers)
            casts[truth] = training.cast(None, clock.part(1 / (len(self.tasks) - place)))
        return replace(self, casts=casts)

    def combined(
        self,
        heads: Mapping[str, Head],
        casts: Mapping[str, Cast],
        target: Target,
        held_out: Block,
    ) -> tuple[Head, Floats]:
        """The deciding head, of what was learned directly and what follows from the stakes."""
        direct = casts["decision"].scores
        assert direct is not None
        # Casts whose scores, times these factors, sum to the log-ratio of what decisions save.
        first = heads["probability"]
        factors = [(casts["probability"], self.signs[1] * first.temperature)]
        factors += [(cast, self.signs[truth]) for truth, cast in self.casts.items()]
        parts = [factor * _known(cast.scores) for cast, factor in factors]
        expected = self.base + np.sum(parts, axis=0)
        share = share_of_expected(direct, expected, target, held_out)
        if share == 0:
            return heads["decision"], direct
        learned = casts["decision"]
        head = JointHead(
            tuple(learned.models),
            tuple(float((1.0 - share) * weight) for weight in learned.weights),
            beside=tuple(model for cast, _ in factors for model in cast.models),
            beside_weights=tuple(
                float(share * factor * weight)
                for cast, factor in factors
                for weight in cast.weights
            ),
            base=share * self.base,
        )
        return head, (1.0 - share) * direct + share * expected


def stakes_for(settings: Settings, source: Source) -> Stakes | None:
    """How to learn what errors cost, where that can decide."""
    known = source.row_costs
    is_plain = settings.engine != "catboost" and not settings.warm_start
    is_free = DEMANDS.isdisjoint(settings.engine_params or {})
    if known is None or not (is_plain and is_free) or source.held_out() is None:
        return None
    costs, weights = known
    if costs.matrix is None or costs.matrix.ndim != 3 or costs.matrix.shape[1:] != (2, 2):
        return None
    mean = np.average(costs.matrix, axis=0, weights=weights)
    saved = mean[:, 0] - mean[:, 1]  # by the second decision, under each class
    cheaper = [int(value > 0) for value in saved]
    prices = [error_prices(costs, truth, cheaper[truth]) for truth in (0, 1)]
    units = [float(np.average(price, weights=weights)) for price in prices]
    if not np.isfinite([*saved, *units]).all() or np.sign(saved).prod() >= 0:
        return None
    found = Stakes(
        (1.0 if cheaper[0] else -1.0, 1.0 if cheaper[1] else -1.0),
        (units[0], units[1]),
        {},
        _few_rounds(replace(settings, effort="fast", refit=source.refits(settings))),
    )
    totals = source.totals
    prior = found.base + found.signs[1] * float(np.log(totals.weight[1] / totals.weight[0]))
    for truth, unit in enumerate(units):
        if np.ptp(prices[truth]) > _SAME * unit:
            target = StakeTarget(truth, cheaper[truth], unit, totals)
            found.tasks[truth] = Task(target, StakeHead(base=prior, sign=found.signs[truth]))
    return found


def share_of_expected(direct: Floats, expected: Floats, target: Target, held_out: Block) -> float:
    """How much the scores by expected costs count beside those that were learned directly."""
    # The mean cost of the held-out decisions would be the plain measure, but a few costly rows near
    # the boundary make it too noisy to choose by. The loss of `target` is the cost averaged over
    # all thresholds, so every row has a say (`benchmarks/hidden_costs.py`).
    columns = target.columns(held_out.costs, held_out.weights)
    part, some = sampled(target, columns)
    if part.weight <= 0:
        return 0.0
    return float(blend([direct[some], expected[some]], part.loss)[1])


def error_prices(costs: KnownCosts, truth: int, cheaper: int) -> Floats:
    """What the other decision costs beyond the cheaper one if rows were of a class; at least 0."""
    matrix = costs.unknown.matrix[:, truth]
    return np.asarray(np.maximum(matrix[:, 1 - cheaper] - matrix[:, cheaper], 0.0))


def _few_rounds(settings: Settings) -> Settings:
    rate = _RATE if settings.learning_rate == "auto" else settings.learning_rate
    return replace(settings, learning_rate=rate, n_estimators=min(settings.n_estimators, _ROUNDS))


def _tell_nobody(n_rounds: int, evals: Evals) -> None:
    """Of a trained booster."""


def _known(scores: Floats | None) -> Floats:
    assert scores is not None
    return scores

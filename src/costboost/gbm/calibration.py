"""What held-out rows choose: the rounds, the weights of members, a temperature, a shrinkage.

The same held-out rows estimate what the decisions will cost. A row that has a say in the choices by
which it is judged looks better than new rows will. So held-out rows are in parts, one for each
fold, and for the estimate each part is judged by the choices of the other parts. The model itself
takes the choices of all parts together.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial

import numpy as np
from scipy.optimize import minimize_scalar

from costboost._typing import Floats, Ints
from costboost.costs import Costs, RealizedCosts
from costboost.gbm.data import Totals, TrainingData
from costboost.gbm.models import ProbabilityModel
from costboost.gbm.objectives import TrainingObjective

# Held-out rows that choose the weights of members; more would not change them.
BLEND_ROWS = 20_000
# Steps of the greedy search: weights are multiples of its inverse, or of that of fewer steps.
GREEDY_STEPS = 20
# A member is dropped if leaving it out raises the loss by less than this share.
SMALLEST_GAIN = 5e-4
# Part of the way to the shares of the classes that scores of small tables are drawn if their
# decisions may be worth nothing: in 14 of 120 problems of five development sets, where it saved
# 0.042 of the avoidable cost. With more rows they are less sure of themselves.
SHRINKAGE = 0.3
SHRINKAGE_ROWS = 1000
# A share of the avoidable cost that is nearer to 0 than this is 0, but for rounding.
ROUNDING = 1e-9
# The temperature: its range, and the standard deviation of the normal prior of its logarithm.
TEMPERATURE_BOUNDS = (0.5, 2.0)
TEMPERATURE_SPREAD = 0.05


# --- rounds ---------------------------------------------------------------------------------------


def best_round(part_losses: Sequence[Floats], without: int | None = None) -> int:
    """Return the round after which the held-out rows of all parts, or all but one, lose least.

    Parameters
    ----------
    part_losses : sequence of arrays of shape (n_rounds, n_parts)
        For the model of each fold, the summed loss of each part after each round.
    without : int, optional
        The part that has no say.

    Returns
    -------
    int
        Number of rounds, from 1.
    """
    n_rounds = max(len(losses) for losses in part_losses)
    rounds = np.arange(n_rounds)
    total = np.zeros((n_rounds, part_losses[0].shape[1]))
    for losses in part_losses:
        # A model that has stopped keeps its last loss.
        total += losses[np.minimum(rounds, len(losses) - 1)]
    if without is not None:
        total[:, without] = 0.0
    return int(total.sum(axis=1).argmin()) + 1


# --- weights, temperature, shrinkage --------------------------------------------------------------


@dataclass(frozen=True)
class Calibration:
    """How scores of members become one score: what held-out rows chose."""

    weights: Floats
    temperature: float
    shrinkage: float = 0.0
    class_scores: Floats | float = 0.0  # those of the shares of the classes

    def apply(self, scores: Sequence[Floats]) -> Floats:
        """Return the calibrated score of each row from the scores of the members."""
        blended = self.temperature * mixed(scores, self.weights)
        return (1.0 - self.shrinkage) * blended + self.shrinkage * self.class_scores

    def calibrated(self, model: ProbabilityModel) -> ProbabilityModel:
        """Return a model with this temperature, whose scores are shifted by the shrinkage."""
        if self.shrinkage == 0.0:
            return replace(model, temperature=self.temperature)
        temperature = (1.0 - self.shrinkage) * self.temperature
        shift = self.shrinkage * self.class_scores / temperature
        return replace(model, ensemble=model.ensemble.shifted(shift), temperature=temperature)


@dataclass(frozen=True)
class Calibrator:
    """Chooses calibrations by held-out rows, or by some of them."""

    scores: Sequence[Floats]  # of each member on the held-out rows
    held_out: TrainingData
    costs: Costs  # by which they are decided
    objective: TrainingObjective
    model: ProbabilityModel
    weights: Floats  # of the members, as all held-out rows chose them
    class_scores: Floats | float | None  # None: never shrink

    def of_all_rows(self) -> Calibration:
        """Return the calibration of the model."""
        return self._choose(self.scores, self.held_out, self.costs, self.weights)

    def cross_fitted(self, parts: Ints | None) -> Floats:
        """Return scores of the held-out rows, those of each part calibrated by the other parts."""
        calibrated = self.of_all_rows().apply(self.scores)
        if parts is None:
            return calibrated
        for part in np.unique(parts):
            judged = parts == part
            others = np.flatnonzero(~judged)
            if not len(others):
                continue
            scores = [member[others] for member in self.scores]
            held_out = self.held_out.take(others)
            costs = self.costs
            if costs.is_per_row:
                costs = costs.take(others)
            calibration = self._choose(
                scores, held_out, costs, blend(scores, self._loss_of(held_out))
            )
            calibrated[judged] = calibration.apply([member[judged] for member in self.scores])
        return calibrated

    def _choose(
        self, scores: Sequence[Floats], held_out: TrainingData, costs: Costs, weights: Floats
    ) -> Calibration:
        """Return the temperature of blended scores and, where decisions may lose, a shrinkage."""
        loss = self._loss_of(held_out)
        row_weight = held_out.sample_weight
        n_effective = np.square(row_weight.sum()) / np.square(row_weight).sum()
        temperature = best_factor(mixed(scores, weights), loss, n_effective)
        calibration = Calibration(weights, temperature)
        if self.class_scores is None:
            return calibration
        decided = self.model.decide(calibration.apply(scores), costs)
        if may_lose(held_out.costs, decided, row_weight):
            return replace(calibration, shrinkage=SHRINKAGE, class_scores=self.class_scores)
        return calibration

    def _loss_of(self, held_out: TrainingData) -> Callable[[Floats], float]:
        """Return the loss of held-out rows as a function of their scores."""
        target = self.objective.target(held_out.costs, held_out.sample_weight)
        return partial(self.objective.loss, target=target)


def best_factor(scores: Floats, loss: Callable[[Floats], float], n: float) -> float:
    """Return the factor of held-out scores that has the smallest loss, drawn towards 1."""
    # One number for all classes (temperature scaling, Guo et al. 2017): it moves no boundary
    # between equally costly classes, and has too little freedom to overfit. Held-out rows without
    # an error would have it grow for ever, and the probability of a rare, costly class vanish; so
    # there are bounds, and a normal prior of its logarithm, which n rows outweigh.
    best = minimize_scalar(
        lambda x: loss(np.exp(x) * scores) + 0.5 * (x / TEMPERATURE_SPREAD) ** 2 / n,
        bounds=tuple(np.log(TEMPERATURE_BOUNDS)),
        method="bounded",
        options={"xatol": 1e-3},
    )
    # The search stays within its bounds; an optimum at a bound is found to its tolerance.
    if not np.isfinite(best.fun):
        return 1.0
    return float(np.exp(best.x))


def may_lose(costs: RealizedCosts, decided: Ints, weights: Floats) -> bool:
    """Return whether decisions may cost more than the best constant one, by a normal interval.

    Where the held-out rows cannot tell, probabilities far from the shares of the classes are too
    sure more often than right. The interval of the estimates, which is wider, would say so of
    nearly all small tables.
    """
    totals = weights @ costs.regret
    constant = int(totals.argmin())
    if totals[constant] <= 0.0:
        return False
    paid = costs.regret[np.arange(len(decided)), decided]
    share = 1.0 - float(weights @ paid) / totals[constant]
    residual = (paid - (1.0 - share) * costs.regret[:, constant]) / totals[constant]
    n = max(float(weights.sum()), 2.0)
    error = np.sqrt((weights * np.square(residual)).sum() * n / (n - 1.0))
    return bool(share - 1.96 * error < -ROUNDING)


def shrinkage_target(totals: Totals, n_scores: int) -> Floats | float | None:
    """Return what scores may be drawn to; None if the table is large, or has no costs."""
    mean_costs = totals.mean_costs
    # Who gives no costs may want the probabilities alone.
    has_costs = not np.array_equal(mean_costs, 1.0 - np.eye(len(mean_costs)))
    if totals.rows >= SHRINKAGE_ROWS or not has_costs:
        return None
    return class_scores(totals.weight, n_scores)


def class_scores(weight: Floats, n_scores: int) -> Floats | float:
    """Return the scores of the shares of the classes."""
    logs = np.log(np.maximum(weight / weight.sum(), 1e-6))
    if n_scores == 1:
        return float(logs[1] - logs[0])
    return np.asarray(logs)


def blend(
    scores: Sequence[Floats], loss: Callable[[Floats], float], smallest_gain: float = SMALLEST_GAIN
) -> Floats:
    """Return weights of members by which their mean held-out score has a small loss."""
    # Greedy selection with replacement (Caruana et al. 2004): in each step the member that lowers
    # the loss of the mean most is counted once more. Then members that hardly matter are left out,
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
        if least > best + smallest_gain * abs(best):
            break
        weights = fewer
    return weights


def _greedy(
    scores: Sequence[Floats], loss: Callable[[Floats], float], allowed: list[int]
) -> Floats:
    """Return counts of the best prefix of the greedy steps, as weights."""
    counts = np.zeros(len(scores))
    best = np.zeros(len(scores))
    least = np.inf
    total = np.zeros_like(scores[0])
    for step in range(1, GREEDY_STEPS + 1):
        losses = [loss((total + scores[j]) / step) for j in allowed]
        chosen = int(np.argmin(losses))
        total = total + scores[allowed[chosen]]
        counts[allowed[chosen]] += 1
        if losses[chosen] < least:
            least = losses[chosen]
            best = counts / step
    return best


def mixed(scores: Sequence[Floats], weights: Floats | Sequence[float]) -> Floats:
    """Return the weighted sum of scores."""
    parts = [w * s for w, s in zip(weights, scores, strict=True) if w > 0]
    return np.asarray(sum(parts))

"""Schemes of the multi-class family: p-norm averaging, votes, coordinate descent."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal, TypeAlias, cast

import numpy as np

from costboost._typing import Bools, Floats, Ints
from costboost._utils import dot
from costboost.boosting.descent import convex_step
from costboost.boosting.loop import Scheme, Step
from costboost.boosting.votes import Init, VoteRule, VoteScheme
from costboost.learners.base import Aim, Ensemble, Learner, LeastSquares, Votes
from costboost.learners.ensembles import Coordinates, Mixture, Shape, mixture_weights
from costboost.losses.multiclass import Coordinate, MulticlassLoss, PNorm


@dataclass(frozen=True)
class MulticlassProblem:
    """Right decisions, cost rows and sample weights of the training rows."""

    # Decisions are the classes unless the costs name others; k counts the decisions here.

    z: Ints  # (n,) code of the cheapest decision
    C: Floats  # (n, k) reduced cost of each decision; C[i, z[i]] = 0
    sample_weight: Floats  # (n,) positive

    @property
    def right(self) -> Bools:
        """True at each row's right decision, (n, k)."""
        return np.asarray(np.arange(self.C.shape[1]) == self.z[:, None])

    @property
    def error_cost(self) -> Floats:
        """What a wrong decision costs on each row: the mean over the wrong decisions, (n,)."""
        return np.asarray(self.C.sum(axis=1) / (self.C.shape[1] - 1))


# -- pairs (row, class) -------------------------------------------------------------------------

# (H, C, right, p) -> the weight of every pair; a positive one wants h(x, y) = 1, a negative one 0.
Pairing: TypeAlias = Callable[[Floats, Floats, Bools, float], Floats]


def pseudo_loss_pairs(w: Floats, right: Bools) -> Floats:
    """Signed pair weights of the pseudo-loss ½ Σ w (1 - h(x, z) + h(x, y)), (n, k)."""
    signed = -0.5 * w
    signed[right] = 0.5 * np.where(right, 0.0, w).sum(axis=1)
    return signed


class PNormAveraging(Scheme):
    """Descent on Σ H(y|x)^p C[x, y] by averaging rules: H ← (1 - α) H + α h (Lozano & Abe 2008)."""

    def __init__(
        self,
        problem: MulticlassProblem,
        p: float,
        pairing: Pairing | None,
        shape: Shape | None,
        step: Literal["harmonic", "bound"] = "harmonic",
        rng: np.random.RandomState | None = None,
    ) -> None:
        self._C, self._z, self._right = problem.C, problem.z, problem.right
        self._sample_weight = problem.sample_weight / problem.sample_weight.sum()
        self._p = p
        self._pnorm = PNorm(p)
        self._pairing = pairing
        self._shape = shape  # what is averaged in place of the relation
        self._smoothness = self._pnorm.smoothness(problem.C)
        self._harmonic = step == "harmonic" or p < 2.0
        self._rng = rng
        self._round = 0
        self._criterion = Votes()
        self.F = np.full(problem.C.shape, 1.0 / problem.C.shape[1])  # H

    def aim(self) -> Aim | None:
        """The weighted pairs, or the costs w of the classes."""
        if self._pairing is None:
            w = self.F ** (self._p - 1.0) * self._C
            return Aim(w, self._sample_weight, self._criterion) if w.any() else None
        signed = self._pairing(self.F, self._C, self._right, self._p)
        signed *= self._sample_weight[:, None]
        weights = np.abs(signed)
        total = weights.sum()
        if not total > 0:
            return None
        weights /= total
        if self._rng is not None:
            counts = self._rng.multinomial(weights.size, weights.ravel())
            weights = counts.reshape(weights.shape) / weights.size
        return Aim(np.where(signed > 0, 1.0, -1.0), weights, self._criterion)

    def _hypothesis(self, outputs: Floats) -> Floats:
        """What is averaged, h(x, y) or f(y|x), (n, k)."""
        return outputs if self._shape is None else self._shape(outputs)

    def step(self, outputs: Floats) -> Step:
        """α_t."""
        self._round += 1
        if self._harmonic:
            return Step(1.0 / self._round)
        change = self._hypothesis(outputs) - self.F
        s = self._sample_weight
        slope = dot(s, (self._pnorm.gradient(self._z, self.F, self._C) * change).sum(axis=1))
        length = dot(s, (change**2).sum(axis=1))
        if length == 0.0:
            return Step(0.0)
        return Step(float(np.clip(-slope / (self._smoothness * length), 0.0, 1.0)))

    def add(self, F: Floats, outputs: Floats, alpha: float) -> None:
        """H_t = (1 - α_t) H_{t-1} + α_t h_t."""
        F *= 1.0 - alpha
        F += alpha * self._hypothesis(outputs)

    @property
    def loss(self) -> float:
        """The mean p-norm cost now."""
        return dot(self._sample_weight, self._pnorm.value(self._z, self.F, self._C))

    def ensemble(self, learner: Learner, rules: list[Any], votes: Floats) -> Ensemble:
        """The average of the rules."""
        parts = learner.ensemble(rules, mixture_weights(votes)[1])
        return Mixture(parts, votes, self._C.shape[1], self._shape)


class PairVotes(VoteScheme):
    """AdaBoost.M2's skeleton around a `VoteRule`: D lives on pairs of rows and wrong classes."""

    # The rule sees :math:`(1 - u)/2` for ``wrong``, with u = h(x, z) - h(x, y) in {-1, 0, 1} the
    # margin of the pair, so that Σ D·wrong is the pseudo-loss.

    def __init__(
        self, rule: VoteRule, problem: MulticlassProblem, *, init: Init, n_rounds: int
    ) -> None:
        self._right, self._z = problem.right, problem.z
        costs = problem.C
        # Free decisions have no say in the scale: where all others cost the same, costs are equal.
        paid = costs > 0
        c = np.zeros_like(costs)
        c[paid] = rule.scaled(costs[paid])
        D = np.where(self._right, 0.0, costs if init == "cost" else 1.0)
        D *= problem.sample_weight[:, None]
        self._start(rule, c, D / D.sum(), np.zeros_like(costs))

    def aim(self) -> Aim | None:
        """The pairs of the pseudo-loss with w = D."""
        weights = np.abs(pseudo_loss_pairs(self._D, self._right))
        return Aim(np.where(self._right, 1.0, -1.0), weights / weights.sum(), self._criterion)

    def _mistakes(self, outputs: Floats) -> Floats:
        return 0.5 - 0.5 * (np.take_along_axis(outputs, self._z[:, None], axis=1) - outputs)


class ClassVotes(VoteScheme):
    """SAMME's skeleton around a `VoteRule`; rules name one class each: F[x, y] = Σ α [h(x) = y]."""

    def __init__(
        self, rule: VoteRule, problem: MulticlassProblem, *, init: Init, n_rounds: int
    ) -> None:
        self._z = problem.z
        self._targets = np.where(problem.right, 0.0, 1.0)
        c = rule.scaled(problem.error_cost)
        D = problem.sample_weight * c if init == "cost" else problem.sample_weight
        self._start(rule, c, D / D.sum(), np.zeros_like(problem.C))

    def aim(self) -> Aim | None:
        """A cost of 1 for each wrong class, weighted by D."""
        return Aim(self._targets, self._D, self._criterion)

    def _mistakes(self, outputs: Floats) -> Floats:
        return 1.0 - np.take_along_axis(outputs, self._z[:, None], axis=1)[:, 0]

    def step(self, outputs: Floats) -> Step:
        """Twice the rule's vote for two classes, and ln(k-1)."""
        vote = super().step(outputs)
        alpha = 2.0 * cast(float, vote.alpha) + math.log(outputs.shape[1] - 1.0)
        return vote._replace(alpha=alpha if abs(alpha) > 1e-12 else 0.0)


# -- coordinates --------------------------------------------------------------------------------


class CoordinateDescent(Scheme):
    """MCBoost: one weak rule per round and coordinate of f (Beijbom et al. 2014, Algorithm 1)."""

    # Scores are :math:`S = \tfrac12 f Y^T` with codewords Y (k, k-1). For coordinate r the gradient
    # is :math:`w_i = \sum_k L'_k Y_{kr}/2`; the rule is fitted to -sign(w) with weights \|w\|, and
    # α minimises the loss along it. A coordinate whose rule does not descend is passed over;
    # boosting ends when all coordinates of a round are.

    def __init__(
        self,
        loss: MulticlassLoss,
        problem: MulticlassProblem,
        codewords: Floats,
        *,
        learning_rate: float,
    ) -> None:
        self._loss_function = loss
        self._z = problem.z
        self._s = problem.sample_weight / problem.sample_weight.sum()
        self._directions = 0.5 * codewords.T  # (k-1, k): what a unit of f_r adds to the scores
        self._learning_rate = learning_rate
        self._criterion = LeastSquares()
        self._coordinate, self._round = -1, 0
        self._steps: list[tuple[int, int]] = []  # coordinate and round of every step
        self._next: tuple[int, Coordinate] | None = None  # the loss now, along that coordinate
        self._passed_over = 0
        self.steps_per_round = len(self._directions)
        # Stored class by class, the order in which steps and sums read them.
        self._C = np.asfortranarray(problem.C)
        self.F = np.zeros(problem.C.shape, order="F")  # S

    def aim(self) -> Aim | None:
        """The gradient of the next coordinate that has one."""
        while self._passed_over < len(self._directions):
            self._coordinate = (self._coordinate + 1) % len(self._directions)
            self._round += self._coordinate == 0
            w = self._along(self._coordinate).slope
            weights = self._s * np.abs(w)
            total = weights.sum()
            if total > 0:
                targets = np.where(w > 0, -1.0, 1.0)
                return Aim(targets, weights / total, self._criterion, self._coordinate)
            self._passed_over += 1
        return None

    def step(self, outputs: Floats) -> Step:
        """The exact minimiser along the rule, shrunk by the learning rate."""
        slopes = self._along(self._coordinate).along(outputs, self._s)
        slope, curvature = slopes(0.0)
        if not slope < 0.0:
            self._passed_over += 1
            return Step(0.0, is_skipped=True)
        directions = self._directions[self._coordinate]
        largest_change = float(np.abs(outputs).max() * np.abs(directions).max())
        start = -slope / curvature if curvature > 0 else 1.0
        # Newton doubles the digits: a last move of 1e-6 leaves an error far below 1e-9.
        alpha = convex_step(slopes, start=start, largest=50.0 / largest_change, tolerance=1e-6)
        self._passed_over = 0
        return Step(self._learning_rate * alpha)

    def move(self, outputs: Floats, alpha: float) -> None:
        """Add the step to the scores."""
        self.add(self.F, outputs, alpha)
        self._steps.append((self._coordinate, self._round))
        self._next = None

    def add(self, F: Floats, outputs: Floats, alpha: float) -> None:
        """What a step along the present coordinate adds to every class."""
        moved = alpha * outputs
        directions = self._directions[self._coordinate]
        for j in np.flatnonzero(directions):
            F[:, j] += moved * directions[j]

    def _along(self, coordinate: int) -> Coordinate:
        """The loss at the scores now, along a coordinate; computed once."""
        if self._next is None or self._next[0] != coordinate:
            directions = self._directions[coordinate]
            found = self._loss_function.coordinate(self._z, self.F, self._C, directions)
            self._next = coordinate, found
        return self._next[1]

    @property
    def loss(self) -> float:
        """The weighted mean loss now."""
        # The next step needs more than the value; both come from one pass.
        following = (self._coordinate + 1) % len(self._directions)
        return dot(self._s, self._along(following).value)

    def ensemble(self, learner: Learner, rules: list[Any], votes: Floats) -> Ensemble:
        """The coordinates, projected onto the classes."""
        assert isinstance(learner, Coordinates)
        return learner.projected(rules, votes, np.array(self._steps), self._directions)

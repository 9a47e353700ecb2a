"""Schemes of the multi-class family: p-norm averaging, pair votes, coordinate descent."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Literal, TypeAlias

import numpy as np

from costboost._sums import dot
from costboost._typing import Bools, Floats, Ints
from costboost.boosting.linesearch import convex_step
from costboost.boosting.scheme import PERFECT_VOTE, Scheme, Step
from costboost.boosting.votes import VoteRule
from costboost.costs import KnownCosts
from costboost.learners.base import Aim
from costboost.learners.coordinates import BoundCoordinates
from costboost.learners.criteria import LeastSquares, Votes
from costboost.losses.multiclass import MulticlassLoss
from costboost.losses.pnorm import PNorm

__all__ = [
    "CoordinateDescent",
    "MulticlassProblem",
    "PNormAveraging",
    "PairVotes",
    "Pairing",
    "mixture_weights",
    "stochastic",
]


@dataclass(frozen=True)
class MulticlassProblem:
    """Right classes, cost rows and sample weights of the training rows."""

    z: Ints  # (n,) code of the cheapest class
    C: Floats  # (n, k) reduced cost of deciding each class; C[i, z[i]] = 0
    sample_weight: Floats  # (n,) positive

    @classmethod
    def from_costs(cls, costs: KnownCosts, sample_weight: Floats, used: Bools) -> MulticlassProblem:
        """The problem of the rows in use."""
        return cls(costs.labels[used], costs.reduced[used], sample_weight[used])

    @property
    def right(self) -> Bools:
        """True at each row's right class, (n, k)."""
        return np.asarray(np.arange(self.C.shape[1]) == self.z[:, None])


# -- pairs (row, class) -------------------------------------------------------------------------

# (H, C, right, p) -> the weight of every pair; a positive one wants h(x, y) = 1, a negative one 0.
Pairing: TypeAlias = Callable[[Floats, Floats, Bools, float], Floats]


def pseudo_loss_pairs(w: Floats, right: Bools) -> Floats:
    """Signed pair weights of the pseudo-loss ½ Σ w (1 - h(x, z) + h(x, y)), (n, k)."""
    signed = -0.5 * w
    signed[right] = 0.5 * np.where(right, 0.0, w).sum(axis=1)
    return signed


def stochastic(h: Floats) -> Floats:
    """A relation in {0, 1} as a distribution: shared by the classes it claims, else uniform."""
    claimed = h.sum(axis=1, keepdims=True)
    return np.asarray(np.where(claimed > 0, h / np.maximum(claimed, 1.0), 1.0 / h.shape[1]))


def mixture_weights(alphas: Floats) -> tuple[float, Floats]:
    """Weights of H_0 and of each h_t in H_T, where H_t = (1 - α_t) H_{t-1} + α_t h_t."""
    kept = np.append(np.cumprod((1.0 - alphas)[::-1])[::-1], 1.0)
    return float(kept[0]), alphas * kept[1:]


class PNormAveraging(Scheme):
    r"""Descent on Σ H(y|x)^p C[x, y] by averaging rules: H ← (1 - α) H + α h (paper 1).

    Parameters
    ----------
    problem : MulticlassProblem
    p : float
        The norm.
    pairing : Pairing or None
        How a relational learner is asked for the next rule. None asks a multi-class learner for
        the f that minimises Σ w[x, y] f(y|x), w = H^{p-1} C (Fig. 2).
    is_stochastic : bool
        Turn relations into distributions over the classes.
    step : {"harmonic", "bound"}
        α = 1/t, or the minimiser of the quadratic bound (Eq. 10), clipped to [0, 1]. Below p = 2
        the gradient is not Lipschitz at H = 0, the bound fails, and the step is harmonic.
    rng : RandomState or None
        If given, every round draws a cost-proportionate sample of the pairs, as large as the set,
        in place of the weights.
    """

    def __init__(
        self,
        problem: MulticlassProblem,
        p: float,
        *,
        pairing: Pairing | None,
        is_stochastic: bool,
        step: Literal["harmonic", "bound"],
        rng: np.random.RandomState | None = None,
    ) -> None:
        self._C, self._z, self._right = problem.C, problem.z, problem.right
        self._sample_weight = problem.sample_weight / problem.sample_weight.sum()
        self._p = p
        self._pnorm = PNorm(p)
        self._pairing = pairing
        self._is_stochastic = is_stochastic
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
        weights = np.abs(signed).ravel()
        total = weights.sum()
        if not total > 0:
            return None
        weights /= total
        if self._rng is not None:
            counts = self._rng.multinomial(len(weights), weights)
            weights = counts / len(weights)
        return Aim(np.where(signed > 0, 1.0, -1.0).ravel(), weights, self._criterion)

    def _hypothesis(self, outputs: Floats) -> Floats:
        """h(x, y) or f(y|x), (n, k), from the learner's outputs."""
        if self._pairing is None:
            return outputs
        h = 0.5 + 0.5 * outputs.reshape(self.F.shape)
        return stochastic(h) if self._is_stochastic else h

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

    def move(self, outputs: Floats, alpha: float) -> None:
        """Mix the rule in."""
        self.F *= 1.0 - alpha
        self.F += alpha * self._hypothesis(outputs)

    @property
    def loss(self) -> float:
        """The mean p-norm cost now."""
        return dot(self._sample_weight, self._pnorm.value(self._z, self.F, self._C))


class PairVotes(Scheme):
    r"""AdaBoost.M2's skeleton around a `VoteRule`: D lives on the pairs of rows and wrong classes.

    The rule sees :math:`(1 - u)/2` for ``wrong``, with u = h(x, z) - h(x, y) in {-1, 0, 1} the
    margin of the pair, so that Σ D·wrong is the pseudo-loss.
    """

    def __init__(self, rule: VoteRule, problem: MulticlassProblem, *, from_costs: bool) -> None:
        self._rule = rule
        self._right = problem.right
        costs = problem.C
        # Free decisions have no say in the scale: where all others cost the same, costs are equal.
        paid = costs > 0
        self._c = np.zeros_like(costs)
        self._c[paid] = rule.scaled(costs[paid])
        D = np.where(self._right, 0.0, costs if from_costs else 1.0)
        D *= problem.sample_weight[:, None]
        self._D = D / D.sum()
        self._z = problem.z
        self._criterion = Votes()
        self.F = np.zeros_like(costs)

    def aim(self) -> Aim | None:
        """The pairs of the pseudo-loss with w = D."""
        signed = pseudo_loss_pairs(self._D, self._right)
        weights = np.abs(signed).ravel()
        return Aim(
            np.where(self._right, 1.0, -1.0).ravel(), weights / weights.sum(), self._criterion
        )

    def step(self, outputs: Floats) -> Step:
        """The rule's vote on the pseudo-loss."""
        self._h = 0.5 + 0.5 * outputs.reshape(self.F.shape)
        u = np.take_along_axis(self._h, self._z[:, None], axis=1) - self._h
        self._wrong = 0.5 - 0.5 * u
        alpha = self._rule.vote(self._D.ravel(), self._c.ravel(), self._wrong.ravel())
        return Step(PERFECT_VOTE, is_last=True) if alpha == math.inf else Step(alpha)

    def move(self, outputs: Floats, alpha: float) -> None:
        """Reweight and normalise."""
        self.F += alpha * self._h
        self._D *= self._rule.factor(self._c, self._wrong, alpha)
        self._D /= self._D.sum()


# -- coordinates --------------------------------------------------------------------------------


class CoordinateDescent(Scheme):
    r"""MCBoost: one weak rule per round and coordinate of f (paper 4, Algorithm 1).

    Scores are :math:`S = \tfrac12 f Y^T` with codewords Y (k, k-1). For coordinate r the gradient
    is :math:`w_i = \sum_k L'_k Y_{kr}/2`; the rule is fitted to -sign(w) with weights \|w\|, and α
    minimises the loss along it. A coordinate whose rule does not descend is passed over; when a
    whole round is, the boosting ends.
    """

    def __init__(
        self,
        loss: MulticlassLoss,
        problem: MulticlassProblem,
        codewords: Floats,
        learner: BoundCoordinates,
        *,
        learning_rate: float,
    ) -> None:
        self._loss_function = loss
        self._problem = problem
        self._s = problem.sample_weight / problem.sample_weight.sum()
        self._directions = 0.5 * codewords.T  # (k-1, k): what a unit of f_r adds to the scores
        self._learner = learner
        self._learning_rate = learning_rate
        self._criterion = LeastSquares()
        self._coordinate = -1
        self._passed_over = 0
        self.F = np.zeros_like(problem.C)  # S

    def aim(self) -> Aim | None:
        """The gradient of the next coordinate that has one."""
        problem = self._problem
        for _ in range(len(self._directions)):
            if self._passed_over == len(self._directions):
                return None
            self._coordinate = (self._coordinate + 1) % len(self._directions)
            self._learner.coordinate = self._coordinate
            self._learner.round += self._coordinate == 0
            gradient = self._loss_function.gradient(problem.z, self.F, problem.C)
            w = np.einsum("nk,k->n", gradient, self._directions[self._coordinate])
            weights = self._s * np.abs(w)
            total = weights.sum()
            if total > 0:
                return Aim(np.where(w > 0, -1.0, 1.0), weights / total, self._criterion)
            self._passed_over += 1
        return None

    def step(self, outputs: Floats) -> Step:
        """The exact minimiser along the rule, shrunk by the learning rate."""
        problem = self._problem
        along = outputs[:, None] * self._directions[self._coordinate]
        largest_change = float(np.abs(along).max())
        if largest_change == 0.0:
            return self._pass_over()
        slopes = self._loss_function.along(problem.z, self.F, problem.C, along, self._s)
        slope, curvature = slopes(0.0)
        if not slope < 0.0:
            return self._pass_over()
        start = -slope / curvature if curvature > 0 else 1.0
        # Newton doubles the digits: a last move of 1e-6 leaves an error far below 1e-9.
        alpha = convex_step(slopes, start=start, largest=50.0 / largest_change, tolerance=1e-6)
        self._passed_over = 0
        return Step(self._learning_rate * alpha)

    def _pass_over(self) -> Step:
        self._passed_over += 1
        return Step(0.0, is_skipped=True)

    def move(self, outputs: Floats, alpha: float) -> None:
        """Add the step to the scores."""
        self.F += (alpha * outputs)[:, None] * self._directions[self._coordinate]

    @property
    def loss(self) -> float:
        """The weighted mean loss now."""
        problem = self._problem
        return dot(self._s, self._loss_function.value(problem.z, self.F, problem.C))

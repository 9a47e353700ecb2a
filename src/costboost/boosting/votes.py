"""Vote-based boosting of two classes: a rule for the vote, a rule for the weights."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, TypeAlias

import numpy as np

from costboost._typing import Floats
from costboost._utils import dot
from costboost.boosting.loop import PERFECT_VOTE, Scheme, SidedVote, Step
from costboost.costs import RealizedCosts
from costboost.learners.base import Aim, Votes
from costboost.losses.base import cost_pair

# -- A binary cost-sensitive problem, as every algorithm of the family sees it -------------------


Init: TypeAlias = Literal["uniform", "balanced", "cost"]
CostScale: TypeAlias = Literal["max", "min"] | None


@dataclass(frozen=True)
class BinaryProblem:
    """Labels, error costs and sample weights of the training rows."""

    y: Floats  # (n,) effective labels in {-1, +1}
    c: Floats  # (n,) cost of misclassifying the row, reduced: 0 for the right decision
    sample_weight: Floats  # (n,) positive
    pair: tuple[float, float] | None  # (C1, C2) when one pair serves all rows
    both: tuple[Floats, Floats]  # C1 and C2 of every row, scalars (0-d) or (n,), positive

    @classmethod
    def from_costs(cls, costs: RealizedCosts, sample_weight: Floats) -> BinaryProblem:
        """The problem of known costs and truths."""
        y = np.where(costs.best_decision == 1, 1.0, -1.0)
        c = costs.error_cost
        if costs.matrix is not None and not costs.is_per_row:
            (keep, alarm), (miss, hit) = costs.matrix
            pair = float(miss - hit), float(alarm - keep)
            if min(pair) >= 0:
                C1, C2 = cost_pair(pair)
                return cls(y, c, sample_weight, pair, (C1, C2))
        # Only the cost of the error on the row itself is known. The other one is the mean cost of
        # the other class, so that costs constant within a class give back the pair.
        positive, miss, alarm = y > 0, *_class_means(y, c, sample_weight)
        C1, C2 = cost_pair((np.where(positive, c, miss), np.where(positive, alarm, c)))
        if costs.matrix is not None and costs.is_per_row:
            # The row's own matrix says what the other error would have cost; it is used only where
            # both costs are positive (a flipped row has no such costs).
            miss = costs.matrix[:, 1, 0] - costs.matrix[:, 1, 1]
            alarm = costs.matrix[:, 0, 1] - costs.matrix[:, 0, 0]
            known = (miss > 0) & (alarm > 0)
            C1, C2 = np.where(known, miss, C1), np.where(known, alarm, C2)
        return cls(y, c, sample_weight, None, (C1, C2))

    @cached_property
    def mean_pair(self) -> tuple[float, float]:
        """The weighted mean cost of a miss and of a false alarm, both positive."""
        means = _class_means(self.y, self.c, self.sample_weight)
        C1, C2 = cost_pair(means) if self.pair is None else self.both
        return float(C1), float(C2)

    def initial_weights(self, init: Init) -> Floats:
        """The distribution of the first round: a choice of row weights times sample weights."""
        w, positive = self.sample_weight, self.y > 0
        if init == "cost":
            w = w * self.c
        elif init == "balanced":
            w = w / np.where(positive, w[positive].sum(), w[~positive].sum())
        return np.asarray(w / w.sum())


def _class_means(y: Floats, c: Floats, weights: Floats) -> tuple[float, float]:
    """The mean costs of positive and of negative rows; of all rows where a class has none."""
    shares = (weights * (y > 0), weights * (y <= 0))
    miss, alarm = (np.average(c, weights=w if w.any() else weights) for w in shares)
    return float(miss), float(alarm)


# -- Formulas that rules of votes are made of ------------------------------------------------------


def half_log_ratio(good: float, bad: float) -> float:
    """½ ln(good/bad): -inf where nothing is good, +inf where nothing is bad.

    Parameters
    ----------
    good, bad : float
        What speaks for a rule, and what speaks against it; not negative.

    Returns
    -------
    float
        The vote; 0 if it is within rounding of 0.
    """
    # Results within rounding of zero are zero: such a vote moves nothing.
    if not good > 0:
        return -math.inf
    if not bad > 0:
        return math.inf
    vote = 0.5 * (math.log(good) - math.log(bad))
    return vote if abs(vote) > 1e-12 else 0.0


def two_valued(wrong: Floats, right_factor: float, wrong_factor: float) -> Floats:
    """``right_factor`` where the rule is right, ``wrong_factor`` where it errs."""
    return right_factor + (wrong_factor - right_factor) * wrong


def margins(wrong: Floats) -> Floats:
    """The margin y·h: +1 where right, -1 where wrong."""
    return 1.0 - 2.0 * wrong


def adaboost_vote(D: Floats, c: Floats, wrong: Floats) -> float:
    """α = ½ ln((1-ε)/ε), ε the weight of the wrong rows.

    Parameters
    ----------
    D, c, wrong : array of shape (n,)
        Weights and costs of the rows, and 1.0 where the rule errs, 0.0 elsewhere.

    Returns
    -------
    float
        The vote; +inf for a rule without mistakes.
    """
    return half_log_ratio(dot(D, 1.0 - wrong), dot(D, wrong))


def adaboost_factor(c: Floats, wrong: Floats, alpha: float) -> Floats:
    """e^{-α y h}.

    Parameters
    ----------
    c, wrong : array of shape (n,)
        Costs of the rows, and 1.0 where the rule errs, 0.0 elsewhere.
    alpha : float
        The vote of the rule.

    Returns
    -------
    array of shape (n,)
        What the weights are multiplied by.
    """
    return two_valued(wrong, math.exp(-alpha), math.exp(alpha))


def cost_ratio_vote(D: Floats, c: Floats, wrong: Floats) -> float:
    """α = ½ ln(Σ_right cD / Σ_wrong cD)."""
    return adaboost_vote(c * D, c, wrong)


# -- Vote-based boosting: a rule for the vote, a rule for the weights ----------------------------


@dataclass(frozen=True)
class VoteRule:
    """The equations of a vote-based algorithm; without arguments they are AdaBoost's.

    All functions get the costs ``c`` on the scale the algorithm asks for, and ``wrong``, 1.0 where
    the weak rule errs and 0.0 elsewhere, both (n,).

    Parameters
    ----------
    vote : callable
        ``(D, c, wrong) -> α``, with D the distribution, which sums to 1 (in a `SidedVoteScheme`,
        its part on one side); +inf for a rule without mistakes.
    factor : callable
        ``(c, wrong, α) -> (n,)``, what the weights are multiplied by after the round.
    before : callable, optional
        ``(c, n_rounds) -> (n,)``, what they are multiplied by before every round.
    cost_scale : {"max", "min"} or None
        Costs are divided by the largest one, by the smallest positive one, or not at all.
    """

    vote: Callable[[Floats, Floats, Floats], float] = adaboost_vote
    factor: Callable[[Floats, Floats, float], Floats] = adaboost_factor
    before: Callable[[Floats, int], Floats] | None = None
    cost_scale: CostScale = "max"

    def scaled(self, c: Floats) -> Floats:
        """The costs on the scale of the equations."""
        if self.cost_scale is None:
            return c
        return np.asarray(c / (c.max() if self.cost_scale == "max" else c[c > 0].min()))


class VoteScheme(Scheme):
    """AdaBoost's skeleton around a `VoteRule`."""

    def __init__(
        self, rule: VoteRule, problem: BinaryProblem, *, init: Init, n_rounds: int
    ) -> None:
        self._y, c = problem.y, rule.scaled(problem.c)
        self._start(rule, c, problem.initial_weights(init), np.zeros_like(self._y))
        self._before = None if rule.before is None else rule.before(c, n_rounds)

    def _start(self, rule: VoteRule, c: Floats, D: Floats, F: Floats) -> None:
        self._rule, self._c, self._D, self.F = rule, c, D, F
        self._criterion = Votes()
        self._wrong = np.zeros_like(D)  # of the rule of this round

    def aim(self) -> Aim | None:
        """The labels, weighted by D."""
        if self._before is not None:
            self._D *= self._before
            self._D /= self._D.sum()
        return Aim(self._y, self._D, self._criterion)

    def step(self, outputs: Floats) -> Step:
        """The rule's vote; a rule without mistakes gets a large finite one, and is the last."""
        self._wrong = self._mistakes(outputs)
        alpha = self._rule.vote(self._D.ravel(), self._c.ravel(), self._wrong.ravel())
        return Step(PERFECT_VOTE, is_last=True) if alpha == math.inf else Step(alpha)

    def _mistakes(self, outputs: Floats) -> Floats:
        """1.0 where the rule errs, 0.0 where it is right."""
        return 0.5 - 0.5 * (self._y * outputs)

    def move(self, outputs: Floats, alpha: Any) -> None:
        """Reweight and normalise."""
        self.add(self.F, outputs, alpha)
        self._D *= self._factor(outputs, alpha)
        self._D /= self._D.sum()

    def _factor(self, outputs: Floats, alpha: Any) -> Floats:
        return self._rule.factor(self._c, self._wrong, alpha)


class SidedVoteScheme(VoteScheme):
    """A `VoteRule` applied to the rows predicted -1 and to those predicted +1, each on its own.

    Every rule gets two votes. A side without rows gets the vote 0. A side without mistakes gets a
    large finite vote, and boosting goes on as long as the other side has mistakes. It ends when
    either vote is negative.
    """

    def step(self, outputs: Floats) -> Step:
        """The votes of the two sides."""
        self._wrong = self._mistakes(outputs)
        positive = np.where(outputs > 0, self._D, 0.0)
        vote = SidedVote(self._side(self._D - positive), self._side(positive))
        return Step(vote, is_last=not dot(self._D, self._wrong) > 0)

    def _side(self, weights: Floats) -> float:
        if not weights.sum() > 0:
            return 0.0
        return min(self._rule.vote(weights, self._c, self._wrong), PERFECT_VOTE)

    def _factor(self, outputs: Floats, alpha: SidedVote) -> Floats:
        on_negative, on_positive = (self._rule.factor(self._c, self._wrong, a) for a in alpha)
        return np.where(outputs > 0, on_positive, on_negative)

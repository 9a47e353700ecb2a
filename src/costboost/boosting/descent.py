"""Descent of a loss of two classes: line searches, exponential and Newton steps."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Literal

import numpy as np

from costboost._typing import Floats, Ints
from costboost._utils import dot
from costboost.boosting.loop import PERFECT_VOTE, Scheme, Step
from costboost.boosting.votes import BinaryProblem
from costboost.learners.base import Aim, Criterion, LeastSquares, Votes
from costboost.losses.base import exp
from costboost.losses.binary import ShiftedLogistic

# -- Exact steps along a rule: safeguarded Newton on the slope of a convex loss ------------------


# A step longer than this no longer changes an exponential in double precision.
_LARGEST_STEP = 350.0


def convex_step(
    slopes: Callable[[float], tuple[float, float]],
    *,
    start: float,
    largest: float,
    tolerance: float = 1e-15,
) -> float:
    """The α in [0, largest] where the first derivative of a convex function is zero."""
    low, high, step = 0.0, largest, min(max(start, 0.0), largest)
    last = largest
    for _ in range(100):
        slope, curvature = slopes(step)
        if slope < 0:
            low = step
        else:
            high = step
        move = -slope / curvature if curvature > 0 else math.inf
        if abs(move) <= tolerance * (1.0 + step):
            # Tested before the bracket is: rounding may put the root on its edge.
            return min(max(step + move, 0.0), largest)
        if high - low <= tolerance * (1.0 + step):
            return step  # the slope is rounding noise
        if not low < step + move < high or abs(move) > 0.5 * abs(last):
            move = 0.5 * (low + high) - step  # outside, or too slow
        last = move
        step += move
    return step


def exponential_step(weights: Floats, exponents: Floats) -> float:
    r"""The α >= 0 that minimises :math:`\sum_i w_i e^{-\alpha m_i}`."""
    # Returns 0 when the objective does not fall at 0, and ``inf`` when it never stops falling.
    used = weights > 0
    w, m = weights[used], exponents[used]
    scale = float(np.abs(m).max(initial=0.0))
    if scale == 0.0:
        return 0.0
    m = m / scale
    w = w / w.sum()
    if dot(w, m) <= 1e-12:
        return 0.0
    gain, pain = dot(w, np.maximum(m, 0.0)), dot(w, np.maximum(-m, 0.0))
    if not pain > 0.0:  # nothing is lost, or too little to represent
        return math.inf

    def slopes(step: float) -> tuple[float, float]:
        moved = w * np.exp(-step * m) * m
        return -float(moved.sum()), dot(moved, m)

    start = 0.5 * math.log(gain / pain)  # exact where all exponents are ±1
    return convex_step(slopes, start=start, largest=_LARGEST_STEP) / scale


# -- Loss-based boosting: gradient descent on exponential losses, Newton steps on logistic ones---


# A row whose response is clipped gains weight in return, by at most this factor.
_MOST_RETURNED = 4.0

# Responses as printed are 1 / P(the observed class): bounded only to keep them finite.
_SMALLEST_PROBABILITY = 1e-150

# Odds are kept finite; beyond this limit the loss of a row still grows with its margin.
_LARGEST_LOG_ODDS = 300.0

# How often a Newton step is halved, at most.
_MOST_HALVINGS = 60
# A step must lower the loss by at least this share of it.
_SMALLEST_GAIN = 1e-12

# Weights that sum to less than this cannot be scaled to a mean of 1.
_SMALLEST_TOTAL = 1e-290

# Rows with equal (a, b) share their exponents; with no more kinds of rows than this, the line
# search runs on their summed weights instead of on all rows.
_MOST_KINDS = 16


def _row_kinds(a: Floats, b: Floats) -> tuple[Ints, Floats] | None:
    """Rows grouped by their (a, b), or None if there are too many; a cell is a kind and a vote."""
    # Returns the cell of each row's negative vote, (n,) (that of the positive one is next to it),
    # and the exponent a f + b of every cell.
    if len(np.unique(a[:1000])) > _MOST_KINDS:
        return None  # seen without sorting all rows
    pairs, kind = np.unique(a + 1j * b, return_inverse=True)
    if len(pairs) > _MOST_KINDS:
        return None
    exponents = np.column_stack([pairs.imag - pairs.real, pairs.imag + pairs.real]).ravel()
    return 2 * kind, exponents


class ExponentialDescent(Scheme):
    """Descent on the exponential family of Cai et al. 2008 (Eq. 17)."""

    # The objective is Σ w⁰ exp(-Σ_t α_t [a f_t(x) + b]). Direction: the rule that best fits sign(a)
    # with weights |w a| (Eq. 18). Step: the exact minimiser (Eq. 19, an argmin). Update:
    # w e^{-α(a f + b)}.

    def __init__(
        self,
        weights: Floats,  # any positive multiple of w⁰
        a: Floats,
        b: Floats | float = 0.0,
        *,
        learning_rate: float = 1.0,
        criterion: Criterion | None = None,
        factor: Floats | float | None = None,  # of w in the weights of the learner; None is |a|
        line_search: bool = True,  # False for rules that are the minimising step (RealBoost)
    ) -> None:
        self.F = np.zeros_like(weights)
        self._log_total = math.log(weights.sum())
        self._w = weights / weights.sum()
        self._a, self._b = a, np.broadcast_to(b, a.shape)
        self._labels = np.where(a < 0, -1.0, 1.0)
        self._magnitude = np.abs(a)
        self._learning_rate = learning_rate
        self._criterion = criterion or Votes()
        self._factor = self._magnitude if factor is None else factor
        self._line_search = line_search
        votes = line_search and isinstance(self._criterion, Votes)
        self._kinds = _row_kinds(a, self._b) if votes else None

    def aim(self) -> Aim | None:
        """The descent direction."""
        weights = self._w * self._factor
        if not weights.sum() > _SMALLEST_TOTAL:
            return None
        return Aim(self._labels, weights, self._criterion)

    def step(self, outputs: Floats) -> Step:
        """The exact minimiser along the rule, shrunk by the learning rate."""
        if not self._line_search:
            return Step(self._learning_rate)
        alpha = exponential_step(*self._along(outputs))
        if alpha == math.inf:
            return Step(PERFECT_VOTE / float(self._magnitude.max()), is_last=True)
        return Step(self._learning_rate * alpha)

    def _along(self, outputs: Floats) -> tuple[Floats, Floats]:
        """Weights and exponents of the line search, summed by kind where rules only vote."""
        if self._kinds is None:
            return self._w, self._a * outputs + self._b
        kind, exponents = self._kinds
        masses = np.bincount(kind + (outputs > 0), self._w, minlength=len(exponents))
        return masses.astype(np.float64, copy=False), exponents

    def move(self, outputs: Floats, alpha: float) -> None:
        """Multiply by e^{-α(a f + b)} and normalise."""
        self.add(self.F, outputs, alpha)
        # Kept finite: the line search cannot see rows whose weight has become 0.
        if self._kinds is None:
            self._w *= exp(-alpha * (self._a * outputs + self._b))
        else:
            kind, exponents = self._kinds
            self._w *= exp(-alpha * exponents)[kind + (outputs > 0)]
        total = self._w.sum()
        self._log_total += math.log(total) if total > 0 else -math.inf
        if total > 0:
            self._w /= total

    @property
    def loss(self) -> float:
        """The objective now."""
        return math.exp(self._log_total)


class NewtonDescent(Scheme):
    """LogitBoost on a shifted logistic loss: regress the response z, take the Newton step."""

    # z = (y' - p_c) / (p_c (1 - p_c)), F ← F + f / 2γ. Responses are clipped to twice the largest
    # response at F = 0: 4 when the costs are equal, the classical limit, and more the further the
    # costs are apart. The weight of a clipped response grows in return, up to fourfold: clipping
    # alone moves the boundary, because with unequal costs it cuts one class more than the other. A
    # step that would raise the mean loss is halved until it does not: far from p_c = ½, where
    # unequal costs begin, full Newton steps overshoot and may diverge. Where no step along a rule
    # lowers the loss, boundary weights give way to Newton weights for good (only these are sure to
    # point downhill); if none does with Newton weights either, boosting ends. Rows with their own
    # costs have their own slope γ; their responses and weights are brought to the mean slope.
    #
    # Weights of the regression are p_c(1-p_c), the exact Newton ones, or p(1-p) with
    # p = 1/(1+e^{-2F}), which centre on the cost-sensitive boundary F = 0 (Masnadi-Shirazi &
    # Vasconcelos 2011).

    def __init__(
        self,
        problem: BinaryProblem,
        model: Any,  # with the loss ``_link``, ``learning_rate``, and ``guarded``
        *,
        weighting: Literal["newton", "boundary"],
        even_start: bool,  # p_c = ½ in the first round, as printed, and no halving of its step
    ) -> None:
        loss: ShiftedLogistic = model._link
        self._guarded = model.guarded  # False is as printed: no clipping, no halving
        self._y = problem.y
        self._base = problem.initial_weights(model._init)
        self.F = np.zeros(len(problem.y))
        self._rates, self._shifts = loss.kernel_rows(problem.y, problem.both)
        C1, C2 = problem.mean_pair
        self._slope = float(loss.slope(np.asarray(C1), np.asarray(C2)))
        self._relative = loss.slope(*problem.both) / self._slope
        self._limit = 2.0 * (1.0 + max(C1 / C2, C2 / C1))
        # Masnadi-Shirazi & Vasconcelos 2011 measures F in units of the cheaper cost (its C2 is 1).
        self._unit = min(C1, C2)
        self._weighting = weighting
        self._even_start = even_start
        self._learning_rate = model.learning_rate
        self._criterion = LeastSquares()
        self._tried = 0.0  # the step that `_value` and `_odds` are those of
        self._value, self._odds = self._mean_loss(self.F)

    def _mean_loss(self, F: Floats) -> tuple[float, Floats]:
        """The mean loss at F, and the odds against the observed class: one exponential for both."""
        log_odds = -(self._rates * F + self._shifts)
        odds = np.exp(np.minimum(log_odds, _LARGEST_LOG_ODDS))
        beyond = np.maximum(log_odds - _LARGEST_LOG_ODDS, 0.0)
        return dot(self._base, np.log1p(odds) + beyond), odds

    def aim(self) -> Aim | None:
        """Responses and weights of the weighted least-squares problem."""
        y = self._y
        odds = np.ones_like(self.F) if self._even_start else self._odds
        # z = y / P(the observed class): no cancellation when p_c is near 0 or 1.
        observed = 1.0 / (1.0 + odds)
        smallest = 1.0 / self._limit if self._guarded else _SMALLEST_PROBABILITY
        z = y / np.maximum(observed, smallest)
        if self._weighting == "newton":
            weights = odds * observed * observed  # p (1 - p), whichever class was observed
        else:
            odds = np.exp(-np.abs(2.0 * self._unit * self.F))
            weights = odds / (1.0 + odds) ** 2
        if self._guarded:
            weights = weights / np.clip(observed * self._limit, 1.0 / _MOST_RETURNED, 1.0)
        weights = self._base * weights * self._relative**2
        total = weights.sum()
        if not total > 0:
            return None
        return Aim(z / self._relative, weights / total, self._criterion)

    def step(self, outputs: Floats) -> Step:
        """The inverse slope 1/2γ, shrunk by the learning rate; halved while the loss would rise."""
        alpha = self._learning_rate / self._slope
        is_free = self._even_start or not self._guarded  # to raise the loss
        for _ in range(_MOST_HALVINGS):
            value, odds = self._mean_loss(self.F + alpha * outputs)
            if is_free or value < self._value * (1.0 - _SMALLEST_GAIN):
                self._value, self._odds, self._tried = value, odds, alpha
                self._even_start = False
                return Step(alpha)
            alpha *= 0.5
        if self._weighting == "boundary":
            self._weighting = "newton"
            return Step(0.0, is_skipped=True)
        return Step(0.0)

    def move(self, outputs: Floats, alpha: float) -> None:
        """Add the step to the scores."""
        self.add(self.F, outputs, alpha)
        if alpha != self._tried:  # a step of somebody else's
            self._value, self._odds = self._mean_loss(self.F)

    @property
    def loss(self) -> float:
        """The weighted mean loss now."""
        return self._value

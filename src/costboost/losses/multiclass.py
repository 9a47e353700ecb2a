"""Losses of a score per class and a cost row per example.

GEL, MC, GLL, Ls and Lt are those of O. Beijbom, M. Saberian, D. Kriegman and N. Vasconcelos,
"Guess-averse loss functions for cost-sensitive multiclass boosting", ICML 2014.

``y`` (n,) holds the code of each row's right (cheapest) class z, ``F`` (n, k) the scores S, ``C``
(n, k) the cost of deciding each class on the row, with ``C[i, y[i]] = 0``. A cost matrix is the
special case ``C = matrix[y]``.

The exponential losses clip their exponents (at 600; the two factors of `Lt` at 300 each), so that
values and derivatives stay finite; `GLL` needs no clipping.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, TypeAlias

import numpy as np
from scipy.special import softmax

from costboost._typing import AnyArray, Floats, Ints
from costboost._utils import dot
from costboost.losses.base import Loss, exp, register
from costboost.losses.kernels import (
    MAX_EXPONENT,
    compiled,
    fast_exp,
    row_share,
    usable_hessian,
)

_STEP = 1e-5

# A step may move scores by 50, so differences of scores by twice that; terms up to this size leave
# all sums finite then.
_MOST_MOVED = 100.0
_LARGEST_TERM = 1e200

# A step length -> first and second derivative of the summed loss there.
Slopes: TypeAlias = Callable[[float], tuple[float, float]]


class Coordinate(NamedTuple):
    """A loss at scores F, along a coordinate of MCBoost: α g adds α g d_j to the score of j."""

    value: Floats  # (n,) the loss of each row
    slope: Floats  # (n,) its derivative with respect to the coordinate
    # (outputs g, weights) -> slopes of the weighted loss by α, which may move scores by 50
    along: Callable[[Floats, Floats], Slopes]


def _by_step(E: Floats, directions: Floats) -> tuple[Floats, Floats]:
    """The distinct values of d, and the sums of E over the classes that have each, (values, n)."""
    # Classes with the same d move together. The codewords of MCBoost have three distinct values
    # per coordinate, however many classes there are.
    steps = np.unique(directions)
    return steps, np.stack([E[:, directions == step].sum(axis=1) for step in steps])


def _sum_along(value: Floats, T: Floats, e: Floats, rest: Floats | None = None) -> Coordinate:
    """A loss that is Σ T e^(α g e) along a rule g, or log(rest + Σ) where rest + Σ T = 1."""
    bounded = np.minimum(T, _LARGEST_TERM)

    def along(outputs: Floats, weights: Floats) -> Slopes:
        exponents = outputs * e  # (terms, n)

        def slopes(alpha: float) -> tuple[float, float]:
            terms = exp(alpha * exponents, _MOST_MOVED)
            terms *= bounded
            whole = 1.0 if rest is None else rest + terms.sum(axis=0)
            terms *= exponents
            first = terms.sum(axis=0) / whole
            terms *= exponents
            second = terms.sum(axis=0) / whole
            if rest is not None:
                second -= first * first
            return dot(weights, first), dot(weights, second)

        return slopes

    return Coordinate(value, np.asarray((T * e).sum(axis=0)), along)


class MulticlassLoss(Loss):
    """A loss of k scores per row; a subclass needs `value` only.

    `gradient` and `hessian` default to central differences: correct but slow, good enough to try
    out an idea. ``hessian`` is the diagonal of the second derivatives, one per score.

    Attributes
    ----------
    softmax_scale : float
        The link is P = softmax(softmax_scale · S). For losses without a link it only orders the
        classes.
    """

    is_binary = False
    softmax_scale: ClassVar[float] = 2.0  # MCBoost's link (Beijbom et al. 2014, Eq. 33)

    def gradient(self, y: Ints, F: Floats, C: Floats) -> Floats:
        """Its derivatives with respect to the scores, (n, k)."""
        up, down = self._moved(y, F, C, _STEP)
        return (up - down) / (2 * _STEP)

    def hessian(self, y: Ints, F: Floats, C: Floats) -> Floats:
        """Its second derivatives with respect to each score, (n, k)."""
        h = 20.0 * _STEP
        up, down = self._moved(y, F, C, h)
        return (up - 2.0 * self.value(y, F, C)[:, None] + down) / h**2

    def _moved(self, y: Ints, F: Floats, C: Floats, h: float) -> tuple[Floats, Floats]:
        """The loss with each score moved up, and down, by h: (n, k) twice."""
        steps = h * np.eye(F.shape[1])
        up, down = ([self.value(y, F + step, C) for step in some] for some in (steps, -steps))
        return np.stack(up, axis=1), np.stack(down, axis=1)

    def coordinate(self, y: Ints, F: Floats, C: Floats, directions: Floats) -> Coordinate:
        """The loss at F along a coordinate that adds ``directions``, (k,), to the scores.

        The default takes the value and the gradient, and second derivatives by differences; a loss
        that can share work between them overrides it.
        """

        def along(outputs: Floats, weights: Floats) -> Slopes:
            direction = outputs[:, None] * directions

            def slope(alpha: float) -> float:
                gradient = self.gradient(y, F + alpha * direction, C)
                return float(np.einsum("n,nk,nk->", weights, gradient, direction))

            def slopes(alpha: float) -> tuple[float, float]:
                return slope(alpha), (slope(alpha + _STEP) - slope(alpha - _STEP)) / (2.0 * _STEP)

            return slopes

        slope = np.einsum("nk,k->n", self.gradient(y, F, C), directions)
        return Coordinate(self.value(y, F, C), slope, along)

    def check_costs(self, matrix: Floats, owner: str) -> None:
        """Refuse costs under which one decision is the cheapest for every truth and row."""
        if not self.carries_costs:
            return
        free = matrix <= matrix.min(axis=-1, keepdims=True)
        always = np.flatnonzero(free.reshape(-1, matrix.shape[-1]).all(axis=0))
        if always.size:
            raise ValueError(
                f"The costs of {owner} must leave something to decide, and decision {always[0]} "
                "is the cheapest whatever the truth. Check the cost matrix: rows are the truth."
            )

    def class_probabilities(self, F: Floats, matrix: Floats | None = None) -> Floats:
        """The softmax of the scaled scores, (n, k)."""
        linked = self.has_probabilities_at_unit_costs if matrix is None else self.has_probabilities
        if not linked:
            raise ValueError(
                f"The loss {self!r} has no link to probabilities. Train 'mc', or 'gll' without "
                "costs, and decide by expected cost; or calibrate the scores."
            )
        return self.softmax(F)

    def softmax(self, F: Floats) -> Floats:
        """The link without asking whether the loss has one: at least it orders the classes."""
        return np.asarray(softmax(self.softmax_scale * F, axis=1))


def right_scores(y: Ints, F: Floats) -> Floats:
    """The score of each row's right class, (n, 1)."""
    return np.take_along_axis(F, y[:, None], axis=1)


# -- The exponential losses of score differences: GEL and its cost-blind form, MC ----------------


@compiled(error_model="numpy", fastmath={"contract"})
def _pairs_kernel(
    y: Ints, C: Floats, is_logarithm: bool, F: AnyArray, w: AnyArray, G: AnyArray, H: AnyArray
) -> None:
    """The loss T = sum_j C_j exp(F_j - F_y), or log(1 + T)."""
    # With E_j = C_j exp(F_j - F_y), divided by 1 + T for the logarithm, and E_y = T instead:
    # L_j' = E_j, L_y' = -E_y, and L_j'' = E_j or E_j (1 - E_j). Both terms of 1 + T are divided by
    # the larger of 1 and the largest exponential of a class that costs something.
    n, k = F.shape
    E = np.empty(k)
    for i in range(n):
        z = y[i]
        own, shift, total = F[i, z], 0.0, 0.0
        if is_logarithm:
            for j in range(k):
                if C[i, j] > 0.0:
                    shift = max(shift, F[i, j] - own)
        for j in range(k):
            E[j] = C[i, j] * fast_exp(F[i, j] - own - shift) if C[i, j] > 0.0 else 0.0
            total += E[j]
        weight = w[i] if w.size > 1 else w[0]
        share = 1.0 / (total + fast_exp(-shift)) if is_logarithm else row_share(total, weight)
        E[z] = -total
        for j in range(k):
            g = share * E[j]
            h = abs(g)
            if is_logarithm:
                h -= h * h
            G[i, j] = weight * g
            H[i, j] = weight * usable_hessian(g, h)


@register
class GEL(MulticlassLoss):
    r"""Generalised exponential loss.

    .. math:: L = \sum_j E_j, \quad E_j = C_{zj}\, e^{S_j - S_z}, \qquad
        L_j' = L_j'' = E_j, \quad L_z' = -L, \quad L_z'' = L

    (Eq. 20). Guess-averse. With two classes and S = ±F/2 it is the cost-weighted exponential loss
    :math:`c\,e^{-yF}`. Domain: every real S; the risk is blind to symmetric cost matrices.

    Examples
    --------
    >>> import numpy as np
    >>> GEL().value(np.array([0]), np.zeros((1, 3)), np.array([[0.0, 1.0, 4.0]]))
    array([5.])
    """

    name = "gel"
    formula = "Σⱼ Cⱼ e^(Sⱼ − S_z)"
    kernel = _pairs_kernel
    _constant: ClassVar[float] = 0.0
    _is_logarithm: ClassVar[bool] = False

    def _factors(self, y: Ints, C: Floats) -> Floats:
        return C

    def _shares(self, y: Ints, F: Floats, C: Floats) -> tuple[Floats, Floats]:
        """The loss (n,) and its slopes towards the wrong classes (n, k)."""
        E = self._factors(y, C) * exp(F - right_scores(y, F))
        return np.asarray(self._constant + E.sum(axis=1)), E

    def value(self, y: Ints, F: Floats, C: Floats) -> Floats:
        """The loss of each row, (n,)."""
        return self._shares(y, F, C)[0]

    def gradient(self, y: Ints, F: Floats, C: Floats) -> Floats:
        """Its derivatives with respect to the scores, (n, k)."""
        E = self._shares(y, F, C)[1]
        np.put_along_axis(E, y[:, None], -E.sum(axis=1, keepdims=True), axis=1)
        return E

    def hessian(self, y: Ints, F: Floats, C: Floats) -> Floats:
        """Its second derivatives with respect to each score, (n, k)."""
        q = np.abs(self.gradient(y, F, C))
        # The sum of the shares may round to just above 1.
        return q * np.maximum(1.0 - q, 0.0) if self._is_logarithm else q

    def coordinate(self, y: Ints, F: Floats, C: Floats, directions: Floats) -> Coordinate:
        """The same along a coordinate, for many trials of α."""
        value, E = self._shares(y, F, C)
        steps, T = _by_step(E, directions)
        rest = np.exp(-value) if self._is_logarithm else None
        return _sum_along(value, T, steps[:, None] - directions[y], rest)

    def kernel_rows(self, y: Ints, C: Floats) -> tuple[Any, ...]:
        """Right classes, the factors of the exponentials, and which of the two losses it is."""
        return y, self._factors(y, C), self._is_logarithm


@register
class MC(GEL):
    r"""MCBoost's own, cost-blind loss: GEL with unit costs, plus 1.

    .. math:: L = \sum_j e^{S_j - S_z}

    (Eq. 22; the term j = z adds the 1). Guess-averse. Its posteriors are
    :math:`P_k \propto e^{2 S_k}` (Eq. 33), for the Bayes rule of P-MCBoost.

    Examples
    --------
    >>> import numpy as np
    >>> MC().value(np.array([0]), np.zeros((1, 3)), np.zeros((1, 3)))
    array([3.])
    """

    name = "mc"
    formula = "Σⱼ e^(Sⱼ − S_z)"
    carries_costs = False
    has_probabilities = True
    has_probabilities_at_unit_costs = True
    softmax_scale = 2.0
    kernel = _pairs_kernel
    _constant = 1.0

    def _factors(self, y: Ints, C: Floats) -> Floats:
        return np.asarray((1.0 - np.eye(C.shape[1]))[y])


# -- The generalised logistic loss ---------------------------------------------------------------


# Half of the range: what multiplies such an exponential may be as large again.
_SAFE_EXPONENT = MAX_EXPONENT / 2


@register
class GLL(GEL):
    r"""Generalised logistic loss.

    .. math:: L = \log\Bigl(1 + \sum_j C_{zj}\, e^{S_j - S_z}\Bigr), \qquad
        L_j' = q_j, \quad L_z' = -Q, \quad L_j'' = q_j(1 - q_j), \quad L_z'' = Q(1 - Q)

    with :math:`q_j = C_{zj} e^{S_j - S_z} / e^L` and :math:`Q = \sum_j q_j` (Eq. 21).
    Guess-averse, not calibrated. With unit costs it is the multinomial logistic loss. Domain:
    every real S; rows with large exponents are shifted down, so that none overflows.

    Examples
    --------
    >>> import numpy as np
    >>> GLL().value(np.array([0]), np.zeros((1, 3)), np.array([[0.0, 1.0, 1.0]])).round(4)
    array([1.0986])
    """

    name = "gll"
    formula = "log(1 + Σⱼ Cⱼ e^(Sⱼ − S_z))"
    has_probabilities_at_unit_costs = True
    softmax_scale = 1.0
    kernel = _pairs_kernel
    _is_logarithm = True

    def _shares(self, y: Ints, F: Floats, C: Floats) -> tuple[Floats, Floats]:
        """The loss (n,) and q (n, k)."""
        E = F - right_scores(y, F)
        shift = np.zeros((len(F), 1))
        if E.max(initial=0.0) > _SAFE_EXPONENT:
            E[C == 0.0] = -np.inf  # a free decision plays no part, however large its score
            shift = np.maximum(E.max(axis=1, keepdims=True) - _SAFE_EXPONENT, 0.0)
            E -= shift
        np.exp(E, out=E)
        E *= C
        total = E.sum(axis=1, keepdims=True)
        both = total + np.exp(-shift)
        # No subtraction where the rows are shifted: 1 is then e^-shift, and may be next to nothing.
        loss = shift + np.where(shift > 0.0, np.log(both), np.log1p(total))
        E /= both
        return loss[:, 0], E


# -- The score-sum loss --------------------------------------------------------------------------


@register
class Ls(MulticlassLoss):
    r"""The score-sum loss, calibrated but not guess-averse.

    .. math:: L = \sum_j C_{zj}\, e^{S_j}, \qquad \sum_j S_j = 0

    (Eq. 12). The caller must keep the constraint; scores from simplex codewords do. Derivatives are
    those of the formula. Domain: every real S with sum 0.

    Examples
    --------
    >>> import numpy as np
    >>> guess, right = np.zeros((1, 3)), np.array([[3.0, 2.0, -5.0]])
    >>> y, C = np.array([0]), np.array([[0.0, 1.0, 1.0]])
    >>> bool(Ls().value(y, right, C)[0] > Ls().value(y, guess, C)[0])
    True
    """

    name = "ls"
    formula = "Σⱼ Cⱼ e^(Sⱼ), Σⱼ Sⱼ = 0"

    def value(self, y: Ints, F: Floats, C: Floats) -> Floats:
        """The loss of each row, (n,)."""
        return np.asarray((C * exp(F)).sum(axis=1))

    def gradient(self, y: Ints, F: Floats, C: Floats) -> Floats:
        """Its derivatives with respect to the scores, (n, k); the second ones are the same."""
        return C * exp(F)

    hessian = gradient

    def coordinate(self, y: Ints, F: Floats, C: Floats, directions: Floats) -> Coordinate:
        """The same along a coordinate, for many trials of α."""
        E = C * exp(F)
        steps, T = _by_step(E, directions)
        return _sum_along(E.sum(axis=1), T, steps[:, None])

    def centred(self, F: Floats) -> Floats:
        """The scores shifted to sum 0."""
        return np.asarray(F - F.mean(axis=1, keepdims=True))

    def raw_derivatives(self, y: Ints, F: Floats, C: Floats) -> tuple[Floats, Floats]:
        """Gradient and diagonal Hessian through the shift.

        With E_j = C_j exp(S_j - mean S) and T their sum, L_j' = E_j - T/k and
        L_j'' = (1 - 2/k) E_j + T/k².
        """
        k = F.shape[1]
        E = C * exp(self.centred(F))
        T = E.sum(axis=1, keepdims=True)
        return E - T / k, (1.0 - 2.0 / k) * E + T / k**2


# -- The all-pairs loss --------------------------------------------------------------------------


# Of each of the two factors: their product stays in range.
_SAFE_FACTOR = MAX_EXPONENT / 2


@register
class Lt(MulticlassLoss):
    r"""The all-pairs loss, calibrated but not guess-averse.

    .. math:: L = \sum_k \sum_j C_{zj}\, e^{S_j - S_k}
        = \Bigl(\sum_j C_{zj} e^{S_j}\Bigr) \Bigl(\sum_k e^{-S_k}\Bigr)

    (Eq. 14). Domain: every real S.

    Examples
    --------
    >>> import numpy as np
    >>> Lt().value(np.array([0]), np.zeros((1, 3)), np.array([[0.0, 1.0, 1.0]]))
    array([6.])
    """

    name = "lt"
    formula = "Σₘ Σⱼ Cⱼ e^(Sⱼ − Sₘ)"

    def _factors(self, F: Floats, C: Floats) -> tuple[Floats, Floats, Floats, Floats]:
        """The terms of both factors, (n, k), and the factors, (n, 1)."""
        # The product is invariant to shifts: centring keeps both factors in range.
        S = F - F.mean(axis=1, keepdims=True)
        up, down = C * exp(S, _SAFE_FACTOR), exp(-S, _SAFE_FACTOR)
        return up, down, up.sum(axis=1, keepdims=True), down.sum(axis=1, keepdims=True)

    def value(self, y: Ints, F: Floats, C: Floats) -> Floats:
        """The loss of each row, (n,)."""
        _, _, ups, downs = self._factors(F, C)
        return np.asarray((ups * downs)[:, 0])

    def gradient(self, y: Ints, F: Floats, C: Floats) -> Floats:
        """Its derivatives with respect to the scores, (n, k)."""
        up, down, ups, downs = self._factors(F, C)
        return up * downs - down * ups

    def hessian(self, y: Ints, F: Floats, C: Floats) -> Floats:
        """Its second derivatives with respect to each score, (n, k)."""
        up, down, ups, downs = self._factors(F, C)
        return up * downs + down * ups - 2.0 * up * down

    def coordinate(self, y: Ints, F: Floats, C: Floats, directions: Floats) -> Coordinate:
        """The same along a coordinate, for many trials of α."""
        up, down, ups, downs = self._factors(F, C)
        steps, rising = _by_step(up, directions)
        _, falling = _by_step(down, directions)
        # All pairs of the two sums: their exponents are the differences of the steps.
        T = (rising[:, None] * falling).reshape(-1, len(F))
        e = np.subtract.outer(steps, steps).reshape(-1, 1)
        return _sum_along((ups * downs)[:, 0], T, e)


# -- The expected cost ---------------------------------------------------------------------------


@register
class ExpectedCost(MulticlassLoss):
    r"""The cost that is expected if the softmax of the scores decides by chance.

    .. math:: L = \sum_j p_j C_{zj}, \quad p = \mathrm{softmax}(S), \qquad
        L_j' = p_j (C_{zj} - L), \quad L_j'' = p_j (1 - 2 p_j)(C_{zj} - L)
        \le p_j \lvert C_{zj} - L \rvert

    For two classes it is the average expected cost of Höppner et al. (csboost), with the one score
    :math:`F = S_1 - S_0`. It is bounded and not convex: rows that are decided far from the
    boundary, rightly or wrongly, have no say. `hessian` is the bound above, so that every step
    goes downhill and none is longer than 1. It has no link to probabilities, because its minimiser
    puts all of p on the cheapest decision. Domain: every real S.

    Inside `costboost.CostBoostClassifier` the decisions of ``"auto"``, which learns probabilities
    and prices them, score higher on 31 of 39 sets (median 0.024; ``benchmarks/fair.py``);
    ``"gll"`` scores lower than this loss on 28 of them (median 0.054). Its use is in
    engines whose scores must decide by themselves.

    References
    ----------
    S. Höppner, B. Baesens, W. Verbeke and T. Verdonck, "Instance-dependent cost-sensitive learning
    for detecting transfer fraud", European Journal of Operational Research 297(1), 2022, 291-300,
    doi:10.1016/j.ejor.2021.05.028.

    Examples
    --------
    >>> import numpy as np
    >>> ExpectedCost().value(np.array([0]), np.zeros((1, 3)), np.array([[0.0, 1.0, 5.0]]))
    array([2.])
    """

    name = "expected_cost"
    formula = "Σⱼ pⱼ Cⱼ, p = softmax(S)"
    bounds_curvature = True
    softmax_scale = 1.0

    def value(self, y: Ints, F: Floats, C: Floats) -> Floats:
        """The loss of each row, (n,)."""
        return np.asarray((self.softmax(F) * C).sum(axis=1))

    def gradient(self, y: Ints, F: Floats, C: Floats) -> Floats:
        """Its derivatives with respect to the scores, (n, k)."""
        p = self.softmax(F)
        return np.asarray(p * (C - (p * C).sum(axis=1, keepdims=True)))

    def hessian(self, y: Ints, F: Floats, C: Floats) -> Floats:
        """A bound of its second derivatives with respect to each score, (n, k)."""
        return np.abs(self.gradient(y, F, C))


# -- The p-norm cost of a stochastic hypothesis --------------------------------------------------
# Defined in A. C. Lozano and N. Abe, "Multi-class cost-sensitive boosting with p-norm loss
# functions", KDD 2008.


@dataclass(frozen=True, repr=False)
class PNorm(MulticlassLoss):
    r"""A convex stand-in for the cost of the most likely class.

    .. math:: L = \sum_y H(y|x)^p\, C_{x,y}, \qquad L_y' = p H^{p-1} C, \quad
        L_y'' = p(p-1) H^{p-2} C

    (Eq. 2). Domain: H >= 0, usually a distribution over the classes; p >= 1, where p = 1 is the
    expected cost and p → ∞ approaches the cost of argmax H. It has no name in
    `costboost.losses.LOSSES`, which lists losses of scores.

    Parameters
    ----------
    p : float, default=2.0
        The exponent of the norm, at least 1.

    Examples
    --------
    >>> import numpy as np
    >>> PNorm(2).value(np.array([0]), np.array([[0.5, 0.5]]), np.array([[0.0, 8.0]]))
    array([2.])
    """

    formula = "Σⱼ Cⱼ Hⱼᵖ, H a distribution"
    on_simplex = True

    p: float = 2.0

    def value(self, y: Ints, F: Floats, C: Floats) -> Floats:
        """The loss of each row, (n,)."""
        return np.asarray((F**self.p * C).sum(axis=1))

    def gradient(self, y: Ints, F: Floats, C: Floats) -> Floats:
        """Its derivatives with respect to H, (n, k)."""
        return np.asarray(self.p * F ** (self.p - 1.0) * C)

    def hessian(self, y: Ints, F: Floats, C: Floats) -> Floats:
        """Its second derivatives with respect to each entry of H, (n, k)."""
        if self.p == 1.0:
            return np.zeros_like(F)
        # 0^(p-2) diverges for p < 2, but so does the true second derivative.
        with np.errstate(divide="ignore"):
            return np.asarray(self.p * (self.p - 1.0) * F ** (self.p - 2.0) * C)

    def smoothness(self, C: Floats) -> float:
        r"""Lipschitz constant of the gradient, :math:`\max C \cdot p(p-1)2^{p-2}` (Thm. 4.1)."""
        return float(C.max() * self.p * (self.p - 1.0) * 2.0 ** (self.p - 2.0))

    def __repr__(self) -> str:
        return f"PNorm(p={self.p:g})"

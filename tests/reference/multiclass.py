"""Multi-class losses and MCBoost, row by row (paper 4).

z is the right class of a row, ``S`` its k scores, ``C`` its k costs with C[z] = 0. MCBoost's
predictor f has k - 1 coordinates; ``words`` (k, k-1) are the codewords, ``S = f words^T / 2``.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.optimize import brentq, minimize

from reference import PERFECT
from reference.descent import best_line

__all__ = [
    "GEL",
    "GLL",
    "LOSSES",
    "MC",
    "WORKED",
    "BestLine",
    "Ls",
    "Lt",
    "PNorm",
    "StepTrace",
    "Worked",
    "bayes",
    "codewords",
    "codewords_error",
    "gel_minimiser",
    "line_search",
    "posteriors",
    "risk",
    "risk_minimiser",
    "run_mcboost",
    "scores",
    "total",
]


# --- losses, one row at a time --------------------------------------------------------------


class PairLoss(ABC):
    """A loss made of the terms `weight e^(S_j - S_m)`, listed by `terms`."""

    @abstractmethod
    def terms(self, z, C):
        """Yield (weight, j, m)."""

    def value(self, z, S, C):
        return sum(a * math.exp(S[j] - S[m]) for a, j, m in self.terms(z, C))

    def gradient(self, z, S, C):
        slope = np.zeros(len(S))
        for a, j, m in self.terms(z, C):
            slope[j] += a * math.exp(S[j] - S[m])
            slope[m] -= a * math.exp(S[j] - S[m])
        return slope

    def hessian(self, z, S, C):
        """The second derivatives with respect to each score: of e^(S_j - S_j) = 1 none."""
        curvature = np.zeros(len(S))
        for a, j, m in self.terms(z, C):
            if j != m:
                curvature[j] += a * math.exp(S[j] - S[m])
                curvature[m] += a * math.exp(S[j] - S[m])
        return curvature


class MC(PairLoss):
    """sum_j e^(S_j - S_z), all j; the costs do not matter."""

    def terms(self, z, C):
        for j in range(len(C)):
            yield 1.0, j, z


class GEL(PairLoss):
    """sum_j C_j e^(S_j - S_z)."""

    def terms(self, z, C):
        for j in range(len(C)):
            yield C[j], j, z


class Lt(PairLoss):
    """sum_m sum_j C_j e^(S_j - S_m)."""

    def terms(self, z, C):
        for m in range(len(C)):
            for j in range(len(C)):
                yield C[j], j, m


class GLL:
    """log(1 + GEL)."""

    def value(self, z, S, C):
        return math.log(1.0 + GEL().value(z, S, C))

    def gradient(self, z, S, C):
        return GEL().gradient(z, S, C) / (1.0 + GEL().value(z, S, C))

    def hessian(self, z, S, C):
        v, first, second = (part(z, S, C) for part in (GEL().value, GEL().gradient, GEL().hessian))
        return second / (1.0 + v) - (first / (1.0 + v)) ** 2


class Ls:
    """sum_j C_j e^(S_j), where the scores should sum to 0."""

    def value(self, z, S, C):
        return sum(C[j] * math.exp(S[j]) for j in range(len(C)))

    def gradient(self, z, S, C):
        return np.array([C[j] * math.exp(S[j]) for j in range(len(C))])

    def hessian(self, z, S, C):
        return self.gradient(z, S, C)


@dataclass(frozen=True)
class PNorm:
    """sum_y H_y^p C_y, H in place of the scores."""

    p: float = 2.0

    def value(self, z, S, C):
        return sum(S[y] ** self.p * C[y] for y in range(len(C)))

    def gradient(self, z, S, C):
        return np.array([self.p * S[y] ** (self.p - 1) * C[y] for y in range(len(C))])

    def hessian(self, z, S, C):
        p = self.p
        if p == 1:
            return np.zeros(len(C))
        return np.array([p * (p - 1) * S[y] ** (p - 2) * C[y] for y in range(len(C))])


class ExpectedCost:
    """sum_j p_j C_j with p the softmax of the scores; `hessian` is a bound."""

    def value(self, z, S, C):
        total = sum(math.exp(s) for s in S)
        return sum(math.exp(s) / total * c for s, c in zip(S, C, strict=True))

    def gradient(self, z, S, C):
        total, mean = sum(math.exp(s) for s in S), self.value(z, S, C)
        return np.array([math.exp(s) / total * (c - mean) for s, c in zip(S, C, strict=True)])

    def hessian(self, z, S, C):
        return np.abs(self.gradient(z, S, C))


LOSSES = {"mc": MC(), "gel": GEL(), "gll": GLL(), "ls": Ls(), "lt": Lt()}


def total(loss, z, S, C, sample_weight=None):
    """Return the loss summed over the rows."""
    s = np.ones(len(z)) if sample_weight is None else sample_weight
    return float(sum(s[i] * loss.value(z[i], S[i], C[i]) for i in range(len(z))))


def risk(loss, eta, S, C):
    """Return sum_z eta_z L(C[z], z, S): the expected loss where the classes have these odds."""
    return float(sum(eta[z] * loss.value(z, S, C[z]) for z in range(len(eta))))


def risk_minimiser(loss, eta, C):
    """Return the scores of least `risk` that sum to 0, by scipy."""
    k = len(eta)

    def centred(free):
        return np.append(free, 0.0) - np.sum(free) / k

    def slope(free):
        S = centred(free)
        gradient = sum(eta[z] * loss.gradient(z, S, C[z]) for z in range(k))
        return gradient[:-1] - gradient.sum() / k

    found = minimize(
        lambda free: risk(loss, eta, centred(free), C),
        np.zeros(k - 1),
        jac=slope,
        method="BFGS",
        options={"gtol": 1e-9, "maxiter": 2000},
    )
    return centred(found.x)


def gel_minimiser(eta, a=None, b=None):
    """Return the scores, summing to 0, of least GEL risk for C[z, j] = a_z A[z, j] b_j.

    The scores are 1/2 ln(eta_j a_j / b_j) for *every* symmetric A with a connected graph (an edge
    z - j where A[z, j] > 0): A does not occur. a = b = 1 is a symmetric cost matrix. Why: with
    v = e^S the risk is the sum over pairs z < j of

        A[z, j] (eta_z a_z b_j v_j / v_z + eta_j a_j b_z v_z / v_j),

    each term of which is least where (v_z / v_j)^2 = (eta_z a_z / b_z) / (eta_j a_j / b_j), and one
    v meets all these demands at once. A connected graph leaves no other.
    """
    k = len(eta)
    a = np.ones(k) if a is None else a
    b = np.ones(k) if b is None else b
    S = np.array([0.5 * math.log(eta[j] * a[j] / b[j]) for j in range(k)])
    return S - S.mean()


# --- codewords ------------------------------------------------------------------------------


def codewords(k):
    """Return k unit vectors of R^(k-1) with the products -1/(k-1), (k, k-1).

    The first k - 1 are the Cholesky factor of their table of products; the last is minus their
    sum. For k = 3: (1, 0), (-1/2, sqrt(3)/2), (-1/2, -sqrt(3)/2). Any rotation would do as well.
    """
    products = np.array([[1.0 if i == j else -1.0 / (k - 1) for j in range(k)] for i in range(k)])
    words = np.linalg.cholesky(products[:-1, :-1])
    return np.vstack([words, -words.sum(axis=0)])


def codewords_error(words):
    """Return the largest deviation from a unit simplex around 0; ValueError on a bad shape."""
    words = np.asarray(words, dtype=float)
    k = len(words)
    if words.shape != (k, k - 1):
        raise ValueError(f"codewords of {k} classes must be ({k}, {k - 1}), not {words.shape}")
    worst = 0.0
    for i in range(k):
        for j in range(k):
            product = sum(words[i, r] * words[j, r] for r in range(k - 1))
            worst = max(worst, abs(product - (1.0 if i == j else -1.0 / (k - 1))))
    for r in range(k - 1):
        worst = max(worst, abs(sum(words[j, r] for j in range(k))))
    return worst


def scores(f, words):
    """Return S_j = 1/2 <y_j, f> of every row, (n, k)."""
    n, (k, coordinates) = len(f), words.shape
    S = np.zeros((n, k))
    for i in range(n):
        for j in range(k):
            S[i, j] = 0.5 * sum(words[j, r] * f[i, r] for r in range(coordinates))
    return S


def posteriors(S):
    """Return e^<y_j, f> = e^(2 S_j), normalised per row (Eq. 33)."""
    P = []
    for row in S:
        grown = [math.exp(2.0 * (value - max(row))) for value in row]
        P.append([value / sum(grown) for value in grown])
    return np.array(P)


def bayes(P, matrix):
    """Return argmin_y sum_j P(j|x) matrix[j, y] of every row: the decision of P-MCBoost."""
    n, k = P.shape
    decisions = []
    for i in range(n):
        spent = [sum(P[i, j] * matrix[j, y] for j in range(k)) for y in range(k)]
        decisions.append(spent.index(min(spent)))
    return np.array(decisions)


# --- MCBoost --------------------------------------------------------------------------------


class BestLine:
    """The best single-feature weighted least-squares line."""

    def fit(self, X, z, sample_weight=None):
        _, self.line = best_line(X, z, sample_weight)[0]
        return self

    def predict(self, X):
        return self.line.predict(X)


@dataclass
class StepTrace:
    """What happened, one entry per coordinate step: coordinate r of round t is entry t (k-1) + r.

    ``w``        the derivatives of the loss with respect to f_r, sample weights included, (n,)
    ``targets``  -sign w, (n,)
    ``weights``  |w|, summing to 1, (n,)
    ``g``        the outputs of the rule, (n,)
    ``alphas``   the steps, the learning rate not included; 0 where the coordinate was skipped
    ``f``, ``S`` the predictor (n, k-1) and the scores (n, k) after the step
    ``losses``   the summed loss after the step
    ``rules``    the fitted rules; None where there was nothing to fit
    ``stopped``  "rounds" (all were run), or "useless" (a round without a step, dropped)
    """

    words: np.ndarray
    learning_rate: float
    w: list[np.ndarray] = field(default_factory=list)
    targets: list[np.ndarray] = field(default_factory=list)
    weights: list[np.ndarray] = field(default_factory=list)
    g: list[np.ndarray] = field(default_factory=list)
    alphas: list[float] = field(default_factory=list)
    f: list[np.ndarray] = field(default_factory=list)
    S: list[np.ndarray] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    rules: list[Any] = field(default_factory=list)
    stopped: str = "rounds"

    def drop(self, count):
        """Forget the last entries."""
        parts = (self.w, self.targets, self.weights, self.g, self.alphas)
        for part in (*parts, self.f, self.S, self.losses, self.rules):
            del part[-count:]

    def score(self, X):
        """Return S of any rows."""
        coordinates = self.words.shape[1]
        f = np.zeros((len(X), coordinates))
        for step, (alpha, rule) in enumerate(zip(self.alphas, self.rules, strict=True)):
            if alpha > 0:
                f[:, step % coordinates] += self.learning_rate * alpha * rule.predict(X)
        return scores(f, self.words)


def line_search(slope, largest, limit=PERFECT):
    """Return the root alpha >= 0 of the rising ``slope``; 0 if it is not negative at 0.

    Where the slope is still negative at ``limit / largest``, ``largest`` being max |g|, the step
    ends there: along a rule that separates the classes the loss falls for ever.
    """
    if largest == 0 or slope(0.0) >= 0:
        return 0.0
    upper, end = min(1.0, limit) / largest, limit / largest
    while slope(upper) < 0:
        if upper >= end:
            return end
        upper = min(2.0 * upper, end)
    return float(brentq(slope, 0.0, upper, xtol=1e-15, rtol=1e-15, maxiter=1000))


def run_mcboost(
    C,
    X=None,
    *,
    loss,
    rounds,
    make_learner=BestLine,
    codes=None,
    words=None,
    learning_rate=1.0,
    sample_weight=None,
    limit=PERFECT,
    floor=1e-12,
):
    """Boost by MCBoost (Algorithm 1) and return the `StepTrace`.

    ``loss`` is one of `LOSSES` or an object with ``value(z, S, C)`` and ``gradient(z, S, C)`` of
    one row. ``make_learner()`` gives a fresh regressor with ``fit(X, targets, sample_weight)`` and
    ``predict(X)``; `reference.votes.replay` hands out given (n,) outputs, one per coordinate step.

    A coordinate without gradient or with a step of ``floor`` or below is skipped; a round in which
    all of them are ends the boosting.
    """
    loss = LOSSES[loss] if isinstance(loss, str) else loss
    C = np.asarray(C, dtype=float)
    n, k = C.shape
    X = np.zeros((n, 1)) if X is None else np.asarray(X, dtype=float)
    z = np.argmin(C, axis=1) if codes is None else np.asarray(codes)
    s = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    words = codewords(k) if words is None else np.asarray(words, dtype=float)
    trace = StepTrace(words, learning_rate)
    f = np.zeros((n, k - 1))
    for _ in range(rounds):
        for r in range(k - 1):
            S = scores(f, words)
            w = np.empty(n)
            for i in range(n):
                slopes = loss.gradient(z[i], S[i], C[i])
                w[i] = s[i] * sum(slopes[j] * words[j, r] / 2.0 for j in range(k))
            targets = np.array([-1.0 if w_i > 0 else 1.0 for w_i in w])
            mass = float(np.abs(w).sum())
            if mass > 0:
                weights = np.abs(w) / mass
                rule = make_learner().fit(X, targets, sample_weight=weights.copy())
                g = np.asarray(rule.predict(X), dtype=float)
                alpha = line_search(
                    slope_along(loss, z, S, C, s, g, words[:, r]), float(np.abs(g).max()), limit
                )
                alpha = alpha if alpha > floor else 0.0
            else:
                weights, rule, g, alpha = np.zeros(n), None, np.zeros(n), 0.0
            f = f.copy()
            f[:, r] += learning_rate * alpha * g
            S = scores(f, words)
            trace.w.append(w)
            trace.targets.append(targets)
            trace.weights.append(weights)
            trace.g.append(g)
            trace.alphas.append(alpha)
            trace.f.append(f)
            trace.S.append(S)
            trace.losses.append(total(loss, z, S, C, s))
            trace.rules.append(rule)
        if not any(trace.alphas[1 - k :]):
            trace.drop(k - 1)
            trace.stopped = "useless"
            break
    return trace


def slope_along(loss, z, S, C, s, g, column):
    """Return alpha -> the derivative of the summed loss at f_r + alpha g."""
    n, k = S.shape
    direction = np.array([[0.5 * g[i] * column[j] for j in range(k)] for i in range(n)])

    def slope(alpha):
        out = 0.0
        for i in range(n):
            gradient = loss.gradient(z[i], S[i] + alpha * direction[i], C[i])
            out += s[i] * float(sum(gradient[j] * direction[i, j] for j in range(k)))
        return out

    return slope


# --- worked by hand -------------------------------------------------------------------------


@dataclass(frozen=True)
class Worked:
    """One coordinate step of GEL-MCBoost: k = 3, a row of each class, r the first coordinate."""

    w: tuple[float, ...]
    g: tuple[float, ...]
    alpha: float
    f: tuple[float, ...]
    S: tuple[tuple[float, ...], ...]
    losses: tuple[float, float]  # before, after

    X = np.array([[1.0, 1.0], [1.0, 0.0], [0.0, 2.0]])
    C = np.array([[0.0, 1.0, 2.0], [1.0, 0.0, 3.0], [1.0, 2.0, 0.0]])
    words = np.array([[1.0, 0.0], [-0.5, math.sqrt(0.75)], [-0.5, -math.sqrt(0.75)]])


_ln2 = math.log(2.0)

# At f = 0, w = sum_j C_j (Y_j1 - Y_z1)/2 (Eq. 34), and the first coordinates 1, -1/2, -1/2 differ
# by 3/2 or 0: w_0 = -(1 + 2) 3/4, w_1 = 1 * 3/4, w_2 = 1 * 3/4; targets + - -, weights 3 1 1.
# Feature 0 is 1 1 0: the line meets the means (3 - 1)/4 = 1/2 at 1 and -1 at 0 and leaves
# 4 (1 - 1/4) = 3. Feature 1 is 1 0 2, of mean 1; its covariance with the targets is
# 1 (0 - 1)(-1) + 1 (2 - 1)(-1) = 0, so that it leaves 5 (1 - 1/25) = 24/5. g = 1/2 1/2 -1.
# Along g, S_j - S_z changes by g (Y_j1 - Y_z1)/2: row 0 by -3/8 on both, row 1 by 3/8 on class 0,
# row 2 by -3/4 on class 0. With u = e^(3 alpha/8) the loss is 3/u + (u + 3) + (1/u^2 + 2), 10 at
# first; its derivative is 0 where u^3 - 3u - 2 = (u - 2)(u + 1)^2 = 0: u = 2, alpha = 8/3 ln 2, and
# the loss is 3/2 + 5 + 9/4 = 35/4. f_1 = 4/3 ln 2 on rows 0 and 1, -8/3 ln 2 on row 2.
WORKED = Worked(
    w=(-9 / 4, 3 / 4, 3 / 4),
    g=(0.5, 0.5, -1.0),
    alpha=8 / 3 * _ln2,
    f=(4 / 3 * _ln2, 4 / 3 * _ln2, -8 / 3 * _ln2),
    S=(
        (2 / 3 * _ln2, -1 / 3 * _ln2, -1 / 3 * _ln2),
        (2 / 3 * _ln2, -1 / 3 * _ln2, -1 / 3 * _ln2),
        (-4 / 3 * _ln2, 2 / 3 * _ln2, 2 / 3 * _ln2),
    ),
    losses=(10.0, 35 / 4),
)

"""The loss-based algorithms of papers 3 and 5, row by row.

CS-AdaBoost descends `sum w0 exp(-c y F)`: its candidates are judged by the margin `m = c y g` of
each row, the step being the root of `sum w m exp(-alpha m)` (equation 41 of paper 3 when the costs
are per class, which `alpha_equation_41` and `loss_equation_40` write down as printed).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from scipy.optimize import brentq
from scipy.special import expit

from reference import PERFECT, Trace, initial_weights, normalised

__all__ = [
    "WORKED_ASYBL",
    "WORKED_CS_ADABOOST",
    "WORKED_CS_LOGITBOOST",
    "WORKED_CS_REALBOOST",
    "Candidate",
    "Line",
    "Stump",
    "Table",
    "alpha_equation_41",
    "best_line",
    "best_table",
    "joint_search",
    "loss_equation_40",
    "no_smoothing",
    "run_asybl",
    "run_cs_adaboost",
    "run_cs_adaboost_stumps",
    "run_cs_logitboost",
    "run_cs_realboost",
    "step_size",
    "stumps",
    "weights_at",
]


# --- CS-AdaBoost ----------------------------------------------------------------------------


@dataclass(frozen=True)
class Stump:
    """``polarity`` where x[feature] > threshold, ``-polarity`` elsewhere."""

    feature: int
    threshold: float
    polarity: int

    def predict(self, X):
        out = []
        for row in np.asarray(X):
            out.append(self.polarity if row[self.feature] > self.threshold else -self.polarity)
        return np.array(out)


@dataclass(frozen=True)
class Candidate:
    """A stump, its best step, and what `sum w exp(-alpha c y g)` comes to."""

    stump: Stump
    alpha: float
    loss: float
    perfect: bool


def step_size(w, m, largest):
    """Return (alpha, perfect), alpha >= 0 minimising `sum w exp(-alpha m)`.

    0 when the sum rises at once; that of a perfect rule over ``largest`` when it never rises.
    """
    rows = [(float(w_i), float(m_i)) for w_i, m_i in zip(w, m, strict=True) if w_i > 0 and m_i != 0]
    if not rows:
        return 0.0, False
    if all(m_i > 0 for _, m_i in rows):
        return PERFECT / largest, True
    # Rows of one margin share an exponential: with two costs there are only four of them.
    mass: dict[float, float] = {}
    for w_i, m_i in rows:
        mass[m_i] = mass.get(m_i, 0.0) + w_i
    lowest = min(mass)
    margins = np.array(list(mass))
    weights = np.array([mass[m_i] for m_i in mass])

    def slope(alpha):
        # The derivative times e^(alpha lowest) > 0, lest it overflow.
        return -float(np.sum(weights * margins * np.exp(-alpha * (margins - lowest))))

    if slope(0.0) >= 0:
        return 0.0, False
    upper = 1.0 / largest
    while slope(upper) <= 0:
        upper *= 2.0
    return float(brentq(slope, 0.0, upper, xtol=1e-14, maxiter=1000)), False


def alpha_equation_41(b, d, T_pos, T_neg, C1, C2):
    """Return the root of 2 C1 b cosh(C1 a) + 2 C2 d cosh(C2 a) = C1 T+ e^(-C1 a) + C2 T- e^(-C2 a).

    b, d are the masses of the wrong positives and negatives; either must be positive, and the
    rule better than its opposite.
    """

    def difference(a):
        left = 2 * C1 * b * math.cosh(C1 * a) + 2 * C2 * d * math.cosh(C2 * a)
        return left - C1 * T_pos * math.exp(-C1 * a) - C2 * T_neg * math.exp(-C2 * a)

    upper = 1e-3
    while difference(upper) < 0:
        upper *= 1.5
    return float(brentq(difference, 0.0, upper, xtol=1e-14))


def loss_equation_40(a, b, d, T_pos, T_neg, C1, C2):
    """Return the loss of a candidate at the step a, as paper 3 prints it."""
    positives = (math.exp(C1 * a) - math.exp(-C1 * a)) * b + math.exp(-C1 * a) * T_pos
    negatives = (math.exp(C2 * a) - math.exp(-C2 * a)) * d + math.exp(-C2 * a) * T_neg
    return positives + negatives


def weights_at(F, y, c, w0):
    """Return w = w0 exp(-c y F): what any run with the scores F has arrived at."""
    return np.array([w0[i] * math.exp(-c[i] * y[i] * F[i]) for i in range(len(y))])


def stumps(X):
    """Yield every stump: features x midpoints of neighbouring distinct values x polarities."""
    X = np.asarray(X, dtype=float)
    for feature in range(X.shape[1]):
        values = sorted(set(X[:, feature].tolist()))
        for low, high in pairwise(values):
            for polarity in (1, -1):
                yield Stump(feature, (low + high) / 2.0, polarity)


def joint_search(X, y, c, w):
    """Return all candidates with a step above 0, the smallest loss first.

    Equal losses keep the order of `stumps`: lowest feature, lowest threshold, polarity +1. A
    perfect candidate competes with its loss at the capped step.
    """
    X, y, c = np.asarray(X, dtype=float), np.asarray(y), np.asarray(c, dtype=float)
    found = []
    for stump in stumps(X):
        side = np.where(X[:, stump.feature] > stump.threshold, 1, -1)
        m = c * y * stump.polarity * side
        alpha, perfect = step_size(w, m, c.max())
        if alpha > 0:
            found.append(Candidate(stump, alpha, float(np.sum(w * np.exp(-alpha * m))), perfect))
    return sorted(found, key=lambda candidate: candidate.loss)


def run_cs_adaboost_stumps(X, y, c, *, rounds, init="uniform", sample_weight=None):
    """CS-AdaBoost, the stump and its step chosen together by exhaustive search.

    ``D`` in the trace is w normalised (not c w). ``losses`` start from weights that sum to 1.
    """
    y, c = np.asarray(y), np.asarray(c, dtype=float)
    trace = Trace()
    w = initial_weights(init, y, c, sample_weight)
    for _ in range(rounds):
        candidates = joint_search(X, y, c, w)
        if not candidates:
            trace.stopped = "useless"
            break
        best = candidates[0]
        g = best.stump.predict(X)
        trace.keep(best.alpha, best.stump, g, normalised(w))
        w = np.array([w[i] * math.exp(-c[i] * y[i] * best.alpha * g[i]) for i in range(len(y))])
        trace.losses.append(float(w.sum()))
        if best.perfect:
            trace.stopped = "perfect"
            break
    return trace


def run_cs_adaboost(X, y, c, *, rounds, make_learner, init="uniform", sample_weight=None):
    """CS-AdaBoost with any weak classifier, fitted to c w; then the step on all rows.

    ``D`` in the trace is c w normalised. ``losses`` start from weights that sum to 1.
    """
    X, y, c = np.asarray(X, dtype=float), np.asarray(y), np.asarray(c, dtype=float)
    n = len(y)
    trace = Trace()
    w = initial_weights(init, y, c, sample_weight)
    for _ in range(rounds):
        D = normalised([c[i] * w[i] for i in range(n)])
        rule = make_learner().fit(X, y, sample_weight=D.copy())
        g = rule.predict(X)
        m = [c[i] * y[i] * g[i] for i in range(n)]
        alpha, perfect = step_size(w, m, c.max())
        if not alpha > 0:
            trace.stopped = "useless"
            break
        trace.keep(alpha, rule, g, D)
        w = np.array([w[i] * math.exp(-alpha * m[i]) for i in range(n)])
        trace.losses.append(float(w.sum()))
        if perfect:
            trace.stopped = "perfect"
            break
    return trace


# --- CS-RealBoost ---------------------------------------------------------------------------


@dataclass(frozen=True)
class Table:
    """The rule G[bin of the feature]."""

    feature: int
    G: np.ndarray

    def predict(self, codes):
        return np.array([self.G[row[self.feature]] for row in codes])


def no_smoothing(total, n_bins):
    """Add nothing: every bin must then hold both classes."""
    return 0.0


def best_table(codes, y, C1, C2, w, smoothing, n_bins):
    """Return the `Table` of every feature with the loss of each, the smallest loss first."""
    found = []
    for feature in range(codes.shape[1]):
        s = smoothing(float(np.sum(w)), n_bins[feature])
        P, N = [0.0] * n_bins[feature], [0.0] * n_bins[feature]
        for i in range(len(y)):
            if y[i] == 1:
                P[codes[i, feature]] += w[i]
            else:
                N[codes[i, feature]] += w[i]
        G = np.zeros(n_bins[feature])
        for k in range(n_bins[feature]):
            if P[k] + s > 0 or N[k] + s > 0:
                G[k] = math.log((P[k] + s) * C1 / ((N[k] + s) * C2)) / (C1 + C2)
        loss = 0.0
        for i in range(len(y)):
            G_i = G[codes[i, feature]]
            loss += w[i] * (math.exp(-C1 * G_i) if y[i] == 1 else math.exp(C2 * G_i))
        found.append((loss, Table(feature, G)))
    return sorted(found, key=lambda pair: pair[0])


def run_cs_realboost(
    codes, y, C1, C2, *, rounds, smoothing, n_bins=None, init="uniform", sample_weight=None
):
    """CS-RealBoost on features given as bin numbers, codes (n, features) of integers from 0.

    ``smoothing(total mass, bins of the feature)`` is what is added to the mass of either class in
    every bin. The weights start with sum 1 and are not normalised again, so ``losses`` is their
    sum. ``D`` is w normalised; the votes are 1.
    """
    codes, y = np.asarray(codes, dtype=int), np.asarray(y)
    c = np.where(y == 1, float(C1), float(C2))
    n_bins = (
        [int(codes[:, k].max()) + 1 for k in range(codes.shape[1])] if n_bins is None else n_bins
    )
    trace = Trace()
    w = initial_weights(init, y, c, sample_weight)
    for _ in range(rounds):
        loss, table = best_table(codes, y, C1, C2, w, smoothing, n_bins)[0]
        G = table.predict(codes)
        trace.keep(1.0, table, G, normalised(w))
        trace.losses.append(loss)
        for i in range(len(y)):
            w[i] *= math.exp(-C1 * G[i]) if y[i] == 1 else math.exp(C2 * G[i])
    return trace


# --- CS-LogitBoost and AsyBL ----------------------------------------------------------------


@dataclass(frozen=True)
class Line:
    """The rule slope x[feature] + intercept."""

    feature: int
    slope: float
    intercept: float

    def predict(self, X):
        return np.array([self.slope * row[self.feature] + self.intercept for row in np.asarray(X)])


def best_line(X, z, w):
    """Return (squared error, weighted least-squares line) of every feature, the best first."""
    X = np.asarray(X, dtype=float)
    n = len(z)
    found = []
    for feature in range(X.shape[1]):
        phi = X[:, feature]
        one = sum(w[i] for i in range(n))
        mean_phi = sum(w[i] * phi[i] for i in range(n)) / one
        mean_z = sum(w[i] * z[i] for i in range(n)) / one
        # The paper's <1><phi z> - <phi><z> over <1><phi^2> - <phi>^2, centred against cancellation.
        spread = sum(w[i] * (phi[i] - mean_phi) ** 2 for i in range(n))
        together = sum(w[i] * (phi[i] - mean_phi) * (z[i] - mean_z) for i in range(n))
        constant = all(phi[i] == phi[0] for i in range(n))
        slope = 0.0 if constant or spread == 0 else together / spread
        intercept = mean_z - slope * mean_phi
        error = sum(w[i] * (z[i] - slope * phi[i] - intercept) ** 2 for i in range(n))
        found.append((float(error), Line(feature, float(slope), float(intercept))))
    return sorted(found, key=lambda pair: pair[0])


def response(y, p_c, limit):
    """Return z = (y' - p_c) / (p_c (1 - p_c)) of one row, clipped."""
    if y == 1:
        return 1.0 / p_c if p_c * limit > 1.0 else limit
    return -1.0 / (1.0 - p_c) if (1.0 - p_c) * limit > 1.0 else -limit


def returned(y, p_c, limit, most=4.0):
    """Return by how much the weight of a clipped response grows: as it was cut, but fourfold."""
    p = p_c if y == 1 else 1.0 - p_c
    if p * limit >= 1.0:
        return 1.0
    return most if p * limit * most <= 1.0 else 1.0 / (p * limit)


def halved(loss_at, now, most=60):
    """Return the first of 1, 1/2, 1/4, ... at which the loss is below ``now``; or 0."""
    for k in range(most):
        if loss_at(0.5**k) < now * (1.0 - 1e-12):
            return 0.5**k
    return 0.0


def per_row_pair(C1, C2, n):
    """Return both costs as (n,) arrays, and the limit 2 (1 + the larger of their ratios)."""
    C1 = np.broadcast_to(np.asarray(C1, dtype=float), n)
    C2 = np.broadcast_to(np.asarray(C2, dtype=float), n)
    limit = np.array([2.0 * (1.0 + max(C1[i] / C2[i], C2[i] / C1[i])) for i in range(n)])
    return C1, C2, limit


def run_cs_logitboost(
    X,
    y,
    C1,
    C2,
    *,
    rounds,
    weighting="boundary",
    learning_rate=1.0,
    init="uniform",
    sample_weight=None,
    find=best_line,
    guarded=False,
):
    """CS-LogitBoost with the best single-feature line; C1, C2 numbers or one per row.

    ``guarded`` adds to the paper what the library does: clipped responses get weight in return, and
    from the second round on a step is halved while it would not lower the loss; the share of the
    step is then the vote. Where no share does, the round is lost and Newton weights take over.

    ``rules`` are the lines G, ``h`` their outputs, the score moves by learning_rate G / (2 gamma).
    ``find(X, z, w)`` returns pairs (squared error, rule), the best first. ``losses`` is the mean
    binomial loss under the initial weights. The votes are 1.
    """
    y = np.asarray(y)
    n = len(y)
    C1, C2, limit = per_row_pair(C1, C2, n)
    base = initial_weights(init, y, np.where(y == 1, C1, C2), sample_weight)
    gamma = [(C1[i] + C2[i]) / 2.0 for i in range(n)]
    eta = [0.5 * math.log(C2[i] / C1[i]) for i in range(n)]
    trace = Trace()
    F = np.zeros(n)
    p_c, p = [0.5] * n, [0.5] * n  # as printed, although F = 0 has p_c = C2 / (C1 + C2)
    for _ in range(rounds):
        z = [response(y[i], p_c[i], limit[i]) for i in range(n)]
        centre = {"boundary": p, "newton": p_c}[weighting]
        weight = np.array([base[i] * centre[i] * (1.0 - centre[i]) for i in range(n)])
        if guarded:
            weight *= [returned(y[i], p_c[i], limit[i]) for i in range(n)]
        if not weight.sum() > 0:
            trace.stopped = "useless"
            break
        weight = normalised(weight)
        _, rule = find(X, z, weight)[0]
        G = rule.predict(X)
        step = np.array([learning_rate / (2.0 * gamma[i]) for i in range(n)])
        share = 1.0
        if guarded and trace.losses:

            def loss_at(share, F=F, move=step * G):
                new = F + share * move
                return binomial(y, [2.0 * (gamma[i] * new[i] + eta[i]) for i in range(n)], base)

            share = halved(loss_at, trace.losses[-1])
            if share == 0.0 and weighting == "boundary":
                weighting = "newton"
                continue
            if share == 0.0:
                trace.stopped = "useless"
                break
        trace.keep(share, rule, G, weight, step)
        F = trace.F[-1]
        logit = [2.0 * (gamma[i] * F[i] + eta[i]) for i in range(n)]
        p_c = [float(expit(logit[i])) for i in range(n)]
        p = [float(expit(2.0 * F[i])) for i in range(n)]
        trace.losses.append(binomial(y, logit, base))
    return trace


def binomial(y, logit, base):
    """Return -sum base (y' log p_c + (1 - y') log(1 - p_c)), p_c = 1/(1 + e^(-logit))."""
    return float(sum(base[i] * np.logaddexp(0.0, -y[i] * logit[i]) for i in range(len(y))))


def run_asybl(
    X,
    y,
    C1,
    C2,
    *,
    rounds,
    make_learner,
    learning_rate=1.0,
    init="uniform",
    sample_weight=None,
    guarded=False,
):
    """AsyBL with any regressor; C1, C2 numbers or one per row.

    ``guarded`` as in `run_cs_logitboost`, from the first round on.

    ``rules`` are the regressors f, ``h`` their outputs, the score moves by learning_rate f / 2.
    ``losses`` is the mean binomial loss under the initial weights. The votes are 1.
    """
    X, y = np.asarray(X, dtype=float), np.asarray(y)
    n = len(y)
    C1, C2, limit = per_row_pair(C1, C2, n)
    base = initial_weights(init, y, np.where(y == 1, C1, C2), sample_weight)
    trace = Trace()
    p_c = [C2[i] / (C1[i] + C2[i]) for i in range(n)]
    for _ in range(rounds):
        z = [response(y[i], p_c[i], limit[i]) for i in range(n)]
        weight = np.array([base[i] * p_c[i] * (1.0 - p_c[i]) for i in range(n)])
        if guarded:
            weight *= [returned(y[i], p_c[i], limit[i]) for i in range(n)]
        if not weight.sum() > 0:
            trace.stopped = "useless"
            break
        weight = normalised(weight)
        rule = make_learner().fit(X, np.array(z), sample_weight=weight.copy())
        f = rule.predict(X)
        share = 1.0
        if guarded:
            F = trace.F[-1] if trace.F else np.zeros(n)

            def loss_at(share, F=F, move=learning_rate / 2.0 * f):
                new = F + share * move
                logit = [2.0 * new[i] + math.log(C2[i] / C1[i]) for i in range(n)]
                return binomial(y, logit, base)

            share = halved(loss_at, trace.losses[-1] if trace.losses else loss_at(0.0))
            if share == 0.0:
                trace.stopped = "useless"
                break
        trace.keep(share, rule, f, weight, learning_rate / 2.0)
        F = trace.F[-1]
        # C2 e^F / (C1 e^(-F) + C2 e^F)
        logit = [2.0 * F[i] + math.log(C2[i] / C1[i]) for i in range(n)]
        p_c = [float(expit(logit[i])) for i in range(n)]
        trace.losses.append(binomial(y, logit, base))
    return trace


# --- worked by hand -------------------------------------------------------------------------

# Paper 3, CS-AdaBoost by joint search, uniform weights, C1 = 2, C2 = 1 (the rows of votes.Worked).
#
# Round 1, w = 1 1 1 1 1, T+ = 3, T- = 2, v = e^alpha.
#   + iff x > 1.5: b = 0, d = 1. (41): 2 cosh(alpha) = 6/v^2 + 2/v, that is v^3 - v - 6 = 0, v = 2.
#     Loss 3/4 + (2 - 1/2) + 2/2 = 13/4.
#   + iff x > 3.5: b = 1, d = 0. v^4 - v - 2 = 0, v = 1.3532, loss v^2 + 2/v^2 + 2/v = 4.4013.
#   + iff x > 2.5 and x > 4.5 make one error more than these; the opposites make 4, 4, 3 and 3.
#   So x > 1.5, alpha = ln 2; w = 1/2 1/4 2 1/4 1/4, their sum again 13/4.
# Round 2, w = 2 1 8 1 1 (quarters), T+ = 3, T- = 10.
#   + iff x > 3.5: b = 1, d = 0. 4 cosh(2 alpha) = 6/v^2 + 10/v, that is v^4 - 5v - 2 = 0,
#     v = 1.8266508; loss (v^2 + 2/v^2 + 10/v)/4 = 2.3526
#   The others are worse (x > 4.5: 2.8927; the opposite of x > 2.5: 3.1602), so
#   alpha = ln 1.8266508.
# Losses are per row: a fifth of the sums above.
_v = max(r.real for r in np.roots([1, 0, 0, -5, -2]) if abs(r.imag) < 1e-12)
WORKED_CS_ADABOOST = {
    "X": np.array([[1.0], [2.0], [3.0], [4.0], [5.0]]),
    "y": np.array([-1, 1, -1, 1, 1]),
    "C1": 2.0,
    "C2": 1.0,
    "stumps": [Stump(0, 1.5, 1), Stump(0, 3.5, 1)],
    "alphas": [math.log(2), math.log(_v)],
    "losses": [13 / 20, (_v**2 + 2 / _v**2 + 10 / _v) / 20],
}

# Paper 3, CS-RealBoost, C1 = 2, C2 = 1, so G = 1/3 log(2 P / N); two features of two bins, eight
# rows of weight 1, no smoothing. Rows as (bin of 0, bin of 1):
#   positives (1,0) (1,0) (1,1) (1,1) (0,1); negatives (1,0) (0,0) (0,1).
# Round 1. Feature 0: bin 1 has P, N = 4, 1: G = 1/3 log 8 = ln 2; bin 0 has 1, 2: G = 0.
#   Loss: positives 4/4 + 1, negatives 2 + 2, sum 6.
#   Feature 1: bin 0 has 2, 2: G = 1/3 log 2; bin 1 has 3, 1: G = 1/3 log 6.
#   Loss: 2/2^(2/3) + 2 2^(1/3) + 3/6^(2/3) + 6^(1/3) = 6.5054. Feature 0 it is.
#   w: positives 1/4 1/4 1/4 1/4 1; negatives 2 1 1.
# Round 2. Feature 0: both bins 1, 2: G = 0, loss 6.
#   Feature 1: bin 0 has 1/2, 3: G = -1/3 log 3; bin 1 has 3/2, 1: G = 1/3 log 3.
#   Loss: 3^(2/3)/2 + 3 3^(-1/3) + 3/2 3^(-2/3) + 3^(1/3) = 3^(2/3) (1/2 + 1) + 3^(1/3) (1/2 + 1).
# Losses are per row: an eighth of the sums above.
_g = math.log(3) / 3
WORKED_CS_REALBOOST = {
    "codes": np.array([[1, 0], [1, 0], [1, 1], [1, 1], [0, 1], [1, 0], [0, 0], [0, 1]]),
    "y": np.array([1, 1, 1, 1, 1, -1, -1, -1]),
    "C1": 2.0,
    "C2": 1.0,
    "features": [0, 1],
    "G": [np.array([0.0, math.log(2)]), np.array([-_g, _g])],
    "losses": [6 / 8, 1.5 * (3 ** (2 / 3) + 3 ** (1 / 3)) / 8],
    "F": np.array([math.log(2)] * 4 + [0.0] + [math.log(2), 0.0, 0.0])
    + np.array([-_g, -_g, _g, _g, _g, -_g, -_g, _g]),
}

# Paper 3, CS-LogitBoost, C1 = 3, C2 = 1: gamma = 2, eta = -1/2 log 3, limit 2 (1 + 3) = 8. One
# feature in {-1, 1}, on which a line is a mean per value: x = 1 has 3 positives and 1 negative,
# x = -1 has 1 and 3.
# Round 1, p_c = p = 1/2: z = +-2, means 1 and -1: G = x, F = x/4.
# Round 2. p_c = 1/(1 + 3 e^(-x)); p(1-p) is the same on both sides.
#   x = 1:  z = (e+3)/e and -(e+3)/3, mean (3 (e+3)/e - (e+3)/3)/4 = (9-e)(e+3)/(12 e).
#   x = -1: z = 1 + 3e = 9.15, clipped to 8, and -(1+3e)/(3e), mean (8 - (1+3e)/e)/4 = (5 - 1/e)/4.
#   F = x/4 + G/4.
_e = math.e
_up, _down = (9 - _e) * (_e + 3) / (12 * _e), (5 - 1 / _e) / 4
_X = np.array([[1.0]] * 4 + [[-1.0]] * 4)
_y = np.array([1, 1, 1, -1, 1, -1, -1, -1])
WORKED_CS_LOGITBOOST = {
    "X": _X,
    "y": _y,
    "C1": 3.0,
    "C2": 1.0,
    "G": [np.array([1.0] * 4 + [-1.0] * 4), np.array([_up] * 4 + [_down] * 4)],
    "F": np.array([(1 + _up) / 4] * 4 + [(_down - 1) / 4] * 4),
}

# Paper 5, AsyBL, the same rows and costs, a regression stump (again a mean per value).
# Round 1, p_c = C2/(C1+C2) = 1/4: z = 4 and -4/3. x = 1: (12 - 4/3)/4 = 8/3; x = -1: (4 - 4)/4 = 0.
#   F = 4/3 and 0.
# Round 2. x = 1: with k = e^(2F) = e^(8/3), p_c = k/(k+3), z = (k+3)/k and -(k+3)/3 (5.8 < 8),
#   mean (k+3)(9-k)/(12 k) = -0.5430; x = -1: p_c = 1/4 again, mean 0.
#   F = 4/3 + half of that = 1.0618 (the minimiser is 1/2 log 9 = 1.0986) and 0.
_k = math.exp(8 / 3)
_f = (_k + 3) * (9 - _k) / (12 * _k)
WORKED_ASYBL = {
    "X": _X,
    "y": _y,
    "C1": 3.0,
    "C2": 1.0,
    "f": [np.array([8 / 3] * 4 + [0.0] * 4), np.array([_f] * 4 + [0.0] * 4)],
    "F": np.array([4 / 3 + _f / 2] * 4 + [0.0] * 4),
}

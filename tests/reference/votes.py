"""The vote-based algorithms, row by row.

An algorithm is an initial D, a formula for alpha and an update of D. The loop is::

    D = initial weights, normalised
    repeat: (D changed before the round, by AsymmetricAdaBoost only)
            fit h to D; alpha; F += alpha h; update D; normalise

A formula returns alpha as ``1/2 ln(numerator / denominator)`` with the two still apart, because a
denominator of 0 or below is what "perfect" means. AdaC1, AdaC3 and AdaCost print the pair as
``1 + A`` and ``1 - A``; D sums to 1, so these are ``sum D (1 + c y h)`` and ``sum D (1 - c y h)``,
which is how they are summed here: exactly 0 when nothing is wrong and every c is 1.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from scipy.optimize import brentq

from reference import PERFECT, Trace, initial_weights, normalised

__all__ = [
    "DEFAULT_INIT",
    "NAMES",
    "OBJECTIVES",
    "WORKED",
    "Fixed",
    "Worked",
    "line_search",
    "replay",
    "run",
    "score",
]

DEFAULT_INIT = {
    "AdaBoost": "uniform",
    "AdaBoostC": "cost",
    "AdaCost": "cost",
    "CSB0": "cost",
    "CSB1": "cost",
    "CSB2": "cost",
    "AdaC1": "uniform",
    "AdaC2": "uniform",
    "AdaC3": "uniform",
    "AsymmetricAdaBoost": "uniform",
    "AsyB": "cost",
}

NAMES = tuple(DEFAULT_INIT)

OBJECTIVES = ("adaboost", "adacost", "adac1", "asymboost")


def scaled_costs(name, c, scale="paper"):
    """Return the costs as the algorithm wants them, or divided as ``scale`` says."""
    c = np.asarray(c, dtype=float)
    if scale != "paper":
        return c / {"max": c.max(), "min": c[c > 0].min(), None: 1.0}[scale]
    if name in ("AdaCost", "AdaC1", "AdaC2", "AdaC3", "adacost", "adac1"):
        return c / c.max()
    if name in ("CSB0", "CSB1", "CSB2"):
        return c / c[c > 0].min()
    return c


# --- alpha = 1/2 ln(numerator / denominator) ------------------------------------------------


def ratio_adaboost(D, y, h, c):
    """(1 - eps) / eps, eps = sum of D over the wrong rows."""
    right = sum(D[i] for i in range(len(y)) if h[i] == y[i])
    wrong = sum(D[i] for i in range(len(y)) if h[i] != y[i])
    return right, wrong


def ratio_adacost(D, y, h, c):
    """(1 + r) / (1 - r), r = sum D y h beta."""
    n = len(y)
    plus = sum(D[i] * (1.0 + y[i] * h[i] * beta(y[i], h[i], c[i])) for i in range(n))
    minus = sum(D[i] * (1.0 - y[i] * h[i] * beta(y[i], h[i], c[i])) for i in range(n))
    return plus, minus


def beta(y, h, c):
    """AdaCost's adjustment of one row."""
    return 0.5 - 0.5 * c if h == y else 0.5 + 0.5 * c


def ratio_adac1(D, y, h, c):
    """(1 + A) / (1 - A), A = (sum of cD over the right rows) - (over the wrong rows)."""
    n = len(y)
    plus = sum(D[i] * (1.0 + c[i]) if h[i] == y[i] else D[i] * (1.0 - c[i]) for i in range(n))
    minus = sum(D[i] * (1.0 - c[i]) if h[i] == y[i] else D[i] * (1.0 + c[i]) for i in range(n))
    return plus, minus


def ratio_adac2(D, y, h, c):
    """(sum of cD over the right rows) / (over the wrong rows)."""
    right = sum(c[i] * D[i] for i in range(len(y)) if h[i] == y[i])
    wrong = sum(c[i] * D[i] for i in range(len(y)) if h[i] != y[i])
    return right, wrong


def ratio_adac3(D, y, h, c):
    """(sum cD + B) / (sum cD - B), B = (sum of c^2 D over right) - (over wrong)."""
    costly = [c[i] * D[i] for i in range(len(y))]
    return ratio_adac1(costly, y, h, c)


def ratio_asyb(D, y, h, c):
    """(C1 TP + C2 TN) / (C1 FN + C2 FP) in D-masses; row by row the ratio of AdaC2."""
    right = sum(c[i] * D[i] for i in range(len(y)) if h[i] == y[i])
    wrong = sum(c[i] * D[i] for i in range(len(y)) if h[i] != y[i])
    return right, wrong


RATIOS = {
    "AdaCost": ratio_adacost,
    "AdaC1": ratio_adac1,
    "AdaC2": ratio_adac2,
    "AdaC3": ratio_adac3,
    "AsyB": ratio_asyb,
}


# --- the factor by which a row's weight changes ---------------------------------------------


def factor(name, alpha, y, h, c):
    """Return what the weight of one row is multiplied by after the round."""
    kappa = 1.0 if h == y else c
    if name in ("AdaBoost", "AdaBoostC", "AsymmetricAdaBoost", "AsyB"):
        return math.exp(-alpha * y * h)
    if name == "AdaCost":
        return math.exp(-alpha * y * h * beta(y, h, c))
    if name == "CSB0":
        return kappa
    if name == "CSB1":
        return kappa * math.exp(-y * h)
    if name == "CSB2":
        return kappa * math.exp(-alpha * y * h)
    if name == "AdaC1":
        return math.exp(-alpha * c * y * h)
    if name == "AdaC2":
        return c * math.exp(-alpha * y * h)
    if name == "AdaC3":
        return c * math.exp(-alpha * c * y * h)
    raise ValueError(f"unknown algorithm {name!r}")


def half_log_ratio(numerator, denominator):
    """Return (alpha, perfect); a numerator that is not positive gives -inf, a bare 0/0 a NaN."""
    if denominator <= 0:
        return (PERFECT, True) if numerator > 0 else (math.nan, False)
    if numerator <= 0:
        return -math.inf, False
    return 0.5 * math.log(numerator / denominator), False


# --- the loop -------------------------------------------------------------------------------


def run(
    name,
    X,
    y,
    c,
    *,
    rounds,
    make_learner,
    init=None,
    sample_weight=None,
    objective="adaboost",
    floor=0.0,
    cost_scale="paper",
):
    """Boost by the named algorithm and return the `Trace`.

    ``name`` is one of `NAMES`, or ``"GradientCSB"`` with ``objective`` one of `OBJECTIVES` or a
    triple of arrays ``(w0, a, b)``. ``make_learner()`` gives a fresh classifier with
    ``fit(X, y, sample_weight=...)`` and ``predict(X)`` in {-1, +1}.

    A vote of ``floor`` or below counts as useless. Above 0 it settles what rounding would decide:
    AsyB often finds the rule of the round before, whose second vote is 0 in exact arithmetic.
    """
    X = np.asarray(X, dtype=float)
    y = np.asarray(y)
    if name == "GradientCSB":
        return run_gradient_csb(
            X, y, c, rounds, make_learner, init, sample_weight, objective, floor
        )
    if name not in DEFAULT_INIT:
        raise ValueError(f"unknown algorithm {name!r}")
    n = len(y)
    trace = Trace()
    D = initial_weights(init or DEFAULT_INIT[name], y, np.asarray(c, float), sample_weight)
    c = scaled_costs(name, c, cost_scale)
    for _ in range(rounds):
        if name == "AsymmetricAdaBoost":
            # (C1/C2)^(y/2T) is C1^(1/T) on positives and C2^(1/T) on negatives, up to a constant.
            D = normalised([D[i] * c[i] ** (1.0 / rounds) for i in range(n)])
        rule = make_learner().fit(X, y, sample_weight=D.copy())
        h = rule.predict(X)
        alpha, perfect = half_log_ratio(*RATIOS.get(name, ratio_adaboost)(D, y, h, c))
        if not alpha > floor:
            trace.stopped = "useless"
            break
        trace.keep(alpha, rule, h, D)
        if perfect:
            trace.stopped = "perfect"
            break
        D = normalised([D[i] * factor(name, alpha, y[i], h[i], c[i]) for i in range(n)])
    return trace


# --- gradient cost-sensitive boosting -------------------------------------------------------


def objective_parts(objective, y, c, init, sample_weight):
    """Return (w0, a, b) of `sum w0 exp(-sum_t alpha_t (a f_t + b))`, w0 summing to 1."""
    n = len(y)
    if not isinstance(objective, str):
        w0, a, b = (np.asarray(part, dtype=float) for part in objective)
        if init is not None:
            raise ValueError("init and an own w0 exclude each other")
        s = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        return normalised(w0 * s), a, b
    default = "cost" if objective == "adacost" else "uniform"
    w0 = initial_weights(init or default, y, np.asarray(c, float), sample_weight)
    c = scaled_costs(objective, c)
    a, b = np.empty(n), np.zeros(n)
    for i in range(n):
        if objective == "adaboost":
            a[i] = y[i]
        elif objective == "adacost":
            a[i], b[i] = 0.5 * y[i], -0.5 * c[i]
        elif objective in ("adac1", "asymboost"):
            a[i] = c[i] * y[i]
        else:
            raise ValueError(f"unknown objective {objective!r}")
    return w0, a, b


def line_search(w, m, largest):
    """Return (alpha, perfect), alpha minimising the convex `sum w exp(-alpha m)`.

    The derivative is `-sum w m exp(-alpha m)`. Its root is sought after a multiplication by
    exp(alpha min m), positive, which keeps every exponential below 1. Without a negative m the
    sum falls for ever: alpha is then that of a perfect rule, divided by ``largest``.
    """
    w, m = np.asarray(w, dtype=float), np.asarray(m, dtype=float)
    w, m = w[w > 0], m[w > 0]
    if not np.sum(w * m) > 0:
        return 0.0, False
    if m.min() >= 0:
        return PERFECT / largest, True
    lowest = m.min()

    def slope(alpha):
        return -float(np.sum(w * m * np.exp(-alpha * (m - lowest))))

    upper = 1.0
    while slope(upper) <= 0:
        upper *= 2.0
    return float(brentq(slope, 0.0, upper, xtol=1e-14, maxiter=1000)), False


def run_gradient_csb(X, y, c, rounds, make_learner, init, sample_weight, objective, floor):
    """Boost along pseudo-labels sign(a), weights |w a|, alpha by line search."""
    n = len(y)
    trace = Trace()
    w, a, b = objective_parts(objective, y, c, init, sample_weight)
    value = 1.0  # of the objective, w0 summing to 1
    pseudo = np.where(a >= 0, 1, -1)
    for _ in range(rounds):
        pull = np.abs(w * a)
        if not pull.sum() > 0:
            trace.stopped = "useless"
            break
        D = normalised(pull)
        rule = make_learner().fit(X, pseudo, sample_weight=D.copy())
        f = rule.predict(X)
        m = np.array([a[i] * f[i] + b[i] for i in range(n)])
        alpha, perfect = line_search(w, m, np.abs(a).max())
        if not alpha > floor:
            trace.stopped = "useless"
            break
        trace.keep(alpha, rule, f, D)
        w = np.array([w[i] * math.exp(-alpha * m[i]) for i in range(n)])
        value *= w.sum()
        trace.losses.append(float(value))
        if perfect:
            trace.stopped = "perfect"
            break
        w = normalised(w)
    return trace


# --- using traces ---------------------------------------------------------------------------


def score(trace, X):
    """Return sum alpha h on any rows."""
    return np.zeros(len(X)) + trace.score(X)


class Fixed:
    """A weak rule whose outputs on the training rows are given."""

    def __init__(self, h):
        self.h = np.asarray(h)

    def fit(self, X, y, sample_weight=None):
        return self

    def predict(self, X):
        return self.h


def replay(outputs):
    """Return a ``make_learner`` that hands out the given outputs in turn, (rounds, n).

    With it `run` computes the votes that the equations give to somebody else's rules, free of
    ties between equally good rules.
    """
    turn = iter(outputs)
    return lambda: Fixed(next(turn))


# --- worked by hand -------------------------------------------------------------------------


@dataclass(frozen=True)
class Worked:
    """Two rounds on five rows: x = 1..5, y = - + - + +, C1 = 2, C2 = 1.

    The weak learner is a scikit-learn stump (Gini). It finds one of two rules,
    A: + iff x > 1.5, wrong on row 3 only, or B: + iff x > 3.5, wrong on row 2 only.
    ``D`` are the weights before each round, up to normalisation.
    """

    rules: str
    D: tuple[tuple[float, ...], ...]
    alphas: tuple[float, ...]
    stopped: str = "rounds"

    X = np.array([[1.0], [2.0], [3.0], [4.0], [5.0]])
    y = np.array([-1, 1, -1, 1, 1])
    c = np.array([1.0, 2.0, 1.0, 2.0, 2.0])
    outputs = {  # noqa: RUF012 (read only)
        "A": np.array([-1, 1, 1, 1, 1]),
        "B": np.array([-1, -1, -1, 1, 1]),
    }

    @property
    def F(self):
        """The scores after the last round."""
        pairs = zip(self.alphas, self.rules, strict=True)
        return sum((a * self.outputs[r] for a, r in pairs), np.zeros(5))


def _ln(x):
    return math.log(x)


_r2, _e2 = math.sqrt(2.0), math.exp(2.0)

# AdaC1, AdaC3: a row of cost 1 (2 before scaling) is multiplied by q^(-1/2) when right and
# q^(1/2) when wrong, a row of cost 1/2 by q^(-1/4) when right, q being e^(2 alpha_1).
_q1, _q3 = 7 / 3, 11 / 5
_S1 = _q1**0.5 + 2 * _q1**-0.5
_S3 = _q3**0.5 + 2 * _q3**-0.5

# The real root of u^4 - 5u - 2, by Newton's steps from 1.8:
# 1.8 -> 1.827412 -> 1.826651 -> 1.8266508
_u = max(r.real for r in np.roots([1, 0, 0, -5, -2]) if abs(r.imag) < 1e-12)

WORKED = {
    # Papers 2 and 5. Uniform; one error either way, and Gini prefers B (impurity 4/3 to 3/2):
    # eps = 1/5, alpha = 1/2 ln 4. Row 2 then has weight 4 to 1: A, eps = 1/8.
    "AdaBoost": Worked("BA", ((1, 1, 1, 1, 1), (1, 4, 1, 1, 1)), (_ln(4) / 2, _ln(7) / 2)),
    # D = c: A, eps = 1/8, alpha = 1/2 ln 7; row 3 grows 7 times: B, eps = 2/14.
    "AdaBoostC": Worked("AB", ((1, 2, 1, 2, 2), (1, 2, 7, 2, 2)), (_ln(7) / 2, _ln(6) / 2)),
    # c = 1 on positives, 1/2 on negatives; A: right positives have beta 0, row 1 has 1/4, row 3
    # has 3/4; r = (1/4 - 3/4)/8 < 0. Nothing is kept.
    "AdaCost": Worked("", (), (), "useless"),
    # Row 3 has cost 1, so kappa changes nothing and A comes again with the same eps = 1/8.
    "CSB0": Worked("AA", ((1, 2, 1, 2, 2), (1, 2, 1, 2, 2)), (_ln(7) / 2, _ln(7) / 2)),
    # Row 3 grows e^2 times against the rest: B, eps = 2/(7 + e^2).
    "CSB1": Worked(
        "AB", ((1, 2, 1, 2, 2), (1, 2, _e2, 2, 2)), (_ln(7) / 2, _ln((5 + _e2) / 2) / 2)
    ),
    # As AdaBoostC for two rounds, since the first error has kappa = 1.
    "CSB2": Worked("AB", ((1, 2, 1, 2, 2), (1, 2, 7, 2, 2)), (_ln(7) / 2, _ln(6) / 2)),
    # Uniform: B. A = (1/2 + 1/2 + 1 + 1 - 1)/5 = 2/5, q = (7/5)/(3/5) = 7/3. Then rule A: with
    # S = q^(1/2) + 2 q^(-1/2) the mass of the positives, (1+A)/(1-A) = (S + q^(-1/4))/q^(-1/4).
    "AdaC1": Worked(
        "BA",
        ((1, 1, 1, 1, 1), (_q1**-0.25, _q1**0.5, _q1**-0.25, _q1**-0.5, _q1**-0.5)),
        (_ln(_q1) / 2, _ln(1 + _S1 * _q1**0.25) / 2),
    ),
    # Uniform: B, right mass 1/2 + 1/2 + 1 + 1 = 3 to 1; D = c e^(-+alpha) = (1/2, 3, 1/2, 1, 1) by
    # sqrt 3, i.e. 1 6 1 2 2. Then A: right 1/2 + 6 + 2 + 2 = 21/2 to 1/2.
    "AdaC2": Worked("BA", ((1, 1, 1, 1, 1), (1, 6, 1, 2, 2)), (_ln(3) / 2, _ln(21) / 2)),
    # Uniform: B, sum cD = 4/5, B = (1/4 + 1/4 + 1 + 1 - 1)/5 = 3/10, q = (11/10)/(5/10) = 11/5.
    # Then A: sum cD = S + q^(-1/4)/2 and B = S (the two negatives cancel).
    "AdaC3": Worked(
        "BA",
        (
            (1, 1, 1, 1, 1),
            (_q3**-0.25 / 2, _q3**0.5, _q3**-0.25 / 2, _q3**-0.5, _q3**-0.5),
        ),
        (_ln(_q3) / 2, _ln(1 + 4 * _S3 * _q3**0.25) / 2),
    ),
    # T = 2: positives times sqrt 2 before each round. A, right 1 + 3 sqrt 2 to 1; row 3 grows by
    # that factor, positives by sqrt 2 again: B, right (1 + 1 + 3 sqrt 2 + 2 + 2) to 2.
    "AsymmetricAdaBoost": Worked(
        "AB",
        ((1, _r2, 1, _r2, _r2), (1, 2, 1 + 3 * _r2, 2, 2)),
        (_ln(1 + 3 * _r2) / 2, _ln((6 + 3 * _r2) / 2) / 2),
    ),
    # Paper 5. D = c: A, C1 TP = 2 (2+2+2), C2 TN = 1, C2 FP = 1 (eighths): alpha = 1/2 ln 13.
    # Row 3 grows 13 times: B, C1 TP = 2 (2+2), C2 TN = 1 + 13, C1 FN = 2 * 2: 1/2 ln(22/4).
    "AsyB": Worked("AB", ((1, 2, 1, 2, 2), (1, 2, 13, 2, 2)), (_ln(13) / 2, _ln(5.5) / 2)),
    # Paper 2, objective adaboost: the same as AdaBoost.
    "GradientCSB-adaboost": Worked(
        "BA", ((1, 1, 1, 1, 1), (1, 4, 1, 1, 1)), (_ln(4) / 2, _ln(7) / 2)
    ),
    # Paper 2, objective adacost: the slope at 0 is -r, r < 0 as in AdaCost.
    "GradientCSB-adacost": Worked("", (), (), "useless"),
    # Paper 2, objective adac1: a = c y = (-1/2, 1, -1/2, 1, 1), w0 = 1. The rule sees |w a| = c: A.
    # m = a f = (1/2, 1, -1/2, 1, 1); G = e^(-alpha/2) + 3 e^(-alpha) + e^(alpha/2); with
    # u = e^(alpha/2), G' = 0 is u^3 - u - 6 = 0, u = 2, alpha = 2 ln 2.
    # w = (1/2, 1/4, 2, 1/4, 1/4), i.e. 2 1 8 1 1; |w a| = 1 1 4 1 1: B. m = (1/2, -1, 1/2, 1, 1),
    # G = 10 e^(-alpha/2) + e^alpha + 2 e^(-alpha), G' = 0 is u^4 - 5u - 2 = 0, u = 1.8266508
    "GradientCSB-adac1": Worked(
        "AB", ((1, 2, 1, 2, 2), (1, 1, 4, 1, 1)), (2 * _ln(2), 2 * _ln(_u))
    ),
    # Paper 2, objective asymboost: the costs are 2 and 1 instead of 1 and 1/2, so alpha halves.
    "GradientCSB-asymboost": Worked("AB", ((1, 2, 1, 2, 2), (1, 1, 4, 1, 1)), (_ln(2), _ln(_u))),
}

"""SAMME.C2, row by row.

::

    D = 1/n (times the sample weights, normalised)
    repeat: fit h, one of k classes, to D
            eps = sum of D over the wrong rows
            alpha = ln((1 - eps) / eps) + ln(k - 1)
            F[x, y] += alpha [h(x) = y]
            D *= c exp(-alpha [h = y]), c = the row's cost over the largest; normalise
"""

from __future__ import annotations

import math

import numpy as np

from reference import PERFECT, Trace, initial_weights, normalised

NAME = "SAMMEC2"
FAMILY = "classes"
INIT = "uniform"


def run(X, y, c, k, *, rounds, make_learner, init=None, sample_weight=None):
    """Boost and return the `Trace`; its h and F are (n, k)."""
    X, y, c = np.asarray(X, dtype=float), np.asarray(y), np.asarray(c, dtype=float)
    n = len(y)
    trace = Trace()
    D = initial_weights(init or INIT, y, c, sample_weight)
    F = np.zeros((n, k))
    for _ in range(rounds):
        rule = make_learner().fit(X, y, sample_weight=D.copy())
        named = rule.predict(X)
        eps = sum(D[i] for i in range(n) if named[i] != y[i])
        right = sum(D[i] for i in range(n) if named[i] == y[i])
        perfect = eps == 0
        alpha = 2 * PERFECT if perfect else math.log(right / eps) if right > 0 else -math.inf
        alpha += math.log(k - 1)
        if not alpha > 1e-12:
            trace.stopped = "useless"
            break
        h = np.array([[1.0 if named[i] == j else 0.0 for j in range(k)] for i in range(n)])
        F = F + alpha * h
        trace.alphas.append(alpha)
        trace.rules.append(rule)
        trace.h.append(h)
        trace.D.append(D)
        trace.F.append(F)
        if perfect:
            trace.stopped = "perfect"
            break
        factors = [math.exp(-alpha) if named[i] == y[i] else 1.0 for i in range(n)]
        D = normalised([c[i] / c.max() * D[i] * factors[i] for i in range(n)])
    return trace


def score(trace, X, k):
    """Return the votes of each class on any rows."""
    F = np.zeros((len(X), k))
    for alpha, rule in zip(trace.alphas, trace.rules, strict=True):
        for i, named in enumerate(rule.predict(X)):
            F[i, int(named)] += alpha
    return F

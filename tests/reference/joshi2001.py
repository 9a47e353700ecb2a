"""RareBoost-1, row by row: a vote for the rows called positive, another for the rest.

::

    D = initial weights, normalised
    repeat: fit h to D
            alpha+ = 1/2 ln(TP / FP), alpha- = 1/2 ln(TN / FN), in D-masses
            F += alpha+ where h = +1, -alpha- where h = -1
            D *= exp(-alpha y h) with the alpha of the predicted sign; normalise

A side that is empty has the vote 0, a side without mistakes that of a perfect rule. A negative vote
ends the boosting.
"""

from __future__ import annotations

import math

import numpy as np

from reference import PERFECT, Trace, initial_weights, normalised

NAME = "RareBoost"
FAMILY = "votes"
INIT = "cost"


def vote(D, y, h, sign, floor):
    """Return the vote of the rows with h = sign."""
    said = [i for i in range(len(y)) if h[i] == sign]
    right = sum(D[i] for i in said if y[i] == sign)
    wrong = sum(D[i] for i in said if y[i] != sign)
    if right + wrong == 0:
        return 0.0
    if wrong == 0:
        return PERFECT
    if right == 0:
        return -math.inf
    alpha = 0.5 * math.log(right / wrong)
    return 0.0 if abs(alpha) <= floor else alpha


def run(X, y, c, *, rounds, make_learner, init=None, sample_weight=None, floor=0.0):
    """Boost and return the `Trace`; its alphas are pairs (alpha-, alpha+)."""
    X, y = np.asarray(X, dtype=float), np.asarray(y)
    n = len(y)
    trace = Trace()
    D = initial_weights(init or INIT, y, np.asarray(c, dtype=float), sample_weight)
    for _ in range(rounds):
        rule = make_learner().fit(X, y, sample_weight=D.copy())
        h = rule.predict(X)
        alpha = vote(D, y, h, -1, floor), vote(D, y, h, 1, floor)
        if min(alpha) < 0 or max(alpha) == 0:
            trace.stopped = "useless"
            break
        trace.keep(alpha, rule, h, D)
        if all(h[i] == y[i] for i in range(n) if D[i] > 0):
            trace.stopped = "perfect"
            break
        D = normalised([D[i] * math.exp(-alpha[int(h[i] > 0)] * y[i] * h[i]) for i in range(n)])
    return trace

"""Plain, slow implementations of the binary algorithms, to hold the library against.

They are written row by row from the equations and share no code with the library, so that an
error would have to be made twice to go unseen.

Throughout, ``y`` is in {-1, +1} and ``c`` (n,) is what an error on the row costs.

``votes``    the vote-based algorithms and gradient cost-sensitive boosting
``descent``  CS-AdaBoost, CS-RealBoost, CS-LogitBoost, AsyBL
``losses``   the four binary losses, one row at a time
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np

__all__ = ["PERFECT", "Trace", "decide", "initial_weights", "normalised"]

# The vote of a rule that makes no error, whose equations ask for infinity.
PERFECT = 0.5 * math.log(1.0 / np.finfo(float).eps)


@dataclass
class Trace:
    """What happened, one entry per round that was kept.

    ``alphas``  the votes (1.0 where the algorithm has none: its rules are real-valued)
    ``rules``   the weak rules
    ``h``       their outputs on the training rows, (n,)
    ``D``       the weights that the rule was fitted to, summing to 1, (n,)
    ``F``       the score of the training rows after the round, (n,)
    ``losses``  the training objective after the round (loss-based algorithms only)
    ``stopped`` "rounds" (all were run), "useless" (a vote not above 0, its rule dropped),
                or "perfect" (a rule without error, kept as the last one)
    """

    alphas: list[float] = field(default_factory=list)
    rules: list[Any] = field(default_factory=list)
    h: list[np.ndarray] = field(default_factory=list)
    D: list[np.ndarray] = field(default_factory=list)
    F: list[np.ndarray] = field(default_factory=list)
    losses: list[float] = field(default_factory=list)
    stopped: str = "rounds"

    def keep(self, alpha, rule, h, D, step=1.0):
        """Append a round; the score moves by ``step * alpha * h``."""
        last = self.F[-1] if self.F else np.zeros(len(h))
        self.alphas.append(float(alpha))
        self.rules.append(rule)
        self.h.append(np.array(h, dtype=float))
        self.D.append(np.array(D, dtype=float))
        self.F.append(last + step * alpha * np.asarray(h, dtype=float))


def decide(F):
    """Return the sign of the score, a tie going to the positive class."""
    return np.where(np.asarray(F) >= 0, 1, -1)


def normalised(weights):
    """Return the weights divided by their sum."""
    weights = np.asarray(weights, dtype=float)
    return weights / weights.sum()


def initial_weights(init, y, c, sample_weight=None):
    """Return the first D: ``init`` times ``sample_weight``, summing to 1.

    ``uniform``   every row 1
    ``cost``      every row its cost
    ``balanced``  1/(2 |I|), |I| being the (sample-weighted) number of rows of the class
    """
    n = len(y)
    s = np.ones(n) if sample_weight is None else np.asarray(sample_weight, dtype=float)
    w = np.empty(n)
    for i in range(n):
        if init == "uniform":
            w[i] = s[i]
        elif init == "cost":
            w[i] = c[i] * s[i]
        elif init == "balanced":
            of_class = sum(s[j] for j in range(n) if y[j] == y[i])
            w[i] = s[i] / (2.0 * of_class) if of_class > 0 else 0.0
        else:
            raise ValueError(f"unknown init {init!r}")
    return normalised(w)

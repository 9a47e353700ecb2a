"""Plain, slow implementations of the binary algorithms, to hold the library against.

They are written row by row from the equations and share no code with the library, so that an
error would have to be made twice to go unseen.

Throughout, ``y`` is in {-1, +1} and ``c`` (n,) is what an error on the row costs.

``votes``    the vote-based algorithms and gradient cost-sensitive boosting
``descent``  CS-AdaBoost, CS-RealBoost, CS-LogitBoost, AsyBL
``losses``   the four binary losses, one row at a time
"""

from __future__ import annotations

import importlib
import math
import pkgutil
from dataclasses import dataclass, field
from typing import Any

import numpy as np

__all__ = ["PERFECT", "Trace", "decide", "initial_weights", "normalised", "own_files", "share"]

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
        """Append a round; the score moves by ``step`` times the rule's `share`."""
        last = self.F[-1] if self.F else np.zeros(len(h))
        self.alphas.append(alpha)
        self.rules.append(rule)
        self.h.append(np.array(h, dtype=float))
        self.D.append(np.array(D, dtype=float))
        self.F.append(last + step * share(alpha, h))

    def score(self, X):
        """Return the score of any rows."""
        return sum(
            share(a, rule.predict(X)) for a, rule in zip(self.alphas, self.rules, strict=True)
        )


def share(alpha, h):
    """Return alpha h; of a pair (alpha-, alpha+), the vote of the predicted sign."""
    h = np.asarray(h, dtype=float)
    if isinstance(alpha, tuple):
        return np.array([alpha[1] * o if o > 0 else alpha[0] * o for o in h])
    return alpha * h


def own_files():
    """Return the references that have a file of their own, by the name of the algorithm.

    Such a module says ``NAME`` (the class without "Classifier"), ``FAMILY`` ("votes": y in
    {-1, +1} and a cost per row, or "classes": class codes and a cost per row), ``INIT`` (the first
    weights) and ``run``, which returns a `Trace`.
    """
    names = [found.name for found in pkgutil.iter_modules(__path__) if found.name[:5] != "test_"]
    modules = [importlib.import_module(f"{__name__}.{name}") for name in names]
    return {module.NAME: module for module in modules if hasattr(module, "NAME")}


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

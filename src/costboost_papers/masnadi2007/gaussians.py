"""Two Gaussians on a line, where the best decision is known: what Figures 2 and 3 share."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.stats import norm

from costboost._typing import Bools, Floats
from costboost.datasets import bayes_threshold
from costboost_papers.masnadi2007.methods import classifier
from costboost_papers.protocol import quiet

__all__ = ["DATA", "GRID", "cost_ratio", "crossing", "scores"]

DATA = "gaussians"
EDGE = 4.0
GRID = np.linspace(-EDGE, EDGE, 4001)
# Masses of both classes in the cells around the points of the grid; the outer cells have no end.
_CELLS = np.concatenate([[-np.inf], (GRID[1:] + GRID[:-1]) / 2.0, [np.inf]])
_POSITIVE, _NEGATIVE = (np.diff(norm.cdf(_CELLS, loc=mean)) for mean in (1.0, -1.0))


def crossing(positive: Bools) -> float:
    """Threshold of the rule "+1 from x* on" that agrees best with the decisions."""
    # For a score with one change of sign from - to + this is its zero crossing. Wiggles in the
    # tails hardly move it, and a change from + to - is not taken for one.
    mass = _POSITIVE + _NEGATIVE
    flagged_below = np.concatenate([[0.0], np.cumsum(mass * positive)])
    passed_above = np.concatenate([np.cumsum((mass * ~positive)[::-1])[::-1], [0.0]])
    best = int(np.argmin(flagged_below + passed_above))
    return float(np.clip(_CELLS[best], -EDGE, EDGE))


def cost_ratio(positive: Bools, C1: float) -> float:
    """Expected cost of decisions, in units of the cost of the best ones."""
    paid = C1 * _POSITIVE[~positive].sum() + _NEGATIVE[positive].sum()
    best = bayes_threshold(C1)
    return float(paid / (C1 * norm.cdf(best - 1.0) + norm.sf(best + 1.0)))


def scores(algorithm: str, C1: float, rounds: int, X: Floats, y: Any) -> Floats:
    """Scores on the grid by round, (rounds, 4001); a boosting that ended keeps its last one."""
    with quiet():
        fitted = classifier(algorithm, C1, rounds).fit(X, y)
    staged = np.array(list(fitted.staged_decision_function(GRID[:, None])))
    return staged[np.minimum(np.arange(rounds), len(staged) - 1)]

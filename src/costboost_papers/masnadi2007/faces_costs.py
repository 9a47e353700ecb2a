"""Figure 4: what detectors cost on test windows, over all thresholds and over resampled windows.

Both classes count as if they had as many windows as there are faces: a false alarm weighs the share
faces / others. Costs are then those of a test with equal class sizes, as the paper has it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state

from costboost._typing import AnyArray, Floats
from costboost_papers.protocol import holdout

__all__ = ["cost_at", "halves_costs", "least_costs", "resamples"]


class Sweep(NamedTuple):
    """A detector on some windows at every threshold, from the highest down, by set of weights."""

    thresholds: Floats  # (m,) flagged is what scores at least this
    false_alarms: Floats  # (sets, m)
    misses: Floats  # (sets, m)

    def costs(self, factor: float) -> Floats:
        """False alarms + factor x misses, (sets, m)."""
        return np.asarray(self.false_alarms + factor * self.misses)

    def at(self, thresholds: Floats, factor: float) -> Floats:
        """The cost of every set at a threshold of its own, (sets,)."""
        # Thresholds fall: the last one that is not below the wanted one flags the same windows.
        places = np.searchsorted(-self.thresholds, -thresholds, side="right") - 1
        rows = np.arange(len(thresholds))
        return np.asarray(self.false_alarms[rows, places] + factor * self.misses[rows, places])


def _sweep(face: AnyArray, scores: Floats, weights: Floats) -> Sweep:
    """All thresholds that decide differently; ``weights`` is (sets, n)."""
    order = np.argsort(-scores, kind="stable")
    values, faces = scores[order], face[order]
    last = np.flatnonzero(np.append(values[1:] != values[:-1], True))  # of equal scores
    ordered = weights[:, order]
    start = np.zeros((len(weights), 1))
    flagged = np.cumsum(np.where(faces, ordered, 0.0), axis=1)
    alarms = np.cumsum(np.where(faces, 0.0, ordered), axis=1)
    misses = flagged[:, -1:] - np.concatenate([start, flagged[:, last]], axis=1)
    below = np.append(values[last][1:], -np.inf)
    middles = np.where(np.isinf(below), -np.inf, 0.5 * (values[last] + below))
    return Sweep(
        np.concatenate([[np.inf], middles]),
        np.concatenate([start, alarms[:, last]], axis=1),
        np.maximum(misses, 0.0),
    )


def resamples(truth: ArrayLike, n: int, seed: int) -> Floats:
    """Weights of the windows, (1 + n, rows): once as they are, then drawn with replacement."""
    # Every class is drawn on its own. False alarms weigh the share faces / others.
    face = np.asarray(truth) == 1
    rng = check_random_state(seed)
    weights = np.ones((1 + n, len(face)))
    for rows in (np.flatnonzero(face), np.flatnonzero(~face)):
        for row in weights[1:]:
            row[rows] = np.bincount(rng.randint(len(rows), size=len(rows)), minlength=len(rows))
    weights[:, ~face] *= face.sum() / max((~face).sum(), 1)
    return weights


def cost_at(truth: ArrayLike, scores: ArrayLike, factor: float, threshold: float = 0.0) -> float:
    """The cost of ``scores >= threshold``, with equal class sizes."""
    face, flagged = np.asarray(truth) == 1, np.asarray(scores) >= threshold
    weight = face.sum() / max((~face).sum(), 1)
    return float((flagged & ~face).sum() * weight + factor * (~flagged & face).sum())


def least_costs(truth: ArrayLike, scores: ArrayLike, factors: ArrayLike, weights: Floats) -> Floats:
    """The least cost over all thresholds and detectors, (factors, sets)."""
    # It sees the windows it is measured on.
    face = np.asarray(truth) == 1
    least = np.full((len(np.asarray(factors)), len(weights)), np.inf)
    for row in np.asarray(scores):
        sweep = _sweep(face, row, weights)
        for k, factor in enumerate(np.asarray(factors)):
            least[k] = np.minimum(least[k], sweep.costs(factor).min(axis=1))
    return least


def halves_costs(
    truth: ArrayLike, scores: ArrayLike, factors: ArrayLike, weights: Floats, seed: int
) -> Floats:
    """Detector and threshold chosen on one half of the windows, tried on the other, both ways."""
    # Of several equally good thresholds the middle one is taken. Returns (factors, sets).
    face, table = np.asarray(truth) == 1, np.asarray(scores)
    wanted = np.asarray(factors)
    parts = holdout(np.asarray(truth), 0.5, seed)
    total = np.zeros((len(wanted), len(weights)))
    for choose, measure in (parts, parts[::-1]):
        least = np.full(total.shape, np.inf)
        found = np.zeros(total.shape)
        for row in table:
            here = _sweep(face[choose], row[choose], weights[:, choose])
            there = _sweep(face[measure], row[measure], weights[:, measure])
            for k, factor in enumerate(wanted):
                costs = here.costs(factor)
                lowest = costs.min(axis=1)
                ties = np.cumsum(costs <= lowest[:, None] + 1e-9, axis=1)
                middle = np.argmax(ties >= (ties[:, -1:] + 1) // 2, axis=1)
                better = lowest < least[k] - 1e-9
                least[k, better] = lowest[better]
                found[k, better] = there.at(here.thresholds[middle], factor)[better]
        total += found
    return total

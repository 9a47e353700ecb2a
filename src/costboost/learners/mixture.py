"""Averages of rules: H_t = (1 - α_t) H_{t-1} + α_t h_t, from the uniform H_0."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import TypeAlias

import numpy as np

from costboost._typing import AnyArray, Floats
from costboost.learners.base import Ensemble

__all__ = ["Mixture", "Shape", "mixture_weights", "stochastic"]

# What is averaged in place of the rule's own outputs, (n, k) -> (n, k).
Shape: TypeAlias = Callable[[Floats], Floats]

# Rows whose rules are evaluated at a time where every rule has to be seen.
_BLOCK = 10_000


def stochastic(h: Floats) -> Floats:
    """A relation in {0, 1} as a distribution: shared by the classes it claims, else uniform."""
    claimed = h.sum(axis=1, keepdims=True)
    return np.asarray(np.where(claimed > 0, h / np.maximum(claimed, 1.0), 1.0 / h.shape[1]))


def mixture_weights(alphas: Floats) -> tuple[float, Floats]:
    """Weights of H_0 and of each h_t in H_T, where H_t = (1 - α_t) H_{t-1} + α_t h_t."""
    kept = np.append(np.cumprod((1.0 - alphas)[::-1])[::-1], 1.0)
    return float(kept[0]), alphas * kept[1:]


class Mixture(Ensemble):
    """An average of rules with (n, k) outputs."""

    def __init__(self, parts: Ensemble, alphas: Floats, k: int, shape: Shape | None = None) -> None:
        super().__init__(parts.rules, alphas)
        self.parts = parts
        self._start = mixture_weights(alphas)[0] / k
        self._k = k
        self._shape = shape

    def outputs(self, X: AnyArray) -> Iterator[Floats]:
        """What each round averages in, (n, k) each."""
        for h in self.parts.outputs(X):
            yield h if self._shape is None else self._shape(h)

    def staged(self, X: AnyArray) -> Iterator[Floats]:
        """H after each round, (n, k) each."""
        H = np.full((X.shape[0], self._k), 1.0 / self._k)
        for alpha, h in zip(self.votes, self.outputs(X), strict=True):
            H = (1.0 - alpha) * H + alpha * h
            yield H

    def decision_function(self, X: AnyArray) -> Floats:
        """H after the last round, (n, k)."""
        if self._shape is None:
            return np.asarray(self._start + self.parts.decision_function(X))
        H = np.full((X.shape[0], self._k), self._start)
        for start in range(0, len(H), _BLOCK):
            rows = slice(start, start + _BLOCK)
            for weight, h in zip(self.parts.votes, self.outputs(X[rows]), strict=True):
                H[rows] += weight * h
        return H

    def importances(self, n_features: int) -> Floats:
        """How much each feature is used, (d,)."""
        return self.parts.importances(n_features)

"""One weak learner for several score coordinates: rounds take the coordinates in turn."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

from costboost._typing import AnyArray, Floats, Ints
from costboost.learners.base import Aim, BoundLearner, Ensemble, Fitted

__all__ = ["BoundCoordinates", "CoordinateEnsemble", "ProjectedEnsemble"]


class PlacedRule(NamedTuple):
    """A rule, the coordinate it adds to and the round it belongs to."""

    coordinate: int
    round: int
    rule: Any


class BoundCoordinates(BoundLearner):
    """Learners that share the binned rows, one per coordinate."""

    def __init__(self, first: BoundLearner, n_coordinates: int) -> None:
        self._learners = [first] + [first.sibling() for _ in range(n_coordinates - 1)]
        # What the next rule is for; the scheme sets both.
        self.coordinate = 0
        self.round = 0

    def fit(self, aim: Aim, seed: int) -> Fitted:
        """The rule for the current coordinate."""
        rule, outputs = self._learners[self.coordinate].fit(aim, seed)
        return Fitted(PlacedRule(self.coordinate, self.round, rule), outputs)

    def ensemble(self, rules: Sequence[Any], votes: Floats) -> CoordinateEnsemble:
        """The finished predictor of (n, coordinates) scores."""
        coordinates = np.array([placed.coordinate for placed in rules], dtype=np.intp)
        parts = []
        for r, learner in enumerate(self._learners):
            mine = np.flatnonzero(coordinates == r).tolist()
            parts.append(learner.ensemble([rules[t].rule for t in mine], votes[mine]))
        rounds = np.array([placed.round for placed in rules], dtype=np.intp)
        return CoordinateEnsemble(parts, coordinates, rounds, votes)


class CoordinateEnsemble(Ensemble):
    """A vector of sums, one per coordinate."""

    def __init__(
        self, parts: Sequence[Ensemble], coordinates: Ints, rounds: Ints, votes: Floats
    ) -> None:
        supplies = [iter(part.rules) for part in parts]
        super().__init__([next(supplies[r]) for r in coordinates], votes)
        self.parts, self.coordinates = list(parts), coordinates
        self._rounds = rounds

    @property
    def round_ends(self) -> Ints:
        """The last step of every round, (rounds,)."""
        return np.flatnonzero(np.diff(self._rounds, append=self._rounds[-1:] + 1))

    def staged(self, X: AnyArray) -> Iterator[Floats]:
        """The scores after each step, (n, coordinates) each."""
        F = np.zeros((X.shape[0], len(self.parts)))
        supplies = [part.staged(X) if part.rules else iter(()) for part in self.parts]
        for r in self.coordinates:
            F = F.copy()
            F[:, r] = next(supplies[r])
            yield F

    def decision_function(self, X: AnyArray) -> Floats:
        """The scores after the last step, (n, coordinates)."""
        return np.column_stack(
            [p.decision_function(X) if p.rules else np.zeros(X.shape[0]) for p in self.parts]
        )


class ProjectedEnsemble(Ensemble):
    """Coordinates turned into scores, f @ directions, (n, k); stages are whole rounds."""

    def __init__(self, inner: CoordinateEnsemble, directions: Floats) -> None:
        super().__init__(inner.rules, inner.votes)
        self.inner = inner
        self._directions = directions  # (coordinates, k)

    @property
    def round_ends(self) -> Ints:
        """The last step of every round, (rounds,)."""
        return self.inner.round_ends

    def staged(self, X: AnyArray) -> Iterator[Floats]:
        """The scores after each round, (n, k) each."""
        ends = set(self.round_ends.tolist())
        for t, f in enumerate(self.inner.staged(X)):
            if t in ends:
                yield f @ self._directions

    def decision_function(self, X: AnyArray) -> Floats:
        """The scores after the last round, (n, k)."""
        return np.asarray(self.inner.decision_function(X) @ self._directions)

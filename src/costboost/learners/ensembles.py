"""Weak rules of several scores: a rule per class, coordinates in turn, averages of rules."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

from costboost._typing import AnyArray, Floats, Ints
from costboost.learners.base import (
    MAX_CLASSES,
    Aim,
    ConstantRule,
    Ensemble,
    Fitted,
    Learner,
    Rows,
)

# What is averaged in place of the rule's own outputs, (n, k) -> (n, k).
Shape: TypeAlias = Callable[[Floats], Floats]

# Rows whose rules are evaluated at a time where every rule has to be seen.
_BLOCK = 10_000


class Siblings(Learner):
    """Copies of a learner on the same binned rows, one for each of several scores."""

    def __init__(self, learner: Learner, n_scores: int) -> None:
        self._learner, self._n_scores = learner, n_scores

    def prepare(self, rows: Rows) -> None:
        """Bind the first learner; the others share its rows."""
        first = self._learner.bind(rows)
        self._learners = [first] + [first.sibling() for _ in range(self._n_scores - 1)]


# -- relations h(x, y): one rule per class, learned from the pairs of that class ------------------
# A relation is grown with the class at its root: k rules on the same n binned rows, so the expanded
# set of n·k pairs never exists. The printed alternative is one tree over all pairs, a learner with
# ``learns_relations``. A rule per class is not only simpler. The weights that p-norm boosting and
# AdaBoost.M2 give to the pairs of a row sum to zero (the right class against all wrong ones), so
# before the class is known no split on a feature gains anything: a greedy learner that treats the
# class as one more feature does not even start on balanced classes with equal costs.


def claims(outputs: Floats) -> Floats:
    """A relation h in {0, 1} from outputs in {-1, +1}."""
    return 0.5 + 0.5 * outputs


@dataclass(frozen=True)
class RelationalRule:
    """One rule per class."""

    rules: tuple[Any, ...]

    def predict(self, X: AnyArray) -> Floats:
        """Return the relation h(x, y) in {0, 1} of every pair, (n, k)."""
        return claims(np.column_stack([rule.predict(X) for rule in self.rules]))

    def importances(self, n_features: int) -> Floats:
        """Return the mean over the classes, (d,)."""
        return np.asarray(np.mean([rule.importances(n_features) for rule in self.rules], axis=0))


class Pairs(Siblings):
    """A learner per class; aims and outputs are (n, k)."""

    # The learners vote in {-1, +1}; the outputs are the relation h(x, y) in {0, 1}.

    def fit(self, aim: Aim, seed: int) -> Fitted:
        """A rule for every class, with the relation on all pairs."""
        fits = []
        for y, learner in enumerate(self._learners):
            w = np.ascontiguousarray(aim.weights[:, y])
            if w.any():
                part = Aim(np.ascontiguousarray(aim.targets[:, y]), w, aim.criterion)
                fits.append(learner.fit(part, seed))
            else:  # no pair has weight: the class is not claimed
                fits.append(Fitted(ConstantRule(-1.0), np.full(len(w), -1.0)))
        outputs = claims(np.column_stack([fitted.outputs for fitted in fits]))
        return Fitted(RelationalRule(tuple(fitted.rule for fitted in fits)), outputs)

    def ensemble(self, rules: Sequence[Any], votes: Floats) -> PairEnsemble:
        """The finished predictor of (n, k) scores."""
        columns: Any = [() for _ in self._learners]
        if rules:
            columns = zip(*(rule.rules for rule in rules), strict=True)
        parts = zip(self._learners, columns, strict=True)
        return PairEnsemble([learner.ensemble(list(c), votes) for learner, c in parts], votes)


class PairEnsemble(Ensemble):
    """Σ α h(x, y) for every class y, h in {0, 1}."""

    def __init__(self, parts: Sequence[Ensemble], votes: Floats) -> None:
        rules = zip(*(part.rules for part in parts), strict=True)
        super().__init__([RelationalRule(rule) for rule in rules], votes)
        self.parts = list(parts)

    def outputs(self, X: AnyArray) -> Iterator[Floats]:
        """The relation of every round, (n, k) each."""
        for columns in zip(*(part.outputs(X) for part in self.parts), strict=True):
            yield claims(np.column_stack(columns))

    def decision_function(self, X: AnyArray) -> Floats:
        """The scores after the last round, (n, k)."""
        signed = np.column_stack([part.decision_function(X) for part in self.parts])
        return np.asarray(0.5 * (signed + self.votes.sum()))  # `claims`, summed


# -- coordinates: rounds take them in turn --------------------------------------------------------


class Coordinates(Siblings):
    """A learner per coordinate; an aim says which one it is for."""

    def fit(self, aim: Aim, seed: int) -> Fitted:
        """The rule for a coordinate."""
        return self._learners[aim.coordinate].fit(aim, seed)

    def projected(
        self, rules: Sequence[Any], votes: Floats, steps: Ints, directions: Floats
    ) -> CoordinateEnsemble:
        """The finished predictor of the scores f @ directions, (n, k), of steps (T, 2)."""
        coordinates, rounds = steps[: len(rules)].reshape(-1, 2).T.astype(np.intp)
        parts = []
        for r, learner in enumerate(self._learners):
            mine = np.flatnonzero(coordinates == r).tolist()
            parts.append(learner.ensemble([rules[t] for t in mine], votes[mine]))
        return CoordinateEnsemble(parts, coordinates, rounds, votes, directions)


class CoordinateEnsemble(Ensemble):
    """A sum f_r per coordinate, turned into scores f @ directions; stages are whole rounds."""

    def __init__(
        self,
        parts: Sequence[Ensemble],
        coordinates: Ints,
        rounds: Ints,
        votes: Floats,
        directions: Floats,
    ) -> None:
        supplies = [iter(part.rules) for part in parts]
        super().__init__([next(supplies[r]) for r in coordinates], votes)
        self.parts, self.coordinates = list(parts), coordinates
        self._rounds, self.directions = rounds, directions  # (coordinates, k)

    @property
    def round_ends(self) -> Ints:
        """The last step of every round, (rounds,)."""
        return np.flatnonzero(np.diff(self._rounds, append=self._rounds[-1:] + 1))

    def staged(self, X: AnyArray) -> Iterator[Floats]:
        """The scores after each round, (n, k) each."""
        f, ends = np.zeros((X.shape[0], len(self.parts))), set(self.round_ends.tolist())
        supplies = [part.staged(X) if part.rules else iter(()) for part in self.parts]
        for t, r in enumerate(self.coordinates):
            f[:, r] = next(supplies[r])
            if t in ends:
                yield f @ self.directions

    def decision_function(self, X: AnyArray) -> Floats:
        """The scores after the last round, (n, k)."""
        f = [p.decision_function(X) if p.rules else np.zeros(X.shape[0]) for p in self.parts]
        return np.asarray(np.column_stack(f) @ self.directions)


# -- averages: H_t = (1 - α_t) H_{t-1} + α_t h_t, from the uniform H_0 -----------------------------


def stochastic(h: Floats) -> Floats:
    """A relation in {0, 1} as a distribution: shared by the classes it claims, else uniform."""
    claimed = h.sum(axis=1, keepdims=True)
    return np.asarray(np.where(claimed > 0, h / np.maximum(claimed, 1.0), 1.0 / h.shape[1]))


def mixture_weights(alphas: Floats) -> tuple[float, Floats]:
    """Weights of H_0 and of each h_t in H_T."""
    kept = np.append(np.cumprod((1.0 - alphas)[::-1])[::-1], 1.0)
    return float(kept[0]), alphas * kept[1:]


class Mixture(Ensemble):
    """An average of rules with (n, k) outputs."""

    def __init__(self, parts: Ensemble, alphas: Floats, k: int, shape: Shape | None = None) -> None:
        super().__init__(parts.rules, alphas)
        self.parts = parts
        self._start = mixture_weights(alphas)[0] / k
        self._k = k
        self._is_stochastic = shape is stochastic

    def check(self) -> None:
        """Raise a ValueError if scores would take more memory than classes can need."""
        if type(self._k) is not int or not 0 < self._k <= MAX_CLASSES:
            raise ValueError(f"there cannot be {self._k!r:.40} classes")

    def outputs(self, X: AnyArray) -> Iterator[Floats]:
        """What each round averages in, (n, k) each."""
        for h in self.parts.outputs(X):
            if self._is_stochastic:
                h = stochastic(h)
            yield h

    def staged(self, X: AnyArray) -> Iterator[Floats]:
        """H after each round, (n, k) each."""
        H = np.full((X.shape[0], self._k), 1.0 / self._k)
        for alpha, h in zip(self.votes, self.outputs(X), strict=True):
            H = (1.0 - alpha) * H + alpha * h
            yield H

    def decision_function(self, X: AnyArray) -> Floats:
        """H after the last round, (n, k)."""
        if not self._is_stochastic:
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

"""Relational rules h(x, y): one weak rule per class, learned from the pairs of that class.

Pairs (row, class) are numbered row by row, ``i * k + y``. A relation is grown with the class at its
root: k rules on the same n binned rows, so the expanded set of n·k pairs never exists. This is not
only cheaper. The weights that p-norm boosting and AdaBoost.M2 give to the pairs of a row sum to
zero (the right class against all wrong ones), so before the class is known no split on a feature
gains anything: a greedy learner that takes the class for one more feature does not even start on
balanced classes with equal costs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from costboost._typing import AnyArray, Floats
from costboost.learners.base import Aim, BoundLearner, ConstantRule, Ensemble, Fitted

__all__ = ["BoundPairs", "PairEnsemble", "RelationalRule"]


class RelationalRule(tuple[Any, ...]):
    """One rule per class."""

    def predict(self, X: AnyArray) -> Floats:
        """The outputs for every pair, (n, k)."""
        return np.column_stack([rule.predict(X) for rule in self])


class BoundPairs(BoundLearner):
    """Learners that share the binned rows, one per class; aims and outputs are (n·k,)."""

    def __init__(self, first: BoundLearner, k: int) -> None:
        self._learners = [first] + [first.sibling() for _ in range(k - 1)]

    def fit(self, aim: Aim, seed: int) -> Fitted:
        """A rule for every class, with the outputs of all pairs."""
        k = len(self._learners)
        targets, weights = aim.targets.reshape(-1, k), aim.weights.reshape(-1, k)
        rules, outputs = [], np.empty_like(targets)
        for y, learner in enumerate(self._learners):
            w = np.ascontiguousarray(weights[:, y])
            if w.any():
                part = Aim(np.ascontiguousarray(targets[:, y]), w, aim.criterion)
                rule, outputs[:, y] = learner.fit(part, seed)
            else:  # nothing is at stake: the class is not claimed
                rule, outputs[:, y] = ConstantRule(-1.0), -1.0
            rules.append(rule)
        return Fitted(RelationalRule(rules), outputs.ravel())

    def ensemble(self, rules: Sequence[Any], votes: Floats) -> PairEnsemble:
        """The finished predictor of (n, k) scores."""
        columns = zip(*rules, strict=True) if rules else [() for _ in self._learners]
        return PairEnsemble(
            [
                learner.ensemble(list(column), votes)
                for learner, column in zip(self._learners, columns, strict=True)
            ],
            votes,
        )


class PairEnsemble(Ensemble):
    """Σ α h(x, y) for every class y."""

    def __init__(self, parts: Sequence[Ensemble], votes: Floats) -> None:
        rules = zip(*(part.rules for part in parts), strict=True)
        super().__init__([RelationalRule(rule) for rule in rules], votes)
        self.parts = list(parts)

    def staged(self, X: AnyArray) -> Iterator[Floats]:
        """The scores after each round, (n, k) each."""
        for columns in zip(*(part.staged(X) for part in self.parts), strict=True):
            yield np.column_stack(columns)

    def decision_function(self, X: AnyArray) -> Floats:
        """The scores after the last round, (n, k)."""
        return np.column_stack([part.decision_function(X) for part in self.parts])

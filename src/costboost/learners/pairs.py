"""Relational rules h(x, y): one weak rule per class, learned from the pairs of that class.

A relation is grown with the class at its root: k rules on the same n binned rows, so the expanded
set of n·k pairs never exists. `costboost.learners.joint` has the printed alternative, one tree over
all pairs. A rule per class is not only simpler. The weights that p-norm boosting and AdaBoost.M2
give to the pairs of a row sum to zero (the right class against all wrong ones), so before the class
is known no split on a feature gains anything: a greedy learner that treats the class as one more
feature does not even start on balanced classes with equal costs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from costboost._typing import AnyArray, Floats
from costboost.learners.base import Aim, BoundLearner, ConstantRule, Ensemble, Fitted

__all__ = ["BoundPairs", "PairEnsemble", "RelationalRule", "claims"]


def claims(outputs: Floats) -> Floats:
    """A relation h in {0, 1} from outputs in {-1, +1}."""
    return 0.5 + 0.5 * outputs


class RelationalRule(tuple[Any, ...]):
    """One rule per class."""

    def predict(self, X: AnyArray) -> Floats:
        """The relation h(x, y) in {0, 1} of every pair, (n, k)."""
        return claims(np.column_stack([rule.predict(X) for rule in self]))

    def importances(self, n_features: int) -> Floats:
        """The mean over the classes, (d,)."""
        return np.asarray(np.mean([rule.importances(n_features) for rule in self], axis=0))


class BoundPairs(BoundLearner):
    """Learners that share the binned rows, one per class; aims and outputs are (n, k)."""

    # The learners vote in {-1, +1}; the outputs are the relation h(x, y) in {0, 1}.

    def __init__(self, first: BoundLearner, k: int) -> None:
        self._learners = [first] + [first.sibling() for _ in range(k - 1)]

    def fit(self, aim: Aim, seed: int) -> Fitted:
        """A rule for every class, with the relation on all pairs."""
        rules, outputs = [], np.empty_like(aim.targets)
        for y, learner in enumerate(self._learners):
            w = np.ascontiguousarray(aim.weights[:, y])
            if w.any():
                part = Aim(np.ascontiguousarray(aim.targets[:, y]), w, aim.criterion)
                rule, outputs[:, y] = learner.fit(part, seed)
            else:  # nothing is at stake: the class is not claimed
                rule, outputs[:, y] = ConstantRule(-1.0), -1.0
            rules.append(rule)
        return Fitted(RelationalRule(rules), claims(outputs))

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

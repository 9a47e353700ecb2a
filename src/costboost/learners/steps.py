"""Step functions of one feature: what stumps and histograms learn, and fast sums of them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from costboost._typing import AnyArray, Floats
from costboost.learners.base import BoundLearner, ConstantRule, Ensemble, one_hot, voted

__all__ = ["BoundSteps", "StepEnsemble", "StepRule", "first_of_least"]


@dataclass(frozen=True)
class StepRule:
    """``outputs[b]`` where x[feature] lies in bin b; the last output is for missing values.

    Bin b reaches from ``edges[b - 1]`` (exclusive) to ``edges[b]`` (inclusive).
    """

    feature: int
    edges: Floats  # (b,)
    outputs: Floats  # (b + 2,)

    def predict(self, X: AnyArray) -> Floats:
        """The outputs of the rule, (n,)."""
        column = X[:, self.feature]
        bins = np.searchsorted(self.edges, column)  # NaN falls behind the last edge
        bins[np.isnan(column)] = len(self.edges) + 1
        return self.outputs[bins]

    def importances(self, n_features: int) -> Floats:
        """The rule uses one feature, (d,)."""
        return one_hot(self.feature, n_features)


class StepEnsemble(Ensemble):
    """A sum of step functions: all rules on one feature are one step function."""

    def __init__(self, rules: Sequence[StepRule | ConstantRule], votes: Floats) -> None:
        super().__init__(rules, votes)
        steps = [(r, v) for r, v in zip(rules, votes, strict=True) if isinstance(r, StepRule)]
        features = sorted({rule.feature for rule, _ in steps})
        self._sums = [_sum_on(feature, steps) for feature in features]
        self._constant = sum(
            float(voted(v, np.array(r.value)))
            for r, v in zip(rules, votes, strict=True)
            if isinstance(r, ConstantRule)
        )

    def decision_function(self, X: AnyArray) -> Floats:
        """F after the last round: one table look-up per feature in use."""
        F = np.full(X.shape[0], float(self._constant))
        for rule in self._sums:
            F += rule.predict(X)
        return F


def _sum_on(feature: int, steps: Sequence[tuple[StepRule, Any]]) -> StepRule:
    """The weighted sum of the step functions of one feature."""
    parts = [(rule, vote) for rule, vote in steps if rule.feature == feature]
    edges = np.unique(np.concatenate([rule.edges for rule, _ in parts]))
    outputs = np.zeros(len(edges) + 2)
    for rule, vote in parts:
        bins = np.searchsorted(rule.edges, edges)
        last = len(rule.edges)
        outputs += voted(vote, rule.outputs)[np.append(bins, [last, last + 1])]
    return StepRule(feature, edges, outputs)


def first_of_least(loss: Floats) -> int:
    """The first candidate of least loss; those within rounding of the least are equals."""
    least = float(loss.min())
    return int(np.argmax(loss <= least + 1e-12 * abs(least)))


class BoundSteps(BoundLearner):
    """A learner of step functions."""

    def ensemble(self, rules: Sequence[Any], votes: Floats) -> StepEnsemble:
        """The finished predictor, summed by feature."""
        return StepEnsemble(rules, votes)

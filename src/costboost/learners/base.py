"""What a weak learner is: it is bound to the training rows once, then asked once per round.

``Learner`` (hyper-parameters) --bind--> ``BoundLearner`` (binned rows) --fit--> ``Fitted`` (the
rule and its training outputs) --ensemble--> ``Ensemble`` (predicts Σ α h).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np

from costboost._typing import AnyArray, Floats, Ints
from costboost.learners.criteria import Criterion

__all__ = [
    "Aim",
    "BoundLearner",
    "ConstantRule",
    "Ensemble",
    "Fitted",
    "Learner",
    "Rows",
    "Rule",
    "constant",
    "one_hot",
    "voted",
]


class Aim(NamedTuple):
    """What one round asks of a weak learner."""

    targets: Floats  # (n,) votes in {-1, +1}, or real responses; (n, k) for pairs or cost rows
    weights: Floats  # (n,), or (n, k) for pairs; not negative, with a positive sum
    criterion: Criterion


class Rows(NamedTuple):
    """The training rows, as a learner is bound to them."""

    X: AnyArray  # (n, d) float64 or float32; NaN or CSR only for learners that take it
    sample_weight: Floats  # (n,) positive
    categorical: Sequence[int]  # columns that hold category codes
    n_threads: int
    seed: int


class Rule(Protocol):
    """A weak rule: one output per row."""

    def predict(self, X: AnyArray) -> Floats:
        """The outputs of the rule, (n,)."""


@dataclass(frozen=True)
class ConstantRule:
    """The same output everywhere: what remains when no feature helps."""

    value: float

    def predict(self, X: AnyArray) -> Floats:
        """The constant, once per row."""
        return np.full(X.shape[0], self.value)

    def importances(self, n_features: int) -> Floats:
        """No feature is used, (d,)."""
        return np.zeros(n_features)


class Fitted(NamedTuple):
    """A weak rule and its outputs on the rows it was fitted to."""

    rule: Any  # a Rule, or a draft of one that `BoundLearner.ensemble` finishes
    outputs: Floats


def constant(aim: Aim) -> Fitted:
    """The best constant rule for an aim."""
    first, second = aim.criterion.channels(aim.targets, aim.weights)
    value = aim.criterion.values(np.array([first.sum()]), np.array([second.sum()]))[0]
    return Fitted(ConstantRule(float(value)), np.full(len(aim.targets), value))


def one_hot(index: int, size: int) -> Floats:
    """A row of zeros with a one."""
    row = np.zeros(size)
    row[index] = 1.0
    return row


def voted(vote: Any, outputs: Floats) -> Floats:
    """A rule's share of the score: α h, or α± h where a pair (α-, α+) votes by the sign of h."""
    if np.ndim(vote) == 0:
        return np.asarray(vote * outputs)
    negative, positive = vote
    return np.asarray(np.where(outputs > 0, positive, negative) * outputs)


class Ensemble:
    """A weighted sum of rules, F(x) = Σ α_t h_t(x).

    ``votes`` holds a vote per rule, (T,), or a pair (α-, α+) per rule, (T, 2).
    """

    def __init__(self, rules: Sequence[Rule], votes: Floats) -> None:
        self.rules = list(rules)
        self.votes = votes

    @property
    def round_ends(self) -> Ints:
        """The last rule of every round, (rounds,)."""
        return np.arange(len(self.rules))

    def outputs(self, X: AnyArray) -> Iterator[Floats]:
        """The outputs of every rule in turn."""
        for rule in self.rules:
            yield rule.predict(X)

    def staged(self, X: AnyArray) -> Iterator[Floats]:
        """F after each round, (n,) each."""
        F: Any = 0.0
        for vote, outputs in zip(self.votes, self.outputs(X), strict=True):
            F = F + voted(vote, outputs)
            yield F

    def decision_function(self, X: AnyArray) -> Floats:
        """F after the last round, (n,)."""
        F: Any = np.zeros(X.shape[0]) if not self.rules else 0.0
        for vote, outputs in zip(self.votes, self.outputs(X), strict=True):
            F = F + voted(vote, outputs)
        return np.asarray(F)

    def importances(self, n_features: int) -> Floats:
        """How much each feature is used, (d,): the rules' importances, weighted by their votes.

        Raises an AttributeError if a rule cannot say which features it uses.
        """
        weights = self.votes if self.votes.ndim == 1 else self.votes.mean(axis=1)
        total = np.zeros(n_features)
        for weight, rule in zip(weights, self.rules, strict=True):
            total += weight * rule.importances(n_features)  # type: ignore[attr-defined]
        return np.asarray(total / total.sum() if total.sum() > 0 else total)


class BoundLearner(ABC):
    """A learner that has seen the rows."""

    @abstractmethod
    def fit(self, aim: Aim, seed: int) -> Fitted:
        """The rule for this aim, with its outputs on the training rows."""

    def sibling(self) -> BoundLearner:
        """Another learner on the same rows; a learner without a state returns itself."""
        return self

    def ensemble(self, rules: Sequence[Any], votes: Floats) -> Ensemble:
        """The finished predictor; ``rules`` are this learner's, in order, some perhaps dropped."""
        return Ensemble(rules, votes)


class Learner(ABC):
    """Hyper-parameters of a weak learner."""

    accepts_missing: ClassVar[bool] = False
    accepts_categories: ClassVar[bool] = False
    accepts_sparse: ClassVar[bool] = False

    @abstractmethod
    def bind(self, rows: Rows) -> BoundLearner:
        """Do once what every round would repeat: binning, scaling, copying."""

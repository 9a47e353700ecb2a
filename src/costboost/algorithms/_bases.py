"""Bases under the recipes: votes of signs, of pairs and of classes, and shrunken descents."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from scipy.special import softmax

from costboost._typing import Floats
from costboost._validation import LEARNING_RATE, Constraint, one_of
from costboost.binary import BinaryBoostingClassifier
from costboost.boosting import BinaryProblem, Scheme, VoteRule, VoteScheme
from costboost.boosting.multiclass import (
    ClassVoteRule,
    ClassVotes,
    MulticlassProblem,
    PairVotes,
)
from costboost.boosting.votes import Init
from costboost.learners import Learner
from costboost.learners.base import BoundLearner, Rows
from costboost.learners.classes import class_learner
from costboost.multiclass import MulticlassBoostingClassifier, shares

__all__ = [
    "ClassVoteClassifier",
    "CostStartClassifier",
    "PairVoteClassifier",
    "ShrunkBoostingClassifier",
    "VoteBoostingClassifier",
]


class VoteBoostingClassifier(BinaryBoostingClassifier):
    """A recipe that is a `VoteRule`, run by a `VoteScheme`."""

    _rule: ClassVar[VoteRule]
    _scheme_type: ClassVar[type[VoteScheme]] = VoteScheme

    def _scheme(self, problem: BinaryProblem, init: Init) -> Scheme:
        return self._scheme_type(self._rule, problem, init=init, n_rounds=self.n_estimators)


class CostStartClassifier(VoteBoostingClassifier):
    """A recipe whose costs enter by the initial weights alone."""

    def _link_costs(self) -> tuple[float, float]:
        """Only cost-proportional initial weights bring costs into the score."""
        return self._cost_pair if (self.init or self._default_init) == "cost" else (1.0, 1.0)


class ShrunkBoostingClassifier(BinaryBoostingClassifier):
    """A recipe that descends on a loss, by a share of each step.

    Parameters
    ----------
    learning_rate : float, default=1.0
        Share of each step that is taken.

    Attributes
    ----------
    train_loss_ : array of shape (n_iter_,)
        The loss on the training rows after each round.
    """

    _rules: ClassVar[Mapping[str, Constraint]] = {"learning_rate": LEARNING_RATE}

    def __init__(
        self,
        cost_matrix: Any = None,
        n_estimators: int = 100,
        estimator: Any = None,
        max_leaves: int = 8,
        learning_rate: float = 1.0,
        init: Init | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            cost_matrix=cost_matrix,
            n_estimators=n_estimators,
            estimator=estimator,
            max_leaves=max_leaves,
            init=init,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.learning_rate = learning_rate


class _InitClassifier(MulticlassBoostingClassifier):
    """A multi-class recipe with initial weights to choose.

    Parameters
    ----------
    init : {"cost", "uniform"} or None, default=None
        Initial weights: proportional to the costs, or equal. None is the paper's choice.
    """

    _default_init: ClassVar[Init]
    _rules: ClassVar[Mapping[str, Constraint]] = {"init": one_of(None, "cost", "uniform")}

    def __init__(
        self,
        cost_matrix: Any = None,
        n_estimators: int = 100,
        estimator: Any = None,
        max_leaves: int = 16,
        init: Init | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            cost_matrix=cost_matrix,
            n_estimators=n_estimators,
            estimator=estimator,
            max_leaves=max_leaves,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.init = init

    def _from_costs(self) -> bool:
        return (self.init or self._default_init) == "cost"


class PairVoteClassifier(_InitClassifier):
    """A recipe that is a `VoteRule` on the pairs of rows and wrong classes.

    Parameters
    ----------
    max_leaves : int, default=16
        Largest number of leaves of the tree of each class.
    """

    _default_init: ClassVar[Init] = "cost"
    _rule: ClassVar[VoteRule]

    def _scheme(
        self, problem: MulticlassProblem, learner: BoundLearner, rng: np.random.RandomState
    ) -> Scheme:
        return PairVotes(self._rule, problem, from_costs=self._from_costs())

    def _probabilities(self, scores: Floats) -> Floats:
        return shares(scores)


class ClassVoteClassifier(_InitClassifier):
    """A recipe that is a `ClassVoteRule`: every weak rule names one class.

    Parameters
    ----------
    estimator : "tree", scikit-learn estimator or None, default=None
        The weak learner: ``"tree"`` (None), a tree whose leaves name the class of most weight, or
        any scikit-learn classifier whose ``fit`` takes ``sample_weight``, or a regressor with
        several outputs.
    max_leaves : int, default=8
        Largest number of leaves of the tree.
    """

    _default_init: ClassVar[Init] = "uniform"
    _rule: ClassVar[ClassVoteRule]

    def __init__(
        self,
        cost_matrix: Any = None,
        n_estimators: int = 100,
        estimator: Any = None,
        max_leaves: int = 8,
        init: Init | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            cost_matrix=cost_matrix,
            n_estimators=n_estimators,
            estimator=estimator,
            max_leaves=max_leaves,
            init=init,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )

    def _learner(self) -> Learner:
        learner = class_learner(super()._learner())
        if learner is None:
            raise ValueError(
                f"estimator of {type(self).__name__} must be None, 'tree', or a scikit-learn "
                "classifier or regressor with several outputs, because its rules name one class "
                f"of several; got {self.estimator!r}."
            )
        return learner

    def _bind(self, rows: Rows, k: int) -> BoundLearner:
        return self._learner().bind(rows)

    def _scheme(
        self, problem: MulticlassProblem, learner: BoundLearner, rng: np.random.RandomState
    ) -> Scheme:
        return ClassVotes(self._rule, problem, from_costs=self._from_costs())

    def _probabilities(self, scores: Floats) -> Floats:
        return np.asarray(softmax(scores, axis=1))

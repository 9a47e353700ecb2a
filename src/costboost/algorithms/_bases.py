"""Two bases under the recipes: vote-based algorithms, and loss-based ones with shrinkage."""

from __future__ import annotations

from typing import Any, ClassVar

from costboost.binary import BinaryBoostingClassifier
from costboost.boosting import BinaryProblem, Scheme, VoteRule, VoteScheme
from costboost.boosting.problem import Init

__all__ = ["ShrunkBoostingClassifier", "VoteBoostingClassifier"]


class VoteBoostingClassifier(BinaryBoostingClassifier):
    """A recipe that is a `VoteRule`."""

    _rule: ClassVar[VoteRule]

    def _scheme(self, problem: BinaryProblem, init: Init) -> Scheme:
        return VoteScheme(self._rule, problem, init=init, n_rounds=self.n_estimators)


class ShrunkBoostingClassifier(BinaryBoostingClassifier):
    """A recipe that descends on a loss, by a share ``learning_rate`` of each step."""

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

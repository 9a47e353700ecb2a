"""Weak learners: given targets, weights and a criterion, the best simple rule.

`resolve` turns the ``estimator=`` argument of a classifier into a `Learner`.
"""

from __future__ import annotations

from collections.abc import Callable

from sklearn.base import BaseEstimator
from sklearn.utils.validation import has_fit_parameter

from costboost._utils import check_parameters
from costboost.learners.adapter import SklearnLearner
from costboost.learners.base import (
    Aim,
    Criterion,
    Ensemble,
    Fitted,
    JointVotes,
    Learner,
    LeastSquares,
    LogRatio,
    Rows,
    Rule,
    Votes,
)
from costboost.learners.c45 import C45, C45Classifier, C45Tree, JointC45
from costboost.learners.linear import Line, Perceptron
from costboost.learners.steps import Histogram, Stump
from costboost.learners.tree import Tree

__all__ = [
    "BUILT_IN",
    "C45",
    "Aim",
    "C45Classifier",
    "C45Tree",
    "Criterion",
    "Ensemble",
    "Fitted",
    "Histogram",
    "JointC45",
    "JointVotes",
    "Learner",
    "LeastSquares",
    "Line",
    "LogRatio",
    "Perceptron",
    "Rows",
    "Rule",
    "SklearnLearner",
    "Stump",
    "Tree",
    "Votes",
    "resolve",
]

# max_leaves -> the learner of that name
BUILT_IN: dict[str, Callable[[int], Learner]] = {
    "tree": lambda max_leaves: Tree(max_leaves=max_leaves),
    "stump": lambda max_leaves: Stump(),
    "histogram": lambda max_leaves: Histogram(),
    "line": lambda max_leaves: Line(),
    "perceptron": lambda max_leaves: Perceptron(),
    "c45": lambda max_leaves: C45(),
}


def resolve(estimator: object, max_leaves: int, owner: str) -> Learner:
    """The learner meant by a classifier's ``estimator`` argument.

    Parameters
    ----------
    estimator : Learner, str or scikit-learn estimator
        The argument.
    max_leaves : int
        Largest number of leaves, if it is a tree.
    owner : str
        The classifier, for messages.

    Returns
    -------
    Learner
        The learner.
    """
    if isinstance(estimator, Learner):
        return estimator
    if isinstance(estimator, str) and estimator in BUILT_IN:
        return BUILT_IN[estimator](max_leaves)
    if isinstance(
        estimator, C45Classifier
    ):  # as a learner it also sees which columns are categories
        check_parameters(estimator)
        return C45(estimator.min_samples_leaf, estimator.confidence)
    if isinstance(estimator, BaseEstimator):
        if not has_fit_parameter(estimator, "sample_weight"):
            raise ValueError(
                f"estimator of {owner} must accept sample_weight in fit; "
                f"{type(estimator).__name__} does not. Choose another estimator, or one of the "
                f"built-in learners {sorted(BUILT_IN)}."
            )
        return SklearnLearner(estimator)
    raise ValueError(
        f"estimator of {owner} must be None, one of {sorted(BUILT_IN)}, a costboost learner or a "
        f"scikit-learn estimator instance; got {estimator!r}."
    )

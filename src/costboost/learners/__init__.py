"""Weak learners: given targets, weights and a criterion, the best simple rule.

`resolve` turns the ``estimator=`` argument of a classifier into a `Learner`. One of your own is a
subclass with `prepare` and `fit`.
"""

from __future__ import annotations

from sklearn.base import BaseEstimator
from sklearn.utils.validation import has_fit_parameter

from costboost._utils import check_parameters
from costboost.learners.adapter import SklearnLearner
from costboost.learners.base import Aim, Ensemble, Fitted, Learner, Rows
from costboost.learners.c45 import C45, C45Classifier, JointC45
from costboost.learners.linear import Line, Perceptron
from costboost.learners.steps import Histogram, Stump
from costboost.learners.tree import Tree

__all__ = [
    "C45",
    "Aim",
    "C45Classifier",
    "Ensemble",
    "Fitted",
    "Histogram",
    "JointC45",
    "Learner",
    "Line",
    "Perceptron",
    "Rows",
    "SklearnLearner",
    "Stump",
    "Tree",
]

BUILT_IN: dict[str, type[Learner]] = {
    "tree": Tree,
    "stump": Stump,
    "histogram": Histogram,
    "line": Line,
    "perceptron": Perceptron,
    "c45": C45,
}


def resolve(estimator: object, max_leaves: int, owner: str) -> Learner:
    """The learner meant by a classifier's ``estimator`` argument."""
    if isinstance(estimator, Learner):
        return estimator
    if estimator == "tree":
        return Tree(max_leaves)
    if isinstance(estimator, str) and estimator in BUILT_IN:
        return BUILT_IN[estimator]()
    if isinstance(estimator, C45Classifier):  # a learner also sees which columns are categories
        check_parameters(estimator)
        return C45(estimator.min_samples_leaf, estimator.confidence)
    if not isinstance(estimator, BaseEstimator):
        raise ValueError(
            f"estimator of {owner} must be None, one of {sorted(BUILT_IN)}, a costboost learner or "
            f"a scikit-learn estimator instance; got {estimator!r}."
        )
    if not has_fit_parameter(estimator, "sample_weight"):
        raise ValueError(
            f"estimator of {owner} must accept sample_weight in fit; {type(estimator).__name__} "
            f"does not. Choose another estimator, or one of {sorted(BUILT_IN)}."
        )
    return SklearnLearner(estimator)

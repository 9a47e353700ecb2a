"""Weak learners: given targets, weights and a criterion, the best simple rule.

`resolve` turns the ``estimator=`` argument of a classifier into a `Learner`. One of your own is a
subclass with `prepare` and `fit`; `register` gives it a name.
"""

from __future__ import annotations

from sklearn.base import BaseEstimator
from sklearn.utils.validation import has_fit_parameter

from costboost.learners.adapter import SklearnLearner
from costboost.learners.base import Aim, Ensemble, Fitted, Learner, Rows
from costboost.learners.linear import Line, Perceptron
from costboost.learners.steps import Histogram, Stump
from costboost.learners.tree import Tree

__all__ = [
    "Aim",
    "Ensemble",
    "Fitted",
    "Histogram",
    "Learner",
    "Line",
    "Perceptron",
    "Rows",
    "SklearnLearner",
    "Stump",
    "Tree",
    "register",
]

BUILT_IN: dict[str, type[Learner]] = {
    "tree": Tree,
    "stump": Stump,
    "histogram": Histogram,
    "line": Line,
    "perceptron": Perceptron,
}
_REGISTERED: dict[str, type[Learner]] = {}


def register(name: str, learner: type[Learner]) -> None:
    """Make a learner known by a name, as ``estimator=name``.

    Other processes know the name once they have imported the module that registers it; an object of
    the class needs no name.

    Parameters
    ----------
    name : str
        The name, not one of the built-in ones.
    learner : type
        A subclass of `Learner` that can be made without arguments.

    Examples
    --------
    >>> from costboost import AdaC2Classifier
    >>> from costboost.learners import Stump, register
    >>> register("decision stump", Stump)
    >>> AdaC2Classifier(estimator="decision stump")
    AdaC2Classifier(estimator='decision stump')
    """
    if name in BUILT_IN:
        raise ValueError(f"The learner {name!r} is built in. Choose another name.")
    _REGISTERED[name] = learner


def resolve(estimator: object, max_leaves: int, owner: str) -> Learner:
    """The learner meant by a classifier's ``estimator`` argument."""
    if isinstance(estimator, Learner):
        return estimator
    if estimator == "tree":
        return Tree(max_leaves)
    known = BUILT_IN | _REGISTERED
    if isinstance(estimator, str) and estimator in known:
        return known[estimator]()
    if not isinstance(estimator, BaseEstimator):
        raise ValueError(
            f"estimator of {owner} must be None, one of {sorted(known)}, a costboost learner or "
            f"a scikit-learn estimator instance; got {estimator!r}."
        )
    if not has_fit_parameter(estimator, "sample_weight"):
        raise ValueError(
            f"estimator of {owner} must accept sample_weight in fit; {type(estimator).__name__} "
            f"does not. Choose another estimator, or one of {sorted(known)}."
        )
    return SklearnLearner(estimator)

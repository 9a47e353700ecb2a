"""Weak rules that name one class of several: scikit-learn classifiers, trees on cost rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier, is_regressor
from sklearn.utils import get_tags

from costboost._typing import AnyArray, Floats
from costboost.learners.adapter import SklearnLearner
from costboost.learners.base import Aim, BoundLearner, Fitted, Learner, Rows, one_hot
from costboost.learners.cost_tree import CostRegressor
from costboost.learners.tree import Tree

__all__ = ["ClassRule", "ConstantClass", "Labels", "class_learner", "cost_learner"]


@dataclass(frozen=True)
class ClassRule:
    """A fitted classifier of class codes, as one-hot rows."""

    classifier: Any
    k: int

    def predict(self, X: AnyArray) -> Floats:
        """The class of each row, (n, k)."""
        with np.errstate(over="ignore"):  # trees cast to float32, and name what does not fit
            named = np.asarray(self.classifier.predict(X), dtype=np.intp)
        return np.asarray(np.eye(self.k)[named])

    def importances(self, n_features: int) -> Floats:
        """As the classifier has them, (d,)."""
        return np.asarray(self.classifier.feature_importances_)


@dataclass(frozen=True)
class ConstantClass:
    """The same class everywhere."""

    code: int
    k: int

    def predict(self, X: AnyArray) -> Floats:
        """The class, once per row, (n, k)."""
        return np.tile(one_hot(self.code, self.k), (X.shape[0], 1))

    def importances(self, n_features: int) -> Floats:
        """No feature is used, (d,)."""
        return np.zeros(n_features)


@dataclass(frozen=True)
class Labels(Learner):
    """A scikit-learn classifier, fitted to the cheapest class of each cost row."""

    # The aim's targets are (n, k) costs; the outputs are one-hot rows.

    estimator: Any

    @property
    def accepts_missing(self) -> bool:  # type: ignore[override]
        """As the estimator's tags say."""
        return bool(get_tags(self.estimator).input_tags.allow_nan)

    @property
    def accepts_sparse(self) -> bool:  # type: ignore[override]
        """As the estimator's tags say."""
        return bool(get_tags(self.estimator).input_tags.sparse)

    def bind(self, rows: Rows) -> BoundLabels:
        """Keep the rows."""
        return BoundLabels(self.estimator, rows.X)


class BoundLabels(BoundLearner):
    """Fits a clone per round."""

    def __init__(self, estimator: Any, X: AnyArray) -> None:
        self._estimator, self._X = estimator, X

    def fit(self, aim: Aim, seed: int) -> Fitted:
        """A fitted clone and the classes it names."""
        k = aim.targets.shape[1]
        labels = aim.targets.argmin(axis=1)
        found = np.unique(labels[aim.weights > 0])
        rule: ConstantClass | ClassRule
        if len(found) == 1:  # many classifiers refuse a single class
            rule = ConstantClass(int(found[0]), k)
        else:
            model = clone(self._estimator)
            if "random_state" in model.get_params(deep=False):
                model.set_params(random_state=seed)
            weights = aim.weights * (len(labels) / aim.weights.sum())
            rule = ClassRule(model.fit(self._X, labels, sample_weight=weights), k)
        return Fitted(rule, rule.predict(self._X))


def cost_learner(learner: Learner) -> Learner | None:
    """The learner of (n, k) cost rows that a choice of weak learner stands for, or None."""
    if isinstance(learner, CostRegressor):
        return learner
    if isinstance(learner, Tree):
        return CostRegressor(max_leaves=learner.max_leaves)
    if isinstance(learner, SklearnLearner) and is_regressor(learner.estimator):
        return CostRegressor(regressor=learner.estimator)
    return None


def class_learner(learner: Learner) -> Learner | None:
    """The learner of classes that a choice of weak learner stands for, or None."""
    if isinstance(learner, Labels):
        return learner
    if isinstance(learner, SklearnLearner) and is_classifier(learner.estimator):
        return Labels(learner.estimator)
    return cost_learner(learner)

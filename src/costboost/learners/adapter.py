"""scikit-learn estimators as weak learners: of votes, of numbers, of classes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier, is_regressor
from sklearn.utils import get_tags

from costboost._typing import AnyArray, Floats
from costboost.learners.base import (
    MAX_CLASSES,
    Aim,
    ConstantRule,
    Criterion,
    Fitted,
    Learner,
    Rows,
    constant,
    one_hot,
)


@dataclass
class SklearnLearner(Learner):
    """A scikit-learn estimator, cloned and fitted anew in every round.

    Classifiers give votes by ``predict`` and real-valued rules by ``predict_proba``; regressors
    give both by ``predict``. Each round takes one prediction on the training rows, because
    scikit-learn does not return the outputs of a fit.

    Parameters
    ----------
    estimator : scikit-learn estimator
        A classifier or regressor whose ``fit`` takes ``sample_weight``.
    """

    estimator: BaseEstimator

    @property
    def accepts_missing(self) -> bool:  # type: ignore[override]
        """As the estimator's tags say."""
        return bool(get_tags(self.estimator).input_tags.allow_nan)

    @property
    def accepts_sparse(self) -> bool:  # type: ignore[override]
        """As the estimator's tags say."""
        return bool(get_tags(self.estimator).input_tags.sparse)

    def class_estimator(self) -> BaseEstimator:
        """Return the estimator itself."""
        return self.estimator

    def prepare(self, rows: Rows) -> None:
        """Keep the rows."""
        self._X = rows.X

    def _fit_clone(self, targets: AnyArray, weights: Floats, seed: int) -> Any:
        return fitted_clone(self.estimator, seed, self._X, targets, sample_weight=weights)

    def fit(self, aim: Aim, seed: int) -> Fitted:
        """A fitted clone and its predictions."""
        classifies = is_classifier(self.estimator)
        if classifies and aim.criterion.is_regression:
            raise ValueError(
                f"estimator must be a regressor here: this algorithm fits real-valued responses, "
                f"got the classifier {type(self.estimator).__name__}. Pass its regressor "
                f"counterpart, or one of the built-in learners 'tree', 'line'."
            )
        used = aim.weights > 0
        if classifies and aim.targets[used].min() == aim.targets[used].max():
            return constant(aim)  # many classifiers refuse a single class
        weights = aim.criterion.fit_weights(aim.targets, aim.weights)
        model = self._fit_clone(aim.targets, _of_mean_one(weights), seed)
        rule = EstimatorRule(model, aim.criterion)
        return Fitted(rule, rule.predict(self._X))


def fitted_clone(estimator: Any, seed: int, *rows: Any, **weights: Any) -> Any:
    """A copy of an estimator, fitted with a seed of its own."""
    model = clone(estimator)
    if "random_state" in model.get_params(deep=False):
        model.set_params(random_state=seed)
    with np.errstate(over="ignore"):  # trees cast to float32, and name what does not fit
        return model.fit(*rows, **weights)


def _of_mean_one(weights: Floats) -> Floats:
    """Weights as without boosting: penalties of an estimator are relative to them."""
    return np.asarray(weights * (len(weights) / weights.sum()))


@dataclass(frozen=True)
class EstimatorRule:
    """A fitted estimator whose answer the criterion turns into an output."""

    estimator: Any
    criterion: Criterion

    def predict(self, X: AnyArray) -> Floats:
        """The outputs of the estimator, (n,)."""
        if is_classifier(self.estimator) and self.criterion.needs_masses:
            mean = 2.0 * self.estimator.predict_proba(X)[:, -1] - 1.0
        else:
            mean = np.asarray(self.estimator.predict(X), dtype=np.float64)
        return self.criterion.of_mean(mean)

    def importances(self, n_features: int) -> Floats:
        """As the estimator has them, (d,)."""
        return np.asarray(self.estimator.feature_importances_)


# -- rules that name one class of several ---------------------------------------------------------


class ClassLearner(SklearnLearner):
    """A classifier of the cheapest class of each cost row, or a regressor of all costs at once."""

    # The aim's targets are the (n, k) costs w[x, y]; the outputs are one-hot rows f(y|x). The
    # leaves of a regression tree hold mean cost rows: the class they name is the cheapest one for
    # their rows.

    def fit(self, aim: Aim, seed: int) -> Fitted:
        """A fitted clone and the classes it names."""
        costs, k = aim.targets, aim.targets.shape[1]
        if is_regressor(self.estimator):
            # Scaled: impurities of tiny costs would count as zero.
            costs = costs / max(float(np.abs(costs).max()), np.finfo(np.float64).tiny)
            model = self._fit_clone(costs, aim.weights, seed)
        else:
            labels = costs.argmin(axis=1)
            found = np.unique(labels[aim.weights > 0])
            if len(found) == 1:  # many classifiers refuse a single class
                named = ConstantRule(one_hot(int(found[0]), k))
                return Fitted(named, named.predict(self._X))
            model = self._fit_clone(labels, _of_mean_one(aim.weights), seed)
        rule = ClassRule(model, k)
        return Fitted(rule, rule.predict(self._X))


@dataclass(frozen=True)
class ClassRule:
    """One-hot rows of the class that a classifier names, or that a regressor finds cheapest."""

    estimator: Any
    k: int

    def check(self) -> None:
        """Raise a ValueError if outputs would take more memory than classes can need."""
        if type(self.k) is not int or not 0 < self.k <= MAX_CLASSES:
            raise ValueError(f"there cannot be {self.k!r:.40} classes")

    def predict(self, X: AnyArray) -> Floats:
        """f(y|x), (n, k)."""
        with np.errstate(over="ignore"):  # trees cast to float32, and name what does not fit
            named = np.asarray(self.estimator.predict(X))
        if is_regressor(self.estimator):
            named = named.argmin(axis=1)
        return np.asarray(np.eye(self.k)[named.astype(np.intp)])

    def importances(self, n_features: int) -> Floats:
        """As the estimator has them, (d,)."""
        return np.asarray(self.estimator.feature_importances_)


def class_learner(learner: Learner, owner: str, *, of_costs: bool = False) -> Learner:
    """The learner of classes, or only of cost rows, that a choice stands for."""
    model = learner.class_estimator()
    if model is not None and (is_regressor(model) or (is_classifier(model) and not of_costs)):
        return ClassLearner(model)
    raise ValueError(
        f"estimator of {owner} must be None, 'tree', or a scikit-learn "
        f"{'' if of_costs else 'classifier or '}regressor with several outputs, because its rules "
        f"name one class of several; got {learner}."
    )

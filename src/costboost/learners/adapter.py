"""Any scikit-learn classifier or regressor with ``sample_weight`` as a weak learner."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.utils import get_tags

from costboost._typing import AnyArray, Floats
from costboost.learners.base import Aim, BoundLearner, Fitted, Learner, Rows, constant
from costboost.learners.criteria import Criterion

__all__ = ["EstimatorRule", "SklearnLearner"]


@dataclass(frozen=True)
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

    def bind(self, rows: Rows) -> BoundSklearn:
        """Keep the rows."""
        return BoundSklearn(self.estimator, rows.X)


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


class BoundSklearn(BoundLearner):
    """Fits a clone per round."""

    def __init__(self, estimator: BaseEstimator, X: AnyArray) -> None:
        self._estimator = estimator
        self._X = X

    def fit(self, aim: Aim, seed: int) -> Fitted:
        """A fitted clone and its predictions."""
        model: Any = clone(self._estimator)
        if "random_state" in model.get_params(deep=False):
            model.set_params(random_state=seed)
        classifies = is_classifier(model)
        if classifies and aim.criterion.is_regression:
            raise ValueError(
                f"estimator must be a regressor here: this algorithm fits real-valued responses, "
                f"got the classifier {type(model).__name__}. Pass its regressor counterpart, or "
                f"one of the built-in learners 'tree', 'line'."
            )
        used = aim.weights > 0
        if classifies and aim.targets[used].min() == aim.targets[used].max():
            return constant(aim)  # many classifiers refuse a single class
        weights = aim.criterion.fit_weights(aim.targets, aim.weights)
        # Of mean 1, as without boosting: penalties of the estimator are relative to the weights.
        model.fit(self._X, aim.targets, sample_weight=weights * (len(weights) / weights.sum()))
        rule = EstimatorRule(model, aim.criterion)
        return Fitted(rule, rule.predict(self._X))

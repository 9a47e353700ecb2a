"""A linear perceptron, the weak rule of the synthetic study of Cao et al. 2013."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import SGDClassifier

from costboost._typing import AnyArray, Floats
from costboost.learners.base import Aim, BoundLearner, Fitted, Learner, Rows, constant
from costboost.learners.criteria import Criterion
from costboost.learners.scales import centre_and_spread

__all__ = ["LinearRule", "Perceptron"]


@dataclass(frozen=True)
class Perceptron(Learner):
    """Rosenblatt's perceptron with row weights, its iterates averaged.

    Without the average the last few rows would decide the direction on data that no line
    separates. It is scikit-learn's ``SGDClassifier``.

    Parameters
    ----------
    epochs : int, default=5
        Number of passes over the rows.
    """

    epochs: int = 5

    def bind(self, rows: Rows) -> BoundPerceptron:
        """Standardise the rows."""
        return BoundPerceptron(self, rows.X)


@dataclass(frozen=True)
class LinearRule:
    """``x · coef + intercept``, turned into an output by the criterion."""

    coef: Floats
    intercept: float
    criterion: Criterion

    def predict(self, X: AnyArray) -> Floats:
        """The outputs of the rule, (n,)."""
        return self.criterion.of_mean(X @ self.coef + self.intercept)


class BoundPerceptron(BoundLearner):
    """A perceptron on standardised rows."""

    def __init__(self, spec: Perceptron, X: AnyArray) -> None:
        self._spec = spec
        self._centre, self._spread = centre_and_spread(X)
        self._X = np.ascontiguousarray((X - self._centre) / self._spread)

    def fit(self, aim: Aim, seed: int) -> Fitted:
        """A separating direction for the weighted votes."""
        if aim.criterion.is_regression or aim.criterion.needs_masses:
            raise ValueError(
                "estimator='perceptron' only votes, but this algorithm needs real-valued rules. "
                "Use 'line', 'tree' or a scikit-learn regressor."
            )
        used = aim.weights > 0
        if aim.targets[used].min() == aim.targets[used].max():
            return constant(aim)
        w = aim.criterion.fit_weights(aim.targets, aim.weights)
        model = SGDClassifier(
            loss="perceptron",
            penalty=None,
            learning_rate="constant",
            eta0=1.0,
            average=True,
            max_iter=self._spec.epochs,
            tol=None,
            random_state=seed,
        ).fit(self._X, aim.targets, sample_weight=w * (len(w) / w.sum()))
        scores = self._X @ model.coef_[0] + model.intercept_[0]
        coef = model.coef_[0] / self._spread
        intercept = float(model.intercept_[0] - coef @ self._centre)
        return Fitted(LinearRule(coef, intercept, aim.criterion), aim.criterion.of_mean(scores))

"""Linear rules: a line on one feature, and a perceptron on all."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from sklearn.linear_model import SGDClassifier

from costboost._typing import AnyArray, Floats
from costboost.learners.base import Aim, Criterion, Fitted, Learner, Rows, constant, one_hot

# A feature that varies less counts as constant: its slope would not be finite.
_SMALLEST_SPREAD = 1e-290

# Rows per block: a block of a few dozen features stays in the cache for its three products.
_BLOCK = 4096

# Standardised features and their squares are kept for all rounds if they take no more bytes than
# this.
_MOST_KEPT = 2**26


def centre_and_spread(X: AnyArray) -> tuple[Floats, Floats]:
    """Mean and standard deviation of each feature; the deviation of a constant one is 1."""
    # Each in a unit of its own, a power of two: the squares of very large or very small numbers
    # would overflow or vanish.
    largest = np.abs(X).max(axis=0).astype(np.float64)
    exponents = np.frexp(largest)[1]
    spread = np.ldexp(np.std(np.ldexp(X, -exponents, dtype=np.float64), axis=0), exponents)
    return X.mean(axis=0, dtype=np.float64), np.where(spread > _SMALLEST_SPREAD, spread, 1.0)


@dataclass
class Line(Learner):
    r"""The best :math:`a\varphi + b` over single features φ, by weighted least squares.

    The weak rule of CS-LogitBoost. Votes are fitted as numbers and read by their sign.
    """

    def prepare(self, rows: Rows) -> None:
        """Standardise the rows."""
        self._X = X = rows.X
        # The sums below would cancel for features far from zero.
        self._centre, self._spread = centre_and_spread(X)
        self._kept: Floats | None = None  # (2 d, n): features, then their squares
        if 16 * X.size <= _MOST_KEPT:
            x = ((X - self._centre) / self._spread).T
            self._kept = np.concatenate([x, np.square(x)])

    def _sums(self, w: Floats, wz: Floats) -> tuple[Floats, Floats, Floats]:
        """Σ w x, Σ w x z and Σ w x² of every standardised feature x, in one pass over the rows."""
        d = self._X.shape[1]
        both = np.column_stack([w, wz])
        if self._kept is not None:
            sums = self._kept @ both
            return sums[:d, 0], sums[:d, 1], sums[d:, 0]
        linear, square = np.zeros((d, 2)), np.zeros(d)
        for start in range(0, len(w), _BLOCK):
            rows = slice(start, start + _BLOCK)
            x = (self._X[rows] - self._centre) / self._spread
            linear += x.T @ both[rows]
            square += np.square(x, out=x).T @ w[rows]
        return linear[:, 0], linear[:, 1], square

    def fit(self, aim: Aim, seed: int) -> Fitted:
        """The line that leaves the smallest weighted sum of squares."""
        w = aim.criterion.fit_weights(aim.targets, aim.weights)
        w = w / w.sum()
        wz = w * aim.targets
        mean_x, product, square = self._sums(w, wz)
        mean_z = float(wz.sum())
        variance = square - mean_x**2
        covariance = product - mean_x * mean_z
        usable = variance > 1e-12
        slopes = np.divide(covariance, variance, out=np.zeros_like(variance), where=usable)
        best = int(np.argmax(slopes * covariance))
        slope = slopes[best] / self._spread[best]
        intercept = mean_z - slopes[best] * mean_x[best] - slope * self._centre[best]
        rule = LineRule(best, float(slope), float(intercept), aim.criterion)
        return Fitted(rule, rule.predict(self._X))


@dataclass(frozen=True)
class LineRule:
    """``slope * x[feature] + intercept``, turned into an output by the criterion."""

    feature: int
    slope: float
    intercept: float
    criterion: Criterion

    def predict(self, X: AnyArray) -> Floats:
        """The outputs of the line, (n,)."""
        return self.criterion.of_mean(self.slope * X[:, self.feature] + self.intercept)

    def importances(self, n_features: int) -> Floats:
        """The rule uses one feature, (d,)."""
        return one_hot(self.feature, n_features)


@dataclass
class Perceptron(Learner):
    """Rosenblatt's perceptron with row weights, its iterates averaged.

    The weak rule of the synthetic study of Cao et al. 2013. Without the average the last few rows
    would decide the direction on data that no line separates. It is scikit-learn's
    ``SGDClassifier``.

    Parameters
    ----------
    epochs : int, default=5
        Number of passes over the rows.
    """

    epochs: int = 5

    def prepare(self, rows: Rows) -> None:
        """Standardise the rows."""
        self._centre, self._spread = centre_and_spread(rows.X)
        self._X = np.ascontiguousarray((rows.X - self._centre) / self._spread)

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
            max_iter=self.epochs,
            tol=None,
            random_state=seed,
        ).fit(self._X, aim.targets, sample_weight=w * (len(w) / w.sum()))
        scores = self._X @ model.coef_[0] + model.intercept_[0]
        coef = model.coef_[0] / self._spread
        intercept = float(model.intercept_[0] - coef @ self._centre)
        return Fitted(LinearRule(coef, intercept, aim.criterion), aim.criterion.of_mean(scores))


@dataclass(frozen=True)
class LinearRule:
    """``x · coef + intercept``, turned into an output by the criterion."""

    coef: Floats
    intercept: float
    criterion: Criterion

    def predict(self, X: AnyArray) -> Floats:
        """The outputs of the rule, (n,)."""
        return self.criterion.of_mean(X @ self.coef + self.intercept)

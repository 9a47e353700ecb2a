"""Classifiers with a bug each, and the law that must find it."""

from __future__ import annotations

import threading
import time
import zlib

import numpy as np

from costboost import AdaC2Classifier


class Sound(AdaC2Classifier):
    """A classifier without a bug: the bugs below are small changes of it."""

    def __init__(self, cost_matrix=None, n_estimators=2, estimator="line", random_state=0):
        super().__init__(
            cost_matrix=cost_matrix,
            n_estimators=n_estimators,
            estimator=estimator,
            random_state=random_state,
        )


class ChangesRows(Sound):
    """Missing values are filled in place."""

    def fit(self, X, y, sample_weight=None, *, costs=None):
        super().fit(X, y, sample_weight, costs=costs)
        if isinstance(X, np.ndarray) and X.flags.writeable and X.dtype.kind == "f":
            X[0] = 0.0
        return self


class ChangesWeights(Sound):
    """Weights are normalised in place."""

    def fit(self, X, y, sample_weight=None, *, costs=None):
        if isinstance(sample_weight, np.ndarray) and sample_weight.dtype.kind == "f":
            sample_weight /= sample_weight.sum()
        return super().fit(X, y, sample_weight, costs=costs)


class ChangesParameters(Sound):
    """A parameter is corrected in fit."""

    def fit(self, X, y, sample_weight=None, *, costs=None):
        self.n_estimators = self.n_estimators + 1
        return super().fit(X, y, sample_weight, costs=costs)


class MissingProbability(Sound):
    """A probability is 0/0 far away from the training rows."""

    def predict_proba(self, X):
        proba = super().predict_proba(X)
        proba[self.decision_function(X) > 0.5] = np.nan
        return proba


class NegativeProbability(Sound):
    """A sum that cancels is negative by rounding."""

    def predict_proba(self, X):
        proba = super().predict_proba(X)
        proba[:, 0], proba[:, 1] = proba[:, 0] - 0.5, proba[:, 1] + 0.5
        return proba


class SumsOff(Sound):
    """Probabilities are rounded to two digits, each by itself."""

    def predict_proba(self, X):
        return np.round(super().predict_proba(X), 2) + 0.001


class UnsortedClasses(Sound):
    """Classes are in the order of their first row."""

    def fit(self, X, y, sample_weight=None, *, costs=None):
        super().fit(X, y, sample_weight, costs=costs)
        self.classes_ = self.classes_[::-1]
        return self


class LosesType(Sound):
    """Labels come back as text."""

    def predict(self, X, costs=None):
        return super().predict(X, costs=costs).astype(str)


class OutsideDecisions(Sound):
    """Rows it is not sure about get a decision of their own."""

    def predict(self, X, costs=None):
        decided = super().predict(X, costs=costs)
        if decided.dtype.kind in "iu":
            decided[:1] = 99
        return decided


class InfiniteScores(Sound):
    """A perfect rule has an infinite vote."""

    def decision_function(self, X):
        scores = super().decision_function(X)
        return np.where(np.abs(scores) > 1.0, np.copysign(np.inf, scores), scores)


class OtherTies(Sound):
    """Told costs, it takes the dearest decision now and then."""

    def predict(self, X, costs=None):
        decided = super().predict(X, costs=costs)
        if costs is not None:
            decided[:1] = np.setdiff1d(self.decisions_, decided[:1])[:1]
        return decided


class SeedIgnored(Sound):
    """Every fit is different."""

    def predict_proba(self, X):
        return super().predict_proba(X) ** self._power / self._norm(X)

    def _norm(self, X):
        return (super().predict_proba(X) ** self._power).sum(axis=1, keepdims=True)

    def fit(self, X, y, sample_weight=None, *, costs=None):
        super().fit(X, y, sample_weight, costs=costs)
        self._power = 1.0 + np.random.default_rng().uniform(0.0, 1.0)
        return self


class RemembersFits(Sound):
    """What was fitted before is still there."""

    seen = 0

    def fit(self, X, y, sample_weight=None, *, costs=None):
        super().fit(X, y, sample_weight, costs=costs)
        type(self).seen += 1
        return self

    def decision_function(self, X):
        return super().decision_function(X) * (1.0 + 0.01 * type(self).seen)


class ThreadRace(Sound):
    """The rows of a call are kept in the object, so threads meet there."""

    def predict(self, X, costs=None):
        n = len(np.asarray(super().predict(X, costs=costs)))
        self._turn = threading.get_ident()
        time.sleep(0.002)
        decided = super().predict(X, costs=costs)
        return decided[::-1][:n] if self._turn != threading.get_ident() else decided[:n]


class CostUnitLeaks(Sound):
    """A threshold that was meant for costs around 1."""

    def predict(self, X, costs=None):
        decided = super().predict(X, costs=costs)
        return decided if self.cost_matrix_.max() < 20.0 else np.roll(decided, 1)


class WeightUnitLeaks(Sound):
    """Weights are smoothed by 1."""

    def fit(self, X, y, sample_weight=None, *, costs=None):
        if sample_weight is not None:
            sample_weight = np.asarray(sample_weight) + 1.0
        return super().fit(X, y, sample_weight, costs=costs)


class RowOrderLeaks(Sound):
    """The first row counts ten times."""

    def fit(self, X, y, sample_weight=None, *, costs=None):
        n = len(np.asarray(y))
        weights = np.ones(n) if sample_weight is None else np.asarray(sample_weight)
        first = np.where(np.arange(n) == 0, 10.0, 1.0)
        return super().fit(X, y, weights * first, costs=costs)


class NamesLeak(Sound):
    """The seed is made of the names of the classes."""

    def decision_function(self, X):
        key = zlib.crc32(repr(self.classes_.tolist()).encode()) % 7
        return super().decision_function(X) * (1.0 + key)


class ClassOrderLeaks(Sound):
    """The second class is favoured."""

    def decision_function(self, X):
        return super().decision_function(X) + 0.3

    def predict(self, X, costs=None):
        if costs is not None:
            return super().predict(X, costs=costs)
        return self.classes_[(self.decision_function(X) >= 0).astype(int)]


class CountsRows(Sound):
    """Each row has the mean weight of its class: splitting rows changes it."""

    def fit(self, X, y, sample_weight=None, *, costs=None):
        if sample_weight is not None:
            sample_weight = np.sqrt(np.asarray(sample_weight))
        return super().fit(X, y, sample_weight, costs=costs)


class RawError(Sound):
    """A division by the number of other columns."""

    def fit(self, X, y, sample_weight=None, *, costs=None):
        super().fit(X, y, sample_weight, costs=costs)
        self._share = 1 / (self.n_features_in_ - 1)
        return self


class ForeignError(Sound):
    """The error of a library below, handed through: it is a ValueError, but no clear one."""

    def predict(self, X, costs=None):
        decided = super().predict(X, costs=costs)
        np.zeros(3) + np.zeros(len(decided) + 4)
        return decided


class UnclearError(Sound):
    """A ValueError that says nothing."""

    def fit(self, X, y, sample_weight=None, *, costs=None):
        raise ValueError("bad input")


class NumpyWarning(Sound):
    """The logarithm of a probability that is 0."""

    def predict(self, X, costs=None):
        np.log(np.zeros(1))
        return super().predict(X, costs=costs)


class NumpySums(Sound):
    """Votes of infinite weight that cancel: numpy warns from inside its own sum."""

    def predict(self, X, costs=None):
        np.sum(np.array([np.inf, -np.inf]))
        return super().predict(X, costs=costs)


BUGS = {
    ChangesRows: "leaves_input_alone",
    ChangesWeights: "leaves_input_alone",
    ChangesParameters: "leaves_input_alone",
    MissingProbability: "answers_soundly",
    NegativeProbability: "answers_soundly",
    SumsOff: "answers_soundly",
    UnsortedClasses: "answers_soundly",
    LosesType: "answers_soundly",
    OutsideDecisions: "answers_soundly",
    OtherTies: "answers_soundly",
    InfiniteScores: "answers_soundly",
    SeedIgnored: "repeats",
    RemembersFits: "repeats",
    ThreadRace: "repeats",
    CostUnitLeaks: "ignores_unit_of_costs",
    WeightUnitLeaks: "ignores_unit_of_weights",
    RowOrderLeaks: "ignores_order_of_rows",
    NamesLeak: "ignores_names_of_classes",
    ClassOrderLeaks: "ignores_order_of_classes",
    CountsRows: "counts_weights_as_rows",
    RawError: "answers_or_refuses",
    ForeignError: "answers_or_refuses",
    UnclearError: "answers_or_refuses",
    NumpyWarning: "answers_or_refuses",
    NumpySums: "answers_or_refuses",
}

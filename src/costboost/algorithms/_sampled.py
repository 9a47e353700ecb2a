"""The base of methods that average classifiers fitted to cost-proportionate samples."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.tree import DecisionTreeClassifier
from sklearn.utils import get_tags

from costboost._typing import AnyArray, Floats, Ints
from costboost.boosting.multiclass import MulticlassProblem
from costboost.learners import Learner, SklearnLearner
from costboost.learners.base import Ensemble
from costboost.multiclass import MulticlassBoostingClassifier

__all__ = ["SampledClassifier"]


class OneHotRule:
    """A fitted classifier of class codes, as one-hot rows."""

    def __init__(self, classifier: Any, k: int) -> None:
        self.classifier, self.k = classifier, k

    def predict(self, X: AnyArray) -> Floats:
        """The class of each row, (n, k)."""
        return np.asarray(np.eye(self.k)[np.asarray(self.classifier.predict(X), dtype=np.intp)])


class SampledClassifier(MulticlassBoostingClassifier):
    """Averages classifiers, each fitted to a sample of its own, in parallel.

    Parameters and attributes are those of `costboost.base.BoostingClassifier`, except that
    ``estimator`` is any scikit-learn classifier (None is a decision tree grown to the end, whatever
    ``max_leaves``), and that ``n_jobs`` counts processes of joblib.
    """

    @staticmethod
    @abstractmethod
    def _draw(problem: MulticlassProblem, rng: np.random.RandomState) -> tuple[Ints, Ints]:
        """A sample: row numbers and the class each is to be taken for."""

    def _learner(self) -> Learner:
        model = DecisionTreeClassifier() if self.estimator is None else self.estimator
        if not isinstance(model, BaseEstimator) or not is_classifier(model):
            raise ValueError(
                f"estimator of {type(self).__name__} must be None or a scikit-learn classifier "
                f"instance; got {self.estimator!r}."
            )
        return SklearnLearner(model)

    def _boost(self, problem: MulticlassProblem, X: AnyArray, rng: np.random.RandomState) -> Floats:
        k = problem.C.shape[1]
        model = self._learner().estimator  # type: ignore[attr-defined]
        seeds = rng.randint(np.iinfo(np.int32).max, size=self.n_estimators)
        fitted = Parallel(n_jobs=self.n_jobs, verbose=10 * int(self.verbose))(
            delayed(_fit_sample)(model, X, problem, self._draw, int(seed)) for seed in seeds
        )
        rules = [OneHotRule(classifier, k) for classifier in fitted]
        votes = np.full(len(rules), 1.0 / len(rules))
        self._keep(Ensemble(rules, votes), votes, len(rules), [])
        return self._ensemble.decision_function(X)

    def _scores(self, X: AnyArray) -> Floats:
        return self._ensemble.decision_function(X)

    def _staged_scores(self, X: AnyArray) -> Iterator[Floats]:
        for t, F in enumerate(self._ensemble.staged(X), start=1):
            yield F * (self.n_iter_ / t)

    def _probabilities(self, scores: Floats) -> Floats:
        return scores

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._learner().estimator)  # type: ignore[attr-defined]
        tags.input_tags.allow_nan = inner.input_tags.allow_nan
        return tags


def _fit_sample(model: Any, X: AnyArray, problem: MulticlassProblem, draw: Any, seed: int) -> Any:
    rng = np.random.RandomState(seed)
    rows, classes = draw(problem, rng)
    classifier = clone(model)
    if "random_state" in classifier.get_params(deep=False):
        classifier.set_params(random_state=seed)
    return classifier.fit(X[rows], classes)

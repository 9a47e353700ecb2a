"""The base of methods that average classifiers fitted to cost-proportionate samples."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any, ClassVar

import numpy as np
from joblib import Parallel, delayed
from sklearn.base import BaseEstimator, clone, is_classifier
from sklearn.tree import DecisionTreeClassifier

from costboost._typing import AnyArray, Floats, Ints
from costboost.boosting.loop import Scheme
from costboost.boosting.multiclass import MulticlassProblem
from costboost.learners import Learner
from costboost.learners.base import BoundLearner, Ensemble
from costboost.learners.classes import ClassRule, Labels
from costboost.learners.mixture import Mixture
from costboost.multiclass import MulticlassBoostingClassifier, shares

__all__ = ["SampledClassifier"]


class SampledClassifier(MulticlassBoostingClassifier):
    """Averages classifiers, each fitted to a sample of its own, in parallel.

    Parameters
    ----------
    n_estimators : int, default=100
        Number of samples, each with a classifier of its own.
    estimator : scikit-learn classifier or None, default=None
        The classifier of each sample. None is a fully grown decision tree.
    max_leaves : int, default=8
        Without effect here: the classifier brings its own limits.
    n_jobs : int or None, default=None
        Number of processes of joblib. None is one.
    verbose : int, default=0
        Above 0, joblib prints its progress.
    """

    _needs_classes_as_decisions: ClassVar[bool] = False

    @staticmethod
    @abstractmethod
    def _draw(problem: MulticlassProblem, rng: np.random.RandomState) -> tuple[Ints, Ints]:
        """A sample: row numbers, and the decision that each row is an example of."""

    def _learner(self) -> Learner:
        model = DecisionTreeClassifier() if self.estimator is None else self.estimator
        if not isinstance(model, BaseEstimator) or not is_classifier(model):
            raise ValueError(
                f"estimator of {type(self).__name__} must be None or a scikit-learn classifier "
                f"instance; got {self.estimator!r}."
            )
        return Labels(model)

    def _scheme(
        self, problem: MulticlassProblem, learner: BoundLearner, rng: np.random.RandomState
    ) -> Scheme:
        raise NotImplementedError("samples are drawn independently: there are no rounds")

    def _train(self, problem: MulticlassProblem, X: AnyArray, rng: np.random.RandomState) -> Floats:
        k = problem.C.shape[1]
        model = self._learner().estimator  # type: ignore[attr-defined]
        seeds = rng.randint(np.iinfo(np.int32).max, size=self.n_estimators)
        fitted = Parallel(n_jobs=self.n_jobs, verbose=10 * int(self.verbose))(
            delayed(_fit_sample)(model, X, problem, self._draw, int(seed)) for seed in seeds
        )
        rules = [ClassRule(classifier, k) for classifier in fitted]
        average = Ensemble(rules, np.full(len(rules), 1.0 / len(rules)))
        self._keep(Mixture(average, 1.0 / np.arange(1.0, len(rules) + 1.0), k))
        self.estimator_weights_ = average.votes
        return self._ensemble.decision_function(X)

    def _probabilities(self, scores: Floats) -> Floats:
        return shares(scores)


def _fit_sample(model: Any, X: AnyArray, problem: MulticlassProblem, draw: Any, seed: int) -> Any:
    rng = np.random.RandomState(seed)
    rows, decisions = draw(problem, rng)
    classifier = clone(model)
    if "random_state" in classifier.get_params(deep=False):
        classifier.set_params(random_state=seed)
    # Trees of scikit-learn cast to single precision, and their error names what does not fit.
    with np.errstate(over="ignore"):
        return classifier.fit(X[rows], decisions)

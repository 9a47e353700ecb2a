"""The base of the multi-class family: cost rows in, a score per class out."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np

from costboost._typing import AnyArray, Bools, Floats, Ints
from costboost.base import BoostingClassifier
from costboost.boosting.multiclass import MulticlassProblem
from costboost.costs import KnownCosts
from costboost.errors import CollapseWarning

__all__ = ["MulticlassBoostingClassifier"]


class MulticlassBoostingClassifier(BoostingClassifier):
    """A boosted classifier of any number of classes, which decides for the largest score.

    Parameters and attributes are those of `costboost.base.BoostingClassifier`.
    """

    @abstractmethod
    def _boost(self, problem: MulticlassProblem, X: AnyArray, rng: np.random.RandomState) -> Floats:
        """Run the algorithm, `_keep` it, and return the training scores, (n, k)."""

    @abstractmethod
    def _staged_scores(self, X: AnyArray) -> Iterator[Floats]:
        """The scores of validated rows after each round, (n, k) each."""

    @abstractmethod
    def _scores(self, X: AnyArray) -> Floats:
        """The scores of validated rows, (n, k)."""

    @abstractmethod
    def _probabilities(self, scores: Floats) -> Floats:
        """Class probabilities from scores, (n, k)."""

    def _fit_costs(
        self,
        costs: KnownCosts,
        weights: Floats,
        used: Bools,
        X: AnyArray,
        rng: np.random.RandomState,
    ) -> None:
        problem = MulticlassProblem.from_costs(costs, weights, used)
        F = self._boost(problem, X, rng)
        bill = problem.sample_weight @ problem.C
        self._cheapest = np.eye(len(bill))[bill.argmin()]  # scores of the best constant decision
        if self.n_iter_:
            self._warn_if_collapsed(F.argmax(axis=1))
            return
        warnings.warn(
            f"{type(self).__name__} found no usable rule in its first round; it predicts the "
            "cheapest constant decision.",
            CollapseWarning,
            stacklevel=3,
        )

    def _all_scores(self, X: Any) -> Floats:
        rows = self._checked(X)
        return self._scores(rows) if self.n_iter_ else np.tile(self._cheapest, (len(rows), 1))

    def _shaped(self, scores: Floats) -> Floats:
        """Two columns become one difference, as scikit-learn wants it for two classes."""
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def _decide(self, scores: Floats) -> Ints:
        return (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)

    def decision_function(self, X: Any) -> Floats:
        """The scores of the classes.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n, k), or (n,) for two classes
            A column per class; for two classes the second minus the first.
        """
        return self._shaped(self._all_scores(X))

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """The scores after each round.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.

        Yields
        ------
        array of shape (n, k), or (n,) for two classes
            Scores after one round more.
        """
        for scores in self._staged_scores(self._checked(X)):
            yield self._shaped(scores)

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities; the class docstring says what theory they rest on.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n, k)
            A column per class, in the order of ``classes_``.
        """
        return self._probabilities(self._all_scores(X))


def shares(scores: Floats) -> Floats:
    """Non-negative scores as shares of their row's sum; uniform where all are zero."""
    total = scores.sum(axis=1, keepdims=True)
    uniform = np.full_like(scores, 1.0 / scores.shape[1])
    return np.asarray(np.divide(scores, total, out=uniform, where=total > 0))

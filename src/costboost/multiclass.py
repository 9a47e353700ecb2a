"""The base of the multi-class family: cost rows in, a score per class out."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np

from costboost._typing import AnyArray, Bools, Floats, Ints
from costboost.boosted import BoostingClassifier
from costboost.boosting.loop import Scheme
from costboost.boosting.multiclass import MulticlassProblem
from costboost.costs import KnownCosts
from costboost.errors import CollapseWarning
from costboost.learners.base import BoundLearner, Rows, one_hot
from costboost.learners.joint import JointTree
from costboost.learners.pairs import BoundPairs

__all__ = ["MulticlassBoostingClassifier", "shares"]

# Scores that differ by less, relative to the largest, are equal.
TIE = 1e-12


class MulticlassBoostingClassifier(BoostingClassifier):
    """A boosted classifier for any number of classes; the decision is the largest score.

    Recipes say which `Scheme` runs, how the weak learner is bound to the rows, and what
    probabilities mean. Equal scores are decided for the decision that costs least when it is made
    for all training rows.
    """

    @abstractmethod
    def _scheme(
        self, problem: MulticlassProblem, learner: BoundLearner, rng: np.random.RandomState
    ) -> Scheme:
        """The algorithm on this problem."""

    def _bind(self, rows: Rows, k: int) -> BoundLearner:
        """The weak learner on these rows: a relation over k classes, by default a rule for each."""
        learner = self._learner()
        if isinstance(learner, JointTree):
            return learner.bind_pairs(rows, k)
        return BoundPairs(learner.bind(rows), k)

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
        # Decisions, the cheapest one for all rows first.
        self._by_cost = np.argsort(problem.sample_weight @ problem.C, kind="stable")
        F = self._train(problem, X, rng)
        if self.n_iter_:
            self._warn_if_collapsed(self._settled(F).argmax(axis=1), stacklevel=5)
            return
        warnings.warn(
            f"{type(self).__name__} found no usable rule in its first round; it predicts the "
            "cheapest constant decision.",
            CollapseWarning,
            stacklevel=4,
        )

    def _train(self, problem: MulticlassProblem, X: AnyArray, rng: np.random.RandomState) -> Floats:
        """Run the algorithm, `_keep` it, and return the training scores, (n, k)."""
        learner = self._bind(self._bound_rows(X, problem.sample_weight, rng), problem.C.shape[1])
        scheme = self._scheme(problem, learner, rng)
        history, ensemble = self._run(scheme, learner, rng)
        self._keep(ensemble, history.losses)
        return scheme.F

    def _all_scores(self, X: Any) -> Floats:
        rows = self._checked(X)
        if self.n_iter_:
            return self._ensemble.decision_function(rows)
        return np.tile(one_hot(int(self._by_cost[0]), len(self._by_cost)), (rows.shape[0], 1))

    def _settled(self, scores: Floats) -> Floats:
        """Scores without ties: of equal largest ones, that of the cheapest decision is raised."""
        # By the last digit only. Whoever takes the largest score then decides as `predict` does.
        ordered = scores[:, self._by_cost]
        largest = ordered.max(axis=1)
        slack = TIE * np.abs(ordered).max(axis=1)
        best = ordered >= (largest - slack)[:, None]
        tied = np.flatnonzero(best.sum(axis=1) > 1)
        settled = scores.copy()
        settled[tied, self._by_cost[best[tied].argmax(axis=1)]] = np.nextafter(
            largest[tied], np.inf
        )
        return settled

    def _shaped(self, scores: Floats) -> Floats:
        """Two columns become one difference, as scikit-learn wants it."""
        return scores[:, 1] - scores[:, 0] if scores.shape[1] == 2 else scores

    def _decide(self, scores: Floats) -> Ints:
        return (scores > 0).astype(np.intp) if scores.ndim == 1 else scores.argmax(axis=1)

    def decision_function(self, X: Any) -> Floats:
        """The scores of the decisions.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n, d), or (n,) for two decisions
            A column per decision; for two decisions the second minus the first.
        """
        return self._shaped(self._settled(self._all_scores(X)))

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """The scores after each round.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.

        Yields
        ------
        array of shape (n, d), or (n,) for two decisions
            Scores after one round more.
        """
        for scores in self._ensemble.staged(self._checked(X)):
            yield self._shaped(self._settled(scores))

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
        scores = self._all_scores(X)
        if not np.array_equal(self.decisions_, self.classes_):
            raise ValueError(
                f"{type(self).__name__} has no class probabilities: it was fitted with the "
                f"decisions {self.decisions_.tolist()}, which are not the classes. Use "
                "decision_function, or MinCostClassifier."
            )
        proba = self._probabilities(scores)
        # Links keep the order of the scores, so only ties can differ from `predict`.
        winner, row = self._settled(scores).argmax(axis=1), np.arange(len(proba))
        tied = proba.argmax(axis=1) != winner
        proba[row[tied], winner[tied]] = (1.0 + TIE) * proba[tied].max(axis=1)
        return proba


def shares(scores: Floats) -> Floats:
    """Non-negative scores as shares of their row's sum; uniform where all are zero."""
    # Shares that differ by rounding only are made equal: their logarithms would be. A sum of votes
    # that cancel may be negative by rounding.
    scores = np.maximum(scores, 0.0)
    total = scores.sum(axis=1, keepdims=True)
    uniform = np.full_like(scores, 1.0 / scores.shape[1])
    return np.asarray(np.round(np.divide(scores, total, out=uniform, where=total > 0), 15))

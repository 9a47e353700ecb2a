"""The base of the binary family: a problem of two classes, the loop, a score and its link."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar

import numpy as np
from sklearn.utils.validation import check_is_fitted

from costboost._typing import AnyArray, Bools, Floats, Ints
from costboost._validation import Constraint, one_of
from costboost.boosted import BoostingClassifier
from costboost.boosting import BinaryProblem, Scheme
from costboost.boosting.loop import PERFECT_VOTE
from costboost.boosting.votes import Init, half_log_ratio
from costboost.costs import KnownCosts
from costboost.errors import CollapseWarning
from costboost.learners import Ensemble
from costboost.learners.base import ConstantRule
from costboost.losses import BinaryLoss, WeightedExponential

__all__ = ["BinaryBoostingClassifier"]


class BinaryBoostingClassifier(BoostingClassifier):
    """A binary boosted classifier.

    Recipes say which learner they use by default, which initial weights, which `Scheme` runs, and
    which loss links scores to probabilities.

    Parameters
    ----------
    init : {"uniform", "balanced", "cost"} or None, default=None
        Initial weights: equal, equal class totals, or proportional to the costs. None is the
        paper's choice. After ``"balanced"``, scores and probabilities are those of a population
        in which both classes are equally frequent.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The classes; the second one is the positive class of the equations.
    """

    _needs_classes_as_decisions: ClassVar[bool] = True
    _default_init: ClassVar[Init] = "cost"
    _link: ClassVar[BinaryLoss] = WeightedExponential()
    _rules: ClassVar[Mapping[str, Constraint]] = {
        "init": one_of(None, "uniform", "balanced", "cost")
    }

    def __init__(
        self,
        cost_matrix: Any = None,
        n_estimators: int = 100,
        estimator: Any = None,
        max_leaves: int = 8,
        init: Init | None = None,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        super().__init__(
            cost_matrix=cost_matrix,
            n_estimators=n_estimators,
            estimator=estimator,
            max_leaves=max_leaves,
            random_state=random_state,
            n_jobs=n_jobs,
            verbose=verbose,
        )
        self.init = init

    @abstractmethod
    def _scheme(self, problem: BinaryProblem, init: Init) -> Scheme:
        """The algorithm on this problem."""

    # -- fit ------------------------------------------------------------------------------------

    def _check_classes(self) -> None:
        super()._check_classes()
        if len(self.classes_) > 2:
            # Worded so that scikit-learn's checks recognise it.
            raise ValueError(
                f"Only binary classification is supported by {type(self).__name__}. The type of "
                f"the target is multiclass, with {len(self.classes_)} classes: "
                f"{self.classes_.tolist()[:10]}. Use a multi-class algorithm of costboost."
            )

    def _fit_costs(
        self,
        costs: KnownCosts,
        weights: Floats,
        used: Bools,
        X: AnyArray,
        rng: np.random.RandomState,
    ) -> None:
        problem = BinaryProblem.from_costs(costs, weights)
        if not used.all():
            problem = problem.take(used)
        self._cost_pair = problem.mean_pair
        if problem.y.min() == problem.y.max():
            # Every row is best decided alike, whatever its truth.
            self._fall_back(problem, "one decision is the cheapest for every row")
            return
        bound = self._learner().bind(self._bound_rows(X, problem.sample_weight, rng))
        scheme = self._scheme(problem, self.init or self._default_init)
        history, ensemble = self._run(scheme, bound, rng)
        if not history.rules:
            self._fall_back(problem, history.stop, self._remedy(problem))
            return
        self._keep(ensemble, history.losses)
        self._warn_if_collapsed(self._decide(scheme.F), stacklevel=5)

    def _fall_back(self, problem: BinaryProblem, reason: str, remedy: str = "") -> None:
        """The cheapest constant decision, with the vote AdaBoostC would give it."""
        warnings.warn(
            f"{type(self).__name__} fitted no rule ({reason}); it predicts the cheapest constant "
            f"decision. {remedy}".rstrip(),
            CollapseWarning,
            stacklevel=5,
        )
        at_stake = problem.sample_weight * problem.c
        positive = float(at_stake[problem.y > 0].sum())
        vote = half_log_ratio(positive, float(at_stake.sum()) - positive)
        rule = ConstantRule(1.0 if vote >= 0 else -1.0)
        self._keep(Ensemble([rule], np.array([min(abs(vote), PERFECT_VOTE)])))

    def _remedy(self, problem: BinaryProblem) -> str:
        """What to do where no rule was of use, if the recipe knows more than the loop."""
        return ""

    # -- predict --------------------------------------------------------------------------------

    def _decide(self, scores: Floats) -> Ints:
        return (scores >= 0).astype(np.intp)

    def decision_function(self, X: Any) -> Floats:
        """The score F(x) = Σ α h(x), (n,); the decision is its sign.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n,)
            Scores; at 0 or above the positive class ``classes_[1]`` is decided.
        """
        rows = self._checked(X)
        return self._ensemble.decision_function(rows)

    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """The score after each round.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.

        Yields
        ------
        array of shape (n,)
            Scores after one round more.
        """
        rows = self._checked(X)
        yield from self._ensemble.staged(rows)

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities, read off the score by the loss's link.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n, 2)
            A column per class, in the order of ``classes_``.
        """
        positive = self._link.probability(self.decision_function(X), self._link_costs())
        return np.column_stack([1.0 - positive, positive])

    def _link_costs(self) -> tuple[float, float]:
        """The costs that the fitted score has inside."""
        return self._cost_pair

    @property
    def booster_(self) -> Any:
        """The finished ensemble as a LightGBM model, if the weak learner is ``"tree"``."""
        check_is_fitted(self)
        trees = getattr(self._ensemble, "trees", None)
        if trees is None:
            raise AttributeError(
                f"booster_ exists only if the weak learner of {type(self).__name__} is a tree."
            )
        return trees.to_lightgbm(self.n_features_in_)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        return tags

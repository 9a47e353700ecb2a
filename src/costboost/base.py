"""The estimator bases: costs in, cheapest decision out, scikit-learn conventions throughout."""

from __future__ import annotations

import os
import warnings
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from costboost._frames import FrameEncoder, categorical_columns
from costboost._progress import round_progress
from costboost._typing import AnyArray, Floats, Ints
from costboost._validation import check_parameters, check_weights
from costboost.boosting import BinaryProblem, History, Scheme, boost
from costboost.boosting.loop import Progress
from costboost.boosting.problem import Init
from costboost.boosting.scheme import PERFECT_VOTE
from costboost.boosting.votes import half_log_ratio
from costboost.costs import Costs
from costboost.errors import CollapseWarning
from costboost.learners import Ensemble, Learner, Rows, Rule, resolve
from costboost.learners.base import ConstantRule
from costboost.losses import BinaryLoss, WeightedExponential
from costboost.metrics import savings_score

__all__ = ["BoostingClassifier", "CostSensitiveClassifier"]

# Below this many rows a second thread costs more than it brings.
_ROWS_PER_THREAD = 10_000


class CostSensitiveClassifier(ClassifierMixin, BaseEstimator):
    """What all classifiers of the library share: how costs enter, and the savings score."""

    cost_matrix: Any
    classes_: AnyArray

    def _truth_costs(self, costs: Any, codes: Ints, X: Any) -> Costs:
        """The costs of rows whose truth is known."""
        return Costs.resolve(
            self.cost_matrix,
            costs,
            classes=self.classes_,
            n_samples=len(codes),
            X=X,
            codes=codes,
            owner=type(self).__name__,
        )

    def _decision_costs(self, costs: Any, n_samples: int, X: Any) -> Costs | None:
        """The rows' own costs at decision time; None if the model must do without."""
        if costs is None and not callable(self.cost_matrix):
            return None
        return Costs.resolve(
            self.cost_matrix,
            costs,
            classes=self.classes_,
            n_samples=n_samples,
            X=X,
            owner=type(self).__name__,
        )

    def score(
        self,
        X: Any,
        y: ArrayLike,
        costs: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> float:
        """Savings: 1 - cost / cost of the best constant decision.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.
        y : array of shape (n,)
            Their true classes.
        costs : array of shape (n, k, k), (n, k) or (n,), optional
            Costs of the rows. Of shape (n, k, k) they are known at decision time, so the
            decisions use them too; the other forms only price the decisions.
        sample_weight : array of shape (n,), optional
            Weights of the rows.

        Returns
        -------
        float
            1 for a bill of nothing, 0 for that of the best constant decision, below 0 if dearer.
        """
        known = costs if costs is not None and np.ndim(costs) == 3 else None
        decisions = self.predict(X, costs=known)
        matrix = self.cost_matrix
        if costs is None and callable(matrix):
            costs, matrix = matrix(X), None
        return float(
            savings_score(
                y,
                decisions,
                cost_matrix=matrix,
                costs=costs,
                labels=self.classes_,
                sample_weight=sample_weight,
            )
        )

    @abstractmethod
    def predict(self, X: Any, costs: ArrayLike | None = None) -> AnyArray:
        """The cheapest decision for each row."""


class BoostingClassifier(CostSensitiveClassifier):
    """A binary boosted classifier: validation, the loop, and prediction.

    Recipes say which learner they use by default, which initial weights, which `Scheme` runs, and
    which loss links scores to probabilities.

    Parameters
    ----------
    cost_matrix : array, frame, mapping, callable or None, default=None
        What each decision costs: a (2, 2) array, rows = truth, columns = decision, in the order of
        ``classes_``; a labelled frame; ``{(truth, decision): cost}``; ``{"fn": 5, "fp": 1}`` (also
        ``"tp"``, ``"tn"`` and ``"positive"``, the positive class); a callable ``X -> (n, 2, 2)``;
        None if every mistake costs 1.
    n_estimators : int, default=100
        Most rounds of boosting.
    estimator : str, Learner, scikit-learn estimator or None, default=None
        The weak learner: ``"tree"``, ``"stump"``, ``"histogram"``, ``"line"``, ``"perceptron"``, a
        learner object of `costboost.learners`, or any scikit-learn estimator whose ``fit`` takes
        ``sample_weight``. None is the paper's choice.
    max_leaves : int, default=8
        Most leaves of a tree, for the ``"tree"`` learner.
    init : {"uniform", "balanced", "cost"} or None, default=None
        Initial weights: equal, equal class totals, or proportional to the costs. None is the
        paper's choice.
    random_state : int, RandomState or None, default=None
        Seed of the weak learner, where it is random.
    n_jobs : int or None, default=None
        Threads. None uses one below 10,000 rows and all above; -1 uses all.
    verbose : int, default=0
        1 shows a progress bar, 2 prints every round.

    Attributes
    ----------
    classes_ : array of shape (2,)
        The classes; the second one is the positive class of the equations.
    cost_matrix_ : array of shape (2, 2)
        The costs, averaged over the rows where they differ.
    estimators_ : list
        The weak rules.
    estimator_weights_ : array of shape (n_iter_,)
        Their votes, the α of the equations.
    n_iter_ : int
        Rounds kept.
    """

    _default_estimator: ClassVar[str] = "tree"
    _default_init: ClassVar[Init] = "cost"
    _link: ClassVar[BinaryLoss] = WeightedExponential()

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
        self.cost_matrix = cost_matrix
        self.n_estimators = n_estimators
        self.estimator = estimator
        self.max_leaves = max_leaves
        self.init = init
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    # -- the recipe -----------------------------------------------------------------------------

    @abstractmethod
    def _scheme(self, problem: BinaryProblem, init: Init) -> Scheme:
        """The algorithm on this problem."""

    # -- fit ------------------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        costs: ArrayLike | None = None,
        sample_weight: ArrayLike | None = None,
    ) -> Self:
        """Fit the boosted classifier.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows; NaN and categorical columns where the weak learner takes them.
        y : array of shape (n,)
            Their true classes: two of them.
        costs : array of shape (n, 2, 2), (n, 2) or (n,), optional
            Costs of the rows, in place of ``cost_matrix``: the row's own matrix, the price of each
            decision, or the price of an error on that row.
        sample_weight : array of shape (n,), optional
            Weights of the rows; weight 2 is the same as having the row twice.

        Returns
        -------
        self
            The fitted classifier.
        """
        check_parameters(self)
        owner = type(self).__name__
        learner = self._learner()
        matrix, y = self._fit_rows(X, y, learner)
        self.classes_, codes = np.unique(y, return_inverse=True)
        if len(self.classes_) != 2:
            # Worded so that scikit-learn's checks recognise it.
            raise ValueError(
                f"Only binary classification is supported by {owner}. The type of the target has "
                f"{len(self.classes_)} class{'es' if len(self.classes_) != 1 else ''}: "
                f"{self.classes_.tolist()[:10]}. Use a multi-class algorithm, or give it rows of "
                "both classes."
            )
        weights = check_weights(sample_weight, len(codes), owner)
        resolved = self._truth_costs(costs, codes, X)
        self.cost_matrix_ = resolved.mean_matrix.copy()
        problem = BinaryProblem.from_costs(resolved, weights)
        used = problem.sample_weight > 0
        if not used.all():
            problem, matrix = problem.take(used), matrix[used]
        if not problem.c.any():
            raise ValueError(
                f"Every decision costs {owner} the same, so there is nothing to learn. Give "
                "cost_matrix or costs at least one entry that tells decisions apart."
            )
        self._cost_pair = problem.mean_pair
        history = self._boost(problem, matrix, learner)
        self.estimators_: list[Rule] = self._ensemble.rules
        self.estimator_weights_ = self._ensemble.votes
        self.n_iter_ = len(self.estimators_)
        if history.losses:
            self.train_loss_ = np.array(history.losses)
        if history.rules:  # otherwise the fall-back has warned
            self._warn_if_collapsed(history.F)
        return self

    def _learner(self) -> Learner:
        estimator = self._default_estimator if self.estimator is None else self.estimator
        return resolve(estimator, self.max_leaves, type(self).__name__)

    def _fit_rows(self, X: Any, y: Any, learner: Learner) -> tuple[AnyArray, AnyArray]:
        """The rows as a float matrix, and the labels."""
        categorical = categorical_columns(X)
        self._frame = None
        if categorical:
            if not learner.accepts_categories:
                names = [X.columns[j] for j in categorical]
                raise ValueError(
                    f"X has categorical columns {names}, which the weak learner "
                    f"{learner} of {type(self).__name__} cannot take. Encode them, or use "
                    "estimator='tree'."
                )
            self._frame = FrameEncoder(X, categorical)
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        matrix, y = self._rows(X, learner, y=y)
        check_classification_targets(y)
        return matrix, y

    def _rows(self, X: Any, learner: Learner, y: Any = None) -> Any:
        """Validate X (and y while fitting), categories encoded."""
        reset = y is not None
        checks: dict[str, Any] = {
            "dtype": [np.float64, np.float32],
            "ensure_all_finite": "allow-nan" if learner.accepts_missing else True,
        }
        if self._frame is None:
            return validate_data(self, X, **({"y": y} if reset else {}), reset=reset, **checks)
        validate_data(self, X, reset=reset, skip_check_array=True)
        matrix = check_array(self._frame.transform(X), estimator=self, **checks)
        if not reset:
            return matrix
        y = np.asarray(y)
        if y.shape != (len(matrix),):
            raise ValueError(
                f"y must have shape ({len(matrix)},), one label per row of X; got {y.shape}."
            )
        return matrix, y

    def _boost(self, problem: BinaryProblem, X: AnyArray, learner: Learner) -> History:
        """Run the loop and keep the ensemble."""
        n = len(problem.y)
        if problem.y.min() == problem.y.max():
            # Every row is best decided alike, whatever its truth.
            return self._fall_back(problem, "one decision is the cheapest for every row")
        rng = check_random_state(self.random_state)
        rows = Rows(
            X,
            problem.sample_weight,
            self._frame.categorical if self._frame else [],
            self._n_threads(n),
            int(rng.randint(np.iinfo(np.int32).max)),
        )
        bound = learner.bind(rows)
        scheme = self._scheme(problem, self.init or self._default_init)
        with self._progress() as progress:
            history = boost(
                scheme,
                bound,
                n_rows=n,
                n_rounds=self.n_estimators,
                rng=rng,
                progress=progress,
            )
        if not history.rules:
            return self._fall_back(problem, history.stop)
        self._ensemble = bound.ensemble(history.rules, np.array(history.votes))
        return history

    def _fall_back(self, problem: BinaryProblem, reason: str) -> History:
        """The cheapest constant decision, with the vote AdaBoostC would give it."""
        warnings.warn(
            f"{type(self).__name__} fitted no rule ({reason}); it predicts the cheapest constant "
            "decision.",
            CollapseWarning,
            stacklevel=4,
        )
        at_stake = problem.sample_weight * problem.c
        positive = float(at_stake[problem.y > 0].sum())
        vote = half_log_ratio(positive, float(at_stake.sum()) - positive)
        value = 1.0 if vote >= 0 else -1.0
        votes = np.array([min(abs(vote), PERFECT_VOTE)])
        self._ensemble = Ensemble([ConstantRule(value)], votes)
        return History(F=np.full(len(problem.y), value))

    def _warn_if_collapsed(self, F: Floats) -> None:
        decisions = F >= 0
        if decisions.all() or not decisions.any():
            label = self.classes_.tolist()[int(decisions[0])]
            warnings.warn(
                f"{type(self).__name__} predicts class {label!r} for every training row. Is the "
                "cost ratio meant to be so high? Look at cost_matrix_, or give the weak learner "
                "more room.",
                CollapseWarning,
                stacklevel=3,
            )

    def _n_threads(self, n: int) -> int:
        cores = os.cpu_count() or 1
        if self.n_jobs is None:
            return 1 if n < _ROWS_PER_THREAD else cores
        return self.n_jobs if self.n_jobs > 0 else max(1, cores + 1 + self.n_jobs)

    def _progress(self) -> AbstractContextManager[Progress | None]:
        return round_progress(type(self).__name__, int(self.verbose))

    # -- predict --------------------------------------------------------------------------------

    def _checked(self, X: Any) -> AnyArray:
        check_is_fitted(self)
        return np.asarray(self._rows(X, self._learner()))

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
        return self._ensemble.decision_function(self._checked(X))

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
        yield from self._ensemble.staged(self._checked(X))

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

    def predict(self, X: Any, costs: ArrayLike | None = None) -> AnyArray:
        """The cheapest decision for each row.

        Without ``costs`` it is the sign of the score: the costs were learned. With them (or a
        callable ``cost_matrix``) it is the decision of smallest expected cost by
        `predict_proba`.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.
        costs : array of shape (n, 2, 2), optional
            The rows' own cost matrices, truth by decision.

        Returns
        -------
        array of shape (n,)
            Class labels.
        """
        check_is_fitted(self)
        known = self._decision_costs(costs, _n_rows(X), X)
        if known is not None:
            return self.classes_[known.decide(self.predict_proba(X))]
        return self.classes_[(self.decision_function(X) >= 0).astype(np.intp)]

    def staged_predict(self, X: Any) -> Iterator[AnyArray]:
        """The decisions after each round.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.

        Yields
        ------
        array of shape (n,)
            Class labels after one round more.
        """
        for F in self.staged_decision_function(X):
            yield self.classes_[(F >= 0).astype(np.intp)]

    @property
    def booster_(self) -> Any:
        """The finished ensemble as a LightGBM model, if the weak learner is ``"tree"``."""
        check_is_fitted(self)
        booster = getattr(self._ensemble, "booster", None)
        if booster is None:
            raise AttributeError(
                f"booster_ exists only if the weak learner of {type(self).__name__} is a tree."
            )
        return booster

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.multi_class = False
        tags.input_tags.allow_nan = self._learner().accepts_missing
        return tags


def _n_rows(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)

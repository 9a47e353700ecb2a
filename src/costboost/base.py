"""The estimator bases: costs in, cheapest decision out, scikit-learn conventions throughout."""

from __future__ import annotations

import warnings
from abc import abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_array, check_is_fitted, validate_data

from costboost._frames import FrameEncoder, categorical_columns
from costboost._progress import round_progress
from costboost._threads import n_threads
from costboost._typing import AnyArray, Bools, Floats, Ints
from costboost._validation import check_parameters, check_weights
from costboost.boosting.loop import Progress
from costboost.cost_sensitive import CostSensitiveClassifier
from costboost.costs import KnownCosts
from costboost.errors import CollapseWarning
from costboost.learners import Ensemble, Learner, Rows, Rule, resolve

__all__ = ["BoostingClassifier", "TableClassifier"]


class TableClassifier(CostSensitiveClassifier):
    """A classifier that reads arrays and frames itself: numbers, categories, missing values."""

    _frame: FrameEncoder | None

    def _read_training(
        self, X: Any, y: Any, *, categories: bool, missing: bool, remedy: str = ""
    ) -> tuple[AnyArray, AnyArray]:
        """The rows as a float matrix, and the labels; remembers how the columns are coded."""
        categorical = categorical_columns(X)
        self._frame = None
        if categorical:
            if not categories:
                names = [X.columns[j] for j in categorical]
                raise ValueError(f"X has categorical columns {names}, which {remedy}")
            self._frame = FrameEncoder(X, categorical)
        if y is None:
            raise ValueError(
                f"{type(self).__name__} requires y to be passed, but the target y is None."
            )
        matrix, y = self._read(X, missing=missing, y=y)
        check_classification_targets(y)
        return matrix, y

    def _read(self, X: Any, *, missing: bool, y: Any = None) -> Any:
        """Validate X (and y while fitting), categories encoded."""
        reset = y is not None
        checks: dict[str, Any] = {
            "dtype": [np.float64, np.float32],
            "ensure_all_finite": "allow-nan" if missing else True,
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

    def _check_classes(self) -> None:
        if len(self.classes_) < 2:
            raise ValueError(
                f"{type(self).__name__} needs rows of at least two classes, and there is only one "
                f"class: {self.classes_.tolist()}."
            )

    def _check_stakes(self, costs: KnownCosts, weights: Floats) -> None:
        if not costs.reduced[weights > 0].any():
            raise ValueError(
                f"Every decision costs {type(self).__name__} the same, so there is nothing to "
                "learn. Give cost_matrix or costs at least one entry that tells decisions apart."
            )

    def _warn_if_collapsed(
        self, decisions: Ints, remedy: str = "give the weak learner more room"
    ) -> None:
        """Say it once when one class is predicted for every training row."""
        if decisions.min() == decisions.max():
            label = self.classes_.tolist()[int(decisions[0])]
            warnings.warn(
                f"{type(self).__name__} predicts class {label!r} for every training row. Is the "
                f"cost ratio meant to be so high? Look at cost_matrix_, or {remedy}.",
                CollapseWarning,
                stacklevel=4,
            )


class BoostingClassifier(TableClassifier):
    """A boosted classifier: parameters, validation and prediction, for two classes or more.

    Parameters
    ----------
    cost_matrix : array, frame, mapping, callable or None, default=None
        What each decision costs: a (k, k) array, rows = truth, columns = decision, in the order of
        ``classes_``; a labelled frame; ``{(truth, decision): cost}``; for two classes
        ``{"fn": 5, "fp": 1}`` (also ``"tp"``, ``"tn"`` and ``"positive"``, the positive class); a
        callable ``X -> (n, k, k)``; None if every mistake costs 1.
    n_estimators : int, default=100
        Most rounds of boosting.
    estimator : str, Learner, scikit-learn estimator or None, default=None
        The weak learner: ``"tree"``, ``"stump"``, ``"histogram"``, ``"line"``, ``"perceptron"``, a
        learner object of `costboost.learners`, or any scikit-learn estimator whose ``fit`` takes
        ``sample_weight``. None is the paper's choice.
    max_leaves : int, default=8
        Most leaves of a tree, for the ``"tree"`` learner.
    random_state : int, RandomState or None, default=None
        Seed of what is random.
    n_jobs : int or None, default=None
        Threads. None uses one below 10,000 rows and all above; -1 uses all.
    verbose : int, default=0
        1 shows a progress bar, 2 prints every round.

    Attributes
    ----------
    classes_ : array of shape (k,)
        The classes.
    cost_matrix_ : array of shape (k, k)
        The costs, averaged over the rows where they differ.
    estimators_ : list
        The weak rules.
    estimator_weights_ : array
        Their votes, the α of the equations.
    n_iter_ : int
        Rounds kept.
    """

    _default_estimator: ClassVar[str] = "tree"
    _ensemble: Ensemble

    def __init__(
        self,
        cost_matrix: Any = None,
        n_estimators: int = 100,
        estimator: Any = None,
        max_leaves: int = 8,
        random_state: Any = None,
        n_jobs: int | None = None,
        verbose: int = 0,
    ) -> None:
        self.cost_matrix = cost_matrix
        self.n_estimators = n_estimators
        self.estimator = estimator
        self.max_leaves = max_leaves
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    # -- fit ------------------------------------------------------------------------------------

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        costs: ArrayLike | None = None,
    ) -> Self:
        """Fit the boosted classifier.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows; NaN and categorical columns where the weak learner takes them.
        y : array of shape (n,)
            Their true classes.
        sample_weight : array of shape (n,), optional
            Weights of the rows; weight 2 is the same as having the row twice.
        costs : array of shape (n, k, k), (n, k) or (n,), optional
            Costs of the rows, in place of ``cost_matrix``: the row's own matrix, the price of each
            decision, or the price of an error on that row.

        Returns
        -------
        self
            The fitted classifier.
        """
        check_parameters(self)
        learner = self._learner()
        matrix, y = self._fit_rows(X, y, learner)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self._check_classes()
        weights = check_weights(sample_weight, len(codes), type(self).__name__)
        resolved = self._truth_costs(costs, codes, X)
        self._check_stakes(resolved, weights)
        self.__dict__.update(self._cost_state(resolved, weights, costs))
        rng = check_random_state(self.random_state)
        used = weights > 0
        self._fit_costs(resolved, weights, used, matrix if used.all() else matrix[used], rng)
        return self

    @abstractmethod
    def _fit_costs(
        self,
        costs: KnownCosts,
        weights: Floats,
        used: Bools,
        X: AnyArray,
        rng: np.random.RandomState,
    ) -> None:
        """Boost on the rows with weight and `_keep` what came out.

        ``costs``, ``weights`` and the mask ``used`` are of all rows, ``X`` of the used ones.
        """

    def _keep(self, ensemble: Ensemble, votes: Floats, n_iter: int, losses: list[float]) -> None:
        """Set the fitted attributes."""
        self._ensemble = ensemble
        self.estimators_: list[Rule] = ensemble.rules
        self.estimator_weights_ = votes
        self.n_iter_ = n_iter
        if losses:
            self.train_loss_ = np.array(losses)

    def _learner(self) -> Learner:
        estimator = self._default_estimator if self.estimator is None else self.estimator
        return resolve(estimator, self.max_leaves, type(self).__name__)

    def _fit_rows(self, X: Any, y: Any, learner: Learner) -> tuple[AnyArray, AnyArray]:
        """The rows as the weak learner takes them, and the labels."""
        return self._read_training(
            X,
            y,
            categories=learner.accepts_categories,
            missing=learner.accepts_missing,
            remedy=f"the weak learner {learner} of {type(self).__name__} cannot take. Encode them, "
            "or use estimator='tree'.",
        )

    def _bound_rows(self, X: AnyArray, sample_weight: Floats, rng: np.random.RandomState) -> Rows:
        return Rows(
            X,
            sample_weight,
            self._frame.categorical if self._frame else [],
            n_threads(self.n_jobs, X.shape[0]),
            int(rng.randint(np.iinfo(np.int32).max)),
        )

    def _progress(self) -> AbstractContextManager[Progress | None]:
        return round_progress(type(self).__name__, int(self.verbose))

    # -- predict --------------------------------------------------------------------------------

    def _checked(self, X: Any) -> AnyArray:
        check_is_fitted(self)
        return np.asarray(self._read(X, missing=self._learner().accepts_missing))

    @abstractmethod
    def _decide(self, scores: Floats) -> Ints:
        """Class codes from the output of `decision_function`."""

    @abstractmethod
    def decision_function(self, X: Any) -> Floats:
        """The scores of the rows."""

    @abstractmethod
    def staged_decision_function(self, X: Any) -> Iterator[Floats]:
        """The scores after each round."""

    @abstractmethod
    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities."""

    def predict(self, X: Any, costs: ArrayLike | None = None) -> AnyArray:
        """The cheapest decision for each row.

        Without ``costs`` the score decides: the costs were learned. With them (or a callable
        ``cost_matrix``) it is the decision of smallest expected cost by `predict_proba`. Where
        the costs of single rows are known when deciding, fit without them, on the mean costs, or
        use `costboost.MinCostClassifier`: a score that has learned the rows' costs holds them
        already.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.
        costs : array of shape (n, k, k), optional
            The rows' own cost matrices, truth by decision.

        Returns
        -------
        array of shape (n,)
            Class labels.
        """
        check_is_fitted(self)
        if not self._decides_by_costs(costs):
            return self.decisions_[self._decide(self.decision_function(X))]
        self._check_probabilities("predict")
        proba = self.predict_proba(X)
        known = self._decision_costs(costs, len(proba), X)
        return known.decisions[known.decide(proba)]

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
        for scores in self.staged_decision_function(X):
            yield self.decisions_[self._decide(scores)]

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._learner().accepts_missing
        return tags

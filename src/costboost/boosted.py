"""The base of boosted classifiers: parameters, an atomic fit, prediction, importances."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from costboost._docstrings import complete
from costboost._progress import round_progress
from costboost._recipe import Recipe
from costboost._state import origin, unfitted
from costboost._threads import n_threads
from costboost._typing import AnyArray, Bools, Floats, Ints
from costboost._validation import (
    N_JOBS,
    VERBOSE,
    Constraint,
    check_parameters,
    check_weights,
    integer,
)
from costboost.base import TableClassifier
from costboost.boosting.loop import History, Scheme, boost
from costboost.costs import KnownCosts
from costboost.costs.table import same_labels
from costboost.learners import BoundLearner, Ensemble, Learner, Rows, Rule, resolve

__all__ = ["BoostingClassifier"]


class BoostingClassifier(TableClassifier):
    """A boosted classifier: parameters, validation and prediction, for two classes or more.

    A recipe declares its card in ``_recipe``, the rules of its parameters in ``_rules``, and
    whether it needs ``_needs_classes_as_decisions``. Its docstring is completed with the
    parameters and attributes of its bases.

    Parameters
    ----------
    cost_matrix : array, frame, mapping, callable or None, default=None
        What each decision costs: a (k, k) array, rows = truth, columns = decision, in the order of
        ``classes_``; a labelled frame; ``{(truth, decision): cost}``; for two classes
        ``{"fn": 5, "fp": 1, "positive": "fraud"}`` (also ``"tp"`` and ``"tn"``); a callable
        ``X -> (n, k, d)``; None if every mistake costs 1. Entries are numbers or expressions over
        columns, such as ``"amount + 15"``.
    n_estimators : int, default=100
        Number of boosting rounds. Boosting may stop earlier.
    estimator : str, Learner, scikit-learn estimator or None, default=None
        The weak learner: ``"tree"``, ``"stump"``, ``"histogram"``, ``"line"``, ``"perceptron"``, a
        learner object of `costboost.learners`, or any scikit-learn estimator whose ``fit`` takes
        ``sample_weight``. None is the paper's choice.
    max_leaves : int, default=8
        Largest number of leaves of a tree, for the ``"tree"`` learner.
    random_state : int, RandomState or None, default=None
        Seed of everything random.
    n_jobs : int or None, default=None
        Number of threads. None uses one below 10,000 rows; above, it uses the cores that the
        process may use, and no more than ``OMP_NUM_THREADS``. -1 uses all cores.
    verbose : int, default=0
        1 shows a progress bar (plain lines where there is no terminal), 2 prints every round.

    Attributes
    ----------
    classes_ : array of shape (k,)
        The classes.
    n_classes_ : int
        Their number.
    decisions_ : array of shape (d,)
        The decisions that `predict` chooses from: the classes, unless the costs name others.
    costs_ : CostSummary
        The costs of the fit; ``print`` shows them in words.
    cost_matrix_ : array of shape (k, d)
        The costs, averaged over the rows where they differ.
    estimators_ : list
        The weak rules.
    estimator_weights_ : array
        Their votes, the α of the equations.
    n_iter_ : int
        Number of rounds kept.
    feature_importances_ : array of shape (n_features_in_,)
        How much each feature is used: for every rule the share of each feature in the gain of its
        splits (for a rule on one feature, 1), averaged with the votes as weights. Only for rules
        that know their features.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features_in_,)
        Their names, if X was a frame with text for column names.
    """

    _default_estimator: ClassVar[str] = "tree"
    _recipe: ClassVar[Recipe]
    # False for algorithms on cost rows, whose columns may be decisions other than the classes.
    _needs_classes_as_decisions: ClassVar[bool] = True
    _rules: ClassVar[Mapping[str, Constraint]] = {
        "n_estimators": integer(1),
        "max_leaves": integer(2),
        "n_jobs": N_JOBS,
        "verbose": VERBOSE,
    }
    _ensemble: Ensemble

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        complete(cls)

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
            The rows; NaN, categorical columns and sparse matrices where the weak learner takes
            them. Entries that a sparse matrix leaves out are zeros, not missing values.
        y : array of shape (n,)
            Their true classes.
        sample_weight : array of shape (n,), optional
            Weights of the rows; weight 2 is the same as having the row twice.
        costs : array of shape (n, k, d), (n, d) or (n,), frame or mapping, optional
            Costs of the rows, in place of ``cost_matrix``: the row's own matrix, the price of each
            decision, or the price of an error on that row.

        Returns
        -------
        self
            The fitted classifier.
        """
        # On a copy: an error or an interrupt leaves the estimator as it was.
        fitted = unfitted(self)
        fitted._fit(X, y, sample_weight, costs)
        fitted.__dict__.update(origin(X, y))
        self.__dict__ = fitted.__dict__
        return self

    def _fit(self, X: Any, y: Any, sample_weight: ArrayLike | None, costs: Any) -> None:
        check_parameters(self)
        learner = self._learner()
        matrix, y = self._fit_rows(X, y, learner)
        self.classes_, codes = np.unique(y, return_inverse=True)
        self._check_classes()
        weights = check_weights(sample_weight, len(codes), type(self).__name__)
        resolved = self._truth_costs(costs, codes, X)
        self._check_stakes(resolved, weights)
        self.__dict__.update(self._cost_state(resolved, weights, costs))
        if self.verbose:
            print(self.costs_)
        rng = check_random_state(self.random_state)
        used = weights > 0
        priced = resolved.in_range(used)
        self._fit_costs(priced, weights, used, matrix if used.all() else matrix[used], rng)

    @abstractmethod
    def _fit_costs(
        self,
        costs: KnownCosts,
        weights: Floats,
        used: Bools,
        X: AnyArray,
        rng: np.random.RandomState,
    ) -> None:
        """Boost on the rows with weight and `_keep` what came out."""
        # ``costs``, ``weights`` and the mask ``used`` are of all rows, ``X`` of the used ones.

    def _run(
        self, scheme: Scheme, learner: BoundLearner, rng: np.random.RandomState
    ) -> tuple[History, Ensemble]:
        """Run the boosting loop, and put the rules together."""
        with round_progress(type(self).__name__, self.n_estimators, int(self.verbose)) as progress:
            history = boost(scheme, learner, n_rounds=self.n_estimators, rng=rng, progress=progress)
        return history, scheme.ensemble(learner, history.rules, np.array(history.votes))

    def _keep(self, ensemble: Ensemble, losses: list[float] | None = None) -> None:
        """Set the fitted attributes; ``losses`` has a number per rule."""
        self._ensemble = ensemble
        self.estimators_: list[Rule] = ensemble.rules
        self.estimator_weights_ = ensemble.votes
        self.n_iter_ = len(ensemble.round_ends)
        if losses:
            self.train_loss_ = np.array(losses)[ensemble.round_ends]

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
            sparse_rows=learner.accepts_sparse,
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

    # -- predict --------------------------------------------------------------------------------

    def _usable_costs(self, costs: Any) -> Any:
        # Scores of decisions that are not classes tell no probabilities of classes.
        return costs if same_labels(self.decisions_, self.classes_) else None

    def _checked(self, X: Any) -> AnyArray:
        check_is_fitted(self)
        learner = self._learner()
        rows: AnyArray = self._read(
            X, missing=learner.accepts_missing, sparse_rows=learner.accepts_sparse
        )
        return rows

    @abstractmethod
    def _decide(self, scores: Floats) -> Ints:
        """Codes of decisions from the output of `decision_function`."""

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
            Labels of ``decisions_``.
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
            Labels of ``decisions_`` after one round more.
        """
        for scores in self.staged_decision_function(X):
            yield self.decisions_[self._decide(scores)]

    @property
    def feature_importances_(self) -> Floats:
        """How much each feature is used, (n_features_in_,), summing to 1.

        For every rule the share of each feature in the gain of its splits (for a rule on one
        feature, 1), averaged with the votes as weights. Zeros if no rule uses a feature.
        """
        check_is_fitted(self)
        try:
            return self._ensemble.importances(self.n_features_in_)
        except AttributeError as error:
            raise AttributeError(
                f"feature_importances_ exists only if the weak rules of {type(self).__name__} know "
                f"how much they use each feature, as trees do; {self._learner()} does not."
            ) from error

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        learner = self._learner()
        tags.input_tags.allow_nan = learner.accepts_missing
        tags.input_tags.sparse = learner.accepts_sparse
        return tags

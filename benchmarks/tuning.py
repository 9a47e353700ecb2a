"""A small search that treats every algorithm alike, inside the training rows; by Optuna."""

from __future__ import annotations

import warnings
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike
from sklearn.base import BaseEstimator, ClassifierMixin, clone
from sklearn.model_selection import check_cv
from sklearn.utils import get_tags
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from costboost._typing import AnyArray, Floats
from costboost.comparison import Table, decide
from costboost.gbm.classifier import CostBoostClassifier
from costboost.wrappers import MinCostClassifier

__all__ = ["TunedClassifier"]

# Of algorithms whose papers fix the rounds: stopped early, by the cost of held-out rows.
ROUNDS = {
    "early_stopping": True,
    "n_estimators": 500,
    "validation_fraction": 0.2,
    "n_iter_no_change": 25,
}
SPACE: dict[str, tuple[float, float, bool]] = {
    # name: lowest, highest, whether steps are ratios
    "learning_rate": (0.01, 0.3, True),
    "max_leaves": (2, 63, True),
    "min_samples_leaf": (5, 200, True),
    "reg_lambda": (0.1, 100.0, True),
    "subsample": (0.5, 1.0, False),
    "colsample": (0.3, 1.0, False),
    "n_estimators": (25, 400, True),
}
"""Parameters that are searched, if the algorithm has them."""


class TunedClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """A classifier that searches its settings in `fit`, and keeps those that cost least.

    Every algorithm gets the same search, as far as it has the parameters: the number of rounds by
    early stopping, the number of leaves, trees in place of the paper's weak learner, the step
    (``learning_rate``), row and column sampling and regularisation, and whether the scores are
    calibrated (`MinCostClassifier`, sigmoid). The first trial has the settings of ``estimator``.
    What settings cost is measured by cross-validation on the training rows alone.

    Parameters
    ----------
    estimator : classifier or None, default=None
        Any class of the library, with settings that are the start of the search. None is
        `CostBoostClassifier`.
    cost_matrix : array, frame, mapping, callable or None, default=None
        What decisions cost; by default the costs of ``estimator``.
    n_trials : int, default=20
        Trials in all.
    cv : int, splitter or list of pairs, default=3
        Folds that a trial is measured on; hopeless trials stop after a fold.
    random_state : int or None, default=None
        Seed of the search; None is 0.

    Attributes
    ----------
    best_estimator_ : classifier
        The best settings, fitted to all rows.
    best_params_ : dict
        What was searched, at its best.
    best_cost_ : float
        Mean cost of a held-out row at the best settings; too small, because it was chosen.
    n_trials_ : int
        Number of trials.
    n_pruned_ : int
        Number of trials that ended after a part of the folds.
    classes_ : array of shape (k,)
        The classes.
    decisions_ : array of shape (d,)
        The decisions.
    """

    def __init__(
        self,
        estimator: Any = None,
        cost_matrix: Any = None,
        *,
        n_trials: int = 20,
        cv: Any = 3,
        random_state: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.cost_matrix = cost_matrix
        self.n_trials = n_trials
        self.cv = cv
        self.random_state = random_state

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        costs: Any = None,
    ) -> Self:
        """Search, then fit the best settings to all rows.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.
        y : array of shape (n,)
            Their true classes.
        sample_weight : array of shape (n,), optional
            Weights of the rows.
        costs : array, frame or mapping, optional
            Costs of the rows, in place of ``cost_matrix``.

        Returns
        -------
        self
            The fitted classifier.
        """
        start = CostBoostClassifier() if self.estimator is None else clone(self.estimator)
        form = self.cost_matrix if self.cost_matrix is not None else start.cost_matrix
        given, columns = form if costs is None else costs, getattr(start, "columns", None)
        table = Table("X", X, y, given, sample_weight, columns, owner=type(self).__name__)
        seed = self.random_state or 0
        own = {"cost_matrix": form, "random_state": seed}
        known = start.get_params(deep=False)
        start.set_params(**{k: v for k, v in own.items() if k in known and known[k] is None})
        space = _space(start)
        if not space:
            raise ValueError(
                f"There is nothing to search: {type(start).__name__} has none of the parameters "
                f"{', '.join(SPACE)}."
            )
        pairs = list(check_cv(self.cv, table.y, classifier=True).split(table.y, table.y))
        found = self._search(start, space, table, pairs, seed)
        self.best_params_ = _settings(found.best_params)
        self.best_cost_, self.n_trials_ = float(found.best_value), len(found.trials)
        self.n_pruned_ = sum(trial.state.name == "PRUNED" for trial in found.trials)
        best = _built(start, self.best_params_)
        more = {} if sample_weight is None else {"sample_weight": sample_weight}
        self.best_estimator_ = best.fit(X, y, **more, **({} if costs is None else {"costs": costs}))
        self.classes_ = self.best_estimator_.classes_
        self.decisions_ = self.best_estimator_.decisions_
        return self

    def _search(
        self, start: Any, space: dict[str, Any], table: Table, pairs: list[Any], seed: int
    ) -> Any:
        """Do the trials; the study of Optuna."""
        import optuna

        optuna.logging.set_verbosity(optuna.logging.ERROR)
        states = optuna.trial.TrialState
        study = optuna.create_study(pruner=optuna.pruners.MedianPruner(n_startup_trials=5))
        for number in range(self.n_trials):
            study.sampler = optuna.samplers.TPESampler(seed=seed + number)
            if number == 0:
                study.enqueue_trial(_first(start, space))
            trial = study.ask(space)
            model = _built(start, _settings(trial.params))
            try:
                value = _cost(model, table, pairs, seed, trial)
                study.tell(trial, value, None if value is not None else states.PRUNED)
            except ValueError:
                # The weak learner or the calibration may refuse the rows; others need not.
                if number == 0:
                    raise
                study.tell(trial, state=states.FAIL)
        return study

    def predict(self, X: Any, *, costs: Any = None) -> AnyArray:
        """The decisions of the best settings.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.
        costs : array, matrix, frame or mapping, optional
            The costs to decide by.

        Returns
        -------
        array of shape (n,)
            Labels of ``decisions_``.
        """
        check_is_fitted(self)
        return np.asarray(self.best_estimator_.predict(X, costs=costs))

    @available_if(lambda self: hasattr(self.best_estimator_, "predict_proba"))  # type: ignore[untyped-decorator]
    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities of the best settings.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n, k)
            A column per class.
        """
        return np.asarray(self.best_estimator_.predict_proba(X))

    def score(
        self, X: Any, y: Any, sample_weight: ArrayLike | None = None, *, costs: Any = None
    ) -> float:
        """Share of the avoidable cost that the decisions avoid.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.
        y : array of shape (n,)
            Their true classes.
        sample_weight : array of shape (n,), optional
            Weights of the rows.
        costs : array, matrix, frame or mapping, optional
            Costs of the rows.

        Returns
        -------
        float
            As in the classes of the library.
        """
        check_is_fitted(self)
        return float(self.best_estimator_.score(X, y, sample_weight, costs=costs))

    def _known_when_deciding(self, costs: Any, n: int) -> Any:
        return self.best_estimator_._known_when_deciding(costs, n)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self.estimator or CostBoostClassifier())
        tags.input_tags, tags.classifier_tags = inner.input_tags, inner.classifier_tags
        return tags


def _cost(model: Any, table: Table, pairs: list[Any], seed: int, trial: Any) -> float | None:
    """Mean cost of a held-out row; None if the trial is hopeless after some folds."""
    total = weight = 0.0
    for step, (train, test) in enumerate(pairs):
        with warnings.catch_warnings(action="ignore"):
            codes, _ = decide(model, table, train, test, seed)
        weights = np.ones(len(test)) if table.weights is None else table.weights[test]
        total += float((table.known.take(test).cost_of(codes) * weights).sum())
        weight += float(weights.sum())
        trial.report(total / weight, step)
        if trial.should_prune():
            return None
    return total / weight


# -- the space ----------------------------------------------------------------------------------


def _space(model: Any) -> dict[str, Any]:
    """What is searched, as distributions of Optuna; the model's own value is in each."""
    from optuna.distributions import CategoricalDistribution as Choice
    from optuna.distributions import FloatDistribution, IntDistribution

    known = model.get_params(deep=False)
    space: dict[str, Any] = {}
    for name, (low, high, ratio) in SPACE.items():
        if name in known:
            own = known[name] if isinstance(known[name], int | float) else low
            kind: Any = IntDistribution if isinstance(low, int) else FloatDistribution
            space[name] = kind(min(low, own), max(high, own), log=ratio)
    if "early_stopping" in known and not getattr(model, "_draw", None):
        del space["n_estimators"]
        if not known["early_stopping"]:
            space["early_stopping"] = Choice([False, True])
    usual = getattr(model, "_default_estimator", "tree")
    if known.get("estimator", 0) is None and usual != "tree":
        space["estimator"] = Choice([usual, "tree"])
    if "calibration" not in known and hasattr(model, "decision_function"):
        space["calibration"] = Choice(["none", "sigmoid"])
    return space


def _settings(chosen: dict[str, Any]) -> dict[str, Any]:
    """Choices of the search as parameters."""
    found = {k: v for k, v in chosen.items() if (k, v) != ("calibration", "none")}
    if "early_stopping" in found:
        found |= ROUNDS if found.pop("early_stopping") else {}
    return found


def _built(start: Any, settings: dict[str, Any]) -> Any:
    """The classifier with some settings, in a calibration if they say so."""
    inner = {name: value for name, value in settings.items() if name != "calibration"}
    model = clone(start).set_params(**inner)
    if "calibration" not in settings:
        return model
    return MinCostClassifier(model, start.cost_matrix, calibration=settings["calibration"], cv=3)


def _first(model: Any, space: dict[str, Any]) -> dict[str, Any]:
    """The settings of the first trial: those of the model."""
    known = model.get_params(deep=False)
    choices = {name: row.choices[0] for name, row in space.items() if hasattr(row, "choices")}
    numbers = {name: known[name] for name in space if name not in choices}
    return choices | {k: v for k, v in numbers.items() if isinstance(v, int | float)}

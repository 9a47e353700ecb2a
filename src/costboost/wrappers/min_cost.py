"""The decision of smallest expected cost, on the probabilities of any classifier."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar, Literal, Self

import numpy as np
from lightgbm import LGBMClassifier
from numpy.typing import ArrayLike
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.utils import get_tags
from sklearn.utils.validation import check_is_fitted

from costboost._state import fit_at_once
from costboost._threads import n_threads
from costboost._typing import Floats, Ints
from costboost._validation import (
    BOOLEAN,
    FOLDS,
    N_JOBS,
    Constraint,
    check_parameters,
    check_weights,
    checked_labels,
    one_of,
)
from costboost.errors import CollapseWarning
from costboost.estimator import CostSensitiveClassifier
from costboost.wrappers.checks import (
    check_features,
    check_rows,
    for_lightgbm,
    hand_on_weights,
    limit_folds,
    of_estimator,
)

__all__ = ["MinCostClassifier"]

Calibration = Literal["sigmoid", "isotonic"]


class MinCostClassifier(CostSensitiveClassifier):
    r"""Any probabilistic classifier, calibrated on request, then the cheapest decision.

    .. math::

        \hat y(x) = \arg\min_d \sum_j P(j \mid x)\,C_{jd}(x)

    (Elkan 2001), C the costs, truth by decision. The model never sees them: they enter when it
    decides, so they may differ from row to row and from call to call. With two classes it decides
    for the positive one where :math:`P_+ C_1 \ge P_- C_2`, C₁ the price of a miss and C₂ that of a
    false alarm. The rule is only as good as the probabilities, hence the calibration.

    X reaches the estimator as it was passed: a frame stays a frame, with its categorical columns.

    Parameters
    ----------
    estimator : classifier or None, default=None
        Any classifier with ``predict_proba``, for two or more classes; with a calibration,
        ``decision_function`` will do. None is a ``lightgbm.LGBMClassifier`` with 15 leaves and
        learning rate 0.05.
    cost_matrix : array, frame, mapping, callable or None, default=None
        What each decision costs: a (k, k) array, rows = truth, columns = decision, in the order of
        ``classes_``; a labelled frame; ``{(truth, decision): cost}``; for two classes
        ``{"fn": 5, "fp": 1}`` (also ``"tp"``, ``"tn"`` and ``"positive"``, the positive class); a
        callable ``X -> (n, k, k)``; None if every mistake costs 1.
    calibration : {"sigmoid", "isotonic"} or None, default=None
        Calibration by `sklearn.calibration.CalibratedClassifierCV`; None takes the probabilities
        as they are.
    cv : int, splitter or iterable, default=5
        Folds of the calibration; an integer means that many stratified folds, but at most as many
        as the rarest class has rows.
    ensemble : bool, default=True
        Whether to average one calibrated model per fold, or to fit one model on all rows and
        calibrate it on the predictions of the folds.
    n_jobs : int or None, default=None
        Number of folds fitted in parallel; without calibration, number of threads of the default
        LightGBM. With None, folds are fitted one after another, and LightGBM uses one thread below
        10,000 rows and all threads above.

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
    cost_matrix_ : array of shape (k, k)
        The costs, averaged over the rows where they differ. `predict` uses them if it is given no
        others.
    estimator_ : classifier
        The fitted estimator, or the `CalibratedClassifierCV` around it.
    feature_importances_ : array of shape (n_features_in_,)
        Those of the estimator, with a calibration averaged over its models; only if they have any.
    n_features_in_ : int
        Number of features.
    feature_names_in_ : array of shape (n_features_in_,)
        Their names, if X had any.
    trained_at_ : str
        When the fit ended, UTC.
    data_fingerprint_ : str
        A SHA-256 of all training rows.

    References
    ----------
    C. Elkan, "The foundations of cost-sensitive learning", IJCAI 2001.

    Examples
    --------
    >>> from sklearn.datasets import load_breast_cancer
    >>> from sklearn.linear_model import LogisticRegression
    >>> from costboost import MinCostClassifier
    >>> from costboost.costs import per_row
    >>> X, y = load_breast_cancer(return_X_y=True)
    >>> clf = MinCostClassifier(cost_matrix={"fn": 1, "fp": 10}).fit(X[:400], y[:400])
    >>> bool(clf.score(X[400:], y[400:]) > 0.8)
    True

    The costs of a row may be known only when it is decided:

    >>> clf.predict(X[400:402], costs=per_row(fn=[1, 1], fp=[0, 1e9]))
    array([1, 0])
    """

    _rules: ClassVar[Mapping[str, Constraint]] = {
        "calibration": one_of(None, "sigmoid", "isotonic"),
        "cv": FOLDS,
        "ensemble": BOOLEAN,
        "n_jobs": N_JOBS,
    }

    def __init__(
        self,
        estimator: Any = None,
        cost_matrix: Any = None,
        calibration: Calibration | None = None,
        cv: Any = 5,
        ensemble: bool = True,
        n_jobs: int | None = None,
    ) -> None:
        self.estimator = estimator
        self.cost_matrix = cost_matrix
        self.calibration = calibration
        self.cv = cv
        self.ensemble = ensemble
        self.n_jobs = n_jobs

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        costs: ArrayLike | None = None,
    ) -> Self:
        """Fit the estimator, cost-blind, and keep the mean costs.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows, as the estimator takes them.
        y : array of shape (n,)
            Their true classes.
        sample_weight : array of shape (n,), optional
            Weights of the rows, passed on to the estimator.
        costs : array of shape (n, k, d), (n, d) or (n,), frame or mapping, optional
            Costs of the rows, in place of ``cost_matrix``. Only their mean ``cost_matrix_`` is
            learned; pass those of new rows to `predict`.

        Returns
        -------
        self
            The fitted classifier.
        """
        return fit_at_once(self, X, y, sample_weight, costs)

    def _fit(self, X: Any, y: Any, sample_weight: ArrayLike | None, costs: Any) -> None:
        check_parameters(self)
        owner = type(self).__name__
        labels = checked_labels(y, owner)
        rows, y, codes = check_rows(self, X, labels)
        weights = None
        if sample_weight is not None:
            weights = check_weights(sample_weight, len(codes), owner)
        known, state = self._training_costs(costs, codes, X, weights)
        self.__dict__.update(state)
        rows = self._rows_for_model(rows)
        model = self._model(len(codes))
        arguments = hand_on_weights(model, weights, owner)
        with warnings.catch_warnings():
            # A model that favours one class may still rank the rows; the decisions count.
            warnings.simplefilter("ignore", CollapseWarning)
            calibrated = self._calibrated(model, codes)
            try:
                self.estimator_ = calibrated.fit(rows, y, **arguments)
            except MemoryError:
                raise
            except Exception as error:
                raise of_estimator(error, model, owner) from error
        decisions = self._answer(X, known.matrix).codes
        if decisions.min() == decisions.max():
            warnings.warn(
                f"{owner} decides {self.decisions_.tolist()[decisions[0]]!r} for every training "
                "row. Print costs_ to see whether the costs are as you meant them, and check that "
                "the estimator had enough rows to learn from.",
                CollapseWarning,
                stacklevel=4,
            )

    def _model(self, n_samples: int = 0) -> Any:
        """The classifier that gives the probabilities, unfitted."""
        if self.estimator is not None:
            return clone(self.estimator)
        # Half of LightGBM's own step and leaves: less sure of itself, so cheaper decisions.
        return LGBMClassifier(
            num_leaves=15,
            learning_rate=0.05,
            n_jobs=n_threads(self._threads(), n_samples),
            verbosity=-1,
        )

    def _threads(self) -> int | None:
        """Threads of one model, one if folds run in parallel; None lets the row count decide."""
        return self.n_jobs if self.n_jobs is None or self.calibration is None else 1

    def _calibrated(self, model: Any, codes: Ints) -> Any:
        owner = type(self).__name__
        if self.calibration is None:
            if not hasattr(model, "predict_proba"):
                raise ValueError(
                    f"The 'estimator' parameter of {owner} must have predict_proba; "
                    f"{type(model).__name__} does not. Set calibration='sigmoid', which turns its "
                    "scores into probabilities, or use a probabilistic classifier."
                )
            return model
        return CalibratedClassifierCV(
            model,
            method=self.calibration,
            cv=limit_folds(self, codes),
            n_jobs=self.n_jobs,
            ensemble=self.ensemble,
        )

    def predict_proba(self, X: Any) -> Floats:
        """Class probabilities of the estimator, calibrated on request.

        Parameters
        ----------
        X : table of shape (n, d)
            The rows.

        Returns
        -------
        array of shape (n, k)
            A column per class, in the order of ``classes_``.
        """
        rows = self._rows_for_model(check_features(self, X))
        try:
            proba = np.asarray(self.estimator_.predict_proba(rows), dtype=np.float64)
        except MemoryError:
            raise
        except Exception as error:
            raise of_estimator(error, self.estimator_, type(self).__name__) from error
        if not np.isfinite(proba).all():
            raise ValueError(
                f"The estimator {type(self.estimator_).__name__} of {type(self).__name__} gives "
                f"probabilities that are not finite for {int((~np.isfinite(proba)).any(1).sum())} "
                "rows. Scale or clip the columns of X, or pass another estimator."
            )
        return proba

    def _rows_for_model(self, X: Any) -> Any:
        """X as it was passed; for the default estimator with columns that it can take."""
        return for_lightgbm(X, type(self).__name__) if self.estimator is None else X

    def _scored(self, X: Any, *, codes: bool, proba: bool) -> tuple[Ints | None, Floats | None]:
        return None, self.predict_proba(X)  # the costs decide, never a score

    @property
    def feature_importances_(self) -> Floats:
        """Importances of the features, where the estimator has them."""
        check_is_fitted(self)
        fitted = self.estimator_
        parts = getattr(fitted, "calibrated_classifiers_", None)
        models = [fitted] if parts is None else [part.estimator for part in parts]
        if not all(hasattr(model, "feature_importances_") for model in models):
            raise AttributeError(
                f"feature_importances_ exists only if the estimator of {type(self).__name__} has "
                f"it; {type(models[0]).__name__} does not."
            )
        found = [np.asarray(model.feature_importances_, dtype=np.float64) for model in models]
        return np.asarray(np.mean(found, axis=0))

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._model())
        tags.input_tags = inner.input_tags
        if inner.classifier_tags is not None:
            tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
        return tags

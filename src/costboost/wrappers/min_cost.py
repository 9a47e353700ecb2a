"""The decision of smallest expected cost, on the probabilities of any classifier."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from numbers import Integral
from typing import Any, ClassVar, Literal, Self

import numpy as np
from lightgbm import LGBMClassifier
from numpy.typing import ArrayLike
from sklearn import get_config
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.model_selection import StratifiedGroupKFold
from sklearn.utils import assert_all_finite, column_or_1d, get_tags, indexable
from sklearn.utils.metadata_routing import (
    MetadataRouter,
    MethodMapping,
    get_routing_for_object,
    process_routing,
)
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from costboost._threads import n_threads
from costboost._typing import AnyArray, Floats, Ints
from costboost._utils import (
    BOOLEAN,
    COLUMNS,
    FOLDS,
    N_JOBS,
    Rules,
    check_parameters,
    check_weights,
    checked_labels,
    fit_at_once,
    one_of,
)
from costboost.columns.table import check_table
from costboost.costs.labels import check_same_index
from costboost.errors import CollapseWarning
from costboost.estimator import CostSensitiveClassifier, learn_classes

Calibration = Literal["sigmoid", "isotonic"]


@dataclass(eq=False, repr=False)
class MinCostClassifier(CostSensitiveClassifier):
    r"""Any probabilistic classifier, calibrated on request, then the cheapest decision.

    .. math::

        \hat y(x) = \arg\min_d \sum_j P(j \mid x)\,C_{jd}(x)

    (Elkan 2001), C the costs, truth by decision. The model never sees them: they enter when it
    decides, so they may differ from row to row and from call to call. With two classes it decides
    for the positive one where :math:`P_+ C_1 \ge P_- C_2`, C₁ the price of a miss and C₂ that of a
    false alarm. The rule is only as good as the probabilities, hence the calibration.

    X reaches the estimator as it was passed: a frame stays a frame, with its categorical columns.
    For the default estimator, columns are read as `CostBoostClassifier` does; `columns_` says how.

    Parameters
    ----------
    estimator : classifier or None, default=None
        Any classifier with ``predict_proba``, for two or more classes; with a calibration,
        ``decision_function`` will do. None is a ``lightgbm.LGBMClassifier`` with 15 leaves and
        learning rate 0.05.
    cost_matrix : array, frame, mapping or None, default=None
        What each decision costs: a (k, k) array, rows = truth, columns = decision, in the order of
        ``classes_``; a labelled frame; ``{(truth, decision): cost}``; for two classes
        ``{"fn": 5, "fp": 1}`` (also ``"tp"``, ``"tn"`` and ``"positive"``, the positive class); a
        None if every mistake costs 1.
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
    columns : mapping of name to kind or None, default=None
        What columns of a table are, for the default estimator, as in `CostBoostClassifier`.

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
    cost_spec_ : CostSpec
        The ``cost_matrix`` of the fit, parsed; the caller's may change afterwards.
    cost_matrix_ : array of shape (k, k)
        The costs, averaged over the rows where they differ. `predict` uses them if it is given no
        others.
    columns_ : costboost.columns.Columns
        What each column holds and what became of it; only with the default estimator.
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

    _rules: ClassVar[Rules] = {
        "calibration": one_of(None, "sigmoid", "isotonic"),
        "cv": FOLDS,
        "ensemble": BOOLEAN,
        "n_jobs": N_JOBS,
        "columns": COLUMNS,
    }

    estimator: Any = None
    cost_matrix: Any = None
    calibration: Calibration | None = None
    cv: Any = 5
    ensemble: bool = True
    n_jobs: int | None = None
    columns: Mapping[str, str] | None = None

    def fit(
        self,
        X: Any,
        y: ArrayLike,
        sample_weight: ArrayLike | None = None,
        *,
        costs: ArrayLike | None = None,
        groups: ArrayLike | None = None,
        **metadata: Any,
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
        groups : array of shape (n,), optional
            Group of each row, such as its customer: the folds of the calibration keep groups
            together. An integer ``cv`` is then that many stratified folds of groups.
        **metadata
            What else the fit of the estimator asks for, by scikit-learn's metadata routing.

        Returns
        -------
        self
            The fitted classifier.
        """
        return fit_at_once(self, X, y, sample_weight, costs, groups, metadata)

    def _fit(
        self,
        X: Any,
        y: Any,
        sample_weight: ArrayLike | None,
        costs: Any,
        groups: Any,
        metadata: dict[str, Any],
    ) -> None:
        check_parameters(self)
        owner = type(self).__name__
        check_same_index(owner, X=X, y=y, sample_weight=sample_weight, groups=groups)
        is_default = self.estimator is None
        rows, y, codes = self._read_training(X, y) if is_default else check_rows(self, X, y)
        weighed = sample_weight is not None
        weights = check_weights(sample_weight, len(codes), owner) if weighed else None
        if groups is not None and self.calibration is None:
            raise ValueError(
                f"The 'groups' argument of {owner}.fit is for the folds of a calibration, and "
                "there is none. Leave it out, or set calibration='sigmoid'."
            )
        routed = route_metadata(self, metadata)
        known = self._learn_costs(costs, codes, X, weights)
        weighted = self._rows_with_weight(codes, weights)
        if weights is not None and weighted is not None:
            rows = take_rows(rows, weighted)
            y = y[weighted]
            codes = codes[weighted]
            weights = weights[weighted]
            if groups is not None:
                groups = take_rows(groups, weighted)
            routed = take_metadata(X, routed, weighted)
        model = self._model(len(codes))
        arguments: dict[str, Any] = {**routed, **hand_on_weights(model, weights, owner)}
        if is_default and isinstance(model, LGBMClassifier) and self.columns_.categorical:
            arguments["categorical_feature"] = self.columns_.categorical
            if get_config()["enable_metadata_routing"]:
                model.set_fit_request(categorical_feature=True)
        with warnings.catch_warnings(), _named_errors(model, owner):
            # A model that favours one class may still rank the rows; the decisions count.
            warnings.simplefilter("ignore", CollapseWarning)
            if self.calibration is not None:
                model = CalibratedClassifierCV(
                    model,
                    method=self.calibration,
                    cv=limit_folds(self, codes, groups),
                    n_jobs=self.n_jobs,
                    ensemble=self.ensemble,
                )
            elif not hasattr(model, "predict_proba"):
                raise ValueError(
                    f"The 'estimator' parameter of {owner} must have predict_proba; "
                    f"{type(model).__name__} does not. Set calibration='sigmoid', which makes "
                    "probabilities of scores, or use another classifier."
                )
            self.estimator_ = model.fit(rows, y, **arguments)
        self._warn_if_collapsed(
            self.decide(X, costs=known.matrix).chosen,
            "print costs_ to see whether the costs are as you meant them, and check that the "
            "estimator had enough rows to learn from",
            stacklevel=5,
        )

    def _rows_with_weight(self, codes: Ints, weights: Floats | None) -> Ints | None:
        """Return the rows that count, or None if all rows go to the estimator.

        A row of weight 0 must not matter, but an estimator may count rows, and folds are made of
        rows. All rows stay if a class has no other ones, and for folds given as indices.
        """
        if weights is None or weights.all():
            return None
        has_indices = not isinstance(self.cv, Integral) and not hasattr(self.cv, "split")
        if self.calibration is not None and has_indices:
            return None
        weighted = np.flatnonzero(weights)
        if len(np.unique(codes[weighted])) < len(self.classes_):
            return None
        return weighted

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

    def get_metadata_routing(self) -> MetadataRouter:
        """Return how metadata reaches the estimator: its fit gets what it asks for.

        Returns
        -------
        MetadataRouter
            The routing of scikit-learn.
        """
        return route_to_fit(self)

    def _threads(self) -> int | None:
        """Threads of one model, one if folds run in parallel; None lets the row count decide."""
        return self.n_jobs if self.n_jobs is None or self.calibration is None else 1

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
        check_is_fitted(self)
        rows = self._read(X) if self.estimator is None else check_features(self, X)
        with _named_errors(self.estimator_, type(self).__name__):
            proba = np.asarray(self.estimator_.predict_proba(rows), dtype=np.float64)
        strange = ~np.isfinite(proba).all(axis=1)
        if strange.any():
            raise ValueError(
                f"The estimator {type(self.estimator_).__name__} of {type(self).__name__} gives "
                f"probabilities that are not finite for {strange.sum()} rows. Scale or clip the "
                "columns of X, or pass another estimator."
            )
        return proba

    def _score(self, X: Any) -> Floats:
        return self.predict_proba(X)

    def _proba_of(self, scores: Floats) -> Floats:
        return scores

    def _decides_by_score(self) -> bool:
        return False

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
        mean = np.asarray(np.mean(found, axis=0))
        is_lightgbm = self.estimator is None and isinstance(models[0], LGBMClassifier)
        return self.columns_.sum_by_column(mean) if is_lightgbm else mean

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        inner = get_tags(self._model())
        tags.input_tags = inner.input_tags
        if inner.classifier_tags is not None:
            tags.classifier_tags.multi_class = inner.classifier_tags.multi_class
        return tags


# -- rows that are handed on to a classifier as they are ----------------------------------------


def check_rows(classifier: Any, X: Any, y: Any) -> tuple[Any, AnyArray, Ints]:
    """Check y and the shape of X, and set ``classes_``; the rest of X is left to the estimator."""
    # Returns X, the labels and their indices into ``classes_``.
    owner = type(classifier).__name__
    y = checked_labels(y, owner)
    check_table(X, owner)
    validate_data(classifier, X, skip_check_array=True)
    labels: AnyArray = column_or_1d(y, warn=True)
    assert_all_finite(labels, input_name="y")
    X, labels = indexable(X, labels)
    return X, labels, learn_classes(classifier, labels)


def check_features(classifier: Any, X: Any) -> Any:
    """Check that X has the features of the fit, before the estimator sees it; returns X."""
    check_is_fitted(classifier)
    check_table(X, type(classifier).__name__)
    if getattr(X, "ndim", 2) == 1 and hasattr(classifier, "n_features_in_"):
        raise ValueError(
            f"X of {type(classifier).__name__} must be a table of {classifier.n_features_in_} "
            f"columns, got a 1D array of shape {X.shape}. Reshape your data, by X.reshape(1, -1) "
            "if it is one row."
        )
    validate_data(classifier, X, reset=False, skip_check_array=True)
    return indexable(X)[0]


def take_rows(table: Any, positions: Ints) -> Any:
    """Return the rows at these positions of a frame, an array or a list."""
    if hasattr(table, "iloc"):
        return table.iloc[positions]
    if hasattr(table, "to_batches"):  # of pyarrow
        return table.take(positions)
    if isinstance(table, (list, tuple)):
        return [table[position] for position in positions]
    return table[positions]


@contextmanager
def _named_errors(estimator: Any, owner: str) -> Iterator[None]:
    """Errors from inside an estimator that was handed on the rows, told as those of its owner."""
    try:
        yield
    except Exception as error:
        # These say what is wrong with the rows, but for words of numpy and pandas about a text.
        says_what = isinstance(error, (MemoryError, ValueError, TypeError))
        if says_what and not re.search("could not convert|Cannot cast", str(error)):
            raise
        raise ValueError(
            f"The estimator {type(estimator).__name__} of {owner} cannot take these rows: "
            f"{type(error).__name__}: {error}. Prepare the columns of X for it, or pass another "
            "estimator."
        ) from error


def limit_folds(classifier: Any, codes: Ints, groups: Any = None) -> Any:
    """The classifier's ``cv``; an integer is lowered to the number of rows of the rarest class."""
    cv = classifier.cv
    if groups is not None:
        splitter = StratifiedGroupKFold(int(cv)) if isinstance(cv, Integral) else cv
        if not hasattr(splitter, "split"):
            raise ValueError(
                f"The 'groups' argument of {type(classifier).__name__}.fit needs an integer or a "
                "splitter as cv, and cv is a list of folds. Leave groups out."
            )
        return list(splitter.split(np.zeros(len(codes)), codes, groups))
    if not isinstance(cv, Integral):
        return cv
    counts = np.bincount(codes)
    if counts.min() < 2:
        raise ValueError(
            f"{type(classifier).__name__} needs two rows or more of every class to cross-validate, "
            f"and class {classifier.classes_.tolist()[counts.argmin()]!r} has {counts.min()}."
        )
    return min(int(cv), int(counts.min()))


def route_to_fit(classifier: Any) -> MetadataRouter:
    """Return a router that passes metadata of ``fit`` on to the fit of the wrapped estimator.

    Weights and costs are those of the classifier itself, which hands the weights on.
    """
    router = MetadataRouter(owner=classifier).add_self_request(classifier)
    mapping = MethodMapping().add(caller="fit", callee="fit")
    return router.add(estimator=classifier._model(), method_mapping=mapping)


def route_metadata(classifier: Any, metadata: dict[str, Any]) -> dict[str, Any]:
    """Return the metadata that the estimator has asked for; what nobody wants is an error."""
    routed: dict[str, Any] = process_routing(classifier, "fit", **metadata).estimator.fit
    return routed


def take_metadata(X: Any, metadata: dict[str, Any], rows: Ints) -> dict[str, Any]:
    """Return the metadata of some rows; what is not one value per row stays as it is."""
    n_rows = X.shape[0] if hasattr(X, "shape") else len(X)
    taken = dict(metadata)
    for name, values in metadata.items():
        if hasattr(values, "__len__") and len(values) == n_rows:
            taken[name] = take_rows(values, rows)
    return taken


def hand_on_weights(estimator: Any, weights: Floats | None, owner: str) -> dict[str, Floats]:
    """Arguments for the fit of `estimator`, our own clone, that carry the weights."""
    if weights is None:
        return {}
    routing = get_config()["enable_metadata_routing"]
    if has_fit_parameter(estimator, "sample_weight"):
        if routing:
            estimator.set_fit_request(sample_weight=True)
    elif not (routing and get_routing_for_object(estimator).consumes("fit", ["sample_weight"])):
        raise ValueError(
            f"sample_weight of {owner} cannot be passed on: the fit of its estimator "
            f"{type(estimator).__name__} takes no sample_weight. Leave it out; a pipeline can take "
            "it by scikit-learn's metadata routing."
        )
    return {"sample_weight": weights}

"""Checks of rows that are handed on to a classifier as they are."""

from __future__ import annotations

from numbers import Integral
from typing import Any

import numpy as np
from sklearn import get_config
from sklearn.utils import assert_all_finite, column_or_1d, get_tags, indexable
from sklearn.utils.metadata_routing import get_routing_for_object
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import check_is_fitted, has_fit_parameter, validate_data

from costboost._frames import as_csr, categorical_columns, check_table, is_sparse, numbers
from costboost._typing import AnyArray, Floats, Ints

__all__ = [
    "check_features",
    "check_rows",
    "for_lightgbm",
    "hand_on_weights",
    "limit_folds",
    "of_estimator",
]


def check_rows(classifier: Any, X: Any, y: Any) -> tuple[Any, AnyArray, Ints]:
    """Check y and the shape of X, and set ``classes_``; the rest of X is left to the estimator."""
    # Returns X, the labels and their indices into ``classes_``.
    owner = type(classifier).__name__
    if y is None:
        raise ValueError(f"{owner} requires y to be passed, but the target y is None.")
    check_table(X, owner)
    validate_data(classifier, X, skip_check_array=True)
    if getattr(classifier, "n_features_in_", None) == 0:
        raise ValueError(
            f"Found array with 0 feature(s) (shape={np.shape(X)}) while a minimum of 1 is required "
            f"by {owner}."
        )
    labels: AnyArray = column_or_1d(y, warn=True)
    assert_all_finite(labels, input_name="y")
    check_classification_targets(labels)
    X, labels = indexable(X, labels)
    classifier.classes_, codes = np.unique(labels, return_inverse=True)
    k = len(classifier.classes_)
    if k < 2:
        raise ValueError(
            f"{owner} needs rows of two classes or more; y has {k} class"
            f"{'es' if k != 1 else ''}: {classifier.classes_.tolist()}."
        )
    if k > 2 and not get_tags(classifier).classifier_tags.multi_class:
        # Worded so that scikit-learn's checks recognise it.
        raise ValueError(
            f"Only binary classification is supported by {owner}. The type of the target has {k} "
            f"classes: {classifier.classes_.tolist()[:10]}."
        )
    return X, labels, codes


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


def for_lightgbm(X: Any, owner: str) -> Any:
    """A frame as LightGBM's own classifier takes it: plain numbers, and pandas categories."""
    # Nullable and Arrow-backed numbers become floats. Text and dates raise a ValueError: with some
    # of these columns LightGBM ends the whole process.
    if is_sparse(X):
        return as_csr(X)  # it warns about sparse arrays
    if not (hasattr(X, "columns") and hasattr(X, "dtypes")):
        return X
    is_pandas = hasattr(X, "iloc")
    names = list(X.columns)
    kinds = [str(dtype) for dtype in X.dtypes]
    strange = [
        names[j] for j in categorical_columns(X) if not (is_pandas and kinds[j] == "category")
    ]
    if strange:
        raise ValueError(
            f"X of {owner} has columns that LightGBM, its default estimator, cannot take: "
            f"{strange[:10]} hold text or dates. Give text the pandas type 'category', drop the "
            "columns, pass an estimator that encodes them, or use CostBoostClassifier, which reads "
            "them as they are."
        )
    if not is_pandas:
        return np.column_stack([numbers(X[name]) for name in names])
    plain = {j for j, dtype in enumerate(X.dtypes) if isinstance(dtype, np.dtype)}
    changed = [j for j in range(len(names)) if j not in plain and kinds[j] != "category"]
    if not changed:
        return X
    X = X.copy(deep=False)
    for j in changed:
        X[names[j]] = numbers(X[names[j]])
    return X


def of_estimator(error: Exception, estimator: Any, owner: str) -> Exception:
    """An error from inside an estimator that was handed on the rows, told as one of its owner."""
    # Errors of the library and of scikit-learn's checks are clear by themselves.
    where = error.__traceback__
    while where is not None and where.tb_next is not None:
        where = where.tb_next
    module = "" if where is None else str(where.tb_frame.f_globals.get("__name__", ""))
    is_usual = isinstance(error, (ValueError, TypeError))
    if is_usual and module.startswith(("costboost", "sklearn.utils", "sklearn.base")):
        return error
    kind = TypeError if isinstance(error, TypeError) else ValueError
    return kind(
        f"The estimator {type(estimator).__name__} of {owner} cannot take these rows: "
        f"{type(error).__name__}: {error} Prepare the columns of X for it, or pass another "
        "estimator."
    )


def limit_folds(classifier: Any, codes: Ints) -> Any:
    """The classifier's ``cv``; an integer is lowered to the number of rows of the rarest class."""
    cv = classifier.cv
    if not isinstance(cv, Integral):
        return cv
    counts = np.bincount(codes)
    if counts.min() < 2:
        raise ValueError(
            f"Cross-validation in {type(classifier).__name__} needs two rows or more of every "
            f"class, and class {classifier.classes_.tolist()[counts.argmin()]!r} has "
            f"{counts.min()}. Give it more rows of that class."
        )
    return min(int(cv), int(counts.min()))


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
            f"{type(estimator).__name__} takes no sample_weight. Leave it out, use another "
            "estimator, or, for a pipeline, turn on scikit-learn's metadata routing and request "
            "sample_weight in the step that takes it."
        )
    return {"sample_weight": weights}

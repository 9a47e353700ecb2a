"""Classifiers of LightGBM and XGBoost without their library: a table of trees."""

from __future__ import annotations

import math
import warnings
from typing import Any

import numpy as np
from scipy.special import expit
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from costboost._typing import AnyArray, Floats
from costboost.columns.table import is_sparse
from costboost.errors import ModelFileError
from costboost.trees import Trees, from_lightgbm, from_xgboost

# The C library's exponential, as LightGBM's: numpy's own may differ in the last bit.
_exp = np.frompyfunc(math.exp, 1, 1)


def is_boosting_classifier(model: Any) -> bool:
    """Return whether a model is the classifier of LightGBM or XGBoost."""
    return type(model).__name__ in ("LGBMClassifier", "XGBClassifier")


class TreeClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Probabilities of a fitted classifier of a boosting library, from its trees."""

    trees_: Trees
    classes_: AnyArray

    def __init__(self, library: str = "lightgbm") -> None:
        self.library = library

    @classmethod
    def from_fitted(cls, model: Any) -> TreeClassifier:
        """Return the classifier that answers as a fitted one, if there is one."""
        name = type(model).__name__
        try:
            check_is_fitted(model)
            if name == "LGBMClassifier":
                copy = cls._from_lightgbm(model)
            else:
                copy = cls._from_xgboost(model)
            copy._check_against(model)
        except (ValueError, AttributeError, TypeError) as error:
            raise ModelFileError(
                f"A {name} cannot be written as a table of trees: {error}. Use ordinary boosting "
                "for log loss, and numbers for categories."
            ) from error
        return copy

    @classmethod
    def _from_lightgbm(cls, model: Any) -> TreeClassifier:
        copy = cls("lightgbm")
        n_rounds = max(model.best_iteration_ or 0, 0)
        copy.trees_ = from_lightgbm(model.booster_, n_rounds or None)
        copy.missing_ = math.nan
        copy.categories_ = model.booster_.pandas_categorical or []
        copy._copy_attributes(model)
        return copy

    @classmethod
    def _from_xgboost(cls, model: Any) -> TreeClassifier:
        copy = cls("xgboost")
        booster = model.get_booster()
        if model.early_stopping_rounds:
            booster = booster[: model.best_iteration + 1]
        copy.trees_ = from_xgboost(booster)
        copy.missing_ = float(model.missing)
        copy.categories_ = []
        copy._copy_attributes(model)
        return copy

    def _copy_attributes(self, model: Any) -> None:
        self.has_scores_ = hasattr(model, "decision_function")
        self.n_features_in_ = int(model.n_features_in_)
        self.classes_ = np.asarray(model.classes_)
        self.feature_importances_ = np.asarray(model.feature_importances_)
        if hasattr(model, "feature_names_in_"):
            self.feature_names_in_ = np.asarray(model.feature_names_in_)

    def _check_against(self, model: Any) -> None:
        rows = np.random.RandomState(0).randn(32, self.n_features_in_)
        rows[::5, 0] = np.nan
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the rows have no names
            proba = model.predict_proba(rows)
        if not np.allclose(self.predict_proba(rows), proba, rtol=0, atol=1e-5):
            raise ValueError("its probabilities are not those of a sum of trees")

    def check(self) -> None:
        """Raise a ValueError unless the trees fit the columns; for models from files."""
        if self.trees_.width > self.n_features_in_:
            raise ValueError("The trees ask for columns beyond those of the classifier.")

    def _scores(self, X: Any) -> Floats:
        if is_sparse(X):
            if self.library == "lightgbm":
                return self.trees_.scores(X)
            # For XGBoost, what is left out is missing.
            entries = X.tocoo()
            X = np.full(X.shape, np.nan)
            X[entries.row, entries.col] = entries.data
        if self.categories_ and hasattr(X, "select_dtypes"):
            X = X.copy()
            columns = X.select_dtypes("category").columns
            for column, categories in zip(columns, self.categories_, strict=True):
                codes = X[column].cat.set_categories(categories).cat.codes.astype(float)
                X[column] = codes.where(codes >= 0)
        rows = np.asarray(X, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has the shape {rows.shape}, but the classifier was fitted with "
                f"{self.n_features_in_} features."
            )
        return self.trees_.scores(np.where(rows == self.missing_, np.nan, rows))

    @available_if(lambda self: self.has_scores_)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Floats:
        """Return raw scores, if the classifier has them: calibration prefers them."""
        return self._scores(X)

    def predict_proba(self, X: Any) -> Floats:
        """Return the probabilities of the classes, (n, k)."""
        scores = self._scores(X)
        if scores.ndim == 1:
            positive: AnyArray = expit(scores)
            proba: AnyArray = np.stack([1.0 - positive, positive], axis=1)
        else:
            parts = _exp(scores - scores.max(axis=1, keepdims=True)).astype(np.float64)
            # In order, as the library adds.
            proba = parts / np.cumsum(parts, axis=1)[:, -1:]
        if self.library == "xgboost":
            return proba.astype(np.float32)
        return proba

    def predict(self, X: Any) -> AnyArray:
        """Return the most probable class."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])

"""Classifiers of LightGBM and XGBoost inside a model, without their library: a table of trees."""

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
from costboost.columns.raw import is_sparse
from costboost.errors import ModelFileError
from costboost.trees import Trees, from_lightgbm, from_xgboost

_exp = np.frompyfunc(math.exp, 1, 1)  # the C library's, as LightGBM's: numpy's own may differ


class TreeClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Probabilities of a fitted classifier of a boosting library, from its trees."""

    def __init__(self, library: str = "lightgbm") -> None:
        self.library = library

    @classmethod
    def of(cls, model: Any, where: str) -> TreeClassifier:
        """The twin of a fitted classifier, if it has one that answers alike."""
        found = cls("lightgbm" if type(model).__name__.startswith("LGBM") else "xgboost")
        try:
            found._take(model)
            rows = np.random.RandomState(0).randn(32, found.n_features_in_)
            rows[::5, 0] = np.nan
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # the rows have no names
                right = model.predict_proba(rows)
            if not np.allclose(found.predict_proba(rows), right, rtol=0, atol=1e-5):
                raise ValueError("its probabilities are not those of a sum of trees")
        except (ValueError, AttributeError, TypeError) as error:
            raise ModelFileError(
                f"{where}, a {type(model).__name__}, cannot be written as a table of trees: "
                f"{error}. Use ordinary boosting for log loss, and numbers for categories."
            ) from error
        return found

    def _take(self, model: Any) -> None:
        check_is_fitted(model)
        if self.library == "lightgbm":
            best = model.best_iteration_ or 0
            self.trees_: Trees = from_lightgbm(model.booster_, best if best > 0 else None)
            self.missing_ = math.nan
            self.categories_ = model.booster_.pandas_categorical or []
        else:
            booster = model.get_booster()
            best = getattr(model, "best_iteration", None) if model.early_stopping_rounds else None
            self.trees_ = from_xgboost(booster if best is None else booster[: best + 1])
            self.missing_ = float(model.missing)
            self.categories_ = []
        self.has_scores_ = hasattr(model, "decision_function")
        self.classes_: AnyArray = np.asarray(model.classes_)
        self.n_features_in_ = int(model.n_features_in_)
        self.feature_importances_: AnyArray = np.asarray(model.feature_importances_)
        names = getattr(model, "feature_names_in_", None)
        if names is not None:
            self.feature_names_in_: AnyArray = np.asarray(names)

    def _matrix(self, X: Any) -> Any:
        if is_sparse(X):
            if self.library == "lightgbm":
                return X
            entries, dense = X.tocoo(), np.full(X.shape, np.nan)  # what is left out is missing
            dense[entries.row, entries.col] = entries.data
            X = dense
        if self.categories_ and hasattr(X, "select_dtypes"):
            X = X.copy()
            columns = X.select_dtypes("category").columns
            for column, known in zip(columns, self.categories_, strict=True):
                codes = X[column].cat.set_categories(known).cat.codes.astype(float)
                X[column] = codes.where(codes >= 0)
        rows = np.asarray(X, dtype=np.float64)
        if rows.ndim != 2 or rows.shape[1] != self.n_features_in_:
            raise ValueError(
                f"X has the shape {rows.shape}, but the classifier was fitted with "
                f"{self.n_features_in_} features."
            )
        return np.where(rows == self.missing_, np.nan, rows)

    @available_if(lambda self: self.has_scores_)  # type: ignore[untyped-decorator]
    def decision_function(self, X: Any) -> Floats:
        """Raw scores, if the classifier tells them: calibration prefers them to probabilities."""
        return self.trees_.scores(self._matrix(X))

    def predict_proba(self, X: Any) -> Floats:
        """Probabilities of the classes, (n, k)."""
        scores = self.trees_.scores(self._matrix(X))
        if scores.ndim == 1:
            positive: AnyArray = expit(scores)
            found: AnyArray = np.stack([1.0 - positive, positive], axis=1)
        else:
            parts = _exp(scores - scores.max(axis=1, keepdims=True)).astype(np.float64)
            total = parts[:, 0].copy()
            for j in range(1, parts.shape[1]):  # in order, as the library adds
                total += parts[:, j]
            found = parts / total[:, None]
        return found if self.library == "lightgbm" else found.astype(np.float32)

    def predict(self, X: Any) -> AnyArray:
        """The most probable class."""
        return np.asarray(self.classes_[self.predict_proba(X).argmax(axis=1)])

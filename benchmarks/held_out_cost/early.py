"""LightGBM and XGBoost that hold rows out and stop by them, as scikit-learn classifiers."""

from __future__ import annotations

from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.model_selection import train_test_split

# The same for all rivals that stop early; as CostBoostClassifier's boosters for two classes.
RATE = 0.05
TREES = 1000
PATIENCE = 50
HELD_OUT = 0.2


class EarlyStopped(ClassifierMixin, BaseEstimator):
    """A booster of up to `TREES` rounds, stopped by the (weighted) log loss of held-out rows.

    Parameters
    ----------
    engine : {"lightgbm", "xgboost"}
        Which; except for learning rate and rounds it keeps its defaults.
    seed : int
        Seed of the held-out rows.
    """

    def __init__(self, engine: str = "lightgbm", seed: int = 0) -> None:
        self.engine = engine
        self.seed = seed

    def fit(self, X: Any, y: np.ndarray, sample_weight: np.ndarray | None = None) -> Self:
        self.classes_, codes = np.unique(y, return_inverse=True)
        stratify = codes if np.bincount(codes).min() > 1 else None
        fit, watch = train_test_split(
            np.arange(len(codes)), test_size=HELD_OUT, stratify=stratify, random_state=self.seed
        )
        weights = np.ones(len(codes)) if sample_weight is None else sample_weight
        part = {"sample_weight": weights[fit], "eval_set": [(_rows(X, watch), codes[watch])]}
        if self.engine == "lightgbm":
            import lightgbm as lgb

            self.model_ = booster("lightgbm", self.seed, n_estimators=TREES, learning_rate=RATE)
            part["eval_sample_weight"] = [weights[watch]]
            part["callbacks"] = [lgb.early_stopping(PATIENCE, verbose=False)]
        else:
            self.model_ = booster(
                "xgboost", self.seed, n_estimators=TREES, learning_rate=RATE,
                early_stopping_rounds=PATIENCE,
            )  # fmt: skip
            part["sample_weight_eval_set"] = [weights[watch]]
            part["verbose"] = False
        self.model_.fit(_rows(X, fit), codes[fit], **part)
        return self

    @property
    def n_rounds_(self) -> int:
        best = "best_iteration_" if self.engine == "lightgbm" else "best_iteration"
        return int(getattr(self.model_, best)) + (self.engine == "xgboost")

    def predict_proba(self, X: Any) -> np.ndarray:
        return np.asarray(self.model_.predict_proba(X), dtype=float)

    def predict(self, X: Any) -> np.ndarray:
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def booster(engine: str, seed: int, **params: Any) -> Any:
    """The engine's own classifier, single-threaded, categories native."""
    if engine == "lightgbm":
        from lightgbm import LGBMClassifier

        return LGBMClassifier(n_jobs=1, random_state=seed, verbosity=-1, **params)
    from xgboost import XGBClassifier

    return XGBClassifier(n_jobs=1, random_state=seed, enable_categorical=True, **params)


def _rows(X: Any, rows: np.ndarray) -> Any:
    return X.iloc[rows] if hasattr(X, "iloc") else X[rows]

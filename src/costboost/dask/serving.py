"""What a worker does with a partition when a fitted classifier is used."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import xgboost as xgb

from costboost._typing import Floats
from costboost.gbm.classifier import CostBoostClassifier
from costboost.gbm.rows import Pricing
from costboost.gbm.sources.dask.training import worker_threads

__all__ = ["costs_paid", "decisions", "probabilities"]


def decisions(model: CostBoostClassifier, X: Any, costs: Any) -> Any:
    """Labels of a partition."""
    labels = np.empty(0, dtype=model.decisions_.dtype)
    if len(X):
        with xgb.config_context(nthread=worker_threads()):
            labels = model.predict(X, costs=costs)
    return pd.Series(labels, index=X.index) if isinstance(X, pd.DataFrame) else labels


def probabilities(model: CostBoostClassifier, X: Any) -> Any:
    """Probabilities of a partition."""
    proba = np.empty((0, len(model.classes_)))
    if len(X):
        with xgb.config_context(nthread=worker_threads()):
            proba = model.predict_proba(X)
    if isinstance(X, pd.DataFrame):
        return pd.DataFrame(proba, index=X.index, columns=model.classes_.tolist())
    return proba


def costs_paid(model: CostBoostClassifier, X: Any, y: Any, costs: Any, weights: Any) -> Floats:
    """What the decisions on a partition cost, and what every constant decision would."""
    if not len(X):
        return np.zeros(1 + len(model.decisions_))
    truth = np.asarray(y)
    strange = np.setdiff1d(truth, model.classes_)
    if len(strange):
        raise ValueError(
            f"y holds the classes {strange.tolist()}, which the training rows lacked. Drop these "
            f"rows; the classes are {model.classes_.tolist()}."
        )
    # Boosters that learned decisions cannot use costs.
    told = costs is not None and np.ndim(costs) == 3 and hasattr(model, "predict_proba")
    labels = np.asarray(decisions(model, X, costs if told else None))
    order = np.argsort(model.decisions_)
    taken = order[np.searchsorted(model.decisions_, labels, sorter=order)]
    codes = np.searchsorted(model.classes_, truth)
    pricing = Pricing(model.cost_matrix, model.classes_, type(model).__name__)
    w = None if weights is None else np.asarray(weights, dtype=np.float64)
    total, constants = pricing.resolve(costs, X, codes).regret_totals(taken, w)
    return np.array([total, *constants])

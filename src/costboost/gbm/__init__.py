"""The losses of the library in your own LightGBM and XGBoost training.

>>> import lightgbm
>>> from sklearn.datasets import load_breast_cancer
>>> from costboost.gbm import cost_metric, decide, objective
>>> X, y = load_breast_cancer(return_X_y=True)
>>> prices = {"fn": 1, "fp": 10}  # deciding 1, benign, when the truth is 0, malignant, costs 10
>>> params = {"objective": objective("cost_logistic", cost_matrix=prices), "verbose": -1}
>>> booster = lightgbm.train(params, lightgbm.Dataset(X[::2], y[::2]), num_boost_round=50)
>>> metric = cost_metric("cost_logistic", cost_matrix=prices, measure="savings")
>>> metric.value(y[1::2], booster.predict(X[1::2])) > 0.5
True
>>> decide(booster.predict(X[:3]), "cost_logistic")
array([0, 0, 0])
"""

from __future__ import annotations

from costboost.boosting.rounds import Round, StopBoosting
from costboost.gbm.custom import (
    CostMetric,
    Objective,
    cost_metric,
    decide,
    objective,
    probability,
)
from costboost.losses import LOSSES

__all__ = [
    "LOSSES",
    "CostMetric",
    "Objective",
    "Round",
    "StopBoosting",
    "cost_metric",
    "decide",
    "objective",
    "probability",
]

"""XGBoost: its parameters, objective and metric, for Parquet files and clusters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import xgboost as xgb

from costboost._typing import AnyArray
from costboost.gbm.objectives import Target
from costboost.gbm.parameters import ONE_HOT
from costboost.gbm.settings import TrainingSettings
from costboost.gbm.train import ModelTraining


def boost(
    train: xgb.DMatrix, held_out: xgb.DMatrix | None, training: ModelTraining, target: Target | None
) -> xgb.Booster:
    """Train a booster on matrices; the target is that of the training rows, if it is needed."""
    objective = training.objective
    custom_objective = None
    if target is not None:  # else XGBoost has the loss itself

        def custom_objective(scores, _):
            return objective.derivatives(scores, target)

    def held_out_loss(outputs, _):
        # With an objective of its own XGBoost hands over probabilities, else raw scores.
        return "loss", training.record(outputs, are_proba=objective.is_log_loss)

    evals = []
    if held_out is not None:
        evals.append((held_out, "held_out"))
    params = make_params(training)
    params["nthread"] = training.n_threads
    booster = xgb.train(
        params,
        train,
        num_boost_round=training.settings.n_estimators,
        evals=evals,
        obj=custom_objective,
        custom_metric=held_out_loss,
        verbose_eval=False,
        callbacks=[_RoundCallback(training)],
    )
    return booster[: training.best_round]


def make_params(training: ModelTraining) -> dict[str, Any]:
    """Return XGBoost's parameters of a training."""
    objective = training.objective
    settings = training.settings
    shares = objective.class_weight / objective.class_weight.sum()
    hessian = float((1.0 - np.square(shares).sum()) / len(shares))
    params: dict[str, Any] = {
        "tree_method": "hist",
        "grow_policy": "lossguide",
        "max_leaves": training.spec.max_leaves,
        "max_depth": 0,
        "learning_rate": settings.learning_rate_of(training.spec),
        "reg_lambda": settings.reg_lambda,
        "subsample": settings.subsample,
        "colsample_bytree": settings.colsample,
        "max_cat_to_onehot": ONE_HOT,
        # A leaf of min_samples_leaf rows has about this Hessian in the first round: for a row, the
        # mean over labels of p (1 - p).
        "min_child_weight": settings.min_samples_leaf * hessian,
        "disable_default_eval_metric": 1,
        "verbosity": 0,
        "seed": training.fold.seed,
    }
    if objective.n_scores > 1:
        params["num_class"] = objective.n_scores
    if not objective.is_log_loss:
        params["base_score"] = 0.0
    elif objective.n_scores == 1:
        params["objective"] = "binary:logistic"
    else:
        params["objective"] = "multi:softprob"
    return {**params, **settings.engine_params}


def matrix_options(settings: TrainingSettings, types: list[str] | None) -> dict[str, Any]:
    """Return options of a quantised matrix with features of these types."""
    return {
        "max_bin": settings.engine_params.get("max_bin"),
        "feature_types": types,
        "enable_categorical": types is not None,
    }


def feature_types(n_features: int, categorical: list[int]) -> list[str] | None:
    """Return XGBoost's types of the columns; None if all are numbers."""
    if not categorical:
        return None
    types = ["q"] * n_features
    for column in categorical:
        types[column] = "c"
    return types


_LARGEST = float(np.finfo(np.float32).max)


def in_single(X: AnyArray) -> AnyArray:
    """Numbers that single precision holds: larger ones, refused by XGBoost, become the largest."""
    # No threshold is beyond it, so a new row falls into the same leaf.
    if X.dtype == np.float64 and X.size:
        largest = max(np.fmax.reduce(X, axis=None), -np.fmin.reduce(X, axis=None))
        if largest > _LARGEST:
            return np.clip(X, -_LARGEST, _LARGEST)
    return X


class Batches(xgb.DataIter):
    """Rows that are quantised a batch at a time, into files if there is a cache."""

    def __init__(
        self, batches: Callable[[], Iterator[dict[str, Any]]], cache: str | None = None
    ) -> None:
        self.batches = batches
        self.reset()
        super().__init__(cache_prefix=cache)

    def reset(self) -> None:
        """Start from the first batch."""
        self.current = self.batches()

    def next(self, input_data: Callable[..., None]) -> bool:
        """Hand over a batch; False if there is none left."""
        batch = next(self.current, None)
        if batch is not None:
            input_data(**batch)
        return batch is not None


class _RoundCallback(xgb.callback.TrainingCallback):
    """Report, and stop when it is time."""

    def __init__(self, training: ModelTraining) -> None:
        self.training = training

    def after_iteration(self, model: xgb.Booster, epoch: int, evals_log: object) -> bool:
        """Return True to stop."""
        return self.training.end_round()

"""XGBoost: its parameters, objective and metric, for Parquet files and clusters."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
import xgboost as xgb

from costboost._typing import AnyArray
from costboost.gbm.models import Target
from costboost.gbm.parameters import ONE_HOT
from costboost.gbm.train import Candidate, Rounds


def boost(
    kind: Candidate,
    target: Target,
    train: xgb.DMatrix,
    watched: Mapping[str, xgb.DMatrix],
    rounds: Rounds,
) -> xgb.Booster:
    """Train a booster on matrices, wherever their rows are; the target is on the training rows."""
    names = {id(data): name for name, data in watched.items()}
    rounds.are_proba = target.is_log_loss
    booster = xgb.train(
        parameters_for(kind, target, rounds),
        train,
        num_boost_round=kind.n_rounds,
        evals=[(data, name) for name, data in watched.items()],
        obj=None if target.is_log_loss else lambda scores, _: target.derivatives(scores),
        # With an objective of its own XGBoost hands over probabilities, else raw scores.
        custom_metric=lambda outputs, data: ("loss", rounds.see(names[id(data)], outputs)),
        verbose_eval=False,
        callbacks=[_RoundCallback(rounds)],
    )
    return booster[: rounds.best_round]


def parameters_for(kind: Candidate, target: Target, rounds: Rounds) -> dict[str, Any]:
    """XGBoost's parameters of a training."""
    shares = target.masses / target.masses.sum()
    hessian = float((1.0 - np.square(shares).sum()) / len(shares))
    parameters: dict[str, Any] = {
        "tree_method": "hist",
        "grow_policy": "lossguide",
        "max_leaves": kind.max_leaves,
        "max_depth": 0,
        "learning_rate": kind.learning_rate,
        "reg_lambda": kind.settings.reg_lambda,
        "subsample": kind.settings.subsample,
        "colsample_bytree": kind.settings.colsample,
        "max_cat_to_onehot": ONE_HOT,
        # A leaf of min_samples_leaf rows has about this Hessian in the first round: for a row, the
        # mean over labels of p (1 - p).
        "min_child_weight": kind.min_samples_leaf * hessian,
        "disable_default_eval_metric": 1,
        "verbosity": 0,
        "seed": rounds.seed,
    }
    if rounds.threads:
        parameters["nthread"] = rounds.threads
    if target.n_scores > 1:
        parameters["num_class"] = target.n_scores
    if target.is_log_loss:
        parameters["objective"] = "binary:logistic" if target.n_scores == 1 else "multi:softprob"
    else:
        parameters["base_score"] = 0.0
    return {**parameters, **kind.parameters}


def matrix_options(kind: Candidate, types: list[str] | None) -> dict[str, Any]:
    """Options of a quantised matrix with features of these types."""
    return {
        "max_bin": kind.parameters.get("max_bin"),
        "feature_types": types,
        "enable_categorical": types is not None,
    }


def feature_types(n_features: int, categorical: list[int]) -> list[str] | None:
    """XGBoost's types of the columns; None if all are numbers."""
    if not categorical:
        return None
    return ["c" if j in set(categorical) else "q" for j in range(n_features)]


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

    def __init__(self, rounds: Rounds) -> None:
        self.rounds = rounds

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        """Whether to stop."""
        return self.rounds.end_round()

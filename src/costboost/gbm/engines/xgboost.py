"""XGBoost as an engine: its parameters, its objective and its metric, for one machine or many."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import xgboost as xgb
from numpy.typing import ArrayLike

from costboost._frames import is_sparse
from costboost._threads import limit_forked
from costboost._typing import AnyArray, Floats, Ints
from costboost.gbm.engines.base import ONE_HOT, Engine, Job, TargetTable, Watch, watched_sets
from costboost.gbm.folds import Fold
from costboost.gbm.models import XGBoostModel, in_single, written_out
from costboost.gbm.names import canonical
from costboost.gbm.targets import Part, Target

__all__ = ["XGBoostEngine", "feature_types", "first_hessian"]


class XGBoostEngine(Engine):
    """Boosters by XGBoost, grown leaf by leaf on histograms."""

    def train(
        self, table: TargetTable, fold: Fold, job: Job, eval_table: TargetTable | None = None
    ) -> tuple[XGBoostModel, Floats | None]:
        """Train one booster."""
        limit_forked()
        types = feature_types(table.X.shape[1], table.categorical)

        def data(
            table: TargetTable, rows: Ints | None, reference: xgb.DMatrix | None = None
        ) -> xgb.QuantileDMatrix:
            picked: Any = slice(None) if rows is None else rows
            labels, weights = table.columns.labels[picked], table.columns.weights[picked]
            options = {**self.matrix_options(types), "ref": reference, "nthread": self.threads}
            X: Any = table.X[picked]
            if is_sparse(X):
                return xgb.QuantileDMatrix(_DenseBatches(X, labels, weights), **options)
            return xgb.QuantileDMatrix(in_single(X), label=labels, weight=weights, **options)

        train = data(table, fold.rows)
        sets = watched_sets(table, fold, job, eval_table)
        watch = Watch.over(job, sets)
        watched = {
            name: train if name == "train" else data(*sets[name], train) for name in watch.parts
        }
        part = None if table.target.is_log_loss else table.part(fold.rows)
        booster = self.boost(table.target, train, part, watched, watch)
        return XGBoostModel(booster, types), watch.scores_for(fold)

    def boost(
        self,
        target: Target,
        train: xgb.DMatrix,
        part: Part | None,
        watched: Mapping[str, xgb.DMatrix],
        watch: Watch,
    ) -> xgb.Booster:
        """Train a booster on matrices, wherever their rows are."""
        job = watch.job
        if job.start is not None:
            raise ValueError("engine='xgboost' cannot continue boosters. Set warm_start=False.")
        options: dict[str, Any] = {}
        if watched:
            options = {
                "evals": [(data, name) for name, data in watched.items()],
                "custom_metric": _loss(watch, watched, target.is_log_loss),
                "verbose_eval": False,
            }
        if part is not None:
            options["obj"] = lambda scores, _: part.derivatives(scores)
        booster = xgb.train(
            self.parameters_for(target, job.fresh_seed),
            train,
            num_boost_round=job.rounds_to_go,
            callbacks=[_Callback(watch)],
            **options,
        )
        if watch.best_round < booster.num_boosted_rounds():
            booster = booster[: watch.best_round]
        return booster

    def parameters_for(self, target: Target, seed: int) -> dict[str, Any]:
        """XGBoost's parameters of a training."""
        growth = self.growth
        parameters: dict[str, Any] = {
            "tree_method": "hist",
            "grow_policy": "lossguide",
            "max_leaves": growth.max_leaves,
            "max_depth": 0,
            "learning_rate": growth.learning_rate,
            "reg_lambda": growth.reg_lambda,
            "subsample": growth.subsample,
            "colsample_bytree": growth.colsample,
            "max_cat_to_onehot": ONE_HOT,
            # A leaf of min_samples_leaf rows has about this Hessian in the first round.
            "min_child_weight": growth.min_samples_leaf * first_hessian(target.masses),
            "disable_default_eval_metric": 1,
            "verbosity": 0,
            "device": self.device,
            "seed": seed,
        }
        if self.threads is not None:
            parameters["nthread"] = self.threads
        if target.n_scores > 1:
            parameters["num_class"] = target.n_scores
        if target.is_log_loss:
            parameters["objective"] = (
                "binary:logistic" if target.n_scores == 1 else "multi:softprob"
            )
        else:
            parameters["base_score"] = 0.0
        return {**parameters, **canonical(self.parameters, "xgboost")}

    def matrix_options(self, types: list[str] | None) -> dict[str, Any]:
        """Options of a quantised matrix with features of these types."""
        return {
            "max_bin": self.parameters.get("max_bin"),
            "feature_types": types,
            "enable_categorical": types is not None,
        }


def first_hessian(masses: ArrayLike) -> float:
    """Mean Hessian of a row in the first round: it turns rows of a leaf into XGBoost's weight."""
    # With shares p of the labels it is the mean over labels of p (1 - p).
    shares = np.asarray(masses) / np.sum(np.asarray(masses))
    return float((1.0 - np.square(shares).sum()) / len(shares))


def feature_types(n_features: int, categorical: list[int]) -> list[str] | None:
    """XGBoost's types of the columns; None if all are numbers."""
    if not categorical:
        return None
    return ["c" if j in set(categorical) else "q" for j in range(n_features)]


class _DenseBatches(xgb.DataIter):
    """Sparse rows, written out block by block while they are quantised: a byte or two a number."""

    def __init__(self, X: Any, labels: AnyArray, weights: AnyArray) -> None:
        self.rows = X
        self.labels = labels
        self.weights = weights
        self.reset()
        super().__init__()

    def reset(self) -> None:
        """Start from the first row."""
        self.at = 0
        self.blocks = written_out(self.rows)

    def next(self, input_data: Callable[..., None]) -> bool:
        """Hand over a block; False if there is none left."""
        block = next(self.blocks, None)
        if block is None:
            return False
        some = slice(self.at, self.at + len(block))
        self.at = some.stop
        input_data(data=block, label=self.labels[some], weight=self.weights[some])
        return True


def _loss(
    watch: Watch, watched: Mapping[str, xgb.DMatrix], is_log_loss: bool
) -> Callable[..., tuple[str, float]]:
    """The loss of each watched set, as XGBoost's custom metric."""
    names = {id(data): name for name, data in watched.items()}

    def loss(outputs: AnyArray, data: xgb.DMatrix) -> tuple[str, float]:
        # With an objective of its own XGBoost hands over probabilities, else raw scores.
        return "loss", watch.see(names[id(data)], outputs, is_probability=is_log_loss)

    return loss


class _Callback(xgb.callback.TrainingCallback):
    """Report, and stop when it is time."""

    def __init__(self, watch: Watch) -> None:
        self.watch = watch

    def after_iteration(self, model: Any, epoch: int, evals_log: Any) -> bool:
        """Whether to stop."""
        return self.watch.end_round()

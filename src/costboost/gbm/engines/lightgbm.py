"""LightGBM as an engine."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import lightgbm as lgb

from costboost._typing import AnyArray, Floats, Ints
from costboost.gbm.engines.base import ONE_HOT, Engine, Job, TargetTable, Watch, watched_sets
from costboost.gbm.folds import Fold
from costboost.gbm.models import LightGBMModel
from costboost.gbm.names import canonical
from costboost.gbm.targets import Target

__all__ = ["LightGBMEngine", "dataset"]


class LightGBMEngine(Engine):
    """Boosters by LightGBM."""

    def train(
        self, table: TargetTable, fold: Fold, job: Job, eval_table: TargetTable | None = None
    ) -> tuple[LightGBMModel, Floats | None]:
        """Train one booster."""
        target = table.target
        parameters = self._parameters(target, job)
        binning = {**parameters, "feature_pre_filter": False}
        if not target.is_log_loss:
            part = table.part(fold.rows)
            parameters = {"objective": lambda scores, _: part.derivatives(scores), **parameters}
        train = dataset(table, fold.rows, binning, keep_rows=job.start is not None)
        sets = watched_sets(table, fold, job, eval_table)
        watch = Watch.over(job, sets)
        watched = {
            name: train
            if name == "train"
            else dataset(*sets[name], binning, train, keep_rows=job.start is not None)
            for name in watch.parts
        }
        options: dict[str, Any] = {}
        if watched:
            options = {
                "valid_sets": list(watched.values()),
                "feval": _loss(watch, watched, target.is_log_loss),
            }
        booster = lgb.train(
            parameters,
            train,
            num_boost_round=job.rounds_to_go,
            init_model=None if job.start is None else job.start.booster,
            callbacks=[_after_round(watch)],
            **options,
        )
        if watch.best_round < booster.current_iteration():
            # Cut, so that a warm start goes on from the best round.
            booster.model_from_string(booster.model_to_string(num_iteration=watch.best_round))
        return LightGBMModel(booster), watch.scores_for(fold)

    def _parameters(self, target: Target, job: Job) -> dict[str, Any]:
        growth = self.growth
        parameters: dict[str, Any] = {
            "learning_rate": growth.learning_rate,
            "num_leaves": growth.max_leaves,
            "min_data_in_leaf": growth.min_samples_leaf,
            "lambda_l2": growth.reg_lambda,
            "bagging_fraction": growth.subsample,
            "bagging_freq": int(growth.subsample < 1),
            "feature_fraction": growth.colsample,
            "extra_trees": growth.random_splits,
            "max_cat_to_onehot": ONE_HOT,
            "device_type": self.device,
            "seed": job.fresh_seed,
            "metric": "None",
            "verbosity": -1,
        }
        if self.threads is not None:
            parameters["num_threads"] = self.threads
        if target.n_scores > 1:
            parameters["num_class"] = target.n_scores
        if target.is_log_loss:
            parameters["objective"] = "binary" if target.n_scores == 1 else "multiclass"
        return {**parameters, **canonical(self.parameters, "lightgbm")}


def dataset(
    table: TargetTable,
    rows: Ints | None,
    parameters: dict[str, Any],
    reference: lgb.Dataset | None = None,
    *,
    keep_rows: bool = False,
) -> lgb.Dataset:
    """Some rows of a table, binned like the reference if there is one."""
    # With too few rows for any split LightGBM's filter leaves no feature, which is an error with
    # objectives that are not its own; so the parameters turn it off.
    columns = table.columns
    return lgb.Dataset(
        table.X if rows is None else table.X[rows],
        label=columns.labels if rows is None else columns.labels[rows],
        weight=_weights(columns.weights, rows),
        reference=reference,
        categorical_feature=table.categorical,
        free_raw_data=not keep_rows,
        params=parameters,
    )


def _weights(weights: AnyArray, rows: Ints | None) -> AnyArray | None:
    """Weights of some rows; None, which is faster, if they are all one."""
    used = weights if rows is None else weights[rows]
    return None if (used == 1.0).all() else used


def _loss(
    watch: Watch, watched: dict[str, lgb.Dataset], is_log_loss: bool
) -> Callable[..., tuple[str, float, bool]]:
    """The loss of each watched set, as LightGBM's evaluation function."""
    names = {id(data): name for name, data in watched.items()}

    def loss(outputs: AnyArray, data: lgb.Dataset) -> tuple[str, float, bool]:
        # With an objective of its own LightGBM hands over probabilities, else raw scores.
        return "loss", watch.see(names[id(data)], outputs, is_probability=is_log_loss), False

    return loss


def _after_round(watch: Watch) -> Callable[[Any], None]:
    """Report, and stop when it is time, as LightGBM's callback."""

    def after_round(env: Any) -> None:
        if watch.end_round():
            results = [("watched", "loss", watch.best_loss, False)]
            raise lgb.callback.EarlyStopException(watch.best_round - 1, results)

    return after_round

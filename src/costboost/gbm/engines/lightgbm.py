"""LightGBM as an engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import lightgbm as lgb
import numpy as np
from scipy import sparse

from costboost._typing import AnyArray, Floats, Ints
from costboost.gbm.engines.base import Engine, Job, Model, TargetTable, Watch
from costboost.gbm.folds import Fold
from costboost.gbm.targets import Target

__all__ = ["LightGBMEngine", "LightGBMModel"]


class LightGBMEngine(Engine):
    """Boosters by LightGBM."""

    def train(
        self, table: TargetTable, fold: Fold, job: Job
    ) -> tuple[LightGBMModel, Floats | None]:
        """Train one booster."""
        X, columns, target = table.X, table.columns, table.target

        def data(rows: Ints | None, reference: lgb.Dataset | None = None) -> lgb.Dataset:
            return lgb.Dataset(
                X if rows is None else X[rows],
                label=columns.labels if rows is None else columns.labels[rows],
                weight=_weights(columns.weights, rows),
                reference=reference,
                categorical_feature=table.categorical,
                free_raw_data=job.start is None,
                # With too few rows for any split the filter leaves no feature, which is an error
                # with objectives that are not LightGBM's.
                params={"feature_pre_filter": False},
            )

        parameters = self._parameters(target, job)
        if not target.is_log_loss:
            part = table.part(fold.rows)
            parameters = {"objective": lambda scores, _: part.derivatives(scores), **parameters}
        train, watch = data(fold.rows), Watch.over(table, fold, job)
        watched: dict[str, Any] = {}
        if watch is not None:
            watched = {
                "valid_sets": [data(fold.held_out, train)],
                "feval": _loss(watch, target.is_log_loss),
            }
        booster = lgb.train(
            parameters,
            train,
            num_boost_round=job.rounds_to_go,
            init_model=None if job.start is None else job.start.booster,
            callbacks=[_after_round(watch, job)],
            **watched,
        )
        if watch is not None and watch.best_round < booster.current_iteration():
            # Cut, so that a warm start goes on from the best round.
            booster.model_from_string(booster.model_to_string(num_iteration=watch.best_round))
        return LightGBMModel(booster), None if watch is None else watch.best_scores

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
        return {**parameters, **self.parameters}


class LightGBMModel(Model):
    """A LightGBM booster, all of whose rounds count."""

    def __init__(self, booster: lgb.Booster) -> None:
        self.booster = booster

    @property
    def n_rounds(self) -> int:
        """Number of rounds kept."""
        best = self.booster.best_iteration
        return int(best if best > 0 else self.booster.current_iteration())

    def scores(self, X: AnyArray) -> Floats:
        """Raw scores."""
        return np.asarray(self.booster.predict(X, raw_score=True, num_iteration=self.n_rounds))

    def staged_scores(self, X: AnyArray) -> Iterator[Floats]:
        """Raw scores after each round."""
        total: Any = 0.0
        for t in range(self.n_rounds):
            total = total + self.booster.predict(
                X, raw_score=True, start_iteration=t, num_iteration=1
            )
            yield total

    def contributions(self, X: AnyArray) -> Floats:
        """SHAP values, last the base."""
        found: Any = self.booster.predict(X, pred_contrib=True, num_iteration=self.n_rounds)
        if isinstance(found, list):  # of sparse rows: a sparse matrix per score
            return np.stack([part.toarray() for part in found], axis=1)
        values = np.asarray(found.toarray() if sparse.issparse(found) else found)
        width = X.shape[1] + 1
        return values if values.shape[1] == width else values.reshape(len(values), -1, width)

    def importances(self, n_features: int) -> Floats:
        """Total gain of each feature."""
        gains = self.booster.feature_importance("gain", iteration=self.n_rounds)
        return np.asarray(gains, dtype=np.float64)


def _weights(weights: AnyArray, rows: Ints | None) -> AnyArray | None:
    """Weights of some rows; None, which is faster, if they are all one."""
    used = weights if rows is None else weights[rows]
    return None if (used == 1.0).all() else used


def _loss(watch: Watch, is_log_loss: bool) -> Callable[..., tuple[str, float, bool]]:
    """The held-out loss, as LightGBM's evaluation function."""

    def loss(outputs: AnyArray, _: lgb.Dataset) -> tuple[str, float, bool]:
        # With an objective of its own LightGBM hands over probabilities, else raw scores.
        return "loss", watch.see(outputs, is_probability=is_log_loss), False

    return loss


def _after_round(watch: Watch | None, job: Job) -> Callable[[Any], None]:
    """Report, and stop when the loss has stopped falling, as LightGBM's callback."""

    def after_round(env: Any) -> None:
        if watch is None:
            job.tell(env.iteration + 1, None)
        elif watch.is_over:
            results = [("held_out", "loss", watch.best_loss, False)]
            raise lgb.callback.EarlyStopException(watch.best_round - 1, results)

    return after_round

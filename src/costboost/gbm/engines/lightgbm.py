"""LightGBM as an engine."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import lightgbm as lgb
import numpy as np

from costboost._frames import is_sparse
from costboost._threads import is_forked, most_threads
from costboost._typing import AnyArray, Floats, Ints
from costboost.gbm.engines.base import ONE_HOT, Engine, Job, Model, TargetTable, Watch, watched_sets
from costboost.gbm.engines.trees import trees_for
from costboost.gbm.folds import Fold
from costboost.gbm.names import canonical
from costboost.gbm.targets import Target

__all__ = ["LightGBMEngine", "LightGBMModel", "dataset"]


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


class LightGBMModel(Model):
    """A LightGBM booster, all of whose rounds count."""

    engine = "lightgbm"

    def __init__(self, booster: lgb.Booster) -> None:
        self.booster = booster

    @property
    def n_rounds(self) -> int:
        """Number of rounds kept."""
        best = self.booster.best_iteration
        return int(best if best > 0 else self.booster.current_iteration())

    def scores(self, X: AnyArray) -> Floats:
        """Raw scores: of many rows by many trees by `Trees`, which is faster."""
        trees = None
        if not is_sparse(X) and X.shape[1] == self.booster.num_feature():
            trees = trees_for(self.booster, self.n_rounds, len(X))
        if trees is not None:
            threads = int(self.booster.params.get("num_threads", 0))
            return trees.scores(X, most_threads(threads if threads > 0 else None))
        return np.asarray(self._predicted(X, raw_score=True, num_iteration=self.n_rounds))

    def _predicted(self, X: AnyArray, **options: Any) -> Any:
        """The booster's answer, in a forked process by one thread."""
        if is_forked():
            options["num_threads"] = 1
        return self.booster.predict(X, **options)

    def staged_scores(self, X: AnyArray) -> Iterator[Floats]:
        """Raw scores after each round."""
        total: Any = 0.0
        for t in range(self.n_rounds):
            total = total + self._predicted(X, raw_score=True, start_iteration=t, num_iteration=1)
            yield total

    def contributions(self, X: AnyArray) -> Floats:
        """SHAP values, last the base."""
        found: Any = self._predicted(X, pred_contrib=True, num_iteration=self.n_rounds)
        if isinstance(found, list):  # of sparse rows: a sparse matrix per score
            return np.stack([part.toarray() for part in found], axis=1)
        values = np.asarray(found.toarray() if is_sparse(found) else found)
        width = X.shape[1] + 1
        return values if values.shape[1] == width else values.reshape(len(values), -1, width)

    def importances(self, n_features: int) -> Floats:
        """Total gain of each feature."""
        gains = self.booster.feature_importance("gain", iteration=self.n_rounds)
        return np.asarray(gains, dtype=np.float64)


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

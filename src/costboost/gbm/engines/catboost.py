"""CatBoost as an engine, for log loss: symmetric trees, and categories by their ordered means."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import catboost
import numpy as np
import pandas as pd

from costboost._frames import is_sparse
from costboost._typing import AnyArray, Floats, Ints
from costboost.gbm.engines.base import Engine, Job, Model, Seen, TargetTable, Watch, watched_sets
from costboost.gbm.folds import Fold

__all__ = ["CatBoostEngine", "CatBoostModel"]


class CatBoostEngine(Engine):
    """Boosters by CatBoost.

    A symmetric tree of depth d has 2^d leaves; the smallest depth with `max_leaves` is used.
    """

    def train(
        self, table: TargetTable, fold: Fold, job: Job, eval_table: TargetTable | None = None
    ) -> tuple[CatBoostModel, Floats | None]:
        """Train one booster."""
        if not table.target.is_log_loss:
            raise ValueError(
                "engine='catboost' trains log loss only, and more than two decisions whose costs "
                "are unknown, or a loss of the library, need another one. Use engine='lightgbm'."
            )
        if job.start is not None:
            raise ValueError(
                "engine='catboost' cannot continue boosters. Set warm_start=False, or use "
                "engine='lightgbm'."
            )
        train = _pool(table, fold.rows)
        sets = watched_sets(table, fold, job, eval_table)
        watch = Watch.over(job, sets)
        watched = None if watch.stop_by is None else _pool(*sets[watch.stop_by])
        told = _Callback(job, watch.stop_by)
        booster = catboost.CatBoost(self._parameters(table, job))
        booster.fit(
            train,
            eval_set=watched,
            use_best_model=watched is not None,
            early_stopping_rounds=job.patience if watched is not None else None,
            callbacks=[told],
        )
        model = CatBoostModel(booster, table.categorical, table.target.n_scores)
        if watch.stop_by is None:
            return model, None
        other, rows = sets[watch.stop_by]
        watch.best_scores = model.scores(other.X if rows is None else other.X[rows])
        return model, watch.scores_for(fold)

    def _parameters(self, table: TargetTable, job: Job) -> dict[str, Any]:
        growth, target = self.growth, table.target
        parameters: dict[str, Any] = {
            "iterations": job.rounds_to_go,
            "learning_rate": growth.learning_rate,
            "depth": int(np.clip(np.ceil(np.log2(growth.max_leaves)), 1, 16)),
            "l2_leaf_reg": growth.reg_lambda,
            "rsm": growth.colsample,
            "bootstrap_type": "Bernoulli",
            "subsample": growth.subsample,
            "loss_function": "Logloss" if target.n_scores == 1 else "MultiClass",
            "random_seed": job.fresh_seed,
            "task_type": "GPU" if self.device in ("gpu", "cuda") else "CPU",
            "verbose": False,
            "allow_writing_files": False,
        }
        if target.n_scores > 1:
            parameters["classes_count"] = target.n_scores
        if self.threads is not None:
            parameters["thread_count"] = self.threads
        return {**parameters, **self.parameters}


class CatBoostModel(Model):
    """A CatBoost booster.

    Parameters
    ----------
    booster : catboost.CatBoost
        The booster, cut at its best round.
    categorical : list of int
        Columns that hold category codes.
    n_scores : int
        Scores of a row.
    """

    engine = "catboost"

    def __init__(self, booster: catboost.CatBoost, categorical: list[int], n_scores: int) -> None:
        self.booster = booster
        self.categorical = categorical
        self.n_scores = n_scores

    @property
    def n_rounds(self) -> int:
        """Number of rounds kept."""
        return int(self.booster.tree_count_)

    def _answer(self, X: AnyArray) -> catboost.Pool:
        return catboost.Pool(_frame(X, self.categorical), cat_features=self.categorical)

    def scores(self, X: AnyArray) -> Floats:
        """Raw scores."""
        return self._shaped(self.booster.predict(self._answer(X), "RawFormulaVal", thread_count=1))

    def staged_scores(self, X: AnyArray) -> Iterator[Floats]:
        """Raw scores after each round."""
        for scores in self.booster.staged_predict(
            self._answer(X), "RawFormulaVal", thread_count=1
        ):
            yield self._shaped(scores)

    def contributions(self, X: AnyArray) -> Floats:
        """SHAP values, last the base."""
        return np.asarray(
            self.booster.get_feature_importance(self._answer(X), "ShapValues", thread_count=1)
        )

    def importances(self, n_features: int) -> Floats:
        """How much the prediction changes with each feature."""
        found = self.booster.get_feature_importance(type="PredictionValuesChange", thread_count=1)
        return np.asarray(found, dtype=np.float64)

    def _shaped(self, scores: Any) -> Floats:
        found = np.asarray(scores, dtype=np.float64)
        return found if self.n_scores > 1 else found.reshape(len(found))


class _Callback:
    """Report rounds, and stop when it is told to."""

    def __init__(self, job: Job, stop_by: str | None) -> None:
        self.job = job
        self.stop_by = stop_by

    def after_iteration(self, info: Any) -> bool:
        """Whether to go on."""
        losses = {}
        if self.stop_by is not None:
            losses[self.stop_by] = float(next(iter(info.metrics["validation"].values()))[-1])
        return not self.job.tell(Seen(int(info.iteration), losses, {}))


def _pool(table: TargetTable, rows: Ints | None) -> catboost.Pool:
    picked: Any = slice(None) if rows is None else rows
    return catboost.Pool(
        _frame(table.X[picked], table.categorical),
        label=table.columns.labels[picked],
        weight=table.columns.weights[picked],
        cat_features=table.categorical,
    )


def _frame(X: AnyArray, categorical: list[int]) -> Any:
    """Rows as CatBoost takes them: category codes are whole numbers, -1 where there is none."""
    rows = X.toarray() if is_sparse(X) else X
    if not categorical:
        return np.ascontiguousarray(rows)
    frame = pd.DataFrame(rows)
    for column in categorical:
        codes = np.nan_to_num(np.asarray(rows[:, column], dtype=np.float64), nan=-1.0)
        frame[column] = codes.astype(np.int64)
    return frame

"""LightGBM: its parameters, objective and metric."""

from __future__ import annotations

from typing import Any

import lightgbm as lgb

from costboost._threads import same_threads
from costboost._typing import AnyArray
from costboost.gbm.models import Target, TreeModel
from costboost.gbm.parameters import ONE_HOT
from costboost.gbm.rows import MemoryRows
from costboost.gbm.train import Rounds
from costboost.trees import from_lightgbm


def fit(X: AnyArray, target: Target, rounds: Rounds, table: MemoryRows) -> TreeModel:
    """Train one booster."""
    kind = rounds.kind
    parameters: dict[str, Any] = {
        "learning_rate": kind.learning_rate,
        "num_leaves": kind.max_leaves,
        "min_data_in_leaf": kind.min_samples_leaf,
        "lambda_l2": kind.settings.reg_lambda,
        "bagging_fraction": kind.settings.subsample,
        "bagging_freq": int(kind.settings.subsample < 1),
        "feature_fraction": kind.settings.colsample,
        "extra_trees": kind.random_splits,
        "seed": rounds.seed,
        "num_threads": rounds.threads,
        "max_cat_to_onehot": ONE_HOT,
        "metric": "None",
        "verbosity": -1,
    }
    if target.n_scores > 1:
        parameters["num_class"] = target.n_scores
    if target.is_log_loss:
        parameters["objective"] = "binary" if target.n_scores == 1 else "multiclass"
    parameters |= kind.parameters
    train = _dataset(X, target, parameters, table)
    watched = {
        name: train
        if name == "train"
        else _dataset(rounds.sets[name].X, known, parameters, table, train)
        for name, known in rounds.targets.items()
    }
    if not target.is_log_loss:
        parameters = {"objective": lambda scores, _: target.derivatives(scores), **parameters}
    names = {id(data): name for name, data in watched.items()}
    rounds.are_proba = target.is_log_loss

    def after_round(env: Any) -> None:
        if rounds.end_round():
            results = [("watched", "loss", rounds.best_loss, False)]
            raise lgb.callback.EarlyStopException(rounds.best_round - 1, results)

    with same_threads(rounds.threads):
        booster = lgb.train(
            parameters,
            train,
            num_boost_round=kind.n_rounds,
            valid_sets=list(watched.values()),
            # With an objective of its own LightGBM hands over probabilities, else raw scores.
            feval=lambda outputs, data: ("loss", rounds.see(names[id(data)], outputs), False),
            callbacks=[after_round],
            keep_training_booster=True,  # or LightGBM would copy the trees once more
        )
    trees = from_lightgbm(booster, rounds.kept_rounds)
    return TreeModel(trees, X.shape[1], "lightgbm", target.is_log_loss, rounds.threads)


def _dataset(
    X: AnyArray,
    known: Target,
    parameters: dict[str, Any],
    table: MemoryRows,
    reference: lgb.Dataset | None = None,
) -> lgb.Dataset:
    """Rows, binned like the reference if there is one."""
    return lgb.Dataset(
        X,
        label=known.labels,
        weight=None if (known.weights == 1.0).all() else known.weights,  # none is faster
        reference=reference,
        categorical_feature=table.columns.categorical,
        # With too few rows for any split LightGBM's filter leaves no feature, which is an error
        # with objectives that are not its own.
        params={**parameters, "feature_pre_filter": False},
    )

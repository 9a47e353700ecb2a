"""LightGBM: its parameters, objective and metric."""

from __future__ import annotations

import lightgbm as lgb

from costboost._threads import same_threads
from costboost.gbm.models import TreeModel
from costboost.gbm.parameters import ONE_HOT
from costboost.gbm.train import training_target
from costboost.trees import from_lightgbm


def fit_boosting(training):
    """Train one LightGBM booster; it stops when the held-out loss no longer falls."""
    objective = training.objective
    settings = training.settings
    spec = training.spec
    params = {
        "learning_rate": settings.learning_rate_of(spec),
        "num_leaves": spec.max_leaves,
        "min_data_in_leaf": settings.min_samples_leaf,
        "lambda_l2": settings.reg_lambda,
        "bagging_fraction": settings.subsample,
        "bagging_freq": int(settings.subsample < 1),
        "feature_fraction": settings.colsample,
        "extra_trees": spec.random_splits,
        "seed": training.fold.seed,
        "num_threads": training.n_threads,
        "max_cat_to_onehot": ONE_HOT,
        "metric": "None",
        "verbosity": -1,
    }
    if objective.n_scores > 1:
        params["num_class"] = objective.n_scores
    if objective.is_log_loss:
        params["objective"] = "binary" if objective.n_scores == 1 else "multiclass"
    params |= settings.engine_params

    data = training.fold.train
    target = training_target(data, objective)
    dataset = make_dataset(data.X, target, params, data.categorical)
    held_out = []
    if training.held_out is not None and training.target is not None:
        X = training.held_out.X
        held_out.append(make_dataset(X, training.target, params, data.categorical, dataset))
    if not objective.is_log_loss:
        params = {"objective": lambda scores, _: objective.derivatives(scores, target), **params}

    def held_out_loss(outputs, _):
        # With an objective of its own LightGBM hands over probabilities, else raw scores.
        return "loss", training.record(outputs, are_proba=objective.is_log_loss), False

    def after_round(_):
        if training.end_round():
            results = [("held_out", "loss", training.best_loss, False)]
            raise lgb.callback.EarlyStopException(training.best_round - 1, results)

    with same_threads(training.n_threads):
        booster = lgb.train(
            params,
            dataset,
            num_boost_round=settings.n_estimators,
            valid_sets=held_out,
            feval=held_out_loss,
            callbacks=[after_round],
            keep_training_booster=True,  # or LightGBM would copy the trees once more
        )
    trees = from_lightgbm(booster, training.kept_rounds)
    return TreeModel(trees, data.X.shape[1], "lightgbm", objective.is_log_loss, training.n_threads)


def make_dataset(X, target, params, categorical, reference=None):
    """Return rows, binned like the reference if there is one."""
    weight = target.weight
    if (weight == 1.0).all():
        weight = None  # which is faster
    return lgb.Dataset(
        X,
        label=target.y,
        weight=weight,
        reference=reference,
        categorical_feature=categorical,
        # With too few rows for any split LightGBM's filter leaves no feature, which is an error
        # with objectives that are not its own.
        params={**params, "feature_pre_filter": False},
    )

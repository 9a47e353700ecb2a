"""Symmetric trees of CatBoost, for ``effort="high"``: their table is kept like that of others."""

from __future__ import annotations

from types import SimpleNamespace

import catboost
import numpy as np

from costboost.columns.table import is_sparse
from costboost.gbm.models import TreeModel
from costboost.gbm.parameters import ONE_HOT
from costboost.gbm.train import training_target
from costboost.trees import from_catboost


def fit_symmetric_trees(training):
    """Train one booster of log loss on numbers, and on a mark for each category."""
    objective = training.objective
    settings = training.settings
    source_data = training.fold.source
    sources = []
    categories = []
    for column, codes in enumerate(_dense(source_data.X).T):
        codes = codes[np.isfinite(codes)]
        marks = range(-1, 0)  # a number is its own input
        if column in source_data.categorical and 0 <= codes.max(initial=-1) < ONE_HOT:
            marks = range(int(codes.max()) + 1)
        for mark in marks:
            sources.append(column)
            categories.append(mark)
    source = np.array(sources)
    category = np.array(categories)
    is_mark = category >= 0

    def make_pool(X, target):
        values = _dense(X)[:, source].astype(np.float32)
        values[:, is_mark] = values[:, is_mark] == category[is_mark]
        return catboost.Pool(np.ascontiguousarray(values), label=target.y, weight=target.weight)

    def after_iteration(info):
        if training.stops_early:
            (values,) = info.metrics["validation"].values()
            training.losses.append(float(values[-1]))
        return not training.end_round()

    params = {
        "iterations": settings.n_estimators,
        "learning_rate": settings.learning_rate_of(training.spec),
        "depth": int(np.ceil(np.log2(training.spec.max_leaves))),
        "l2_leaf_reg": settings.reg_lambda,
        "rsm": settings.colsample,
        "bootstrap_type": "Bernoulli",
        "subsample": settings.subsample,
        "loss_function": "Logloss" if objective.n_scores == 1 else "MultiClass",
        "random_seed": training.fold.seed,
        "verbose": False,
        "allow_writing_files": False,  # no folder catboost_info in that of the user
        "thread_count": training.n_threads,
    }
    if objective.n_scores > 1:
        params["classes_count"] = objective.n_scores
    held_out = None
    if training.stops_early:
        held_out = make_pool(training.held_out.X, training.target)
        params["early_stopping_rounds"] = settings.n_iter_no_change
    data = training.fold.train
    booster = catboost.CatBoost(params)
    booster.fit(
        make_pool(data.X, training_target(data, objective)),
        eval_set=held_out,
        use_best_model=held_out is not None and not training.chooses_by_parts,
        callbacks=[SimpleNamespace(after_iteration=after_iteration)],
    )
    trees = from_catboost(booster, source, category)
    model = TreeModel(trees, data.X.shape[1], "catboost", True, training.n_threads)
    if training.chooses_by_parts:
        # CatBoost gives no scores by round: those of its trees are the same.
        training.losses = []
        for scores in model.staged_predict(training.held_out.X):
            training.record(scores)
    return model


def _dense(X):
    if is_sparse(X):
        return X.toarray()
    return X

"""Symmetric trees of CatBoost, for ``effort="high"``: their table is kept like that of others."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import catboost
import numpy as np

from costboost._typing import AnyArray
from costboost.columns.raw import is_sparse
from costboost.gbm.models import Target, TreeModel
from costboost.gbm.parameters import ONE_HOT
from costboost.gbm.rows import MemoryRows
from costboost.gbm.train import Rounds
from costboost.trees import from_catboost

# CatBoost's trees are weaker than others of as many leaves, and take larger steps.
_FASTER = 2.0


def fit(X: AnyArray, target: Target, rounds: Rounds, table: MemoryRows) -> TreeModel:
    """Train one booster of log loss on numbers, and on a mark for each category."""
    kind = rounds.kind
    sources = []
    categories = []
    for column, codes in enumerate(_dense(table.rows.X).T):
        codes = codes[np.isfinite(codes)]
        marks = range(-1, 0)
        if column in table.columns.categorical and 0 <= codes.max(initial=-1) < ONE_HOT:
            marks = range(int(codes.max()) + 1)
        for mark in marks:
            sources.append(column)
            categories.append(mark)
    source = np.array(sources)
    category = np.array(categories)
    is_mark = category >= 0

    def pool(X: Any, known: Target) -> catboost.Pool:
        values = _dense(X)[:, source].astype(np.float32)
        values[:, is_mark] = values[:, is_mark] == category[is_mark]
        return catboost.Pool(np.ascontiguousarray(values), label=known.labels, weight=known.weights)

    def after_iteration(info: Any) -> bool:
        losses = {}
        if rounds.stop_by is not None:
            (values,) = info.metrics["validation"].values()
            losses[rounds.stop_by] = float(values[-1])
        return not rounds.end_round(losses)

    parameters: dict[str, Any] = {
        "iterations": kind.n_rounds,
        "learning_rate": min(_FASTER * kind.learning_rate, 1.0),
        "depth": int(np.ceil(np.log2(kind.max_leaves))),
        "l2_leaf_reg": kind.settings.reg_lambda,
        "rsm": kind.settings.colsample,
        "bootstrap_type": "Bernoulli",
        "subsample": kind.settings.subsample,
        "loss_function": "Logloss" if target.n_scores == 1 else "MultiClass",
        "random_seed": rounds.seed,
        "verbose": False,
        "allow_writing_files": False,  # no folder catboost_info in that of the user
        "thread_count": rounds.threads,
    }
    if target.n_scores > 1:
        parameters["classes_count"] = target.n_scores
    held_out = None
    if rounds.stop_by is not None:
        held_out = pool(rounds.sets[rounds.stop_by].X, rounds.targets[rounds.stop_by])
        parameters["early_stopping_rounds"] = kind.patience
    booster = catboost.CatBoost(parameters)
    booster.fit(
        pool(X, target),
        eval_set=held_out,
        use_best_model=held_out is not None and not rounds.chooses_by_parts,
        callbacks=[SimpleNamespace(after_iteration=after_iteration)],
    )
    trees = from_catboost(booster, source, category)
    model = TreeModel(trees, X.shape[1], "catboost", True, rounds.threads)
    if rounds.chooses_by_parts:
        known = rounds.targets["held_out"]
        for scores in model.staged_scores(rounds.sets["held_out"].X):
            rounds.add_part_losses(known.weights * known.row_losses(scores))
    if rounds.stop_by is not None:
        rounds.best_outputs = model.scores(rounds.sets[rounds.stop_by].X)
    return model


def _dense(X: Any) -> AnyArray:
    return np.asarray(X.toarray() if is_sparse(X) else X)

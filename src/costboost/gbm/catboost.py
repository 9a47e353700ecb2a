"""CatBoost, for log loss: it is needed for training only, and its trees are kept like others."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import catboost
import numpy as np

from costboost._typing import AnyArray, Ints
from costboost.columns.raw import is_sparse
from costboost.gbm import lightgbm
from costboost.gbm.models import Target, TreeModel
from costboost.gbm.parameters import ONE_HOT
from costboost.gbm.rows import MemoryRows
from costboost.gbm.train import Candidate, Rounds
from costboost.trees import from_catboost

# CatBoost's trees are weaker than others of as many leaves, and take larger steps.
_FASTER = 2.0
_MOST_DEPTH = 16


def fit(X: AnyArray, target: Target, rounds: Rounds, table: MemoryRows) -> TreeModel:
    """Train one booster: trees have the smallest depth with `max_leaves`."""
    kind = rounds.kind
    if not target.is_log_loss:
        raise ValueError(
            "engine='catboost' trains log loss only. A loss of the library, or more than two "
            "decisions whose costs are unknown when deciding, need engine='lightgbm'."
        )
    if len(np.unique(target.labels)) < 2:  # CatBoost refuses rows of one label
        one = replace(kind, parameters={}, device="cpu", n_rounds=1)
        return lightgbm.fit(X, target, Rounds(one, 0, rounds.threads, {}), table)
    source, category = _inputs(_dense(table.rows.X), table.columns.categorical)
    marks = category >= 0

    def pool(X: Any, known: Target) -> catboost.Pool:
        values = _dense(X)[:, source].astype(np.float32)
        values[:, marks] = values[:, marks] == category[marks]
        values = np.ascontiguousarray(values)
        return catboost.Pool(values, label=known.labels, weight=known.weights)

    stop_by: Any = rounds.stop_by
    has_watched = stop_by is not None

    def goes_on(info: Any) -> bool:
        losses = {}
        if stop_by is not None:
            values = next(iter(info.metrics["validation"].values()))
            losses[stop_by] = float(values[-1])
        return not rounds.end_round(losses)

    booster = catboost.CatBoost(_parameters(kind, target, rounds))
    booster.fit(
        pool(X, target),
        eval_set=pool(rounds.sets[stop_by].X, rounds.targets[stop_by]) if has_watched else None,
        use_best_model=has_watched,
        early_stopping_rounds=kind.patience if has_watched else None,
        callbacks=[SimpleNamespace(after_iteration=goes_on)],
    )
    trees = from_catboost(booster, source, category)
    model = TreeModel(trees, X.shape[1], "catboost", target.is_log_loss, rounds.threads)
    if stop_by is not None:
        rounds.best_outputs = model.scores(rounds.sets[stop_by].X)
    return model


def _parameters(kind: Candidate, target: Target, rounds: Rounds) -> dict[str, Any]:
    parameters: dict[str, Any] = {
        "iterations": kind.n_rounds,
        "learning_rate": min(_FASTER * kind.learning_rate, 1.0),
        "depth": int(np.clip(np.ceil(np.log2(kind.max_leaves)), 1, _MOST_DEPTH)),
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
    if kind.device in ("gpu", "cuda"):
        parameters["task_type"] = "GPU"
        del parameters["rsm"]  # for two classes it is for processors only
    if target.n_scores > 1:
        parameters["classes_count"] = target.n_scores
    return {**parameters, **kind.parameters}


def _dense(X: Any) -> AnyArray:
    return np.asarray(X.toarray() if is_sparse(X) else X)


def _inputs(X: AnyArray, categorical: Sequence[int]) -> tuple[Ints, Ints]:
    """The columns that CatBoost sees, of a table: numbers (-1), and a mark of each category."""
    pairs: list[tuple[int, int]] = []
    for j in range(X.shape[1]):
        known = X[:, j][np.isfinite(X[:, j])] if j in categorical else np.empty(0)
        size = int(known.max()) + 1 if len(known) else 0
        marks = range(size) if 0 < size <= ONE_HOT else [-1]
        pairs += [(j, code) for code in marks]
    source, category = np.array(pairs, dtype=np.intp).T
    return source, category

"""LightGBM: boosters, and random forests whose outputs are scores."""

from __future__ import annotations

from typing import Any

import lightgbm as lgb
import numpy as np

from costboost._threads import same_threads
from costboost._typing import AnyArray
from costboost.gbm.models import Target, TreeModel, best_factor
from costboost.gbm.parameters import ONE_HOT
from costboost.gbm.rows import MemoryRows
from costboost.gbm.train import Rounds
from costboost.trees import Trees, from_lightgbm

# Trees of a forest, the share of the rows that a tree sees, and of the columns of a split.
_TREES, _ROWS, _COLUMNS = 50, 0.8, 0.5
# Values of a column that are told apart: with fewer than usual, trees differ more from each other.
_BINS = 63
_MIN_LEAF, _MOST_LEAVES = 2, 2047
# Rows below which a tree of a forest sees copies of them.
_LEAST_ROWS = 20
# Weight of a leaf, at least, in that of a mean row.
_LEAST_WEIGHT = 1e-3
# Scores of a forest are probabilities times a number in this range, which the held-out loss
# chooses. Without a prior on its logarithm, few rows that are all told apart would make a forest
# certain.
_SCALES, _USUAL_SCALE, _SPREAD = (0.5, 20.0), 4.0, 0.5
# Parameters of boosters and forests.
_SHARED = {"max_cat_to_onehot": ONE_HOT, "metric": "None", "verbosity": -1}


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
        "device_type": kind.device,
        "seed": rounds.seed,
        "num_threads": rounds.threads,
        **_SHARED,
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
    trees = from_lightgbm(booster, rounds.best_round)
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


# --- forests --------------------------------------------------------------------------------------

# They err on other rows than boosters do. The score is the probability times a constant, not its
# logarithm: it stays a sum over trees, so that a forest merges with boosters, explains itself
# exactly and is stored like them, and a leaf without a row of some class is not a certainty. Only
# for targets that are log loss.


def fit_forest(X: AnyArray, target: Target, rounds: Rounds, table: MemoryRows) -> TreeModel:
    """Train one forest."""
    n_rows = len(target.labels)
    if n_rows < _LEAST_ROWS:  # the sample of a tree might be empty
        again = np.repeat(np.arange(n_rows), _LEAST_ROWS // n_rows + 1)
        X, target = X[again], target.take(again)
    parameters: dict[str, Any] = {
        "boosting": "rf",
        "objective": "regression",
        "num_leaves": int(np.clip(X.shape[0] // (2 * _MIN_LEAF), 7, _MOST_LEAVES)),
        "min_data_in_leaf": _MIN_LEAF,
        # LightGBM infers counts of rows from weights, and fails where there are next to none.
        "min_sum_hessian_in_leaf": _LEAST_WEIGHT * float(target.weights.mean()),
        "max_bin": _BINS,
        "bagging_fraction": _ROWS,
        "bagging_freq": 1,
        "feature_fraction_bynode": _COLUMNS,
        "device_type": rounds.kind.device,
        "seed": rounds.seed,
        "num_threads": rounds.threads,
        **_SHARED,
    }
    data = _dataset(X, target, parameters, table)
    forests = []
    # A forest for the second of two classes, or one per class.
    for label in [1] if target.n_scores == 1 else range(target.n_scores):
        data.set_label((target.labels == label).astype(np.float64))
        with same_threads(rounds.threads):
            forests.append(lgb.train(parameters, data, _TREES, keep_training_booster=True))
    scale = _USUAL_SCALE
    if rounds.stop_by is not None:
        held = rounds.sets[rounds.stop_by].X
        # Estimated probabilities, (n, k); of two classes their difference, (n,).
        shares = np.stack([np.asarray(forest.predict(held)) for forest in forests], axis=1)
        shares = 2.0 * shares[:, 0] - 1.0 if len(forests) == 1 else shares
        loss = rounds.targets[rounds.stop_by].loss
        scale = best_factor(shares, loss, len(shares), _USUAL_SCALE, _SPREAD, _SCALES, 1e-5)
        rounds.best_outputs = scale * shares
    tables = [from_lightgbm(forest) for forest in forests]
    n = max(table.n_rounds for table in tables)
    for j, one in enumerate(tables):
        if one.n_rounds < n:  # its trees are constants, all the same, so it has stopped early
            tables[j] = one.picked(np.arange(n) % one.n_rounds)
    factor, shift = (2.0 * scale, -scale) if target.n_scores == 1 else (scale, 0.0)
    trees = tables[0] if len(tables) == 1 else Trees.side_by_side(tables)
    trees = trees.scaled(factor / n, shift)
    return TreeModel(trees, X.shape[1], "forest", True, rounds.threads)

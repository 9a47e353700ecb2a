"""Random forests as an engine: they err on other rows than boosters do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import lightgbm as lgb
import numpy as np
from scipy.optimize import minimize_scalar

from costboost._typing import AnyArray, Floats
from costboost.gbm.engines.base import ONE_HOT, Engine, Job, TargetTable, Watch, watched_sets
from costboost.gbm.engines.lightgbm import dataset
from costboost.gbm.engines.merging import affine, booster_of, merged_lightgbm, trees_of
from costboost.gbm.folds import Fold
from costboost.gbm.models import LightGBMModel

__all__ = ["ForestEngine"]

_TREES = 50
# Share of the rows of a tree, and of the columns that a split chooses from.
_ROWS, _COLUMNS = 0.8, 0.5
_MIN_LEAF, _MOST_LEAVES = 2, 2047
# Rows below which a tree sees copies of them.
_LEAST_ROWS = 20
# Weight of a leaf, at least, in that of a mean row.
_LEAST_WEIGHT = 1e-3
# Scores are probabilities times a number in this range, which the held-out loss chooses. Without a
# prior on its logarithm, few rows that are all told apart would make a forest certain.
_SCALES = (0.5, 20.0)
_USUAL, _SPREAD = 4.0, 0.5


class ForestEngine(Engine):
    """Forests by LightGBM, whose mean outputs are probabilities."""

    # The score is the probability times a constant, not its logarithm: it stays a sum over trees,
    # so that a forest merges with boosters, explains itself exactly and is stored like them, and a
    # leaf without a row of some class is not a certainty. Only for targets that are log loss.

    def train(
        self, table: TargetTable, fold: Fold, job: Job, eval_table: TargetTable | None = None
    ) -> tuple[LightGBMModel, Floats | None]:
        """Train one forest."""
        n_scores = table.target.n_scores
        forests = self._forests(table, fold, job)
        sets = watched_sets(table, fold, job, eval_table)
        # There is nothing to continue: it is fitted at once.
        watch = Watch.over(replace(job, start=None), sets)
        scale = _USUAL
        if watch.stop_by is not None:
            other, rows = sets[watch.stop_by]
            part = watch.parts[watch.stop_by]
            shares = _shares(forests, other.X if rows is None else other.X[rows])
            scale = _best_scale(shares, part.loss)
            watch.best_scores = scale * shares
            watch.see(watch.stop_by, watch.best_scores, is_probability=False)
        model = LightGBMModel(_as_scores(forests, scale, n_scores, table.X.shape[1]))
        return model, watch.scores_for(fold)

    def together(self, models: Sequence[Any]) -> LightGBMModel:
        """One forest with the trees of all folds, which need no training on all rows."""
        boosters = [model.booster for model in models]
        return LightGBMModel(merged_lightgbm(boosters, [1 / len(boosters)] * len(boosters)))

    def _forests(self, table: TargetTable, fold: Fold, job: Job) -> list[lgb.Booster]:
        """A forest for the second of two classes, or one per class."""
        n_scores = table.target.n_scores
        picked = np.arange(len(table.columns.labels)) if fold.rows is None else fold.rows
        weights = table.columns.weights[picked]
        if weights.any():  # a tree whose sample has no weight would predict no number
            picked, weights = picked[weights > 0], weights[weights > 0]
        else:
            weights = np.ones(len(picked))
        if len(picked) < _LEAST_ROWS:  # the sample of a tree might be empty
            copies = _LEAST_ROWS // len(picked) + 1
            picked, weights = np.repeat(picked, copies), np.repeat(weights, copies)
        labels = table.columns.labels[picked]
        parameters = self._parameters(job, len(picked), float(weights.mean()))
        rows = dataset(table, picked, {**parameters, "feature_pre_filter": False})
        rows.set_weight(weights)
        forests = []
        for label in [1] if n_scores == 1 else range(n_scores):
            rows.set_label((labels == label).astype(np.float64))
            forests.append(lgb.train(parameters, rows, num_boost_round=_TREES))
        return forests

    def _parameters(self, job: Job, n: int, mean_weight: float) -> dict[str, Any]:
        parameters: dict[str, Any] = {
            "boosting": "rf",
            "objective": "regression",
            "num_leaves": int(np.clip(n // (2 * _MIN_LEAF), 7, _MOST_LEAVES)),
            "min_data_in_leaf": _MIN_LEAF,
            # LightGBM infers counts of rows from weights, and fails where there are next to none.
            "min_sum_hessian_in_leaf": _LEAST_WEIGHT * mean_weight,
            "bagging_fraction": _ROWS,
            "bagging_freq": 1,
            "feature_fraction_bynode": _COLUMNS,
            "max_cat_to_onehot": ONE_HOT,
            "device_type": self.device,
            "seed": job.seed,
            "metric": "None",
            "verbosity": -1,
        }
        if self.threads is not None:
            parameters["num_threads"] = self.threads
        return parameters


def _shares(forests: Sequence[lgb.Booster], X: AnyArray) -> Floats:
    """Estimated probabilities, (n, k); of two classes their difference, (n,)."""
    if len(forests) == 1:
        return 2.0 * np.asarray(forests[0].predict(X)) - 1.0
    return np.stack([np.asarray(forest.predict(X)) for forest in forests], axis=1)


def _best_scale(shares: Floats, loss: Callable[[Floats], float]) -> float:
    """The constant that turns probabilities into the best scores, by the loss and the prior."""
    low, high = np.log(_SCALES)

    def badness(log_scale: float) -> float:
        distance = (log_scale - np.log(_USUAL)) / _SPREAD
        return float(loss(np.exp(log_scale) * shares) + 0.5 * distance**2 / len(shares))

    found = minimize_scalar(badness, bounds=(low, high), method="bounded")
    return float(np.exp(found.x)) if np.isfinite(found.fun) else _USUAL


def _as_scores(
    forests: Sequence[lgb.Booster], scale: float, n_scores: int, n_features: int
) -> lgb.Booster:
    """One booster whose raw scores are `_shares` times a scale."""
    texts = [trees_of(forest) for forest in forests]
    n_rounds = max(len(trees) for trees in texts)
    factor, shift = (2.0 * scale, -scale) if n_scores == 1 else (scale, 0.0)
    trees = [
        # A forest whose trees are constants may have stopped early: they are all the same.
        affine(trees[t % len(trees)], factor / n_rounds, shift / n_rounds)
        for t in range(n_rounds)
        for trees in texts
    ]
    return booster_of(trees, n_scores, n_features)

"""Training time of the library's objectives in LightGBM against its built-in ones.

200 trees of 31 leaves, unit costs, default threads: ``python benchmarks/gbm_speed.py``.
"""

from __future__ import annotations

import lightgbm as lgb
import numpy as np
from harness import Bench, paired_seconds

from costboost.gbm import objective

SEED = 0
ROUNDS = 200


def train(data: lgb.Dataset, **params: object) -> lgb.Booster:
    return lgb.train({"num_leaves": 31, "verbosity": -1, **params}, data, num_boost_round=ROUNDS)


def rows_of(n: int, k: int, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    """Features, and classes of equal shares that three of them decide with noise."""
    X = rng.standard_normal((n, 20), dtype=np.float32)
    score = X[:, 0] + X[:, 1] * X[:, 2] + rng.standard_normal(n, dtype=np.float32)
    return X, np.searchsorted(np.quantile(score, np.arange(1, k) / k), score)


def main() -> None:
    rng = np.random.default_rng(SEED)
    bench = Bench("costboost.gbm: objectives in LightGBM")
    for n, k, built_in, limit, losses in (
        (1_000_000, 2, "binary", 1.25, ("cost_logistic", "asymmetric_logistic")),
        (200_000, 5, "multiclass", 1.4, ("gll", "gel")),
    ):
        X, y = rows_of(n, k, rng)
        data = lgb.Dataset(X, y, free_raw_data=False).construct()
        classes = {"num_class": k} if k > 2 else {}
        for loss in losses:
            own = objective(loss, cost_matrix=None)
            ours, theirs = paired_seconds(
                lambda data=data, own=own, classes=classes: train(data, objective=own, **classes),
                lambda data=data, name=built_in, classes=classes: train(
                    data, objective=name, **classes
                ),
                1,
            )
            what = f"{loss}, {n} x 20, {k} classes, {ROUNDS} trees"
            bench.add("4", what, ours, f"built-in {built_in}", theirs, at_most=limit)
    bench.finish("gbm_speed", SEED)


if __name__ == "__main__":
    main()

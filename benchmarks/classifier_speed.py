"""Training time of CostBoostClassifier with one booster against LightGBM's own estimator.

200 trees of 31 leaves, LightGBM's defaults for the rest, two threads:
``python benchmarks/classifier_speed.py``. Both start from the same array and end with a fitted
classifier, so validation, labels and costs are in our time, binning in both.
"""

from __future__ import annotations

import numpy as np
from gbm_speed import ROUNDS, SEED, rows_of
from harness import Bench, paired_seconds
from lightgbm import LGBMClassifier

from costboost import CostBoostClassifier
from costboost_papers.costs import random_symmetric

LIKE_LIGHTGBM = {
    "learning_rate": 0.1, "min_samples_leaf": 20, "reg_lambda": 0.0, "subsample": 1.0,
    "colsample": 1.0,
}  # fmt: skip


def main() -> None:
    rng = np.random.default_rng(SEED)
    bench = Bench("CostBoostClassifier(ensemble=1, early_stopping=False)")
    for n, k, limit in ((1_000_000, 2, 1.25), (200_000, 5, 1.4)):
        X, y = rows_of(n, k, rng)
        matrix = {"fn": 5, "fp": 1} if k == 2 else random_symmetric(k, 1, 10, SEED)
        ours = CostBoostClassifier(
            matrix, ensemble=1, early_stopping=False, n_estimators=ROUNDS, max_leaves=31, n_jobs=2,
            random_state=SEED, **LIKE_LIGHTGBM,
        )  # fmt: skip
        theirs = LGBMClassifier(n_estimators=ROUNDS, num_leaves=31, n_jobs=2, verbosity=-1)
        seconds = paired_seconds(
            lambda X=X, y=y, model=ours: model.fit(X, y),
            lambda X=X, y=y, model=theirs: model.fit(X, y),
        )
        what = f"{n} x 20, {k} classes, {ROUNDS} trees"
        bench.add("4", what, seconds[0], "LGBMClassifier", seconds[1], at_most=limit)
    bench.finish("classifier_speed", SEED)


if __name__ == "__main__":
    main()

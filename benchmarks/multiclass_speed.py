"""Speed and memory of the multi-class family against LightGBM's multiclass objective.

Needs the benchmark data sets (``COSTBOOST_DATA`` or the default folder). Run by ``make bench``.
"""

from __future__ import annotations

import os
import warnings
from typing import Any

import lightgbm as lgb
import numpy as np
from harness import Bench, median_seconds, peak_megabytes

import costboost as cb
from costboost.datasets import load

SEED = 0
ROUNDS = 100
LEAVES = 31


def training_part(name: str) -> tuple[np.ndarray, np.ndarray]:
    data = load(name)
    train = np.asarray(data.split) == "train"
    y = np.unique(np.asarray(data.y), return_inverse=True)[1]
    return np.asarray(data.X, dtype=np.float64)[train], y[train]


def lightgbm_seconds(X: np.ndarray, y: np.ndarray, repeats: int) -> float:
    params = {
        "objective": "multiclass", "num_class": len(np.unique(y)), "num_leaves": LEAVES,
        "verbosity": -1,
    }  # fmt: skip
    return median_seconds(
        lambda: lgb.train(params, lgb.Dataset(X, label=y), num_boost_round=ROUNDS),
        repeats,
        warm_up=False,
    )


def lp_csb(n_estimators: int = ROUNDS) -> cb.LpCSBClassifier:
    return cb.LpCSBClassifier(p=2, n_estimators=n_estimators, max_leaves=LEAVES, random_state=SEED)


def gll(n_estimators: int = ROUNDS) -> cb.MCBoostClassifier:
    return cb.MCBoostClassifier(loss="gll", n_estimators=n_estimators, random_state=SEED)


MEMORY = """
import sys
sys.path.insert(0, {folder!r})
import warnings; warnings.simplefilter("ignore")
from multiclass_speed import lp_csb, training_part
lp_csb().fit(*training_part("letter"))
"""


def main() -> None:
    warnings.simplefilter("ignore")
    bench = Bench("costboost, multi-class family: speed and memory")
    X, y = training_part("letter")
    theirs = lightgbm_seconds(X, y, 1)
    ours = median_seconds(lambda: lp_csb().fit(X, y), 1, warm_up=False)
    what = f"Lp-CSB p=2, letter, {ROUNDS} rounds, {LEAVES} leaves a class"
    bench.add("3", what, ours, "limit", 60.0, at_most=1.0)
    bench.add("3", what, ours, "lightgbm.train multiclass", theirs)
    peak = peak_megabytes(MEMORY.format(folder=os.path.dirname(os.path.abspath(__file__))))
    bench.add("3", "Lp-CSB p=2, letter, peak memory", peak, "limit", 1536.0, at_most=1.0, unit="MB")

    X, y = training_part("shuttle")
    theirs = lightgbm_seconds(X, y, 1)
    ours = median_seconds(lambda: gll().fit(X, y), 1, warm_up=False)
    what = f"GLL-MCBoost, lines, shuttle, {ROUNDS} rounds x 6 coordinates"
    bench.add("3", what, ours, "limit", 20.0, at_most=1.0)
    bench.add("3", what, ours, "lightgbm.train multiclass", theirs, at_most=6.0)

    growth(bench)
    bench.finish("multiclass_speed", SEED)


def growth(bench: Bench) -> None:
    """Seconds per round against n and k, at most linear."""
    rng = np.random.default_rng(SEED)

    def seconds(model: Any, n: int, k: int) -> float:
        X = rng.normal(size=(n, 10))
        y = np.clip((X[:, 0] + rng.normal(size=n) + 3) * k / 6, 0, k - 1).astype(int)
        y[:k] = np.arange(k)
        model.set_params(n_jobs=1)
        return median_seconds(lambda: model.fit(X, y))

    for name, make in (("Lp-CSB", lp_csb), ("GLL-MCBoost", gll)):
        small = seconds(make(10), 10_000, 5)
        bench.add("3", f"{name}, 100000 rows, 5 classes", seconds(make(10), 100_000, 5),
                  "itself, 10000 rows, x 10", 10 * small, at_most=1.1)  # fmt: skip
        # MCBoost's round is k - 1 coordinate steps, each of which touches k scores once; the line
        # search works on three sums a row, however many classes there are.
        steps = 19 / 4 if make is gll else 1.0
        rival = f"itself, 5 classes, x {4 * steps:g}"
        bench.add("3", f"{name}, 10000 rows, 20 classes", seconds(make(10), 10_000, 20), rival,
                  4 * steps * small, at_most=1.1)  # fmt: skip


if __name__ == "__main__":
    main()

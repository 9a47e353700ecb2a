"""Speed and memory of the published algorithms, against LightGBM, scikit-learn and others.

    python benchmarks/speed.py                  # all parts but speed_cpu
    python benchmarks/speed.py multiclass_speed

Each part writes results/PART.csv; the last columns say whether the target of a row was met.
``speed``: the binary family. ``multiclass_speed``: Lp-CSB and MCBoost, on the benchmark data sets.
``speed_cpu``: processor times of one thread, for machines that do other work too.
"""

from __future__ import annotations

import os
import warnings
from time import process_time
from typing import Any

import lightgbm as lgb
import numpy as np
from harness import Bench, median_seconds, paired_seconds, peak_megabytes, run_parts
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

import costboost as cb
from costboost_papers.datasets import load

SEED = 0
ROUNDS = 100
LEAVES = 8

# Equal costs: every algorithm then runs all rounds (with unequal ones some end early), and the
# arithmetic of a round is the same. CSB and AdaC run their full updates on the cost vector. (CSB0
# then never changes its weights, so its tree is grown once and repeated.)
TREE_BASED = [
    "AdaBoostC", "AdaCost", "CSB0", "CSB1", "CSB2", "AdaC1", "AdaC2", "AdaC3",
    "AsymmetricAdaBoost", "AsyB", "GradientCSB", "AsyBL",
]  # fmt: skip


def data(n: int, dtype: type = np.float64) -> tuple[np.ndarray, np.ndarray]:
    rng = np.random.default_rng(SEED)
    X = rng.normal(size=(n, 20)).astype(dtype)
    y = (X[:, 0] + X[:, 1] * X[:, 2] + rng.normal(size=n) > 0).astype(int)
    return X, y


def classifier(name: str, **params: object) -> object:
    options = {"n_estimators": ROUNDS, "max_leaves": LEAVES, "random_state": SEED, **params}
    return getattr(cb, f"{name}Classifier")(**options)


def lightgbm_train(X: np.ndarray, y: np.ndarray, leaves: int, threads: int = 0) -> lgb.Booster:
    params = {
        "objective": "binary", "num_leaves": leaves, "num_threads": threads, "verbosity": -1,
    }  # fmt: skip
    return lgb.train(params, lgb.Dataset(X, label=y), num_boost_round=ROUNDS)


def sklearn_seconds(X: np.ndarray, y: np.ndarray, rounds: int, repeats: int) -> float:
    """scikit-learn's AdaBoost with trees of depth 3 (8 leaves), scaled up to all rounds."""
    model = AdaBoostClassifier(DecisionTreeClassifier(max_depth=3), n_estimators=rounds)
    seconds = median_seconds(lambda: model.fit(X, y), repeats, warm_up=False)
    return seconds * ROUNDS / rounds


def imbalanced_ensemble_seconds(X: np.ndarray, y: np.ndarray, rounds: int) -> dict[str, float]:
    """AdaCost and AsymBoost of imbalanced-ensemble, if installed."""
    try:
        from imbens.ensemble import AdaCostClassifier, AsymBoostClassifier
    except ImportError:
        return {}
    found = {}
    for rival in (AdaCostClassifier, AsymBoostClassifier):
        model = rival(estimator=DecisionTreeClassifier(max_depth=3), n_estimators=rounds)
        seconds = median_seconds(lambda m=model: m.fit(X, y), 3, warm_up=False)
        found[rival.__name__] = seconds * ROUNDS / rounds
    return found


def binary() -> None:
    """Sections (a) to (f) of the list of targets."""
    bench = Bench("costboost, binary family: speed and memory")
    tree_based(bench, 100_000, limit=1.3, against_sklearn=50.0)
    tree_based(bench, 1_000, limit=None, against_sklearn=5.0)
    joint_stumps(bench)
    predict(bench)
    growth(bench)
    memory(bench)
    bench.finish("speed", SEED)


def tree_based(bench: Bench, n: int, limit: float | None, against_sklearn: float) -> None:
    X, y = data(n)
    extrapolate = 10 if n >= 100_000 else ROUNDS
    section = "a" if n >= 100_000 else "b"
    sklearn = sklearn_seconds(X, y, extrapolate, 3)
    for name in TREE_BASED:
        model = classifier(name)
        ours, theirs = paired_seconds(
            lambda m=model: m.fit(X, y), lambda: lightgbm_train(X, y, LEAVES), 5
        )
        what = f"{name}, n={n}, fit, {model.n_iter_} rounds"
        bench.add(section, what, ours, "lightgbm.train", theirs, at_most=limit)
        bench.add(
            section, what, ours, "sklearn AdaBoost", sklearn, at_least=against_sklearn,
            note="extrapolated from 10 rounds" if extrapolate < ROUNDS else "",
        )  # fmt: skip
    for rival, theirs in imbalanced_ensemble_seconds(X, y, extrapolate).items():
        ours = median_seconds(lambda: classifier("AdaCost").fit(X, y))
        bench.add(section, f"AdaCost, n={n}, fit", ours, f"imbens {rival}", theirs)


def joint_stumps(bench: Bench) -> None:
    X, y = data(100_000)
    ours = median_seconds(
        lambda: classifier("CSAdaBoost", cost_matrix={"fn": 5, "fp": 1}).fit(X, y)
    )
    theirs = median_seconds(lambda: lightgbm_train(X, y, 2))
    bench.add("c", "CSAdaBoost joint stumps, n=100000", ours, "lightgbm.train, 2 leaves", theirs,
              at_most=2.0)  # fmt: skip


def predict(bench: Bench) -> None:
    X, y = data(100_000)
    theirs_model = lightgbm_train(X, y, LEAVES)
    theirs = median_seconds(lambda: theirs_model.predict(X))
    for name in ("AdaBoostC", "AsyBL", "CSAdaBoost", "CSRealBoost", "CSLogitBoost"):
        model = classifier(name).fit(X, y)
        ours = median_seconds(lambda m=model: m.predict(X))
        bench.add(
            "d", f"{name}, predict 100000 rows", ours, "lightgbm predict", theirs, at_most=1.3
        )


def growth(bench: Bench) -> None:
    small, large = data(10_000, np.float32), data(1_000_000, np.float32)
    for name in ("AdaBoostC", "CSAdaBoost", "CSRealBoost", "CSLogitBoost", "AsyBL"):
        slow = median_seconds(lambda n=name: classifier(n).fit(*large), 1, warm_up=False)
        fast = median_seconds(lambda n=name: classifier(n).fit(*small))
        bench.add("e", f"{name}, n=1000000, fit", slow, "itself, n=10000, x 100", 100 * fast,
                  at_most=1.0)  # fmt: skip


MEMORY = """
import numpy as np
rng = np.random.default_rng(0)
X = rng.standard_normal((1_000_000, 20), dtype=np.float32)
y = (X[:, 0] + rng.standard_normal(1_000_000, dtype=np.float32) > 0).astype(np.int8)
import warnings; warnings.simplefilter("ignore")
import costboost
costboost.{name}Classifier({{"fn": 2, "fp": 1}}, n_estimators=20).fit(X, y)
"""


def memory(bench: Bench) -> None:
    size = 1_000_000 * 20 * 4 / 2**20
    for name in ("AdaBoostC", "AdaC2", "AsyBL", "CSAdaBoost", "CSRealBoost", "CSLogitBoost"):
        peak = peak_megabytes(MEMORY.format(name=name))
        what = f"{name}, peak memory, 1M x 20 float32"
        bench.add("f", what, peak, "3 X + 400 MB", 3 * size + 400, at_most=1.0, unit="MB")


def processor_time() -> None:
    """Section (a) against LightGBM where other work disturbs wall times: one thread, in turns."""
    bench = Bench("costboost, tree-based classes: processor time of one thread")
    X, y = data(100_000)
    for name in TREE_BASED:
        model = classifier(name, n_jobs=1)
        ours, theirs = paired_seconds(
            lambda m=model: m.fit(X, y), lambda: lightgbm_train(X, y, LEAVES, 1), 5, process_time
        )
        what = f"{name}, n=100000, fit, {model.n_iter_} rounds"
        note = "processor time, one thread, busy machine"
        bench.add("a", what, ours, "lightgbm.train", theirs, at_most=1.3, note=note)
    bench.finish("speed_cpu", SEED)


# --- many classes --------------------------------------------------------------------------------

LEAVES_OF_A_CLASS = 31


def training_part(name: str) -> tuple[np.ndarray, np.ndarray]:
    data = load(name)
    train = np.asarray(data.split) == "train"
    y = np.unique(np.asarray(data.y), return_inverse=True)[1]
    return np.asarray(data.X, dtype=np.float64)[train], y[train]


def multiclass_seconds(X: np.ndarray, y: np.ndarray) -> float:
    params = {
        "objective": "multiclass", "num_class": len(np.unique(y)), "num_leaves": LEAVES_OF_A_CLASS,
        "verbosity": -1,
    }  # fmt: skip
    return median_seconds(
        lambda: lgb.train(params, lgb.Dataset(X, label=y), num_boost_round=ROUNDS),
        1,
        warm_up=False,
    )


def lp_csb(n_estimators: int = ROUNDS) -> cb.LpCSBClassifier:
    return cb.LpCSBClassifier(
        p=2, n_estimators=n_estimators, max_leaves=LEAVES_OF_A_CLASS, random_state=SEED
    )


def gll(n_estimators: int = ROUNDS) -> cb.MCBoostClassifier:
    return cb.MCBoostClassifier(loss="gll", n_estimators=n_estimators, random_state=SEED)


LETTER = """
import sys
sys.path.insert(0, {folder!r})
import warnings; warnings.simplefilter("ignore")
from speed import lp_csb, training_part
lp_csb().fit(*training_part("letter"))
"""


def multiclass() -> None:
    bench = Bench("costboost, multi-class family: speed and memory")
    X, y = training_part("letter")
    theirs = multiclass_seconds(X, y)
    ours = median_seconds(lambda: lp_csb().fit(X, y), 1, warm_up=False)
    what = f"Lp-CSB p=2, letter, {ROUNDS} rounds, {LEAVES_OF_A_CLASS} leaves a class"
    bench.add("3", what, ours, "limit", 60.0, at_most=1.0)
    bench.add("3", what, ours, "lightgbm.train multiclass", theirs)
    peak = peak_megabytes(LETTER.format(folder=os.path.dirname(os.path.abspath(__file__))))
    bench.add("3", "Lp-CSB p=2, letter, peak memory", peak, "limit", 1536.0, at_most=1.0, unit="MB")

    X, y = training_part("shuttle")
    theirs = multiclass_seconds(X, y)
    ours = median_seconds(lambda: gll().fit(X, y), 1, warm_up=False)
    what = f"GLL-MCBoost, lines, shuttle, {ROUNDS} rounds x 6 coordinates"
    bench.add("3", what, ours, "limit", 20.0, at_most=1.0)
    bench.add("3", what, ours, "lightgbm.train multiclass", theirs, at_most=6.0)

    growth_of_a_round(bench)
    bench.finish("multiclass_speed", SEED)


def growth_of_a_round(bench: Bench) -> None:
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
    warnings.simplefilter("ignore")
    parts = {"speed": binary, "multiclass_speed": multiclass, "speed_cpu": processor_time}
    run_parts(parts, __doc__, leave_out=("speed_cpu",))

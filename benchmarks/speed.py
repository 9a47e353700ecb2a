"""Speed and memory of the binary family against LightGBM, scikit-learn and imbalanced-ensemble.

Run by ``make bench``. Sections (a) to (f) are those of the target list: the letter stands in the
first column, and the last column says whether the target of the row was met in this run.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable
from time import process_time

import lightgbm as lgb
import numpy as np
from harness import Bench, median_seconds, paired_seconds, peak_megabytes
from sklearn.ensemble import AdaBoostClassifier
from sklearn.tree import DecisionTreeClassifier

import costboost as cb

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


SECTIONS: dict[str, Callable[[Bench], None]] = {
    "a": lambda bench: tree_based(bench, 100_000, limit=1.3, against_sklearn=50.0),
    "b": lambda bench: tree_based(bench, 1_000, limit=None, against_sklearn=5.0),
    "c": joint_stumps,
    "d": predict,
    "e": growth,
    "f": memory,
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sections", nargs="*", default=[], help="letters of the sections to run")
    parser.add_argument(
        "--cpu", action="store_true", help="tree-based classes only, by processor time; own file"
    )
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.cpu:
        return processor_time()
    sections = options.sections or list(SECTIONS)
    bench = Bench("costboost, binary family: speed and memory")
    for letter in sections:
        SECTIONS[letter](bench)
    if sections == list(SECTIONS):
        bench.finish("speed", SEED)
    else:
        bench.console.print(bench.table())


if __name__ == "__main__":
    main()

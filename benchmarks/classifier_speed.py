"""How long CostBoostClassifier takes: beside LightGBM, by effort, and as tables grow.

    python benchmarks/classifier_speed.py                  # all parts
    python benchmarks/classifier_speed.py scale gbm_speed  # some

Each part writes results/PART.csv. ``classifier_speed``: one booster against LightGBM's own
estimator. ``gbm_speed``: the library's objectives in LightGBM against its built-in ones.
``effort_speed``: processor time of the three efforts against the recipe that people use.
``scale``: rows, features, classes and threads, one varied at a time.
"""

from __future__ import annotations

import time
import warnings

import lightgbm as lgb
import numpy as np
from harness import Bench, load, made_rows, median_seconds, paired_seconds, run_parts, write_rows
from sklearn.calibration import CalibratedClassifierCV

from costboost import CostBoostClassifier
from costboost.costs import Costs
from costboost.datasets import make_fraud
from costboost.gbm import objective
from costboost_papers.costs import random_symmetric

SEED, ROUNDS = 0, 200
# Rows, classes, and what our time may be in that of LightGBM.
SIZES = ((1_000_000, 2, 1.25), (200_000, 5, 1.4))


# --- beside LightGBM: 200 trees of 31 leaves -----------------------------------------------------

LIKE_LIGHTGBM = {
    "learning_rate": 0.1, "min_samples_leaf": 20, "reg_lambda": 0.0, "subsample": 1.0,
    "colsample": 1.0,
}  # fmt: skip


def one_booster() -> None:
    """Both start from the same array and end with a fitted classifier: binning is in both times."""
    rng = np.random.default_rng(SEED)
    bench = Bench("CostBoostClassifier(effort='fast', early_stopping=False), two threads")
    for n, k, limit in SIZES:
        X, y = made_rows(n, k, rng=rng)
        matrix = {"fn": 5, "fp": 1} if k == 2 else random_symmetric(k, 1, 10, SEED)
        ours = CostBoostClassifier(
            matrix, effort="fast", early_stopping=False, n_estimators=ROUNDS, max_leaves=31,
            n_jobs=2, random_state=SEED, **LIKE_LIGHTGBM,
        )  # fmt: skip
        theirs = lgb.LGBMClassifier(n_estimators=ROUNDS, num_leaves=31, n_jobs=2, verbosity=-1)
        seconds = paired_seconds(
            lambda X=X, y=y, model=ours: model.fit(X, y),
            lambda X=X, y=y, model=theirs: model.fit(X, y),
        )
        what = f"{n} x 20, {k} classes, {ROUNDS} trees"
        bench.add("4", what, seconds[0], "LGBMClassifier", seconds[1], at_most=limit)
    bench.finish("classifier_speed", SEED)


def objectives() -> None:
    """Unit costs, default threads."""
    rng = np.random.default_rng(SEED)
    bench = Bench("costboost.gbm: objectives in LightGBM")
    losses = {2: ("cost_logistic", "asymmetric_logistic"), 5: ("gll", "gel")}
    for n, k, limit in SIZES:
        data = lgb.Dataset(*made_rows(n, k, rng=rng), free_raw_data=False).construct()
        params = {"num_leaves": 31, "verbosity": -1, **({"num_class": k} if k > 2 else {})}
        built_in = "binary" if k == 2 else "multiclass"
        for loss in losses[k]:
            own = objective(loss, cost_matrix=None)
            ours, theirs = paired_seconds(
                *(
                    lambda data=data, params={**params, "objective": one}: lgb.train(
                        params, data, num_boost_round=ROUNDS
                    )
                    for one in (own, built_in)
                ),
                1,
            )
            what = f"{loss}, {n} x 20, {k} classes, {ROUNDS} trees"
            bench.add("4", what, ours, f"built-in {built_in}", theirs, at_most=limit)
    bench.finish("gbm_speed", SEED)


# --- efforts: processor time of one thread, so other work on the machine hardly counts -----------

TEST_ROWS = 100_000
MATRIX = np.array([[0.0, 5.0], [100.0, 0.0]])
# Processor time in that of the recipe, at most: at 20,000 rows, and from 80,000 rows on.
TARGETS = {"fast": (1.0, 1.0), "balanced": (6.0, 4.0), "high": (15.0, 12.0)}


def efforts() -> None:
    """The recipe: five LightGBM boosters of 150 rounds, isotonic, and the cheapest decision."""
    bench = Bench("processor time of a fit")
    test = make_fraud(TEST_ROWS, random_state=SEED + 1)
    known = Costs(test.costs, [0, 1]).realized(test.y)
    CostBoostClassifier(effort="fast", n_jobs=1).fit(test.X[:500], test.y[:500])  # imports
    for n in (20_000, 80_000, 320_000):
        data = make_fraud(n, random_state=SEED)
        booster = lgb.LGBMClassifier(n_estimators=150, learning_rate=0.05, n_jobs=1, verbose=-1)
        recipe = CalibratedClassifierCV(booster, method="isotonic", cv=5)
        theirs = _processor_seconds(lambda r=recipe, d=data: r.fit(d.X, d.y))
        base = known.avoidable_share(known.decide(recipe.predict_proba(test.X)))
        for effort, targets in TARGETS.items():
            for name, given in (("matrix", {}), ("row costs", {"costs": data.costs})):
                model = CostBoostClassifier(MATRIX, effort=effort, n_jobs=1, random_state=SEED)
                ours = _processor_seconds(lambda m=model, d=data, g=given: m.fit(d.X, d.y, **g))
                saved = known.avoidable_share(known.decide(model.predict_proba(test.X)))
                total = sum(member.seconds for member in model.members_)
                idle = sum(member.seconds for member in model.members_ if not member.weight)
                bench.add(
                    f"{n:,} rows", f"{effort}, {name}", ours, "the recipe", theirs,
                    at_most=targets[n >= 80_000],
                    note=f"saves {saved:.4f} (recipe {base:.4f}); kinds of weight 0: "
                    f"{idle / total:.0%} of the training",
                )  # fmt: skip
    bench.finish("effort_speed", SEED)


def _processor_seconds(fit: object) -> float:
    return median_seconds(fit, 1, warm_up=False, clock=time.process_time)


# --- as tables grow: one booster of 50 trees, no early stopping ----------------------------------

TREES = 50
BASE = {"rows": 200_000, "features": 20, "classes": 2, "threads": 1}
VARIED = {
    "rows": (50_000, 100_000, 200_000, 400_000),
    "features": (10, 20, 40, 80),
    "classes": (2, 3, 5, 10),
    "threads": (1, 2),
}


def scale() -> None:
    rows = []
    _seconds(2000, 5, 2, 1)  # imports and kernels
    known: dict[tuple[int, ...], float] = {}
    for varied, values in VARIED.items():
        for value in values:
            shape = {**BASE, varied: value}
            key = tuple(shape.values())
            if key not in known:
                known[key] = _seconds(**shape)
            row = {"engine": "lightgbm", "varied": varied, **shape, "trees": TREES}
            rows.append({**row, "seconds": f"{known[key]:.3f}", "load": load()})
            print(f"{shape}: {known[key]:.2f} s")
    write_rows("scale", rows, SEED)


def _seconds(rows: int, features: int, classes: int, threads: int) -> float:
    X, y = made_rows(rows, classes, features)
    model = CostBoostClassifier(
        effort="fast",
        n_estimators=TREES,
        early_stopping=False,
        random_state=SEED,
        n_jobs=threads,
    )
    return median_seconds(lambda: model.fit(X, y), repeats=1, warm_up=False)


if __name__ == "__main__":
    warnings.simplefilter("ignore")
    run_parts(
        {
            "classifier_speed": one_booster,
            "gbm_speed": objectives,
            "effort_speed": efforts,
            "scale": scale,
        },
        __doc__,
    )

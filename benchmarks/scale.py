"""Training time of CostBoostClassifier in memory, by rows, features, classes and threads.

One booster of 50 trees, no early stopping; one thing varies at a time from 200,000 rows, 20
features, 2 classes, 1 thread: ``python benchmarks/scale.py``.
"""

from __future__ import annotations

import numpy as np
from harness import load, median_seconds, write_rows
from rich.console import Console

from costboost import CostBoostClassifier

SEED = 0
TREES = 50
BASE = {"rows": 200_000, "features": 20, "classes": 2, "threads": 1}
VARIED = {
    "rows": (50_000, 100_000, 200_000, 400_000),
    "features": (10, 20, 40, 80),
    "classes": (2, 3, 5, 10),
    "threads": (1, 2),
}


def seconds(engine: str, rows: int, features: int, classes: int, threads: int) -> float:
    rng = np.random.default_rng(SEED)
    X = rng.standard_normal((rows, features), dtype=np.float32)
    score = X[:, 0] + X[:, 1] * X[:, 2] + rng.standard_normal(rows, dtype=np.float32)
    y = np.searchsorted(np.quantile(score, np.arange(1, classes) / classes), score)
    model = CostBoostClassifier(
        engine=engine,
        ensemble=1,
        n_estimators=TREES,
        early_stopping=False,
        random_state=SEED,
        n_jobs=threads,
    )
    return median_seconds(lambda: model.fit(X, y), repeats=1, warm_up=False)


def main() -> None:
    console, rows = Console(width=130), []
    for engine in ("lightgbm", "xgboost"):
        seconds(engine, 2000, 5, 2, 1)  # imports and kernels
        known: dict[tuple[int, ...], float] = {}
        for varied, values in VARIED.items():
            for value in values:
                shape = {**BASE, varied: value}
                key = tuple(shape.values())
                if key not in known:
                    known[key] = seconds(engine, **shape)
                named = {name: str(given) for name, given in shape.items()}
                row = {"engine": engine, "varied": varied, **named, "trees": str(TREES)}
                row["seconds"] = f"{known[key]:.3f}"
                rows.append({**row, "load": load()})
                console.print(f"{engine} {shape}: {known[key]:.2f} s")
    write_rows("scale", rows, SEED)


if __name__ == "__main__":
    main()

"""Where to stop boosting: by the held-out cost of the decisions, or by the algorithm's own loss.

    python -m benchmarks.stopping [--sets pima,crx] [--splits 3]

Each algorithm runs 150 rounds on 90 % of the training rows of a development set. On the other 10 %
the cost of the decisions and the loss that the algorithm minimises are taken after every round. The
best round before ten without a better one is kept, as ``early_stopping=True`` does it, and its
decisions are priced on the test rows. Prints the means.
"""

from __future__ import annotations

import argparse
import warnings
from typing import Any

import numpy as np
import pandas as pd
from benchmarks.held_out_cost.problems import Problem, draw, price, problems_of, table
from sklearn.model_selection import train_test_split

import costboost as cb
from costboost.losses import PNorm
from costboost.metrics import avoidable_cost_score

SETS = ("haberman", "pima", "ecoli", "crx", "wdbc", "german", "vehicle", "segment", "phoneme")
COSTS = ("ratio 5", "ratio 20", "class frequency")
FIRST, ROUNDS, PATIENCE, HELD_OUT = 700, 150, 10, 0.1
TWO = (
    "AdaBoostC", "AdaC1", "AdaC2", "AdaC3", "CSB2", "AsyB", "AsyBL", "CSAdaBoost", "CSRealBoost",
    "CSLogitBoost", "GradientCSB", "RareBoost",
)  # fmt: skip
MANY = ("MCBoost", "LpCSB")


def own_loss(model: Any, y: np.ndarray, scores: np.ndarray, C: np.ndarray) -> float:
    """The mean loss of rows that the algorithm minimises, at these scores."""
    if isinstance(model, cb.LpCSBClassifier):
        return float(PNorm(model.p).value(y, scores, C).mean())
    if isinstance(model, cb.MCBoostClassifier):
        return float(model._loss().value(y, scores, C).mean())
    return float(model._link.value(2.0 * y - 1.0, scores, model._link_costs()).mean())


def stopped(curve: np.ndarray) -> int:
    """The round that is kept: the best one before `PATIENCE` rounds without a better one."""
    for t in range(len(curve)):
        best = int(np.argmin(curve[: t + 1]))
        if t - best >= PATIENCE:
            return best
    return int(np.argmin(curve))


def rows_for(problem: Problem, seed: int) -> list[dict[str, Any]]:
    """What each rule of stopping keeps, and what it is worth on the test rows."""
    split = draw(table(problem.data), seed)
    matrix = price(problem, split).matrix
    X, X_held, y, y_held = train_test_split(
        split.X_train, split.y_train, test_size=HELD_OUT, stratify=split.y_train, random_state=seed
    )
    C = matrix[y_held] - matrix[y_held].min(axis=1, keepdims=True)
    found = []
    for name in TWO if split.k == 2 else MANY:
        model = getattr(cb, f"{name}Classifier")(
            matrix, n_estimators=ROUNDS, estimator="tree", random_state=seed, n_jobs=1
        )
        model.fit(X, y)
        rows = model._checked(X_held)
        scores = [np.array(F) for F in model._ensemble.staged(rows)]
        cost = np.array([matrix[y_held, model._decide_by_score(F)].mean() for F in scores])
        loss = np.array([own_loss(model, y_held, F, C) for F in scores])
        decided = list(model.staged_predict(split.X_test))
        for rule, at in (
            ("cost", stopped(cost)), ("loss", stopped(loss)), ("all rounds", len(decided) - 1),
        ):  # fmt: skip
            score = avoidable_cost_score(split.y_test, decided[at], cost_matrix=matrix)
            found.append({
                "data": problem.data, "costs": problem.costs, "algorithm": name, "rule": rule,
                "rounds": at + 1, "score": score, "seed": str(seed),
            })  # fmt: skip
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--splits", type=int, default=3)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    rows = [
        row
        for data in asked.sets.split(",")
        for problem in problems_of(data)
        if problem.costs in COSTS
        for split in range(asked.splits)
        for row in rows_for(problem, FIRST + split)
    ]
    table_ = pd.DataFrame(rows).pivot_table("score", ["data", "algorithm"], "rule")
    print(table_.groupby("algorithm").mean().round(4).to_string())
    gain = (table_["cost"] - table_["loss"]).groupby("data").mean()
    error = gain.std(ddof=1) / np.sqrt(len(gain))
    print(f"cost - loss, mean over sets: {gain.mean():+.4f} (standard error {error:.4f})")


if __name__ == "__main__":
    main()

"""Why CostBoostClassifier stops, averages and calibrates as it does.

    python benchmarks/classifier_choices.py

For every development set and split, five boosters are trained without stopping; then each choice
is made in every way from the same boosters, and the scores on the test rows are compared. These
sets are the ones the defaults were chosen on: the comparison with other methods, on other splits
and on sets never looked at, is `held_out_cost`. Writes results/classifier_choices.csv and .md.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import partial

import numpy as np
import pandas as pd
from harness import RESULTS, write_rows
from held_out_cost.tables import markdown
from scipy.special import softmax
from scipy.stats import norm
from sklearn.model_selection import train_test_split

from costboost import CostBoostClassifier
from costboost.columns import Columns
from costboost.costs import Costs, RealizedCosts, read_realized_costs
from costboost.costs.costs import to_proba
from costboost.gbm.calibration import best_factor
from costboost.gbm.data import TrainingData, TrainingTable, make_folds
from costboost.gbm.members import MemberSpec
from costboost.gbm.objectives import LogLoss
from costboost.gbm.settings import TrainingSettings
from costboost.gbm.train import ModelTraining
from costboost.metrics import avoidable_cost_score
from costboost_papers.costs import class_frequency
from costboost_papers.datasets import load

SETS = (
    "bankmarketing", "credit_default", "pima", "phoneme", "crx", "haberman", "wdbc", "page-blocks",
    "vehicle", "segment", "ecoli", "satimage",
)  # fmt: skip
SEEDS, MOST_ROWS, ROUNDS, EVERY, RATIO = range(3), 4000, 400, 10, 5.0
NODES = norm.ppf((np.arange(9) + 0.5) / 9)


def problem(name: str, seed: int) -> tuple[np.ndarray, Columns, RealizedCosts]:
    """Rows, their columns, costs with truths."""
    data = load(name)
    y = np.asarray(data.y != 1) if name == "page-blocks" else data.y
    rows = np.arange(len(y))
    if len(y) > MOST_ROWS:
        rows = train_test_split(rows, train_size=MOST_ROWS, stratify=y, random_state=seed)[0]
    X, y = data.X.iloc[rows], y[rows]
    classes, codes = np.unique(y, return_inverse=True)
    matrix = None
    if data.costs is None and len(classes) == 2:
        rare = np.bincount(codes).argmin()
        matrix = np.where(np.arange(2)[:, None] == rare, RATIO, 1.0) * (1 - np.eye(2))
    elif data.costs is None:
        matrix = class_frequency(codes, seed)
    costs = read_realized_costs(
        matrix, None if data.costs is None else data.costs[rows], classes=classes, y_index=codes
    )
    columns = Columns.from_table(X)
    return columns.read(X).inputs, columns, costs


def log_loss(scores: np.ndarray, costs: RealizedCosts) -> float:
    p = np.take_along_axis(to_proba(scores), costs.y_index[:, None], axis=1)
    return float(-np.log(np.maximum(p, 1e-15)).mean())


def cost(scores: np.ndarray, costs: RealizedCosts) -> float:
    return float(costs.cost_of(costs.unrealized.decide(to_proba(scores))).mean())


def soft_cost(scores: np.ndarray, costs: RealizedCosts) -> float:
    """Decisions drawn with odds 1 / expected cost."""
    reduced = Costs(costs.matrix - costs.matrix.min(axis=-1, keepdims=True), costs.classes)
    expected = np.log(np.maximum(reduced.expected(to_proba(scores)), 1e-300))
    return float((softmax(-expected, axis=1) * costs.prices).sum(axis=1).mean())


def jittered_cost(spread: float) -> Callable[[np.ndarray, RealizedCosts], float]:
    """The cost, averaged over costs whose rows are multiplied by exp(spread * normal)."""

    def loss(scores: np.ndarray, costs: RealizedCosts) -> float:
        total, k = 0.0, len(costs.classes)
        for node in NODES:
            # Truth j is made costlier by its own node, so that every ratio moves.
            factor = np.exp(spread * node * (np.arange(k) - (k - 1) / 2) / max(k - 1, 1) * 2)
            moved = Costs(costs.matrix * factor[:, None], costs.classes).realized(costs.y_index)
            total += cost(scores, moved) / factor[costs.y_index].mean()
        return total / len(NODES)

    return loss


CRITERIA: dict[str, Callable[[np.ndarray, RealizedCosts], float]] = {
    "log loss": log_loss,
    "cost": cost,
    "cost, jittered by 0.5": jittered_cost(0.5),
    "cost, jittered by 1": jittered_cost(1.0),
    "cost, softened decisions": soft_cost,
}


def choices(name: str, seed: int) -> Iterator[tuple[str, str, float]]:
    X, columns, costs = problem(name, seed)
    counts = np.bincount(costs.y_index)
    train, test = train_test_split(
        np.arange(len(X)),
        test_size=0.3,
        stratify=costs.y_index if counts.min() > 1 else None,
        random_state=seed,
    )
    known, asked = costs.take(train), costs.take(test)
    model = CostBoostClassifier(
        n_jobs=1, n_estimators=ROUNDS, random_state=seed, early_stopping=False
    )
    data = TrainingData(X[train], known, np.ones(len(train)), columns.categorical)
    folds = make_folds(data, CostBoostClassifier(), np.random.RandomState(seed))
    parts = [(fold.train_rows, fold.held_out_rows) for fold in folds]
    table = TrainingTable("", columns, data.totals, folds, has_row_costs=False)
    objective = LogLoss(data.totals.weight)
    settings = TrainingSettings.from_estimator(model, table, objective, {})
    boosters, curves = [], []
    for number, fold in enumerate(folds):
        training = ModelTraining(MemberSpec(), replace(fold, seed=number), objective, settings)
        training.run()
        boosters.append(training.model.booster)
        stages = enumerate(training.model.staged_predict(X[train][fold.held_out_rows]), 1)
        curves.append({t: scores.copy() for t, scores in stages if t % EVERY == 0})

    def saved(proba: np.ndarray) -> float:
        priced = {"costs": asked.prices, "labels": np.arange(len(costs.classes))}
        return avoidable_cost_score(asked.y_index, asked.unrealized.decide(proba), **priced)

    for criterion, loss in CRITERIA.items():
        rounds = [
            min(curve, key=lambda t, c=curve, p=part: loss(c[t], known.take(p[1])))
            for curve, part in zip(curves, parts, strict=True)
        ]
        scores = [
            booster.predict(X[test], raw_score=True, num_iteration=t)
            for booster, t in zip(boosters, rounds, strict=True)
        ]
        yield "stop by", criterion, saved(np.mean([to_proba(s) for s in scores], axis=0))
        if criterion != "log loss":
            continue
        seen = np.concatenate([curve[t] for curve, t in zip(curves, rounds, strict=True)])
        rows = np.concatenate([part[1] for part in parts])
        target = objective.target(known.take(rows), np.ones(len(rows)))
        loss_of = partial(objective.loss, target=target)
        T = best_factor(seen, loss_of, len(seen))
        yield "average", "one booster", saved(to_proba(scores[0]))
        yield "average", "scores", saved(to_proba(np.mean(scores, axis=0)))
        yield "average", "probabilities", saved(np.mean([to_proba(s) for s in scores], axis=0))
        yield "calibrate", "no", saved(np.mean([to_proba(s) for s in scores], axis=0))
        yield "calibrate", "temperature", saved(np.mean([to_proba(T * s) for s in scores], axis=0))
        last = [b.predict(X[test], raw_score=True, num_iteration=ROUNDS) for b in boosters]
        seen = np.concatenate([curve[ROUNDS] for curve in curves if ROUNDS in curve])
        if len(seen) == len(rows):
            T = best_factor(seen, loss_of, len(seen))
            full = {"no": 1.0, "temperature": T}
            for how, factor in full.items():
                value = saved(np.mean([to_proba(factor * s) for s in last], axis=0))
                yield "calibrate, never stopped", how, value


def page(rows: pd.DataFrame) -> str:
    lines = [
        "# How CostBoostClassifier stops, averages and calibrates",
        "",
        "Regenerated by `python benchmarks/classifier_choices.py`; do not edit.",
        "",
        f"Savings on test rows, {rows.dataset.nunique()} development sets, "
        f"{rows.seed.nunique()} splits each, at most {MOST_ROWS} rows. The difference is to the "
        "choice that is the default (bold), with its standard error over data sets.",
        "",
    ]
    defaults = {"stop by": "log loss", "average": "scores", "calibrate": "temperature",
                "calibrate, never stopped": "temperature"}  # fmt: skip
    for choice, group in rows.groupby("choice", sort=False):
        table = group.pivot_table(index="dataset", columns="option", values="score", sort=False)
        lines += [f"## {choice.capitalize()}", "", "| option | mean score | difference |"]
        lines += ["|---|---|---|"]
        for option in table.columns:
            gap = table[option] - table[defaults[choice]]
            name = f"**{option}**" if option == defaults[choice] else option
            error = gap.std(ddof=1) / np.sqrt(len(gap))
            lines.append(
                f"| {name} | {table[option].mean():.4f} | {gap.mean():+.4f} ± {error:.4f} |"
            )
        lines += ["", markdown(table, dict.fromkeys(table, "{:.3f}"), "data set"), ""]
    return "\n".join(lines)


def main(names: list[str]) -> None:
    warnings.simplefilter("ignore")
    rows: list[dict[str, str]] = []
    for name in names or SETS:
        for seed in SEEDS:
            facts = {"dataset": name, "seed": str(seed)}
            for choice, option, value in choices(name, seed):
                rows.append({**facts, "choice": choice, "option": option, "score": f"{value:.5f}"})
            print(name, seed, flush=True)
    write_rows("classifier_choices", rows, 0)
    frame = pd.DataFrame(rows).astype({"score": float, "seed": int})
    (RESULTS / "classifier_choices.md").write_text(page(frame) + "\n")


if __name__ == "__main__":
    main(sys.argv[1:])

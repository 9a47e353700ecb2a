"""Which kinds of models CostBoostClassifier is made of: what each adds on the development sets.

    python benchmarks/member_choices.py keep    # train every kind on every fold, keep its scores
    python benchmarks/member_choices.py show    # combine the kept scores in several ways

Every kind of ``effort="high"`` is trained once on the five folds of a split; then any selection
can be weighted, calibrated and judged without training again, on the test rows of the split. The
sets are those that the defaults were chosen on, at most 5,000 rows, with splits of their own (seed
500): the comparison with other methods is `held_out_cost`, on other splits and sets. Scores are
kept in build/member_choices; ``show`` writes results/member_choices.csv.
"""

from __future__ import annotations

import argparse
import time
import warnings
from dataclasses import replace
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from harness import write_rows
from held_out_cost import problems
from sklearn.metrics import log_loss

from costboost import CostBoostClassifier
from costboost.costs import Costs
from costboost.costs.costs import to_proba
from costboost.gbm.calibration import best_factor, blend, mixed
from costboost.gbm.members import members_to_try
from costboost.gbm.objectives import LogLoss
from costboost.gbm.settings import TrainingSettings
from costboost.gbm.train import ModelTraining
from costboost.metrics import avoidable_cost_score

KEPT = Path(__file__).resolve().parents[1] / "build" / "member_choices"
FIRST, MOST_ROWS, FOLDS = 500, 5_000, 5
# Ways to combine: the first letters of the names of kinds.
BALANCED = ("31 leaves", "15 leaves, random splits", "network")
WAYS = {
    "balanced": BALANCED,
    **{f"without {kind}": tuple(b for b in BALANCED if b != kind) for kind in BALANCED},
    "and 6 leaves": (*BALANCED, "6 leaves"),
    "and symmetric trees": (*BALANCED, "symmetric trees, 64 leaves"),
    "high": None,
}


def split_of(data: str, seed: int) -> problems.Split:
    problems.MOST_ROWS = MOST_ROWS
    return problems.draw(problems.table(data), seed)


def loss_of(scores: np.ndarray, labels: np.ndarray) -> float:
    """Log loss of raw scores."""
    proba = to_proba(scores)
    return log_loss(labels, proba, labels=range(proba.shape[1]))


def keep(data: str, seed: int) -> None:
    """Train what is not kept yet: held-out and test scores, seconds of processor time."""
    split = split_of(data, seed)
    model = CostBoostClassifier(effort="high", cv=FOLDS, n_jobs=1, random_state=seed)
    table = model._read_training_table(split.X_train, split.y_train)
    n, X_test = table.totals.rows, model._read(split.X_test)
    objective = LogLoss(table.totals.weight)
    settings = TrainingSettings.from_estimator(model, table, objective, {})
    for spec in members_to_try(table, objective, settings):
        path = KEPT / f"{data}-{seed}-{spec.name}.npz"
        if path.exists():
            continue
        shape = () if objective.n_scores == 1 else (objective.n_scores,)
        held, test = np.zeros((n, *shape)), np.zeros((len(X_test), *shape))
        start = time.process_time()
        for i, fold in enumerate(table.folds):
            # Without parts, each model stops by its own held-out rows.
            fold = replace(fold, seed=seed + i, parts=None)
            training = ModelTraining(spec, fold, objective, settings)
            training.run()
            held[fold.held_out_rows] = training.held_out_scores
            test += training.model.predict(X_test) / FOLDS
        seconds = time.process_time() - start
        np.savez_compressed(path, held=held, test=test, seconds=seconds)
        loss = loss_of(held, split.y_train)
        print(f"{data:16s} {seed}  {spec.name:28s} {loss:.4f}  {seconds:.1f} s", flush=True)


def judged(data: str, seed: int) -> list[dict]:
    """Log loss and score on the test rows, for every way to combine."""
    split = split_of(data, seed)
    found = {path.stem.split(f"{data}-{seed}-")[1]: np.load(path)
             for path in sorted(KEPT.glob(f"{data}-{seed}-*.npz"))}  # fmt: skip
    held_out_loss = partial(loss_of, labels=split.y_train)
    rows = []
    for way, wanted in WAYS.items():
        kinds = [kind for kind in found if wanted is None or kind in wanted]
        weights = blend([found[kind]["held"] for kind in kinds], held_out_loss)
        held = mixed([found[kind]["held"] for kind in kinds], weights)
        scores = mixed([found[kind]["test"] for kind in kinds], weights)
        scores = best_factor(held, held_out_loss, len(held)) * scores
        seconds = float(sum(found[kind]["seconds"] for kind in kinds))
        for problem in problems.problems_of(data):
            if problem.group == "hidden":
                continue
            prices = problems.price(problem, split)
            known = prices.matrix if prices.told is None else prices.told
            decisions = Costs(known, np.arange(split.k)).decide(to_proba(scores))
            priced = {"cost_matrix": prices.matrix} if prices.rows is None else {
                "costs": prices.test.matrix}  # fmt: skip
            rows.append({
                "data": data, "costs": problem.costs, "seed": seed, "way": way,
                "score": avoidable_cost_score(
                    split.y_test, decisions, labels=range(split.k), **priced
                ),
                "loss": loss_of(scores, split.y_test), "seconds": seconds,
            })  # fmt: skip
    return rows


def summary(frame: pd.DataFrame) -> pd.DataFrame:
    """Each way against the first, by set."""
    keys, base = ["data", "costs", "seed"], next(iter(WAYS))
    wide = frame.pivot_table(index=keys, columns="way", values=["score", "loss", "seconds"])
    rows = []
    for way in WAYS:
        gain = wide["score"][way] - wide["score"][base]
        by_set = (np.log(wide["loss"][way] / wide["loss"][base])).groupby("data").mean()
        rows.append({
            "way": way, "score": wide["score"][way].mean(),
            "gain by set": gain.groupby("data").mean().mean(),
            "better": int((gain > 0.001).sum()), "worse": int((gain < -0.001).sum()),
            "log loss, %": 100 * by_set.mean(),
            "time": (wide["seconds"][way] / wide["seconds"][base]).mean(),
        })  # fmt: skip
    return pd.DataFrame(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("command", choices=["keep", "show"])
    parser.add_argument("--sets", default=",".join(problems.DEVELOPMENT))
    parser.add_argument("--seeds", type=int, default=1, help="number of splits")
    arguments = parser.parse_args()
    KEPT.mkdir(parents=True, exist_ok=True)
    warnings.simplefilter("ignore")
    cases = [(data, FIRST + i) for i in range(arguments.seeds)
             for data in arguments.sets.split(",")]  # fmt: skip
    if arguments.command == "keep":
        for case in cases:
            keep(*case)
        return
    frame = pd.DataFrame([row for case in cases for row in judged(*case)])
    print(summary(frame).round(4).to_string(index=False))
    write_rows("member_choices", summary(frame).round(5).to_dict("records"), FIRST)


if __name__ == "__main__":
    main()

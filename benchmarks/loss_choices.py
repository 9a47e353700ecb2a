"""What the losses of the library are worth in CostBoostClassifier, beside ``loss="auto"``.

    python -m benchmarks.loss_choices [--sets pima,crx] [--splits 3]

All methods are ``effort="fast"``: one booster with a fifth of the rows held out. ``"auto"`` learns
probabilities and decides by expected cost; the others have the costs in the loss, and their scores
decide. Rows are added to results/loss_choices.csv; the same command goes on where it stopped.
"""

from __future__ import annotations

import argparse
import warnings

import numpy as np
import pandas as pd
from benchmarks.harness import RESULTS
from benchmarks.held_out_cost.problems import Problem
from benchmarks.held_out_cost.run import run

import costboost as cb

SETS = (
    "haberman", "pima", "ecoli", "crx", "wdbc", "german", "vehicle", "segment", "phoneme",
    "mlc_churn", "page-blocks", "satimage", "credit_default", "bankmarketing",
)  # fmt: skip
COSTS = ("ratio 5", "ratio 20", "class frequency", "row costs")
LOSSES = ("auto", "expected_cost", "gll", "mc", "cost_logistic", "weighted_exponential")


def methods(problem: Problem, k: int) -> dict[str, object]:
    """A classifier for each loss that takes so many classes."""
    return {
        loss: cb.CostBoostClassifier(loss=loss, effort="fast", n_jobs=1)
        for loss in LOSSES
        if k == 2 or loss == "auto" or not cb.losses.LOSSES[loss].is_binary
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--splits", type=int, default=3)
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    path = RESULTS / "loss_choices.csv"
    run(asked.sets.split(","), methods, path, splits=range(asked.splits), costs=COSTS)
    found = pd.read_csv(path).pivot_table("score", ["group", "data"], "method")[list(LOSSES)]
    print(found.groupby("group").mean().round(3).to_string())
    for loss in LOSSES[1:]:
        gain = (found[loss] - found["auto"]).dropna()
        error = gain.std(ddof=1) / np.sqrt(len(gain))
        print(f"{loss} - auto: {gain.mean():+.4f} (standard error {error:.4f}, {len(gain)} sets)")


if __name__ == "__main__":
    main()

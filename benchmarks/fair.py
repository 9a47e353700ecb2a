"""Every published algorithm as it comes, and tuned; its loss in CostBoost; CostBoost.

    python -m benchmarks.fair [--sets pima,crx] [--splits 2]

`benchmarks.tuning` gives each algorithm the same search inside the training rows: rounds by early
stopping, leaves, weak learner, step, calibration. Rows are added to results/fair.csv as sets are
done: the same command goes on where it stopped. `python docs/build.py tables` writes the tables.
"""

from __future__ import annotations

import argparse
import warnings
from functools import partial

from benchmarks.harness import RESULTS
from benchmarks.held_out_cost.problems import Problem, encoder
from benchmarks.held_out_cost.run import run
from benchmarks.tuning import TunedClassifier
from lightgbm import LGBMClassifier
from sklearn.pipeline import make_pipeline

import costboost as cb
from costboost.losses import LOSSES as KNOWN_LOSSES

# All sets of the held-out comparison. Those of few rows and each kind of costs come early: a run
# that is stopped is a table of fewer sets.
SETS = (
    "haberman", "pima", "ecoli", "crx", "wdbc", "creditcard_subset", "german", "vertebral",
    "bankmarketing", "vehicle", "telco", "credit_default", "breast-cancer", "segment", "mlc_churn",
    "creditscoring1", "liver", "thyroid", "phoneme", "sonar", "splice", "adult", "wbc", "satimage",
    "hepatitis", "page-blocks", "cleveland", "nursery", "wpbc", "sick-euthyroid", "tic-tac-toe",
    "winewhite", "flare", "drybean", "shuttle", "vowel", "optdigits", "pendigits", "kddcup99",
)  # fmt: skip
# One problem of each set.
COSTS = ("ratio 5", "class frequency", "row costs", "official")
# Their weak learners take numbers without gaps: one-hot codes and medians.
NUMBERS = {"CSAdaBoost", "CSLogitBoost", "CSRealBoost", "Costing", "DSE", "MCBoost", "SAMMEC2"}
# The losses that papers descend, and csboost's (expected_cost), inside CostBoostClassifier.
LOSSES = (
    "asymmetric_logistic", "cost_exponential", "cost_logistic", "expected_cost", "gll",
    "weighted_exponential",
)  # fmt: skip
SPLITS, TRIALS, MOST_ROWS = 1, 6, 1_000
OURS = "CostBoost"


def methods(problem: Problem, k: int, trials: int) -> dict[str, object]:
    """Two lines per algorithm that takes so many classes, the losses, and rivals."""
    found: dict[str, object] = {
        OURS: cb.CostBoostClassifier(n_jobs=1),
        "CostBoost, effort=fast": cb.CostBoostClassifier(effort="fast", n_jobs=1),
        "LightGBM + Bayes": LGBMClassifier(verbosity=-1, n_jobs=1),
        "MinCost": cb.MinCostClassifier(calibration="sigmoid", n_jobs=1),
    }
    for loss in LOSSES:
        if k == 2 or not KNOWN_LOSSES[loss].is_binary:
            found[f"CostBoost, loss={loss}"] = cb.CostBoostClassifier(loss=loss, n_jobs=1)
    for name in cb.algorithms.__all__:
        model = getattr(cb, name)()
        if k == 2 or model.__sklearn_tags__().classifier_tags.multi_class:
            short = name.removesuffix("Classifier")
            model.set_params(n_jobs=1)
            both = {short: model, f"{short}, tuned": TunedClassifier(model, n_trials=trials)}
            for line, one in both.items():
                found[line] = make_pipeline(encoder(), one) if short in NUMBERS else one
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--splits", type=int, default=SPLITS)
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    run(
        asked.sets.split(","), partial(methods, trials=TRIALS), RESULTS / "fair.csv",
        splits=range(asked.splits), costs=COSTS, jobs=asked.jobs, most_train=MOST_ROWS,
    )  # fmt: skip


if __name__ == "__main__":
    main()

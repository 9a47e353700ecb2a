"""Every published algorithm twice: as its paper prints it, and tuned; CostBoost beside them.

    python -m benchmarks.fair [--sets pima,crx] [--splits 2] [--trials 12]

`costboost.tuned` gives each algorithm the same search inside the training rows: rounds by early
stopping, leaves, weak learner, step, calibration. Rows are added to results/fair.csv as sets are
done: the same command goes on where it stopped. Small development sets come first, so that an
interrupted run is a table of fewer sets.
"""

from __future__ import annotations

import argparse
import warnings
from functools import partial

from benchmarks.harness import RESULTS
from benchmarks.held_out_cost.problems import BINARY, MULTICLASS, Problem, encoder
from benchmarks.held_out_cost.run import run
from lightgbm import LGBMClassifier
from sklearn.pipeline import make_pipeline

import costboost as cb

# Small sets of the development part first; the untouched sets only where they are named.
SETS = (
    "haberman", "pima", "ecoli", "crx", "wdbc", "german", "vehicle", "mlc_churn", "segment",
    "phoneme", "page-blocks", "satimage",
)  # fmt: skip
COSTS = ("ratio 5", "ratio 20", "class frequency")
# Their weak learners take numbers without gaps: one-hot codes and medians.
NUMBERS = {"CSAdaBoost", "CSLogitBoost", "CSRealBoost", "Costing", "DSE", "MCBoost", "SAMMEC2"}
SPLITS, TRIALS = 2, 12


def methods(problem: Problem, k: int, trials: int) -> dict[str, object]:
    """Two lines per algorithm that takes so many classes, and what they stand beside."""
    found: dict[str, object] = {
        "CostBoost": cb.CostBoostClassifier(n_jobs=1),
        "CostBoost, effort=fast": cb.CostBoostClassifier(effort="fast", n_jobs=1),
        "LightGBM + Bayes": LGBMClassifier(verbosity=-1, n_jobs=1),
        "MinCost": cb.MinCostClassifier(calibration="sigmoid", n_jobs=1),
    }
    for name in cb.algorithms.__all__:
        model = getattr(cb, name)()
        if k == 2 or model.__sklearn_tags__().classifier_tags.multi_class:
            short = name.removesuffix("Classifier")
            model.set_params(n_jobs=1)
            both = {short: model, f"{short}, tuned": cb.tuned(model, n_trials=trials)}
            for line, one in both.items():
                found[line] = make_pipeline(encoder(), one) if short in NUMBERS else one
    return found


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("--sets", default=",".join(SETS))
    parser.add_argument("--splits", type=int, default=SPLITS)
    parser.add_argument("--trials", type=int, default=TRIALS, help="of each search")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    asked = parser.parse_args()
    sets = asked.sets.split(",")
    unknown = set(sets) - {*BINARY, *MULTICLASS}
    if unknown:
        parser.error(f"--sets must name sets of fixed costs; got {sorted(unknown)}")
    warnings.simplefilter("ignore")
    run(
        sets, partial(methods, trials=asked.trials), RESULTS / "fair.csv",
        splits=range(asked.splits), costs=COSTS, jobs=asked.jobs,
    )  # fmt: skip


if __name__ == "__main__":
    main()

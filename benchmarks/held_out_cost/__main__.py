"""``python -m benchmarks.held_out_cost [run | release | report]``."""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Sequence
from pathlib import Path

from benchmarks.held_out_cost.methods import AUTOGLUON, METHODS, RIVALS, chosen
from benchmarks.held_out_cost.problems import FULL, SETS, SPLITS
from benchmarks.held_out_cost.report import write
from benchmarks.held_out_cost.run import run

NAME = "held_out_cost"
QUICK = ("hepatitis", "creditcard_subset", "vertebral")
SLOW = [method.name for method in RIVALS]
USUAL = [name for name in METHODS if name not in SLOW]
# Sets of at least 1,000 rows, where AutoGluon has all splits.
LARGE = (
    "bankmarketing", "creditscoring1", "credit_default", "creditcard_subset", "adult", "phoneme",
    "page-blocks", "sick-euthyroid", "german", "telco", "mlc_churn", "segment", "satimage",
    "splice", "thyroid", "flare", "optdigits", "pendigits", "shuttle", "nursery", "winewhite",
    "drybean", "kddcup99",
)  # fmt: skip
# What a release needs, in the order of its worth. Rivals that take long have all splits of large
# sets (AutoGluon) or one split (the others); a few methods see all rows of the largest sets.
RELEASE = (
    {"methods": USUAL, "sets": SETS, "splits": SPLITS},
    {"methods": [AUTOGLUON], "sets": LARGE, "splits": SPLITS},
    {"methods": [name for name in SLOW if name != AUTOGLUON], "sets": SETS, "splits": 1},
    {
        "methods": [
            "CostBoost",
            "CostBoost, effort=fast",
            "LightGBM early-stopped + Bayes",
            AUTOGLUON,
        ],
        "sets": FULL,
        "splits": 1,
    },
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.held_out_cost", description=__doc__)
    parser.add_argument("command", nargs="?", choices=("run", "release", "report"), default="run")
    parser.add_argument("--quick", action="store_true", help=f"{', '.join(QUICK)}; 2 splits")
    parser.add_argument("--sets", help="data sets, by commas; all of them by default")
    parser.add_argument("--full", action="store_true", help=f"all rows: {', '.join(FULL)}")
    parser.add_argument(
        "--methods", help="methods, by semicolons; by default all but the slow rivals"
    )
    parser.add_argument("--splits", type=int, help=f"splits of each set; {SPLITS} by default")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--anew", action="store_true", help="drop the rows of earlier runs")
    parser.add_argument("--output", type=Path, help="folder; benchmarks/results by default")
    options = parser.parse_args()
    usual = QUICK if options.quick else FULL if options.full else SETS
    sets = options.sets.split(",") if options.sets else list(usual)
    methods = options.methods.split(";") if options.methods else USUAL
    check("--sets", sets, (*SETS, *FULL))
    check("--methods", methods, METHODS)
    results = Path(__file__).parents[1] / "results"
    # A quick look must not overwrite the figures of a full run.
    folder = options.output or (Path(tempfile.gettempdir()) / NAME if options.quick else results)
    path = folder / f"{NAME}.csv"
    splits = options.splits or (2 if options.quick else SPLITS)
    parts = {
        "run": [{"methods": methods, "sets": sets, "splits": splits}],
        "release": RELEASE,
        "report": [],
    }[options.command]
    if parts and options.anew:
        path.unlink(missing_ok=True)
    for part in parts:
        measure(part["methods"], part["sets"], part["splits"], path, options.jobs)
    print(f"written: {write(path)}")


def measure(
    methods: Sequence[str], sets: Sequence[str], splits: int, path: Path, jobs: int
) -> None:
    """Add the rows of some methods that the file does not have; what is not installed is named."""
    installed = []
    for name in methods:
        if METHODS[name].is_installed:
            installed.append(name)
        else:
            print(f"skipped: {name} needs {METHODS[name].needs}, which is not installed here")
    run(sets, chosen(installed), path, splits=range(splits), jobs=jobs)


def check(option: str, given: list[str], known: object) -> None:
    unknown = [name for name in given if name not in known]  # type: ignore[operator]
    if unknown:
        raise SystemExit(f"{option} must name some of {', '.join(known)}; got {unknown}.")  # type: ignore[call-overload]


if __name__ == "__main__":
    main()

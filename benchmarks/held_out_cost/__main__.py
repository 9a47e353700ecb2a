"""``python -m benchmarks.held_out_cost [run | report]``."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks.held_out_cost.methods import METHODS, RIVALS
from benchmarks.held_out_cost.problems import FULL, SETS, SPLITS
from benchmarks.held_out_cost.report import write
from benchmarks.held_out_cost.run import run

NAME = "held_out_cost"
QUICK = ("hepatitis", "creditcard_subset", "vertebral")


def main() -> None:
    parser = argparse.ArgumentParser(prog="benchmarks.held_out_cost", description=__doc__)
    parser.add_argument("command", nargs="?", choices=("run", "report"), default="run")
    parser.add_argument("--quick", action="store_true", help=f"{', '.join(QUICK)}; 2 splits")
    parser.add_argument("--sets", help="data sets, by commas; all of them by default")
    parser.add_argument("--full", action="store_true", help=f"all rows: {', '.join(FULL)}")
    parser.add_argument("--methods", help="methods, by semicolons; all of them by default")
    parser.add_argument(
        "--rivals", action="store_true", help="the methods of `make bench-rivals` alone"
    )
    parser.add_argument("--splits", type=int, help=f"splits of each set; {SPLITS} by default")
    parser.add_argument(
        "--by-split", action="store_true", help="the first split of all sets first, in their order"
    )
    parser.add_argument("--jobs", type=int, default=2, help="processes")
    parser.add_argument("--resume", action="store_true", help="keep rows, run what is missing")
    parser.add_argument("--output", type=Path, help="folder; benchmarks/results by default")
    options = parser.parse_args()
    usual = QUICK if options.quick else FULL if options.full else SETS
    sets = options.sets.split(",") if options.sets else list(usual)
    chosen = [method.name for method in RIVALS] if options.rivals else list(METHODS)
    methods = options.methods.split(";") if options.methods else chosen
    check("--sets", sets, (*SETS, *FULL))
    check("--methods", methods, METHODS)
    results = Path(__file__).parents[1] / "results"
    # A quick look must not overwrite the figures of a full run.
    folder = options.output or (Path(tempfile.gettempdir()) / NAME if options.quick else results)
    # Problems with all rows are others: averages over the usual ones must not mix with them.
    path = folder / f"{NAME}{'-full' if options.full else ''}.csv"
    if options.command == "run":
        splits = options.splits or (2 if options.quick else SPLITS)
        run(
            sets, methods, path, splits=splits, jobs=options.jobs, resume=options.resume,
            by_split=options.by_split,
        )  # fmt: skip
    print(f"written: {write(path)}")


def check(option: str, given: list[str], known: object) -> None:
    unknown = [name for name in given if name not in known]  # type: ignore[operator]
    if unknown:
        raise SystemExit(f"{option} must name some of {', '.join(known)}; got {unknown}.")  # type: ignore[call-overload]


if __name__ == "__main__":
    main()

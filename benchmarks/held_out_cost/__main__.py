"""``python -m benchmarks.held_out_cost [run | report]``."""

from __future__ import annotations

import argparse
import tempfile
from pathlib import Path

from benchmarks.held_out_cost.methods import METHODS, RIVALS, chosen
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
    parser.add_argument(
        "--methods", help="methods, by semicolons; by default all but those of `make bench-rivals`"
    )
    parser.add_argument(
        "--rivals", action="store_true", help="the methods of `make bench-rivals` instead"
    )
    parser.add_argument("--splits", type=int, help=f"splits of each set; {SPLITS} by default")
    parser.add_argument("--jobs", type=int, default=1, help="processes")
    parser.add_argument("--anew", action="store_true", help="drop the rows of earlier runs")
    parser.add_argument("--output", type=Path, help="folder; benchmarks/results by default")
    options = parser.parse_args()
    usual = QUICK if options.quick else FULL if options.full else SETS
    sets = options.sets.split(",") if options.sets else list(usual)
    rivals = [method.name for method in RIVALS]
    usual = rivals if options.rivals else [name for name in METHODS if name not in rivals]
    methods = options.methods.split(";") if options.methods else usual
    check("--sets", sets, (*SETS, *FULL))
    check("--methods", methods, METHODS)
    results = Path(__file__).parents[1] / "results"
    # A quick look must not overwrite the figures of a full run.
    folder = options.output or (Path(tempfile.gettempdir()) / NAME if options.quick else results)
    path = folder / f"{NAME}.csv"
    if options.command == "run":
        if options.anew:
            path.unlink(missing_ok=True)
        for name in methods:
            if not METHODS[name].is_installed:
                print(f"skipped: {name} needs {METHODS[name].needs}, which is not installed here")
        methods = [name for name in methods if METHODS[name].is_installed]
        splits = range(options.splits or (2 if options.quick else SPLITS))
        run(sets, chosen(methods), path, splits=splits, jobs=options.jobs)
    print(f"written: {write(path)}")


def check(option: str, given: list[str], known: object) -> None:
    unknown = [name for name in given if name not in known]  # type: ignore[operator]
    if unknown:
        raise SystemExit(f"{option} must name some of {', '.join(known)}; got {unknown}.")  # type: ignore[call-overload]


if __name__ == "__main__":
    main()

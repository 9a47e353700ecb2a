"""Compare the speed of two source trees: medians of alternating runs, cold and warm apart.

    git worktree add ../before COMMIT
    python tools/ratios.py ../before/src src [--repeats 15] [--fits 3] [--only load]

Each run is a process of its own with one of the trees on its path: imports, compiled kernels and
caches are those of that tree. Use an idle machine.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from statistics import median

# What is timed: code that prints seconds. Its argument is a folder with a model file of that tree.
START = "import time, sys; start = time.perf_counter()\n"
END = "\nprint(time.perf_counter() - start)"
DATA = """
import numpy as np, costboost
from costboost.datasets import make_fraud
from costboost.costs import per_row
data = make_fraud({rows}, random_state=0)
costs = per_row(fn=data.amount, fp=5)
"""
LOAD = "import sys, costboost\nmodel = costboost.load(sys.argv[1] + '/model.costboost')\n"
READY = DATA.format(rows=100_000) + LOAD
CASES = {
    "import": START + "import costboost\ncostboost.CostBoostClassifier" + END,
    "--help": START + "import subprocess\nsubprocess.run([sys.executable, '-m', 'costboost', "
    "'--help'], stdout=subprocess.DEVNULL, check=True)" + END,
    "load": "import costboost\ncostboost.CostBoostClassifier\n" + START + LOAD + END,
    "one row, cold": READY + START + "model.predict(data.X[:1], costs=costs[:1])" + END,
    "one row, warm": READY
    + "for _ in range(3): model.predict(data.X[:1], costs=costs[:1])\n"
    + START
    + "for _ in range(100): model.predict(data.X[:1], costs=costs[:1])"
    + END,
    "100,000 rows, cold": READY + START + "model.predict(data.X, costs=costs)" + END,
    "100,000 rows, warm": READY
    + "model.predict(data.X, costs=costs)\n"
    + START
    + "model.predict(data.X, costs=costs)"
    + END,
}
FITS = {
    f"fit, effort={effort}, 20,000 rows": DATA.format(rows=20_000)
    + START
    + f"costboost.CostBoostClassifier(effort={effort!r}, random_state=0, n_jobs=2)"
    + ".fit(data.X, data.y, costs=costs)"
    + END
    for effort in ("fast", "balanced", "high")
}
PREPARE = DATA.format(rows=3_000) + (
    "import sys\nmodel = costboost.CostBoostClassifier(random_state=0, n_jobs=1)\n"
    "model.fit(data.X, data.y, costs=costs).save(sys.argv[1] + '/model.costboost')\nprint(0)"
)


def seconds(code: str, tree: Path, folder: str) -> float:
    """Run the code in a process with the tree on its path."""
    environment = os.environ | {"PYTHONPATH": str(tree), "NUMBA_CACHE_DIR": f"{folder}/numba"}
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code, folder],
        env=environment, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    return float(done.stdout.split()[-1])


def main() -> None:
    """Print a line per case: both medians and their ratio."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("before", type=Path)
    parser.add_argument("after", type=Path)
    parser.add_argument("--repeats", type=int, default=15)
    parser.add_argument("--fits", type=int, default=3, help="repeats of the fits")
    parser.add_argument("--only", default="", help="cases whose name contains this")
    options = parser.parse_args()
    trees = [options.before.resolve(), options.after.resolve()]
    with tempfile.TemporaryDirectory() as first, tempfile.TemporaryDirectory() as second:
        folders = [first, second]
        for tree, folder in zip(trees, folders, strict=True):
            seconds(PREPARE, tree, folder)
        print(f"{'':32}{'before':>10}{'after':>10}{'ratio':>8}")
        for name, code in (CASES | FITS).items():
            if options.only not in name:
                continue
            times: tuple[list[float], list[float]] = ([], [])
            for _ in range(options.fits if name in FITS else options.repeats):
                for place, tree in enumerate(trees):
                    times[place].append(seconds(code, tree, folders[place]))
            a, b = map(median, times)
            print(f"{name:32}{a:>10.4f}{b:>10.4f}{b / a:>8.2f}", flush=True)


if __name__ == "__main__":
    main()

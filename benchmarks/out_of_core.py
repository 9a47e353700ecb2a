"""Memory and time of training from Parquet files, against training in memory, as rows grow.

``python benchmarks/out_of_core.py`` writes 12 million rows of 20 features into a temporary folder
(1.1 GB: files of 500,000 rows, row groups of 100,000), then trains 50 trees on the first 1.5, 3, 6
and 12 million of them, each in a process of its own. ``--millions 0.5 1`` chooses other sizes. The
folder is removed at the end. About five minutes on two free cores.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
from harness import load, write_rows
from rich.console import Console

SEED = 0
FEATURES = 20
TREES = 50
FILE_ROWS = 500_000
GROUP_ROWS = 100_000


def make_files(folder: Path, n_rows: int) -> None:
    """Files in chunks, so that the writer needs little memory itself."""
    import pyarrow as pa
    from pyarrow import parquet

    for number, start in enumerate(range(0, n_rows, FILE_ROWS)):
        n = min(FILE_ROWS, n_rows - start)
        rng = np.random.default_rng([SEED, number])
        X = rng.standard_normal((n, FEATURES), dtype=np.float32)
        score = X[:, 0] + X[:, 1] * X[:, 2] + rng.standard_normal(n, dtype=np.float32)
        columns = {f"x{j}": X[:, j] for j in range(FEATURES)}
        table = pa.table({**columns, "fraud": (score > 1.5).astype(np.int8)})
        parquet.write_table(table, folder / f"{number:04d}.parquet", row_group_size=GROUP_ROWS)


class Memory:
    """Peaks of this process: all, and split into its own pages and those of mapped files.

    Also the peak of what is in a folder for temporary files, if one is given.
    """

    def __init__(self, scratch: Path | None = None) -> None:
        self.peaks = {"RssAnon": 0, "RssFile": 0}
        self.scratch = scratch
        self.disk = 0
        self.start = self.read("VmRSS")
        threading.Thread(target=self.watch, daemon=True).start()

    @staticmethod
    def read(field: str) -> int:
        status = Path("/proc/self/status").read_text()
        return int(status.split(f"{field}:")[1].split()[0]) // 1024

    def watch(self) -> None:
        while True:
            for field in self.peaks:
                self.peaks[field] = max(self.peaks[field], self.read(field))
            with contextlib.suppress(FileNotFoundError):  # files are removed meanwhile
                found = [] if self.scratch is None else self.scratch.rglob("*")
                self.disk = max(self.disk, sum(path.stat().st_size for path in found))
            time.sleep(0.05)

    def row(self) -> dict[str, int]:
        return {
            "peak_mb": self.read("VmHWM"),
            "anonymous_mb": self.peaks["RssAnon"],
            "mapped_mb": self.peaks["RssFile"],
            "disk_mb": self.disk // 2**20,
            "start_mb": self.start,
        }


def measure(how: str, folder: Path, n_files: int) -> None:
    """Train in this process and print what it took."""
    import pandas as pd
    import pyarrow.parquet  # noqa: F401 - counts as start, in both ways
    import xgboost  # noqa: F401

    from costboost import CostBoostClassifier

    costs = {"fn": 10, "fp": 1}
    model = CostBoostClassifier(costs, effort="fast", n_estimators=TREES, random_state=SEED)
    files = sorted(folder.glob("*.parquet"))[:n_files]
    scratch = folder / "scratch"
    scratch.mkdir(exist_ok=True)
    tempfile.tempdir = str(scratch)
    memory, begun = Memory(scratch), time.perf_counter()
    if how == "fit_parquet":
        model.fit_parquet(files, target="fraud")
    else:
        frame = pd.concat([pd.read_parquet(path) for path in files])
        y = frame.pop("fraud")
        model.fit(frame, y)
    seconds = time.perf_counter() - begun
    found = {"seconds": round(seconds, 2), **memory.row()}
    print(json.dumps({**found, "savings": round(model.estimated_savings_.value, 4)}))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument(
        "--millions", type=float, nargs="+", default=[1.5, 3, 6, 12], help="in steps of 0.5"
    )
    parser.add_argument("--in-memory-up-to", type=float, default=3, help="million rows")
    parser.add_argument("--folder", type=Path, help="where to write the files")
    parser.add_argument("--measure", nargs=2, metavar=("HOW", "N_FILES"), help=argparse.SUPPRESS)
    given = parser.parse_args()
    if any(round(millions * 1e6) % FILE_ROWS for millions in given.millions):
        parser.error(f"--millions must be multiples of {FILE_ROWS / 1e6}, the rows of a file")
    if given.measure:
        measure(given.measure[0], given.folder, int(given.measure[1]))
        return
    console, rows = Console(width=130), []
    with tempfile.TemporaryDirectory(dir=given.folder) as name:
        make_files(Path(name), round(max(given.millions) * 1e6))
        for millions in sorted(given.millions):
            ways = ["fit_parquet"] + ["fit"] * (millions <= given.in_memory_up_to)
            for how in ways:
                n_files = round(millions * 1e6) // FILE_ROWS
                call = [sys.executable, __file__, "--folder", name, "--measure", how, str(n_files)]
                done = subprocess.run(call, stdout=subprocess.PIPE, text=True, check=True)
                row = {
                    "method": how,
                    "rows": str(round(millions * 1e6)),
                    "features": str(FEATURES),
                    "trees": str(TREES),
                    "load": load(),
                    **{k: str(v) for k, v in json.loads(done.stdout.splitlines()[-1]).items()},
                }
                console.print(row)
                rows.append(row)
    write_rows("out_of_core", rows, SEED)


if __name__ == "__main__":
    main()

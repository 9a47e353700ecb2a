"""What every benchmark needs: medians, peak memory, rows with provenance, a table of ratios."""

from __future__ import annotations

import csv
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

from rich.console import Console
from rich.table import Table

from costboost_papers.run import source_commit

RESULTS = Path(__file__).parent / "results"
PACKAGES = (
    "costboost",
    "lightgbm",
    "scikit-learn",
    "numpy",
    "numba",
    "imbalanced-ensemble",
    "empulse",
)


def median_seconds(
    run: Callable[[], object],
    repeats: int = 3,
    warm_up: bool = True,
    clock: Callable[[], float] = time.perf_counter,
) -> float:
    """Median time, by default wall time; the warm-up run compiles kernels and fills caches."""
    if warm_up:
        run()
    seconds = []
    for _ in range(repeats):
        start = clock()
        run()
        seconds.append(clock() - start)
    return statistics.median(seconds)


def paired_seconds(
    ours: Callable[[], object],
    theirs: Callable[[], object],
    repeats: int = 3,
    clock: Callable[[], float] = time.perf_counter,
) -> tuple[float, float]:
    """Median times of two functions run in turns, so that drift hits both."""
    ours()
    theirs()
    pairs = [
        (median_seconds(ours, 1, False, clock), median_seconds(theirs, 1, False, clock))
        for _ in range(repeats)
    ]
    return statistics.median(a for a, _ in pairs), statistics.median(b for _, b in pairs)


def peak_megabytes(code: str) -> float:
    """Peak resident memory of a fresh Python process that runs ``code``."""
    # Not getrusage: its maximum outlives exec, so a large parent would be counted.
    script = f"{code}\nprint(open('/proc/self/status').read().split('VmHWM:')[1].split()[0])"
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, check=True
    )
    return int(done.stdout.split()[-1]) / 1024


def provenance(seed: int) -> dict[str, str]:
    """Where and with what the rows were measured; the commit is the last one that changed src."""
    versions = []
    for package in PACKAGES:
        try:
            versions.append(f"{package}=={version(package)}")
        except PackageNotFoundError:
            continue
    return {
        "seed": str(seed),
        "commit": source_commit(),
        "cores": str(os.cpu_count()),
        "python": platform.python_version(),
        "versions": " ".join(versions),
    }


def write_rows(name: str, rows: list[dict[str, str]]) -> Path:
    """Write tidy rows as CSV."""
    RESULTS.mkdir(exist_ok=True)
    path = RESULTS / f"{name}.csv"
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]))
        writer.writeheader()
        writer.writerows(rows)
    return path


class Bench:
    """Collects rows and prints them as they come."""

    def __init__(self, title: str) -> None:
        self.title = title
        self.rows: list[dict[str, str]] = []
        self.console = Console(width=130)

    def add(
        self,
        section: str,
        what: str,
        ours: float,
        rival: str,
        theirs: float,
        *,
        at_most: float | None = None,
        at_least: float | None = None,
        unit: str = "s",
        note: str = "",
    ) -> None:
        """One comparison; ``at_most`` bounds ours/theirs, ``at_least`` bounds theirs/ours."""
        ratio = ours / theirs
        if at_least is not None:
            ratio = 1 / ratio
            target, met = f">= {at_least:g} x faster", ratio >= at_least
        elif at_most is not None:
            target, met = f"<= {at_most:g} x", ratio <= at_most
        else:
            target, met = "", None
        row = {
            "section": section, "what": what, "ours": f"{ours:.4g}", "rival": rival,
            "theirs": f"{theirs:.4g}", "unit": unit, "ratio": f"{ratio:.3g}", "target": target,
            "met": "" if met is None else ("yes" if met else "NO"), "note": note,
        }  # fmt: skip
        self.rows.append(row)
        self.console.print(
            f"({section}) {what}: {ours:.4g} {unit} against {theirs:.4g} {unit} of {rival}: "
            f"{ratio:.3g} {target} {row['met']} {note}"
        )

    def table(self) -> Table:
        table = Table(title=self.title)
        for column in self.rows[0]:
            table.add_column(column, justify="right" if column in {"ours", "theirs"} else "left")
        for row in self.rows:
            table.add_row(*row.values(), style="red" if row["met"] == "NO" else None)
        return table

"""What every benchmark needs: medians, peak memory, rows with provenance, a table of ratios."""

from __future__ import annotations

import argparse
import csv
import os
import platform
import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

from costboost._utils import versions
from costboost_papers.run import source_commit

RESULTS = Path(__file__).parent / "results"
SOURCES = "sources.csv"
SOURCE_FIELDS = ("source", "commit", "python", "cores", "versions")
PACKAGES = (
    "costboost",
    "lightgbm",
    "scikit-learn",
    "numpy",
    "numba",
    "pandas",
    "xgboost",
    "xgboost-cpu",
    "catboost",
    "imbalanced-ensemble",
    "empulse",
    "autogluon.tabular",
    "vowpalwabbit",
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


def made_rows(
    n: int, classes: int = 2, features: int = 20, rng: np.random.Generator | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Features, and classes of equal shares that three of them decide with noise."""
    rng = rng or np.random.default_rng(0)
    X = rng.standard_normal((n, features), dtype=np.float32)
    score = X[:, 0] + X[:, 1] * X[:, 2] + rng.standard_normal(n, dtype=np.float32)
    return X, np.searchsorted(np.quantile(score, np.arange(1, classes) / classes), score)


def run_parts(
    parts: Mapping[str, Callable[[], None]], doc: str, leave_out: Sequence[str] = ()
) -> None:
    """Run the parts that the command line names by their results files; none names all others."""
    parser = argparse.ArgumentParser(description=doc.split("\n", 1)[0])
    parser.add_argument("parts", nargs="*", help=f"of {', '.join(parts)}")
    asked = parser.parse_args().parts
    unknown = [name for name in asked if name not in parts]
    if unknown:
        parser.error(f"the parts are {', '.join(parts)}; got {', '.join(unknown)}")
    for name in asked or [name for name in parts if name not in leave_out]:
        parts[name]()


def load() -> str:
    """Processes that want a core, those of others too: on a busy machine seconds mean little."""
    return f"{os.getloadavg()[0]:.1f}"


def source_number(folder: Path) -> str:
    """Return the number of the line of sources.csv that says what runs here; add it if need be.

    Every row of a results file names such a line: the last commit that changed src, Python, cores
    and the versions of the libraries, which would be half of the file if each row repeated them.
    """
    path = folder / SOURCES
    installed = versions(*PACKAGES)
    here = {
        "commit": source_commit(),
        "python": platform.python_version(),
        "cores": str(os.cpu_count()),
        "versions": " ".join(f"{name}=={number}" for name, number in installed.items()),
    }
    known = read_csv(path)
    for line in known:
        if all(line[name] == value for name, value in here.items()):
            return line["source"]
    number = str(len(known) + 1)
    append_rows(path, [{"source": number, **here}], SOURCE_FIELDS)
    return number


def read_csv(path: Path) -> list[dict[str, str]]:
    """Read the rows of a CSV file; none if there is no file."""
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def write_rows(name: str, rows: Sequence[Mapping[str, Any]], seed: int) -> Path:
    """Write tidy rows as CSV, each with its provenance, and say where."""
    path = RESULTS / f"{name}.csv"
    path.unlink(missing_ok=True)
    facts = {"seed": str(seed), "load": load(), "source": source_number(RESULTS)}
    full = [{**facts, **row} for row in rows]  # what a row says of itself wins
    append_rows(path, full, [*rows[0], *(key for key in facts if key not in rows[0])])
    print(f"{len(rows)} rows in {path.relative_to(path.parents[2])}")
    return path


def append_rows(path: Path, rows: Iterable[Mapping[str, Any]], fields: Sequence[str]) -> None:
    """Add rows to a CSV file, whose columns stay those that it has."""
    path.parent.mkdir(parents=True, exist_ok=True)
    has_rows = path.exists() and path.stat().st_size > 0
    if has_rows:
        with path.open(newline="") as file:
            fields, wanted = next(csv.reader(file)), fields
        if not set(wanted) <= set(fields):
            lacking = ", ".join(set(wanted) - set(fields))
            raise SystemExit(
                f"{path} has no columns {lacking}: an earlier version wrote it. Move it."
            )
    with path.open("a", newline="") as file:
        writer = csv.DictWriter(
            file, fields, restval="", extrasaction="ignore", lineterminator="\n"
        )
        if not has_rows:
            writer.writeheader()
        for row in rows:
            writer.writerow({key: _short(value) for key, value in row.items()})


def finished(path: Path, *keys: str) -> set[tuple[str, ...]]:
    """Which rows a CSV file has; those of failures are dropped, so that they are tried again."""
    if not path.exists():
        return set()
    content = path.read_bytes()
    if not content.endswith(b"\n"):  # a run was ended while it wrote
        path.write_bytes(content[: content.rfind(b"\n") + 1])
    rows = read_csv(path)
    kept = [row for row in rows if not row["error"]]
    if len(kept) < len(rows):
        fields = list(rows[0])
        path.unlink()
        append_rows(path, kept, fields)
    return {tuple(row[key] for key in keys) for row in kept}


def _short(value: Any) -> Any:
    if isinstance(value, float):
        return "" if value != value else f"{value:.6g}"
    return value


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

    def finish(self, name: str, seed: int) -> None:
        """Print the table, and write the rows with their provenance."""
        self.console.print(self.table())
        write_rows(name, self.rows, seed)

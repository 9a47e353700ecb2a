"""Rows of the benchmarks, as the pages read them."""

from __future__ import annotations

import csv
from pathlib import Path

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"


def read(name: str, folder: Path | None = None) -> list[dict[str, str]]:
    """Rows of a benchmark; none if it has not been run."""
    path = (folder or RESULTS) / f"{name}.csv"
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))

"""Rows of the benchmarks, as the pages read them."""

from __future__ import annotations

import csv
import re
from pathlib import Path

RESULTS = Path(__file__).parents[2] / "benchmarks" / "results"


def read(name: str, folder: Path | None = None) -> list[dict[str, str]]:
    """Rows of a benchmark; none if it has not been run."""
    path = (folder or RESULTS) / f"{name}.csv"
    if not path.exists():
        return []
    with path.open(newline="") as file:
        return list(csv.DictReader(file))


def put(text: str, measured: str) -> str:
    """A page with the text between its marks of measurements written anew."""
    pattern = re.compile(r"(<!-- measured -->\n).*?(<!-- end of measured -->)", flags=re.DOTALL)
    text, found = pattern.subn(lambda m: f"{m[1]}\n{measured}\n\n{m[2]}", text)
    if found != 1:
        raise ValueError("The page needs '<!-- measured -->' and '<!-- end of measured -->' once.")
    return text

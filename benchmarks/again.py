"""Compute rows that are kept again, with the source as it is: a sample, drawn at random.

    python -m benchmarks.again held_out_cost       # in the environment of make bench-cost
    python -m benchmarks.again fair papers

What takes hours is not measured anew for every commit. The sample tells whether the source still
computes what is kept: of n rows that all come out as they were, fewer than 3 in n of the others
differ (with 95 % confidence). Scores are compared, not seconds. Writes results/again.csv.
"""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
from benchmarks import fair
from benchmarks.fresh import read
from benchmarks.harness import RESULTS, append_rows, provenance
from benchmarks.held_out_cost.methods import METHODS, chosen
from benchmarks.held_out_cost.problems import ALL_ROWS, Problem
from benchmarks.held_out_cost.run import Methods, run_problem
from rich.progress import track

from costboost_papers import registry
from costboost_papers.item import Options, Task
from costboost_papers.run import TASK, Store

SEED, ROWS = 0, 300
EQUAL = 1e-5  # results files have six digits
FIELDS = ("file", "row", "difference", "same", "kept")
DOCS = Path(__file__).parents[1] / "docs" / "papers"
# Of a row that is kept: where it stands, its name, the commit that measured it, and a function that
# computes it again and tells the largest difference.
Kept = tuple[str, str, Callable[[], float]]


def of_file(name: str, methods: Methods, can_run: Callable[[str], bool], **how: Any) -> list[Kept]:
    """The rows of a results file whose methods are installed here."""

    def differs(row: dict[str, str]) -> float:
        problem = Problem(row["data"], row["costs"])
        only = lambda problem, k: {row["method"]: methods(problem, k)[row["method"]]}  # noqa: E731
        (found,) = run_problem(problem, int(row["split"]), only, set(), **how)
        kept = float(row["score"])
        return abs(float(found.get("score", np.nan)) - kept) / max(1.0, abs(kept))

    return [
        (
            ", ".join((row["data"], row["costs"], f"split {row['split']}", row["method"])),
            row["commit"],
            partial(differs, row),
        )
        for row in read(name)
        if row["score"] and can_run(row["method"]) and not row["data"].endswith(ALL_ROWS)
    ]


def of_papers() -> list[Kept]:
    """The tasks of all papers."""

    def differs(item: Any, place: tuple[Any, ...], kept: Any) -> float:
        found = item.run(Task(*place), "full")
        wanted = kept.set_index("metric")["value"].to_dict()
        if list(found) != list(wanted):
            return np.inf
        new, old = (
            np.array([one[name] for name in wanted], dtype=float) for one in (found, wanted)
        )
        same = (new == old) | (np.isnan(new) & np.isnan(old))
        size = np.maximum(np.abs(new), np.abs(old))
        return float(np.max(np.abs(new - old)[~same] / size[~same], initial=0.0))

    return [
        (f"{item.paper} {item.name}, {', '.join(map(str, place[2:]))}", kept["commit"].iloc[0],
         partial(differs, item, place, kept))
        for item in registry.items()
        if item.shares_rows_with is None
        for place, kept in Store("nowhere", item, Options(), DOCS).rows().groupby(TASK, sort=False)
    ]  # fmt: skip


def known(name: str) -> list[Kept]:
    """All rows of a part that can be computed here."""
    if name == "papers":
        return of_papers()
    if name == "fair":
        return of_file(
            "fair", partial(fair.methods, trials=fair.TRIALS), lambda method: True,
            most_train=fair.MOST_ROWS,
        )  # fmt: skip
    return of_file(
        "held_out_cost", chosen(list(METHODS)),
        lambda method: method in METHODS and METHODS[method].is_installed,
    )  # fmt: skip


def computed(name: str, rows: int) -> Iterator[dict[str, Any]]:
    """Rows of a part, drawn at random, computed again."""
    all_of_them = known(name)
    drawn = np.random.default_rng(SEED).permutation(len(all_of_them))[:rows]
    for i in track(sorted(drawn), f"{name}: {len(drawn)} of {len(all_of_them)} rows"):
        row, kept, differs = all_of_them[i]
        difference = differs()
        same = "yes" if difference <= EQUAL else "no"  # NaN is not the same
        yield {"file": name, "row": row, "difference": difference, "same": same, "kept": kept}


def main(parts: Sequence[str] = ("held_out_cost", "fair", "papers")) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", 1)[0])
    parser.add_argument("parts", nargs="+", choices=parts)
    parser.add_argument("--rows", type=int, default=ROWS, help="drawn of each part")
    asked = parser.parse_args()
    warnings.simplefilter("ignore")
    source = provenance(SEED)
    path = RESULTS / "again.csv"
    for name in asked.parts:
        found = list(computed(name, asked.rows))
        others = [row for row in read("again") if row["file"] != name]
        path.unlink(missing_ok=True)
        append_rows(path, [*others, *({**row, **source} for row in found)], [*FIELDS, *source])
        other = [row for row in found if row["same"] == "no"]
        print(f"{name}: {len(found)} rows computed again, {len(found) - len(other)} as kept")
        for row in other:
            print(f"  {row['row']}: differs by {row['difference']:.2g} from {row['kept']}")


if __name__ == "__main__":
    main()

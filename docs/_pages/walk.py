"""Write the seconds of docs/cli.md: how long each step from a file to a service takes.

    python docs/build.py walk

The figures follow from ``benchmarks/results/walk.csv`` (`python benchmarks/walk.py`). They stand
between ``<!-- measured -->`` and ``<!-- end of measured -->``.
"""

from __future__ import annotations

from pathlib import Path
from statistics import median

from results import put, read

PAGE = Path(__file__).parents[1] / "cli.md"
STEPS = {
    "check": "`costboost data check`: columns, classes, costs in words",
    "fit": "`costboost fit`: 4,000 rows train, 1,000 later ones are held out; verdict",
    "predict": "`costboost predict`: 5,000 decisions",
    "report": "`costboost report`: the page about the held-out rows",
    "serve": "`costboost serve`, to the answer of one `curl`",
}


def measured() -> str:
    """The table, and what it was measured with."""
    rows = read("walk")

    def typical(step: str, column: str) -> float:
        return median(float(row[column]) for row in rows if row["step"] == step)

    loads = sorted(float(row["load"]) for row in rows)
    busy = f"{loads[0]:.0f} to {loads[-1]:.0f}"
    lines = [f"| step | processor seconds | seconds at a load of {busy} |", "|---|---:|---:|"]
    for step, words in STEPS.items():
        seconds, processor = typical(step, "seconds"), typical(step, "processor_seconds")
        lines.append(f"| {words} | {processor:.1f} | {seconds:.1f} |")
    return "\n".join(
        [
            *lines,
            "",
            f"Medians of {len({row['round'] for row in rows})} runs in new processes, on a machine "
            f"with {rows[0]['cores']} cores that many other programs used at the same time. Once "
            f"the service is up, one more answer takes "
            f"{1000 * typical('one more answer', 'seconds'):.0f} ms. `python benchmarks/walk.py`, "
            f"commit {rows[0]['commit']}.",
        ]
    )


def filled(text: str) -> str:
    """The page with its measurements written anew."""
    return put(text, measured())


def build(*, keep: bool, only: list[str]) -> None:
    """Write the page."""
    PAGE.write_text(filled(PAGE.read_text("utf-8")), encoding="utf-8")

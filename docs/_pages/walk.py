"""Write the seconds of docs/cli.md: how long each step from a file to a service takes.

    python docs/build.py walk

The figures follow from ``benchmarks/results/walk.csv`` (`python benchmarks/walk.py`). They stand
between ``<!-- measured -->`` and ``<!-- end of measured -->``.
"""

from __future__ import annotations

from pathlib import Path
from statistics import median

from results import DOCS, commits, filled, read, table

PAGE = DOCS / "cli.md"
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
    names = (
        "step",
        "processor seconds:",
        f"seconds at a load of {loads[0]:.0f} to {loads[-1]:.0f}:",
    )
    lines = table(
        names,
        (
            (words, f"{typical(step, 'processor_seconds'):.1f}", f"{typical(step, 'seconds'):.1f}")
            for step, words in STEPS.items()
        ),
    )
    runs = len({row["round"] for row in rows})
    answer = 1000 * typical("one more answer", "seconds")
    about = (
        f"Medians of {runs} runs in new processes, on a machine with {rows[0]['cores']} cores. "
        f"Once the service is up, one more answer takes {answer:.0f} ms. "
        f"`python benchmarks/walk.py`, commit {commits(rows)}."
    )
    return "\n".join([*lines, "", about])


def pages() -> dict[Path, str]:
    """The page with its measurements written anew."""
    return {PAGE: filled(PAGE, "measured", measured())}

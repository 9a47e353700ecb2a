"""Write the figures of docs/serve.md: the service under load, beside a bare handler.

    python docs/build.py service

They follow from ``benchmarks/results/serve_load.csv`` (`make bench-serve`), and stand between
``<!-- measured -->`` and ``<!-- end of measured -->``.
"""

from __future__ import annotations

from pathlib import Path

from results import DOCS, commits, filled, read, table

PAGE = DOCS / "serve.md"
RIVALS = {
    "bare": "a bare FastAPI handler",
    "in process": "the same answer in process",
    "without": "the service without it",
}
WORDS = {"CPU": "processor time", "p50": "median time", "p99": "99th percentile of the time"}


def measured() -> str:
    """The table, and what it was measured with."""
    rows = read("serve_load")

    def figure(row: dict[str, str], column: str) -> str:
        value = float(row[column])
        return f"{value:,.0f} {row['unit']}" if value > 999 else f"{value:.3g} {row['unit']}"

    def what(row: dict[str, str]) -> str:
        first, *rest = row["what"].split(", ")
        return ", ".join([row["section"], WORDS.get(first, first), *rest])

    lines = table(
        ("what", "service:", "beside", "its figure:", "ratio:"),
        (
            (
                what(row),
                figure(row, "ours"),
                RIVALS[row["rival"]],
                figure(row, "theirs"),
                f"{float(row['ratio']):.2f}",
            )
            for row in rows
        ),
    )
    about = (
        f"On {rows[0]['cores']} cores: five boosters, requests over loopback, "
        "one after the other, batches of 10,000 rows. The bare handler calls the same boosters by "
        "LightGBM, which uses all cores; a batch in process is `predict` and `predict_cost` on one "
        f"thread. `make bench-serve`, commit {commits(rows)}."
    )
    return "\n".join([*lines, "", about])


def pages() -> dict[Path, str]:
    """The page with its measurements written anew."""
    return {PAGE: filled(PAGE, "measured", measured())}

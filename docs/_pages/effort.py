"""Write the measurements of docs/guide/effort.md: what each effort gains, and how long it takes.

    python docs/build.py effort

The figures follow from ``benchmarks/results/held_out_cost.csv`` (`make bench-rivals`). They
stand between ``<!-- measured -->`` and ``<!-- end of measured -->``.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from statistics import mean, median

from results import DOCS, commits, filled, held_out, signed, table

PAGE = DOCS / "guide" / "effort.md"
NOISE = 0.003  # differences that a new seed may make
USUAL = "CostBoost"
EFFORTS = {
    "CostBoost, effort=fast": '`"fast"`',
    USUAL: '`"balanced"`',
    "CostBoost, effort=high": '`"high"`',
    "AutoGluon + Bayes": "AutoGluon, cheapest decision",
}
SIZES = {"up to 300": (0, 300), "301 to 3,000": (300, 3_000), "more": (3_000, 10**9)}

Table = dict[tuple[str, str], list[dict[str, str]]]


def measured() -> str:
    """Both tables, on sets that had no part in choosing defaults."""
    rows = [
        row
        for row in held_out()
        if row["group"] != "hidden" and row["development"] in ("0", "False")
    ]
    by_method: dict[str, Table] = defaultdict(lambda: defaultdict(list))
    for row in rows:
        by_method[row["method"]][row["data"], row["costs"]].append(row)
    shared = set.intersection(*(set(by_method[method]) for method in EFFORTS))
    # Means over the splits of a problem.
    means = {
        (method, key, column): mean(float(row[column]) for row in by_method[method][key])
        for method in EFFORTS
        for key in shared
        for column in ("score", "fit_seconds", "n_train")
    }
    seconds, scores = [], []
    for method, title in EFFORTS.items():
        cells = [title]
        for low, high in SIZES.values():
            found = [
                means[method, key, "fit_seconds"]
                for key in shared
                if low < means[method, key, "n_train"] <= high
            ]
            cells.append(f"{float(f'{median(found):.2g}'):g}" if found else "–")
        seconds.append(cells)
        if method == USUAL:
            continue
        gaps = [means[method, key, "score"] - means[USUAL, key, "score"] for key in shared]
        better, worse = (sum(sign * gap > NOISE for gap in gaps) for sign in (1, -1))
        scores.append([title, signed(mean(gaps)), signed(median(gaps)), better, worse])
    lines = [
        "Processor seconds of a training, median, by the number of training rows:",
        "",
        *table(["effort", *(f"{size}:" for size in SIZES)], seconds),
        "",
        f'Score less that of `"balanced"` on the same {len(shared)} problems (*better* and *worse* '
        f"differ by more than {NOISE}):",
        "",
        *table(["effort", "mean:", "median:", "better:", "worse:"], scores),
        "",
        "AutoGluon trains five-fold bags of LightGBM, CatBoost, XGBoost, random forests, extra "
        "trees and a linear model (no stacking, 120 processor seconds at most) and decides by "
        "expected cost. Three splits, sets that had no part in choosing our defaults. [All "
        "rows](../../benchmarks/results/held_out_cost.md): `make bench-rivals`, commits "
        f"{commits(row for m in EFFORTS for key in shared for row in by_method[m][key])}.",
    ]
    return "\n".join(lines)


def pages() -> dict[Path, str]:
    """The page with its measurements written anew."""
    return {PAGE: filled(PAGE, "measured", measured())}

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

Table = dict[tuple[str, str, str], dict[str, str]]


def measured() -> str:
    """Both tables, on sets that had no part in choosing defaults."""
    rows = [
        row
        for row in held_out()
        if row["group"] != "hidden" and row["development"] in ("0", "False")
    ]
    by_method: dict[str, Table] = {method: {} for method in EFFORTS}
    for row in rows:
        if row["method"] in EFFORTS:
            by_method[row["method"]][row["data"], row["costs"], row["split"]] = row
    seconds, scores = [], []
    usual = by_method[USUAL]
    for method, title in EFFORTS.items():
        cells = [f"{title}, seconds" if method == USUAL else f"{title}, times as long"]
        for low, high in SIZES.values():
            found = [
                float(row["fit_seconds"])
                / (1.0 if method == USUAL else float(usual[key]["fit_seconds"]))
                for key, row in by_method[method].items()
                if low < int(row["n_train"]) <= high
            ]
            cells.append(f"{float(f'{median(found):.2g}'):g}" if found else "–")
        seconds.append(cells)
        if method == USUAL:
            continue
        gaps: dict[tuple[str, str], list[float]] = defaultdict(list)  # by problem, of each split
        for (data, costs, split), row in by_method[method].items():
            gap = float(row["score"]) - float(usual[data, costs, split]["score"])
            gaps[data, costs].append(gap)
        means = [mean(values) for values in gaps.values()]
        better, worse = (sum(sign * gap > NOISE for gap in means) for sign in (1, -1))
        cells = [title, len(means), signed(mean(means)), signed(median(means)), better, worse]
        scores.append(cells)
    lines = [
        'Processor seconds of a training with `"balanced"`, and how many times as long the others '
        "took on the same rows; medians by the number of training rows:",
        "",
        *table(["effort", *(f"{size}:" for size in SIZES)], seconds),
        "",
        'Score less that of `"balanced"` on the same problems and splits (*better* and *worse* '
        f"differ by more than {NOISE}):",
        "",
        *table(["effort", "problems:", "mean:", "median:", "better:", "worse:"], scores),
        "",
        "AutoGluon trains five-fold bags of LightGBM, CatBoost, XGBoost, random forests, extra "
        "trees and a linear model (no stacking, 120 processor seconds at most) and decides by "
        'expected cost, on sets of 1,000 rows or more. It and `"high"` ran in an environment of '
        "their own. Up to three splits, sets that had no part in choosing our defaults. [All "
        "rows](../../benchmarks/results/held_out_cost.md): `make bench-rivals`, commits "
        f"{commits(row for found in by_method.values() for row in found.values())}.",
    ]
    return "\n".join(lines)


def pages() -> dict[Path, str]:
    """The page with its measurements written anew."""
    return {PAGE: filled(PAGE, "measured", measured())}

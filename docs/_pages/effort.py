"""Write the measurements of docs/guide/effort.md: what each effort gains, and how long it takes.

    python docs/build.py effort

The figures follow from ``benchmarks/results/effort`` (`make bench-rivals`). They stand between
``<!-- measured -->`` and ``<!-- end of measured -->``.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from statistics import mean, median

from results import put, read

PAGE = Path(__file__).parents[1] / "guide" / "effort.md"
NOISE = 0.003  # differences that a new seed may make
EFFORTS = {
    "CostBoost, effort=fast": '`"fast"`',
    "CostBoost": '`"balanced"`',
    "CostBoost, effort=high": '`"high"`',
    "AutoGluon + Bayes": "AutoGluon, cheapest decision",
}
SIZES = {"up to 300": (0, 300), "301 to 3,000": (300, 3_000), "more": (3_000, 10**9)}

Table = dict[tuple[str, ...], dict[str, str]]


def measured() -> str:
    """Both tables, on sets that had no part in choosing defaults."""
    rows = [
        row
        for row in read("effort/held_out_cost")
        if row["score"] and row["group"] != "hidden" and row["development"] in ("0", "False")
    ]
    by_method: dict[str, Table] = defaultdict(dict)
    for row in rows:
        by_method[row["method"]][row["data"], row["costs"], row["split"]] = row
    shared = set.intersection(*(set(by_method[method]) for method in EFFORTS))
    commits = ", ".join(sorted({by_method[m][key]["commit"] for m in EFFORTS for key in shared}))
    lines = [
        "Processor seconds of a training, median, by the number of training rows:",
        "",
        f"| effort | {' | '.join(SIZES)} |",
        "|---|" + "---:|" * len(SIZES),
    ]
    for method, title in EFFORTS.items():
        cells = []
        for low, high in SIZES.values():
            found = [
                float(row["fit_seconds"])
                for row in (by_method[method][key] for key in shared)
                if low < int(row["n_train"]) <= high
            ]
            cells.append(f"{median(found):.2g}" if found else "–")
        lines.append(f"| {title} | {' | '.join(cells)} |")
    lines += [
        "",
        f'Score less that of `"balanced"` on the same {len(shared)} problems (*better* and *worse* '
        f"differ by more than {NOISE}):",
        "",
        "| effort | mean | median | better | worse |",
        "|---|---:|---:|---:|---:|",
    ]
    usual = by_method["CostBoost"]
    for method, title in EFFORTS.items():
        if method == "CostBoost":
            continue
        gaps = [
            float(by_method[method][key]["score"]) - float(usual[key]["score"]) for key in shared
        ]
        better, worse = (sum(sign * gap > NOISE for gap in gaps) for sign in (1, -1))
        lines.append(
            f"| {title} | {_signed(mean(gaps))} | {_signed(median(gaps))} | {better} | {worse} |"
        )
    lines += [
        "",
        "AutoGluon trains five-fold bags of LightGBM, CatBoost, XGBoost, random forests, extra "
        "trees and a linear model (no stacking, 120 processor seconds at most) and decides by "
        "expected cost. One split, sets that had no part in choosing our defaults. [All "
        "rows](../../benchmarks/results/effort/held_out_cost.md): `make bench-rivals`, commits "
        f"{commits}.",
    ]
    return "\n".join(lines)


def _signed(value: float) -> str:
    return f"{value:+.3f}".replace("-", "−")


def filled(text: str) -> str:
    """The page with its measurements written anew."""
    return put(text, measured())


def build(*, keep: bool, only: list[str]) -> None:
    """Write the page."""
    PAGE.write_text(filled(PAGE.read_text("utf-8")), encoding="utf-8")

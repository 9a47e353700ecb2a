"""Write what held-out decisions cost, in money, into README.md and docs/index.md.

    python docs/build.py money

The figures are those of ``benchmarks/results/held_out_cost.csv`` (`make bench-cost`). They stand
between ``<!-- money -->`` and ``<!-- end of money -->``.
"""

from __future__ import annotations

import csv
import re
from collections import defaultdict
from pathlib import Path
from statistics import linear_regression, mean

ROOT = Path(__file__).parents[2]
RESULTS = ROOT / "benchmarks" / "results" / "held_out_cost.csv"
PAGES = {
    ROOT / "README.md": "benchmarks/results/",
    ROOT / "docs" / "index.md": "../benchmarks/results/",
}

# What the costs of a data set are, and in which money. The formulas: Correa Bahnsen et al. 2014,
# Hoppner et al. 2022.
CASES = {
    "creditcard_subset": ("Card payments: which to stop", "€"),
    "bankmarketing": ("Bank marketing: whom to call", "€"),
    "creditscoring1": ("Consumer credit: whom to lend to", ""),
    "credit_default": ("Credit cards: whom to give credit", "NT$"),
}
OURS = "CostBoost"
RIVAL = "LightGBM calibrated + Bayes"
METHODS = {
    OURS: "costboost",
    RIVAL: "calibrated LightGBM, costs applied",
    "LightGBM": "LightGBM",
}
ROWS = 1_000

Row = dict[str, str]


def read() -> list[Row]:
    """The rows of the benchmark that finished."""
    with RESULTS.open(newline="") as file:
        return [row for row in csv.DictReader(file) if row["score"]]


def constant(rows: list[Row]) -> float:
    """Cost of the best constant decision on the rows of a split.

    Costs and scores of methods lie on a line, because the score counts what a decision costs beyond
    the cheapest one: the cost where the score is 0 is that of the constant decision.
    """
    scores = [float(row["score"]) for row in rows]
    return linear_regression(scores, [float(row["mean_cost"]) for row in rows]).intercept


def table(rows: list[Row]) -> list[str]:
    """What a thousand cases cost, a line per data set with costs of its own."""
    names = [*METHODS.values(), "one decision for all"]
    lines = [f"| {ROWS:,} cases | {' | '.join(names)} |", "|---|" + "---:|" * len(names)]
    for data, (what, money) in CASES.items():
        found = [row for row in rows if row["data"] == data and row["costs"] == "row costs"]
        costs = [
            mean(float(row["mean_cost"]) for row in found if row["method"] == method)
            for method in METHODS
        ]
        splits = sorted({row["split"] for row in found})
        costs.append(mean(constant([row for row in found if row["split"] == n]) for n in splits))
        cells = [f"{_amount(cost * ROWS)} {money}".strip() for cost in costs]
        best = costs.index(min(costs))
        cells[best] = f"**{cells[best]}**"
        lines.append(f"| {what} | {' | '.join(cells)} |")
    return lines


def _amount(cost: float) -> str:
    """Three digits: more would be noise."""
    if cost >= 1e6:
        return f"{cost / 1e6:.1f} M"
    digits = max(0, len(str(int(cost))) - 3)
    return f"{int(round(cost, -digits)):,}"


def _beaten(rows: list[Row]) -> str:
    """On which of the data sets the strongest rival costs less."""
    lost = []
    for data, (what, _) in CASES.items():
        mine = [row for row in rows if row["data"] == data and row["costs"] == "row costs"]
        cost = {
            method: mean(float(row["mean_cost"]) for row in mine if row["method"] == method)
            for method in (OURS, RIVAL)
        }
        if cost[RIVAL] < cost[OURS]:
            lost.append(what.partition(":")[0].lower())
    return f"which costs less on: {', '.join(lost)}" if lost else "which costs more on all of them"


def _percent(share: float) -> str:
    return f"{share:.0%}".replace("-", "−")


def average_scores(rows: list[Row]) -> tuple[dict[str, float], int, int]:
    """Score of each method over all problems; how many problems, on how many data sets."""
    splits: dict[tuple[str, str, str], list[float]] = defaultdict(list)
    for row in rows:
        if row["method"] in METHODS and row["group"] != "hidden":
            splits[row["method"], row["data"], row["costs"]].append(float(row["score"]))
    problems = {(data, costs) for _, data, costs in splits}
    scores = {
        method: mean(mean(splits[method, *problem]) for problem in problems) for method in METHODS
    }
    return scores, len(problems), len({data for data, _ in problems})


def block(results: str) -> str:
    """The text between the marks; ``results`` is where the page finds the benchmark's own."""
    rows = read()
    scores, problems, sets = average_scores(rows)
    told = ", ".join(f"{_percent(scores[method])} ({METHODS[method]})" for method in METHODS)
    first = next(row for row in rows if row["method"] == OURS)
    return "\n".join(
        [
            *table(rows),
            "",
            f"What {ROWS:,} decisions cost on rows not seen in training, mean of five splits. *One "
            f"decision for all* is "
            "the best that can be done without a model. *LightGBM* is used as it comes, with the "
            "costs unknown to it. "
            "The second column calibrates its probabilities and takes the cheapest decision of "
            "each row: a strong rival, "
            f"{_beaten(rows)}.",
            "",
            f"Of the cost that better decisions than one for all could avoid, the mean share "
            f"avoided over all {problems} problems on {sets} data sets is "
            f"{told}. [All results]({results}held_out_cost.md); `make bench-cost` measures them "
            f"again "
            f"(here at commit {first['commit']}).",
        ]
    )


def filled(text: str, results: str) -> str:
    """The text of a page with its figures written anew."""
    pattern = re.compile(r"(<!-- money -->\n).*?(<!-- end of money -->)", flags=re.DOTALL)
    text, found = pattern.subn(lambda m: f"{m[1]}\n{block(results)}\n\n{m[2]}", text)
    if found != 1:
        raise ValueError("The page needs '<!-- money -->' and '<!-- end of money -->' once.")
    return text


def build(*, keep: bool, only: list[str]) -> None:
    """Write both pages."""
    for page, results in PAGES.items():
        page.write_text(filled(page.read_text("utf-8"), results), encoding="utf-8")

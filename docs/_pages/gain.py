"""Write docs/gain.md, what the classifier gains and where not, and its summary on the first pages.

    python docs/build.py gain

All figures follow from ``benchmarks/results`` (`make bench-cost`, ``benchmarks/hidden_costs.py``).
The summary stands in README.md and docs/index.md between ``<!-- gain -->`` and
``<!-- end of gain -->``.
"""

from __future__ import annotations

from collections import defaultdict
from pathlib import Path
from statistics import linear_regression, mean, median, quantiles

from results import DOCS, NOTE, ROOT, commits, filled, held_out, read, signed, table

# Where the summary stands, and how these pages reach the page.
SUMMARIES = {ROOT / "README.md": "docs/gain.md", DOCS / "index.md": "gain.md"}

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
PLAIN = "LightGBM"
PRICED = "LightGBM + Bayes"  # the decisions of least expected cost of the very same models
AUTOGLUON = "AutoGluon + Bayes"
METHODS = {
    OURS: "costboost",
    RIVAL: "LightGBM, calibrated, cheapest decision",
    PLAIN: "LightGBM, likeliest class",
}
ROWS = 1_000
SMALL, LARGE = 1_000, 5_000  # training rows
TIE = 0.003  # of the avoidable cost

Row = dict[str, str]
Problem = tuple[str, str]


def by_problem(
    rows: list[Row], method: str, column: str, *, hidden: bool = False
) -> dict[Problem, float]:
    """Mean over the splits of each problem."""
    found: dict[Problem, list[float]] = defaultdict(list)
    for row in rows:
        if row["method"] == method and (row["group"] == "hidden") == hidden:
            found[row["data"], row["costs"]].append(float(row[column]))
    return {problem: mean(values) for problem, values in found.items()}


def constant(rows: list[Row]) -> float:
    """Cost of the best constant decision on the rows of a split.

    Costs and scores of methods lie on a line, because the score counts what a decision costs beyond
    the cheapest one: the cost where the score is 0 is that of the constant decision.
    """
    scores = [float(row["score"]) for row in rows]
    return linear_regression(scores, [float(row["mean_cost"]) for row in rows]).intercept


def money(rows: list[Row]) -> list[str]:
    """What a thousand cases cost, a line per data set with costs of its own."""
    names = [*METHODS.values(), "one decision for all"]
    lines = []
    for data, (what, unit) in CASES.items():
        found = [row for row in rows if row["data"] == data and row["costs"] == "row costs"]
        costs = [
            mean(float(row["mean_cost"]) for row in found if row["method"] == method)
            for method in METHODS
        ]
        splits = sorted({row["split"] for row in found})
        costs.append(mean(constant([row for row in found if row["split"] == n]) for n in splits))
        cells = [f"{_amount(cost * ROWS)} {unit}".strip() for cost in costs]
        best = costs.index(min(costs))
        cells[best] = f"**{cells[best]}**"
        lines.append([what, *cells])
    return table([f"{ROWS:,} cases", *(f"{name}:" for name in names)], lines)


def differences(rows: list[Row]) -> dict[str, list[float]]:
    """Score of ours less that of the rival, by size of the training set; no development sets."""
    untouched = [row for row in rows if row["development"] in ("0", "False")]
    ours, rival, size = (
        by_problem(untouched, method, column)
        for method, column in ((OURS, "score"), (RIVAL, "score"), (OURS, "n_train"))
    )
    sizes = (f"up to {SMALL:,}", f"{SMALL + 1:,} to {LARGE:,}", f"more than {LARGE:,}")
    found: dict[str, list[float]] = {name: [] for name in sizes}
    for problem, score in ours.items():
        name = sizes[(size[problem] > SMALL) + (size[problem] > LARGE)]
        found[name].append(score - rival[problem])
    return found


def ratios(rows: list[Row]) -> list[float]:
    """How many times as much LightGBM's likeliest class costs as the cheapest decision does."""
    plain, rival = (by_problem(rows, method, "mean_cost") for method in (PLAIN, PRICED))
    # In problems with profits a ratio means nothing.
    return [plain[p] / rival[p] for p in plain if rival[p] > 0 and plain[p] > 0]


def longer(rows: list[Row], rival: str) -> float:
    """How many times as long all trainings of a rival took as ours of the same rows."""
    seconds: dict[tuple[str, str, str], dict[str, float]] = defaultdict(dict)
    for row in rows:
        key = row["data"], row["costs"], row["split"]
        seconds[key][row["method"]] = float(row["fit_seconds"])
    both = [found for found in seconds.values() if rival in found and OURS in found]
    return sum(found[rival] for found in both) / sum(found[OURS] for found in both)


def hidden() -> list[tuple[str, float, float, float]]:
    """Score with mean, learned and known costs, by data set."""
    found: dict[str, list[Row]] = defaultdict(list)
    for row in read("hidden_costs"):
        found[row["data"]].append(row)
    columns = ("mean costs", "learned costs", "(costs told)")
    return [
        (data, *(mean(float(row[column]) for row in rows) for column in columns))
        for data, rows in found.items()
    ]


def estimates(rows: list[Row]) -> list[float]:
    """Estimated score less the score on test rows, of every fit with an estimate."""
    ours = [row for row in rows if row["method"] == OURS and row["group"] != "hidden"]
    return [float(row["estimated"]) - float(row["score"]) for row in ours if row["estimated"]]


def _amount(cost: float) -> str:
    """Three digits: more would be noise."""
    if cost >= 1e6:
        return f"{cost / 1e6:.1f} M"
    digits = max(0, len(str(int(cost))) - 3)
    return f"{int(round(cost, -digits)):,}"


def _score(value: float) -> str:
    return f"{value:.3f}".replace("-", "−")


def _splits(rows: list[Row]) -> int:
    return len({row["split"] for row in rows})


def _made(rows: list[Row], *methods: str) -> str:
    mine = [row for row in rows if row["method"] in methods and row["group"] != "hidden"]
    return f"`make bench-cost`, commits {commits(mine)}"


def summary(page: str) -> str:
    """Where the gain is and where not, in a few lines."""
    rows = held_out()
    small, middle, large = differences(rows).values()
    learned = median(found - means for _, means, found, _ in hidden())
    low, high = quantiles(ratios(rows), n=4)[::2]
    return "\n".join(
        [
            f"- **Little**, if you calibrate LightGBM and take the cheapest decision of each row "
            f"already, on a table of more than {LARGE:,} rows whose costs are known when you "
            f"decide: {_points(median(large))} of the avoidable cost (median).",
            f"- **Some** on smaller tables ({_points(median(small))} with up to {SMALL:,} rows, "
            f"{_points(median(middle))} with up to {LARGE:,}), and "
            f"where costs are known only afterwards ({_points(learned)} over deciding by mean "
            "costs).",
            "- **Much** against a threshold of 0.5 or the likeliest class, which costs "
            f"{low:.1f} to {high:.1f} times as much as the cheapest decision (middle half of the "
            "problems).",
            "- **What is tedious by hand**: limits such as 200 reviews a day, an estimate in money "
            "before you deploy, reasons in money, errors in place of silent mix-ups.",
            "",
            f"[What does it gain me?]({page}) has the measurements.",
        ]
    )


def _points(share: float) -> str:
    return f"{100 * share:.1f} points".replace("-", "−")


def page() -> str:
    """The whole page."""
    rows = held_out()
    problems = by_problem(rows, OURS, "score")
    scores = {method: mean(by_problem(rows, method, "score").values()) for method in METHODS}
    seconds = {method: mean(by_problem(rows, method, "fit_seconds").values()) for method in METHODS}
    wrong = quantiles(estimates(rows), n=4)
    low, middle, high = quantiles(ratios(rows), n=4)
    lines = [
        NOTE,
        "",
        "# What does it gain me?",
        "",
        "It depends on what you do today. All figures are of rows that were not seen in training. "
        "*Score* is the share of the avoidable cost: 0 is the best constant decision, 1 is every "
        "row decided right. Your own rows answer best: `costboost compare` runs these methods on "
        "them ([The command line](cli.md#compare)).",
        "",
        "## In money",
        "",
        *money(rows),
        "",
        f"Mean of {_splits(rows)} splits. *One decision for all* is the "
        "cheapest constant decision on these rows. *Likeliest class* is LightGBM as it comes, a "
        "threshold of 0.5 for two classes. The second column calibrates five early-stopped "
        f"LightGBM models and takes the cheapest decision of each row. {_made(rows, *METHODS)}.",
        "",
        "## You take the likeliest class, or a threshold of 0.5",
        "",
        f"Then the costs are the gain, with whatever model. On {len(ratios(rows))} problems "
        f"LightGBM's likeliest class cost {middle:.1f} times as much as the cheapest decision on "
        f"the same library's probabilities (median; middle half {low:.1f} to {high:.1f}). You need "
        "not change your model for that: [You already have a model](guide/own-model.md). "
        f"{_made(rows, PLAIN, PRICED)}.",
        "",
        "## You calibrate and take the cheapest decision already",
        "",
        "Then little is left on large tables. Differences of the score, costboost less calibrated "
        "LightGBM, on sets that had no part in choosing our defaults:",
        "",
        *table(
            ["training rows", "problems:", "median:", "mean:", "better:", "worse:"],
            [
                [name, len(found), signed(median(found)), signed(mean(found))]
                + [sum(sign * gap > TIE for gap in found) for sign in (1, -1)]
                for name, found in differences(rows).items()
            ],
        ),
        "",
        f"*Better* and *worse* count differences above {TIE}. Over all {len(problems)} problems of "
        f"{len({data for data, _ in problems})} data sets, ours included, mean score and processor "
        "seconds of a training:",
        "",
        *table(
            ["method", "score:", "seconds:"],
            [[METHODS[m], _score(scores[m]), f"{seconds[m]:.1f}"] for m in METHODS],
        ),
        "",
        f"{_made(rows, *METHODS)}. Tests, ranks and more rivals: [Held-out "
        "cost](../benchmarks/results/held_out_cost.md). AutoGluon saves a little more in "
        f"{longer(rows, AUTOGLUON):.0f} times the time: [Which effort, how long?](guide/effort.md)",
        "",
        "## Your costs are known only afterwards",
        "",
        "What a customer would have spent is known of those in the past, not of the one who calls. "
        "The usual way is to decide by mean costs. `CostBoostClassifier` learns what errors cost "
        f"on rows like this one. Score, mean of {_splits(read('hidden_costs'))} "
        "splits:",
        "",
        *table(
            ["data", "mean costs:", "learned costs:", "gain:", "costs known after all:"],
            [
                [data, _score(means), _score(learned), signed(learned - means), _score(told)]
                for data, means, learned, told in hidden()
            ],
        ),
        "",
        "Where the costs are noise that no column tells anything about (*credit_default, noise*), "
        "nothing can be learned and nothing is gained. `python benchmarks/hidden_costs.py`, commit "
        f"{commits(read('hidden_costs'))}.",
        "",
        "## You want to know before you deploy",
        "",
        f"`fit` estimates the score from held-out rows. Over {len(estimates(rows))} fits the "
        f"estimate less the score on test rows was {signed(wrong[1])} in the median and "
        f"{signed(mean(estimates(rows)))} in the mean; half of them lay between {signed(wrong[0])} "
        f"and {signed(wrong[2])}. Test sets of a few hundred rows are part of that spread. "
        f"{_made(rows, OURS)}.",
        "",
        "## What was not measured",
        "",
        "- Limits on decisions against a rule of thumb, on real data. [An example on synthetic "
        "payments](decisions.md#five-policies-in-money) compares five policies.",
        "- Whether fewer mistakes are made in writing costs down. What the library refuses is on "
        "[Which costs do I have?](guide/costs.md#what-is-refused)",
        "- Your data.",
    ]
    return "\n".join(lines) + "\n"


def pages() -> dict[Path, str]:
    """The page and its summaries."""
    summaries = {path: filled(path, "gain", summary(where)) for path, where in SUMMARIES.items()}
    return {DOCS / "gain.md": page(), **summaries}

"""The section of choosing.md about published algorithms that are treated fairly.

Rows are those of ``benchmarks/results/fair.csv`` (`python -m benchmarks.fair`), of a whole run or
a part of one.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
import results

from costboost.metrics import wilcoxon_test

TITLE = "## Published algorithms, treated fairly"
OURS, TUNED, INSIDE = "CostBoost", ", tuned", "CostBoost, loss="
TIE = 0.001
# Which loss of the library an algorithm descends.
LOSSES = {
    "AdaBoostC": "weighted_exponential",
    "AsyB": "weighted_exponential",
    "AsyBL": "asymmetric_logistic",
    "CSAdaBoost": "cost_exponential",
    "CSRealBoost": "cost_exponential",
    "GradientCSB": "cost_exponential",
    "CSLogitBoost": "cost_logistic",
    "MCBoost": "gll",
}
# What the algorithms do with the costs.
IDEAS = {
    "calibrated AdaBoost, decided by the costs": ("AdaMEC",),
    "costs as weights, at the start or over the rounds": (
        "AdaBoostC", "AsymmetricAdaBoost", "RareBoost",
    ),
    "costs in every update of the weights": (
        "AdaC1", "AdaC2", "AdaC3", "AdaCost", "CSB0", "CSB1", "CSB2",
    ),
    "a loss with the costs inside": (
        "AsyB", "AsyBL", "CSAdaBoost", "CSRealBoost", "CSLogitBoost", "GradientCSB", "MCBoost",
    ),
    "rows drawn or weighted by cost, for any learner": (
        "AverageCost", "Costing", "DSE", "GBSE", "LpCSB",
    ),
    "pairs of rows and classes": ("AdaBoostM2", "AdaCostM2", "CSB2M2", "SAMMEC2"),
}  # fmt: skip
RIVALS = {
    "MinCost": '`MinCostClassifier(calibration="sigmoid")`',
    "LightGBM + Bayes": "LightGBM, cheapest decision",
    "CostBoost, effort=fast": '`CostBoostClassifier(effort="fast")`',
    f"{INSIDE}expected_cost": "csboost's loss in CostBoost",
}
HEAD = (
    "| algorithm | problems | as it comes | tuned | its loss | CostBoost | tuned less CostBoost | \
cheaper, costlier on | seconds |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|"
)


def section() -> str:
    """What each idea is worth when it is treated fairly, and where one beats CostBoost."""
    path = results.RESULTS / "fair.csv"
    if not path.exists():
        return f"\n{TITLE}\n\nNot measured yet: run `python -m benchmarks.fair`.\n"
    rows = pd.read_csv(path)
    rows = rows[rows["error"].isna()]
    rows["problem"] = rows["data"] + ", " + rows["costs"]
    scores = rows.pivot_table("score", "problem", "method")
    seconds = rows.groupby("method")["fit_seconds"].mean()
    names = [name for name in scores if f"{name}{TUNED}" in scores]
    lines = pd.DataFrame([_line(scores, seconds, name) for name in [*names, *RIVALS]])
    lines = lines.sort_values("gap", ascending=False)
    published = lines[lines["name"].isin(names)]
    text = [
        "",
        TITLE,
        "",
        f"{len(names)} published algorithms on {len(scores)} problems, one of each of "
        f"{_sets(rows['data'].nunique())}. *As it comes*: the "
        "defaults of the class, 100 rounds and mostly trees of 8 or 16 leaves; the median, because "
        "a few problems weigh heavily. "
        "*Tuned*: `benchmarks/tuning.py` gives every algorithm the same search of 6 trials inside the "
        "training rows (rounds by early stopping, learner, leaves, step, calibration). *Its loss*: "
        "the loss that the algorithm descends, in `CostBoostClassifier(loss=...)`. All scores are "
        "shares of the avoidable cost on held-out rows; *tuned*, *its loss* and *CostBoost* are "
        "means over the problems that the algorithm takes. The difference has a 95 % interval over "
        f"problems; *cheaper* and *costlier* count problems that differ by {TIE:g} or more. To "
        f"have all sets measured, about 1,000 rows at most were trained on and there is "
        f"{rows['split'].nunique()} split: single problems are noisy.",
        "",
        *_findings(published, scores),
        _untouched(rows, scores, names),
        "",
        *_ideas(scores),
        "",
        HEAD,
        *(_row(line, RIVALS.get(line["name"])) for line in lines.to_dict("records")),
        "",
        *_beaten(scores, names),
        "",
        f"`python -m benchmarks.fair`, commits {', '.join(sorted(rows['commit'].unique()))}; "
        "seconds are processor time of one tuned training (of one training where there is no "
        "search), on a busy machine.",
        "",
    ]
    return "\n".join(text)


def _line(scores: pd.DataFrame, seconds: pd.Series, name: str) -> dict[str, object]:
    """One algorithm beside CostBoost, on the problems that both finished."""
    best = f"{name}{TUNED}" if f"{name}{TUNED}" in scores else name
    found = scores[[*{name, best, OURS}]].dropna()
    gap = found[best] - found[OURS]
    loss = f"{INSIDE}{LOSSES.get(name)}"
    return {
        "name": name,
        "problems": len(found),
        "printed": found[name].median() if best != name else np.nan,
        "tuned": found[best].mean(),
        "median": found[best].median(),
        "loss": scores.loc[found.index, loss].mean() if loss in scores else np.nan,
        "ours": found[OURS].mean(),
        "gap": gap.mean(),
        "half": 1.96 * gap.std() / np.sqrt(len(gap)),
        "p": wilcoxon_test(gap) if len(gap) > 5 else np.nan,
        "won": int((gap > TIE).sum()),
        "lost": int((gap < -TIE).sum()),
        "seconds": seconds[best],
    }


def _findings(lines: pd.DataFrame, scores: pd.DataFrame) -> list[str]:
    """What the table says, in sentences."""
    printed, tuned = lines["printed"].median(), lines["median"].median()
    worse = lines[(lines["p"] < 0.05) & (lines["gap"] < 0)]["name"]
    better = lines[(lines["p"] < 0.05) & (lines["gap"] > 0)]["name"]
    open_ = lines[~lines["name"].isin([*worse, *better])]["name"]
    inside = {}
    for loss in (*dict.fromkeys(LOSSES.values()), "expected_cost"):
        if f"{INSIDE}{loss}" in scores:
            gap = (scores[f"{INSIDE}{loss}"] - scores[OURS]).dropna()
            inside[loss] = gap.median(), int((gap > TIE).sum()), len(gap)
    told = ", ".join(
        f"`{loss}` {_signed(gap)} (cheaper on {won} of {n})"
        for loss, (gap, won, n) in sorted(inside.items(), key=lambda one: -one[1][0])
    )
    return [
        f"- **Much of the poor figures is due to settings.** Half of the algorithms score "
        f"{_number(printed)} or less as they come, and {_number(tuned)} or less tuned (medians "
        "over problems).",
        f"- **{len(worse)} of {len(lines)} are worse than `CostBoostClassifier` after tuning too** "
        "(Wilcoxon over problems, p < 0.05, each alone)"
        + (f"; not told apart: {', '.join(open_)}" if len(open_) else "")
        + (f"; better: {', '.join(better)}." if len(better) else "; none is better."),
        "- **A paper's loss on modern trees**, with held-out stopping, less "
        "`CostBoostClassifier()`, which learns probabilities and decides by expected cost "
        f"(median): {told}.",
    ]


def _sets(n: int) -> str:
    return "39 sets" if n == 39 else f"{n} of the 39 sets (the others are not measured yet)"


def _untouched(rows: pd.DataFrame, scores: pd.DataFrame, names: list[str]) -> str:
    """The differences on sets that had a part in choosing our defaults, and on the others."""
    known = rows.groupby("problem")["development"].max().astype(bool)
    gaps = scores[[f"{name}{TUNED}" for name in names]].sub(scores[OURS], axis=0)
    seen, new = (gaps[known == part].mean().median() for part in (True, False))
    return (
        f"- **On sets that had no part in choosing our defaults** ({int((~known).sum())} of "
        f"{len(known)}) the median algorithm differs from CostBoost by {_signed(new)}, on the "
        f"others by {_signed(seen)}."
    )


def _ideas(scores: pd.DataFrame) -> list[str]:
    """The algorithms by what they do with the costs, on the problems of two classes."""
    shared = scores.dropna()  # problems that every algorithm takes
    lines = [
        f"What they do with the costs, on the {len(shared)} problems of two classes that all "
        "algorithms take (means over problems and algorithms; *best*: the tuned algorithm with the "
        "highest mean):",
        "",
        "| idea | algorithms | as it comes, median | tuned | tuned less CostBoost | best |",
        "|---|---:|---:|---:|---:|---|",
    ]
    for idea, names in IDEAS.items():
        printed, tuned = shared[[*names]], shared[[f"{name}{TUNED}" for name in names]]
        best = tuned.mean().idxmax()
        lines.append(
            f"| {idea} | {len(names)} | {_number(np.median(printed))} | "
            f"{_number(tuned.to_numpy().mean())} | "
            f"{_signed(tuned.to_numpy().mean() - shared[OURS].mean())} | "
            f"`{best.removesuffix(TUNED)}` {_number(tuned[best].mean())} |"
        )
    return lines


def _beaten(scores: pd.DataFrame, names: list[str]) -> list[str]:
    """Problems where a published algorithm is cheaper than CostBoost, most first."""
    tuned = scores[[f"{name}{TUNED}" for name in names]]
    lines = []
    for problem, row in tuned.iterrows():
        gaps = (row - scores.loc[problem, OURS]).dropna()
        if gaps.max() > TIE:
            lines.append((int((gaps > TIE).sum()) / len(gaps), problem, gaps))
    lines.sort(key=lambda line: line[0], reverse=True)
    shown = [
        f"| {problem} | {(gaps > TIE).sum()} of {len(gaps)} | "
        f"{gaps.idxmax().removesuffix(TUNED)} | {_number(gaps.max() + scores.loc[problem, OURS])} "
        f"| {_number(scores.loc[problem, OURS])} |"
        for _, problem, gaps in lines
    ]
    many = [problem for share, problem, _ in lines if share >= 0.5]
    return [
        "### Where a published algorithm costs less",
        "",
        f"On {len(lines)} of {len(scores)} problems at least one tuned algorithm costs less than "
        "`CostBoostClassifier`. The best of many is chosen after the fact, so look at how many "
        "they are; and all share one split, on which CostBoost may have been unlucky."
        + (f" Half of them or more are cheaper on {'; '.join(many)}." if many else ""),
        "",
        "| problem | cheaper | best of them | its score | CostBoost |",
        "|---|---:|---|---:|---:|",
        *shown,
    ]


def _row(line: dict[str, object], title: str | None) -> str:
    cells = [_number(line[name]) for name in ("printed", "tuned", "loss", "ours")]
    return (
        f"| {title or '`' + str(line['name']) + '`'} | {line['problems']} | {' | '.join(cells)} | "
        f"{_signed(line['gap'])} ± {line['half']:.3f} | {line['won']}, {line['lost']} | "
        f"{line['seconds']:.1f} |"
    )


def _number(value: object) -> str:
    return "" if np.isnan(value) else f"{value:.3f}".replace("-", "−")


def _signed(value: object) -> str:
    return f"{value:+.3f}".replace("-", "−")

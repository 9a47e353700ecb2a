"""The section of choosing.md about published algorithms that are treated fairly.

Rows are those of ``benchmarks/results/fair.csv`` (`python -m benchmarks.fair`), of a whole run or
a part of one.
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from results import RESULTS

from costboost.metrics import wilcoxon_test

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
RIVALS = {
    "MinCost": "`MinCostClassifier`",
    "LightGBM + Bayes": "LightGBM, cheapest decision",
    "CostBoost, effort=fast": '`CostBoostClassifier(effort="fast")`',
    f"{INSIDE}expected_cost": "csboost's loss in CostBoost",
}
HEAD = (
    "| algorithm | problems | as printed | tuned | its loss | CostBoost | tuned less CostBoost | \
cheaper, dearer on | seconds |\n|---|---:|---:|---:|---:|---:|---:|---:|---:|"
)


def section() -> str:
    """What each idea is worth when it is treated fairly, and where one beats CostBoost."""
    path = RESULTS / "fair.csv"
    if not path.exists():
        return "\n## Treated fairly\n\nNot measured yet: run `python -m benchmarks.fair`.\n"
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
        "## Treated fairly",
        "",
        f"{len(names)} published algorithms on {len(scores)} problems, one of each of the "
        f"{rows['data'].nunique()} sets that are measured so far (of 39). *As printed*: the rounds "
        "and the weak learner of the paper; the median, because a few problems weigh heavily. "
        "*Tuned*: `costboost.tuned` gives every algorithm the same search of 6 trials inside the "
        "training rows (rounds by early stopping, learner, leaves, step, calibration). *Its loss*: "
        "the loss that the algorithm descends, in `CostBoostClassifier(loss=...)`. All scores are "
        "shares of the avoidable cost on held-out rows; *tuned*, *its loss* and *CostBoost* are "
        "means over the problems that the algorithm takes. The difference has a 95 % interval over "
        f"problems; *cheaper* and *dearer* count problems that differ by {TIE:g} or more. To have "
        f"all sets measured, at most 1,000 rows were trained on and there is "
        f"{rows['split'].nunique()} split: single problems are noisy.",
        "",
        *_findings(published, scores),
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
    printed, tuned = lines["printed"].median(), lines["tuned"].median()
    close = lines[lines["gap"] > -0.02]["name"]
    worse = lines[(lines["p"] < 0.05) & (lines["gap"] < 0)]["name"]
    better = lines[(lines["p"] < 0.05) & (lines["gap"] > 0)]["name"]
    inside = {
        loss: scores[[f"{INSIDE}{loss}", OURS]].dropna().diff(axis=1).iloc[:, 1].mul(-1).mean()
        for loss in (*dict.fromkeys(LOSSES.values()), "expected_cost")
        if f"{INSIDE}{loss}" in scores
    }
    told = ", ".join(
        f"`{loss}` {_signed(gap)}" for loss, gap in sorted(inside.items(), key=lambda one: -one[1])
    )
    return [
        f"- **Most of the poor figures are those of fixed rounds.** The median algorithm scores "
        f"{_number(printed)} as printed and {_number(tuned)} tuned.",
        f"- **Tuned, {len(close)} of {len(lines)} come within 0.02 of `CostBoostClassifier`**"
        + (f": {', '.join(close)}." if len(close) else ".")
        + f" {len(worse)} are measurably worse (Wilcoxon over problems, p < 0.05, each alone)"
        + (f"; measurably better: {', '.join(better)}." if len(better) else ", none is better."),
        "- **A paper's loss on modern trees** (mean difference to `CostBoostClassifier()`, which "
        f"learns probabilities and decides by expected cost): {told}.",
    ]


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
        "they are: where half of them are cheaper, it is not luck but a weak spot of ours"
        + (f" ({'; '.join(many)})." if many else " (no problem so far)."),
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

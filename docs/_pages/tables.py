"""Tables of the pages that follow from measurements in benchmarks/results.

Pages are Markdown that people write. Where a page shows measurements, it has a place for a table:

    <!-- table: NAME -->
    <!-- end of table -->

`python docs/build.py tables` fills all places. Each function below makes the table of one name.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
from scipy.stats import binomtest, wilcoxon

ROOT = Path(__file__).resolve().parents[2]
DOCS = ROOT / "docs"
RESULTS = ROOT / "benchmarks" / "results"
PLACE = re.compile(r"(<!-- table: (\S+) -->\n).*?(<!-- end of table -->)", flags=re.DOTALL)


def fill(text: str, tables: dict[str, Callable[[], str]]) -> str:
    """Return the text of a page with the tables that it has places for."""
    return PLACE.sub(lambda place: f"{place[1]}\n{tables[place[2]]()}\n\n{place[3]}", text)


# ------------------------------------------------------------------------------------- shared


def read(name: str) -> pd.DataFrame:
    """Read the rows of a benchmark, each with its commit, cores and versions."""
    rows = pd.read_csv(RESULTS / f"{name}.csv")
    sources = pd.read_csv(RESULTS / "sources.csv")
    return rows.merge(sources, on="source", how="left")


def markdown(headings: Sequence[str], rows: Iterable[Iterable[object]], about: str = "") -> str:
    """Return a Markdown table, and a line about it.

    A heading that ends with a colon stands above a column of numbers.
    """
    lines = [
        f"| {' | '.join(heading.removesuffix(':') for heading in headings)} |",
        f"|{''.join('---:|' if heading.endswith(':') else '---|' for heading in headings)}",
    ]
    for row in rows:
        lines.append(f"| {' | '.join(str(cell) for cell in row)} |")
    if about:
        lines += ["", about]
    return "\n".join(lines)


def commits(rows: pd.DataFrame) -> str:
    """Return the commits at which rows were measured."""
    names = ", ".join(sorted(rows["commit"].unique()))
    return f"commit {names}"


def machine(rows: pd.DataFrame) -> str:
    """Return where rows were measured."""
    first = rows.iloc[0]
    return f"{first['cores']} cores, load up to {rows['load'].max():.0f}, {commits(rows)}"


def number(value: float) -> str:
    """Return a score with three decimals; nothing for what was not measured."""
    if np.isnan(value):
        return ""
    return f"{value:.3f}".replace("-", "−")


def signed(value: float) -> str:
    """Return a difference of scores with its sign."""
    return f"{value:+.3f}".replace("-", "−")


def amount(cost: float) -> str:
    """Return a sum of money with three digits: more would be noise."""
    if cost >= 1e6:
        return f"{cost / 1e6:.1f} M"
    digits = max(0, len(str(int(cost))) - 3)
    return f"{int(round(cost, -digits)):,}"


# ----------------------------------------------------------------------- gain.md: held-out costs

OURS = "CostBoost"
CALIBRATED = "LightGBM calibrated + Bayes"
LIKELIEST = "LightGBM"
CHEAPEST = "LightGBM + Bayes"  # decisions of least expected cost of the same models
GAIN_METHODS = {
    OURS: "costboost",
    CALIBRATED: "LightGBM, calibrated, cheapest decision",
    LIKELIEST: "LightGBM, likeliest class",
}
# Data sets with costs of their own, and the money they are in.
MONEY = {
    "creditcard_subset": ("Card payments: which to stop", " €"),
    "bankmarketing": ("Bank marketing: whom to call", " €"),
    "creditscoring1": ("Consumer credit: whom to lend to", ""),
    "credit_default": ("Credit cards: whom to give credit", " NT$"),
}
PROBLEM = ["data", "costs"]


def held_out() -> pd.DataFrame:
    """Read the held-out costs, without the runs on all rows of large sets."""
    rows = read("held_out_cost")
    is_whole_set = rows["data"].str.contains("(all", regex=False)
    return rows[rows["score"].notna() & ~is_whole_set & (rows["group"] != "hidden")]


def by_method(rows: pd.DataFrame, column: str) -> pd.DataFrame:
    """Return the mean over splits, a row per problem and a column per method."""
    return rows.pivot_table(column, PROBLEM, "method")


def constant_cost(rows: pd.DataFrame) -> float:
    """Return the cost of the best constant decision on the rows of one split.

    The score counts what a decision costs beyond the cheapest one, so costs and scores of methods
    lie on a line. The constant decision has the score 0.
    """
    _, intercept = np.polyfit(rows["score"], rows["mean_cost"], deg=1)
    return float(intercept)


def gain_money() -> str:
    """What a thousand cases cost."""
    rows = held_out()
    rows = rows[rows["costs"] == "row costs"]
    lines = []
    for data, (title, unit) in MONEY.items():
        mine = rows[rows["data"] == data]
        costs = [mine.loc[mine["method"] == m, "mean_cost"].mean() for m in GAIN_METHODS]
        constants = [constant_cost(split) for _, split in mine.groupby("split")]
        costs.append(np.mean(constants))
        cells = [f"{amount(1_000 * cost)}{unit}" for cost in costs]
        best = int(np.argmin(costs))
        cells[best] = f"**{cells[best]}**"
        lines.append([title, *cells])
    headings = [*(f"{title}:" for title in GAIN_METHODS.values()), "one decision for all:"]
    shown = rows[rows["method"].isin(GAIN_METHODS)]
    about = f"Mean of {shown['split'].nunique()} splits. `make bench-costs`, {commits(shown)}."
    return markdown(["1,000 cases", *headings], lines, about)


def gain_threshold() -> str:
    """How many times as much the likeliest class costs as the cheapest decision."""
    rows = held_out()
    costs = by_method(rows, "mean_cost")[[LIKELIEST, CHEAPEST]]
    costs = costs[(costs > 0).all(axis=1)]  # a ratio means nothing where there are profits
    ratio = costs[LIKELIEST] / costs[CHEAPEST]
    cells = [f"{ratio.quantile(share):.1f} times" for share in (0.25, 0.5, 0.75)]
    headings = ["problems:", "lower quarter:", "median:", "upper quarter:"]
    about = f"`make bench-costs`, {commits(rows[rows['method'].isin([LIKELIEST, CHEAPEST])])}."
    return markdown(headings, [[len(ratio), *cells]], about)


def gain_differences() -> str:
    """Our score less that of calibrated LightGBM, by the number of training rows."""
    rows = held_out()
    rows = rows[rows["development"].astype(int) == 0]
    scores = by_method(rows, "score")
    gaps = scores[OURS] - scores[CALIBRATED]
    size = by_method(rows, "n_train")[OURS]
    parts = {
        "up to 1,000": gaps[size <= 1_000],
        "1,001 to 5,000": gaps[(size > 1_000) & (size <= 5_000)],
        "more than 5,000": gaps[size > 5_000],
    }
    lines = []
    for name, part in parts.items():
        better = (part > 0.003).sum()
        worse = (part < -0.003).sum()
        lines.append([name, len(part), signed(part.median()), signed(part.mean()), better, worse])
    headings = ["training rows", "problems:", "median:", "mean:", "better:", "worse:"]
    return markdown(headings, lines)


def gain_methods() -> str:
    """Mean score and seconds of a training, over all problems."""
    rows = held_out()
    scores = by_method(rows, "score").mean()
    seconds = by_method(rows, "fit_seconds").mean()
    lines = [
        [title, number(scores[method]), f"{seconds[method]:.1f}"]
        for method, title in GAIN_METHODS.items()
    ]
    shown = rows[rows["method"].isin(GAIN_METHODS)]
    about = (
        f"{len(shown[PROBLEM].drop_duplicates())} problems of {shown['data'].nunique()} data sets. "
        f"`make bench-costs`, {commits(shown)}."
    )
    return markdown(["method", "score:", "seconds:"], lines, about)


def gain_hidden() -> str:
    """Scores where the costs of a row are known in training only."""
    rows = read("hidden_costs")
    lines = []
    for data, mine in rows.groupby("data", sort=False):
        by_mean = mine["mean costs"].mean()
        learned = mine["learned costs"].mean()
        known = mine["(costs told)"].mean()
        lines.append(
            [data, number(by_mean), number(learned), signed(learned - by_mean), number(known)]
        )
    headings = ["data", "mean costs:", "learned costs:", "gain:", "costs known after all:"]
    about = (
        f"Mean of {rows['split'].nunique()} splits. `python benchmarks/hidden_costs.py`, "
        f"{commits(rows)}."
    )
    return markdown(headings, lines, about)


def gain_estimates() -> str:
    """The estimated score less the score on test rows, of every fit with an estimate."""
    rows = held_out()
    rows = rows[(rows["method"] == OURS) & rows["estimated"].notna()]
    gaps = rows["estimated"] - rows["score"]
    values = [gaps.quantile(0.25), gaps.median(), gaps.quantile(0.75), gaps.mean()]
    headings = ["fits:", "lower quarter:", "median:", "upper quarter:", "mean:"]
    about = f"`make bench-costs`, {commits(rows)}."
    return markdown(headings, [[len(gaps), *(signed(value) for value in values)]], about)


# ------------------------------------------------------------------------------- choosing.md

METHODS = {
    OURS: "`CostBoostClassifier`",
    "CostBoost, effort=fast": '`CostBoostClassifier(effort="fast")`',
    "MinCost": '`MinCostClassifier(calibration="sigmoid")`',
    "AdaMEC": "`AdaMECClassifier`",
    "AsyBL": "`AsyBLClassifier(learning_rate=0.1)`",
    "CSLogitBoost": '`CSLogitBoostClassifier(learning_rate=0.1, estimator="tree")`',
    "AdaC2": "`AdaC2Classifier`",
    "Lp-CSB": "`LpCSBClassifier`",
    "MCBoost GLL": '`MCBoostClassifier(loss="gll")`',
    CALIBRATED: "LightGBM, calibrated, cheapest decision",
    "LightGBM early-stopped + Bayes": "LightGBM, early-stopped, cheapest decision",
    "LightGBM cost-weighted": "LightGBM, rows weighted by costs",
    LIKELIEST: "LightGBM, costs unknown to it",
}
GROUPS = {"per row": "costs per row", "binary": "two classes", "multi-class": "many classes"}
TIE = 0.001  # of the score
SPEED_RIVALS = {
    "lightgbm.train": "`lightgbm.train` with as many trees",
    "sklearn AdaBoost": "scikit-learn's `AdaBoostClassifier`",
}


def choosing_held_out() -> str:
    """Scores of each method beside ours on the same problems."""
    rows = held_out()
    rows = rows[rows["method"].isin(METHODS)]
    scores = by_method(rows, "score")
    group = rows.groupby(PROBLEM)["group"].first()
    seconds = rows.groupby("method")["fit_seconds"].mean()
    gaps = scores.sub(scores[OURS], axis=0)
    lines = []
    for method in gaps.mean().sort_values(ascending=False, kind="stable").index:
        mine = scores[method].dropna()
        means = [number(mine[group == name].mean()) for name in GROUPS]
        beside = [number(scores.loc[mine.index, OURS].mean()), (gaps[method] > TIE).sum()]
        if method == OURS:
            beside = ["", ""]
        lines.append(
            [
                METHODS[method],
                len(mine),
                *means,
                number(mine.mean()),
                number(mine.median()),
                *beside,
                f"{seconds[method]:.1f}",
            ]
        )
    names = ["problems", *GROUPS.values(), "all", "median", "CostBoost there", "cheaper on"]
    headings = ["method", *(f"{name}:" for name in [*names, "seconds"])]
    return markdown(headings, lines, f"`make bench-costs`, {commits(rows)}.")


def choosing_speed() -> str:
    """How long the vote algorithms take, beside LightGBM and scikit-learn."""
    rows = read("speed")
    rows = rows[(rows["section"] == "a") & rows["rival"].isin(SPEED_RIVALS)]
    lines = []
    for rival, mine in rows.groupby("rival"):
        ratio = mine["ours"] / mine["theirs"]
        lines.append([SPEED_RIVALS[rival], len(ratio), f"{ratio.min():.2g}", f"{ratio.max():.2g}"])
    headings = ["beside", "algorithms:", "times as long, from:", "to:"]
    return markdown(headings, lines, f"`make bench-speed`, {machine(rows)}.")


# Published algorithms, treated fairly: which loss of the library an algorithm descends.
TUNED = ", tuned"
INSIDE = "CostBoost, loss="
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
    "calibrated AdaBoost, decided by the costs": "AdaMEC",
    "costs as weights, at the start or over the rounds": "AdaBoostC AsymmetricAdaBoost RareBoost",
    "costs in every update of the weights": "AdaC1 AdaC2 AdaC3 AdaCost CSB0 CSB1 CSB2",
    "a loss with the costs inside": (
        "AsyB AsyBL CSAdaBoost CSRealBoost CSLogitBoost GradientCSB MCBoost"
    ),
    "rows drawn or weighted by cost, for any learner": "AverageCost Costing DSE GBSE LpCSB",
    "pairs of rows and classes": "AdaBoostM2 AdaCostM2 CSB2M2 SAMMEC2",
}
RIVALS = {
    "MinCost": '`MinCostClassifier(calibration="sigmoid")`',
    CHEAPEST: "LightGBM, cheapest decision",
    "CostBoost, effort=fast": '`CostBoostClassifier(effort="fast")`',
    f"{INSIDE}expected_cost": "csboost's loss in CostBoost",
}


def fair() -> pd.DataFrame:
    """Read the scores of published algorithms, as they come and tuned."""
    rows = read("fair")
    rows = rows[rows["score"].notna()]
    return rows.assign(problem=rows["data"] + ", " + rows["costs"])


def tuned_names(scores: pd.DataFrame) -> list[str]:
    """Return the published algorithms among the columns."""
    return [name for name in scores if f"{name}{TUNED}" in scores]


def fair_algorithms() -> str:
    """Each published algorithm beside `CostBoostClassifier`."""
    rows = fair()
    scores = rows.pivot_table("score", "problem", "method")
    seconds = rows.groupby("method")["fit_seconds"].mean()
    published = tuned_names(scores)
    lines = []
    for name in [*published, *RIVALS]:
        best = name
        as_it_comes = np.nan
        if name in published:
            best = f"{name}{TUNED}"
        both = scores[[best, OURS]].dropna()
        gap = both[best] - both[OURS]
        if name in published:
            as_it_comes = scores.loc[both.index, name].median()
        its_loss = f"{INSIDE}{LOSSES.get(name)}"
        inside = np.nan
        if its_loss in scores:
            inside = scores.loc[both.index, its_loss].mean()
        half = 1.96 * gap.std() / np.sqrt(len(gap))
        won = (gap > TIE).sum()
        lost = (gap < -TIE).sum()
        cells = [
            RIVALS.get(name, f"`{name}`"),
            len(both),
            number(as_it_comes),
            number(both[best].mean()),
            number(inside),
            number(both[OURS].mean()),
            f"{signed(gap.mean())} ± {half:.3f}",
            f"{wilcoxon(gap).pvalue:.3f}",
            f"{won}, {lost}",
            f"{seconds[best]:.1f}",
        ]
        lines.append((gap.mean(), cells))
    lines.sort(key=lambda line: line[0], reverse=True)
    headings = ["algorithm", "problems:", "as it comes:", "tuned:", "its loss:", "CostBoost:"]
    headings += ["tuned less CostBoost:", "p:", "cheaper, costlier on:", "seconds:"]
    about = f"`python -m benchmarks.fair`, {commits(rows)}."
    return markdown(headings, [cells for _, cells in lines], about)


def fair_ideas() -> str:
    """The algorithms by what they do with the costs, on the problems that all of them take."""
    scores = fair().pivot_table("score", "problem", "method").dropna()
    lines = []
    for idea, words in IDEAS.items():
        names = words.split()
        tuned = scores[[f"{name}{TUNED}" for name in names]]
        mean = tuned.to_numpy().mean()
        best = tuned.mean().idxmax()
        lines.append(
            [
                idea,
                len(names),
                number(np.median(scores[names])),
                number(mean),
                signed(mean - scores[OURS].mean()),
                f"`{best.removesuffix(TUNED)}` {number(tuned[best].mean())}",
            ]
        )
    headings = ["idea", "algorithms:", "as it comes, median:", "tuned:", "tuned less CostBoost:"]
    return markdown([*headings, "best"], lines, f"{len(scores)} problems of two classes.")


def fair_losses() -> str:
    """A paper's loss on modern trees, beside probabilities and expected costs."""
    scores = fair().pivot_table("score", "problem", "method")
    lines = []
    for name in [name for name in scores if name.startswith(INSIDE)]:
        gap = (scores[name] - scores[OURS]).dropna()
        title = f"`{name.removeprefix(INSIDE)}`"
        cells = [title, len(gap), signed(gap.median()), (gap > TIE).sum()]
        lines.append((gap.median(), cells))
    lines.sort(key=lambda line: line[0], reverse=True)
    headings = ["loss", "problems:", "median difference:", "cheaper on:"]
    return markdown(headings, [cells for _, cells in lines])


def fair_beaten() -> str:
    """Problems where a published algorithm costs less than CostBoost, most first."""
    scores = fair().pivot_table("score", "problem", "method")
    tuned = scores[[f"{name}{TUNED}" for name in tuned_names(scores)]]
    lines = []
    for problem, gaps in tuned.sub(scores[OURS], axis=0).iterrows():
        gaps = gaps.dropna()
        if gaps.max() <= TIE:
            continue
        ours = scores.loc[problem, OURS]
        won = (gaps > TIE).sum()
        best = gaps.idxmax().removesuffix(TUNED)
        cells = [problem, f"{won} of {len(gaps)}", best, number(gaps.max() + ours), number(ours)]
        lines.append((won / len(gaps), cells))
    lines.sort(key=lambda line: line[0], reverse=True)
    headings = ["problem", "cheaper:", "best of them", "its score:", "CostBoost:"]
    about = f"{len(lines)} of {len(scores)} problems."
    return markdown(headings, [cells for _, cells in lines], about)


# ---------------------------------------------------------------------------- guide/effort.md

EFFORTS = {
    "CostBoost, effort=fast": '`"fast"`',
    OURS: '`"balanced"`',
    "CostBoost, effort=high": '`"high"`',
    "AutoGluon + Bayes": "AutoGluon, cheapest decision",
}


def efforts() -> pd.DataFrame:
    """Read the held-out costs of the efforts, on sets that had no part in choosing defaults."""
    rows = held_out()
    return rows[(rows["development"].astype(int) == 0) & rows["method"].isin(EFFORTS)]


def effort_seconds() -> str:
    """Processor seconds of a training, by the number of training rows."""
    rows = efforts()
    keys = [*PROBLEM, "split"]
    seconds = rows.pivot_table("fit_seconds", keys, "method")
    size = rows.groupby(keys)["n_train"].first()
    parts = {
        "up to 300:": size <= 300,
        "301 to 3,000:": (size > 300) & (size <= 3_000),
        "more:": size > 3_000,
    }
    lines = []
    for method, title in EFFORTS.items():
        times = seconds[method] / seconds[OURS]
        unit = "times as long"
        if method == OURS:
            times = seconds[OURS]
            unit = "seconds"
        cells = [""] * len(parts)
        for i, part in enumerate(parts.values()):
            if times[part].notna().any():
                cells[i] = f"{times[part].median():.2g}"
        lines.append([f"{title}, {unit}", *cells])
    return markdown(["effort", *parts], lines)


def effort_scores() -> str:
    """Score less that of "balanced" on the same problems and splits."""
    rows = efforts()
    scores = rows.pivot_table("score", [*PROBLEM, "split"], "method")
    lines = []
    for method, title in EFFORTS.items():
        if method == OURS:
            continue
        gaps = (scores[method] - scores[OURS]).dropna().groupby(PROBLEM).mean()
        better = (gaps > 0.003).sum()
        worse = (gaps < -0.003).sum()
        lines.append([title, len(gaps), signed(gaps.mean()), signed(gaps.median()), better, worse])
    headings = ["effort", "problems:", "mean:", "median:", "better:", "worse:"]
    return markdown(headings, lines, f"`make bench-costs`, {commits(rows)}.")


# ----------------------------------------------------------------------------------- scale.md


def scale_growth() -> str:
    """Seconds of one booster by rows, features, classes and threads."""
    rows = read("scale")
    seconds = {}
    for row in rows.to_dict("records"):
        varied = row["varied"]
        seconds.setdefault((varied, row[varied]), {})[row["engine"]] = row["seconds"]
    lines = []
    for (varied, value), times in seconds.items():
        unit = varied
        if value == 1:
            unit = varied.removesuffix("s")
        cells = [f"{times[engine]:.1f}" for engine in ("lightgbm", "xgboost")]
        lines.append([f"{value:,} {unit}", *cells])
    return markdown(["", "LightGBM:", "XGBoost:"], lines, f"On {machine(rows)}.")


def scale_efforts() -> str:
    """Processor seconds of the efforts against a recipe by hand."""
    rows = read("effort_speed")
    sizes = list(rows["section"].unique())
    ours = rows.pivot(index="what", columns="section", values="ours")
    lines = []
    for effort in ("fast", "balanced", "high"):
        for costs in ("matrix", "row costs"):
            seconds = ours.loc[f"{effort}, {costs}", sizes]
            lines.append([f"`{effort}`, {costs}", *(f"{value:.2g}" for value in seconds)])
    recipe = rows.groupby("section")["theirs"].last()[sizes]
    lines.append(["the recipe", *(f"{value:.2g}" for value in recipe)])
    headings = ["effort", *(f"{size}:" for size in sizes)]
    return markdown(headings, lines, f"On {machine(rows)}.")


def comparison(name: str) -> str:
    """Seconds of ours against a rival's, with the target that we have set."""
    rows = read(name)
    columns = ["what", "ours", "rival", "theirs", "ratio", "target", "met"]
    headings = ["what", "seconds:", "against", "seconds:", "ratio:", "target", "met"]
    lines = rows[columns].astype(object).to_numpy()
    return markdown(headings, lines, f"On {machine(rows)}.")


def scale_parquet() -> str:
    """Memory and seconds of training from files, against training in memory."""
    rows = read("out_of_core")
    lines = []
    for row in rows.to_dict("records"):
        cells = [f"{row['rows']:,}", f"`{row['method']}`", f"{row['seconds']:.0f}"]
        for column in ("peak_mb", "anonymous_mb", "mapped_mb", "disk_mb", "savings"):
            cells.append(row[column])
        lines.append(cells)
    headings = ["rows:", "method", "seconds:", "peak MB:", "own MB:", "mapped MB:", "disk MB:"]
    return markdown([*headings, "estimated savings:"], lines, f"On {machine(rows)}.")


# ---------------------------------------------------------------------------- cli.md, serve.md

STEPS = {
    "check": "`costboost data check`: columns, classes, costs in words",
    "fit": "`costboost fit`: 4,000 rows train, 1,000 later ones are held out; verdict",
    "predict": "`costboost predict`: 5,000 decisions",
    "report": "`costboost report`: the page about the held-out rows",
    "serve": "`costboost serve`, to the answer of one `curl`",
}


def walk() -> str:
    """Seconds of each step from a file to a service."""
    rows = read("walk")
    medians = rows.groupby("step")[["processor_seconds", "seconds"]].median()
    lines = []
    for step, words in STEPS.items():
        processor = medians.loc[step, "processor_seconds"]
        lines.append([words, f"{processor:.1f}", f"{medians.loc[step, 'seconds']:.1f}"])
    about = (
        f"Medians of {rows['round'].nunique()} runs in new processes. "
        f"`make bench-speed`, {machine(rows)}."
    )
    return markdown(["step", "processor seconds:", "seconds:"], lines, about)


SERVICE_RIVALS = {
    "bare": "a bare FastAPI handler",
    "in process": "`model.decide` in process",
    "without": "the service without it",
}
SERVICE_WORDS = {
    "CPU": "processor time",
    "p50": "median time",
    "p99": "99th percentile of the time",
    "requests": "requests at once",
}


def serve_load() -> str:
    """The service under load, beside a bare handler."""
    rows = read("serve_load")

    def figure(value: float, unit: str) -> str:
        if value > 999:
            return f"{value:,.0f} {unit}"
        return f"{value:.3g} {unit}"

    lines = []
    for row in rows.to_dict("records"):
        measure, *details = row["what"].split(", ")
        what = [row["section"], SERVICE_WORDS.get(measure, measure), *details]
        ours = figure(row["ours"], row["unit"])
        theirs = figure(row["theirs"], row["unit"])
        ratio = f"{row['ratio']:.2f}"
        lines.append([", ".join(what), ours, SERVICE_RIVALS[row["rival"]], theirs, ratio])
    headings = ["what", "service:", "beside", "its figure:", "ratio:"]
    return markdown(headings, lines, f"`make bench-speed`, {machine(rows)}.")


# -------------------------------------------------------------------------------- verdicts.md


def verdict_line(cells: pd.DataFrame) -> list[str]:
    """Return what every line about cells of the grid says."""
    draws = cells["draws"].sum()
    covered = cells["covered"].sum()
    interval = binomtest(int(covered), int(draws)).proportion_ci(method="wilson")
    losing = cells["losing"].sum()
    told = ""
    if losing < draws:
        told = number(cells["paying_said_to_pay"].sum() / (draws - losing))
    return [
        f"{draws:,}",
        f"{number(covered / draws)} ({number(interval.low)} to {number(interval.high)})",
        number(cells["below"].sum() / draws),
        signed(np.average(cells["bias"], weights=cells["draws"])),
        number(np.average(cells["width"], weights=cells["draws"])),
        told,
        f"{cells['losing_said_to_pay'].sum()} of {losing}",
    ]


VERDICT_HEADINGS = (
    "draws:",
    "covers (95 %):",
    "truth below:",
    "bias:",
    "width:",
    "pays, told so:",
    "loses, said to pay:",
)


def verdicts_pooled() -> str:
    """Coverage of the intervals of estimates by effort, by table and by size."""
    cells = read("verdicts")
    lines = []
    for effort, of_effort in cells.groupby("effort", sort=False):
        lines.append([f"**{effort}**", "all", *verdict_line(of_effort)])
        for table, part in of_effort.groupby("table"):
            lines.append([effort, table, *verdict_line(part)])
        for n_rows, part in of_effort.groupby("n_rows"):
            lines.append([effort, f"{n_rows:,} rows", *verdict_line(part)])
    about = f"Measured at {commits(cells)}."
    return markdown(["effort", "draws of", *VERDICT_HEADINGS], lines, about)


def verdicts_cells() -> str:
    """Coverage of the intervals of estimates in every cell of the grid."""
    lines = []
    keys = ["effort", "table", "n_rows", "group_size", "weights"]
    for (effort, table, n_rows, group_size, weights), part in read("verdicts").groupby(keys):
        special = []
        if group_size:
            special.append(f"groups of {group_size}")
        if weights:
            special.append("weights")
        lines.append([effort, table, f"{n_rows:,}", ", ".join(special), *verdict_line(part)])
    return markdown(["effort", "table", "rows:", "", *VERDICT_HEADINGS], lines)


# -------------------------------------------------------------------------------- promises.md


def trust_runs() -> str:
    """The parts of the last `make trust`."""
    reports = json.loads((DOCS / "trust.json").read_text("utf-8"))
    lines = []
    for part, report in reports.items():
        seconds = report["processor_seconds"] or "not measured"
        lines.append([f"`{part}`", report["seed"], report["violations"], seconds])
    return markdown(["part", "seed:", "violations:", "processor seconds:"], lines)


def trust_counts() -> str:
    """What the parts of the last `make trust` counted."""
    reports = json.loads((DOCS / "trust.json").read_text("utf-8"))
    lines = []
    for part, report in reports.items():
        for what, value in report["counts"].items():
            # Single laws are many; docs/trust.json has them.
            if what.startswith("inputs of ") or what.endswith("were planned"):
                continue
            if isinstance(value, int):
                value = f"{value:,}"
            lines.append([f"`{part}`", what, value])
    return markdown(["part", "counted", ""], lines)


TABLES: dict[str, Callable[[], str]] = {
    "gain_money": gain_money,
    "gain_threshold": gain_threshold,
    "gain_differences": gain_differences,
    "gain_methods": gain_methods,
    "gain_hidden": gain_hidden,
    "gain_estimates": gain_estimates,
    "choosing_held_out": choosing_held_out,
    "choosing_speed": choosing_speed,
    "fair_algorithms": fair_algorithms,
    "fair_ideas": fair_ideas,
    "fair_losses": fair_losses,
    "fair_beaten": fair_beaten,
    "effort_seconds": effort_seconds,
    "effort_scores": effort_scores,
    "scale_growth": scale_growth,
    "scale_efforts": scale_efforts,
    "scale_classifier": partial(comparison, "classifier_speed"),
    "scale_objectives": partial(comparison, "gbm_speed"),
    "scale_workers": partial(comparison, "dask_speed"),
    "scale_parquet": scale_parquet,
    "walk": walk,
    "serve_load": serve_load,
    "verdicts_pooled": verdicts_pooled,
    "verdicts_cells": verdicts_cells,
    "trust_runs": trust_runs,
    "trust_counts": trust_counts,
}

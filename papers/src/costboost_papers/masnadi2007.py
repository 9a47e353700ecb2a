"""Masnadi-Shirazi and Vasconcelos 2007, “Cost-sensitive boosting”.

The tables of the report survive as text without their numbers, so the printed figures here are the
ones that its sentences state.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from scipy.stats import norm

from costboost._typing import Bools, Floats, Ints
from costboost.datasets import bayes_threshold, make_gaussians_1d
from costboost.plots._shared import tidy
from costboost_papers.grading import Conclusion, Kept, Part, paired, rank_parts, wins
from costboost_papers.item import SUMMARY_COLUMNS, Item, Mode, Task, wide
from costboost_papers.masnadi2007_faces import ADDED, ALGORITHMS, EARLIER, NEW, Figure4, classifier
from costboost_papers.plots import draw_crossings, draw_factors
from costboost_papers.protocol import BinaryData, binary_data, encode, fold, quiet, split_seed

# --- gaussians -----------------------------------------------------------------------------------

DATA = "gaussians"
EVERY = "all costs"
EDGE = 4.0
GRID = np.linspace(-EDGE, EDGE, 4001)
# Masses of both classes in the cells around the points of the grid; the outer cells have no end.
_CELLS = np.concatenate([[-np.inf], (GRID[1:] + GRID[:-1]) / 2.0, [np.inf]])
_POSITIVE, _NEGATIVE = (np.diff(norm.cdf(_CELLS, loc=mean)) for mean in (1.0, -1.0))


def crossing(positive: Bools) -> float:
    """Threshold of the rule "+1 from x* on" that agrees best with the decisions."""
    # For a score with one change of sign from - to + this is its zero crossing. Wiggles in the
    # tails hardly move it, and a change from + to - is not taken for one.
    mass = _POSITIVE + _NEGATIVE
    flagged_below = np.concatenate([[0.0], np.cumsum(mass * positive)])
    passed_above = np.concatenate([np.cumsum((mass * ~positive)[::-1])[::-1], [0.0]])
    best = int(np.argmin(flagged_below + passed_above))
    return float(np.clip(_CELLS[best], -EDGE, EDGE))


def cost_ratio(positive: Bools, C1: float) -> float:
    """Expected cost of decisions, in units of the cost of the best ones."""
    paid = C1 * _POSITIVE[~positive].sum() + _NEGATIVE[positive].sum()
    best = bayes_threshold(C1)
    return float(paid / (C1 * norm.cdf(best - 1.0) + norm.sf(best + 1.0)))


def scores(algorithm: str, C1: float, rounds: int, X: Floats, y: Any, **more: Any) -> Floats:
    """Scores on the grid by round, (rounds, 4001); a boosting that ended keeps its last one."""
    with quiet():
        fitted = classifier(algorithm, C1, rounds, **more).fit(X, y)
    staged = np.array(list(fitted.staged_decision_function(GRID[:, None])))
    return staged[np.minimum(np.arange(rounds), len(staged) - 1)]


# --- reading -------------------------------------------------------------------------------------

SETS = (
    "pima", "wdbc", "wpbc", "wbc", "liver", "sonar", "echocardiogram", "cleveland", "tic-tac-toe",
    "haberman",
)  # fmt: skip
MEAN = "mean over f"  # the setting of the figures that the paper tabulates
# The metrics of the summary and what they mean.
PROTOCOLS = {
    "min ε, 50 rounds": "cost searched on the test folds, 50 rounds",
    "min ε, 10 rounds": "cost searched on the test folds, 10 rounds",
    "ε, inner search": "cost and rounds searched inside the training folds",
}
HEAD, *OTHERS = PROTOCOLS


def cost_of(setting: str) -> float:
    """5.0 of ``"C1=5"``."""
    return float(setting.removeprefix("C1="))


def by_cost(summary: pd.DataFrame, metric: str) -> pd.DataFrame:
    """A row per cost, a column per new algorithm."""
    table = wide(summary, metric).droplevel("dataset").drop(EVERY, errors="ignore")
    return table.rename(index=cost_of).sort_index()[[name for name in NEW if name in table]]


def by_set(summary: pd.DataFrame, metric: str) -> pd.DataFrame:
    """Mean ε over f: a row per set, a column per algorithm."""
    table = wide(summary[summary["setting"] == MEAN], metric).droplevel("setting")
    rows = [name for name in SETS if name in table.index]
    return table.loc[rows, [name for name in ALGORITHMS if name in table]]


# --- verdicts ------------------------------------------------------------------------------------

GOOD = 0.1
NEARNESS = (
    "0.1 on the axis of x: the paper calls -0.7352 a good solution, which is 0.07 from -0.8047"
)
COSTLY = ("C1=5", "C1=20")


def judge_figure2(item: Item, summary: pd.DataFrame) -> list[Conclusion]:
    """Real and Logit are accurate, Ada less so."""
    claim, kept = partial(Conclusion, limit=NEARNESS), Kept(summary)
    return [
        claim(
            "CS-RealBoost and CS-LogitBoost produce accurate detectors over a wide range of costs.",
            f"a mean distance |x* + T/2| above {GOOD}",
            [
                Part.below(name, *kept.interval(DATA, name, EVERY, "distance"), GOOD)
                for name in NEW[1:]
            ],
            "A histogram's crossing is as sharp as its bins, which are wide in the tails, where "
            "large cost ratios put the boundary; a line has no such limit, but needs more Newton "
            "steps when the costs are far apart.",
            said="“It is clear that both Real and LogitBoost produce accurate cost-sensitive "
            "detectors” (section 5.1)",
            test=f"t over the samples of the mean distance over the costs, room to {GOOD}",
        ),
        claim(
            "CS-AdaBoost has difficulties.",
            "a mean distance that is not above that of the other two",
            [
                Part.gap(f"above {name}", *kept.gap(name, NEW[0], DATA, EVERY, "distance"), GOOD)
                for name in NEW[1:]
            ],
            "A vote of five stumps takes few values, so its sign changes at one of a few "
            "thresholds.",
            said="“The difficulties of AdaBoost are due to the restriction of the predictor to a "
            "combination of binary functions” (section 5.1)",
            test="Paired t over the samples, mean distance over the costs",
        ),
    ]


def judge_figure3(item: Item, summary: pd.DataFrame) -> list[Conclusion]:
    """The classes of behaviour that the paper describes, and the numbers that it prints."""
    claim, kept = partial(Conclusion, limit=NEARNESS), Kept(summary)

    def at(name: str, metric: str, setting: str) -> tuple[float, float]:
        return kept.interval(DATA, name, setting, metric)

    def never_good(names: Sequence[str]) -> list[Part]:
        return [
            Part.above(f"{name}, {setting}", *at(name, "late distance", setting), GOOD)
            for name in names
            for setting in COSTLY
        ]

    def as_printed(name: str, setting: str, metric: str, value: float) -> Part:
        mean, half = at(name, metric, setting)
        return Part.close(f"{metric} ({mean:.3f}, paper {value})", mean - value, half, GOOD)

    far = "t over the samples: mean distance from the Bayes crossing over rounds 26 to 50"
    return [
        claim(
            "AdaC1 and AdaCost never produce a crossing other than the cost-blind x* = 0.",
            f"a crossing further than {GOOD} from 0 with the best training cost",
            [
                Part.close(f"{name}, {setting}", *at(name, "crossing", setting), GOOD)
                for name in ("AdaC1", "AdaCost")
                for setting in COSTLY
            ],
            "AdaC1's first stump ignores the costs and its vote outweighs the later ones. "
            "AdaCost's initial weights carry the costs here, as published. Every training cost "
            "above 1 that we tried leaves AdaCost with one constant rule (x* = -4), so the search "
            "ends at 1, which is AdaBoost without costs.",
            said="“never produced any solutions other than the cost-insensitive optimal x* = 0” "
            "(section 5.1)",
            test=f"t over the samples: room of |x*| after 50 rounds to {GOOD}",
        ),
        claim(
            "CSB0, AdaC2 and AdaC3 never converge to a meaningful crossing.",
            f"a distance that stays below {GOOD}",
            never_good(("CSB0", "AdaC2", "AdaC3")),
            "These updates multiply the weights by the costs in every round, so that the costly "
            "class gains without end unless the training cost is close to 1. A search finds a "
            "cost whose drift is at the target in round 50, or whose boosting ended there "
            "because a vote was not positive; neither is convergence.",
            said="“never converged to any meaningful solution” (section 5.1)",
            test=f"{far}, above {GOOD}",
        ),
        claim(
            "CSB1 and CSB2 tend to the right crossing but do not reach it.",
            f"a distance that stays below {GOOD}",
            never_good(("CSB1", "CSB2")),
            said="“showed some tendency to converge to the right solution, but were really not "
            "able to” (section 5.1)",
            test=f"{far}, above {GOOD}",
        ),
        claim(
            "CS-AdaBoost converges to a good crossing.",
            f"a distance above {GOOD} in rounds 26 to 50",
            [
                Part.below(setting, *at("CS-AdaBoost", "late distance", setting), GOOD)
                for setting in COSTLY
            ],
            "Few stumps have a say, so the crossing is one of their thresholds, and the training "
            "cost moves it.",
            said="“Only cost-sensitive AdaBoost was able to consistently converge to a good "
            "solution in the allotted number of iterations” (section 5.1)",
            test=f"{far}, room to {GOOD}",
        ),
        claim(
            "It takes CS-AdaBoost two rounds for C1 = 20 (Ĉ1 = 4.7) and four for C1 = 5 (4.5).",
            f"crossings further than {GOOD} from the printed ones after these rounds",
            [
                as_printed("CS-AdaBoost", "C1=20", "crossing, Ĉ1=4.7, 2 rounds", -1.4993),
                as_printed("CS-AdaBoost", "C1=5", "crossing, Ĉ1=4.5, 4 rounds", -0.7352),
            ],
            "Two stumps have two thresholds between them, and with Ĉ1 = 4.7 neither is near the "
            "printed crossing. The other one, -0.7352, is not met either.",
            said="“x* = −1.4993 when C1 = 20 in two iterations, and x* = −0.7352 when C1 = 5 in "
            "four iterations” (section 5.1)",
            test=f"t over the samples: room of the difference from the printed x* to {GOOD}",
        ),
        claim(
            "AdaC1's first two rules have votes 0.9056 and 0.2404, thresholds 0.0152 and -0.9186.",
            f"values further than {GOOD} from the printed ones",
            [
                as_printed("AdaC1", "C1=5", "vote of rule 1", 0.9056),
                as_printed("AdaC1", "C1=5", "threshold of rule 1", 0.0152),
                as_printed("AdaC1", "C1=5", "vote of rule 2", 0.2404),
                as_printed("AdaC1", "C1=5", "threshold of rule 2", -0.9186),
            ],
            "The second threshold jumps between both sides of 0 from sample to sample.",
            said="“the first two weak learners had threshold of 0.0152 and −0.9186 but the "
            "corresponding values of α were 0.9056 and 0.2404” (section 5.1)",
            test="t over the samples, Ĉ1 = 1.1 (our choice: the paper does not print AdaC1's "
            f"training cost), not scaled: room to a difference of {GOOD}",
        ),
        claim(
            "The new algorithms are far superior to those previously available.",
            "an earlier algorithm that is as near to the Bayes crossing",
            [
                Part.gap(
                    f"{ours} over {rival}, {setting}",
                    *kept.gap(ours, rival, DATA, setting, "late distance"),
                    least=GOOD,
                )
                for ours in NEW
                for rival in EARLIER
                for setting in COSTLY
            ],
            "Only a loss whose minimiser is the Bayes rule needs no search. AdaBoost started from "
            "cost-proportional weights has one too, and is not among the paper's rivals.",
            said="“the new algorithms are far superior than those previously available”; but also "
            "“only CSB1 and CSB2 achieved performance comparable to that of cost-sensitive "
            "AdaBoost” (section 5.1)",
            test="Paired t over the samples: mean distance over rounds 26 to 50, theirs less ours",
        ),
    ]


def judge_table2(item: Item, summary: pd.DataFrame) -> list[Conclusion]:
    """Section 5.2: the new algorithms on ten sets, by the paper's search and by an honest one."""
    found = []
    for metric, words in PROTOCOLS.items():
        table = by_set(summary, metric)
        paper = table[[*NEW, *EARLIER]]
        tops = paper[list(EARLIER)].min(axis=1)
        missing = [name for name in SETS if name not in table.index]
        claim = partial(Conclusion, own=metric == HEAD, missing=missing)
        found += [
            claim(
                "The new algorithms have a smaller median loss than all earlier ones.",
                "an earlier algorithm that ranks before a new one",
                rank_parts(paper, product(NEW, EARLIER)),
                "On the small sets CS-AdaBoost and CS-RealBoost soon make no misses in training; "
                "the rounds after that remove false alarms alone, and pay with misses on test "
                "rows. Fewer rounds spare them, and lines of one feature, CS-LogitBoost's, do not "
                "fit so closely.",
                said="“All new algorithms have a median loss smaller than those in the "
                "literature” (section 5.2)",
                test=f"Friedman and Nemenyi over the ten sets, {words}: difference of mean ranks",
                limit="ranks in place of medians, which have no test: an interval above 0 is for "
                "it, one below 1 rank against it",
            ),
            claim(
                "Each new algorithm is below all earlier ones on 60 to 90 % of the sets.",
                "a share of sets below 0.6",
                [Part.share(name, wins(table[name], tops), least=0.6) for name in NEW],
                "Seven rivals are beaten at once only if the best of them is, and the least of "
                "seven noisy figures is low: most sets have fewer than 400 rows.",
                said="“outperform all of them in 60 to 90% of the datasets” (section 5.2)",
                test=f"Sign test over the ten sets, {words}: share of sets",
                limit="an interval above half of the sets is for it, one below 60 %, the paper's "
                "lowest share, against it",
            ),
            claim(
                "CS-RealBoost is the best on 7 of 10 sets, CS-LogitBoost on the other 3.",
                "another algorithm that is the best on more sets",
                [_best(paper, [NEW[1]], 0.7), _best(paper, [*NEW[1:]], 0.9)],
                "The report does not say how many bins its histograms have, how they are smoothed, "
                "or how many rounds were run. On sets of this size CS-RealBoost depends on the "
                "rounds, and likely on the other two.",
                said="“is the top performer in 7/10 datasets. Cost-sensitive LogitBoost achieves "
                "the best performance in the remaining three” (section 5.2)",
                test=f"Sign test over the ten sets, {words}: share of sets on which it is the best",
                limit="an interval above half of the sets is for it, one below 70 % "
                "(CS-RealBoost) or 90 % (one of the two) against it",
            ),
        ]
    table = by_set(summary, HEAD)
    return [
        *found,
        Conclusion(
            "They are superior to two that the paper does not compare with: AsymBoost, and "
            "AdaBoost started from cost-proportional weights.",
            "one of these that ranks before a new one",
            rank_parts(table[[*NEW, *ADDED]], product(NEW, ADDED)),
            "Cost-proportional initial weights also minimise a loss whose minimiser is the Bayes "
            "rule, with the same stumps and AdaBoost's own step.",
            test="Friedman and Nemenyi over the ten sets: difference of mean ranks",
            own=False,
        ),
    ]


def _best(table: pd.DataFrame, names: list[str], least: float) -> Part:
    """On how many sets one of some algorithms is below all others."""
    others = table.drop(columns=names).min(axis=1)
    return Part.share(" or ".join(names), wins(table[names].min(axis=1), others), least=least)


# --- tables --------------------------------------------------------------------------------------

FACTORS = (2, 5, 10)
ROUNDS = (5, 10, 20, 50)
REPORTED = (10, 50)
COSTS = {
    "full": (1.0, 1.1, 1.25, 1.5, 2.0, 3.0, 5.0, 8.0, 12.0, 20.0, 30.0),
    "quick": (1.0, 1.5, 5.0),
}
FOLDS, INNER_FOLDS = 5, 3


class Table2(Item):
    """Average minimum ε of twelve algorithms on ten sets."""

    paper = "masnadi2007"
    reads_benchmark_files = True
    name = "table2"
    title = "Average minimum ε = false alarms + f x misses on ten sets, f = 2, 5, 10"
    over_sets = True
    many_rounds = True
    minutes = 2.0
    notes = (
        "Five stratified folds; ε is summed over the folds, the least over the training cost Ĉ1 "
        "is taken per f, and averaged over f in {2, 5, 10}, as the paper does. That search sees "
        "the test folds, so its figures flatter every algorithm; beside it stand figures with Ĉ1 "
        "and the rounds (5, 10, 20 or 50) chosen by three folds inside the training part. The "
        "paper gives neither the rounds (50 as in its Figure 3, and 10, here) nor, in the text "
        "that survives, the range of Ĉ1 (11 values from 1 to 30 here) nor any number of the "
        "table; the printed counts are from its text. Positive (costly) classes are those that the "
        "sets name: diabetes, malignant, recurrence, liver class 1, mines, still alive, heart "
        "disease, x wins, died. Missing numbers are medians, categories are indicator columns, "
        "columns are standardised. Weak learners: stumps; histograms for CS-RealBoost; lines for "
        "CS-LogitBoost. CS-AdaBoost and CS-RealBoost start from equal class totals, as printed. "
        "wpbc keeps its column of recurrence times, which leaks the outcome, for the 33 features "
        "of the literature. AsymBoost and AdaBoostC are not in the paper; "
        "AsymBoost spreads the cost over its 50 rounds, so that fewer show it unfinished."
    )

    def tasks(self, mode: Mode) -> list[Task]:
        sets = SETS if mode == "full" else ("liver", "echocardiogram")
        return self.grid(sets, ALGORITHMS, splits=FOLDS)

    def run(self, task: Task, mode: Mode) -> dict[str, float]:
        """Counts of the test fold by training cost, and ε of the inner search."""
        # ``fp@C@r`` and ``fn@C@r`` are false alarms and misses with training cost C after r rounds;
        # ``ε@f``, ``Ĉ1@f`` and ``rounds@f`` are what the inner search comes to.
        data, seed, costs = binary_data(task.dataset), split_seed(task), COSTS[mode]
        train, test = fold(data.y, FOLDS, task.split, seed)
        outer = _counts(task.algorithm, data, train, test, costs)
        inner = np.zeros_like(outer)
        for number in range(INNER_FOLDS):
            learn, check = fold(data.y[train], INNER_FOLDS, number, seed)
            inner += _counts(task.algorithm, data, train[learn], train[check], costs)
        found = {
            f"{kind}@{cost:g}@{rounds}": float(outer[i, ROUNDS.index(rounds), j])
            for i, cost in enumerate(costs)
            for rounds in REPORTED
            for j, kind in enumerate(("fp", "fn"))
        }
        for f in FACTORS:
            price = np.array([1.0, f])
            i, r = np.unravel_index(np.argmin(inner @ price), inner.shape[:2])
            found |= {
                f"ε@{f}": float(outer[i, r] @ price),
                f"Ĉ1@{f}": float(costs[i]),
                f"rounds@{f}": float(ROUNDS[r]),
            }
        return found

    def summarise(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Per set and algorithm the mean over f; per f the median over the sets."""
        keys = ["dataset", "algorithm", "metric"]
        by_f = _per_factor(rows)
        by_f = by_f[by_f["metric"] != "training C1"]
        splits = rows.groupby(keys[:2], sort=False)["split"].nunique().rename("n")
        means = by_f.groupby(keys, sort=False)["value"].mean().reset_index().join(splits, keys[:2])
        means = means.assign(setting=MEAN, statistic="mean")
        places = pd.concat([by_f, means]).groupby(["algorithm", "setting", "metric"], sort=False)
        medians = places["value"].agg(value="median", n="size").reset_index()
        medians = medians.assign(dataset="all", statistic="median")
        return pd.concat([means, medians], ignore_index=True)

    def table(self, summary: pd.DataFrame) -> pd.DataFrame:
        wide = by_set(summary, HEAD)
        lines = {name: wide.loc[name].round(1).to_dict() for name in wide.index}
        for metric, words in PROTOCOLS.items():
            own = by_set(summary, metric)
            paper, rest = own[[*NEW, *EARLIER]], own[[*NEW, *ADDED]]
            tops = paper.eq(paper.min(axis=1), axis=0).sum()  # ties count
            below = rest.lt(own[list(EARLIER)].min(axis=1), axis=0).sum()
            lines[f"median ε: {words}"] = own.median().round(1).to_dict()
            lines[f"sets with the lowest ε of the paper's: {words}"] = tops.to_dict()
            lines[f"sets with ε below all earlier: {words}"] = below.to_dict()
        printed = self.printed().set_index("algorithm")["value"].astype(int)
        lines["sets with the lowest ε: paper"] = printed.to_dict()
        cells = [[line.get(name, "") for name in wide.columns] for line in lines.values()]
        table = pd.DataFrame(cells, columns=wide.columns, dtype=object)
        table.insert(0, "data set", list(lines))
        return table

    def figure(self, summary: pd.DataFrame) -> Figure | None:
        figure = Figure(figsize=(9.2, 4.2), layout="constrained")
        medians = summary[(summary["dataset"] == "all") & (summary["setting"] != MEAN)]
        for ax, metric in zip(figure.subplots(1, 2), (HEAD, OTHERS[-1]), strict=True):
            own = medians[medians["metric"] == metric]
            wide = own.assign(f=own["setting"].str.removeprefix("f=").astype(int)).pivot(
                index="f", columns="algorithm", values="value"
            )
            lines = {name: wide[name].tolist() for name in ALGORITHMS if name in wide}
            draw_factors(ax, wide.index.tolist(), lines, "median ε over the sets")
            ax.set_title(PROTOCOLS[metric], fontsize=10)
        return figure

    conclusions = judge_table2


class Table1(Table2):
    """The least ε and its training cost by f, of CS-RealBoost on Cleveland."""

    name = "table1"
    title = "Least ε of CS-RealBoost on Cleveland and its training cost, f = 2, 5, 10"
    shares_rows_with = "table2"
    minutes = 0.0
    notes = (
        "Rows and protocol of table2: five folds, 11 training costs from 1 to 30, 50 rounds. The "
        "printed numbers of the table are lost with the text of the report, which calls it an "
        "example."
    )

    def summarise(self, rows: pd.DataFrame) -> pd.DataFrame:
        """ε and Ĉ1 by f."""
        own = rows[(rows["dataset"] == "cleveland") & (rows["algorithm"] == NEW[1])]
        if own.empty:
            return pd.DataFrame(columns=SUMMARY_COLUMNS)
        found = _per_factor(own)
        metric = found["metric"].replace(HEAD, "min ε")
        return found.assign(metric=metric, statistic="mean", n=FOLDS)[~metric.isin(OTHERS)]

    def table(self, summary: pd.DataFrame) -> pd.DataFrame:
        wide = summary.pivot(index="setting", columns="metric", values="value")
        return wide.reindex([f"f={f}" for f in FACTORS]).rename_axis(columns=None).reset_index()

    def figure(self, summary: pd.DataFrame) -> Figure | None:
        return None

    def conclusions(self, summary: pd.DataFrame) -> list[Conclusion]:
        return []


def _counts(
    algorithm: str, data: BinaryData, train: Ints, test: Ints, costs: tuple[float, ...]
) -> Floats:
    """False alarms and misses on the test rows, (costs, rounds, 2)."""
    X, X_test = encode(data.X.iloc[train], data.X.iloc[test], one_hot=True, scale=True)
    truth = data.y[test] == 1
    counts = np.zeros((len(costs), len(ROUNDS), 2))
    for i, cost in enumerate(costs):
        with quiet():
            fitted = classifier(algorithm, cost, ROUNDS[-1]).fit(X, data.y[train])
        staged = list(fitted.staged_decision_function(X_test))
        for j, rounds in enumerate(ROUNDS):
            decided = staged[min(rounds, len(staged)) - 1] >= 0
            counts[i, j] = (decided & ~truth).sum(), (truth & ~decided).sum()
    return counts


def _per_factor(rows: pd.DataFrame) -> pd.DataFrame:
    """ε by protocol and f, and the training cost of the first protocol, from sums over folds."""
    sums = rows.pivot_table(
        index=["dataset", "algorithm"], columns="metric", values="value", aggfunc="sum", sort=False
    )
    costs = [name.split("@")[1] for name in rows["metric"].unique() if name.startswith("fp@")]
    found = {}
    for rounds, f in product(reversed(REPORTED), FACTORS):
        epsilon = pd.DataFrame(
            {c: sums[f"fp@{c}@{rounds}"] + f * sums[f"fn@{c}@{rounds}"] for c in costs}
        )
        found[f"min ε, {rounds} rounds", f"f={f}"] = epsilon.min(axis=1)
        if rounds == REPORTED[-1]:
            found["training C1", f"f={f}"] = epsilon.idxmin(axis=1).astype(float)
    found |= {(OTHERS[-1], f"f={f}"): sums[f"ε@{f}"] for f in FACTORS}
    table = pd.DataFrame(found).rename_axis(columns=["metric", "setting"])
    tidy: Any = table.stack(["metric", "setting"], future_stack=True)
    return pd.DataFrame(tidy.rename("value").reset_index())


# --- figures -------------------------------------------------------------------------------------


class Figure2(Item):
    """Zero crossings of the new algorithms over a wide range of costs."""

    paper = "masnadi2007"
    name = "figure2"
    title = "Zero crossing against the Bayes rule by cost, two Gaussians"
    minutes = 0.2
    notes = (
        "10,000 rows per class, five rounds, C2 = 1, C1 from 1/50 to 50, five samples (the paper "
        "shows one and names no range of C1). Stumps for CS-AdaBoost, histograms for "
        "CS-RealBoost, lines for CS-LogitBoost, thresholds and bins at quantiles of the sample. "
        "x* is looked for in [-4, 4]; ±4 means that one class is decided everywhere. The figure's "
        "curves have no printed numbers; the Bayes line x* = -T/2 with T = log(C1/C2) is exact."
    )
    rows = 10_000  # per class
    rounds = 5
    costs = (0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0, 50.0)

    def tasks(self, mode: Mode) -> list[Task]:
        costs = self.costs if mode == "full" else (0.2, 1.0, 5.0, 20.0)
        return self.grid([DATA], NEW, [f"C1={C1:g}" for C1 in costs], 5 if mode == "full" else 1)

    def run(self, task: Task, mode: Mode) -> dict[str, float]:
        """``crossing``, its ``distance`` from the Bayes rule's, and ``cost ratio``."""
        C1 = cost_of(task.setting)
        X, y = make_gaussians_1d(self.rows, random_state=task.seed)
        positive = scores(task.algorithm, C1, self.rounds, X, y)[-1] >= 0
        found = crossing(positive)
        return {
            "crossing": found,
            "distance": abs(found - bayes_threshold(C1)),
            "cost ratio": cost_ratio(positive, C1),
        }

    def summarise(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Also the mean distance over all costs, by sample."""
        keys = ["dataset", "algorithm", "split"]
        own = rows[rows["metric"] == "distance"]
        every = own.groupby(keys, sort=False)["value"].mean().reset_index()
        every = every.assign(setting=EVERY, metric="distance")
        summary = super().summarise(pd.concat([rows, every], ignore_index=True))
        gaps = paired(every, "distance", [(name, NEW[0]) for name in NEW[1:]], 0.0)
        return pd.concat([summary, gaps], ignore_index=True)

    def table(self, summary: pd.DataFrame) -> pd.DataFrame:
        wide = by_cost(summary, "crossing")
        wide.insert(0, "Bayes", [bayes_threshold(C1) for C1 in wide.index])
        return wide.rename_axis(index="C1", columns=None).round(3).reset_index()

    def figure(self, summary: pd.DataFrame) -> Figure:
        figure = Figure(figsize=(8.4, 3.8), layout="constrained")
        left, right = figure.subplots(1, 2)
        wide = by_cost(summary, "crossing")
        line = np.linspace(-2.6, 2.6, 201)
        look = {"color": "#333333", "linewidth": 4.5, "alpha": 0.35, "label": "Bayes rule"}
        left.plot(line, 1.0 / (1.0 + np.exp(-2.0 * line)), **look)
        right.plot(line, line, **look)
        marks = dict(zip(NEW, ("#0072B2", "#D55E00", "#009E73"), strict=True))
        for (name, color), marker in zip(marks.items(), "osx", strict=True):
            at, C1 = wide[name].to_numpy(), wide.index.to_numpy(dtype=float)
            drawn = {"color": color, "marker": marker, "markersize": 5, "linewidth": 1.2}
            left.plot(at, 1.0 / (C1 + 1.0), label=name, **drawn)
            right.plot(at, -0.5 * np.log(C1), label=name, **drawn)
        for ax, words in ((left, "C2/(C1 + C2), Bayes: P(+1 | x)"), (right, "-T/2")):
            ax.set_xlabel("zero crossing x*")
            ax.set_ylabel(words)
            tidy(ax)
        right.legend(frameon=False, fontsize=9)
        return figure

    conclusions = judge_figure2


class Figure3(Item):
    """Zero crossing by round, with each algorithm's training cost searched."""

    paper = "masnadi2007"
    name = "figure3"
    title = "Zero crossing by round with the best training cost, two Gaussians"
    many_rounds = True
    minutes = 1.0
    notes = (
        "10,000 rows per class, 50 rounds, C2 = 1. For every algorithm the training cost is "
        "searched over 32 values from 1 to 100, many of them close to 1, for the crossing nearest "
        "to the Bayes rule's after 50 rounds, as in the paper, which does not print its values. "
        "AdaC1 has its costs as they are (`cost_scale=None`), which gives the votes that the paper "
        "prints, with a training cost of 1.1, which is our choice: the paper does not print its "
        "own. For costs that are too large AdaC1's formula has no vote, and they are left out "
        "(every cost from 1.65 on, 21 of 32, and mostly 1.5 too). "
        "The table has medians over six samples; the curves are of the first, at rounds 1 to 10 "
        "and every fifth from there. The paper draws CS-AdaBoost alone of the new algorithms; "
        "CS-RealBoost and CS-LogitBoost are added, and so are AsymBoost (Viola and Jones) and "
        "AdaBoostC (AdaBoost started from cost-proportional weights). Initial weights: equal for "
        "the new algorithms and AdaC, proportional to the costs for CSB and AdaCost, as these "
        "were published. x* is looked for in [-4, 4]; ±4 means that one class is decided "
        "everywhere; of several changes of sign the threshold that agrees best with all decisions "
        "is taken. Swing is the range of x* over rounds 26 to 50. A boosting that ends early, "
        "because a vote is not positive, keeps its last score."
    )
    rows = 10_000  # per class
    rounds = 50
    # Rounds of the curve that are kept.
    shown = (*range(1, 11), *range(15, 51, 5))
    search = (
        1.0, 1.02, 1.05, 1.08, 1.1, 1.15, 1.2, 1.25, 1.3, 1.4, 1.5, 1.65, 1.8, 2.0, 2.25, 2.5, 3.0,
        3.5, 4.0, 4.5, 4.7, 5.0, 6.0, 8.0, 10.0, 12.0, 15.0, 20.0, 25.0, 30.0, 50.0, 100.0,
    )  # fmt: skip

    def tasks(self, mode: Mode) -> list[Task]:
        return self.grid([DATA], ALGORITHMS, COSTLY, 6 if mode == "full" else 1)

    def run(self, task: Task, mode: Mode) -> dict[str, float]:
        """Crossings by round (``x@1`` to ``x@50``) at the best training cost, and figures of it."""
        C1 = cost_of(task.setting)
        best = bayes_threshold(C1)
        X, y = make_gaussians_1d(self.rows, random_state=task.seed)
        search = self.search if mode == "full" else (1.0, 1.5, 2.0, 4.5, 4.7, 5.0, 20.0, 50.0)
        by_cost = {}
        for cost in search:
            # The votes that the paper prints for AdaC1 are those of costs that are not scaled;
            # its formula has no vote for large ones.
            more = {"cost_scale": None} if task.algorithm == "AdaC1" else {}
            try:
                by_cost[cost] = scores(task.algorithm, cost, self.rounds, X, y, **more)
            except ValueError:
                if not more:
                    raise
        ends = {cost: crossing(F[-1] >= 0) for cost, F in by_cost.items()}
        chosen = min(ends, key=lambda cost: abs(ends[cost] - best))
        path = np.array([crossing(F >= 0) for F in by_cost[chosen]])
        late = path[self.rounds // 2 :]
        return {
            "crossing": ends[chosen],
            "distance": abs(ends[chosen] - best),
            "late distance": float(np.abs(late - best).mean()),
            "swing": float(np.ptp(late)),
            "training C1": chosen,
            "cost ratio": cost_ratio(by_cost[chosen][-1] >= 0, C1),
            "crossing at the true cost": ends.get(C1, np.nan),
            **_printed_details(task, by_cost),
            **{f"x@{r}": float(path[r - 1]) for r in self.shown},
        }

    def summarise(self, rows: pd.DataFrame) -> pd.DataFrame:
        """Means, spread and medians of the figures, and the curve of the first sample."""
        is_curve = rows["metric"].str.startswith("x@")
        figures = super().summarise(rows[~is_curve])
        curve = rows[is_curve & (rows["split"] == rows["split"].min())]
        pairs = [(ours, rival) for ours in NEW for rival in EARLIER]
        parts: list[pd.DataFrame] = [
            figures,
            paired(rows, "late distance", pairs, 0.0),
            curve.assign(statistic="first", n=1)[SUMMARY_COLUMNS],
        ]
        return pd.concat(parts, ignore_index=True)

    def table(self, summary: pd.DataFrame) -> pd.DataFrame:
        printed = self.printed().set_index(["setting", "algorithm", "metric"])["value"]
        lines = []
        for setting in COSTLY:
            own = summary[(summary["setting"] == setting) & (summary["statistic"] == "median")]
            medians = own.pivot(index="algorithm", columns="metric", values="value")
            for name in (name for name in ALGORITHMS if name in medians.index):
                ours = medians.loc[name]
                lines.append(
                    {
                        "setting": setting,
                        "algorithm": name,
                        "x*, round 50": ours["crossing"],
                        "x*, Bayes": bayes_threshold(cost_of(setting)),
                        "x*, paper": printed.get((setting, name, "crossing")),
                        "training C1": ours["training C1"],
                        "training C1, paper": printed.get((setting, name, "training C1")),
                        "swing": ours["swing"],
                        "cost / Bayes": ours["cost ratio"],
                        "x* at the true cost": ours.get("crossing at the true cost"),
                    }
                )
        return pd.DataFrame(lines).round(3)

    def figure(self, summary: pd.DataFrame) -> Figure:
        figure = Figure(figsize=(9.2, 4.4), layout="constrained")
        curves = summary[summary["statistic"] == "first"]
        for ax, setting in zip(figure.subplots(1, 2), ("C1=5", "C1=20"), strict=True):
            own = curves[curves["setting"] == setting]
            wide = own.pivot(index="metric", columns="algorithm", values="value")
            wide.index = wide.index.str.removeprefix("x@").astype(int)
            # Rounds that were not kept repeat the last one before them.
            wide = wide.reindex(range(1, self.rounds + 1)).ffill()
            lines = {name: wide[name].to_numpy() for name in ALGORITHMS if name in wide}
            draw_crossings(ax, lines, bayes_threshold(cost_of(setting)))
            ax.set_title(setting.replace("=", " = "), fontsize=10)
        return figure

    conclusions = judge_figure3


def _printed_details(task: Task, by_cost: Mapping[float, Floats]) -> dict[str, float]:
    """What the text prints of single rounds: CS-AdaBoost's crossing, AdaC1's first two rules."""
    if task.algorithm == NEW[0]:
        cost, rounds = {"C1=5": (4.5, 4), "C1=20": (4.7, 2)}[task.setting]
        early = crossing(by_cost[cost][rounds - 1] >= 0)
        return {f"crossing, Ĉ1={cost:g}, {rounds} rounds": early}
    if task.algorithm != "AdaC1" or 1.1 not in by_cost:
        return {}
    first = by_cost[1.1][0]
    second = by_cost[1.1][1] - first
    return {
        f"{name} of rule {number}": value
        for number, rule in enumerate((first, second), start=1)
        for name, value in (("vote", np.abs(rule).max()), ("threshold", crossing(rule >= 0)))
    }


ITEMS: list[Item] = [Figure2(), Figure3(), Table1(), Table2(), Figure4()]

"""From rows to a Markdown page: what was saved, by whom, and how sure that is."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd
from benchmarks.harness import SOURCES
from benchmarks.held_out_cost.early import HELD_OUT, PATIENCE, RATE, TREES
from benchmarks.held_out_cost.figures import draw_differences, draw_ranks
from benchmarks.held_out_cost.methods import (
    AUTOGLUON,
    BAYES_RIVALS,
    CALIBRATED,
    FLAGSHIP,
    ISOTONIC_FROM,
    MANY_CLASSES,
    METHODS,
    OURS,
    SOME_CLASSES,
)
from benchmarks.held_out_cost.problems import (
    ALL_ROWS,
    DEVELOPMENT,
    LEAST_OF_CLASS,
    MOST_ROWS,
    OFFICIAL_ROWS,
    SAMPLED,
)
from benchmarks.held_out_cost.rivals import FOREST_TREES, PASSES, TIME_LIMIT
from benchmarks.held_out_cost.statistics import TIE, Duel, duel, method_ranks, record, score_table
from benchmarks.held_out_cost.tables import markdown
from scipy.stats import sem, t

NOISE = 0.003  # scores closer than this are called equal: a new seed alone moves them by 0.002
NOTES = Path(__file__).with_name("notes.md")  # prose with places for settings
GROUPS = {"per row": "Costs per row", "binary": "Two classes", "multi-class": "Many classes"}


def write(path: Path) -> Path:
    """Write the page and its figures beside the rows in ``path``."""
    rows = pd.read_csv(path, keep_default_na=False, na_values=[""])
    sources = path.with_name(SOURCES)
    if sources.exists():
        rows = rows.merge(pd.read_csv(sources), on="source", how="left")
    rows["problem"] = rows["data"] + ", " + rows["costs"]
    page = path.with_suffix(".md")
    page.write_text(compose(rows, path))
    return page


def compose(rows: pd.DataFrame, path: Path) -> str:
    """The page; figures are written on the way."""
    is_full = rows["data"].str.endswith(ALL_ROWS)
    everything, full, rows = rows, rows[is_full], rows[~is_full]
    main = rows[rows["group"] != "hidden"]
    parts = {
        "untouched": main[main["development"] == 0],
        "development": main[main["development"] == 1],
        "all": main,
    }
    parts = {name: part for name, part in parts.items() if len(part)}
    if not parts:  # of `--full`
        head = ["# What is paid on rows not seen in training: all rows of the large sets", ""]
        text = [*head, _intro(full), "", *_full_sizes(full), *_against_autogluon(full)]
        return "\n".join([*text, *_failures(everything)]) + "\n"
    headline = next(iter(parts))
    text = [
        "# What is paid on rows not seen in training",
        "",
        "Written by `python -m benchmarks.held_out_cost report`; do not edit.",
        "",
        _intro(main),
        "",
        "## Summary",
        "",
        *_summary(parts, headline),
        "",
        "Untouched sets had no part in choosing CostBoost's defaults (see *Splits* below); on "
        "development sets it has that advantage, and *all* mixes the two. *Significantly worse*: "
        "p < 0.05 by the corrected t-test over the splits of a problem, after Holm's correction "
        "over the problems of the line. J splits leave it J − 1 degrees of freedom and little "
        "power, so *none* is weak evidence, and what is found without correction is listed too. "
        "Wilcoxon's p is not corrected for the number of rivals and lines.",
        "",
        f"## Mean score and ranks ({headline} sets)",
        "",
        "Score: the share of the avoidable cost, which is what the best constant decision costs "
        "beyond the cheapest decision of every row (`avoidable_cost_score`; equal to savings where "
        "right decisions cost nothing). A rank is taken on each problem "
        "from the mean score, 1 = best, among methods that finished all splits of all problems of "
        "the column, CostBoost's variants included: ranks of different columns do not compare.",
        "",
        _standings(parts[headline]),
        "",
        *_rank_figure(parts[headline], path, headline),
        *_other_parts(parts, headline),
        "## CostBoost against each of the others",
        "",
        f"Wins, ties and losses over problems (a tie is within {TIE:g} of the score). *Better* and "
        "*worse* count problems with p < 0.05 by Nadeau and Bengio's corrected t-test over the "
        "splits: after Holm's correction over the problems, and in brackets without it (–: one "
        "split, no test). The last columns are Wilcoxon's test over data sets (a set's problems "
        "averaged) and over problems (as if independent, so too small); neither is "
        "corrected for the number of rivals.",
        "",
    ]
    for name, part in parts.items():
        text += [f"### {name.capitalize()} sets", "", _duels(part), ""]
    text += _against_bayes(parts, path)
    text += _against_autogluon(main)
    text += _full_sizes(full)
    text += _losses(main)
    text += _estimates(rows)
    text += _hidden(rows)
    text += _failures(everything)
    text += [_notes()]
    return "\n".join(text) + "\n"


# -- sections -----------------------------------------------------------------------------------


def _intro(rows: pd.DataFrame) -> str:
    sets, problems = rows["data"].nunique(), rows["problem"].nunique()
    splits = rows.groupby("problem")["split"].nunique().max()
    made = ", ".join(_commits(rows))
    known = rows["versions"].dropna().unique() if "versions" in rows else []
    told = "; ".join(", ".join(one.split()).replace("==", " ") for one in known)
    return (
        f"{problems} problems on {sets} data sets, up to {splits} splits each, {len(rows)} rows of "
        "the CSV file of the same name (its problems of hidden costs are apart). "
        f"Measured with {made or 'unknown versions'}: {told}."
    )


def _commits(rows: pd.DataFrame) -> list[str]:
    """The commits of the source that the rows were measured with; a run may have been resumed."""
    counts = rows.get("commit", pd.Series(dtype=str)).value_counts()
    alone = len(counts) == 1
    return [
        f"source at commit {commit}" + ("" if alone else f" ({n:,} rows)")
        for commit, n in counts.items()
    ]


def _summary(parts: dict[str, pd.DataFrame], headline: str) -> Iterable[str]:
    for name, part in parts.items():
        ranks = method_ranks(everywhere(score_table(part)))
        if FLAGSHIP not in ranks:
            continue
        place = list(ranks.index).index(FLAGSHIP) + 1
        others = ranks[[name for name in ranks.index if not name.startswith(FLAGSHIP)]]
        rival = f"{others.index[0]}, {others.iloc[0]:.2f}" if len(others) else "none"
        yield (
            f"- {name.capitalize()} sets, {part['problem'].nunique()} problems: {FLAGSHIP} has "
            f"mean rank {ranks[FLAGSHIP]:.2f}, place {place} of {len(ranks)} methods that run "
            f"everywhere; the best that is no CostBoost is {rival}."
        )
        for rival in BAYES_RIVALS:
            found = duel(part, FLAGSHIP, rival)
            if found is not None:
                won, tied, lost = found.record
                yield (
                    f"  - against {rival}: {won} won, {tied} tied, {lost} lost; mean difference of "
                    f"score {found.problems['difference'].mean():+.4f}, Wilcoxon over sets p = "
                    f"{found.p_sets:.2g}; significantly worse on {_names(found, -1)}."
                )


def _names(found: Duel, sign: int) -> str:
    sure, maybe = found.significant(sign), found.significant(sign, corrected=False)
    text = ", ".join(sure) if sure else "none"
    return text + (f" (without correction: {', '.join(maybe)})" if maybe else " (nor uncorrected)")


def everywhere(table: pd.DataFrame) -> pd.DataFrame:
    """The methods that ran on all problems of a table."""
    return table.dropna(axis=1)


def _standings(rows: pd.DataFrame) -> str:
    table = score_table(rows)
    whole = everywhere(table)
    columns = {"mean score": whole.mean(), "median": whole.median(), "rank": method_ranks(whole)}
    for group, title in GROUPS.items():
        chosen = rows.loc[rows["group"] == group, "problem"].unique()
        if len(chosen):
            part = everywhere(table.loc[chosen])
            columns[f"{title} ({len(chosen)}): mean"] = part.mean()
            columns[f"{title}: rank"] = method_ranks(part)
    own = rows[rows["error"].isna()]
    columns["fit, s"] = own.groupby("method")["fit_seconds"].mean()
    columns["predict, s"] = own.groupby("method")["predict_seconds"].mean()
    frame = pd.DataFrame(columns)
    # Methods that run everywhere first, by rank; then the others by their mean rank in groups.
    ranks = frame[[name for name in frame if name.endswith(": rank")]].mean(axis=1)
    frame = frame.assign(_last=frame["rank"].isna(), _rank=frame["rank"].fillna(ranks))
    frame = frame.sort_values(["_last", "_rank"]).drop(columns=["_last", "_rank"])
    formats = {
        name: "{:.2f}" if "rank" in name or name.endswith(", s") else "{:.3f}" for name in frame
    }
    return markdown(frame, formats, index="method")


def _rank_figure(rows: pd.DataFrame, path: Path, name: str) -> list[str]:
    whole = everywhere(score_table(rows))
    if whole.shape[1] < 2:
        return []
    file = path.with_name(f"{path.stem}-ranks.png")
    draw_ranks(whole, file)
    return [
        f"![Mean ranks]({file.name})",
        "",
        f"Mean ranks on the {name} sets; bars join methods that Nemenyi's test does not tell "
        "apart. Here the ranks of a set's problems are averaged first, because they share rows; in "
        "the table every problem counts.",
        "",
    ]


def _other_parts(parts: dict[str, pd.DataFrame], headline: str) -> Iterable[str]:
    for name, part in parts.items():
        if name != headline:
            yield from (f"### {name.capitalize()} sets", "", _standings(part), "")


def _duels(rows: pd.DataFrame) -> str:
    found = {}
    for name in METHODS:
        one = duel(rows, FLAGSHIP, name) if name != FLAGSHIP else None
        if one is None:
            continue
        better, worse = (
            f"{len(one.significant(sign))} ({len(one.significant(sign, corrected=False))})"
            if one.problems["p"].notna().any()
            else "–"
            for sign in (1, -1)
        )
        won, tied, lost = one.record
        found[name] = {
            "problems": len(one.problems), "won / tied / lost": f"{won} / {tied} / {lost}",
            "mean difference": one.problems["difference"].mean(),
            "median": one.problems["difference"].median(), "better": better, "worse": worse,
            "p, sets": one.p_sets, "p, problems": one.p_problems,
        }  # fmt: skip
    if not found:
        return "No other method ran."
    frame = pd.DataFrame.from_dict(found, orient="index")
    formats = {"mean difference": "{:+.3f}", "median": "{:+.3f}", "p, sets": "{:.2g}",
               "p, problems": "{:.2g}"}  # fmt: skip
    return markdown(frame, formats, index="method")


def _against_bayes(parts: dict[str, pd.DataFrame], path: Path) -> Iterable[str]:
    yield from ("## Probability + Bayes rule, the rival to beat", "")
    for rival in BAYES_RIVALS:
        for name, part in parts.items():
            found = duel(part, FLAGSHIP, rival)
            if found is not None:
                yield f"- {rival}, {name} sets: significantly worse on {_names(found, -1)}."
    found = duel(parts["all"], FLAGSHIP, CALIBRATED) if "all" in parts else None
    if found is not None:
        file = path.with_name(f"{path.stem}-differences.png")
        draw_differences(found, CALIBRATED, set(DEVELOPMENT), file)
        yield from ("", f"![Differences of scores by problem]({file.name})", "")
        yield (
            "Dots are means over the splits, lines their 95 % intervals by the corrected t-test "
            "(cut at the edges), colours p < 0.05 without correction over problems."
        )
    yield ""


def _against_autogluon(rows: pd.DataFrame) -> Iterable[str]:
    """CostBoost at each effort, on the splits that both finished."""
    lines = []
    for ours in OURS:
        for part, mine in (("untouched", 0), ("development", 1)):
            own = rows[(rows["development"] == mine) & rows["method"].isin((ours, AUTOGLUON))]
            found = duel(own, ours, AUTOGLUON)
            if found is None:
                continue
            wide = own.dropna(subset=["score"]).pivot_table(
                index=["problem", "split"], columns="method", values="fit_seconds"
            ).dropna()  # fmt: skip
            gaps = found.problems["difference"]
            # Problems of a set share rows: the interval is over sets.
            by_set = found.problems.groupby("data")["difference"].mean()
            half = sem(by_set) * t.ppf(0.975, len(by_set) - 1) if len(by_set) > 1 else np.nan
            lines.append(
                {
                    "method": ours, "sets": f"{part}, {len(by_set)}", "problems": len(gaps),
                    "won / tied / lost": " / ".join(map(str, record(gaps, NOISE))),
                    "mean difference": gaps.mean(), "by set": by_set.mean(), "±": half,
                    "worst": gaps.min(),
                    "CPU": wide[ours].sum() / wide[AUTOGLUON].sum(),
                }
            )  # fmt: skip
    if lines:
        ran = rows[rows["method"] == AUTOGLUON]
        smallest = int((ran["n_train"] + ran["n_test"]).min())
        yield from ("## CostBoost against AutoGluon", "")
        yield (
            f"On the splits that both finished, of sets of {smallest:,} rows or more; a tie is "
            f"within {NOISE:g} of the score. *By set*: "
            "the mean over data sets, each the mean of its problems, with the half-width of its "
            "95 % interval. *CPU*: processor seconds of our trainings / AutoGluon's, all added up. "
            "*worst*: the smallest difference on one problem."
        )
        formats = {"mean difference": "{:+.4f}", "by set": "{:+.4f}", "±": "{:.4f}",
                   "worst": "{:+.3f}", "CPU": "{:.3f}"}  # fmt: skip
        table = pd.DataFrame(lines).set_index("method")
        yield from ("", markdown(table, formats, index="method"), "")


def _full_sizes(rows: pd.DataFrame) -> Iterable[str]:
    """Savings and training seconds where nothing was left out of a set."""
    own = rows.dropna(subset=["score"])
    if own.empty:
        return
    yield from ("## All rows of the large sets", "")
    yield (
        "No cap on rows: mean score over the splits done, and in brackets processor seconds of "
        "a training. Not part of the tables above."
    )
    means = own.groupby(["method", "problem"])[["score", "fit_seconds"]].mean()
    cells = means.apply(lambda row: f"{row['score']:.3f} ({row['fit_seconds']:.0f})", axis=1)
    table = cells.unstack().fillna("")
    order = means["score"].unstack().mean(axis=1).sort_values(ascending=False).index
    yield from ("", markdown(table.loc[order], {}, index="method"), "")


def _losses(rows: pd.DataFrame) -> Iterable[str]:
    table = score_table(rows)
    if FLAGSHIP not in table:
        return
    others = table[[name for name in table if not name.startswith(FLAGSHIP)]]
    if others.shape[1] == 0:
        return
    frame = pd.DataFrame(
        {
            "CostBoost": table[FLAGSHIP], "best other": others.max(axis=1),
            "which": others.fillna(-np.inf).idxmax(axis=1),
        }
    )  # fmt: skip
    for rival in BAYES_RIVALS:
        if rival in table:
            frame[rival] = table[rival]
    frame["behind"] = frame["best other"] - frame["CostBoost"]
    worst = frame[frame["behind"] > TIE].sort_values("behind", ascending=False)
    yield from ("## Where CostBoost loses", "")
    yield (
        f"On {len(worst)} of {len(frame)} problems, all sets, some other method that finished all "
        "splits saved more on average. "
        "The best of many is chosen after the fact, so part of these gaps is luck. The largest:"
    )
    formats = dict.fromkeys(frame.columns.drop("which"), "{:.3f}")
    yield from ("", markdown(worst.head(15), formats, index="problem"), "")


def _estimates(rows: pd.DataFrame) -> Iterable[str]:
    known = rows.dropna(subset=["estimated", "score"])
    if known.empty:
        return
    inside = known["score"].between(known["estimated_low"], known["estimated_high"])
    frame = known.assign(
        bias=known["estimated"] - known["score"],
        gap=(known["estimated"] - known["score"]).abs(),
        inside=inside,
        half=(known["estimated_high"] - known["estimated_low"]) / 2,
    )
    kinds = {**GROUPS, "hidden": "Costs hidden when deciding"}
    table = frame.groupby(["method", "group"])[["bias", "gap", "half", "inside"]].mean()
    table["splits"] = frame.groupby(["method", "group"]).size()
    table.index = [f"{method}: {kinds[group].lower()}" for method, group in table.index]
    table.columns = ["estimated − realised", "mean gap", "half-width", "inside", "splits"]
    formats = {"estimated − realised": "{:+.3f}", "mean gap": "{:.3f}", "half-width": "{:.3f}",
               "inside": "{:.0%}"}  # fmt: skip
    yield from ("## Estimated against realised score (all sets)", "")
    yield (
        "`estimated_score_` is known before the test rows are seen. *Inside* is the share of "
        "splits whose realised score lies in the 95 % interval. The interval is for the noise of "
        "the training rows alone; the test rows bring noise of their own, so less than 95 % is to "
        "be expected. The rows that choose rounds, weights and temperature are those of the "
        "estimate, which makes it too high. The test part of kddcup99 has attacks that its "
        "training part has not: no estimate from training rows can know them."
    )
    yield from ("", markdown(table, formats, index="method, problems"), "")


def _hidden(rows: pd.DataFrame) -> Iterable[str]:
    part = rows[rows["group"] == "hidden"]
    if part.empty:
        return
    table = score_table(part).T
    table.columns = [name.split(",")[0] for name in table.columns]
    table["mean"] = table.mean(axis=1, skipna=False)
    complete = score_table(part).dropna(axis=1)
    table["rank"] = method_ranks(complete)
    table = table.sort_values("rank")
    yield from ("## Costs unknown at decision time (all sets)", "")
    yield (
        "Trained with the costs of rows, deciding without them: CostBoost by the boosters that "
        "learned them, cost-weighted methods, AdaC2, AsyBL and CSLogitBoost by their scores, all "
        "others by the mean matrix of the training rows."
    )
    formats = {name: "{:.2f}" if name == "rank" else "{:.3f}" for name in table}
    yield from ("", markdown(table, formats, index="method"), "")
    sure = []
    for name in METHODS:
        found = duel(part, FLAGSHIP, name) if name != FLAGSHIP else None
        worse = found.significant(-1, corrected=False) if found is not None else []
        if worse:
            sure.append(f"{name} ({', '.join(problem.split(',')[0] for problem in worse)})")
    yield "CostBoost is worse with p < 0.05, without correction, than: " + (
        "; ".join(sure) + "." if sure else "none."
    )
    yield ""


def _failures(rows: pd.DataFrame) -> Iterable[str]:
    failed = rows.dropna(subset=["error"])
    yield from ("## Failures", "")
    if failed.empty:
        yield from ("None.", "")
        return
    for (method, error), part in failed.groupby(["method", "error"]):
        where = ", ".join(sorted(part["problem"].unique()))
        yield f"- {method}, {len(part)} splits ({where}): `{error}`"
    yield ""


def _notes() -> str:
    """Return the notes on the method, with the settings of this benchmark filled in."""
    sampled = [f"{name} {count}" for name, count in SAMPLED.items()]
    official_train, official_test = OFFICIAL_ROWS
    return NOTES.read_text("utf-8").format(
        development=", ".join(DEVELOPMENT),
        forest_trees=FOREST_TREES,
        held_out=HELD_OUT,
        isotonic_from=ISOTONIC_FROM,
        least_of_class=LEAST_OF_CLASS,
        many_classes=MANY_CLASSES,
        most_rows=MOST_ROWS,
        official_test=official_test,
        official_train=official_train,
        passes=PASSES,
        patience=PATIENCE,
        rate=RATE,
        sampled=", ".join(sampled),
        some_classes=SOME_CLASSES,
        time_limit=TIME_LIMIT,
        trees=TREES,
    )

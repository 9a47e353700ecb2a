"""CostBoost at each effort against AutoGluon: score, processor time, and the targets set."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import pandas as pd
from benchmarks.held_out_cost.methods import AUTOGLUON, FAMILY, FLAGSHIP, HIGH, OURS
from benchmarks.held_out_cost.statistics import record
from benchmarks.held_out_cost.tables import markdown

NOISE = 0.003  # scores closer than this are called equal: a new seed alone moves them by 0.002
MUCH = 0.05  # no other method of ours may save so much more on any problem
HIDDEN = "hidden"


@dataclass(frozen=True)
class Target:
    """What a method has to reach against AutoGluon, over the untouched sets.

    Attributes
    ----------
    least : float
        Smallest mean difference of scores.
    most_time : float
        Largest ratio of training times.
    more_wins : bool
        Whether it has to win more problems than it loses.
    """

    least: float
    most_time: float
    more_wins: bool

    def __str__(self) -> str:
        wins = ", more won than lost" if self.more_wins else ""
        return f"mean difference ≥ {self.least:+.3f}, CPU ≤ {self.most_time:g}{wins}"


TARGETS = {FLAGSHIP: Target(-0.003, 1 / 8, False), HIGH: Target(0.0, 1 / 2, True)}


@dataclass(frozen=True)
class Match:
    """A method against another, over the splits of some problems that both finished.

    Attributes
    ----------
    differences : Series
        By problem: mean score, ours - theirs.
    times : Series
        By problem: mean seconds of our training / of theirs.
    total_time : float
        The seconds of all our trainings / of all of theirs.
    """

    differences: pd.Series
    times: pd.Series
    total_time: float

    @property
    def record(self) -> tuple[int, int, int]:
        return record(self.differences, NOISE)

    @property
    def mean(self) -> float:
        return float(self.differences.mean())

    def reaches(self, target: Target) -> bool:
        won, _, lost = self.record
        return (
            self.mean >= target.least
            and self.total_time <= target.most_time
            and (won > lost or not target.more_wins)
        )


def match(rows: pd.DataFrame, ours: str, theirs: str = AUTOGLUON) -> Match | None:
    """Compare two methods problem by problem; None if no split was finished by both."""
    wide = rows[rows["method"].isin((ours, theirs))].pivot_table(
        index=["problem", "split"], columns="method", values=["score", "fit_seconds"]
    )
    needed = [(value, name) for value in ("score", "fit_seconds") for name in (ours, theirs)]
    if any(column not in wide for column in needed):
        return None
    wide = wide.dropna(subset=needed)
    if wide.empty:
        return None
    means = wide.groupby(level="problem").mean()
    scores, seconds = means["score"], means["fit_seconds"]
    return Match(
        scores[ours] - scores[theirs],
        seconds[ours] / seconds[theirs],
        float(wide["fit_seconds"][ours].sum() / wide["fit_seconds"][theirs].sum()),
    )


def against_autogluon(rows: pd.DataFrame, groups: dict[str, str]) -> pd.DataFrame:
    """A line per method of ours, part of the sets and group of problems."""
    lines = []
    for ours in OURS:
        for part, mine in (("untouched", 0), ("development", 1)):
            chosen = rows[rows["development"] == mine]
            pieces = {"all": chosen[chosen["group"] != HIDDEN]}
            pieces |= {
                title.lower(): chosen[chosen["group"] == group]
                for group, title in {**groups, HIDDEN: "costs hidden when deciding"}.items()
            }
            for title, piece in pieces.items():
                found = match(piece, ours)
                if found is None:
                    continue
                lines.append(
                    {
                        "method": ours, "sets": part, "problems of": title,
                        "problems": len(found.differences),
                        "won / tied / lost": " / ".join(map(str, found.record)),
                        "mean difference": found.mean,
                        "worst": found.differences.min(),
                        "CPU, total": found.total_time, "CPU, median": found.times.median(),
                    }
                )  # fmt: skip
    return pd.DataFrame(lines)


def much_better(rows: pd.DataFrame, ours: str) -> dict[str, tuple[str, float]]:
    """Problems where another method of costboost saves more by `MUCH`: which, and by how much."""
    found: dict[str, tuple[str, float]] = {}
    for other in FAMILY:
        duel = match(rows, ours, other)
        if duel is None:
            continue
        for problem, difference in duel.differences.items():
            behind = -float(difference)
            if behind > MUCH and behind > found.get(problem, ("", 0.0))[1]:
                found[problem] = other, behind
    return dict(sorted(found.items(), key=lambda item: -item[1][1]))


def sections(rows: pd.DataFrame, groups: dict[str, str]) -> Iterable[str]:
    """The part of the page about AutoGluon and the targets."""
    table = against_autogluon(rows, groups)
    if not table.empty:
        yield from ("## CostBoost against AutoGluon", "")
        yield (
            f"On the splits that both finished; a tie is within {NOISE:g} of the score. *CPU*: "
            "processor seconds of our trainings / AutoGluon's, all added up, and the median over "
            "problems. *all* leaves out the problems of hidden costs, which have a line of their "
            "own. *worst*: the smallest difference on one problem."
        )
        formats = {"mean difference": "{:+.4f}", "worst": "{:+.3f}", "CPU, total": "{:.3f}",
                   "CPU, median": "{:.3f}"}  # fmt: skip
        yield from ("", markdown(table.set_index("method"), formats, index="method"), "")
        untouched = rows[(rows["development"] == 0) & (rows["group"] != HIDDEN)]
        for ours, target in TARGETS.items():
            found = match(untouched, ours)
            if found is not None:
                verdict = "reached" if found.reaches(target) else "missed"
                won, tied, lost = found.record
                yield (
                    f"- {ours}, target on untouched sets: {target}: **{verdict}** "
                    f"({found.mean:+.4f}, CPU {found.total_time:.3f}, {won} won, {tied} tied, "
                    f"{lost} lost on {len(found.differences)} problems)."
                )
        yield ""
    present = [name for name in OURS if name in set(rows["method"])]
    if not present or not set(FAMILY) & set(rows["method"]):
        return
    yield from (f"## Where another method of costboost saves more by {MUCH:g}", "")
    yield "All sets, hidden costs included; there should be no such problem."
    yield ""
    for ours in present:
        behind = much_better(rows, ours)
        named = (f"{problem} ({name}, {gap:.3f})" for problem, (name, gap) in behind.items())
        yield f"- {ours}: {'; '.join(named) if behind else 'none'}."
    yield ""


def full_sizes(rows: pd.DataFrame) -> Iterable[str]:
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

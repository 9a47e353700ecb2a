"""How a claim of a paper is judged: one rule for all of them.

A claim is a sentence of the paper. Its parts are the comparisons that it makes, each measured here
with an interval: an effect on a scale where larger values speak for the claim. An interval of 90 %
is two one-sided tests at 5 % (ranks: ± the critical difference at 5 %).

- A part is *for* the claim if the whole interval lies above ``null``, where nothing is left of it.
- It is *against* if the whole interval lies below ``least``, the smallest effect that would bear
  the claim out. Results that differ in no split and methods that decide alike are neither.
- Otherwise it *cannot be told*: the interval has room for both, the data lack the power.

The claim **holds** if all parts are for it, **holds in part** if at least half are, **does not
hold** if at least half are against it, and else **cannot be told**. If something that the claim
speaks of was not run, it cannot be told either.

Where ``null`` and ``least`` come from stands beside every claim: from the paper's own words or
numbers, or from limits of ours, of which most are the same for all papers. The text of Nikolaou et
al. was not at hand: its claims are in our words, without a quote. The same rule is put to the
numbers that a paper prints, where it prints what the claim needs. If these cannot pass it either,
the paper has fewer data than its claim asks for, or the rule is too strict.

The tests: Friedman and Nemenyi where many data sets have ranks, the sign test where sets are few,
the corrected t-test over splits of one set, the plain t-test over independent samples or sets.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from math import inf, isfinite, isnan, nan
from typing import Any, Literal

import numpy as np
import pandas as pd
from scipy.stats import beta, t

from costboost_papers.statistics import critical_difference, friedman_test, mean_ranks

Verdict = Literal["holds", "holds in part", "does not hold", "cannot be told"]
Outcome = Literal["for", "against", "cannot be told"]
OUTCOMES: tuple[Outcome, ...] = ("for", "against", "cannot be told")
ALPHA = 0.05  # of each one-sided test
WORTH = 0.05  # a difference of costs below this share is not worth a claim
SHARE = 0.75  # "on most sets" is borne out by three of four
MANY = (0.25, 0.5)  # "often" and "for many sets" are more than a quarter; half of them show it

# Limits in words.
MOST = "an interval above half of the sets is for it, one below three quarters against it"
OFTEN = "an interval above a quarter of the sets is for it, one below half against it"
WORTHWHILE = "an interval above 0 is for it, one below 5 %, the least worth a claim, against it"
SAME = (
    "5 %, the least difference worth a claim: an interval within is for it, one outside against it"
)
EXACT = "there is no noise: the sign decides"


@dataclass(frozen=True)
class Part:
    """One comparison of a claim; larger values speak for it."""

    name: str
    value: float
    low: float
    high: float
    null: float = 0.0
    least: float = 0.0

    @property
    def outcome(self) -> Outcome:
        """What the interval says."""
        if self.low > self.null:
            return "for"
        return "against" if self.high < max(self.least, self.null) else "cannot be told"

    def __str__(self) -> str:
        if isnan(self.value):
            return f"{self.name} (no difference, or not run)"
        return f"{self.name} {self.value:.3g} [{self.low:.3g}, {self.high:.3g}]"

    @classmethod
    def gap(cls, name: str, mean: float, half: float, least: float = WORTH) -> Part:
        """A mean difference; without any spread and difference the methods decided alike."""
        if isnan(mean) or mean == half == 0.0:
            return cls(name, nan, -inf, inf)
        return cls(name, mean, mean - half, mean + half, 0.0, least)

    @classmethod
    def below(cls, name: str, mean: float, half: float, limit: float) -> Part:
        """Whether a mean is below a limit; the effect is the room that is left."""
        return cls(name, limit - mean, limit - mean - half, limit - mean + half)

    @classmethod
    def above(cls, name: str, mean: float, half: float, limit: float) -> Part:
        """Whether a mean is above a limit; the effect is by how much."""
        return cls.below(name, -mean, half, -limit)

    @classmethod
    def close(cls, name: str, mean: float, half: float, band: float) -> Part:
        """Whether a difference is within a band around 0; the effect is the room that is left."""
        if isnan(mean) or mean == half == 0.0:
            return cls(name, nan, -inf, inf)
        low, high = mean - half, mean + half
        nearest = 0.0 if low <= 0.0 <= high else min(abs(low), abs(high))
        return cls(name, band - abs(mean), band - max(abs(low), abs(high)), band - nearest)

    @classmethod
    def share(
        cls, name: str, wins: Iterable[float], null: float = 0.5, least: float = SHARE
    ) -> Part:
        """Sign test: the share of sets on which something is so (1), not so (0) or tied (½)."""
        won = list(wins)
        n, k = len(won), sum(won)
        if not n:
            return cls(name, nan, -inf, inf)
        low = float(beta.ppf(ALPHA, np.floor(k), n - np.floor(k) + 1)) if k >= 1 else 0.0
        high = float(beta.ppf(1 - ALPHA, np.ceil(k) + 1, n - np.ceil(k))) if k <= n - 1 else 1.0
        return cls(name, k / n, low, high, null, least)

    def turned(self) -> Part:
        """The same share for the claim that it is *not* so on most sets."""
        low, high = 1 - self.high, 1 - self.low
        return Part(self.name, 1 - self.value, low, high, 1 - self.least, 1 - self.null)


@dataclass(frozen=True)
class Conclusion:
    """What a paper states, how that was tested, and what came out."""

    claim: str
    refuted_by: str
    parts: Sequence[Part]
    why: str = ""
    said: str = ""  # the paper's words, and where they stand
    # What the claims of a section often share.
    test: str = ""
    limit: str = ""  # where ``null`` and ``least`` of the parts come from
    own: bool = True  # of the paper; else a question of ours, which is not counted
    missing: Sequence[str] = ()  # what the claim speaks of and was not run

    @property
    def verdict(self) -> Verdict:
        """By the rule of this module."""
        n = len(self.parts)
        good, bad = (len(self.named(outcome)) for outcome in ("for", "against"))
        if self.missing or not n:
            return "cannot be told"
        if good == n:
            return "holds"
        if 2 * good >= n:
            return "holds in part"
        return "does not hold" if 2 * bad >= n else "cannot be told"

    def named(self, outcome: str) -> list[Part]:
        """The parts with this outcome."""
        return [part for part in self.parts if part.outcome == outcome]

    @property
    def count(self) -> str:
        """How many parts have which outcome."""
        words = [(len(self.named(outcome)), outcome) for outcome in OUTCOMES]
        return ", ".join(f"{n} {outcome}" for n, outcome in words if n) or "not run"

    @property
    def evidence(self) -> str:
        """The test, the count of the parts, and their effects as far as they are few."""
        if self.missing:
            return f"Not run: {', '.join(self.missing)}."
        words = []
        for outcome in OUTCOMES:
            if found := self.named(outcome):
                shown = ", ".join(map(str, found[:6]))
                more = f" and {len(found) - 6} more" if len(found) > 6 else ""
                words.append(f"{outcome} {len(found)} of {len(self.parts)}: {shown}{more}")
        text = "; ".join(words)
        return f"{self.test}. {text[:1].upper()}{text[1:]}."


# --- parts ---------------------------------------------------------------------------------------


def t_half(sd: float, n: int, test_to_train: float = 0.0) -> float:
    """Half of an interval of a mean over n splits (Nadeau and Bengio) or independent samples."""
    if n < 2:
        return inf
    return float(t.ppf(1 - ALPHA, n - 1) * sd * np.sqrt(1 / n + test_to_train))


def wins(ours: pd.Series[float], rival: pd.Series[float]) -> list[float]:
    """1 where ours is lower, ½ where both are equal, 0 elsewhere; over sets that have both."""
    both = pd.concat([ours, rival], axis=1).dropna().to_numpy(dtype=float)
    return list((both[:, 0] < both[:, 1]) + 0.5 * (both[:, 0] == both[:, 1]))


def below_parts(table: pd.DataFrame, pairs: Iterable[tuple[str, str]]) -> list[Part]:
    """Sign test: on how many sets the first of a pair has less than the second, as far as run."""
    return [
        Part.share(f"{ours} below {rival}", wins(table[ours], table[rival]))
        for ours, rival in pairs
        if {ours, rival} <= set(table.columns)
    ]


def rank_parts(table: pd.DataFrame, pairs: Iterable[tuple[str, str]]) -> list[Part]:
    """Friedman and Nemenyi: by how much the first of a pair ranks before the second, over sets."""
    # A row per data set and a column per method; lower values are better.
    values = table.dropna()
    if not len(values):
        return [Part(f"{ours} before {rival}", nan, -inf, inf) for ours, rival in pairs]
    ranks = dict(zip(table.columns, mean_ranks(values), strict=True))
    half = critical_difference(values.shape[1], len(values), ALPHA)
    differ = friedman_test(values) < ALPHA
    found = []
    for ours, rival in pairs:
        gap = float(ranks[rival] - ranks[ours])
        low = gap - half if differ else min(gap - half, 0.0)
        found.append(Part(f"{ours} before {rival}", gap, low, gap + half, 0.0, 1.0))
    return found


# --- pairs of methods on the same splits ---------------------------------------------------------


def paired(
    rows: pd.DataFrame, metric: str, pairs: Iterable[tuple[str, str]], test_to_train: float
) -> pd.DataFrame:
    """Rows of a summary: how much more the second of a pair has than the first, split by split."""
    # Statistic ``more than X`` of algorithm Y is the mean of Y less X, ``± X`` half its interval.
    keys = ["dataset", "setting", "split"]
    own = rows[rows["metric"] == metric]
    table = own.pivot(index=keys, columns="algorithm", values="value")
    found = []
    for ours, rival in pairs:
        if not {ours, rival} <= set(table.columns):
            continue
        gaps = (table[rival] - table[ours]).dropna()
        places: Any = gaps.groupby(level=["dataset", "setting"], sort=False)
        for (dataset, setting), gap in places:
            n = len(gap)
            half = t_half(float(gap.std()), n, test_to_train)
            for statistic, value in ((f"more than {ours}", gap.mean()), (f"± {ours}", half)):
                found.append((dataset, rival, setting, metric, statistic, float(value), n))
    columns = ["dataset", "algorithm", "setting", "metric", "statistic", "value", "n"]
    return pd.DataFrame(found, columns=columns)


class Kept:
    """The numbers of a summary by (dataset, algorithm, setting, metric, statistic)."""

    def __init__(self, summary: pd.DataFrame) -> None:
        keys = ["dataset", "algorithm", "setting", "metric", "statistic"]
        rows = summary[[*keys, "value", "n"]].itertuples(index=False, name=None)
        self._known = {row[:5]: row[5:] for row in rows}

    def value(self, *place: str, statistic: str = "mean") -> float:
        """One number, or NaN; the place is (dataset, algorithm, setting, metric)."""
        return float(self._known.get((*place, statistic), (nan,))[0])

    def interval(self, *place: str, test_to_train: float = 0.0) -> tuple[float, float]:
        """A mean, and half of its interval, from its standard deviation."""
        sd, n = self._known.get((*place, "sd"), (nan, 0))
        half = t_half(sd, int(n), test_to_train) if isfinite(sd) else inf
        return self.value(*place), half

    def gap(
        self, ours: str, rival: str, dataset: str, setting: str, metric: str
    ) -> tuple[float, float]:
        """How much more a rival has than ours, and half of its interval; of `paired` rows."""
        place = (dataset, rival, setting, metric)
        kinds = (f"more than {ours}", f"± {ours}")
        mean, half = (self.value(*place, statistic=kind) for kind in kinds)
        return mean, half

    def ratio(
        self, ours: str, rival: str, dataset: str, setting: str, metric: str, of: str = ""
    ) -> tuple[float, float]:
        """`gap` as a share of what the rival has, or another."""
        scale = abs(self.value(dataset, of or rival, setting, metric)) or 1.0
        mean, half = self.gap(ours, rival, dataset, setting, metric)
        return mean / scale, half / scale

    def less(
        self, ours: str, rival: str, dataset: str, setting: str, metric: str, name: str = ""
    ) -> Part:
        """Whether ours has less than a rival, as a share of what the rival has."""
        gap = self.ratio(ours, rival, dataset, setting, metric)
        return Part.gap(name or f"{ours} below {rival}, {dataset}", *gap)

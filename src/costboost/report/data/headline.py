"""The headline: what the model costs and saves against the usual alternatives, with intervals."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from costboost._typing import AnyArray, Floats, Ints
from costboost.report.case import Case, sums

__all__ = ["Daily", "Headline", "Interval", "Rule", "headline"]

RESAMPLES = 2_000
MOST_RESAMPLED = 20_000
"""Above this many units the normal interval is used; the bootstrap would say the same."""

FEWEST_DAYS = 20
"""With at least this many days, whole days are resampled: rows of a day are alike."""


@dataclass(frozen=True)
class Interval:
    """A value with its 95 % interval."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Rule:
    """One way to decide."""

    key: str
    name: str
    cost: Interval
    saving: Interval


@dataclass(frozen=True, eq=False)
class Daily:
    """Costs by day."""

    days: AnyArray
    costs: dict[str, Floats]


@dataclass(frozen=True, eq=False)
class Headline:
    """Costs of all rules; the model comes last of the first four, then the rivals."""

    rules: list[Rule]
    perfect: float
    rows: float
    unit: str
    daily: Daily | None

    def rule(self, key: str) -> Rule:
        """The first rule of that key."""
        return next(rule for rule in self.rules if rule.key == key)


def likeliest(case: Case) -> Ints:
    """The right decision of the most likely class; with two classes, a threshold of 0.5."""
    if case.k == 2 and len(case.risky) == 1:
        acting = int(case.risky[0])
        class_ = np.where(case.proba[:, acting] >= 0.5, acting, 1 - acting)
    else:
        class_ = case.proba.argmax(axis=1)
    return np.asarray(case.right[class_], dtype=np.intp)


def headline(case: Case, seed: int = 0) -> Headline:
    """Price the model and the alternatives on the same rows."""
    # The best constant decision is the one that is cheapest on these very rows, which gives it a
    # small advantage over the model.
    best = int((case.weights @ case.prices).argmin())
    same = np.zeros(case.n, dtype=np.intp)
    two = case.k == 2 and case.d == 2
    rules: list[tuple[str, str, Ints]] = [
        ("nothing", f"Doing nothing (always {case.decisions[case.nothing]})", same + case.nothing),
        ("constant", f"Best constant decision (always {case.decisions[best]})", same + best),
        ("likeliest", "Threshold 0.5" if two else "Most likely class", likeliest(case)),
        ("model", "The model", case.decided),
        *(("rival", name, rival.decided) for name, rival in case.rivals.items()),
    ]
    paid = np.column_stack([case.paid(decided) * case.weights for _, _, decided in rules])
    units, daily = paid, None
    if case.time is not None:
        daily = by_day(case.time, paid, [name for _, name, _ in rules])
        if len(daily.days) >= FEWEST_DAYS:
            units = np.column_stack(list(daily.costs.values()))
    savings = units - units[:, [3]]
    intervals = total_intervals(np.hstack([units, savings]), seed)
    m = len(rules)
    return Headline(
        [Rule(key, name, intervals[r], intervals[m + r]) for r, (key, name, _) in enumerate(rules)],
        float((case.prices.min(axis=1) * case.weights).sum()),
        float(case.weights.sum()),
        "row" if units is paid else "day",
        daily,
    )


def by_day(time: AnyArray, paid: Floats, names: list[str]) -> Daily:
    """Sums of the columns of `paid` by day."""
    day = time.astype("datetime64[D]").astype(np.int64)
    first = day.min()
    length = int(day.max() - first + 1)
    days = np.arange(first, first + length).astype("datetime64[D]")
    return Daily(
        days,
        {
            name: sums(day - first, column, length)
            for name, column in zip(names, paid.T, strict=True)
        },
    )


def total_intervals(values: Floats, seed: int = 0) -> list[Interval]:
    """95 % intervals of the sums of columns, over new draws of as many rows."""
    # Percentiles of a bootstrap up to 20,000 rows, above that the normal interval.
    n, columns = values.shape
    total = values.sum(axis=0)
    if n > MOST_RESAMPLED:
        half = 1.959964 * np.sqrt(n) * values.std(axis=0, ddof=1)
        low, high = total - half, total + half
    else:
        rng = np.random.default_rng(seed)
        sums = np.empty((RESAMPLES, columns))
        for place in range(RESAMPLES):
            drawn = np.bincount(rng.integers(n, size=n), minlength=n)
            sums[place] = drawn @ values
        low, high = np.percentile(sums, [2.5, 97.5], axis=0)
    return [Interval(*three) for three in np.column_stack([total, low, high]).tolist()]

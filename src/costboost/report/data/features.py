"""Features by the money they move, and how."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from costboost._typing import AnyArray, Floats, Ints
from costboost.report.case import Case
from costboost.report.data.money import as_words, places_of, shown

__all__ = ["Effect", "FeatureMoney", "features"]

MOST_EXPLAINED = 2_000
MOST_FEATURES = 15
MOST_EFFECTS = 6
STEPS = 12
NUMBERS = "iufb"


@dataclass(frozen=True, eq=False)
class Effect:
    """How much a feature speaks for acting, by its value."""

    name: str
    labels: list[str]
    is_ordered: bool
    mean: Floats
    low: Floats
    high: Floats


@dataclass(frozen=True, eq=False)
class FeatureMoney:
    """Features by mean absolute money."""

    names: list[str]
    money: Floats
    rows: int
    effects: list[Effect]


def features(case: Case, seed: int = 0) -> FeatureMoney | None:
    """Explain a sample of rows; None if the case has no explanations."""
    if case.explain is None:
        return None
    rows = np.arange(case.n)
    if case.n > MOST_EXPLAINED:
        rows = np.sort(np.random.default_rng(seed).choice(case.n, MOST_EXPLAINED, replace=False))
    parts = case.explain(rows)
    names = list(case.features)
    w = case.weights[rows] / case.weights[rows].sum()
    money = w @ np.abs(parts)
    order = np.argsort(-money, kind="stable")[:MOST_FEATURES]
    # Parts speak for the decision taken; where that is to do nothing, against acting.
    acting = parts * np.where(case.decided[rows] == case.nothing, -1.0, 1.0)[:, None]
    effects = [
        _effect(names[f], case.features[names[f]][rows], acting[:, f])
        for f in order[:MOST_EFFECTS]
        if money[f] > 0
    ]
    return FeatureMoney([names[f] for f in order], money[order], len(rows), effects)


def _effect(name: str, values: AnyArray, parts: Floats) -> Effect:
    labels, place = _steps(values)
    groups = [parts[place == code] for code in range(len(labels))]
    table = np.array([[group.mean(), *np.percentile(group, [10, 90])] for group in groups])
    is_ordered = values.dtype.kind in NUMBERS
    order = np.arange(len(labels)) if is_ordered else np.argsort(table[:, 0], kind="stable")
    return Effect(name, [labels[code] for code in order], is_ordered, *table[order].T)


def _steps(values: AnyArray) -> tuple[list[str], Ints]:
    """Values as a few steps: equally frequent ranges of numbers, the most frequent words."""
    if values.dtype.kind in NUMBERS:
        numbers = values.astype(np.float64)
        place = places_of(numbers, STEPS)
        groups = [numbers[place == code] for code in range(int(place.max()) + 1)]
        return [shown(np.quantile(group, 0.5, method="lower")) for group in groups], place
    words, place, counts = np.unique(as_words(values), return_inverse=True, return_counts=True)
    order = np.argsort(-counts, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    labels = words[order].tolist()
    if len(labels) > STEPS:
        labels = [*labels[: STEPS - 1], "others"]
    return labels, np.minimum(rank[place], len(labels) - 1)

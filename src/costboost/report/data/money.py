"""Where the money goes: the costliest mistakes, outcomes, deciles of the amount, segments."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from costboost._typing import AnyArray, Floats, Ints
from costboost.report.case import Case, sums

__all__ = ["Group", "Mistake", "Outcomes", "deciles", "mistakes", "outcomes", "segments"]

MOST_MISTAKES = 100
MOST_GROUPS = 12
REASONS = 3


@dataclass(frozen=True)
class Mistake:
    """A row whose decision was not the cheapest one."""

    row: str
    truth: str
    decided: str
    cheapest: str
    paid: float
    avoidable: float
    probability: float
    reasons: list[tuple[str, str, float]]


def mistakes(case: Case, most: int = MOST_MISTAKES) -> list[Mistake]:
    """The rows with the largest avoidable cost, largest first."""
    paid = case.paid(case.decided) * case.weights
    avoidable = paid - case.prices.min(axis=1) * case.weights
    wrong = np.flatnonzero(avoidable > 0)
    rows = wrong[np.argsort(-avoidable[wrong], kind="stable")[:most]]
    cheapest = case.prices[rows].argmin(axis=1)
    parts = None if case.explain is None or not len(rows) else case.explain(rows)
    names = list(case.features)
    return [
        Mistake(
            str(row if case.ids is None else case.ids[row]),
            str(case.classes[case.codes[row]]),
            str(case.decisions[case.decided[row]]),
            str(case.decisions[cheapest[place]]),
            float(paid[row]),
            float(avoidable[row]),
            float(case.proba[row, case.codes[row]]),
            [] if parts is None else _reasons(case, names, int(row), parts[place]),
        )
        for place, row in enumerate(rows)
    ]


def _reasons(case: Case, names: list[str], row: int, parts: Floats) -> list[tuple[str, str, float]]:
    largest = np.argsort(-np.abs(parts), kind="stable")[:REASONS]
    return [
        (names[f], shown(case.features[names[f]][row]), float(parts[f]))
        for f in largest
        if parts[f] != 0
    ]


def shown(value: Any) -> str:
    """A feature's value as text."""
    if isinstance(value, (float, np.floating)):
        return "missing" if np.isnan(value) else f"{value:,.4g}" if value < 1e4 else f"{value:,.0f}"
    return str(value)


@dataclass(frozen=True, eq=False)
class Outcomes:
    """Rows and money by truth and decision."""

    rows: Floats
    paid: Floats
    avoidable: Floats


def outcomes(case: Case) -> Outcomes:
    """Sum rows and costs of the model's decisions by truth and decision."""
    cell = case.codes * case.d + case.decided
    paid = case.paid(case.decided) * case.weights
    tables = (case.weights, paid, paid - case.prices.min(axis=1) * case.weights)
    size = case.k * case.d
    return Outcomes(*(sums(cell, table, size).reshape(case.k, case.d) for table in tables))


@dataclass(frozen=True)
class Group:
    """Costs of a group of rows."""

    label: str
    rows: float
    nothing: float
    model: float
    perfect: float


def deciles(case: Case) -> list[Group]:
    """Costs by decile of the amount; empty without an amount."""
    if case.amount is None:
        return []
    labels, place = parts_of(case.amount[1], 10)
    return _groups(case, place, labels)


def segments(case: Case) -> dict[str, list[Group]]:
    """Costs by the values of each segment column, the costliest first; numbers by fifths."""
    return {name: _segment(case, values) for name, values in case.segments.items()}


def _segment(case: Case, values: AnyArray) -> list[Group]:
    if values.dtype.kind in "iuf" and len(np.unique(values)) > MOST_GROUPS:
        labels, place = parts_of(values.astype(np.float64), 5)
        return _groups(case, place, labels)
    labels_, place = np.unique(as_words(values), return_inverse=True)
    cost = sums(place, case.paid(case.decided) * case.weights)
    order = np.argsort(-cost, kind="stable")
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    names = labels_[order].tolist()
    place = rank[place]
    if len(names) > MOST_GROUPS:
        place = np.minimum(place, MOST_GROUPS - 1)
        names = [*names[: MOST_GROUPS - 1], f"{len(names) - MOST_GROUPS + 1} others"]
    return _groups(case, place, names)


def as_words(values: AnyArray) -> AnyArray:
    """Values as text, missing ones by that name."""
    words = values.astype(str)
    return np.where(np.isin(words, ["nan", "None", "<NA>", "NaT"]), "missing", words)


def places_of(values: Floats, parts: int) -> Ints:
    """Number of the part of each value: parts of equal size, those of equal values joined."""
    # Missing values are a part of their own, the last one.
    missing = np.isnan(values)
    if missing.all():
        return np.zeros(len(values), dtype=np.intp)
    # Edges are values that occur: no arithmetic, so infinite ones do no harm.
    marks = np.linspace(0, 1, parts + 1)[1:-1]
    edges = np.unique(np.quantile(values[~missing], marks, method="lower"))
    place = np.searchsorted(edges, values, side="right")
    return np.unique(np.where(missing, len(edges) + 1, place), return_inverse=True)[1]


def parts_of(values: Floats, parts: int) -> tuple[list[str], Ints]:
    """Parts of equal size by value, each with its span, and the part of each value."""
    place = places_of(values, parts)
    labels = []
    for code in range(int(place.max()) + 1):
        inside = values[place == code]
        low, high = inside.min(), inside.max()
        if np.isnan(low):
            labels.append("missing")
        else:
            labels.append(shown(low) if low == high else f"{shown(low)} to {shown(high)}")
    return labels, place


def _groups(case: Case, place: Ints, labels: list[str]) -> list[Group]:
    size = len(labels)
    parts = [
        sums(place, values * case.weights, size)
        for values in (
            np.ones(case.n),
            case.prices[:, case.nothing],
            case.paid(case.decided),
            case.prices.min(axis=1),
        )
    ]
    return [Group(label, *(float(part[i]) for part in parts)) for i, label in enumerate(labels)]

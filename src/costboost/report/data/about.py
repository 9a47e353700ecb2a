"""What the report is about: data, settings, versions, and the costs in words."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from importlib.metadata import PackageNotFoundError, version

import numpy as np

from costboost._typing import Floats
from costboost.report.case import Case, sums

__all__ = ["About", "about", "costs_in_words"]

PACKAGES = ("costboost", "numpy", "scipy", "scikit-learn", "lightgbm", "xgboost", "plotly")
MOST_PAIRS = 30


@dataclass(frozen=True)
class About:
    """Data, settings and versions as pairs of text, and the costs as sentences."""

    data: list[tuple[str, str]]
    settings: list[tuple[str, str]]
    versions: list[tuple[str, str]]
    costs: list[str]


def about(case: Case) -> About:
    """Collect what a reader needs to trust or repeat the report."""
    share = sums(case.codes, case.weights, case.k) / case.weights.sum()
    data = [
        ("Rows", f"{case.n:,}"),
        *(
            (f"Share of class {label}", f"{part:.2%}")
            for label, part in zip(case.classes, share, strict=True)
        ),
        ("Decisions", ", ".join(str(label) for label in case.decisions)),
        ("Doing nothing means", str(case.decisions[case.nothing])),
        ("Costs", "each row has its own" if case.is_per_row else "one matrix for all rows"),
    ]
    if not (case.weights == 1.0).all():
        data.insert(1, ("Sum of weights", f"{case.weights.sum():,.6g}"))
    if case.time is not None:
        days = case.time.astype("datetime64[D]")
        data.append(("Time", f"{days.min()} to {days.max()}"))
    return About(data, list(case.settings.items()), _versions(), costs_in_words(case))


def _versions() -> list[tuple[str, str]]:
    found = [("Python", platform.python_version())]
    for name in PACKAGES:
        try:
            found.append((name, version(name)))
        except PackageNotFoundError:
            continue
    return found


def costs_in_words(case: Case) -> list[str]:
    """One sentence per pair of truth and decision that ever costs or earns something."""
    # The costliest pairs, if there are many. The span is over all rows, as known when deciding.
    spans = {
        (j, e): _span(np.atleast_1d(np.asarray(case.cost_of(j, e))), case.weights)
        for j in range(case.k)
        for e in range(case.d)
    }
    pairs = [pair for pair, (low, _, high) in spans.items() if low != 0 or high != 0]
    if len(pairs) > MOST_PAIRS:
        pairs = sorted(pairs, key=lambda pair: -abs(spans[pair][1]))[:MOST_PAIRS]
    return [
        f"Deciding {case.decisions[e]} when the truth is {case.classes[j]} "
        f"{_phrase(spans[j, e], case.unit)}."
        for j, e in pairs
    ]


def _span(values: Floats, weights: Floats) -> tuple[float, float, float]:
    mean = values[0] if len(values) == 1 else np.average(values, weights=weights)
    return float(values.min()), float(mean), float(values.max())


def _phrase(span: tuple[float, float, float], unit: str) -> str:
    low, mean, high = span
    if low == high:
        return f"costs {_amount(low, unit)}" if low >= 0 else f"earns {_amount(-low, unit)}"
    shown = [_amount(value, unit) for value in (low, high, mean)]
    return f"costs {shown[0]} to {shown[1]}, on average {shown[2]}"


def _amount(value: float, unit: str) -> str:
    """An amount without needless decimals."""
    gap = " " if len(unit) > 1 else ""
    sign = "−" if value < 0 else ""
    return f"{sign}{unit}{gap}{abs(value):,.{0 if value == round(value) else 2}f}"

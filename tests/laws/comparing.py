"""What laws share: choices that a case determines, errors, and the comparison of two outcomes."""

from __future__ import annotations

import zlib
from typing import Any

import numpy as np

from helpers.arrays import AnyArray
from laws.case import Case
from laws.outcome import LawBrokenError, Outcome

__all__ = ["COST_UNITS", "WEIGHT_UNITS", "bits", "broken", "random_of", "same"]

COST_UNITS = (-990, -300, -40, -3, 3, 20, 35)
"""Powers of two by which laws multiply costs; costs above 1e12 are refused."""

WEIGHT_UNITS = (-1018, -300, -40, -3, 3, 20, 35)
"""Powers of two by which laws multiply weights; weights above 1e12 are refused."""

# How far probabilities may be apart that should be equal up to rounding.
_ROUNDING = 1e-6
# A score that is so near to that of another decision, relative to the largest, decides by rounding.
_NEAR_TIE = 1e-6


def broken(subject: Any, what: str, case: Case) -> LawBrokenError:
    """The error of a broken law."""
    name = getattr(subject, "__name__", type(subject).__name__)
    return LawBrokenError(f"{name} {what}. On {case!r}")


def random_of(case: Case) -> np.random.Generator:
    """Choices of a law that depend on the case alone."""
    return np.random.default_rng(zlib.crc32(case.table.tobytes() + case.codes.tobytes()))


def bits(found: Outcome) -> list[Any]:
    """Decisions, probabilities and scores, to be compared exactly."""
    parts = (found.decisions, found.proba, found.scores)
    return [None if part is None else np.asarray(part).tolist() for part in parts]


def same(
    estimator: Any, first: Outcome, second: Outcome, case: Case, what: str, exact: bool = False
) -> Outcome:
    """Break the law unless two outcomes are equal."""
    if (first.refusal is None) != (second.refusal is None):
        refusal = first.refusal or second.refusal
        raise broken(estimator, f"refuses only once ({refusal}) {what}", case)
    if first.refusal is not None:
        return first
    if exact and bits(first)[:2] != bits(second)[:2]:
        raise broken(estimator, f"answers otherwise {what}", case)
    if first.proba is not None and second.proba is not None:
        gap = float(np.abs(first.proba - second.proba).max())
        if gap > _ROUNDING:
            raise broken(estimator, f"has probabilities that differ by {gap:.2g} {what}", case)
    differ = np.asarray(first.decisions) != np.asarray(second.decisions)
    differ &= ~_near_ties(first)
    if differ.any():
        raise broken(estimator, f"decides otherwise on {int(differ.sum())} rows {what}", case)
    return first


def _near_ties(found: Outcome) -> AnyArray:
    """Rows whose two best decisions are equal up to rounding, (m,)."""
    m = len(np.asarray(found.decisions))
    values = found.scores if found.scores is not None else found.proba
    if values is None:
        return np.zeros(m, dtype=bool)
    values = np.asarray(values, dtype=np.float64)
    size = float(np.abs(values).max(initial=0.0)) or 1.0
    if values.ndim == 1:
        return np.asarray(np.abs(values) <= _NEAR_TIE * size)
    best = np.sort(values, axis=1)
    return np.asarray(best[:, -1] - best[:, -2] <= _NEAR_TIE * size)

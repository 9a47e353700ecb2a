"""Tests of one quantity each: whether it has changed between two sets of rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.stats import chi2_contingency, ks_2samp, norm, pearson3

from costboost._tables import is_missing
from costboost._typing import AnyArray, Floats, Ints
from costboost.metrics import statistics
from costboost.monitor.snapshot import Snapshot

__all__ = ["Check"]

# Numeric columns with no more distinct values than this are compared by their frequencies.
_FEW_VALUES = 12
# Values that occur less often than this, in both sets together, count as one value.
_RARE = 20


@dataclass(frozen=True)
class Check:
    """One comparison of new rows with the reference.

    Attributes
    ----------
    name : str
        What was compared.
    kind : str
        "cost", "decisions", "feature", "calibration" or "realised".
    reference, new : float
        A number that describes it in both sets: a mean, or the share of the value that changed
        most.
    p_value : float
        Probability of a difference at least this large if nothing has changed.
    adjusted : float
        The p-value after Holm's correction for the number of checks.
    alarm : bool
        Whether ``adjusted`` is at or below the false-alarm rate.
    """

    name: str
    kind: str
    reference: float
    new: float
    p_value: float
    adjusted: float = 1.0
    alarm: bool = False


def unlabelled(reference: Snapshot, new: Snapshot) -> list[Check]:
    """Checks that need no labels: cost, decision rates, features."""
    found = [
        Check(
            "expected cost",
            "cost",
            float(reference.expected.mean()),
            float(new.expected.mean()),
            _means(reference.expected, new.expected),
        ),
        _decision_rates(reference, new),
    ]
    return found + [_feature(name, reference, new) for name in reference.features]


def labelled(reference: Snapshot, new: Snapshot) -> list[Check]:
    """Checks of rows whose labels have come: calibration, realised against expected cost."""
    if new.truth is None or new.paid is None:
        return []
    found = []
    classes = new.classes.tolist()
    for c in range(1 if len(classes) == 2 else 0, len(classes)):
        for what, slope in (("calibration", False), ("confidence", True)):
            mine = _residuals(new, c, slope)
            theirs = None if reference.truth is None else _residuals(reference, c, slope)
            found.append(
                Check(
                    f"{what} of {classes[c]}",
                    "calibration",
                    0.0 if theirs is None else float(theirs.mean()),
                    float(mine.mean()),
                    _against(mine, theirs, _residual_variance(new, c, slope)),
                )
            )
    beyond = new.paid - new.expected
    before = None if reference.paid is None else reference.paid - reference.expected
    found.append(
        Check(
            "realised less expected cost",
            "realised",
            0.0 if before is None else float(before.mean()),
            float(beyond.mean()),
            _against(beyond, before, new.variance),
        )
    )
    return found


def holm(checks: list[Check], rate: float) -> list[Check]:
    """Adjust p-values so that the probability of any false alarm is at most the rate."""
    adjusted = statistics.holm([check.p_value for check in checks])
    return [
        Check(one.name, one.kind, one.reference, one.new, one.p_value, float(a), bool(a <= rate))
        for one, a in zip(checks, adjusted, strict=True)
    ]


def _residuals(rows: Snapshot, c: int, slope: bool) -> Floats:
    """Truth less probability of a class; times the probability's deviation for the slope."""
    p = rows.proba[:, c]
    residual = (rows.truth == c) - p
    return np.asarray(residual * (p - 0.5) if slope else residual, dtype=np.float64)


def _residual_variance(rows: Snapshot, c: int, slope: bool) -> Floats:
    p = rows.proba[:, c]
    variance = p * (1.0 - p)
    return np.asarray(variance * (p - 0.5) ** 2 if slope else variance)


def _against(new: Floats, reference: Floats | None, variance: Floats) -> float:
    """Against the reference, or against 0 with the variance the model expects."""
    if reference is not None:
        return _means(reference, new)
    spread = float(np.sqrt(variance.sum()))
    if spread == 0:
        return 1.0 if not new.any() else 0.0
    return float(2.0 * norm.sf(abs(new.sum()) / spread))


def _means(reference: Floats, new: Floats) -> float:
    """Permutation test of two means, its distribution by a Pearson curve of equal skewness."""
    # Costs are skewed and the sets differ in size, where tests by Student or Welch raise several
    # times the false alarms they should. The moments of the mean of a random part of all rows are
    # known (Mielke & Berry 2007), so nothing needs to be drawn.
    rows = np.concatenate([reference, new])
    n, m = len(rows), len(new)
    centred = rows - rows.mean()
    variance = float((centred**2).mean())
    if variance <= 1e-28 * float(np.abs(rows).max()) ** 2:  # constant, up to rounding
        return 1.0
    share = m / n
    z = (new.mean() - rows.mean()) / np.sqrt(variance / m * (n - m) / (n - 1))
    skew = float((centred**3).mean()) / variance**1.5 * (1 - 2 * share) / np.sqrt(m * (1 - share))
    tail = min(float(pearson3.cdf(z, skew)), float(pearson3.sf(z, skew)))
    return min(1.0, 2.0 * tail)


def _decision_rates(reference: Snapshot, new: Snapshot) -> Check:
    d = len(reference.decisions)
    tables = [np.bincount(rows.codes, minlength=d) for rows in (reference, new)]
    rates = [table / table.sum() for table in tables]
    most = int(np.abs(rates[1] - rates[0]).argmax())
    return Check(
        "decision rates",
        "decisions",
        float(rates[0][most]),
        float(rates[1][most]),
        _frequencies(tables[0], tables[1]),
    )


def _frequencies(reference: Ints, new: Ints) -> float:
    """Chi-square test of two tables of counts, rare values together."""
    table = np.stack([reference, new])
    rare = table.sum(axis=0) < _RARE
    if rare.any():
        pooled = table[:, rare].sum(axis=1, keepdims=True)
        table = np.concatenate([table[:, ~rare], pooled], axis=1)
    table = table[:, table.sum(axis=0) > 0]
    if table.shape[1] < 2:
        return 1.0
    return float(chi2_contingency(table, correction=False).pvalue)


def _feature(name: str, reference: Snapshot, new: Snapshot) -> Check:
    old, now = reference.features[name], new.features[name]
    if old.dtype.kind in "fiu" and now.dtype.kind in "fiu":
        a, b = (column.astype(np.float64) for column in (old, now))
        known_a, known_b = a[~np.isnan(a)], b[~np.isnan(b)]
        p = _numbers(known_a, known_b)
        if len(known_a) < len(a) or len(known_b) < len(b):  # the missing ones are a check, too
            counts = [
                np.array([len(known), len(column) - len(known)])
                for known, column in ((known_a, a), (known_b, b))
            ]
            p = min(1.0, 2.0 * min(p, _frequencies(*counts)))
        means = [
            float(known.mean()) if len(known) else float("nan") for known in (known_a, known_b)
        ]
        return Check(name, "feature", means[0], means[1], p)
    tables = _counted(old, now)
    rates = [table / table.sum() for table in tables]
    most = int(np.abs(rates[1] - rates[0]).argmax())
    return Check(
        name, "feature", float(rates[0][most]), float(rates[1][most]), _frequencies(*tables)
    )


def _numbers(a: Floats, b: Floats) -> float:
    if not len(a) or not len(b):
        return 1.0
    values = np.unique(np.concatenate([a, b]))
    if len(values) <= _FEW_VALUES:
        return _frequencies(*_counted(a, b))
    return float(ks_2samp(a, b, method="asymp").pvalue)


def _counted(a: AnyArray, b: AnyArray) -> tuple[Ints, Ints]:
    """How often each value occurs in either column; missing is a value."""
    columns = [[_key(value) for value in column.tolist()] for column in (a, b)]
    index = {key: i for i, key in enumerate(dict.fromkeys(columns[0] + columns[1]))}
    first, second = (
        np.bincount([index[key] for key in column], minlength=len(index)) for column in columns
    )
    return first, second


def _key(value: Any) -> Any:
    return None if is_missing(value) else value

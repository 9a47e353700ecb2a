"""Monitor a classifier in use: what new rows will cost, and whether anything has changed.

Take a snapshot of rows the model has not trained on, and later one of new rows. Labels may come
later, or never:

>>> from sklearn.linear_model import LogisticRegression
>>> from costboost.datasets import make_gaussians_2d
>>> from costboost.monitor import Monitor, snapshot_of
>>> X, y = make_gaussians_2d(2000, random_state=0)
>>> model = LogisticRegression().fit(X[:1000], y[:1000])
>>> prices = {"fn": 5, "fp": 1, "positive": 1}
>>> reference = snapshot_of(model, X[1000:], y[1000:], cost_matrix=prices)
>>> monitor = Monitor(reference, false_alarm_rate=0.01)
>>> same, _ = make_gaussians_2d(500, random_state=1)
>>> monitor.check(snapshot_of(model, same, cost_matrix=prices)).alarms
[]
>>> shifted = snapshot_of(model, same + [0.0, 1.0], cost_matrix=prices)
>>> [check.name for check in monitor.check(shifted).alarms]
['decision rates', 'x1']
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import chi2_contingency, ks_2samp, norm, pearson3
from sklearn.utils.validation import check_array

from costboost._typing import AnyArray, Floats, Ints
from costboost._utils import as_frame, checked_share, is_missing
from costboost.columns.raw import has_columns
from costboost.costs import Costs
from costboost.costs.labels import checked_codes, positions
from costboost.decisions.arrays import cheapest, checked, columns_of, expected_cost
from costboost.estimator import CostSensitiveClassifier
from costboost.metrics import holm

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Check", "Monitor", "MonitorReport", "Snapshot", "snapshot", "snapshot_of"]

# Numeric columns with no more distinct values than this are compared by their frequencies.
_FEW_VALUES = 12
# Values that occur less often than this, in both sets together, count as one value.
_RARE = 20


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Rows, probabilities, decisions and their costs; made by `snapshot` or `snapshot_of`.

    Attributes
    ----------
    features : dict of str to array of shape (n,)
        The columns, without dates.
    proba : array of shape (n, k)
        Probability of each class.
    classes, decisions : arrays of shape (k,) and (d,)
        Labels.
    codes : int array of shape (n,)
        Decisions, as indices into `decisions`.
    expected, variance : arrays of shape (n,)
        Mean and variance of the cost of each row's decision, over its unknown truth.
    truth : int array of shape (n,), or None
        True classes, as indices into `classes`, if known.
    paid : array of shape (n,), or None
        What each decision cost, if the truth is known.
    """

    features: dict[str, AnyArray]
    proba: Floats
    classes: AnyArray
    decisions: AnyArray
    codes: Ints
    expected: Floats
    variance: Floats
    truth: Ints | None
    paid: Floats | None

    def __len__(self) -> int:
        return len(self.codes)


def snapshot(
    X: Any,
    proba: ArrayLike,
    matrix: ArrayLike,
    truth: ArrayLike | None = None,
    *,
    codes: ArrayLike | None = None,
    classes: ArrayLike | None = None,
    decisions: ArrayLike | None = None,
) -> Snapshot:
    """Take a snapshot from plain arrays.

    Parameters
    ----------
    X : table of shape (n, f)
        The rows.
    proba : array of shape (n, k)
        Probability of each class.
    matrix : array of shape (k, d) or (n, k, d)
        Costs, truth by decision.
    truth : array of shape (n,), optional
        True labels, if known.
    codes : int array of shape (n,), optional
        Decisions taken, as indices into `decisions`; by default the cheapest ones.
    classes, decisions : arrays of shape (k,) and (d,), optional
        Labels; by default 0, 1, ...

    Returns
    -------
    Snapshot
        The snapshot.
    """
    owner = "snapshot"
    p, C, names, actions = checked(proba, matrix, owner, classes, decisions)
    if (n := len(p)) < 2:
        raise ValueError(f"{owner} needs at least two rows, got {n}. Collect more rows.")
    taken = cheapest(expected_cost(p, C))
    if codes is not None:
        taken = checked_codes(codes, n, len(actions), "codes", owner)
    own = C.T[taken] if C.ndim == 2 else C[np.arange(n), :, taken]  # (n, k)
    mean = (p * own).sum(axis=1)
    variance = (p * (own - mean[:, None]) ** 2).sum(axis=1)
    known = paid = None
    if truth is not None:
        known = positions(truth, names, "classes", "truth", owner, n)
        paid = own[np.arange(n), known]
    return Snapshot(_columns(X, n, owner), p, names, actions, taken, mean, variance, known, paid)


def snapshot_of(
    model: Any, X: Any, y: ArrayLike | None = None, *, costs: Any = None, cost_matrix: Any = None
) -> Snapshot:
    """Take a snapshot of rows as a fitted classifier sees them.

    Parameters
    ----------
    model : classifier
        Fitted, with ``predict_proba`` and ``classes_``.
    X : table of shape (n, f)
        The rows, as the model takes them.
    y : array of shape (n,), optional
        True labels, if known.
    costs : array of shape (n, k, d), optional
        Costs of single rows.
    cost_matrix : any form of costs, optional
        One matrix for all rows, or a function of X; by default the costs that the model itself
        goes by, which may be learned. Uncertain costs count by their means.

    Returns
    -------
    Snapshot
        The snapshot, with the decisions that the model takes.
    """
    if cost_matrix is None and isinstance(model, CostSensitiveClassifier):
        answer, proba, _ = model._weighed_answer(X, costs, "snapshot_of")
        known, codes = answer.costs, answer.codes
    else:
        proba = np.asarray(model.predict_proba(X), dtype=np.float64)
        known = Costs.resolve(
            cost_matrix, costs, classes=model.classes_, n_samples=len(proba), X=X, means=True,
            owner="snapshot_of",
        )  # fmt: skip
        codes = known.decide(proba)
    labels = {"classes": model.classes_, "decisions": known.decisions}
    return snapshot(X, proba, known.matrix, y, codes=codes, **labels)


def _columns(X: Any, n: int, owner: str) -> dict[str, AnyArray]:
    if not has_columns(X):
        table = X.toarray() if hasattr(X, "toarray") else X
        array = check_array(table, dtype=None, ensure_all_finite=False)
        X = {f"x{j}": column for j, column in enumerate(array.T)}
    columns = columns_of(X, n, "X", owner)
    return {key: one for key, one in columns.items() if one.dtype.kind != "M"}  # dates change


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
    value : str
        Where shares are compared, the value whose share `reference` and `new` are.
    """

    name: str
    kind: str
    reference: float
    new: float
    p_value: float
    adjusted: float = 1.0
    alarm: bool = False
    value: str = ""

    @property
    def what(self) -> str:
        """What the two numbers are."""
        return f"{self.name} (share of {self.value})" if self.value else self.name


@dataclass(frozen=True, eq=False)
class MonitorReport:
    """What a check of new rows found; made by `Monitor.check`.

    Attributes
    ----------
    n : int
        Number of new rows.
    expected_cost : float
        Expected cost per row.
    low, high : float
        Interval in which the realised cost per row of these very rows lies with the stated
        confidence, if the model's probabilities are right.
    reference_cost : float
        Expected cost per row of the reference.
    realised_cost : float or None
        Cost per row, if labels are known.
    confidence, false_alarm_rate : float
        The arguments of `Monitor.check` and `Monitor`.
    checks : list of Check
        The comparisons.
    """

    n: int
    expected_cost: float
    low: float
    high: float
    reference_cost: float
    realised_cost: float | None
    confidence: float
    false_alarm_rate: float
    checks: list[Check]

    @property
    def alarms(self) -> list[Check]:
        """The checks that raise an alarm."""
        return [check for check in self.checks if check.alarm]

    def to_frame(self) -> pd.DataFrame:
        """One row per check.

        Returns
        -------
        pandas.DataFrame
            Columns ``name``, ``kind``, ``reference``, ``new``, ``p_value``, ``adjusted``,
            ``alarm``.
        """
        return as_frame([asdict(check) for check in self.checks], "MonitorReport")

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, ready for JSON.

        Returns
        -------
        dict
            All attributes; checks as dictionaries.
        """
        return {**asdict(self), "alarms": [check.name for check in self.alarms]}

    def __str__(self) -> str:
        realised = "" if self.realised_cost is None else f", realised {self.realised_cost:.4g}"
        head = (
            f"{self.n} rows: expected cost per row {self.expected_cost:.4g} "
            f"({self.confidence:.0%}: {self.low:.4g} to {self.high:.4g}{realised}), reference "
            f"{self.reference_cost:.4g}"
        )
        if not self.alarms:
            return f"{head}\nno alarm in {len(self.checks)} checks"
        lines = [
            f"  {one.what}: {one.reference:.4g} -> {one.new:.4g} (adjusted p = {one.adjusted:.2g})"
            for one in self.alarms
        ]
        return "\n".join([head, f"alarms ({len(lines)} of {len(self.checks)} checks):", *lines])


class Monitor:
    """Compares new rows with a reference, at a stated rate of false alarms.

    Without labels: the mean expected cost (a permutation test), the decision rates (chi-square) and
    every feature (Kolmogorov-Smirnov, or chi-square where there are few values) that is not a date:
    later rows have later dates. With labels of both sets also calibration, confidence (whether
    probabilities are too extreme), and the realised cost less the expected one (permutation tests).

    Parameters
    ----------
    reference : Snapshot
        Rows that the model was not trained on: on training rows its decisions look too cheap.
    false_alarm_rate : float, default=0.01
        Probability that a check of unchanged rows raises any alarm at all. Holm's correction shares
        it among the comparisons. With a check every day, this is the probability each day.

    See Also
    --------
    snapshot, snapshot_of : Make snapshots.
    """

    def __init__(self, reference: Snapshot, *, false_alarm_rate: float = 0.01) -> None:
        self.reference = reference
        self.false_alarm_rate = checked_share(false_alarm_rate, "false_alarm_rate", "Monitor")

    def check(self, new: Snapshot, *, confidence: float = 0.95) -> MonitorReport:
        """Compare new rows with the reference.

        Parameters
        ----------
        new : Snapshot
            The new rows, of the same model; with labels if they have come.
        confidence : float, default=0.95
            Coverage of the interval of the cost.

        Returns
        -------
        MonitorReport
            What was found.
        """
        for name in ("features", "classes", "decisions"):
            old, now = (list(getattr(rows, name)) for rows in (self.reference, new))
            if old != now:
                rule = f"new rows must have the {name} of the reference"
                raise ValueError(f"Monitor.check: {rule}, {old}; got {now}.")
        confidence = checked_share(confidence, "confidence", "Monitor.check")
        mean = float(new.expected.mean())
        spread = float(np.sqrt(new.variance.sum())) / len(new)
        half = float(norm.ppf(0.5 + confidence / 2)) * spread
        checks = _checks(self.reference, new)
        # So the probability of any false alarm is at most the rate.
        adjusted = holm([check.p_value for check in checks]).tolist()
        return MonitorReport(
            n=len(new),
            expected_cost=mean,
            low=mean - half,
            high=mean + half,
            reference_cost=float(self.reference.expected.mean()),
            realised_cost=None if new.paid is None else float(new.paid.mean()),
            confidence=confidence,
            false_alarm_rate=self.false_alarm_rate,
            checks=[
                replace(check, adjusted=p, alarm=p <= self.false_alarm_rate)
                for check, p in zip(checks, adjusted, strict=True)
            ],
        )


# --- tests of one quantity each: whether it has changed between two sets of rows ------------------


def _checks(reference: Snapshot, new: Snapshot) -> list[Check]:
    """Every comparison that the rows allow; some need labels of both sets."""
    both, classes = (reference, new), new.classes.tolist()
    old, now = (np.bincount(rows.codes, minlength=len(rows.decisions)) for rows in both)
    found = [
        _mean("expected cost", "cost", *(rows.expected for rows in both)),
        _shares("decision rates", "decisions", old, now, new.decisions.tolist()),
        *(_feature(name, reference.features[name], new.features[name]) for name in new.features),
    ]
    if reference.paid is None or new.paid is None:
        return found
    for c in range(1 if len(classes) == 2 else 0, len(classes)):
        # Truth less probability of a class; times the probability's deviation for the slope.
        gaps = [(rows.truth == c) - rows.proba[:, c] for rows in both]
        slopes = [gap * (rows.proba[:, c] - 0.5) for gap, rows in zip(gaps, both, strict=True)]
        found.append(_mean(f"calibration of {classes[c]}", "calibration", *gaps))
        found.append(_mean(f"confidence of {classes[c]}", "calibration", *slopes))
    beyond = reference.paid - reference.expected, new.paid - new.expected
    return [*found, _mean("realised less expected cost", "realised", *beyond)]


def _mean(name: str, kind: str, reference: Floats, new: Floats) -> Check:
    """Permutation test of two means, its distribution by a Pearson curve of equal skewness."""
    # Costs are skewed and the sets differ in size, where tests by Student or Welch raise several
    # times the false alarms they should. The moments of the mean of a random part of all rows are
    # known (Mielke & Berry 2007), so nothing needs to be drawn.
    rows = np.concatenate([reference, new])
    share, m = len(new) / len(rows), len(new)
    centred, p = rows - rows.mean(), 1.0
    variance = float((centred**2).mean())
    if variance > 1e-28 * float(np.abs(rows).max()) ** 2:  # not constant up to rounding
        z = (new.mean() - rows.mean()) / np.sqrt(variance / m * len(reference) / (len(rows) - 1))
        skew = (centred**3).mean() / variance**1.5 * (1 - 2 * share) / np.sqrt(m * (1 - share))
        p = min(1.0, 2.0 * float(min(pearson3.cdf(z, skew), pearson3.sf(z, skew))))
    return Check(name, kind, float(reference.mean()), float(new.mean()), p)


def _shares(name: str, kind: str, reference: Ints, new: Ints, values: list[Any]) -> Check:
    """Frequencies of values, described by the share that changed most."""
    old, now = reference / reference.sum(), new / new.sum()
    most = int(np.abs(now - old).round(12).argmax())  # of two, the first: both change alike
    p, value = _frequencies(reference, new), values[most]
    shown = "missing" if value is None else str(value)
    return Check(name, kind, float(old[most]), float(now[most]), p, value=shown)


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


def _feature(name: str, old: AnyArray, now: AnyArray) -> Check:
    if old.dtype.kind not in "fiu" or now.dtype.kind not in "fiu":
        return _shares(name, "feature", *_counted(old, now))
    a, b = (column.astype(np.float64) for column in (old, now))
    known = [column[~np.isnan(column)] for column in (a, b)]
    if not all(map(len, known)):
        p = 1.0
    elif len(np.unique(np.concatenate(known))) <= _FEW_VALUES:
        p = _frequencies(*_counted(*known)[:2])
    else:
        p = float(ks_2samp(known[0], known[1], method="asymp").pvalue)
    if len(known[0]) < len(a) or len(known[1]) < len(b):  # the missing ones are a check, too
        counts = [np.array([len(k), len(c) - len(k)]) for k, c in zip(known, (a, b), strict=True)]
        p = min(1.0, 2.0 * min(p, _frequencies(*counts)))
    before, after = (float(c.mean()) if len(c) else float("nan") for c in known)
    return Check(name, "feature", before, after, p)


def _counted(a: AnyArray, b: AnyArray) -> tuple[Ints, Ints, list[Any]]:
    """How often each value occurs in either column, and the values; missing is one of them."""
    columns = [[None if is_missing(v) else v for v in column.tolist()] for column in (a, b)]
    index = {key: i for i, key in enumerate(dict.fromkeys(columns[0] + columns[1]))}
    old, new = (np.bincount([index[v] for v in one], minlength=len(index)) for one in columns)
    return old, new, list(index)

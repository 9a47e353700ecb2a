"""What new rows will cost beside what rows of the reference cost, and what was paid.

Take a snapshot of rows the model has not trained on, and later one of new rows. Labels may come
later, or never:

>>> from sklearn.linear_model import LogisticRegression
>>> from costboost.datasets import make_gaussians_2d
>>> from costboost.monitor import Monitor, snapshot_of
>>> X, y = make_gaussians_2d(2000, random_state=0)
>>> model = LogisticRegression().fit(X[:1000], y[:1000])
>>> prices = {"fn": 5, "fp": 1, "positive": 1}
>>> monitor = Monitor(snapshot_of(model, X[1000:], y[1000:], cost_matrix=prices))
>>> new, labels = make_gaussians_2d(500, random_state=1)
>>> report = monitor.check(snapshot_of(model, new, labels, cost_matrix=prices))
>>> bool(report.low < report.realised_cost < report.high)
True
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike
from scipy.stats import norm

from costboost._typing import AnyArray, Floats, Ints
from costboost._utils import checked_share
from costboost.costs import read_costs
from costboost.costs.labels import checked_codes, positions
from costboost.decisions import cheapest, expected_cost
from costboost.decisions.arrays import checked
from costboost.estimator import CostSensitiveClassifier
from costboost.metrics.money_interval import cost_interval

__all__ = ["Monitor", "MonitorReport", "Snapshot", "snapshot", "snapshot_of"]


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Probabilities, decisions and their costs; made by `snapshot` or `snapshot_of`.

    Attributes
    ----------
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
    matrix : array of shape (k, d) or (n, k, d)
        Costs, truth by decision.
    """

    proba: Floats
    classes: AnyArray
    decisions: AnyArray
    codes: Ints
    expected: Floats
    variance: Floats
    truth: Ints | None
    paid: Floats | None
    matrix: Floats

    def __len__(self) -> int:
        return len(self.codes)


def snapshot(
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
    return Snapshot(p, names, actions, taken, mean, variance, known, paid, C)


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
        goes by, which may be learned.

    Returns
    -------
    Snapshot
        The snapshot, with the decisions that the model takes.
    """
    if cost_matrix is None and isinstance(model, CostSensitiveClassifier):
        decided = model._decide_with_costs(X, costs, "snapshot_of")
        proba, known, codes = decided.proba, decided.costs, decided.chosen
    else:
        proba = np.asarray(model.predict_proba(X), dtype=np.float64)
        known = read_costs(
            cost_matrix, costs, classes=model.classes_, n_rows=len(proba), X=X,
            owner="snapshot_of",
        )  # fmt: skip
        codes = known.decide(proba)
    labels = {"classes": model.classes_, "decisions": known.decisions}
    return snapshot(proba, known.matrix, y, codes=codes, **labels)


@dataclass(frozen=True, eq=False)
class MonitorReport:
    """What new rows cost; made by `Monitor.check`.

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
    realised_low, realised_high : float or None
        Interval of what rows like these cost in the long run, as of `costboost.metrics.cost_by`.
    confidence : float
        The argument of `Monitor.check`.
    """

    n: int
    expected_cost: float
    low: float
    high: float
    reference_cost: float
    realised_cost: float | None
    realised_low: float | None
    realised_high: float | None
    confidence: float

    def to_dict(self) -> dict[str, Any]:
        """Plain numbers, ready for JSON.

        Returns
        -------
        dict
            All attributes.
        """
        return asdict(self)

    def __str__(self) -> str:
        realised = ""
        if self.realised_cost is not None:
            realised = (
                f", realised {self.realised_cost:.4g} ({self.realised_low:.4g} to "
                f"{self.realised_high:.4g})"
            )
        return (
            f"{self.n} rows: expected cost per row {self.expected_cost:.4g} "
            f"({self.confidence:.0%}: {self.low:.4g} to {self.high:.4g}){realised}, reference "
            f"{self.reference_cost:.4g}"
        )


class Monitor:
    """Put what new rows cost beside what rows of a reference cost.

    Parameters
    ----------
    reference : Snapshot
        Rows that the model was not trained on: on training rows its decisions look too cheap.

    See Also
    --------
    snapshot, snapshot_of : Make snapshots.
    """

    def __init__(self, reference: Snapshot) -> None:
        self.reference = reference

    def check(self, new: Snapshot, *, confidence: float = 0.95) -> MonitorReport:
        """State what new rows cost.

        Parameters
        ----------
        new : Snapshot
            The new rows, of the same model; with labels if they have come.
        confidence : float, default=0.95
            Coverage of the interval of the cost.

        Returns
        -------
        MonitorReport
            The expected cost with its interval, that of the reference, and what was paid.
        """
        for name in ("classes", "decisions"):
            old, now = (list(getattr(rows, name)) for rows in (self.reference, new))
            if old != now:
                rule = f"new rows must have the {name} of the reference"
                raise ValueError(f"Monitor.check: {rule}, {old}; got {now}.")
        confidence = checked_share(confidence, "confidence", "Monitor.check")
        mean = float(new.expected.mean())
        spread = float(np.sqrt(new.variance.sum())) / len(new)
        half = float(norm.ppf(0.5 + confidence / 2)) * spread
        realised: tuple[float | None, ...] = (None, None, None)
        if new.paid is not None:
            realised = cost_interval(
                new.paid, prices=new.matrix, chosen=new.codes, confidence=confidence
            )
        value, low, high = realised
        return MonitorReport(
            n=len(new),
            expected_cost=mean,
            low=mean - half,
            high=mean + half,
            reference_cost=float(self.reference.expected.mean()),
            realised_cost=value,
            realised_low=low,
            realised_high=high,
            confidence=confidence,
        )

"""The monitor: a reference, checks, a report."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.stats import norm

from costboost._tables import as_frame
from costboost._validation import is_real
from costboost.monitor.checks import Check, holm, labelled, unlabelled
from costboost.monitor.snapshot import Snapshot

if TYPE_CHECKING:
    import pandas as pd

__all__ = ["Monitor", "MonitorReport"]


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
        rows = [asdict(check) for check in self.checks]
        return as_frame({key: [row[key] for row in rows] for key in rows[0]}, "MonitorReport")

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
            f"  {one.name}: {one.reference:.4g} -> {one.new:.4g} (adjusted p = {one.adjusted:.2g})"
            for one in self.alarms
        ]
        return "\n".join([head, f"alarms ({len(lines)} of {len(self.checks)} checks):", *lines])


class Monitor:
    """Compares new rows with a reference, at a stated rate of false alarms.

    Without labels: the mean expected cost (a permutation test), the decision rates (chi-square) and
    every feature (Kolmogorov-Smirnov, or chi-square where there are few values). With labels also
    calibration, confidence (whether probabilities are too extreme), and the realised cost less the
    expected one (permutation tests against a reference with labels, else against 0).

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
        if not (is_real(false_alarm_rate) and 0 < false_alarm_rate < 1):
            raise ValueError(
                "The 'false_alarm_rate' parameter of Monitor must be in (0, 1), got "
                f"{false_alarm_rate!r}."
            )
        self.reference = reference
        self.false_alarm_rate = float(false_alarm_rate)

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
        self._check_same_kind(new)
        if not (is_real(confidence) and 0 < confidence < 1):
            raise ValueError(
                "The 'confidence' parameter of Monitor.check must be in (0, 1), got "
                f"{confidence!r}."
            )
        mean = float(new.expected.mean())
        spread = float(np.sqrt(new.variance.sum())) / len(new)
        half = float(norm.ppf(0.5 + confidence / 2)) * spread
        checks = unlabelled(self.reference, new) + labelled(self.reference, new)
        return MonitorReport(
            n=len(new),
            expected_cost=mean,
            low=mean - half,
            high=mean + half,
            reference_cost=float(self.reference.expected.mean()),
            realised_cost=None if new.paid is None else float(new.paid.mean()),
            confidence=float(confidence),
            false_alarm_rate=self.false_alarm_rate,
            checks=holm(checks, self.false_alarm_rate),
        )

    def _check_same_kind(self, new: Snapshot) -> None:
        pairs = {
            "features": (list(self.reference.features), list(new.features)),
            "classes": (self.reference.classes.tolist(), new.classes.tolist()),
            "decisions": (self.reference.decisions.tolist(), new.decisions.tolist()),
        }
        for name, (old, now) in pairs.items():
            if old != now:
                raise ValueError(
                    f"The new rows of Monitor.check must have the {name} of the reference, {old}; "
                    f"got {now}. Take both snapshots of the same model and columns."
                )

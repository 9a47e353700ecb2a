"""The cost ratio that leads to a named rate, by bisection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

__all__ = ["NamedRate", "Trial", "bisected"]

# The search spans this many decades of the cost ratio either side of its centre.
_DECADES = 4.0


@dataclass(frozen=True)
class Trial:
    """A cost ratio and the rates it leads to."""

    ratio: float
    detection_rate: float
    false_alarm_rate: float


@dataclass(frozen=True)
class NamedRate:
    """The rate that must be met: a detection rate at least, or a false-alarm rate at most."""

    value: float
    is_detection: bool

    @property
    def limit(self) -> float:
        """The largest share of errors on the class that it is about."""
        return 1.0 - self.value if self.is_detection else self.value

    def spare(self, trial: Trial) -> float:
        """By how much a trial is better than the rate; negative if it is worse."""
        if self.is_detection:
            return trial.detection_rate - self.value
        return self.value - trial.false_alarm_rate

    def best(self, trials: Sequence[Trial]) -> Trial:
        """Of the trials that meet the rate, the one whose other rate is best; else the nearest."""
        met = [trial for trial in trials if self.spare(trial) >= 0]
        if not met:
            return max(trials, key=self.spare)
        if self.is_detection:
            return min(met, key=lambda trial: trial.false_alarm_rate)
        return max(met, key=lambda trial: trial.detection_rate)


def bisected(
    named: NamedRate,
    rates: Callable[[float], tuple[float, float]],
    centre: float,
    n_trials: int,
    tol: float,
) -> list[Trial]:
    """Bisect the cost ratio on a log scale."""
    low, high = centre - _DECADES, centre + _DECADES
    trials: list[Trial] = []
    for _ in range(n_trials):
        middle = 0.5 * (low + high)
        trials.append(Trial(10.0**middle, *rates(10.0**middle)))
        spare = named.spare(trials[-1])
        if 0 <= spare <= tol:
            break
        # Met with room: towards the better other rate. Not met: away from it.
        if (spare >= 0) == named.is_detection:
            high = middle
        else:
            low = middle
    return trials

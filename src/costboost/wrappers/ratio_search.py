"""The cost ratio that leads to a named rate, by bisection."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

__all__ = ["NamedRate", "Trial", "bisected"]

# The search spans this many decades of the cost ratio either side of its centre.
_DECADES = 4.0


@dataclass(frozen=True)
class Trial:
    """A cost ratio and the rates it leads to.

    Attributes
    ----------
    ratio : float
        Cost of a miss divided by that of a false alarm.
    detection_rate, false_alarm_rate : float
        Shares of the positives and of the negatives that are flagged.
    """

    ratio: float
    detection_rate: float
    false_alarm_rate: float


@dataclass(frozen=True)
class NamedRate:
    """The rate that must be met: a detection rate at least, or a false-alarm rate at most.

    Attributes
    ----------
    value : float
        The rate.
    is_detection : bool
        Whether it is a detection rate; if not, it is a false-alarm rate.
    """

    value: float
    is_detection: bool

    @property
    def limit(self) -> float:
        """The largest share of errors on the class that it is about."""
        return 1.0 - self.value if self.is_detection else self.value

    def spare(self, trial: Trial) -> float:
        """By how much a trial is better than the rate; negative if it is worse.

        Parameters
        ----------
        trial : Trial
            The trial.

        Returns
        -------
        float
            A difference of rates.
        """
        if self.is_detection:
            return trial.detection_rate - self.value
        return self.value - trial.false_alarm_rate

    def best(self, trials: Sequence[Trial]) -> Trial:
        """Of the trials that meet the rate, the one whose other rate is best; else the nearest.

        Parameters
        ----------
        trials : sequence of Trial
            At least one trial.

        Returns
        -------
        Trial
            Its `spare` is negative if none meets the rate.
        """
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
    """Bisect the cost ratio on a log scale.

    Parameters
    ----------
    named : NamedRate
        The rate to be met.
    rates : callable
        Maps a cost ratio to the detection rate and the false-alarm rate.
    centre : float
        Logarithm (base 10) of the first ratio.
    n_trials : int
        Largest number of trials.
    tol : float
        A trial that is better than the rate by no more than this ends the search.

    Returns
    -------
    list of Trial
        In the order of the search.

    Examples
    --------
    >>> rate = NamedRate(0.9, is_detection=True)
    >>> trials = bisected(rate, lambda ratio: (ratio / (1 + ratio), 0.1 * ratio), 0.0, 20, 0.001)
    >>> round(rate.best(trials).ratio, 2)
    9.06
    """
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

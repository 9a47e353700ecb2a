"""Compiled inner loops over a binned matrix; numba is imported at the first call of one.

All kernels release the GIL and are single-threaded; callers share features among threads.
"""

from __future__ import annotations

import numpy as np

from costboost._numba import compiled
from costboost._typing import AnyArray, Floats

# Above this a step no longer changes the loss in double precision.
_LARGEST_STEP = 350.0


@compiled()
def histogram(bins: AnyArray, first: Floats, second: Floats, out: Floats) -> None:
    """Add each row's two channels to its bin; ``out`` is (bins, 2)."""
    for i in range(bins.shape[0]):
        b = bins[i]
        out[b, 0] += first[i]
        out[b, 1] += second[i]


@compiled()
def best_step(
    right_p: float, wrong_p: float, right_n: float, wrong_n: float, ratio_p: float, ratio_n: float
) -> float:
    """The step of one candidate: Newton on the slope of the loss, costs in (0, 1]; safeguarded."""
    descent = ratio_p * (right_p - wrong_p) + ratio_n * (right_n - wrong_n)
    if descent == 0.0:
        return 0.0
    swapped = descent < 0.0
    if swapped:  # solve for the other polarity, whose step is positive
        right_p, wrong_p = wrong_p, right_p
        right_n, wrong_n = wrong_n, right_n
    low, high = 0.0, _LARGEST_STEP
    gain = ratio_p * right_p + ratio_n * right_n
    pain = ratio_p * wrong_p + ratio_n * wrong_n
    step = high
    if pain > 0.0:
        # Exact when the costs are equal; a fair start otherwise.
        step = min(high, np.log(gain / pain) / (ratio_p + ratio_n))
        for _ in range(60):
            up_p, up_n = np.exp(ratio_p * step), np.exp(ratio_n * step)
            a, b = ratio_p * right_p / up_p, ratio_p * wrong_p * up_p
            c, d = ratio_n * right_n / up_n, ratio_n * wrong_n * up_n
            slope = b + d - a - c
            if slope > 0.0:
                high = step
            else:
                low = step
            new = step - slope / (ratio_p * (a + b) + ratio_n * (c + d))
            if not low <= new <= high:
                new = 0.5 * (low + high)
            done = abs(new - step) <= 1e-12 * (1.0 + step)
            step = new
            if done:
                break
    return -step if swapped else step


@compiled()
def joint_steps(masses: Floats, ratio_p: float, ratio_n: float, out: Floats) -> None:
    """Best step and the loss there for every candidate, from its four outcome masses, (4, m)."""
    for i in range(masses.shape[1]):
        wrong_p, wrong_n = masses[0, i], masses[1, i]
        right_p, right_n = masses[2, i], masses[3, i]
        u = best_step(right_p, wrong_p, right_n, wrong_n, ratio_p, ratio_n)
        up_p, up_n = np.exp(ratio_p * u), np.exp(ratio_n * u)
        out[0, i] = u
        out[1, i] = wrong_p * up_p + right_p / up_p + wrong_n * up_n + right_n / up_n

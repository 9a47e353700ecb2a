"""Exact steps along a rule: safeguarded Newton on the slope of a convex loss."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from costboost._sums import dot
from costboost._typing import Floats

__all__ = ["convex_step", "exponential_step"]

# A step longer than this no longer changes an exponential in double precision.
_LARGEST_STEP = 350.0


def convex_step(
    slopes: Callable[[float], tuple[float, float]],
    *,
    start: float,
    largest: float,
    tolerance: float = 1e-15,
) -> float:
    """The α in [0, largest] where the first derivative of a convex function is zero."""
    low, high, step = 0.0, largest, min(max(start, 0.0), largest)
    last = largest
    for _ in range(100):
        slope, curvature = slopes(step)
        if slope < 0:
            low = step
        else:
            high = step
        move = -slope / curvature if curvature > 0 else math.inf
        if abs(move) <= tolerance * (1.0 + step):
            # Tested before the bracket is: rounding may put the root on its edge.
            return min(max(step + move, 0.0), largest)
        if not low < step + move < high or abs(move) > 0.5 * abs(last):
            move = 0.5 * (low + high) - step  # outside, or too slow
        last = move
        step += move
    return step


def exponential_step(weights: Floats, exponents: Floats) -> float:
    r"""The α >= 0 that minimises :math:`\sum_i w_i e^{-\alpha m_i}`."""
    # Returns 0 when the objective does not fall at 0, and ``inf`` when it never stops falling.
    used = weights > 0
    w, m = weights[used], exponents[used]
    scale = float(np.abs(m).max(initial=0.0))
    if scale == 0.0:
        return 0.0
    m = m / scale
    w = w / w.sum()
    if dot(w, m) <= 1e-12:
        return 0.0
    gain, pain = dot(w, np.maximum(m, 0.0)), dot(w, np.maximum(-m, 0.0))
    if not pain > 0.0:  # nothing is lost, or too little to represent
        return math.inf

    def slopes(step: float) -> tuple[float, float]:
        moved = w * np.exp(-step * m) * m
        return -float(moved.sum()), dot(moved, m)

    start = 0.5 * math.log(gain / pain)  # exact where all exponents are ±1
    return convex_step(slopes, start=start, largest=_LARGEST_STEP) / scale

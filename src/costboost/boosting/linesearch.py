"""The exact step along a rule for exponential losses."""

from __future__ import annotations

import math

import numpy as np

from costboost._typing import Floats

__all__ = ["exponential_step"]

_LARGEST_STEP = 350.0


def exponential_step(weights: Floats, exponents: Floats) -> float:
    r"""The α >= 0 that minimises :math:`\sum_i w_i e^{-\alpha m_i}`.

    The objective is convex; its derivative is brought to zero by Newton's method inside a
    bracket. Returns 0 when it does not fall at 0, ``inf`` when it falls for ever.
    """
    used = weights > 0
    w, m = weights[used], exponents[used]
    scale = float(np.abs(m).max(initial=0.0))
    if scale == 0.0:
        return 0.0
    m = m / scale
    w = w / w.sum()
    if float(w @ m) <= 1e-12:
        return 0.0
    if m.min() >= 0.0:
        return math.inf
    gain, pain = float(w @ np.maximum(m, 0.0)), float(w @ np.maximum(-m, 0.0))
    low, high = 0.0, _LARGEST_STEP
    last = high - low
    step = min(0.5 * math.log(gain / pain), high)  # exact where all exponents are ±1
    for _ in range(100):
        moved = w * np.exp(-step * m) * m
        slope, curvature = float(moved.sum()), float(moved @ m)
        if slope > 0:
            low = step
        else:
            high = step
        move = slope / curvature if curvature > 0 else math.inf
        if abs(move) <= 1e-15 * (1.0 + step):
            break  # before the bracket is asked: rounding puts the root on its edge
        if not low < step + move < high or abs(move) > 0.5 * abs(last):
            move = 0.5 * (low + high) - step
        last = move
        step += move
    return step / scale

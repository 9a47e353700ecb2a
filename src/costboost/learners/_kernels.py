"""Compiled inner loops over a binned matrix. Imported lazily: numba takes a second to load.

All kernels release the GIL and are single-threaded; callers share features among threads.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from costboost._numba import jit
from costboost._typing import AnyArray, Floats

__all__ = ["assign_bins", "compiled_step", "histograms", "joint_steps"]

# Above this a step no longer changes the loss in double precision.
_LARGEST_STEP = 350.0


@cache
def _compiled() -> dict[str, Callable[..., Any]]:
    @jit
    def assign(column, edges, out):  # type: ignore[no-untyped-def]
        last = edges.shape[0]
        for i in range(column.shape[0]):
            x = column[i]
            if np.isnan(x):
                out[i] = last + 1
                continue
            low, high = 0, last
            while low < high:  # first edge with x <= edge
                middle = (low + high) >> 1
                if x <= edges[middle]:
                    high = middle
                else:
                    low = middle + 1
            out[i] = low

    @jit
    def accumulate(bins, first, second, out):  # type: ignore[no-untyped-def]
        for i in range(bins.shape[0]):
            b = bins[i]
            out[b, 0] += first[i]
            out[b, 1] += second[i]

    @jit
    def solve(right_p, wrong_p, right_n, wrong_n, ratio_p, ratio_n):  # type: ignore[no-untyped-def]
        """Newton on the derivative of the loss, costs scaled into (0, 1]; safeguarded."""
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

    @jit
    def joint(wrong_p, wrong_n, right_p, right_n, ratio_p, ratio_n, steps, losses):  # type: ignore[no-untyped-def]
        for i in range(steps.shape[0]):
            u = solve(right_p[i], wrong_p[i], right_n[i], wrong_n[i], ratio_p, ratio_n)
            steps[i] = u
            up_p, up_n = np.exp(ratio_p * u), np.exp(ratio_n * u)
            losses[i] = (
                wrong_p[i] * up_p + right_p[i] / up_p + wrong_n[i] * up_n + right_n[i] / up_n
            )

    return {"assign": assign, "accumulate": accumulate, "joint": joint, "solve": solve}


def compiled_step() -> Callable[..., float]:
    """The compiled solver of one candidate's step, for other kernels; costs in (0, 1]."""
    return _compiled()["solve"]


def assign_bins(column: AnyArray, edges: Floats, out: AnyArray) -> None:
    """Write the bin of every value: the first edge not below it; NaN gets a bin of its own."""
    _compiled()["assign"](column, edges, out)


def histograms(bins: AnyArray, first: Floats, second: Floats, out: Floats) -> None:
    """Add each row's two channels to its bin; ``out`` is (bins, 2)."""
    _compiled()["accumulate"](bins, first, second, out)


def joint_steps(
    wrong_p: Floats, wrong_n: Floats, right_p: Floats, right_n: Floats, C1: float, C2: float
) -> tuple[Floats, Floats]:
    """Best step and the loss there for every candidate, from its four outcome masses."""
    scale = max(C1, C2)
    steps, losses = np.empty_like(wrong_p), np.empty_like(wrong_p)
    _compiled()["joint"](wrong_p, wrong_n, right_p, right_n, C1 / scale, C2 / scale, steps, losses)
    return steps / scale, losses

"""Compiled inner loops over a binned matrix; numba is imported at the first call of one.

All kernels release the GIL and are single-threaded; callers share features among threads.
"""

from __future__ import annotations

import numpy as np

from costboost._numba import compiled
from costboost._typing import AnyArray, Bools, Floats, Ints

# Above this a step no longer changes the loss in double precision.
_LARGEST_STEP = 350.0


@compiled()
def assign_bins(column: AnyArray, edges: Floats, out: AnyArray) -> None:
    """Write the bin of every value: the first edge not below it; NaN gets a bin of its own."""
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
def joint_steps(
    wrong_p: Floats,
    wrong_n: Floats,
    right_p: Floats,
    right_n: Floats,
    ratio_p: float,
    ratio_n: float,
    steps: Floats,
    losses: Floats,
) -> None:
    """Best step and the loss there for every candidate, from its four outcome masses."""
    for i in range(steps.shape[0]):
        u = best_step(right_p[i], wrong_p[i], right_n[i], wrong_n[i], ratio_p, ratio_n)
        steps[i] = u
        up_p, up_n = np.exp(ratio_p * u), np.exp(ratio_n * u)
        losses[i] = wrong_p[i] * up_p + right_p[i] / up_p + wrong_n[i] * up_n + right_n[i] / up_n


# -- Compiled search for the best split of a set of pairs (row, class) that is a product ---------
# A node of a joint tree is the product of a set of rows and a set of classes: the root is, and
# splits by a feature or by the class keep it so. Sums over the classes of a row are taken first, so
# a node costs |rows| (|classes| + features), and the expanded set of pairs never exists.


_SMALLEST_GAIN = 1e-12  # of weights that sum to 1


@compiled(error_model="numpy", inline="always")
def _explained(g: float, h: float) -> float:
    return g * g / h if h > 0.0 else 0.0


@compiled(error_model="numpy")
def _cut_ordered(
    sums: Floats, order: Ints, n: int, least: float, floor: float
) -> tuple[float, int]:
    """The best cut of cells in this order: the sum of G²/H of both sides, the cells on the left."""
    # ``sums`` holds G, H and the number of pairs of every cell. The number
    # of cells on the left is 0 if no cut is better than ``floor``.
    g = h = c = 0.0
    for a in range(n):
        g += sums[order[a], 0]
        h += sums[order[a], 1]
        c += sums[order[a], 2]
    best, cells = floor, 0
    left_g = left_h = left_c = 0.0
    for a in range(n - 1):
        b = order[a]
        left_g += sums[b, 0]
        left_h += sums[b, 1]
        left_c += sums[b, 2]
        if left_c < least or c - left_c < least:
            continue
        if sums[b, 2] == 0.0 and cells > 0:
            continue  # the same parts again
        found = _explained(left_g, left_h) + _explained(g - left_g, h - left_h)
        if found > best:
            best, cells = found, a + 1
    return best, cells


@compiled(error_model="numpy")
def _by_mean(sums: Floats, cells: int) -> tuple[Ints, int]:
    """The cells that have pairs, by the mean of their targets: cuts in this order are the best."""
    means = np.empty(cells)
    kept = np.empty(cells, dtype=np.intp)
    n = 0
    for b in range(cells):
        if sums[b, 2] > 0.0:
            means[n] = sums[b, 0] / sums[b, 1]
            kept[n] = b
            n += 1
    return kept[np.argsort(means[:n], kind="mergesort")], n


@compiled(error_model="numpy")
def find_split(
    rows: Ints,
    classes: Ints,
    S: Floats,
    W: Floats,
    bins: AnyArray,
    n_bins: Ints,
    is_categorical: Bools,
    least: float,
    on_left: Bools,
    class_sums: Floats,
) -> tuple[float, int]:
    """The split of rows x classes that explains most: its gain, and its feature."""
    m, d = len(rows), len(bins)
    g, h, c = np.zeros(m), np.zeros(m), np.zeros(m)
    class_sums[:] = 0.0
    for a in range(m):
        i = rows[a]
        for y in classes:
            w = W[i, y]
            if w > 0.0:
                g[a] += S[i, y]
                h[a] += w
                c[a] += 1.0
                class_sums[y, 0] += S[i, y]
                class_sums[y, 1] += w
                class_sums[y, 2] += 1.0
    before = _explained(g.sum(), h.sum())
    best, feature = before + _SMALLEST_GAIN, -1
    for j in range(-1, d):  # the class first
        last = n_bins[j] - 1 if j >= 0 else len(class_sums) - 1  # of a feature: missing values
        sums = class_sums
        if j >= 0:
            sums = np.zeros((last + 1, 3))
            column = bins[j]
            for a in range(m):
                b = column[rows[a]]
                sums[b, 0] += g[a]
                sums[b, 1] += h[a]
                sums[b, 2] += c[a]
        is_set = j < 0 or is_categorical[j]
        # Missing numbers go to the right, then, if there are any, to the left.
        for tried in range(1 if is_set or sums[last, 2] == 0.0 else 2):
            order, n = np.arange(last + 1), last + 1
            if is_set:
                order, n = _by_mean(sums, last + 1)
            elif tried == 1:
                order = np.roll(order, 1)
            # A cut must be better by more than rounding: of equal cuts the first stays.
            floor = best if j < 0 else best * (1.0 + 1e-12)
            found, cells = _cut_ordered(sums, order, n, least, floor)
            if cells > tried:  # missing values alone are no side of their own
                best, feature = found, j if j >= 0 else d
                on_left[:] = False
                for a in range(cells):
                    on_left[order[a]] = True
    return best - before, feature

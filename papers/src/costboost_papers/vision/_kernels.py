"""Compiled inner loops over Haar features.

A feature is a weighted sum of corner points of an integral image, at most nine of them.
"""

# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

import numpy as np

from costboost._numba import compiled
from costboost.learners._kernels import best_step


@compiled()
def bin_features(sums, points, weights, counts, stride, bins, edges, n_edges):
    """Bins of features; ``sums`` holds the corner points of all windows, (points, n)."""
    n = sums.shape[1]
    most = edges.shape[1]
    values = np.empty(n)
    for j in range(points.shape[0]):
        values[:] = 0.0
        for p in range(counts[j]):
            values += weights[j, p] * sums[points[j, p]]
        sample = np.sort(values[::stride])
        m = sample.shape[0]
        found = 0
        for e in range(most):
            # Halfway between neighbouring values, at equal shares of the sample.
            at = (e + 1) * m // (most + 1)
            if at < 1 or at >= m or not sample[at - 1] < sample[at]:
                continue
            middle = 0.5 * (sample[at - 1] + sample[at])
            if found == 0 or middle > edges[j, found - 1]:
                edges[j, found] = middle
                found += 1
        n_edges[j] = found
        row = bins[j]
        row[:] = 0
        for e in range(found):
            edge = edges[j, e]
            for i in range(n):
                row[i] += values[i] > edge


@compiled()
def histograms(bins, weights, start, stop, out):
    """Add the weights of some rows, (n, lanes), to their bins, (bins, lanes)."""
    lanes = weights.shape[1]
    for i in range(start, stop):
        into, row = out[bins[i]], weights[i]
        for k in range(lanes):
            into[k] += row[k]


@compiled()
def joint_loss(b, d, total_p, total_n, ratio_p, ratio_n):
    """The loss at the best step of a stump with these wrong weights."""
    right_p, right_n = max(total_p - b, 0.0), max(total_n - d, 0.0)
    u = best_step(right_p, b, right_n, d, ratio_p, ratio_n)
    up_p, up_n = np.exp(ratio_p * u), np.exp(ratio_n * u)
    return b * up_p + right_p / up_p + d * up_n + right_n / up_n, u


@compiled()
def bound_table(knots, total_p, total_n, ratio_p, ratio_n, table):
    """`joint_loss` on a grid of wrong shares."""
    for u in range(knots.shape[0]):
        for v in range(knots.shape[0]):
            b, d = knots[u] * total_p, knots[v] * total_n
            table[u, v], _ = joint_loss(b, d, total_p, total_n, ratio_p, ratio_n)


@compiled()
def cell(x, knots, guide):
    """The knot at or below a share in [0, 1], and where between it and the next."""
    x = min(max(x, 0.0), 1.0)
    u = guide[int(x * (guide.shape[0] - 1))]
    while u + 2 < knots.shape[0] and x >= knots[u + 1]:
        u += 1
    return u, (x - knots[u]) / (knots[u + 1] - knots[u])


@compiled()
def scan_votes(feature, sums, n_edges, totals, left, right, losses, places, signs):
    """Improve the best stump of every lane by one feature: least weight of the wrong rows."""
    lanes = losses.shape[0]
    left[:] = 0.0
    right[:] = 0.0
    for t in range(n_edges):
        for k in range(lanes):
            left[k] += sums[0, t, k]
            right[k] += sums[1, t, k]
            # Left votes -1: wrong are the positives on the left, the negatives on the right.
            upward = left[k] + max(totals[k, 1] - right[k], 0.0)
            downward = totals[k, 0] + totals[k, 1] - upward
            loss = min(upward, downward)
            if loss < losses[k] - 1e-12 * losses[k]:
                losses[k] = loss
                places[k, 0] = feature
                places[k, 1] = t
                signs[k] = 1.0 if upward <= downward else -1.0


@compiled()
def scan_joint(
    feature, sums, n_edges, k, totals, ratios, knots, guide, table, losses, places, signs
):
    """Improve the best stump of lane k by one feature: least loss at its own best step."""
    total_p, total_n = totals[k, 0], totals[k, 1]
    p = 0.0
    q = 0.0
    for t in range(n_edges):
        p += sums[0, t, k]
        q += sums[1, t, k]
        b, d = p, max(total_n - q, 0.0)
        # Concave in (b, d): interpolation from the corners of a cell is a lower bound.
        u, x = cell(b / total_p, knots, guide)
        v, y = cell(d / total_n, knots, guide)
        low = (1.0 - x) * ((1.0 - y) * table[u, v] + y * table[u, v + 1]) + x * (
            (1.0 - y) * table[u + 1, v] + y * table[u + 1, v + 1]
        )
        if low * (1.0 - 1e-12) < losses[k]:
            loss, step = joint_loss(b, d, total_p, total_n, ratios[k, 0], ratios[k, 1])
            if loss < losses[k] - 1e-12 * losses[k]:
                losses[k] = loss
                places[k, 0] = feature
                places[k, 1] = t
                signs[k] = 1.0 if step >= 0.0 else -1.0


@compiled()
def search(
    bins, n_edges, weights, n_positive, totals, n_votes, ratios, knots, guide, tables, losses,
    places, signs,
):  # fmt: skip
    """The best stump of every lane, the first ``n_votes`` by votes, the others jointly."""
    # Rows are sorted, positives first. ``weights`` is (n, lanes), the last of which may be idle.
    n, lanes = weights.shape
    sums = np.empty((2, n_edges.max() + 1, lanes), dtype=weights.dtype)
    left, right = np.empty(n_votes), np.empty(n_votes)
    for j in range(bins.shape[0]):
        sums[:] = 0.0
        histograms(bins[j], weights, 0, n_positive, sums[0])
        histograms(bins[j], weights, n_positive, n, sums[1])
        scan_votes(j, sums, n_edges[j], totals, left, right, losses[:n_votes], places, signs)
        for k in range(n_votes, losses.shape[0]):
            scan_joint(
                j, sums, n_edges[j], k, totals, ratios, knots, guide, tables[k], losses, places,
                signs,
            )  # fmt: skip


@compiled()
def cascade(
    sums, squares, image, tops, lefts, width, box, flat_share, ends, levels, places, weights,
    counts, excess, edges, outputs, scores, stages,
):  # fmt: skip
    """How far each window gets, and its score at the last stage it sees."""
    # ``sums`` and ``squares`` are (images, pixels), ``places`` offsets in them, ``box`` the
    # offsets of the window's corners and its number of pixels, ``levels`` what each stage adds to
    # the score of the stages before it.
    bottom, right, both, n_pixels = box
    for i in range(tops.shape[0]):
        table, table2 = sums[image[i]], squares[image[i]]
        at = tops[i] * width + lefts[i]
        mean = (table[at + both] - table[at + bottom] - table[at + right] + table[at]) / n_pixels
        total2 = table2[at + both] - table2[at + bottom] - table2[at + right] + table2[at]
        deviation = np.sqrt(max(total2 / n_pixels - mean * mean, 0.0))
        scale = 0.0
        if deviation > flat_share * abs(mean) and deviation > 0.0:
            scale = 1.0 / deviation
        stump = 0
        score = 0.0
        for s in range(ends.shape[0]):
            score += levels[s]
            while stump < ends[s]:
                value = -mean * excess[stump]
                for p in range(counts[stump]):
                    value += weights[stump, p] * table[at + places[stump, p]]
                score += outputs[stump, 0 if value * scale <= edges[stump] else 1]
                stump += 1
            scores[i] = score
            stages[i] = s
            if score < 0.0:
                break
            stages[i] = s + 1
